"""One search: every layout of a space evaluated, the best by an objective and the Pareto front kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf

from clusterspec.records import dataclass
from clusterspec.search.evaluate import Evaluate, EvaluatedBlock
from clusterspec.search.front import Best, Front, Kept, front_of, selected, smallest
from clusterspec.search.space import Space

SPARE = 8
"""Layouts that are kept for each one asked for, since a rule may refuse some."""

Progress = Callable[[int, int], None]
"""Called with the layouts done and all of them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The memory limit of a search: bytes of one accelerator, and the share of them to leave free."""

    capacity: float | None
    min_headroom: float = 0.0

    @property
    def most(self) -> float:
        """Bytes that a layout may take."""
        return float("inf") if self.capacity is None else self.capacity * (1 - self.min_headroom)


@dataclass(frozen=True, slots=True)
class Found:
    """The results of one search. ``evaluated`` layouts were timed, ``fitting`` of them fit; ``smallest`` is
    the one with the least memory, also where none fits."""

    evaluated: int
    fitting: int
    best: tuple[Kept, ...]
    front: tuple[Kept, ...]
    smallest: Kept | None


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
    best, front, least = Best(top * SPARE), Front(), Best(1)
    evaluated = fitting = 0
    for block in evaluate(space):
        inside = selected(block.memory, block.step_time, limits.most)
        times, held = _at(block.step_time, inside), _at(block.memory, inside)
        keys = held if objective == "memory" else times
        best.add(_kept(block, objective, _chosen(inside, smallest(keys, best.top))))
        front.add(_kept(block, objective, _chosen(inside, front_of(times, held))))
        least.add(_kept(block, "memory", smallest(block.memory, 1)))
        evaluated += len(block.number)
        fitting += len(inside)
        progress(evaluated, space.size)
    return Found(evaluated, fitting, tuple(best.rows), tuple(front.rows), least.rows[0] if least.rows else None)


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
