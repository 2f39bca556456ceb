"""One search: every layout of a space evaluated, the best by an objective and the Pareto front kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import cast

from clusterspec.records import dataclass
from clusterspec.search.evaluate import Evaluate, EvaluatedBlock
from clusterspec.search.front import Best, Front, Kept, by_key, counted, front_of, least_of_families, selected, smallest
from clusterspec.search.space import Space

SPARE = 8
"""Layouts that are kept for each one asked for, since a rule may refuse some."""
LEAST_KEPT = 10 * SPARE
"""Layouts that are kept at least, so that the pick does not depend on how many are shown."""
NEAR = 1.35
"""The key over the best one up to which the best layout of every family is kept: above the widest range of a step."""

Progress = Callable[[int, int], None]
"""Called with the layouts done and all of them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The memory limit of a search: bytes of one accelerator, and the share of them that a prediction leaves free.

    Without such a share, the high end of the range of the memory has to fit.
    """

    capacity: float | None
    min_headroom: float | None = 0.0

    @property
    def most(self) -> float:
        """Bytes that the predicted memory of a layout may take."""
        return inf if self.capacity is None else self.capacity * (1 - (self.min_headroom or 0.0))

    def allowed(self, block: EvaluatedBlock) -> Sequence[int]:
        """The rows of a block that a pick may have."""
        return selected(self._held(block), block.step_time, self.most)

    def count(self, block: EvaluatedBlock) -> int:
        """The number of these rows."""
        return counted(self._held(block), block.step_time, self.most)

    def _held(self, block: EvaluatedBlock) -> Sequence[float]:
        return block.upper if self.min_headroom is None else block.memory


@dataclass(frozen=True, slots=True)
class Found:
    """The results of one search. ``evaluated`` layouts were timed. ``fitting`` of them fit at the high end of their
    memory range, ``may_fit`` more as predicted. ``best`` are within the limits, or, where ``unsure``, no layout is and
    they may fit; ``near`` the best of each family, by key. ``smallest`` is the one with the least memory, also where
    none fits.
    """

    evaluated: int
    fitting: int
    may_fit: int
    best: tuple[Kept, ...]
    near: tuple[Kept, ...]
    front: tuple[Kept, ...]
    smallest: Kept | None
    unsure: bool = False

    @property
    def fits_nowhere(self) -> bool:
        """Whether no layout fits, not even as predicted."""
        return not self.fitting and not self.may_fit


class Collected:
    """What a search keeps of the layouts of one kind, such as those that surely fit."""

    def __init__(self, objective: str, top: int, firsts: Sequence[int]) -> None:
        self.objective, self.firsts = objective, firsts
        self.best, self.front = Best(max(top * SPARE, LEAST_KEPT)), Front()
        self.near: list[Kept] = []

    def add(self, block: EvaluatedBlock, inside: Sequence[int]) -> None:
        """Adds some rows of a block."""
        times, held = _at(block.step_time, inside), _at(block.memory, inside)
        keys = held if self.objective == "memory" else times
        self.best.add(_kept(block, self.objective, _chosen(inside, smallest(keys, self.best.top))))
        self.front.add(_kept(block, self.objective, _chosen(inside, front_of(times, held))))
        if self.best.rows:
            close = cast(Sequence[int], _at(inside, selected(keys, times, self.best.rows[0].key * NEAR)))
            self.near += _kept(block, self.objective, self._of_families(block, close))

    def _of_families(self, block: EvaluatedBlock, close: Sequence[int]) -> Iterable[int]:
        """The best of each family among some rows of a block."""
        keys = _at(block.memory if self.objective == "memory" else block.step_time, close)
        return _chosen(close, least_of_families(keys, _at(block.number, close), self.firsts))

    def nearest(self) -> tuple[Kept, ...]:
        """The best layout of each family that is close to the best one."""
        most = self.best.rows[0].key * NEAR if self.best.rows else 0.0
        return tuple(sorted((each for each in self.near if each.key <= most), key=by_key))


def search(
    space: Space,
    evaluate: Evaluate,
    limits: Limits,
    *,
    top: int,
    objective: str = "step_time",
    progress: Progress = lambda done, total: None,
) -> Found:
    """Evaluates every layout; deterministic, and the same for every way to evaluate."""
    sure, unsure = (Collected(objective, top, space.first) for _ in range(2))
    least = Best(1)
    evaluated = fitting = may_fit = 0
    surely, likely = Limits(limits.capacity, None), Limits(limits.capacity, 0.0)
    for block in evaluate(space):
        allowed = limits.allowed(block)
        sure.add(block, allowed)
        fit = len(allowed) if limits.min_headroom is None else surely.count(block)
        if limits.min_headroom is None and not sure.best.rows:
            unsure.add(block, likely.allowed(block))
        least.add(_smallest(block))
        evaluated += len(block.number)
        fitting += fit
        may_fit += likely.count(block) - fit
        progress(evaluated, space.size)
    kept = sure if sure.best.rows else unsure
    return Found(
        evaluated,
        fitting,
        may_fit,
        tuple(kept.best.rows),
        kept.nearest(),
        tuple(kept.front.rows),
        least.rows[0] if least.rows else None,
        kept is unsure and bool(unsure.best.rows),
    )


def _smallest(block: EvaluatedBlock) -> list[Kept]:
    """The layout of a block with the least memory, of those with a time."""
    found = _kept(block, "memory", smallest(block.memory, 1))
    if found:
        return found
    timed = selected(block.memory, block.step_time, inf)
    return _kept(block, "memory", _chosen(timed, smallest(_at(block.memory, timed), 1)))


def _at(column: Sequence[float], indices: Sequence[int]) -> Sequence[float]:
    """Some values of a column, as a column of the same kind."""
    if hasattr(column, "__array_namespace__"):
        return column[indices]  # type: ignore[call-overload,no-any-return]
    return [column[at] for at in indices]


def _chosen(indices: Sequence[int], chosen: Iterable[int]) -> list[int]:
    return [int(indices[at]) for at in chosen]


def _kept(block: EvaluatedBlock, objective: str, indices: Iterable[int]) -> list[Kept]:
    """Some layouts of a block; those without a time are left out."""
    kept = []
    for at in indices:
        time, held = float(block.step_time[at]), float(block.memory[at])
        if time < inf:
            kept.append(Kept(held if objective == "memory" else time, time, held, int(block.number[at])))
    return kept
