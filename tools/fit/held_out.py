"""Every run predicted by a fit that did not see it: its fifth of the runs, or its source, left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import exp

from tools.fit.runs import Run, Values
from tools.fit.search import Fit

FOLDS = 5
Errors = list[tuple[Run, float]]
"""Runs, each with predicted over published seconds, less one."""


def errors(values: Values, some: Iterable[Run]) -> Errors:
    """The errors of some runs under some values."""
    return [(run, exp(run.error(values)) - 1) for run in some]


def folds(fit: Fit) -> Errors:
    """Every fifth run in order of source and name left out."""
    places = {run.id: index % FOLDS for index, run in enumerate(fit.runs)}
    return _left_out(fit, lambda run: places[run.id])


def sources(fit: Fit) -> Errors:
    """Each source left out."""
    return _left_out(fit, lambda run: run.source)


def _left_out(fit: Fit, part: Callable[[Run], object]) -> Errors:
    found: Errors = []
    for each in dict.fromkeys(map(part, fit.runs)):
        unseen = [run for run in fit.runs if part(run) == each]
        found += errors(fit.without({run.id for run in unseen}), unseen)
    return found
