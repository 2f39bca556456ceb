"""The section of docs/accuracy.md about serving."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Design
from tools.accuracy import serving_cases, serving_limits, serving_sources, serving_tails
from tools.accuracy.cases import Case
from tools.accuracy.figures import Score, grouped, score
from tools.accuracy.serving_folds import GRID, folds, value
from tools.accuracy.serving_ranges import ranges_table
from tools.accuracy.serving_sources import figures_of, quantities
from tools.accuracy.split import is_held_out
from tools.accuracy.tables import score_table

CARDS = frozenset({"pcie", "bridge"})
"""Topologies of cards in slots."""

HEAD = """## Serving

Published serving plans (`tests/accuracy/serving.csv`), medians where they are published, else means. TTFT is the time
to the first token, TPOT the time per output token. Throughput is the output of the whole plan, compared where the load
is static or offline. Kernel times are measured (`catalog/kernels`). Six constants were fitted to 992 plans, of which
this file has every fifth; nothing was fitted to the plans of H20, whose kernels were measured one by one. The
[notes](accuracy-notes.md#serving-changes-of-the-model) say what was changed for which source.
"""
WIDTHS = """
### Ranges of serving

The ranges in use, the ranges that the rule gives on the fitted side, and the published figures inside those in use. The
rule: a source weighs as many figures as it has, ten at most; a regime with fewer than three sources takes those of
related ones too; the range reaches from the tenth to the ninetieth percentile, and further by a margin over the root of
the number of sources, with which ranges of the other sources hold four in five figures of a source left out
(`python -m tools.accuracy.serving_ranges`). A test fails where either changes without this table.
"""
STATED = """
### What sources of serving state

Held-out plans by what their source leaves unsaid: the release of the engine, or, for tensor parallelism over PCIe
cards, the links between the cards (with or without bridges and peer access). Such a plan cannot be predicted better
than its settings are known. All of these plans are in the tables above. The classes were chosen after errors of single
groups had been seen.

"""
FOLDS = """
### Serving plans left out of the fit

Errors of plans of one family of models, or of one accelerator, with the six constants fitted on a coarse grid to all
other plans.
"""


def section(cases: Sequence[Case]) -> Iterator[str]:
    """The parts of the section."""
    yield HEAD
    yield score_table([*quantities(cases), *grouped(cases)], "figures of")
    yield serving_sources.TEXT
    yield score_table(serving_sources.scores(), "source and figure")
    yield serving_tails.TEXT
    yield score_table(serving_tails.scores(list(serving_tails.cases())), "source and figure")
    yield serving_limits.TEXT
    yield serving_limits.limits_table(serving_limits.open_loads())
    yield WIDTHS
    yield ranges_table()
    yield STATED
    yield score_table(scores_by_statement(), "figure and what is unsaid")
    yield FOLDS
    yield score_table(held_out(), "left out and figure")
    yield "\n### Fitted constants of serving\n"
    yield constant_tables()


def scores_by_statement() -> list[Score]:
    """Scores of held-out plans by quantity and by what their source leaves unsaid."""
    found: dict[str, list[Case]] = {}
    for row, design, times in serving_cases.predicted_plans("new_serving"):
        if is_held_out(row["source"]):
            for case in serving_cases.cases_of_plan(row, times):
                name, _, kind = case.group.partition(", ")
                said = unstated_facts(row, design) or f"both stated, {kind.rpartition(', ')[2]}"
                found.setdefault(f"{name}: {said}", []).append(case)
    return [score(name, found[name]) for name in sorted(found)]


def unstated_facts(row: dict[str, str], design: Design) -> str:
    """What the source of a plan does not state; empty if it states both the release and the links."""
    if not row["software"]:
        return "release not stated"
    over_slots = design.cluster is not None and design.cluster.accelerator.topology in CARDS
    return "links between cards not stated" if over_slots and int(row["tp"] or 1) > 1 else ""


def held_out() -> list[Score]:
    """Scores of plans that the constants were not fitted to."""
    kinds = {"model left out": lambda row: family(row["model"]), "accelerator left out": lambda row: row["accelerator"]}
    found = []
    for name, kind in kinds.items():
        every = [case for _, cases in folds(kind) for case in cases]
        found += [
            score(f"{name}: {one.name.strip('*')}", figures_of(every, one.name.strip("*"))) for one in quantities(every)
        ]
    return found


def family(model: str) -> str:
    """The family of a model.

    >>> family("llama-3.3-70b"), family("gpt-oss-20b")
    ('llama', 'gpt')
    """
    return model.partition("-")[0].rstrip("0123456789.")


def constant_tables() -> str:
    """The fitted constants, and the values that were tried."""
    rows = ["| constant | value | tried |", "|---|---|---|"]
    rows += [f"| {name.lower()} | {value(name):g} | {', '.join(f'{one:g}' for one in GRID[name])} |" for name in GRID]
    return "\n".join(rows) + "\n"
