"""Finds the constants: the least loss over the runs and over the distance from what was known beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt

from tools.fit.constants import Constant, left_out
from tools.fit.runs import Run, Values

KNEE = 0.12
"""Relative error from which a run counts by its error and no more by its square: some runs are odd."""
PULL = 0.0012
"""What one standard deviation from its prior costs a constant: an error of 5 % in one run."""
SWEEPS = 9


def fitted(constants: Sequence[Constant], all_runs: Sequence[Run], sweeps: int = SWEEPS) -> dict[Constant, float]:
    """Coordinate descent on the logarithms from the priors, with a step of its own for each constant."""
    runs = [run for run in all_runs if run.id not in left_out()]
    values = {constant: constant.prior for constant in constants}
    search = _Search(runs, values)
    free = [constant for constant in constants if constant.spread and search.runs_of(constant)]
    steps = {constant: constant.spread / 2 for constant in free}
    for _ in range(sweeps):
        for constant in free:
            steps[constant] *= 1.3 if search.improve(constant, steps[constant]) else 0.5
    return values


class _Search:
    """The values so far and the error of every run under them."""

    def __init__(self, runs: Sequence[Run], values: dict[Constant, float]) -> None:
        self.runs, self.values = runs, values
        self.errors = [run.error(values) for run in runs]

    def runs_of(self, constant: Constant) -> list[int]:
        return [index for index, run in enumerate(self.runs) if run.owners & set(constant.owners)]

    def improve(self, constant: Constant, step: float) -> bool:
        """Tries a step up and a step down; keeps the first that lowers the loss."""
        before, mine = self.values[constant], self.runs_of(constant)
        loss = sum(huber(self.errors[index]) for index in mine) + pull(constant, before)
        for factor in (exp(step), exp(-step)):
            self.values[constant] = min(before * factor, constant.cap)
            errors = [self.runs[index].error(self.values) for index in mine]
            if sum(map(huber, errors)) + pull(constant, self.values[constant]) < loss - 1e-9:
                for index, error in zip(mine, errors, strict=True):
                    self.errors[index] = error
                return True
        self.values[constant] = before
        return False


def huber(error: float) -> float:
    return KNEE**2 * (sqrt(1 + (error / KNEE) ** 2) - 1)


def pull(constant: Constant, value: float) -> float:
    return PULL * (log(value / constant.prior) / constant.spread) ** 2


def sensitive(constant: Constant, values: Values, runs: Sequence[Run]) -> int:
    """How many fitted runs would notice if the constant were a fifth larger."""
    mine = [run for run in runs if run.fitted and run.id not in left_out() and run.owners & set(constant.owners)]
    larger = {**values, constant: values[constant] * 1.2}
    return sum(abs(run.error(larger) - run.error(values)) > 5e-4 for run in mine)
