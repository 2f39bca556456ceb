"""The part of docs/accuracy.md about serving plans of sources to which nothing is fitted."""

from __future__ import annotations

from collections.abc import Sequence

from tools.accuracy import serving_cases
from tools.accuracy.cases import Case
from tools.accuracy.figures import Score, score

TEXT = """
## Serving: later sources

Plans of sources entered from 21 November 2026 on (`tests/accuracy/new_serving.csv`). No constant is fitted to a source
that is held out; the hash of its name decides. The [notes](accuracy-notes.md#serving-sources) have the first error of
each source, before anything was changed for it.
"""
APART = {("gpustack", "h100-pcie-80gb"): ", dense Qwen3 on H100", ("argonne", "mi300x"): " on MI300X"}
"""Text about sources on accelerators whose plans differ from the others."""


def quantities(cases: Sequence[Case]) -> list[Score]:
    """A score for each quantity that is published."""
    names = ("tpot", "ttft", "throughput")
    return [score(f"**{name}**", figures_of(cases, name)) for name in names if figures_of(cases, name)]


def scores() -> list[Score]:
    """Scores of plans of sources to which nothing was fitted, by source and quantity."""
    sources: dict[str, list[Case]] = {}
    rows = {row["id"]: row for row, _ in serving_cases.plans("new_serving")}
    for case in serving_cases.cases("new_serving"):
        row = rows[case.id]
        apart = APART.get((row["source"], row["accelerator"]), "")
        sources.setdefault(row["source"] + apart, []).append(case)
    return [
        score(f"{source}: {one.name.strip('*')}", figures_of(found, one.name.strip("*")))
        for source, found in sources.items()
        for one in quantities(found)
    ]


def figures_of(cases: Sequence[Case], name: str) -> list[Case]:
    """The cases of one quantity: ``tpot``, ``ttft`` or ``throughput``."""
    return [case for case in cases if case.group.startswith(name)]
