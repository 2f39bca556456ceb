"""The search of a space: every layout evaluated by step time and memory, and the best ones kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import cast

from clusterspec.analysis.searches.space.kept import (
    BestLayouts,
    Kept,
    Numbers,
    ParetoFront,
    front_of,
    indices_up_to,
    lowest_of_families,
    ranking_values,
    smallest_indices,
)
from clusterspec.analysis.searches.studied import Space
from clusterspec.records import NamedTuple, dataclass

# Step time and memory of every layout of a space: on columns where NumPy is installed, one by one elsewhere


class EvaluatedBlock(NamedTuple):
    """Some layouts of a space: their numbers, seconds of a step, bytes on the fullest accelerator, and the high end of
    the range of these bytes. Rows with the same recomputation are together, with ascending numbers.

    The time of a layout is infinite if no fabric connects the ranks of one of its groups.
    """

    number: Numbers
    step_time: Numbers
    memory: Numbers
    upper: Numbers


Evaluate = Callable[[Space], Iterator[EvaluatedBlock]]
"""Evaluates a space block by block; every layout is in one block."""


# One search: every layout of a space evaluated, the best by an objective and the Pareto front kept

SPARE = 8
"""Layouts that are kept for each one asked for, since a rule may refuse some."""
LEAST_KEPT = 10 * SPARE
"""Minimum number of layouts to keep, so that the pick does not depend on how many are shown."""
NEAR = 1.35
"""The best layout of each family is kept if its key is at most this multiple of the best key. The ratio is above the
widest range of a step.
"""

Progress = Callable[[int, int], object]
"""Called with the layouts done and all of them; a true result ends the search with the layouts found so far."""


@dataclass(frozen=True)
class Limits:
    """The memory limit of a search: the capacity of one accelerator in bytes, and the share of it to leave free.

    Without such a share, the high end of the predicted memory range must fit.
    """

    capacity: float | None
    min_headroom: float | None = 0.0

    @property
    def memory_limit(self) -> float:
        """Bytes that the predicted memory of a layout may take."""
        return inf if self.capacity is None else self.capacity * (1 - (self.min_headroom or 0.0))


class RowsByMemory(NamedTuple):
    """Rows by memory: ``allowed`` within the limits, ``sure`` to fit (high end of the range), and ``likely`` to fit
    (prediction).

    Blocks that differ only in the axis order have the same memory, so their rows are computed once.
    """

    memory: Numbers
    allowed: Sequence[int]
    sure: Sequence[int]
    likely: Sequence[int]
    smallest: Sequence[int]

    @classmethod
    def of(cls, block: EvaluatedBlock, limits: Limits) -> RowsByMemory:
        """The rows of a block by memory. Only rows that fit as predicted can fit at the high end of their range."""
        most = inf if limits.capacity is None else limits.capacity
        likely = indices_up_to(block.memory, most)
        sure = _rows_at(likely, indices_up_to(_selected_rows(block.upper, likely), most))
        allowed = sure
        if limits.min_headroom is not None:
            allowed = _rows_at(likely, indices_up_to(_selected_rows(block.memory, likely), limits.memory_limit))
        return cls(block.memory, allowed, sure, likely, smallest_indices(block.memory, 1))


def timed_rows(rows: Sequence[int], times: Numbers) -> Sequence[int]:
    """The given rows that have a time."""
    return _rows_at(rows, indices_up_to(_selected_rows(times, rows), inf))


@dataclass(frozen=True)
class SearchResult:
    """The results of one search. ``evaluated`` layouts were timed. ``fitting`` of them fit at the high end of their
    memory range, and ``may_fit`` further ones fit as predicted. ``best`` are within the limits; if ``unsure``, no
    layout is, and they may fit. ``near`` are the best layouts of each family, and ``smallest`` is the layout with the
    least memory, even if it does not fit.

    Layouts with a step time above ``complete_to`` may be missing, and ``near`` is then empty.
    """

    evaluated: int
    fitting: int
    may_fit: int
    best: tuple[Kept, ...]
    near: tuple[Kept, ...]
    front: tuple[Kept, ...]
    smallest: Kept | None
    unsure: bool = False
    complete_to: float = inf

    @property
    def fits_nowhere(self) -> bool:
        """Whether no layout fits, not even as predicted."""
        return not self.fitting and not self.may_fit


class KeptLayouts:
    """The layouts with one property, such as surely fitting, that a search keeps."""

    def __init__(self, objective: str, top: int, firsts: Sequence[int]) -> None:
        self.objective, self.firsts = objective, firsts
        self.best, self.front = BestLayouts(max(top * SPARE, LEAST_KEPT)), ParetoFront()
        self.near: list[Kept] = []

    def add(self, block: EvaluatedBlock, inside: Sequence[int]) -> None:
        """Adds the rows ``inside`` of a block."""
        times, held = _selected_rows(block.step_time, inside), _selected_rows(block.memory, inside)
        keys = held if self.objective == "memory" else times
        self.best.add(_timed_layouts(block, self.objective, _indices_at(inside, smallest_indices(keys, self.best.top))))
        self.front.add(_timed_layouts(block, self.objective, _indices_at(inside, front_of(times, held))))
        if self.best.rows:
            close = cast(Sequence[int], _selected_rows(inside, indices_up_to(keys, self.best.rows[0].key * NEAR)))
            self.near += _timed_layouts(block, self.objective, self._best_of_families(block, close))

    def _best_of_families(self, block: EvaluatedBlock, close: Sequence[int]) -> Iterable[int]:
        """The rows of a block that are the best of their family, among the rows ``close``."""
        keys = _selected_rows(block.memory if self.objective == "memory" else block.step_time, close)
        return _indices_at(close, lowest_of_families(keys, _selected_rows(block.number, close), self.firsts))

    def near_layouts(self) -> tuple[Kept, ...]:
        """The best layout of each family that is close to the best one."""
        most = self.best.rows[0].key * NEAR if self.best.rows else 0.0
        return tuple(sorted((each for each in self.near if each.key <= most), key=ranking_values))


def search(
    space: Space,
    evaluate: Evaluate,
    limits: Limits,
    *,
    top: int,
    objective: str = "step_time",
    progress: Progress = lambda done, total: None,
) -> SearchResult:
    """Evaluate every layout, or those before ``progress`` stops the search. All evaluators give the same result."""
    run = Run(space.first, limits, top, objective)
    for block in evaluate(space):
        run.add(block)
        if progress(run.evaluated, space.size):
            break
    return run.result()


class Run:
    """One search that takes block after block."""

    def __init__(self, firsts: Sequence[int], limits: Limits, top: int, objective: str = "step_time") -> None:
        self.limits = limits
        self._sure, self._unsure = (KeptLayouts(objective, top, firsts) for _ in range(2))
        self._least = BestLayouts(1)
        self.evaluated = self._fitting = self._may_fit = 0
        self._held: RowsByMemory | None = None

    def add(self, block: EvaluatedBlock) -> None:
        held, sure = self._held, self._sure
        if held is None or held.memory is not block.memory:
            held = self._held = RowsByMemory.of(block, self.limits)
        surely, likely = timed_rows(held.sure, block.step_time), timed_rows(held.likely, block.step_time)
        sure.add(block, surely if held.allowed is held.sure else timed_rows(held.allowed, block.step_time))
        if self.limits.min_headroom is None and not sure.best.rows:
            self._unsure.add(block, likely)
        self._least.add(_smallest_layout(block, held.smallest))
        self.evaluated += len(block.number)
        self._fitting += len(surely)
        self._may_fit += len(likely) - len(surely)

    @property
    def lowest_key(self) -> float:
        """The least key of the layouts within the limits so far; infinite without one."""
        return self._sure.best.rows[0].key if self._sure.best.rows else inf

    def result(self) -> SearchResult:
        kept = self._sure if self._sure.best.rows else self._unsure
        return SearchResult(
            self.evaluated,
            self._fitting,
            self._may_fit,
            tuple(kept.best.rows),
            kept.near_layouts(),
            tuple(kept.front.rows),
            self._least.rows[0] if self._least.rows else None,
            kept is self._unsure and bool(self._unsure.best.rows),
        )


def _smallest_layout(block: EvaluatedBlock, least: Sequence[int]) -> list[Kept]:
    """The layout with the least memory that has a time, in a block. ``least`` are the rows with the least memory, which
    may have no time.
    """
    found = _timed_layouts(block, "memory", least)
    if found:
        return found
    timed = indices_up_to(block.step_time, inf)
    return _timed_layouts(block, "memory", _indices_at(timed, smallest_indices(_selected_rows(block.memory, timed), 1)))


def _selected_rows(column: Sequence[float], indices: Sequence[int]) -> Sequence[float]:
    """Some values of a column, as a column of the same kind."""
    if hasattr(column, "__array_namespace__"):
        return column[indices]  # type: ignore[call-overload,no-any-return]
    return [column[at] for at in indices]


def _rows_at(rows: Sequence[int], places: Sequence[int]) -> Sequence[int]:
    """The rows at some positions of ``rows``; the same object if these are all."""
    return rows if len(places) == len(rows) else cast(Sequence[int], _selected_rows(cast(Numbers, rows), places))


def _indices_at(indices: Sequence[int], positions: Iterable[int]) -> list[int]:
    return [int(indices[at]) for at in positions]


def _timed_layouts(block: EvaluatedBlock, objective: str, indices: Iterable[int]) -> list[Kept]:
    """Some layouts of a block; those without a time are left out."""
    kept = []
    for at in indices:
        time, held = float(block.step_time[at]), float(block.memory[at])
        if time < inf:
            kept.append(Kept(held if objective == "memory" else time, time, held, int(block.number[at])))
    return kept
