"""Assignments of jobs to pools: an integer program, solved by HiGHS through SciPy (the extra ``fleet``).

Each item takes exactly one of its options. An option takes nodes of one pool, and no pool gives more nodes than it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from clusterspec.records import NamedTuple
from clusterspec.standard import sum_of

INSTALL = "pip install 'clusterspec[fleet]'"
TOLERANCE = 1e-9
"""Relative difference below which two values of an objective count as equal."""


class SolverMissing(RuntimeError):
    """Raised where SciPy is not installed."""


def solver_module() -> Any:
    """The module of the solver. Raises `SolverMissing`."""
    try:
        return import_module("scipy.optimize")
    except ImportError:
        raise SolverMissing(f"an assignment needs the extra `fleet`: {INSTALL}") from None


class Option(NamedTuple):
    """One way to run an item: ``nodes`` of a pool, and its value, which the assignment minimizes in sum."""

    item: str
    pool: str
    nodes: int
    value: float


class ChosenOptions(NamedTuple):
    """An assignment: the indices of its options, the sum of their values, and the relative gap between the sum and the
    proven lower bound; 0 if no assignment is better."""

    options: tuple[int, ...]
    value: float
    gap: float


def best_assignments(
    options: Sequence[Option], capacity: Mapping[str, int], *, top: int, seconds: float
) -> Iterator[ChosenOptions]:
    """The best assignments, best first. Among equal values, one with the fewest nodes comes first.

    ``capacity`` is the number of nodes of each pool, ``seconds`` the time limit of each solution. Nothing if no
    assignment exists or if none is found in time. Raises `SolverMissing`.
    """
    program = _Program(options, capacity, seconds)
    excluded: list[tuple[int, ...]] = []
    while len(excluded) < top:
        found = program.solve(excluded)
        if found is None:
            return
        yield found
        excluded.append(found.options)


def _relative_gap(value: float, bound: float) -> float:
    """Upper limit of the excess of a value over the optimum, relative to the value; ``bound`` is a lower bound of the
    optimum.

    >>> _relative_gap(8.0, 6.0), _relative_gap(-4.0, -5.0), _relative_gap(0.0, -3.0), _relative_gap(2.0, 3.0)
    (0.25, 0.25, 3.0, 0.0)
    """
    return max(0.0, value - bound) / (abs(value) or 1.0)


class _Program:
    """The integer program: one variable of 0 or 1 for each option."""

    def __init__(self, options: Sequence[Option], capacity: Mapping[str, int], seconds: float) -> None:
        self._optimize = solver_module()
        self.options, self.seconds = options, seconds
        self.items = list(dict.fromkeys(each.item for each in options))
        self.scale = max((abs(each.value) for each in options), default=0.0) or 1.0
        self.values = [each.value / self.scale for each in options]
        pools = list(dict.fromkeys(each.pool for each in options))
        one_each = [[float(each.item == item) for each in options] for item in self.items]
        taken = [[each.nodes * float(each.pool == pool) for each in options] for pool in pools]
        self.rows = [(row, 1.0, 1.0) for row in one_each]
        self.rows += [(row, 0.0, float(capacity.get(pool, 0))) for row, pool in zip(taken, pools, strict=True)]

    def solve(self, excluded: Sequence[tuple[int, ...]]) -> ChosenOptions | None:
        """The best assignment other than those ``excluded``."""
        if not self.items:
            return None
        rows = [*self.rows, *((self._row_of(each), 0.0, len(each) - 1.0) for each in excluded)]
        best = self._lowest_solution(self.values, rows)
        if best is None:
            return None
        options, bound = best
        value = self._option_objective(options)
        gap = _relative_gap(value / self.scale, bound)
        limit = value / self.scale + TOLERANCE * max(1.0, abs(value / self.scale))
        smaller = self._lowest_solution(
            [float(each.nodes) for each in self.options], [*rows, (self.values, -1e30, limit)]
        )
        if smaller is not None and self._option_objective(smaller[0]) <= value * (1 + TOLERANCE):
            options = smaller[0]
        return ChosenOptions(options, self._option_objective(options), gap if gap > TOLERANCE else 0.0)

    def _row_of(self, choice: Sequence[int]) -> list[float]:
        return [float(index in choice) for index in range(len(self.options))]

    def _option_objective(self, choice: Sequence[int]) -> float:
        return sum_of(self.options[index].value for index in choice)

    def _lowest_solution(
        self, values: Sequence[float], rows: Sequence[tuple[Sequence[float], float, float]]
    ) -> tuple[tuple[int, ...], float] | None:
        """The options of the solution with the smallest value, and the proven lower bound of that value; None without a
        solution.
        """
        matrix, low, high = zip(*rows, strict=True)
        found = self._optimize.milp(
            values,
            integrality=[1] * len(values),
            bounds=self._optimize.Bounds(0, 1),
            constraints=self._optimize.LinearConstraint(matrix, low, high),
            options={"time_limit": self.seconds, "mip_rel_gap": 0.0},
        )
        if found.x is None:
            return None
        chosen = tuple(index for index, share in enumerate(found.x) if share > 0.5)
        return chosen, float(found.mip_dual_bound)
