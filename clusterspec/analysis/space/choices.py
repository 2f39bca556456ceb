"""The space of a search: families of layouts with the same degrees, and the choices inside each family.

A family fixes tp, cp, pp, dp, ep and expert_tp. Its layouts are the product of its choices: micro-batch with the
pipeline's schedule, sharding with its group, recomputation, and order of the axes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, product

from clusterspec.cluster.legality import (
    Demands,
)
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.records import NamedTuple, dataclass


class Pipeline(NamedTuple):
    """The pipeline settings: sequences per micro-batch, virtual stages per rank, and the schedule."""

    micro_batch: int
    virtual_stages: int
    schedule: str


class Sharding(NamedTuple):
    """A sharding, and the ranks over which it splits the states (`Layout.shard_group`)."""

    kind: str
    group: int


@dataclass(frozen=True, slots=True)
class Pins:
    """Choices that the caller fixes, by the keys of the layout; an axis that is absent is searched."""

    values: Mapping[str, object]

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def choices(self, key: str, otherwise: Sequence[object]) -> tuple[object, ...]:
        """The pinned value alone, else all of ``otherwise``."""
        return (self.values[key],) if key in self.values else tuple(otherwise)


@dataclass(frozen=True, slots=True)
class Family:
    """Layouts with the same degrees. The choices multiply: ``size`` layouts in all."""

    tp: int
    cp: int
    pp: int
    dp: int
    ep: int
    expert_tp: int
    sequence_parallel: bool
    pipelines: tuple[Pipeline, ...]
    shardings: tuple[Sharding, ...]
    recompute: tuple[str, ...]
    orders: tuple[tuple[str, ...], ...]

    @property
    def size(self) -> int:
        return len(self.pipelines) * len(self.shardings) * len(self.recompute) * len(self.orders)


class Choice(NamedTuple):
    """One layout of a family."""

    family: Family
    pipeline: Pipeline
    sharding: Sharding
    recompute: str
    order: tuple[str, ...]


def choices(family: Family) -> Iterator[Choice]:
    """The layouts of a family, in the order of their numbers."""
    for chosen in product(family.pipelines, family.shardings, family.recompute, family.orders):
        yield Choice(family, *chosen)


class Space:
    """All layouts of a search, numbered family by family."""

    def __init__(self, families: Sequence[Family]) -> None:
        self.families = tuple(families)
        self.first = (0, *accumulate(family.size for family in self.families))
        """The number of the first layout of each family, and of all layouts together at the end."""

    @property
    def size(self) -> int:
        return self.first[-1]

    def choice(self, number: int) -> Choice:
        """The layout of a number from 0."""
        at = bisect_right(self.first, number) - 1
        family = self.families[at]
        rest, order = divmod(number - self.first[at], len(family.orders))
        rest, recompute = divmod(rest, len(family.recompute))
        pipeline, sharding = divmod(rest, len(family.shardings))
        return Choice(
            family,
            family.pipelines[pipeline],
            family.shardings[sharding],
            family.recompute[recompute],
            family.orders[order],
        )


@dataclass(frozen=True, slots=True)
class SearchJob:
    """The input of a search: a machine, the workload, and the layout that supplies the fixed settings."""

    cluster: Cluster
    workload: Workload
    layout: Layout

    @property
    def demands(self) -> Demands:
        """The conditions that every layout of the job must satisfy."""
        work = self.workload
        ranks = self.layout.nodes * self.cluster.ranks_per_node
        return Demands(ranks, self.layout.capabilities, work.model, work.global_batch, work.sequence_length)


NO_PINS = Pins({})


def divisors(number: int) -> tuple[int, ...]:
    """Every divisor, ascending.

    >>> divisors(12)
    (1, 2, 3, 4, 6, 12)
    """
    small = [side for side in range(1, int(number**0.5) + 1) if number % side == 0]
    return tuple(sorted({*small, *(number // side for side in small)}))
