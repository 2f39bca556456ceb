"""The axes of a torus along which a group runs, and the lines of groups inside a domain, link by link."""

from __future__ import annotations

import pytest

from clusterspec.cluster.groups import Placement, contiguous_placement, runs_placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives.paths import busbw_ceiling, group_paths
from clusterspec.cost.collectives.torus import (
    Axis,
    link_bandwidth,
    torus_axes,
    torus_bandwidth,
    torus_exchange_share,
    torus_hops,
)
from clusterspec.cost.formulas.topologies import all_to_all_time
from clusterspec.quantity import Bandwidth
from clusterspec.records import replace
from clusterspec.source import Written
from tests.cluster.resolving import cluster_of

GB = 1e9


def torus(shape: str, accelerator: str = "tpu-v5p", nodes: int = 32) -> Cluster:
    return cluster_of(f"cluster: {{accelerator: {accelerator}, nodes: {nodes}, scale_up: {{shape: {shape}}}}}")


CUBE = torus("[4, 4, 8]")
"""128 chips with six links of 100 GB/s; an axis of whole fours closes."""


def group(accelerators: int, stride: int = 1) -> Placement:
    return replace(contiguous_placement(CUBE, accelerators), accelerators=accelerators, stride=stride)


@pytest.mark.parametrize(
    ("accelerators", "stride", "axes"),
    [
        (1, 1, ()),
        (2, 1, ((2, 1, 0, 100),)),
        (4, 1, ((4, 1, 1, 100),)),
        (2, 2, ((2, 2, 1, 50),)),  # every other chip of a ring of four: two links between two of them
        (8, 1, ((4, 1, 1, 100), (2, 1, 0, 100))),
        (16, 1, ((4, 1, 1, 100), (4, 1, 1, 100))),
        (128, 1, ((4, 1, 1, 100), (4, 1, 1, 100), (8, 1, 1, 100))),
        (4, 4, ((4, 1, 1, 100),)),  # along the second axis
        (2, 8, ((2, 2, 1, 50),)),
        (8, 16, ((8, 1, 1, 100),)),
        (4, 16, ((4, 1, 0, 100),)),  # half of the third axis is no ring
    ],
)
def test_a_group_runs_along_the_axes_that_its_ranks_and_its_stride_reach(
    accelerators: int, stride: int, axes: tuple[tuple[int, int, int, float], ...]
) -> None:
    found = torus_axes(CUBE, group(accelerators, stride))
    assert found == tuple(Axis(side, step, wraps, link * GB) for side, step, wraps, link in axes)
    line = sum((1 + wraps) * link for _, _, wraps, link in axes) or 600
    assert torus_bandwidth(CUBE, group(accelerators, stride)).value == pytest.approx(line * GB)


def test_the_farthest_rank_is_half_around_each_ring() -> None:
    """Two hops of four, two of four, four of eight; three along a line of four."""
    assert torus_hops(CUBE, group(4)) == 2 and torus_hops(CUBE, group(128)) == 2 + 2 + 4
    assert torus_hops(CUBE, group(4, 16)) == 3 and torus_hops(CUBE, group(2, 2)) == 2
    switched = cluster_of("cluster: {platform: dgx-h100, nodes: 1}")
    assert torus_hops(switched, contiguous_placement(switched, 8)) == 0
    assert torus_exchange_share(switched, contiguous_placement(switched, 8)) == 1


def test_a_link_of_an_axis_has_its_own_rate_else_its_part_of_all() -> None:
    up = CUBE.scale_up
    assert [link_bandwidth(up, axis) for axis in range(3)] == pytest.approx([100 * GB] * 3)
    own = tuple(Bandwidth.one_way(rate * GB, Written("test")) for rate in (50.0, 70.0))
    other = replace(up, axis_bandwidth=own)
    assert [link_bandwidth(other, axis) for axis in range(3)] == pytest.approx([50 * GB, 70 * GB, 100 * GB])


@pytest.mark.parametrize(("shape", "wraps"), [("[8, 8]", (0, 0)), ("[16, 8]", (1, 0)), ("[16, 16]", (1, 1))])
def test_a_slice_in_a_plane_closes_at_its_full_side(shape: str, wraps: tuple[int, ...]) -> None:
    plane = torus(shape, "tpu-v6e", 64)
    sides = contiguous_placement(plane, plane.scale_up.domain)
    assert tuple(axis.wraps for axis in torus_axes(plane, sides)) == wraps


def line_of(cluster: Cluster, ranks: int) -> float:
    paths = group_paths(cluster, contiguous_placement(cluster, ranks))
    assert paths is not None and paths.inside is not None
    return paths.inside.line.value


def test_ranks_of_one_package_share_its_links() -> None:
    """H100: 450 GB/s to a switch for any group. MI300X: a link of 64 GB/s to each peer in the group, seven at most.
    A domain that tapers divides the line; 2:1 to the outside, and never more than all links.
    """
    switched = cluster_of("cluster: {platform: dgx-h100, nodes: 1}")
    assert [line_of(switched, ranks) / GB for ranks in (2, 8)] == pytest.approx([450, 450])
    mesh = cluster_of("cluster: {accelerator: mi300x, nodes: 1}")
    assert [line_of(mesh, ranks) / GB for ranks in (2, 4, 8)] == pytest.approx([64, 192, 448])
    for ratio, line in ((2.0, 225), (0.5, 450)):
        up = replace(switched.scale_up, oversubscription=ratio)
        assert line_of(replace(switched, scale_up=up), 8) / GB == pytest.approx(line)
    slots = cluster_of("cluster: {accelerator: l40s, accelerators_per_node: 8, nodes: 1, scale_up: {domain: 8}}")
    narrow = Bandwidth.one_way(5 * GB, Written("test"))
    assert line_of(replace(slots, scale_up=replace(slots.scale_up, peer_bandwidth=narrow)), 8) / GB == pytest.approx(5)


def of_chip(accelerator: str, shape: str, ranks: int, in_chip: int) -> tuple[float, str]:
    """GB/s of a rank of a group that has ``in_chip`` ranks on each chip of the torus, and the origin of the figure."""
    cluster = torus(shape, accelerator, nodes=1 if accelerator == "trainium2" else 16)
    each = cluster.ranks_per_accelerator
    chips = ranks // in_chip
    runs = ((in_chip, 1), (chips, each))
    others = ((each // in_chip, in_chip),)
    paths = group_paths(cluster, runs_placement(cluster, "dp", runs, others, None))
    assert paths is not None and paths.between is None
    return paths.inside.line.value / GB, str(paths.inside.line.origin)


@pytest.mark.parametrize(
    ("accelerator", "shape", "ranks", "in_chip", "line"),
    [
        ("trainium2", "[4, 4]", 16, 1, 512 / 4),  # four groups on each chip, whose four links of 128 GB/s they share
        ("trainium2", "[4, 4]", 32, 2, 512 / 2),
        ("trainium2", "[4, 4]", 64, 4, 512),  # one group: the ranks of a chip forward for each other
        ("trainium2", "[4, 4]", 2, 2, 512),  # half of a chip: its traffic crosses no link between chips
        ("tpu-v7x", "[4, 4, 4]", 64, 1, 600 / 2),
        ("tpu-v7x", "[4, 4, 4]", 128, 2, 600),
    ],
)
def test_groups_that_meet_on_a_chip_of_a_torus_divide_its_links(
    accelerator: str, shape: str, ranks: int, in_chip: int, line: float
) -> None:
    """What the groups of a chip take together is what its links carry."""
    found, origin = of_chip(accelerator, shape, ranks, in_chip)
    assert found == pytest.approx(line)
    assert ("of the links of a chip" in origin) is (line not in (512, 600))


def ceiling_of(accelerator: str, shape: str, runs: tuple[tuple[int, int], ...], others: int = 1) -> float:
    """GB/s of bus bandwidth that the links allow an all-to-all of these runs of ranks, with ``others`` groups."""
    cluster = torus(shape, accelerator, nodes=1 if accelerator == "trainium2" else 128)
    paths = group_paths(cluster, runs_placement(cluster, "ep", runs, ((others, 1),), None))
    assert paths is not None and paths.between is None
    return busbw_ceiling("all-to-all", paths, reduces=False) / GB


@pytest.mark.parametrize(
    ("accelerator", "shape", "runs", "others", "algbw"),
    [
        # 256 chips send half of S across a cut of 2 × 64 links of 100 GB/s: S / 100 GB/s
        ("tpu-v5p", "[8, 8, 8]", ((512, 1),), 1, 100),
        ("tpu-v5p", "[4, 4, 4]", ((64, 1),), 1, 200),  # 32 × S / 2 over 2 × 16 links
        ("tpu-v5p", "[4, 4, 8]", ((128, 1),), 1, 100),  # across the long axis: 64 × S / 2 over 2 × 16 links
        ("tpu-v5p", "[2, 2, 1]", ((4, 1),), 1, 200),  # 2 × S / 2 over 2 links; an axis of two does not wrap
        ("tpu-v5p", "[2, 2, 2]", ((8, 1),), 1, 200),  # 4 × S / 2 over 4 links
        ("tpu-v5p", "[4, 4, 8]", ((4, 1),), 1, 200),  # one ring of four: 2 × S / 2 over 2 links
        ("tpu-v5p", "[8, 8, 8]", ((8, 1),), 1, 100),  # one ring of eight: 4 × S / 2 over 2 links
        ("tpu-v5p", "[8, 8, 8]", ((4, 1),), 1, 100),  # half of such a ring, a line of four: 2 × S / 2 over 1 link
        ("tpu-v5p", "[8, 8, 8]", ((64, 1),), 1, 100),  # a plane of 8 × 8: 32 × S / 2 over 2 × 8 links
        ("tpu-v5p", "[4, 4, 8]", ((8, 16),), 1, 100),  # one ring of eight: 4 × S / 2 over 2 links
        ("tpu-v6e", "[16, 16]", ((256, 1),), 1, 50),  # 128 × S / 2 over 2 × 16 links of 100 GB/s
        ("tpu-v6e", "[8, 8]", ((64, 1),), 1, 50),  # no side of eight wraps: 32 × S / 2 over 8 links
        ("tpu-v6e", "[16, 8]", ((128, 1),), 1, 50),  # 64 × S / 2 over 2 × 8 links, and over 16 of the lines of eight
        # four ranks of a chip send S each: 8 × 4 × S / 2 over 2 × 4 links of 128 GB/s, as one group or as four
        ("trainium2", "[4, 4]", ((64, 1),), 1, 64),
        ("trainium2", "[4, 4]", ((16, 4),), 4, 64),
        ("tpu-v7x", "[4, 4, 4]", ((128, 1),), 1, 100),  # two ranks of a chip: 32 × 2 × S / 2 over 2 × 16 links
    ],
)
def test_an_all_to_all_is_bounded_by_the_links_across_the_middle_of_a_torus(
    accelerator: str, shape: str, runs: tuple[tuple[int, int], ...], others: int, algbw: float
) -> None:
    ranks = runs[0][0]
    assert ceiling_of(accelerator, shape, runs, others) == pytest.approx(algbw * (ranks - 1) / ranks)


@pytest.mark.parametrize(
    ("accelerator", "ranks", "algbw"),
    [
        ("mi250x", 8, 100),  # two dies of a package send 6 / 8 of S each over three links of 50 GB/s
        ("mi250x", 4, 50),  # 2 × S / 2 over one link
        ("mi250x", 2, 800),  # in one package, half of S at 400 GB/s
        ("mi300x", 8, 512),  # one rank a package: 7 / 8 of S over 7 × 64 GB/s
    ],
)
def test_the_ranks_of_a_package_share_its_links_in_an_all_to_all(accelerator: str, ranks: int, algbw: float) -> None:
    cluster = cluster_of(f"cluster: {{accelerator: {accelerator}, nodes: 1}}")
    paths = group_paths(cluster, contiguous_placement(cluster, ranks))
    assert paths is not None
    ceiling = busbw_ceiling("all-to-all", paths, reduces=False) / GB
    assert ceiling == pytest.approx(algbw * (ranks - 1) / ranks)


def busiest_link(side: int, wraps: int) -> float:
    """Bytes on the busiest link of one axis where every rank sends a byte to every rank by the shortest way, half of
    it each way where both are as short.
    """
    loads = dict.fromkeys([(chip, way) for chip in range(side) for way in (1, -1)], 0.0)
    for source in range(side):
        for target in range(side):
            up, down = (target - source) % side, (source - target) % side
            ways = [(1, up)] * (up <= down) + [(-1, down)] * (down <= up)
            if not wraps:
                ways = [(1, up)] if target > source else [(-1, down)]
            for way, hops in ways:
                for hop in range(hops):
                    loads[(source + way * hop) % side, way] += 1 / len(ways)
    return max(loads.values())


@pytest.mark.parametrize("side", range(2, 9))
@pytest.mark.parametrize("wraps", [0, 1])
def test_the_links_across_the_middle_of_an_axis_are_its_busiest(side: int, wraps: int) -> None:
    """Each rank sends one byte to each of ``side`` ranks, over links of 1 B/s; two ranks never form a ring."""
    if wraps and side == 2:
        return
    assert all_to_all_time(side, side, 1.0 + wraps) == pytest.approx(busiest_link(side, wraps))


@pytest.mark.parametrize(("side", "wraps"), [(2, 0), (3, 1), (4, 1)])
def test_an_axis_of_three_closes_on_tori_other_than_slices(side: int, wraps: int) -> None:
    """On an axis of two, one link connects both; from three on, a third link closes the ring."""
    torus = cluster_of(
        f"cluster: {{accelerator: trainium2, accelerators_per_node: 16, nodes: 1, scale_up: {{shape: [{side}, 4]}}}}"
    )
    axes = torus_axes(torus, contiguous_placement(torus, side * torus.ranks_per_accelerator))
    assert [(axis.side, axis.wraps) for axis in axes] == [(side, wraps)]


def test_groups_of_one_node_use_no_network() -> None:
    """Eight cards on PCIe are eight domains in one node; sixteen are in two nodes."""
    cards = cluster_of(
        "cluster: {accelerator: l40s, accelerators_per_node: 8, nodes: 2, scale_out: {technology: infiniband-ndr, "
        "nics_per_node: 2}}"
    )
    inside, across = (group_paths(cards, contiguous_placement(cards, ranks)) for ranks in (8, 16))
    assert inside is not None and across is not None
    assert (inside.nodes, across.nodes) == (1, 2)


def test_ranks_of_half_a_chip_are_two_to_a_step_along_an_axis() -> None:
    """TPU7x has two ranks per chip: every eighth rank of a plane of fours is the next chip of the second axis."""
    halves = torus("[4, 4, 4]", "tpu-v7x", 16)
    assert halves.ranks_per_accelerator == 2
    for stride, sides in ((1, (4, 1, 1)), (2, (4, 1, 1)), (4, (2, 2, 1)), (8, (4, 1, 1)), (32, (4, 1, 1))):
        one = replace(contiguous_placement(halves, 8), accelerators=sides[0], stride=stride)
        assert [(axis.side, axis.step, axis.wraps) for axis in torus_axes(halves, one)] == [sides], stride
