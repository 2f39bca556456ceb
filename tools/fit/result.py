"""The results of a fit, as a file that `docs/accuracy.md` is generated from."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

from tools.accuracy.split import BEFORE
from tools.fit.constants import Constant, constants, unfitted_runs
from tools.fit.held_out import Errors, errors
from tools.fit.search import Fit, sensitive_runs
from tools.fit.spread import unmeasured_group_width

NOTICED = 0.003
"""A run depends on a constant if its relative change is at least this share of the constant's relative change."""
FILE = Path(__file__).resolve().parents[2] / "tests" / "accuracy" / "fit.json"


@dataclass(frozen=True)
class Summary:
    """Errors of some runs, as fractions."""

    runs: int
    median: float
    mean: float
    p90: float

    @classmethod
    def of(cls, errors: Errors) -> Summary:
        sizes = sorted(abs(error) for _, error in errors)
        return cls(len(sizes), median(sizes), mean(sizes), sizes[min(len(sizes) - 1, int(0.9 * len(sizes)))])

    def __str__(self) -> str:
        shares = ((name, getattr(self, name)) for name in ("median", "mean", "p90"))
        return f"{self.runs:4} runs  " + "  ".join(f"{name} {100 * value:5.1f} %" for name, value in shares)


def write(fit: Fit, by_fold: Errors, by_source: Errors, by_family: Errors, by_kind: Errors) -> None:
    """Writes the held-out errors and every constant with what it is worth."""
    own = [_constant(fit, constant) for constant in fit.values if sensitive_runs(constant, fit)]
    _write({**_held_out(by_fold, by_source, by_family, by_kind), "constants": own})


def replace_held_out(by_fold: Errors, by_source: Errors, by_family: Errors, by_kind: Errors) -> None:
    """Writes the held-out errors, and leaves the constants and the widths, which are of one fit."""
    found = read()
    _write({**found, **_held_out(by_fold, by_source, by_family, by_kind), "unseen": found["unseen"]})


def _write(results: dict[str, Any]) -> None:
    FILE.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


def _held_out(by_fold: Errors, by_source: Errors, by_family: Errors, by_kind: Errors) -> dict[str, Any]:
    return {
        "folds": _summaries_by_kind(by_fold),
        "sources": _summaries_by_kind(by_source),
        "each_source": {source: _summary(by_source, source) for source in sorted({run.source for run, _ in by_source})},
        "families": _summaries_by_kind(by_family),
        "each_family": {
            name: _family_summary(by_family, name) for name in sorted({run.family for run, _ in by_family})
        },
        "kinds": _summaries_by_kind(by_kind),
        "unseen": {
            "part": round(
                unmeasured_group_width(
                    _errors_of_large_sources(by_family), _errors_of_large_sources(by_fold), lambda run: run.family
                ),
                4,
            ),
            "kind": round(
                unmeasured_group_width(
                    _errors_of_large_sources(by_kind),
                    _errors_of_large_sources(by_fold),
                    lambda run: (run.family, run.record),
                ),
                4,
            ),
        },
    }


def replace_constants(fit: Fit) -> None:
    """Write the constants of a fit in place of those of the same groups, and drop constants that are in no group."""
    found, own = read(), {constant.group for constant in fit.free}
    known = {(constant.group, constant.fact) for constant in constants()}
    kept = [one for one in found["constants"] if (one["group"], one["fact"]) in known and one["group"] not in own]
    found["constants"] = [*kept, *(_constant(fit, constant) for constant in fit.free)]
    _write(found)


def _errors_of_large_sources(errors: Errors) -> Errors:
    """Errors of sources with many rows each. The few rows of a newer source would count as much as a whole family of
    chips.
    """
    return [pair for pair in errors if pair[0].source in BEFORE]


def read() -> dict[str, Any]:
    """The results of the last fit."""
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return found


def _summaries_by_kind(errors: Errors) -> dict[str, dict[str, float]]:
    kinds = {"dense": False, "with experts": True}
    return {
        name: asdict(Summary.of([each for each in errors if each[0].experts is kind])) for name, kind in kinds.items()
    }


def _summary(errors: Errors, source: str) -> dict[str, float]:
    return asdict(Summary.of([each for each in errors if each[0].source == source]))


def _family_summary(errors: Errors, family: str) -> dict[str, float]:
    return asdict(Summary.of([each for each in errors if each[0].family == family]))


def _constant(fit: Fit, constant: Constant) -> dict[str, object]:
    return {
        "group": constant.group,
        "fact": constant.fact,
        "value": round(fit.values[constant], 9),
        "prior": constant.prior,
        "runs": sensitive_runs(constant, fit),
        "worth": round(error_increase(fit, constant), 5),
    }


def error_increase(fit: Fit, constant: Constant) -> float:
    """Increase of the mean error of the runs that depend on a constant if it keeps its prior and all others are fitted
    again.
    """
    column = np.abs(fit.slopes[:, fit.free.index(constant)])
    kept = [
        run for run, slope in zip(fit.runs, column, strict=True) if run.id not in unfitted_runs() and slope > NOTICED
    ]
    with_prior = fit.values_without(frozenset(), fixed=constant)
    return _mean(errors(with_prior, kept)) - _mean(errors(fit.values, kept))


def _mean(errors: Errors) -> float:
    return mean(abs(error) for _, error in errors)
