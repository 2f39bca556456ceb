"""How much oversubscribed levels slow a collective: by the share of its traffic that leaves a block."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import log2

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clusterspec.cluster.groups import AXES, Crossing, axis_placement, contiguous_placement, group_runs
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.rank_sets import rank_members
from clusterspec.cost.collectives import Between
from clusterspec.cost.collectives.oversubscription import _tree_edges
from clusterspec.cost.collectives.paths import group_paths
from clusterspec.cost.collectives.predict import collective_cost
from tests.cost.collectives.machines import H100, nodes_of, resolved
from tests.effort import ALL_CASES, examples, telling

LEAVES = "topology: fat-tree, levels: [{name: leaf, nodes: 8, oversubscription: 2:1}, {name: spine, nodes: 64}]"
TWO_LEVELS = (
    "topology: fat-tree, levels: [{name: leaf, nodes: 4, oversubscription: 2:1},"
    " {name: spine, nodes: 8, oversubscription: 3:1}, {name: core, nodes: 64}]"
)
GIB = 2.0**30


def between(spec: Cluster, ranks: int) -> Between:
    paths = group_paths(spec, contiguous_placement(spec, ranks))
    assert paths is not None and paths.between is not None
    return paths.between


@pytest.mark.parametrize(
    ("ranks", "slower"),
    [
        (64, 1.0),  # inside a leaf
        (72, 1.0),  # 64 × 8 parts over half of 64 ports, 8 × 64 parts of each node: 2 × 8 / 64
        (128, 2 * 64 / 120),  # each rank sends 64 of 120 parts to the other leaf
        (256, 2 * 192 / 248),
        (512, 2 * 448 / 504),
    ],
)
def test_an_all_to_all_is_slowed_by_the_parts_that_leave_the_leaf(ranks: int, slower: float) -> None:
    flat, tapered = nodes_of(H100, 64), nodes_of(H100, 64, more=LEAVES)
    assert between(tapered, ranks).exchange.value == pytest.approx(between(flat, ranks).exchange.value / slower)


def test_the_ratios_of_two_levels_multiply_and_the_slower_level_counts() -> None:
    """Of 64 nodes: 480 of 504 parts leave the leaf (2:1), 448 the block of 8 nodes (6:1)."""
    flat, tapered = nodes_of(H100, 64), nodes_of(H100, 64, more=TWO_LEVELS)
    assert between(tapered, 512).exchange.value == pytest.approx(between(flat, 512).exchange.value / (6 * 448 / 504))
    assert between(tapered, 64).exchange.value == pytest.approx(between(flat, 64).exchange.value / (2 * 32 / 56))


@pytest.mark.parametrize(
    ("nodes", "ratio", "slower"),
    [(8, 2, 1.0), (2, 2, 1.0), (2, 3, 1.5), (1, 2, 2.0), (4, 8, 2.0)],
)
def test_a_ring_in_node_order_leaves_a_block_once(nodes: int, ratio: int, slower: float) -> None:
    """The uplinks of a block of k nodes carry the rate of k / t nodes, a ring the rate of one."""
    tapered = nodes_of(H100, 64, more=f"topology: fat-tree, pod_nodes: {nodes}, oversubscription: {ratio}:1")
    assert between(tapered, 512).line.value == pytest.approx(400e9 / slower)
    assert between(tapered, 512).sender.value == pytest.approx(50e9 / slower)


STRIDED = [
    ("tp: 8, pp: 1", "dp", 16, 1.0),  # 16 members of each group in a pod: 4 / 16
    ("tp: 8, pp: 1", "dp", 2, 2.0),
    ("tp: 8, pp: 4", "pp", 16, 4.0),  # a stage is a pod: every rank sends to another pod
    ("tp: 8, pp: 64", "pp", 16, 1.0),  # a stage is a node
    ("tp: 8, pp: 8", "pp", 16, 2.0),  # two stages in a pod
]


@pytest.mark.parametrize(("keys", "axis", "pod", "slower"), STRIDED)
def test_groups_side_by_side_leave_a_block_together(keys: str, axis: str, pod: int, slower: float) -> None:
    body = (
        "{{accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 64, scale_out: {{technology: infiniband-ndr,"
        " nics_per_node: 8, nic_bandwidth: 400 Gb/s, topology: fat-tree, pod_nodes: {pod},"
        " oversubscription: {ratio}:1}}}}"
    )
    lines = []
    for ratio in (1, 4):
        spec, layout = resolved(body.format(pod=pod, ratio=ratio), f"layout: {{{keys}}}")
        assert layout is not None
        paths = group_paths(spec, axis_placement(spec, layout, axis))
        assert paths is not None and paths.between is not None
        lines.append(paths.between.line.value)
    assert lines[0] / lines[1] == pytest.approx(slower)


@telling(2)
@pytest.mark.parametrize("more", [LEAVES, TWO_LEVELS, "topology: fat-tree, pod_nodes: 5, oversubscription: 4:1"])
@pytest.mark.parametrize("name", ["all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv"])
def test_more_ranks_never_make_a_large_collective_faster(more: str, name: str) -> None:
    spec = nodes_of(H100, 64, more=more)
    seconds = [
        collective_cost(spec, name, contiguous_placement(spec, ranks), 8 * GIB).seconds for ranks in range(16, 513, 8)
    ]
    assert all(few <= many * (1 + 1e-9) for few, many in pairwise(seconds))


@settings(max_examples=examples(25), deadline=None)
@given(
    tp=st.sampled_from([1, 2, 4, 8]),
    pp=st.sampled_from([1, 2, 3, 4]),
    cp=st.sampled_from([1, 2, 3, 4]),
    nodes=st.integers(2, 40),
    pod=st.integers(1, 12),
    axis=st.sampled_from(sorted(AXES)),
)
def test_no_uplink_carries_more_than_its_rate(tp: int, pp: int, cp: int, nodes: int, pod: int, axis: str) -> None:
    """Rings that leave a block, and parts of all-to-alls, by enumeration, at the predicted line rates."""
    assume(nodes * 8 % (tp * pp * cp) == 0 and nodes > pod)
    body = (
        f"{{accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: {nodes}, scale_out: {{technology: roce-v2,"
        f" nics_per_node: 8, nic_bandwidth: 400 Gb/s, topology: fat-tree,"
        f" levels: [{{nodes: {pod}, oversubscription: 4:1}}, {{nodes: {nodes}}}]}}}}"
    )
    spec, layout = resolved(body, f"layout: {{tp: {tp}, pp: {pp}, cp: {cp}}}")
    assert layout is not None
    placement, (group, others) = axis_placement(spec, layout, axis), group_runs(layout, axis)
    paths = group_paths(spec, placement) if placement.ranks > 1 else None
    if paths is None or paths.between is None:
        return
    rings: Counter[int] = Counter()
    parts: Counter[int] = Counter()
    for base in rank_members(0, others):
        on_block = Counter(rank // (8 * pod) for rank in rank_members(base, group))
        if len(on_block) > 1:
            rings.update(on_block.keys())
            parts.update({block: here * (placement.ranks - here) for block, here in on_block.items()})
    uplinks = 8 * pod * 50e9 / 4
    part = paths.between.exchange.value / (placement.ranks_per_node * (placement.ranks - placement.ranks_per_node))
    assert max(rings.values(), default=0) * paths.between.line.value <= uplinks * (1 + 1e-9)
    assert max(parts.values(), default=0) * part <= uplinks * (1 + 1e-9)


# Binary trees over islands


def _parent(islands: int, rank: int) -> int:
    """The parent of a rank above 0 in NCCL's tree (src/graph/trees.cc, ncclGetBtree)."""
    bit = rank & -rank
    up = (rank ^ bit) | (bit << 1)
    return up if up < islands else rank ^ bit


def _edges(islands: int) -> list[tuple[int, int]]:
    """The edges of both trees: the second is mirrored, or shifted by one where the number is odd."""
    first = [(rank, _parent(islands, rank)) for rank in range(1, islands)]
    last = islands - 1
    second = [((a + 1) % islands, (b + 1) % islands) if islands % 2 else (last - a, last - b) for a, b in first]
    return first + second


@pytest.mark.parametrize("islands", [2, 3, 4, 7, 8, 13, 16, 31, *([48, 64, 100] if ALL_CASES else [])])
def test_the_edges_of_trees_that_leave_neighboring_islands_are_few(islands: int) -> None:
    """At most 2 (k − 1) and 4 (log2 j + 1) edges of both trees leave any j of k islands."""
    for inside in range(1, islands):
        for start in range(1 - inside, islands):
            block = range(start, start + inside)
            leaving = sum((a in block) != (b in block) for a, b in _edges(islands))
            assert leaving <= min(2 * (islands - 1), 4 * (log2(inside) + 1))


@pytest.mark.parametrize(
    ("pod", "ratio", "slower"),
    [(16, 2, 1.0), (16, 4, 4 * 20 / 4 / 16), (2, 4, 4.0), (1, 4, 4.0), (16, 16, 5.0)],
)
def test_trees_leave_a_block_more_often_than_rings(pod: int, ratio: int, slower: float) -> None:
    """4 (log2 16 + 1) = 20 edges with half of the bytes leave 16 nodes, of which each sends the bytes of 4 edges."""
    spec = nodes_of(H100, 64, more=f"topology: fat-tree, pod_nodes: {pod}, oversubscription: {ratio}:1")
    assert between(spec, 512).tree_line.value == pytest.approx(400e9 / slower)
    assert between(spec, 512).tree_line.value <= between(spec, 512).line.value


def test_the_derivation_of_a_rate_names_the_levels_and_the_delay() -> None:
    texts = {ranks: str(between(nodes_of(H100, 64, more=LEAVES), ranks).exchange.origin) for ranks in (64, 72, 128)}
    assert "oversubscribed" not in texts[64]
    assert "enough uplinks of levels oversubscribed 2:1" in texts[72]
    assert "1.07 times slower behind levels oversubscribed 2:1" in texts[128]


@pytest.mark.parametrize(
    ("islands", "members", "share"),
    [
        (2, 8, 1.0),  # an edge up and down between two, half of the bytes each: as much as an island sends
        (4, 8, 4 / 2 / 2),  # a single island cuts at most four edges of the six
        (4, 16, 6 / 2 / 2),  # two neighbors at most eight of six
        (16, 16, 8 / 2 / 2),
        (16, 64, 16 / 2 / 2),
        (64, 64, 16 / 2 / 2),
        (16, 4, 4 / 2 / 2),  # less than an island
    ],
)
def test_few_edges_of_trees_leave_a_block_of_neighbors(islands: int, members: float, share: float) -> None:
    """Islands of 8: min(2 (k - 1), 4 (log2 j + 1)) edges of half of the bytes, over min(k - 1, 2) of an island."""
    group = contiguous_placement(nodes_of(H100, 64, more=LEAVES), 8 * islands)
    assert group.ranks_per_node == group.ranks_per_domain == 8
    assert _tree_edges(Crossing(0, 64, 1, members), group, islands) == pytest.approx(share)
