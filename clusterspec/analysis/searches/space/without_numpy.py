"""Evaluation of the layouts of a space one by one, where NumPy is not installed.

The order matters for searches that are stopped early. The layout of the spec comes first, with the corresponding layout
of every family. Next come the layouts that differ in one choice from the best so far, then from the second best, and so
on; all others come last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from math import inf, log2

from clusterspec.analysis.searches.space.families import layout_of
from clusterspec.analysis.searches.studied import Family, SearchJob, Space
from clusterspec.cluster.model import Design, Layout
from clusterspec.cluster.variation import with_values
from clusterspec.cost.memory.fullest import design_memory
from clusterspec.cost.timing import design_tables, timed_step
from clusterspec.records import NamedTuple

GOLDEN = (5**0.5 - 1) / 2
"""The golden ratio: the fractional parts of its multiples are evenly spread for any number of them."""
FIRST_FAMILIES = 100
"""Number of families from which one layout each is evaluated first. It is lower than the number of layouts that a
search in a browser evaluates.
"""
STEP = 2.0
"""Doublings and halvings of degrees between neighboring families: tp 8 × pp 2 and tp 4 × pp 4 are neighbors."""
_DEGREES = ("tp", "cp", "pp", "dp", "ep", "expert_tp")


class TimedLayout(NamedTuple):
    """One layout: its number in the space, step time in seconds, bytes on the fullest accelerator, and the high end of
    their range; infinite if unknown.
    """

    number: int
    seconds: float
    memory: float
    upper: float


class EvaluationOrder:
    """The order in which the layouts of a space are evaluated, and the evaluation of each."""

    def __init__(self, design: Design, job: SearchJob, space: Space) -> None:
        self.design, self.job, self.space = design, job, space
        self._tables = design_tables(design)
        memory = job.cluster.accelerator.memory
        self._capacity = memory.value if memory else inf
        self._seen = bytearray(space.size)
        self._open: list[tuple[bool, float, int]] = []
        """Layouts whose neighbors are still to be evaluated: whether they may not fit, seconds or bytes, and number."""

    def batches(self) -> Iterator[list[TimedLayout]]:
        """All layouts, each once."""
        spread = sorted(range(len(self.space.families)), key=lambda at: at * GOLDEN % 1)
        own = sorted(range(len(spread)), key=lambda at: _degree_distance(self.space.families[at], self.job.layout))[:1]
        for at in (*own, *spread[:FIRST_FAMILIES]):
            yield self._newly_timed_layouts([self._most_similar_layout(at)])
        while self._open:
            *_, best = heappop(self._open)
            yield self._newly_timed_layouts(self._neighbor_places(best))
        for at in spread:
            yield self._newly_timed_layouts(range(self.space.first[at], self.space.first[at + 1]))

    def _newly_timed_layouts(self, numbers: Sequence[int]) -> list[TimedLayout]:
        """The layouts with the given numbers that have not been evaluated before, each with its time."""
        new = [number for number in dict.fromkeys(numbers) if not self._seen[number]]
        found = []
        for number in new:
            self._seen[number] = 1
            found.append(one := self._evaluated_layout(number))
            loose = one.upper > self._capacity
            heappush(self._open, (loose, one.upper if loose else one.seconds, number))
        return found

    def _evaluated_layout(self, number: int) -> TimedLayout:
        layout = layout_of(self.job, self.space.choice(number))
        design = with_values(self.design, {("layout",): layout})
        step = timed_step(design, self._tables) if self._tables else None
        held = design_memory(design)
        return TimedLayout(
            number, step.seconds if step else inf, *((held.total, held.upper_bytes) if held else (inf, inf))
        )

    def _most_similar_layout(self, at: int) -> int:
        """The layout of a family that is most similar to the spec's layout."""
        own, family = self.job.layout, self.space.families[at]
        likes: tuple[list[int], ...] = (
            [
                (each.micro_batch == own.micro_batch) + (each.virtual_stages == own.virtual_stages)
                for each in family.pipelines
            ],
            [2 * (each.kind == own.sharding) + (each.group == own.shard_group) for each in family.shardings],
            [int(each == own.recompute) for each in family.recompute],
            [int(each == own.order) for each in family.orders],
        )
        return self.space.number_of_layout(at, [like.index(max(like)) for like in likes])

    def _neighbor_places(self, number: int) -> list[int]:
        """The layouts that differ from a layout in a single choice, and the corresponding layouts of neighboring
        families.
        """
        at, place = self.space.place(number)
        family = self.space.families[at]
        found = [
            self.space.number_of_layout(at, (*place[:axis], index, *place[axis + 1 :]))
            for axis, values in enumerate(family.axes)
            for index in range(len(values))
        ]
        chosen = [values[index] for values, index in zip(family.axes, place, strict=True)]
        for other, each in enumerate(self.space.families):
            if other != at and _degree_distance(each, family) <= STEP:
                pairs = zip(each.axes, chosen, strict=True)
                found.append(
                    self.space.number_of_layout(
                        other, [values.index(one) if one in values else 0 for values, one in pairs]
                    )
                )
        return found


def _degree_distance(one: Family | Layout, other: Family | Layout) -> float:
    """The number of doublings and halvings between two sets of degrees."""
    return sum(abs(log2(getattr(one, axis) / getattr(other, axis))) for axis in _DEGREES)
