"""Line rates of islands and shares of packages, worked out by hand from placements with uneven members."""

from __future__ import annotations

from math import inf

import pytest

from clusterspec.cluster.groups import Placement, contiguous_placement
from clusterspec.cost.collectives import paths as of_paths
from clusterspec.quantity import Bandwidth, Figure
from clusterspec.records import replace
from clusterspec.source import Assumed, Computed
from tests.cost.collectives.machines import H100, nodes_of
from tests.effort import each

GROUP = Placement(
    axis="dp",
    ranks=20,
    groups=2,
    straddling=2,
    first_straddling=(),
    domains=4,
    ranks_per_domain=6,
    least_in_domain=3,
    nodes=4,
    ranks_per_node=6,
    least_in_node=2,
    accelerators=6,
    stride=1,
    groups_per_node=2,
    crossings=(),
    rail_aligned=False,
)
"""Twenty ranks on four nodes, six on the fullest and two on the emptiest; two groups share the NICs of a node."""
MACHINE = nodes_of(H100, 4)


@each(
    ("islands", "rates", "line", "exchange", "sender", "least", "partial"),
    [
        # two ranks of each of two groups drive four NICs of 5: half of 20 for each group, below 18 of the node;
        # 6 · 14 parts of the fullest node against 2 · 18 of the emptiest: 23.3 are more than those of the node
        (4, (18.0, 5.0, 4.0), 10.0, 18.0, 4.0, 2, True),
        (4, (30.0, 5.0, 4.0), 10.0, 10 * 84 / 36, 4.0, 2, True),
        # the NICs of all its taking part exceed the rate of a node
        (4, (9.0, 5.0, 4.0), 9.0, 9.0, 4.0, 2, False),
        # the nearest NIC is faster than those of the ranks that take part
        (4, (30.0, 0.5, 12.0), 6.0, 6 * 84 / 36, 12.0, 2, True),
        # two islands of two nodes: three ranks of each of two groups, and 6 · 14 parts against 3 · 17
        (2, (18.0, 5.0, 4.0), 15.0, 15 * 84 / 51, 4.0, 3, True),
        (2, (7.0, 5.0, 4.0), 14.0, 14.0, 4.0, 3, False),
        (2, (18.0, 5.0, 40.0), 20.0, 20 * 84 / 51, 18.0, 3, True),
    ],
)
def test_the_emptiest_island_limits_a_group_and_a_full_one_its_exchange(
    islands: int,
    rates: tuple[float, float, float],
    line: float,
    exchange: float,
    sender: float,
    least: int,
    partial: bool,
) -> None:
    found = of_paths._IslandLines.of(MACHINE, GROUP, islands, 2, rates)
    assert (found.line, found.exchange, found.sender) == pytest.approx((line, exchange, sender))
    assert (found.least, found.partial) == (least, partial)


def test_no_more_ranks_drive_nics_than_a_node_has() -> None:
    """Five groups of two ranks would be ten of eight."""
    found = of_paths._IslandLines.of(MACHINE, GROUP, 4, 5, (30.0, 5.0, 4.0))
    assert found.line == pytest.approx(8 * 5 / 5)


@each(
    ("own", "ranks", "rate"),
    [(50e9, 3, 3 * 63.015e9), (80e9, 3, 3 * 80e9)],
)
def test_ranks_send_through_their_slots_at_least_at_the_rate_of_their_nics(own: float, ranks: int, rate: float) -> None:
    """PCIe 5.0 x16 carries 32 GT/s of 128 in 130 bits on each lane: 63 GB/s."""
    machine = replace(MACHINE, pcie_host=5)
    assert of_paths._slot_bandwidth(machine, ranks, own) == pytest.approx(rate, rel=1e-4)
    assert of_paths._slot_bandwidth(replace(machine, pcie_host=None), ranks, own) == inf
    halves = replace(machine, ranks_per_accelerator=2)
    assert of_paths._slot_bandwidth(halves, ranks, 1e9) == pytest.approx(3 * 63.015e9 / 2, rel=1e-4)


@each(
    ("ranks", "packages", "share"),
    [
        (8, 8, 1.0),  # each rank has a package: 7 of 7 others
        (8, 4, 7 / 12),  # two of a package: 7 others over the links of both to 6
        (6, 3, 5 / 8),
        (6, 1, 1.0),
    ],
)
def test_ranks_of_a_package_share_its_links_except_to_each_other(ranks: int, packages: int, share: float) -> None:
    group = replace(GROUP, ranks_per_domain=ranks, accelerators=packages)
    hops, crossing = of_paths._hops_and_crossing(MACHINE, group)
    assert hops == 0.0 and crossing == pytest.approx(share)


def test_a_group_on_a_part_of_a_package_has_that_part_of_the_links() -> None:
    links = Bandwidth.one_way(80e9, Computed("8 links"))
    assert of_paths._part_of_links(links, 1.0) is links
    part = of_paths._part_of_links(links, 0.75)
    assert part.value == 60e9 and "0.75 of the links of a chip, 8 links" in str(part.origin)
    plain = of_paths._part_of_links(Bandwidth.one_way(80e9, Assumed("k", "why")), 0.5)
    assert plain.value == 40e9 and "8e+10 B/s" in str(plain.origin)


@each(
    ("line", "share", "wanted"),
    [
        (50e9, 0.96, 32 / 50),
        (33e9, 0.96, 0.96),  # 31.7 GB/s: no more than a lone rank reaches
        (40e9, 0.8, 0.8),  # exactly as much
        (40e9, 0.81, 0.8),
    ],
)
def test_a_rank_alone_on_its_node_reaches_32_gigabytes_per_second(line: float, share: float, wanted: float) -> None:
    stated = Figure(share, "1", Computed("test"))
    alone = replace(MACHINE, accelerators_per_node=1, ranks_per_accelerator=1)
    assert alone.ranks_per_node == 1
    assert of_paths._share_of_lone_ranks(alone, line, stated).value == pytest.approx(wanted)
    assert of_paths._share_of_lone_ranks(MACHINE, line, stated) is stated


@each(("name", "ranks", "share"), [("all-to-all", 16, 15 / 7), ("all-to-all", 8, 1.0), ("broadcast", 16, 1.0)])
def test_the_ceiling_of_an_exchange_counts_the_ranks_outside_of_the_domain(name: str, ranks: int, share: float) -> None:
    """Of 16 ranks, eight in a domain: 8 of the 15 parts of each leave it, so that seven take 7 / 15 of the time. A
    half of the line is left where its bytes cross two links.
    """
    machine = nodes_of(H100, 2)
    found = of_paths.group_paths(machine, contiguous_placement(machine, 16))
    assert found is not None
    crossed = replace(found, ranks=ranks, inside=replace(found.inside, ranks=8, crossing=0.5))
    line = 450e9 * (0.5 if name == "all-to-all" else 1)
    assert of_paths._inside_ceiling(name, crossed, reduces=True) == pytest.approx(line * share)
