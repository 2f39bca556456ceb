"""Finds the constants: the least loss over the runs and over the distance from what was known beforehand.

The logarithm of a predicted step is nearly linear in the logarithms of the constants. A fit is therefore a few
Gauss-Newton steps with one matrix of derivatives each (Nocedal, Wright, "Numerical optimization", 2006, section
10.3), and a fit without some runs is one more step from the fit with all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from tools.fit.constants import Constant, left_out
from tools.fit.runs import Run, Values

KNEE = 0.12
"""Relative error from which a run counts by its error and no more by its square: some runs are odd."""
PULL = 0.0012
"""What one standard deviation from its prior costs a constant: an error of 5 % in one run."""
STEPS = 4
DIFFERENCE = 0.03
"""Relative change of a constant over which derivatives are taken: wide enough to cross the bends of maxima."""
REFITS = 3
Column = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """The fitted ``values``, and what errors do around them.

    ``errors`` are those of ``runs`` under the values, ``slopes`` their derivatives by the ``free`` constants.
    """

    values: dict[Constant, float]
    free: tuple[Constant, ...]
    runs: tuple[Run, ...]
    errors: Column
    slopes: Column

    def without(self, dropped: Callable[[Run], bool], held: Constant | None = None) -> dict[Constant, float]:
        """The values of a fit that does not see the dropped runs, and where one constant keeps its prior."""
        seen = np.array([float(run.fitted and run.id not in left_out() and not dropped(run)) for run in self.runs])
        start = np.array([log(self.values[constant]) for constant in self.free])
        moved = np.zeros(len(self.free))
        fixed = np.array([constant is held for constant in self.free])
        if held is not None:
            moved[fixed] = log(held.prior) - start[fixed]
        for _ in range(REFITS):
            errors = self.errors + self.slopes @ moved
            moved = moved + np.where(fixed, 0.0, _step(self.free, start + moved, errors, self.slopes, seen, fixed))
        return _valued(self.values, self.free, start + moved)

    def predicted(self, values: Values) -> Column:
        """The errors of all runs under values near the fitted ones, by their derivatives."""
        moved = np.array([log(values[constant] / self.values[constant]) for constant in self.free])
        found: Column = self.errors + self.slopes @ moved
        return found


def fitted(constants: Sequence[Constant], runs: Sequence[Run]) -> Fit:
    """Gauss-Newton steps from the priors over the runs that are fitted to."""
    values = {constant: constant.prior for constant in constants}
    free = tuple(constant for constant in constants if constant.spread and _touched(constant, runs))
    seen = np.array([float(run.fitted and run.id not in left_out()) for run in runs])
    errors = _errors(values, runs)
    for _ in range(STEPS):
        slopes = _slopes(values, free, runs, errors)
        start = np.array([log(values[constant]) for constant in free])
        step = _step(free, start, errors, slopes, seen, np.zeros(len(free), bool))
        values, errors = _along(values, free, start, step, runs, seen, errors)
    return Fit(values, free, tuple(runs), errors, _slopes(values, free, runs, errors))


def _along(
    values: dict[Constant, float],
    free: Sequence[Constant],
    start: Column,
    step: Column,
    runs: Sequence[Run],
    seen: Column,
    errors: Column,
) -> tuple[dict[Constant, float], Column]:
    """The values and errors as far along a step as the loss falls."""
    before = loss(values, errors, seen)
    for share in (1.0, 0.5, 0.25, 0.1):
        tried = _valued(values, free, start + share * step)
        found = _errors(tried, runs)
        if loss(tried, found, seen) < before:
            return tried, found
    return values, errors


def _step(
    free: Sequence[Constant], at: Column, errors: Column, slopes: Column, seen: Column, fixed: NDArray[np.bool_]
) -> Column:
    """The step to the least of the loss, were errors linear in the logarithms of the constants."""
    weights = seen / np.sqrt(1 + (errors / KNEE) ** 2)
    prior = np.array([log(constant.prior) for constant in free])
    pulls = np.array([2 * PULL / constant.spread**2 for constant in free])
    matrix = slopes.T @ (weights[:, None] * slopes) + np.diag(pulls + 1e6 * fixed)
    right = -(slopes.T @ (weights * errors) + pulls * (at - prior))
    step: Column = np.linalg.solve(matrix, np.where(fixed, 0.0, right))
    return step


def loss(values: Values, errors: Column, seen: Column) -> float:
    """What a fit makes small: the errors of the runs it sees, and the distance from what was known."""
    runs = float(np.sum(seen * KNEE**2 * (np.sqrt(1 + (errors / KNEE) ** 2) - 1)))
    return runs + sum(pull(constant, value) for constant, value in values.items() if constant.spread)


def pull(constant: Constant, value: float) -> float:
    return PULL * (log(value / constant.prior) / constant.spread) ** 2


def _valued(values: Values, free: Sequence[Constant], logs: Column) -> dict[Constant, float]:
    moved = {constant: min(exp(each), constant.cap) for constant, each in zip(free, logs, strict=True)}
    return {**values, **moved}


def _errors(values: Values, runs: Sequence[Run]) -> Column:
    return np.array([run.error(values) for run in runs])


def _slopes(values: Values, free: Sequence[Constant], runs: Sequence[Run], errors: Column) -> Column:
    """Derivatives of the errors by the logarithms of the constants; 0 where a run does not depend on one."""
    found = np.zeros((len(runs), len(free)))
    for column, constant in enumerate(free):
        larger = {**values, constant: values[constant] * exp(DIFFERENCE)}
        for row, run in enumerate(runs):
            if run.owners & set(constant.owners):
                found[row, column] = (run.error(larger) - errors[row]) / DIFFERENCE
    return found


def _touched(constant: Constant, runs: Sequence[Run]) -> bool:
    return any(run.owners & set(constant.owners) for run in runs)


def sensitive(constant: Constant, fit: Fit) -> int:
    """How many fitted runs would notice if the constant were a fifth larger."""
    if constant not in fit.free:
        return 0
    column = np.abs(fit.slopes[:, fit.free.index(constant)]) * log(1.2)
    seen = np.array([run.fitted and run.id not in left_out() for run in fit.runs])
    return int(np.sum(seen & (column > 5e-4)))
