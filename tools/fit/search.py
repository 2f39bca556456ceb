"""Finds the constants that minimize the loss: the errors of the runs and the distance from the priors.

The logarithm of a predicted step is nearly linear in the logarithms of the constants. A fit is therefore a few
Gauss-Newton steps with one matrix of derivatives each (Nocedal, Wright, "Numerical optimization", 2006, section
10.3), and a fit without some runs is one more step from the fit with all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from tools.fit.constants import Constant, unfitted_runs
from tools.fit.runs import Run, Values

KNEE = 0.12
"""Relative error above which a run counts linearly instead of quadratically, because some runs are outliers."""
PULL = 0.0012
"""Cost of one standard deviation from a constant's prior, as an error of one run: 5 %."""
STEPS = 4
STEPS_AGAIN = 2
"""Steps with derivatives of their own from a fit that is near."""
DIFFERENCE = 0.03
"""Relative change of a constant over which derivatives are taken: wide enough to cross the bends of maxima."""
REFITS = 3
SHARES = (1.0, 0.5, 0.25, 0.1)
"""Parts of a step that are tried until the loss falls."""
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

    def values_without(self, dropped: AbstractSet[str], fixed: Constant | None = None) -> dict[Constant, float]:
        """The values of a fit without the runs of these names, or with one constant kept at its prior."""
        seen = np.array([float(counts(run) and run.id not in dropped) for run in self.runs])
        held_here = np.array([constant is fixed for constant in self.free])
        start, priors = logs(self.free, self.values), np.array([log(constant.prior) for constant in self.free])
        moved = np.where(held_here, priors - start, 0.0)
        for _ in range(REFITS):
            around = _Around(self.free, start + moved, self.errors + self.slopes @ moved, self.slopes, seen)
            moved = moved + around.step(held_here)
        return _with_free_values(self.values, self.free, start + moved)


def fitted(constants: Sequence[Constant], runs: Sequence[Run]) -> Fit:
    """Gauss-Newton steps from the priors over the runs that are fitted to."""
    values = {constant: constant.prior for constant in constants}
    free = tuple(constant for constant in constants if constant.spread and _affects_any(constant, runs))
    values, errors = _descent(values, free, runs, STEPS)
    return Fit(values, free, tuple(runs), errors, _slopes(values, free, runs, errors))


def refitted(fit: Fit, fixed: Constant) -> dict[Constant, float]:
    """The values of a fit with one constant kept at its prior, by the model itself.

    ``Fit.without`` finds them from errors that are linear in the logarithms. They are not so far from the fit: where a
    prior is a quarter of the fitted value, what is linear there has left the other constants short of their optimum.
    The steps here start from its values and take derivatives anew.
    """
    free = tuple(constant for constant in fit.free if constant != fixed)
    return _descent(fit.values_without(frozenset(), fixed), free, fit.runs, STEPS_AGAIN)[0]


def _descent(
    values: Values, free: Sequence[Constant], runs: Sequence[Run], steps: int
) -> tuple[dict[Constant, float], Column]:
    """The values and errors after some steps, or after fewer where none lowers the loss."""
    at, errors = dict(values), _errors(values, runs)
    seen = np.array([float(counts(run)) for run in runs])
    for _ in range(steps):
        around = _Around(free, logs(free, at), errors, _slopes(at, free, runs, errors), seen)
        lower = _lower_loss(around, at, runs, errors)
        if lower is None:
            break
        at, errors = lower
    return at, errors


def _lower_loss(
    around: _Around, values: Values, runs: Sequence[Run], errors: Column
) -> tuple[dict[Constant, float], Column] | None:
    """Values of a smaller loss, and their errors: the longest part of a step that has one."""
    step, before = around.step(np.zeros(len(around.free), bool)), loss(values, errors, around.seen)
    for share in SHARES:
        tried = _with_free_values(values, around.free, around.at + share * step)
        found = _errors(tried, runs)
        if loss(tried, found, around.seen) < before:
            return tried, found
    return None


def counts(run: Run) -> bool:
    """Whether a run is fitted to."""
    return run.fitted and run.id not in unfitted_runs()


@dataclass(frozen=True)
class _Around:
    """Errors and slopes at one point: ``at`` are the logarithms of the ``free`` constants, ``seen`` is 1 for the runs
    that are fitted to, else 0."""

    free: Sequence[Constant]
    at: Column
    errors: Column
    slopes: Column
    seen: Column

    def step(self, fixed: NDArray[np.bool_]) -> Column:
        """The step to the least of the loss, were errors linear in the logarithms; constants that are held stay."""
        weights = self.seen / np.sqrt(1 + (self.errors / KNEE) ** 2)
        priors = np.array([log(constant.prior) for constant in self.free])
        pulls = np.array([2 * PULL / constant.spread**2 for constant in self.free])
        matrix = self.slopes.T @ (weights[:, None] * self.slopes) + np.diag(pulls)
        right = -(self.slopes.T @ (weights * self.errors) + pulls * (self.at - priors))
        found = np.zeros(len(self.free))
        free = ~fixed
        found[free] = np.linalg.solve(matrix[np.ix_(free, free)], right[free])
        return found


def loss(values: Values, errors: Column, seen: Column) -> float:
    """The quantity that a fit minimizes: the errors of its runs, and the distance from the priors."""
    runs = float(np.sum(seen * KNEE**2 * (np.sqrt(1 + (errors / KNEE) ** 2) - 1)))
    return runs + sum(pull(constant, value) for constant, value in values.items() if constant.spread)


def pull(constant: Constant, value: float) -> float:
    return PULL * (log(value / constant.prior) / constant.spread) ** 2


def logs(free: Sequence[Constant], values: Values) -> Column:
    """The logarithms of the values of some constants."""
    return np.array([log(values[constant]) for constant in free])


def _with_free_values(values: Values, free: Sequence[Constant], at: Column) -> dict[Constant, float]:
    moved = {constant: min(exp(each), constant.cap) for constant, each in zip(free, at, strict=True)}
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


def _affects_any(constant: Constant, runs: Sequence[Run]) -> bool:
    return any(run.owners & set(constant.owners) for run in runs)


def sensitive_runs(constant: Constant, fit: Fit) -> int:
    """The number of fitted runs whose prediction changes noticeably if the constant is a fifth larger."""
    if constant not in fit.free:
        return 0
    column = np.abs(fit.slopes[:, fit.free.index(constant)]) * log(1.2)
    seen = np.array([counts(run) for run in fit.runs])
    return int(np.sum(seen & (column > 5e-4)))
