"""One search: every family of layouts evaluated, the best by an objective and the Pareto front kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from math import inf

from clusterspec.records import dataclass
from clusterspec.search.evaluate import Columns, Evaluate
from clusterspec.search.front import Best, Front, Kept, front_of, smallest
from clusterspec.search.space import Choice, Family, choices

OBJECTIVES = ("step_time", "memory", "cost", "accelerators", "tokens_per_accelerator")
"""What `--objective` takes for training. On one machine a step of least cost and most tokens is the shortest one."""
SPARE = 8
"""Layouts that are kept for each one asked for, since a rule may refuse some."""

Progress = Callable[[int, int], None]
"""Called with the families done and all of them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a layout must meet to be kept: bytes of one accelerator's memory, and the share of it to leave free."""

    capacity: float | None
    min_headroom: float = 0.0

    @property
    def most(self) -> float:
        """Bytes that a layout may take."""
        return float("inf") if self.capacity is None else self.capacity * (1 - self.min_headroom)


@dataclass(frozen=True, slots=True)
class Found:
    """What one search kept. ``evaluated`` layouts were timed, ``fitting`` of them fit; ``smallest`` is the one that
    takes least memory, also where none fits."""

    evaluated: int
    fitting: int
    best: tuple[Kept[Choice], ...]
    front: tuple[Kept[Choice], ...]
    smallest: Kept[Choice] | None


def search(
    families: Sequence[Family],
    evaluate: Evaluate,
    limits: Limits,
    *,
    top: int,
    objective: str = "step_time",
    progress: Progress = lambda done, total: None,
) -> Found:
    """Evaluates every family; deterministic, and the same for both ways to evaluate."""
    best, front, least = Best[Choice](top * SPARE), Front[Choice](), Best[Choice](1)
    evaluated = fitting = 0
    for index, family in enumerate(families):
        columns = evaluate(family)
        inside = [at for at, held in enumerate(columns.memory) if held <= limits.most]
        rows = _rows(_Block(family, columns, objective, evaluated), inside, best.top)
        best.add(rows[0])
        front.add(rows[1])
        least.add(_Block(family, columns, "memory", evaluated).taken(smallest(columns.memory, 1)))
        evaluated += family.size
        fitting += len(inside)
        progress(index + 1, len(families))
    return Found(evaluated, fitting, tuple(best.rows), tuple(front.rows), least.rows[0] if least.rows else None)


@dataclass(frozen=True, slots=True)
class _Block:
    """The columns of one family; ``before`` layouts were numbered before its first."""

    family: Family
    columns: Columns
    objective: str
    before: int

    def taken(self, indices: Iterable[int]) -> list[Kept[Choice]]:
        """Some layouts of the family; those without a time are left out."""
        taken = []
        for at in indices:
            time, held = float(self.columns.step_time[at]), float(self.columns.memory[at])
            if time < inf:
                key = held if self.objective == "memory" else time
                taken.append(Kept(key, time, held, self.before + at, next(islice(choices(self.family), at, None))))
        return taken


def _rows(block: _Block, inside: Sequence[int], top: int) -> tuple[list[Kept[Choice]], list[Kept[Choice]]]:
    """The layouts of one family that may be among the best, and those that may be on the front."""
    times, held = ([column[at] for at in inside] for column in block.columns)
    keys = held if block.objective == "memory" else times
    best = block.taken(inside[at] for at in smallest(keys, top))
    return best, block.taken(inside[at] for at in front_of(times, held))
