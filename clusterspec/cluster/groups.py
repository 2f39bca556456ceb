"""Process groups: the ranks that communicate along an axis, and their placement on nodes, domains and pods.

Groups follow from the order and the degrees of a layout; nodes, domains and pods are blocks of consecutive ranks. Both
are regular, so that one representative stands for all equal groups, and the time does not grow with the cluster
(`clusterspec.cluster.rank_sets`).
"""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from math import gcd, lcm

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster, Layout
from clusterspec.cluster.planes import fabric_levels
from clusterspec.cluster.rank_sets import (
    MOST_ALIGNMENTS,
    Run,
    Runs,
    block_alignments,
    block_spread,
    divides_groups_alike,
    evaluated_runs,
    groups_sharing_a_node,
    member_count,
    member_span,
    merged_runs,
    rank_members,
)
from clusterspec.records import dataclass
from clusterspec.standard import recent

SHOWN = 16
"""Ranks of a straddling group that are listed."""
MOST_COUNTED = 100_000
"""Limit of ranks of one group whose packages are counted individually, where a package holds several ranks."""


@dataclass(frozen=True)
class Crossing:
    """The groups of one axis on a block of a switch level, the index ``level`` of `fabric_levels`.

    ``block`` is the ranks of a block. ``groups`` is the largest number of groups with members on one block and also on
    other blocks. It is None if it is not counted, because the blocks divide groups of several runs in different ways.
    ``members`` is the ranks of such a group on the block, at most: the block has the more traffic to others, the more
    its groups are divided.
    """

    level: int
    block: int
    groups: int | None
    members: float


@dataclass(frozen=True)
class Placement:
    """The placement of the groups of one axis.

    ``ranks`` is the size of a group, ``groups`` their number, ``straddling`` the number of groups with members in two
    or more domains, ``first_straddling`` the ranks of the first such group (at most 16). ``domains`` …
    ``ranks_per_node`` describe the worst group: the first in the most nodes among those in the most domains.
    ``ranks_per_domain`` and ``ranks_per_node`` are its members in its fullest domain and node, ``least_in_domain`` and
    ``least_in_node`` in the emptier of its outermost domains and nodes. ``accelerators`` is the most packages that it
    has in one domain. ``stride`` is the distance between neighbors, in ranks. ``groups_per_node`` is the number of
    groups of this axis that have members on one node and also on others, and so share its NICs at the same time: 0 if
    no group leaves its node. ``crossings`` are the switch levels that some group crosses (where a job uses part of each
    domain and a level divides domains, its blocks are assumed to shrink in proportion). ``rail_aligned`` says whether
    all members have the same local rank.
    """

    axis: str
    ranks: int
    groups: int
    straddling: int
    first_straddling: tuple[int, ...]
    domains: int
    ranks_per_domain: int
    least_in_domain: int
    nodes: int
    ranks_per_node: int
    least_in_node: int
    accelerators: int
    stride: int
    groups_per_node: int
    crossings: tuple[Crossing, ...]
    rail_aligned: bool

    @property
    def levels(self) -> tuple[int, ...]:
        """The indices into `fabric_levels` of the levels that some group crosses."""
        return tuple(crossing.level for crossing in self.crossings)


AXES: dict[str, frozenset[str]] = {
    "tp": frozenset({"tp"}),
    "cp": frozenset({"cp_shard", "cp_replicate"}),
    "dp": frozenset({"dp_shard", "dp_replicate"}),
    "dp_cp": frozenset({"cp_shard", "cp_replicate", "dp_shard", "dp_replicate"}),
    "shard": frozenset({"cp_shard", "dp_shard"}),
    "replicate": frozenset({"cp_replicate", "dp_replicate"}),
    "pp": frozenset({"pp"}),
    "ep": frozenset({"ep"}),
    "expert_tp": frozenset({"expert_tp"}),
    "expert_dp": frozenset({"expert_dp"}),
}
"""The digits of a rank that vary inside a group of each axis."""
EXPERT_AXES = frozenset({"ep", "expert_tp", "expert_dp"})


def axis_placement(cluster: Cluster, layout: Layout, axis: str) -> Placement:
    """The placement of the groups of an axis: tp, cp, dp, pp, ep, expert_tp, expert_dp, dp_cp (over which gradients are
    reduced), shard (over which state is sharded) or replicate (between the shard groups of hsdp).

    Dense groups follow the order without ep; expert groups the order without cp, with expert_tp for tp and the
    remaining ranks for dp. A shard group is the fastest-varying ranks of cp and then of dp. With ``nodes_per_domain``
    the ranks fill the used nodes of one domain before the next.
    """
    return runs_placement(cluster, axis, *group_runs(layout, axis), layout.nodes_per_domain)


def group_runs(layout: Layout, axis: str) -> tuple[Runs, Runs]:
    """The offsets of one group's members along an axis, and the first ranks of all its groups."""
    digits = _expert_digits(layout) if axis in EXPERT_AXES else _dense_digits(layout)
    inside: list[Run] = []
    outside: list[Run] = []
    stride = 1
    for name, count in digits:
        (inside if name in AXES[axis] else outside).append((count, stride))
        stride *= count
    return merged_runs(tuple(inside)), merged_runs(tuple(outside))


def runs_placement(cluster: Cluster, axis: str, group: Runs, others: Runs, nodes_per_domain: int | None) -> Placement:
    """The placement of groups; ``group`` has the offsets of one group's members, ``others`` the first rank of each
    group.
    """
    return _group_placement(axis, group, others, _blocks_of_cluster(nodes_per_domain, cluster))


@recent(4)
def _blocks_of_cluster(nodes_per_domain: int | None, cluster: Cluster) -> _Blocks:
    return _Blocks.from_cluster(cluster, nodes_per_domain)


def contiguous_placement(cluster: Cluster, ranks: int, nodes: int | None = None) -> Placement:
    """The placement of one group of the first ``ranks`` ranks, with NICs that no other group uses.

    With ``nodes`` the ranks are on that many nodes, in equal numbers where possible.
    """
    each, left = divmod(ranks, nodes or ranks)
    spread_out = nodes is not None and not left and each < cluster.ranks_per_node
    runs = ((each, 1), (nodes or 1, cluster.ranks_per_node)) if spread_out else ((ranks, 1),)
    return _group_placement("all", merged_runs(runs), (), _Blocks.from_cluster(cluster, None))


def _dense_digits(layout: Layout) -> list[tuple[str, int]]:
    """The digits of a rank from the fastest-varying; cp and dp are split at the ends of shard groups."""
    of_cp = gcd(layout.shard_group, layout.cp)
    of_dp = gcd(layout.shard_group // of_cp, layout.data_ranks)
    sizes = {
        "tp": layout.tp,
        "cp_shard": of_cp,
        "cp_replicate": layout.cp // of_cp,
        "dp_shard": of_dp,
        "dp_replicate": layout.data_ranks // of_dp,
        "pp": layout.pp,
    }
    parts = {"cp": ("cp_shard", "cp_replicate"), "dp": ("dp_shard", "dp_replicate")}
    names = (name for axis in layout.order if axis != "ep" for name in parts.get(axis, (axis,)))
    return [(name, sizes[name]) for name in names]


def _expert_digits(layout: Layout) -> list[tuple[str, int]]:
    sizes = {"expert_tp": layout.expert_tp, "ep": layout.ep, "expert_dp": layout.expert_dp, "pp": layout.pp}
    names = {"tp": "expert_tp", "ep": "ep", "dp": "expert_dp", "dp_shard": "expert_dp", "pp": "pp"}
    return [(names[axis], sizes[names[axis]]) for axis in layout.order if axis in names]


@dataclass(frozen=True)
class _Blocks:
    """The sizes in ranks of nodes, domains and pods, filled in rank order."""

    package: int
    node: int
    domain: int
    levels: tuple[int, ...]

    @classmethod
    def from_cluster(cls, cluster: Cluster, nodes_per_domain: int | None) -> _Blocks:
        node = cluster.ranks_per_node
        domain = nodes_per_domain * node if nodes_per_domain else cluster.ranks_per_domain
        there = nodes_of_domain(cluster)
        used = nodes_per_domain or there
        levels = ((level.nodes or 1) * used // there for level in fabric_levels(cluster))
        return cls(cluster.ranks_per_accelerator, node, domain, tuple(max(1, nodes) * node for nodes in levels))


@recent(16)
def _group_placement(axis: str, group: Runs, others: Runs, blocks: _Blocks) -> Placement:
    """The placement of groups; ``group`` has the offsets of one group's members, ``others`` the first rank of each
    group.
    """
    straddling, first = _straddling_groups(group, others, blocks.domain)
    worst = _first_rank_of_worst_group(group, others, blocks)
    in_domains, in_nodes = block_spread(worst, group, blocks.domain), block_spread(worst, group, blocks.node)
    return Placement(
        axis=axis,
        ranks=member_count(group),
        groups=member_count(others),
        straddling=straddling,
        first_straddling=() if first is None else tuple(islice(rank_members(first, group), SHOWN)),
        domains=in_domains.blocks,
        ranks_per_domain=in_domains.fullest,
        least_in_domain=in_domains.smallest_block,
        nodes=in_nodes.blocks,
        ranks_per_node=in_nodes.fullest,
        least_in_node=in_nodes.smallest_block,
        accelerators=_maximum_packages_in_domain(worst, group, blocks, in_domains.fullest),
        stride=group[0][1] if group else 1,
        groups_per_node=groups_sharing_a_node(group, others, blocks.node),
        crossings=tuple(
            _level_crossing(index, group, others, block)
            for index, block in enumerate(blocks.levels)
            if _straddling_groups(group, others, block)[0]
        ),
        rail_aligned=all(stride % blocks.node == 0 for _, stride in group),
    )


def _level_crossing(level: int, group: Runs, others: Runs, block: int) -> Crossing:
    """The groups that cross a level; ``members`` follows from the ranks of a block, which these groups share.

    In an all-to-all, r of n ranks send r (n − r) parts to the others. This is concave and grows up to r = n / 2, so
    groups with at most ``block`` members together send the most if each has the mean number of members.
    """
    ranks = member_count(group)
    if not others:
        return Crossing(level, block, 1, block_spread(0, group, block).fullest)
    if len(group) > 1 and not divides_groups_alike(group, others, block):
        return Crossing(level, block, None, 1)
    groups = groups_sharing_a_node(group, others, block)
    return Crossing(level, block, groups, min(block / max(1, groups), ranks / 2))


def _straddling_groups(group: Runs, others: Runs, block: int) -> tuple[int, int | None]:
    """The number of groups that span two or more blocks, and the first rank of the first such group.

    A group is in one block exactly if its first and its last member are.
    """
    span, groups = member_span(group), member_count(others)
    if span == 0 or span + member_span(others) < block:
        return 0, None
    if span >= block:
        return groups, 0
    if divides_groups_alike(group, others, block):
        return (groups, 0) if _block_count(0, group, block) > 1 else (0, None)
    crossing = [found for rest, found in block_alignments(others, block).items() if rest + span >= block]
    return sum(many for _, many in crossing), min((first for first, _ in crossing), default=None)


def _first_rank_of_worst_group(group: Runs, others: Runs, blocks: _Blocks) -> int:
    """First rank of the worst group: the one in the most domains, then in the most nodes."""
    uneven = [block for block in (blocks.node, blocks.domain) if not divides_groups_alike(group, others, block)]
    if not uneven:
        return 0
    period = lcm(*uneven)
    bases = sorted(first for first, _ in block_alignments(others, period).values())
    looked_at = max(1, MOST_ALIGNMENTS // evaluated_runs(group, period))
    return max(
        bases[:looked_at],
        key=lambda base: (_block_count(base, group, blocks.domain), _block_count(base, group, blocks.node)),
    )


def _block_count(base: int, group: Runs, block: int) -> int:
    return block_spread(base, group, block).blocks


def _maximum_packages_in_domain(base: int, group: Runs, blocks: _Blocks, ranks: int) -> int:
    """The maximum number of packages of one group in one domain; ``ranks`` counts the group's members in the fullest
    domain.
    """
    if blocks.package == 1 or not group or group[0][1] >= blocks.package:
        return ranks
    packages: defaultdict[int, set[int]] = defaultdict(set)
    for rank in islice(rank_members(base, group), MOST_COUNTED):
        packages[rank // blocks.domain].add(rank // blocks.package)
    return max(map(len, packages.values()))
