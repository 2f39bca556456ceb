"""docs/accuracy.md, docs/constants.md, docs/board.md and docs/reality.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.accuracy import (
    board,
    board_page,
    collective_folds,
    new_sources,
    overview,
    power_cases,
    ranges,
    reality,
    rl_cases,
    rl_page,
    serving_cases,
)
from tools.accuracy import cases as published
from tools.accuracy.cases import Case
from tools.accuracy.constants import constant_tables
from tools.accuracy.figures import Score, grouped, null_model, ranking, score
from tools.accuracy.held_out import constants_table, held_out_table
from tools.accuracy.overview import Evidence, is_of_held_out_source, worst_groups
from tools.accuracy.scatter import scatter
from tools.accuracy.serving_page import section
from tools.accuracy.split import COLLECTIVES_BEFORE, fitted_runs, is_held_out, side_of
from tools.accuracy.tables import fit_table, regret_table, score_table, worst_cases_table

DOCS = Path(__file__).resolve().parents[2] / "docs"
OLDER = """
## Training steps: sources read before the split

Runs of sources that were read before the split was declared (`tests/accuracy/runs.jsonl`). Constants are fitted to
three of every four runs of a source and checked on the fourth. *Null model* is each run at the median MFU of its
accelerator and precision: what a plan without this program would assume.

![predicted against published step time](accuracy-runs.svg)
"""
SIDES = """
### Fitted to one side of the sources

Here the constants are fitted to the sources of one side alone, older ones included, and the other side is predicted
unseen. A test refuses a constant that improves its own side alone; such a constant keeps the value known before.
"""
SMALL = """
### Small models

One node with models of 150 million to 1.4 billion parameters (vTrain, arXiv 2312.12391): every third of its
single-node runs. The host, which launches kernels one by one, bounds most of these steps.
"""
REGRETS = """
### Ranking of layouts

Sets of three or more layouts that a source publishes for one model on one machine.
"""
UNSEEN = """
### Collectives of sources left out

Collectives of each source, predicted without it: the assumed constants are chosen by all other sources, and catalog
figures that cite the source give way to the assumptions for links of their kind.
"""
NEW = """
### Collectives of later sources

Collectives of sources that were entered after the split was declared. They were predicted before any constant was
fitted to them; the hash of the name then put each source on one side. The [notes](accuracy-notes.md#collectives) have
the first errors and what is known of their causes.
"""
MEMORY = """
## Peak memory

No constant of memory is fitted: each is counted from the code of a framework. A prediction leaves out what the
published figure does not count (`memory_counts`): memory that PyTorch's allocator has reserved excludes the context of
the driver and the buffers of collectives; memory that it has allocated to tensors also excludes fragmentation.

![predicted against published peak memory](accuracy-memory.svg)
"""
METHOD = """
## How constants are fitted and checked

Sources read before the split was declared keep an older rule: three of every four training runs of a source are fitted
to, and all of its collectives. The hash of the name of a later source puts it on the fitted side or holds it out before
its rows are read. [Constants](constants.md) lists every constant with its source; the [board](board.md) has every
published figure, and the predictions of Calculon, SimuMax, dlcalc, llm-analysis and AIConfigurator for the same runs.

### Runs left out of the fit
"""
CONSTANTS = """# Constants

Every efficiency that predictions rest on, with its source or the reason of the assumption. Written by `make accuracy`;
[accuracy](accuracy.md) compares the predictions with published figures.
"""


class _Scored(NamedTuple):
    """All published cases with their predictions, by what they measure."""

    runs: list[Case]
    small: list[Case]
    new: list[Case]
    memory: list[Case]
    peaks: list[Case]
    collectives: list[Case]
    fits: list[Case]
    fabrics: list[Case]

    @staticmethod
    def now() -> _Scored:
        """The cases as this version predicts them."""
        return _Scored(
            list(published.runs()),
            list(published.small_runs()),
            list(published.new_runs()),
            list(published.memory()),
            list(published.new_memory()),
            list(published.collectives()),
            list(published.fits()),
            list(published.fabrics()),
        )


def build() -> None:
    """Scores everything and writes the pages and their pictures."""
    found = _Scored.now()
    (DOCS / "accuracy.md").write_text("\n".join(_parts(found)), "utf-8")
    (DOCS / "constants.md").write_text("\n".join((CONSTANTS, constant_tables())), "utf-8")
    board.write(board.lines(found.runs, found.new, found.memory, found.collectives))
    (DOCS / "board.md").write_text(board_page.page(), "utf-8")
    (DOCS / "reality.md").write_text(reality.page(), "utf-8")
    pictures = (("runs", found.runs, "s"), ("collectives", found.collectives, "s"), ("memory", found.memory, "B"))
    for name, cases, unit in pictures:
        (DOCS / f"accuracy-{name}.svg").write_text(scatter(cases, unit), "utf-8")


def _parts(scored: _Scored) -> Iterator[str]:
    """The page: the overview, the tables of each prediction, then the method."""
    learning, first = rl_cases.cases(), list(published.first_predictions())
    unseen = dict(collective_folds.folds())
    yield from _overview_parts(scored, first, unseen, learning)
    yield from _step_parts(scored, first)
    yield from _memory_parts(scored)
    yield from _collective_parts(scored, unseen)
    yield "\n"
    yield from section(list(serving_cases.cases()))
    yield "".join(rl_page.section(learning))
    yield from _method_parts(scored)
    yield new_sources.remarks_section()


def _overview_parts(
    scored: _Scored, first: Sequence[Case], unseen: dict[str, list[Case]], learning: Sequence[rl_cases.RlCase]
) -> Iterator[str]:
    held = [case for case in scored.new if is_of_held_out_source(case)]
    serving = list(overview.serving())
    collectives = [case for cases in unseen.values() for case in cases]
    steps = overview.steps("training step, held-out sources", held)
    evidence = [
        overview.steps("training step, first prediction of each later source", first),
        steps,
        overview.steps("peak memory of training", [case for case in scored.peaks if is_of_held_out_source(case)]),
        Evidence("collective, its source left out", collectives, lambda case: case.source, _machine_of_collective),
        *serving,
        _learning_evidence(learning),
        _power_evidence(),
    ]
    groups = [
        *worst_groups("training step", held, steps.accelerator),
        *worst_groups("collective", collectives, lambda case: case.group),
        *(one for each in serving for one in worst_groups(each.name, each.cases, each.accelerator)),
    ]
    transfers, pairs = rl_page.right_counts([case for case in learning if case.held_out])
    facts = overview.facts(scored.fits, scored.fabrics, ranking(scored.runs), transfers, pairs)
    yield from overview.overview(evidence, facts, groups)


def _machine_of_collective(case: Case) -> str:
    """The accelerator of a collective's series."""
    return next(
        row["accelerator"] for row in published.table("collective_series.csv") if case.id.split()[0] == row["series"]
    )


def _learning_evidence(learning: Sequence[rl_cases.RlCase]) -> Evidence:
    """Published steps of reinforcement learning of held-out sources."""
    clusters = {case.row["id"]: case.row["cluster"] for case in learning}
    cases = [case for case in rl_cases.steps(learning) if is_held_out(case.source)]
    return Evidence("step of reinforcement learning", cases, lambda case: case.source, lambda case: clusters[case.id])


def _power_evidence() -> Evidence:
    """Published power of nodes that no constant is fitted to."""
    rows = {row["case"]: row for row in published.table("power.csv")}
    cases = [case for case in power_cases.cases() if rows[case.id.split()[0]]["side"] == "held out"]
    return Evidence("power of a node", cases, lambda case: case.source.split(",")[0], lambda case: case.id.split()[1])


def _step_parts(scored: _Scored, first: Sequence[Case]) -> Iterator[str]:
    """Step times of later sources, their ranges, and step times of older sources."""
    yield "\n## Training steps: later sources\n"
    yield new_sources.scores_section(scored.new, first)
    yield "\n### Share inside the range, by regime\n"
    yield ranges.section([*scored.runs, *scored.new])
    mixtures = [case for case in scored.runs if _is_mixture(case.id)]
    yield OLDER
    baseline = score("null model", null_model())
    yield score_table([*grouped(scored.runs), score("mixture of experts", mixtures), baseline], "accelerator")
    yield score_table(scores_by_split(scored.runs), "constants")
    yield score_table(scores_by_source(scored.runs), "source")
    yield "\n### The ten worst\n"
    yield worst_cases_table(scored.runs)
    yield REGRETS
    yield regret_table(ranking(scored.runs))
    yield SMALL
    yield score_table(grouped(scored.small), "accelerator")


def _memory_parts(scored: _Scored) -> Iterator[str]:
    """Peak memory, and whether designs fit."""
    yield MEMORY
    yield "### Peaks of later sources\n"
    yield score_table(new_sources.scores(scored.peaks), "source")
    yield "\n### Share inside the range of memory, by regime\n"
    yield ranges.memory_section(scored.peaks)
    yield "\n### Peaks of older sources\n"
    yield score_table(grouped(scored.memory), "accelerator")
    yield "\n### Whether a job fits in memory\n"
    yield fit_table(scored.fits)


def _collective_parts(scored: _Scored, unseen: dict[str, list[Case]]) -> Iterator[str]:
    """Times of collectives."""
    yield "\n## Collectives\n"
    yield "![predicted against measured time](accuracy-collectives.svg)\n"
    yield score_table(grouped(scored.collectives), "size")
    yield UNSEEN
    every = [case for cases in unseen.values() for case in cases]
    yield score_table([*(score(name, cases) for name, cases in unseen.items()), *grouped(every)], "source or size")
    yield NEW
    yield score_table(scores_of_new_collectives(scored.collectives), "source or size")
    yield "\n### Each measured table\n"
    yield score_table(scores_by_series(scored.collectives), "table")


def _method_parts(scored: _Scored) -> Iterator[str]:
    """How constants are fitted, and the errors of fits that leave runs out."""
    yield METHOD
    yield held_out_table()
    yield SIDES
    yield board_page.split_table()
    yield "\n### Fitted constants\n"
    yield constants_table()


def _is_mixture(name: str) -> bool:
    return any(
        run["id"] == name and run["spec"]["workload"]["model"].get("experts") for run in published.published_runs()
    )


def scores_by_split(cases: Sequence[Case]) -> list[Score]:
    """Errors of the runs that constants are fitted to, and of the others."""
    fitted = {name for name, used in fitted_runs().items() if used}
    parts = {"fitted to": True, "never fitted to": False}
    return [score(name, [case for case in cases if (case.id in fitted) is part]) for name, part in parts.items()]


def scores_by_source(cases: Sequence[Case]) -> list[Score]:
    """Errors of each source, named as the ids of its runs begin."""
    names = sorted({case.id.split("-")[0] for case in cases})
    return [score(name, [case for case in cases if case.id.split("-")[0] == name]) for name in names]


def scores_of_new_collectives(cases: Sequence[Case]) -> list[Score]:
    """Collectives of sources entered since the split was declared, by source with its side, and by size."""
    new = [case for case in cases if collective_folds.repository(case.source) not in COLLECTIVES_BEFORE]
    sources: dict[str, list[Case]] = {}
    for case in new:
        name = collective_folds.repository(case.source)
        sources.setdefault(f"{name}, {side_of(name)}", []).append(case)
    return [*(score(name, found) for name, found in sources.items()), *grouped(new)]


def scores_by_series(cases: Sequence[Case]) -> list[Score]:
    """Errors of each published table of collectives."""
    names = list(dict.fromkeys(case.id.split()[0] for case in cases))
    return [score(name, [case for case in cases if case.id.split()[0] == name]) for name in names]
