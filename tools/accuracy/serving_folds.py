"""Predictions of the fitted serving constants for plans that they were not fitted to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import log

from clusterspec.cluster.model import Design
from clusterspec.cost.serving import constants as known
from clusterspec.cost.serving.times import serving_times
from clusterspec.quantity import Figure
from clusterspec.records import replace
from tools.accuracy.cases import Case
from tools.accuracy.serving_cases import cases_of_plan, plans

Plans = Sequence[tuple[dict[str, str], Design]]

GRID: dict[str, tuple[float, ...]] = {
    "serving.host": (0.4e-3, 0.55e-3, 0.7e-3, 0.9e-3, 1.2e-3),
    "serving.eager": (0.10e-3, 0.13e-3, 0.16e-3, 0.20e-3, 0.25e-3),
    "serving.request": (3e-3, 5e-3, 8e-3, 10e-3, 20e-3, 35e-3),
    "WEIGHT_ONLY": (0.2, 0.3, 0.4, 0.6, 1.0),
    "HANDOFF": (20e-3, 60e-3, 100e-3, 150e-3),
    "WAVE": (0.05, 0.1, 0.25, 0.35, 0.6),
}
"""The constants of serving that were fitted, with the values that were tried."""
SPARSE = 2
"""To save time, constants are fitted to every SPARSE-th plan."""
WORST = 1.0
"""Logarithm of a ratio beyond which an error counts no more: some published runs are faulty."""


def value(name: str) -> float:
    """The value of a fitted constant."""
    return _figure(name).value


def folds(kind: Callable[[dict[str, str]], str]) -> Iterator[tuple[str, list[Case]]]:
    """For each kind of plan, the cases of its plans, predicted with constants that were fitted to all other plans."""
    every = plans()
    before = {name: value(name) for name in GRID}
    try:
        for name in sorted({kind(row) for row, _ in every}):
            fit([each for each in every if kind(each[0]) != name][::SPARSE])
            yield name, _cases([each for each in every if kind(each[0]) == name])
    finally:
        for name, old in before.items():
            _set_constant(name, old)


def fit(some: Plans) -> dict[str, float]:
    """Set each constant, one after the other, to the grid value that predicts some plans best. Each starts in the
    middle of its values.
    """
    for name, values in GRID.items():
        _set_constant(name, values[len(values) // 2])
    for name, values in GRID.items():
        losses = {tried: _loss(some, name, tried) for tried in values}
        _set_constant(name, min(losses, key=lambda tried, losses=losses: losses[tried]))  # type: ignore[misc]
    return {name: value(name) for name in GRID}


def _loss(some: Plans, name: str, tried: float) -> float:
    _set_constant(name, tried)
    return sum(min(WORST, abs(log(1 + case.error))) for case in _cases(some))


def _cases(some: Plans) -> list[Case]:
    found = ((row, serving_times(design)) for row, design in some)
    return [case for row, times in found if times is not None for case in cases_of_plan(row, times)]


def _figure(name: str) -> Figure:
    found = known.HABITS[name] if name in known.HABITS else getattr(known, name)
    assert isinstance(found, Figure)
    return found


def _set_constant(name: str, new: float) -> None:
    changed = replace(_figure(name), value=new)
    if name in known.HABITS:
        known.HABITS[name] = changed
    else:
        setattr(known, name, changed)
