"""Every run predicted by a fit that did not see it, with a fifth of the runs, a source, a chip or a kind left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import exp

from tools.fit.runs import Run, Values
from tools.fit.search import Fit

FOLDS = 5
Errors = list[tuple[Run, float]]
"""Runs, each with predicted over published seconds, less one."""


def errors(values: Values, some: Iterable[Run], measured: bool = True) -> Errors:
    """The errors of some runs under some values; without ``measured``, on accelerators without a figure."""
    return [(run, exp(run.error(values, measured)) - 1) for run in some]


def folds(fit: Fit) -> Errors:
    """Every fifth run in order of source and name left out."""
    places = {run.id: index % FOLDS for index, run in enumerate(fit.runs)}
    return _left_out(fit, lambda run: places[run.id])


def sources(fit: Fit) -> Errors:
    """Each source left out."""
    return _left_out(fit, lambda run: run.source)


def families(fit: Fit) -> Errors:
    """Each family of chips left out, and predicted without any figure of its own."""
    return _left_out(fit, lambda run: run.family, measured=False)


def kinds(fit: Fit) -> Errors:
    """Errors for each family of chips in one precision with one framework, predicted by a fit without these runs."""
    return _left_out(fit, lambda run: (run.family, run.record))


def _left_out(fit: Fit, part: Callable[[Run], object], measured: bool = True) -> Errors:
    found: Errors = []
    for each in dict.fromkeys(map(part, fit.runs)):
        unseen = [run for run in fit.runs if part(run) == each]
        found += errors(fit.values_without({run.id for run in unseen}), unseen, measured)
    return found
