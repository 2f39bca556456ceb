"""Scale-up links between the accelerators of a node: domains, topology, links per accelerator."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from clusterspec.exchange.import_result import ImportBuilder
from clusterspec.records import dataclass

MOST_LINKS = 18
"""NVLinks of one accelerator of generations 4 and 5; more to all peers together than that means a switch.

Source: NVIDIA, H100 and B200 data sheets (18 links each); A100 has 12, V100 has 6.
"""
SWITCHED_COUNTS = {6, 12, 18, 36}
"""All the links of one accelerator, by generation: between two accelerators a switch or a bridge may carry them."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class NodeLinks:
    """Accelerators in file order, and the number of links between pairs of them, in either order.

    ``switched`` is set if the file states that links end in switches; ``own`` then has the links of each accelerator.
    """

    accelerators: tuple[str, ...]
    pairs: Mapping[Pair, int]
    switched: bool = False
    own: Mapping[str, int] | None = None

    def between(self, one: str, other: str) -> int:
        return self.pairs.get((one, other), 0) or self.pairs.get((other, one), 0)

    @property
    def edges(self) -> int:
        """The pairs of accelerators that are connected by links."""
        return sum(1 for one, other in combinations(self.accelerators, 2) if self.between(one, other))

    def domains(self) -> list[tuple[str, ...]]:
        """The connected groups of accelerators."""
        left, found = list(self.accelerators), []
        while left:
            group, waiting = {left[0]}, [left[0]]
            while waiting:
                one = waiting.pop()
                new = {other for other in left if other not in group and self.between(one, other)}
                group |= new
                waiting += sorted(new)
            found.append(tuple(each for each in left if each in group))
            left = [each for each in left if each not in group]
        return found

    def complete(self, group: tuple[str, ...]) -> bool:
        return all(self.between(one, other) for one, other in combinations(group, 2))

    def counts(self, group: tuple[str, ...]) -> set[int]:
        """The distinct numbers of links between pairs of a group."""
        return {self.between(one, other) for one, other in combinations(group, 2)} - {0}

    def topology(self, group: tuple[str, ...]) -> str | None:
        """The topology of a domain, as a value of `cluster.scale_up.topology`; None if it is ambiguous."""
        if self.switched:
            return "switched"
        size, counts = len(group), self.counts(group)
        if size == 1:
            return "pcie"
        if size == 2:
            count = max(counts)
            return "switched" if count >= MOST_LINKS else None if self._pair_may_be_switched(count) else "bridge"
        if not self.complete(group):
            return "partial-mesh"
        return "switched" if len(counts) == 1 and (size - 1) * max(counts) > MOST_LINKS else "full-mesh"

    def _pair_may_be_switched(self, count: int) -> bool:
        """Whether a pair with this many links may belong to a switched node rather than share a bridge."""
        return len(self.accelerators) == 2 and count in SWITCHED_COUNTS

    def per_accelerator(self, one: str, group: tuple[str, ...]) -> int:
        """The links of one accelerator: the number of a pair if switched, else the sum over its peers."""
        if self.own is not None:
            return self.own.get(one, 0)
        counts = [self.between(one, other) for other in group if other != one]
        return max(counts, default=0) if self.topology(group) == "switched" else sum(counts)


def describe(links: NodeLinks, builder: ImportBuilder, line: int, halves: int = 1) -> None:
    """Record the scale-up part of the cluster from the links of a node; ``halves`` devices form one accelerator."""
    groups = links.domains()
    sizes = {len(group) for group in groups}
    numbers = [links.per_accelerator(one, group) for group in groups for one in group]
    if len(set(numbers)) == 1:
        builder.count("links_per_accelerator", numbers[0], line)
    elif numbers:
        builder.count("links_per_accelerator", f"{min(numbers)} to {max(numbers)}", line)
    builder.count("edges", links.edges, line)
    builder.count("domains", len(groups), line)
    if len(sizes) > 1:
        builder.unknown("cluster.scale_up", f"domains of different sizes: {sorted(sizes)} accelerators", line)
        return
    topologies = {links.topology(group) for group in groups}
    size, topology = sizes.pop(), topologies.pop()
    if topologies:
        builder.unknown("cluster.scale_up.topology", "the domains have different topologies", line)
    elif topology is None:
        builder.unknown(
            "cluster.scale_up.topology", "two accelerators with all their links: a bridge or a switch", line
        )
    else:
        builder.set("cluster.scale_up.topology", topology, line)
    builder.set("cluster.scale_up.domain", max(1, size // halves), line)
