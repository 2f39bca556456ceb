"""How far predictions of runs that were not fitted to lie off: the bands of the catalog's stacks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import exp, log1p, sqrt

from clusterspec import resources
from tools.fit.constants import left_out, table
from tools.fit.held_out import Errors
from tools.fit.runs import Run

HELD = 0.9
"""The share of runs that a band holds.

The aim is four in five of every group of runs; groups are so unlike each other that more of all of them are needed
for that. A band with experts is never narrower than that without: all that is uncertain of the one is of the other.
"""
FACTS = {False: "spread", True: "spread.experts"}
KNOWN = 10
"""Runs of a generation from which its own spread counts as much as that of all generations."""


def spreads(folds: Errors, sources: Errors) -> dict[str, dict[bool, tuple[float, int]]]:
    """For each stack, without and with experts: the relative half-width, and how many runs speak for it.

    ``folds`` are errors of runs left out by fifths, ``sources`` by source. What all generations have
    in common lies between the two (their geometric mean): a user's run is neither quite like a
    published one nor quite unlike all of them.
    """
    everything = {kind: sqrt(_quantile(folds, kind) * _quantile(sources, kind)) for kind in FACTS}
    found = {}
    for stack in table()["stacks"]:
        dense, experts = (_drawn(stack, kind, folds, everything[kind]) for kind in FACTS)
        found[stack] = {False: dense, True: (max(dense[0], experts[0]), experts[1])}
    return found


def _drawn(stack: str, experts: bool, folds: Errors, everything: float) -> tuple[float, int]:
    own = [(run, error) for run, error in folds if ("stack", stack) in run.owners]
    count = sum(run.experts is experts and run.id not in left_out() for run, _ in own)
    weight = count / (count + KNOWN)
    return exp(weight * _quantile(own, experts) + (1 - weight) * everything) - 1, count


def _quantile(errors: Iterable[tuple[Run, float]], experts: bool) -> float:
    sizes = sorted(abs(log1p(e)) for run, e in errors if run.experts is experts and run.id not in left_out())
    return sizes[min(len(sizes) - 1, int(HELD * len(sizes)))] if sizes else 0.0


def write(found: dict[str, dict[bool, tuple[float, int]]]) -> None:
    """Puts the spreads into the catalog."""
    for stack, kinds in found.items():
        file = resources.catalog() / "stacks" / f"{stack}.yaml"
        text = file.read_text("utf-8")
        for experts, (width, count) in kinds.items():
            line = re.compile(rf"^  {re.escape(FACTS[experts])}: .*$", re.MULTILINE)
            text = line.sub(_line(experts, width, count), text)
        file.write_text(text, "utf-8")


def _line(experts: bool, width: float, count: int) -> str:
    held = f"nine in ten published {'runs with experts' if experts else 'dense runs'}"
    runs = "1 run" if count == 1 else f"{count} runs"
    why = f"{held} lie within it when they are left out of the fit ({runs}, drawn towards all generations)"
    return f'  {FACTS[experts]}: {{is: {width:.2g}, of: "the predicted step", assumed: "{why}"}}'
