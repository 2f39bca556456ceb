from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterspec.cluster.groups import (
    AXES,
    EXPERT_AXES,
    Crossing,
    Placement,
    axis_placement,
    contiguous_placement,
    group_runs,
)
from clusterspec.cluster.model import Cluster, Layout
from clusterspec.cluster.planes import fabric_levels
from tests.cluster.resolving import cluster_of, layout_of, resolve_text
from tests.effort import examples, sampled, steps, thorough

MACHINES = {
    "eight to a node": "platform: dgx-h100",
    "rack-scale": "platform: gb200-nvl72",
    "torus slice": "platform: tpu-v4",
    "two ranks to a package": "platform: mi250x-4",
    "four ranks to a package": "platform: aws-trn2-48xlarge",
    "an UltraServer of four nodes": "platform: aws-trn2u-48xlarge",
    "bridged pairs": "accelerator: h100-pcie-80gb, accelerators_per_node: 4",
    "a node of six": "accelerator: a100-sxm-80gb, accelerators_per_node: 6",
    "pods of five nodes": "platform: dgx-h100, scale_out: {pod_nodes: 5, oversubscription: 3:1}",
}
ORDERS = [
    ("tp", "cp", "ep", "dp", "pp"),
    ("pp", "tp", "cp", "ep", "dp"),
    ("cp", "tp", "dp", "ep", "pp"),
    ("dp", "pp", "ep", "tp", "cp"),
    ("tp", "dp", "cp", "pp", "ep"),
    ("tp", "dp_shard", "cp", "ep", "dp_replicate", "pp"),
]


def enumerated(layout: Layout, axis: str) -> list[list[int]]:
    """Every group of an axis, as the ranks whose coordinates differ in that axis alone."""
    dense, expert = _coordinates(layout)
    digits = expert if axis in EXPERT_AXES else dense
    ranks = 1
    for _, count in digits:
        ranks *= count
    groups = defaultdict(list)
    for rank in range(ranks):
        rest, key = rank, []
        for name, count in digits:
            rest, index = divmod(rest, count)
            key.append(-1 if name in AXES[axis] else index)
        groups[tuple(key)].append(rank)
    return sorted(groups.values())


def _coordinates(layout: Layout) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """The digits of a rank, written out once more from the words of the contract."""
    of_cp = _common(layout.shard_group, layout.cp)
    of_dp = _common(layout.shard_group // of_cp, layout.dp)
    cp = [("cp_shard", of_cp), ("cp_replicate", layout.cp // of_cp)]
    shard, replicate = ("dp_shard", of_dp), ("dp_replicate", layout.dp // of_dp)
    dense = {"tp": [("tp", layout.tp)], "cp": cp, "ep": [], "dp": [shard, replicate], "pp": [("pp", layout.pp)]}
    dense |= {"dp_shard": [shard], "dp_replicate": [replicate]}
    left = ("expert_dp", layout.expert_dp)
    expert = {"tp": [("expert_tp", layout.expert_tp)], "ep": [("ep", layout.ep)], "dp": [left], "dp_shard": [left]}
    expert |= {"pp": [("pp", layout.pp)]}
    return (
        [digit for name in layout.order for digit in dense[name]],
        [digit for name in layout.order for digit in expert.get(name, [])],
    )


def _common(left: int, right: int) -> int:
    return max(each for each in range(1, min(left, right) + 1) if left % each == 0 and right % each == 0)


def seen(cluster: Cluster, layout: Layout, axis: str) -> Placement:
    """What a placement should say, by looking at every rank of every group."""
    groups = enumerated(layout, axis)
    node = cluster.ranks_per_node
    used = layout.nodes_per_domain * node if layout.nodes_per_domain else cluster.ranks_per_domain
    straddling = [group for group in groups if _blocks(group, used) > 1]
    worst = max(groups, key=lambda group: (_blocks(group, used), _blocks(group, node)))
    packages = defaultdict(set)
    for rank in worst:
        packages[rank // used].add(rank // cluster.ranks_per_accelerator)
    beyond = Counter(
        place_ for group in groups if _blocks(group, node) > 1 for place_ in {rank // node for rank in group}
    )
    levels = [(level.nodes or 1) * node for level in fabric_levels(cluster)]
    return Placement(
        axis=axis,
        ranks=len(worst),
        groups=len(groups),
        straddling=len(straddling),
        first_straddling=tuple(straddling[0][:16]) if straddling else (),
        domains=_blocks(worst, used),
        ranks_per_domain=max(Counter(rank // used for rank in worst).values()),
        least_in_domain=_least(worst, used),
        nodes=_blocks(worst, node),
        least_in_node=_least(worst, node),
        ranks_per_node=max(Counter(rank // node for rank in worst).values()),
        accelerators=max(map(len, packages.values())),
        stride=worst[1] - worst[0] if len(worst) > 1 else 1,
        groups_per_node=max(beyond.values(), default=0),
        crossings=tuple(_seen_crossings(groups, levels)),
        rail_aligned=all(len({rank % node for rank in group}) == 1 for group in groups),
    )


def _seen_crossings(groups: list[list[int]], levels: list[int]) -> Iterator[Crossing]:
    """The levels that groups cross, with the groups on the block from which the most groups leave."""
    for level, block in enumerate(levels):
        leaving = [group for group in groups if _blocks(group, block) > 1]
        if leaving:
            most = max(Counter(each for group in leaving for each in {rank // block for rank in group}).values())
            members = block / most if len(groups) > 1 else max(Counter(rank // block for rank in groups[0]).values())
            yield Crossing(level, block, most, min(members, len(groups[0]) / 2) if len(groups) > 1 else members)


def _least(group: list[int], block: int) -> int:
    """Members in the emptier of the first and the last block."""
    members = Counter(rank // block for rank in group)
    return min(members[min(members)], members[max(members)])


def _blocks(group: list[int], block: int) -> int:
    return len({rank // block for rank in group})


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Cluster, Layout]:
    """A small machine, and degrees in an odd order that multiply to at most its ranks."""
    machine = draw(st.sampled_from(sorted(MACHINES.values())))
    nodes = draw(st.integers(1, 40))
    degree = st.sampled_from([1, 1, 2, 3, 4, 6, 8])
    keys = f"tp: {draw(degree)}, cp: {draw(degree)}, pp: {draw(degree)}, ep: {draw(degree)}, expert_tp: {draw(degree)}"
    keys += f", sharding: {draw(st.sampled_from(['none', 'zero1', 'hsdp']))}, shard_group: {draw(st.integers(1, 16))}"
    design, _ = resolve_text(f"cluster: {{{machine}, nodes: {nodes}}}\nlayout: {{{keys}}}")
    assert design.cluster is not None and design.layout is not None
    return design.cluster, replace(design.layout, order=draw(st.sampled_from(ORDERS)))


def _without_uncounted(looked_at: Placement, found: Placement, runs: int) -> Placement:
    """What was seen, without the groups on blocks that divide groups of several runs in different ways."""
    pairs = zip(looked_at.crossings, found.crossings, strict=True)
    known = tuple(one if one.groups is None and runs > 1 else seen_one for seen_one, one in pairs)
    return replace(looked_at, crossings=known)


@settings(max_examples=examples(37), deadline=None)
@given(case=layouts(), axis=st.sampled_from(sorted(AXES)))
def test_placement_equals_enumeration_of_ranks(case: tuple[Cluster, Layout], axis: str) -> None:
    cluster, layout = case
    if layout.ranks <= 3000:
        found, looked_at = axis_placement(cluster, layout, axis), seen(cluster, layout, axis)
        assert found == _without_uncounted(looked_at, found, runs=len(group_runs(layout, axis)[0]))


@settings(max_examples=examples(15), deadline=None)
@given(
    tp=st.sampled_from([2, 3, 4, 8, 16]),
    cp=st.sampled_from([1, 2, 3]),
    used=st.integers(1, 17),
    axis=st.sampled_from(sorted(AXES)),
)
def test_the_used_nodes_of_one_domain_come_before_those_of_the_next(tp: int, cp: int, used: int, axis: str) -> None:
    text = f"cluster: {{platform: gb200-nvl72, nodes: 72}}\nlayout: {{tp: {tp}, cp: {cp}, nodes_per_domain: {used}}}"
    design, _ = resolve_text(text)
    assert design.cluster is not None and design.layout is not None
    found, looked_at = (each(design.cluster, design.layout, axis) for each in (axis_placement, seen))
    assert replace(found, crossings=()) == replace(looked_at, crossings=())


RACKS = "cluster: {platform: gb200-nvl72, nodes: 36}\n"
STRADDLING = [("tp: 8", 0), ("tp: 16", 1), ("tp: 8, nodes_per_domain: 16", 0), ("tp: 16, nodes_per_domain: 16", 0)]


@pytest.mark.parametrize(("keys", "groups"), STRADDLING)
def test_groups_of_sixteen_straddle_racks_of_seventy_two(keys: str, groups: int) -> None:
    found = axis_placement(cluster_of(RACKS), layout_of(f"{RACKS}layout: {{{keys}}}"), "tp")
    assert found.straddling == groups
    if groups:
        assert found.first_straddling == tuple(range(64, 80))
        assert (found.domains, found.ranks_per_domain) == (2, 8)


def test_a_product_that_does_not_divide_a_rack_straddles_though_tp_divides_it() -> None:
    layout = layout_of(f"{RACKS}layout: {{tp: 8, cp: 2}}")
    assert axis_placement(cluster_of(RACKS), layout, "tp").straddling == 0
    assert axis_placement(cluster_of(RACKS), layout, "cp").straddling == 8
    assert axis_placement(cluster_of(RACKS), layout, "dp_cp").straddling == 8


H100 = "cluster: {platform: dgx-h100, nodes: 16}\n"


def test_eight_data_parallel_groups_with_tp_share_the_nics_of_a_node() -> None:
    found = axis_placement(cluster_of(H100), layout_of(f"{H100}layout: {{tp: 8}}"), "dp")
    assert (found.groups_per_node, found.ranks_per_node, found.rail_aligned) == (8, 1, True)


def test_a_group_alone_on_its_node_has_all_nics() -> None:
    found = axis_placement(cluster_of(H100), layout_of(f"{H100}layout: {{}}"), "dp")
    assert (found.groups_per_node, found.ranks_per_node, found.rail_aligned) == (1, 8, False)
    assert contiguous_placement(cluster_of(H100), 128).groups_per_node == 1


def test_a_group_inside_its_node_uses_no_nic() -> None:
    found = axis_placement(cluster_of(H100), layout_of(f"{H100}layout: {{tp: 8}}"), "tp")
    assert (found.groups_per_node, found.nodes, found.straddling, found.first_straddling) == (0, 1, 0, ())
    assert contiguous_placement(cluster_of(H100), 8).groups_per_node == 0


def test_an_axis_of_degree_one_has_groups_of_one() -> None:
    found = axis_placement(cluster_of(H100), layout_of(f"{H100}layout: {{tp: 8}}"), "pp")
    assert (found.ranks, found.groups, found.domains, found.nodes) == (1, 128, 1, 1)


def test_expert_groups_follow_the_order_without_cp() -> None:
    layout = layout_of(f"{H100}layout: {{framework: megatron-core, tp: 2, cp: 2, ep: 8, expert_tp: 1, pp: 2}}")
    ep, left = axis_placement(cluster_of(H100), layout, "ep"), axis_placement(cluster_of(H100), layout, "expert_dp")
    assert (ep.ranks, ep.stride, ep.nodes) == (8, 1, 1)
    assert (left.ranks, left.stride) == (8, 8)


def test_shard_groups_inside_a_node_and_their_replicas_across() -> None:
    layout = layout_of(f"{H100}layout: {{sharding: hsdp, shard_group: 8}}")
    shard, copies = (axis_placement(cluster_of(H100), layout, axis) for axis in ("shard", "replicate"))
    assert (shard.ranks, shard.nodes, shard.groups_per_node) == (8, 1, 0)
    assert (copies.ranks, copies.nodes, copies.groups_per_node, copies.rail_aligned) == (16, 16, 8, True)


def test_a_shard_group_takes_the_ranks_of_cp_before_those_of_dp() -> None:
    """128 ranks of cp 4 and dp 32: a group of 8 is 4 × 2, one of 16 is 4 × 4, one of 2 is half of cp."""
    for size, nodes, copies, apart in ((8, 1, 16, 8), (16, 2, 8, 16), (2, 1, 64, 2)):
        layout = layout_of(f"{H100}layout: {{cp: 4, sharding: hsdp, shard_group: {size}}}")
        shard, others = (axis_placement(cluster_of(H100), layout, axis) for axis in ("shard", "replicate"))
        assert (shard.ranks, shard.nodes, shard.stride) == (size, nodes, 1)
        assert (others.ranks, others.groups, others.stride) == (copies, size, apart)


def test_an_inverted_mesh_is_placed_as_it_is_ordered() -> None:
    order = "order: [tp, dp_replicate, cp, ep, dp_shard, pp]"
    layout = layout_of(f"{H100}layout: {{sharding: hsdp, shard_group: 8, {order}}}")
    shard, copies = (axis_placement(cluster_of(H100), layout, axis) for axis in ("shard", "replicate"))
    assert (shard.stride, shard.nodes) == (16, 8)
    assert (copies.stride, copies.nodes) == (1, 2)


def test_packages_are_counted_where_a_package_holds_several_ranks() -> None:
    machine = "cluster: {platform: mi250x-4, nodes: 4}\n"
    tp = axis_placement(cluster_of(machine), layout_of(f"{machine}layout: {{tp: 4}}"), "tp")
    assert (tp.ranks, tp.accelerators, tp.domains) == (4, 2, 1)
    dp = axis_placement(cluster_of(machine), layout_of(f"{machine}layout: {{tp: 2}}"), "dp")
    assert (dp.ranks_per_domain, dp.accelerators) == (4, 4)


def test_the_crossed_levels_follow_from_the_distance() -> None:
    levels = "levels: [{nodes: 2}, {name: pod, nodes: 8, oversubscription: 7:1}]"
    machine = f"cluster: {{platform: dgx-h100, nodes: 16, scale_out: {{{levels}}}}}\n"
    cluster = cluster_of(machine)
    crossed = {ranks: contiguous_placement(cluster, ranks).levels for ranks in (8, 16, 32, 64, 72)}
    assert crossed == {8: (), 16: (), 32: (0,), 64: (0,), 72: (0, 1)}


def test_ranks_per_node_and_nodes_are_counted() -> None:
    found = contiguous_placement(cluster_of(H100), 8, nodes=4)
    assert (found.ranks, found.nodes, found.ranks_per_node, found.groups_per_node) == (8, 4, 2, 1)


@pytest.mark.parametrize("platform", ["dgx-h100", "gb200-nvl72"])
def test_placement_work_does_not_grow_with_the_cluster(platform: str) -> None:
    layout = "layout: {tp: 8, cp: 3, pp: 4, ep: 8, sharding: hsdp}"
    small, large = (
        resolve_text(f"cluster: {{platform: {platform}, nodes: {nodes}}}\n{layout}")[0] for nodes in (72, 900_000)
    )
    work = []
    for design in (small, large):
        assert design.cluster is not None and design.layout is not None
        work.append(_work(design.cluster, design.layout))
    assert work[1] < 3 * work[0]


def _work(cluster: Cluster, layout: Layout) -> int:
    return steps(lambda: [axis_placement(cluster, layout, axis) for axis in AXES])


@thorough
@pytest.mark.parametrize("domain", sampled([7, 8961, 10**6 + 7, 10**12 + 39], 1))
def test_absurd_sizes_take_bounded_work(domain: int) -> None:
    design, _ = resolve_text("cluster: {platform: dgx-h100, nodes: 16}\nlayout: {tp: 3, cp: 7, pp: 5, ep: 11}")
    assert design.cluster is not None and design.layout is not None
    scale_up = replace(design.cluster.scale_up, domain=domain)
    cluster = replace(design.cluster, nodes=10**18, accelerators_per_node=10**9 + 9, scale_up=scale_up)
    layout = replace(design.layout, ranks=105 * 10**25, dp=10**25, expert_dp=10**25)
    placed: list[int] = []
    steps(lambda: placed.extend(axis_placement(cluster, layout, axis).groups for axis in AXES), most=20_000_000)
    assert min(placed) > 0
