"""Summary statistics of a set of errors."""

from __future__ import annotations

import re
import statistics
from collections.abc import Container, Sequence
from dataclasses import dataclass

from tools.accuracy.cases import FILES, Case, plan_of, published_runs, step_time


@dataclass(frozen=True)
class Score:
    """Errors of one group, as fractions; ``inside`` and ``width`` of the bands where there are any."""

    name: str
    cases: int
    median: float
    mean: float
    p90: float
    bias: float
    inside: float | None
    width: float | None


def score(name: str, cases: Sequence[Case]) -> Score:
    """The errors of some cases; one without a prediction counts as unbounded."""
    errors = sorted(abs(case.error) for case in cases)
    banded = [case for case in cases if case.inside is not None and case.predicted]
    return Score(
        name,
        len(cases),
        statistics.median(errors),
        statistics.mean(errors),
        errors[min(len(errors) - 1, int(0.9 * len(errors)))],
        statistics.median(case.error for case in cases),
        sum(bool(case.inside) for case in banded) / len(banded) if banded else None,
        statistics.median(_half_width(case) for case in banded) if banded else None,
    )


def _half_width(case: Case) -> float:
    return ((case.high or 0.0) - (case.low or 0.0)) / (2 * (case.predicted or 1.0))


def grouped(cases: Sequence[Case]) -> list[Score]:
    """A score for each group, by name, and one for all."""
    names = sorted({case.group for case in cases})
    return [score(name, [case for case in cases if case.group == name]) for name in names] + [score("all", cases)]


def share(fraction: float | None, *, sign: bool = False) -> str:
    """A fraction in percent with one decimal, with its sign if asked; a dash where there is none."""
    if fraction is None:
        return "–"
    return f"{100 * fraction:+.1f} %" if sign else f"{100 * fraction:.1f} %"


def null_model(ids: Container[str] | None = None) -> list[Case]:
    """The baseline model: each run, or each with an id in ``ids``, at the median MFU of its accelerator and
    precision among these.
    """
    rows = []
    for run in published_runs():
        if ids is not None and run["id"] not in ids:
            continue
        plan = plan_of(run["id"])
        published = step_time(run, plan)
        if run["fits"] and published and plan and plan.step_time and plan.mfu:
            rows.append((run, published, plan.mfu * plan.step_time.value))
    seen: dict[tuple[str, str], list[float]] = {}
    for run, published, ideal in rows:
        seen.setdefault(_kind(run), []).append(ideal / published)
    return [
        Case(run["id"], run["accelerator"], published, ideal / statistics.median(seen[_kind(run)]))
        for run, published, ideal in rows
    ]


def _kind(run: dict[str, dict[str, dict[str, str]]]) -> tuple[str, str]:
    return str(run["accelerator"]), str(run["spec"]["workload"]["precision"])


@dataclass(frozen=True)
class Regret:
    """The relative time by which the layout predicted fastest ran slower than the fastest of its set."""

    name: str
    layouts: int
    regret: float


def ranking(cases: Sequence[Case]) -> list[Regret]:
    """Ranking of layouts published for one model on one machine, for three or more layouts."""
    by_id = {case.id: case for case in cases}
    sets: dict[tuple[object, ...], list[Case]] = {}
    for run in (run for name in FILES for run in published_runs(name)):
        if case := by_id.get(run["id"]):
            work = run["spec"]["workload"]
            family = re.match(r"[a-z0-9]+", run["id"])
            key = (
                family[0] if family else "",
                run["model"],
                run["accelerators"],
                run["accelerator"],
                work["sequence_length"],
                work["global_batch"],
                work["precision"],
            )
            sets.setdefault(key, []).append(case)
    return [
        Regret(f"{key[1]} on {key[2]} {key[3]}, batch of {key[5]}", len(found), _regret(found))
        for key, found in sorted(sets.items(), key=str)
        if len(found) >= 3
    ]


def _regret(cases: Sequence[Case]) -> float:
    pick = min(cases, key=lambda case: case.predicted or float("inf"))
    return pick.published / min(case.published for case in cases) - 1
