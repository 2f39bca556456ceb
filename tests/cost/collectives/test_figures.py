"""Laws of the figures behind a collective: which share, latency and uncertainty count, in hand-worked numbers."""

from __future__ import annotations

import pytest

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cluster.measured_shares import MeasuredShare
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.cost.collectives import Candidate, Paths, falls_back_to_sockets, network_of
from clusterspec.cost.collectives.paths import busbw_ceiling, group_paths
from clusterspec.cost.collectives.predict import CollectiveRow, CollectiveTiming, uncertainty_band, with_measured_shares
from clusterspec.cost.measured import largest_possible_busbw
from clusterspec.quantity import Figure, bus_factor
from clusterspec.records import replace
from clusterspec.source import Assumed, Cited, Measured, Origin
from tests.cluster.resolving import cluster_of
from tests.cost.collectives.machines import H100, nodes_of
from tests.effort import each

CITED = Cited("entry", "key", "a source", "https://example.org", "2026-11-20")
ASSUMED = Assumed("entry.key", "a reason")
MEASURED = Measured("log.txt")


def fabric(technology: str = "infiniband-ndr", nics: int = 8, rate: int = 400, more: str = "") -> ScaleOut:
    found = nodes_of(H100, 2, technology, nics, rate, more).scale_out
    assert found is not None
    return found


def paths(cluster: Cluster, ranks: int) -> Paths:
    found = group_paths(cluster, contiguous_placement(cluster, ranks))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("technology", "plugin", "sockets"),
    [
        ("efa-v2", "aws-ofi-nccl", False),
        ("efa-v2", "none", True),
        ("gpudirect-tcpxo", "aws-ofi-nccl", True),  # that of another technology
        ("infiniband-ndr", "none", False),  # the library has its own path over verbs
        ("roce-v2", "none", False),
    ],
)
def test_a_proprietary_network_without_its_plugin_falls_back_to_sockets(
    technology: str, plugin: str, sockets: bool
) -> None:
    found = fabric(technology, more=f"collective_plugin: {plugin}")
    assert falls_back_to_sockets(found) is sockets
    assert (network_of(found).protocols == {"Simple"} and network_of(found).latency.value == 50e-6) is sockets
    assert not falls_back_to_sockets(replace(found, collective_plugin=None))


@pytest.mark.parametrize(
    ("nics", "rate", "share"),
    [(8, 400, 5.4 / 400), (32, 100, 5.4 / 400), (1, 400, 5.4 / 50), (1, 40, 1.0)],  # GB/s of a node
)
def test_sockets_carry_no_more_than_a_node_of_them_nor_than_its_nics(nics: int, rate: int, share: float) -> None:
    found = network_of(fabric("efa-v2", nics, rate, "collective_plugin: none"))
    assert found.share.value == pytest.approx(share)
    assert found.line == rate * 1e9 / 8
    assert found.overlapped


@pytest.mark.parametrize(
    ("rate", "share"),
    [(1, 0.94), (10, 0.94), (20, 0.74), (25, 0.6), (100, 0.6)],  # Gb/s; 1.85 of 2.5 GB/s are 0.74
)
def test_tcp_fills_lines_that_are_slower_than_the_copies_of_one_connection(rate: int, share: float) -> None:
    assert network_of(fabric("ethernet", 1, rate)).share.value == pytest.approx(share)


def test_staging_through_the_host_halves_the_share_where_the_network_could_do_without() -> None:
    for technology, halved in (("infiniband-ndr", 0.5), ("ethernet", 1.0)):
        direct, staged = (network_of(fabric(technology, more=f"gpudirect_rdma: {word}")) for word in ("true", "false"))
        assert staged.share.value == pytest.approx(halved * direct.share.value)


def test_a_technology_without_figures_has_the_assumed_ones() -> None:
    found = fabric()
    bare = network_of(replace(found, technology=replace(found.technology, achievable={}, protocols=())))
    assert (bare.share.value, bare.latency.value) == (0.9, 5e-6)
    assert isinstance(bare.share.origin, Assumed) and isinstance(bare.latency.origin, Assumed)
    assert bare.protocols == {"LL", "LL128", "Simple"}


def measured(collective: str, ranks: int, share: float, part: str = "ring", tier: str = "scale-up") -> MeasuredShare:
    return MeasuredShare(collective, tier, part, ranks, Figure(share, "1", MEASURED))


NEAR = [  # the measured shares, the collective on 8 ranks, and the share that counts (None: that of the catalog)
    ([], "all-gather", None),
    ([measured("all-gather", 8, 0.7)], "all-gather", 0.7),
    ([measured("all-reduce", 8, 0.6)], "all-gather", 0.6),  # rings alike
    ([measured("all-gather", 2, 0.7), measured("all-reduce", 8, 0.6)], "all-gather", 0.7),  # its own first
    ([measured("all-to-all", 8, 0.5), measured("all-reduce", 2, 0.6)], "all-gather", 0.6),
    ([measured("all-reduce", 4, 0.4), measured("all-reduce", 7, 0.7)], "all-reduce", 0.7),  # the nearest in ranks
    ([measured("all-reduce", 15, 0.5), measured("all-reduce", 4, 0.4)], "all-reduce", 0.5),  # 15/8 is nearer than 8/4
    ([measured("all-reduce", 8, 0.7, part="exchange")], "all-reduce", None),
    ([measured("all-reduce", 16, 0.7)], "all-reduce", 0.7),
    ([measured("all-reduce", 17, 0.7)], "all-reduce", None),  # beyond one node
    ([measured("all-reduce", 8, 0.7, tier="scale-out")], "all-reduce", None),
]


@pytest.mark.parametrize(("shares", "name", "want"), NEAR)
def test_the_nearest_measurement_replaces_the_share_of_a_ring(
    shares: list[MeasuredShare], name: str, want: float | None
) -> None:
    links = paths(nodes_of(H100, 1), 8)
    found = with_measured_shares(links, name, shares)
    assert found.inside.ring.value == (links.inside.ring.value if want is None else want)
    assert found.inside.line == links.inside.line and found.between is None


def test_a_pair_in_a_mesh_is_measured_apart_from_larger_groups() -> None:
    mesh = nodes_of("mi300x", 1, "roce-v2")
    for ranks, of, applies in ((2, 2, True), (2, 3, False), (3, 2, False), (3, 8, True)):
        links = paths(mesh, ranks)
        found = with_measured_shares(links, "all-reduce", [measured("all-reduce", of, 0.123)])
        assert (found.inside.ring.value == 0.123) is applies, (ranks, of)


def test_each_part_of_the_links_has_its_own_measurement() -> None:
    links = paths(nodes_of(H100, 2), 16)
    assert links.between is not None and links.inside.reduction is not None
    parts = {"ring": 0.61, "exchange": 0.62, "reduction": 0.63, "network": 0.64}
    shares = [measured("all-reduce", 16, share, part, "scale-out") for part, share in parts.items()]
    found = with_measured_shares(links, "all-reduce", shares)
    assert found.between is not None and found.inside.reduction is not None
    inside = found.inside
    assert [inside.ring.value, inside.exchange.value, found.inside.reduction.value] == [0.61, 0.62, 0.63]
    assert found.between.share.value == 0.64
    small = paths(nodes_of(H100, 1), 4)  # too few ranks to reduce in the switch
    assert small.inside.reduction is None
    assert (
        with_measured_shares(small, "all-reduce", [measured("all-reduce", 8, 0.63, "reduction")]).inside.reduction
        is None
    )


SPREADS = [
    (MEASURED, 1.76),  # 4 s × (0.3 + 0.2 × 4 / 10) + 6 s × 0.04
    (CITED, 2.06),  # 6 s × 0.09
    (ASSUMED, 2.72),  # 6 s × 0.2
]


@pytest.mark.parametrize(("origin", "spread"), SPREADS)
@pytest.mark.parametrize("part", ["ring", "reduction", "network"])
def test_the_range_follows_the_origin_of_the_share_that_limits_the_sending(
    part: str, origin: Origin, spread: float
) -> None:
    """10 s, of which 6 s are sending; the other shares have another origin."""
    others: Origin = MEASURED if origin == ASSUMED else ASSUMED
    links = paths(nodes_of(H100, 2), 16)
    assert links.between is not None

    def figure(name: str) -> Figure:
        return Figure(0.5, "1", origin if name == part else others)

    inside = replace(links.inside, ring=figure("ring"), reduction=figure("reduction"))
    links = replace(links, inside=inside, between=replace(links.between, share=figure("network")))
    algorithm, outside = ("nvls" if part == "reduction" else "ring"), (1.0 if part == "network" else 0.5)
    candidate = Candidate(algorithm, "Simple", 0.0, 1.0, outside, 0.0, 0.0)
    assert uncertainty_band(links, candidate, 6.0, 10.0, 1.0) == pytest.approx((10 - spread, 10 + spread))
    assert uncertainty_band(links, candidate, 6.0, 10.0, 9.5) == pytest.approx(
        (9.5, 10 + spread)
    )  # never below the wire
    assert uncertainty_band(links, candidate, 6.0, 10.0, 10.0) == pytest.approx((10.0, 10 + spread))


@pytest.mark.parametrize(
    ("name", "ranks", "want"),
    [
        ("all-reduce", 2, 1.0),
        ("all-reduce", 8, 1.75),
        ("all-gather", 8, 0.875),
        ("reduce-scatter", 8, 0.875),
        ("all-to-all", 8, 0.875),
        ("broadcast", 8, 1.0),
        ("send-recv", 8, 1.0),
    ],
)
def test_bus_bandwidth_counts_as_nccl_tests_does(name: str, ranks: int, want: float) -> None:
    assert bus_factor(name, ranks) == pytest.approx(want)


CEILINGS = [  # H100: 450 GB/s inside, 8 NICs of 50 GB/s on each node
    ("all-reduce", 1, 8, False, 450),
    ("all-reduce", 1, 8, True, 700),  # 2 × 7 / 9 × 450
    ("all-reduce", 1, 2, True, 450),  # 2 × 1 / 3 is no gain
    ("all-gather", 1, 8, True, 450),
    ("all-to-all", 1, 8, False, 450),
    ("send-recv", 1, 8, False, 450),
    ("broadcast", 1, 8, False, 450),
    ("send-recv", 2, 16, False, 50),  # one NIC
    ("broadcast", 2, 16, False, 400),
    ("all-to-all", 2, 16, False, 93.75),  # 50 × 15 / 8
    ("all-gather", 16, 128, False, 423.333),  # 400 × 127 / 128 over 15 / 16 of the data
    ("all-gather", 2, 16, False, 450),  # 400 × 15 / 16 over half the data are 750
    ("all-reduce", 16, 128, False, 423.333),
]


@each(("name", "nodes", "ranks", "reduces", "gigabytes"), CEILINGS)
def test_the_ceiling_is_the_line_rate_of_the_slower_tier(
    name: str, nodes: int, ranks: int, reduces: bool, gigabytes: float
) -> None:
    found = busbw_ceiling(name, paths(nodes_of(H100, nodes), ranks), reduces=reduces)
    assert found / 1e9 == pytest.approx(gigabytes, rel=1e-4)


@pytest.mark.parametrize(
    ("algorithm", "gigabytes"),
    [
        (None, 700),  # 2 × 7 / 9 × 450 in the domain, 2 × 127 / 128 × 400 in the network
        ("collnet", 450),  # no gain in the domain
        ("nvls-tree", 423.333),  # no gain in the network
        ("ring", 423.333),
    ],
)
def test_switches_count_in_the_ceiling_where_the_algorithm_reduces_in_them(
    algorithm: str | None, gigabytes: float
) -> None:
    sharp = nodes_of(H100, 16, more="in_network_reduction: true")
    found = busbw_ceiling("all-reduce", paths(sharp, 128), algorithm, reduces=True)
    assert found / 1e9 == pytest.approx(gigabytes, rel=1e-4)


@pytest.mark.parametrize(
    ("inside", "outside", "size", "bound"),
    [
        (1.0, 0.5, 10.0, "scale-up bandwidth"),
        (0.5, 1.0, 10.0, "scale-out bandwidth"),
        (1.0, 1.0, 10.0, "scale-out bandwidth"),
        (0.5, 1.0, 4.0, "scale-out bandwidth"),  # half of 8 s
        (0.5, 1.0, 3.9, "latency"),
    ],
)
def test_a_collective_is_bound_by_what_takes_half_its_time(
    inside: float, outside: float, size: float, bound: str
) -> None:
    """Sending overlaps with nothing: 4 s of launch, then 1 s a byte of the slower tier."""
    links = paths(nodes_of(H100, 2), 16)
    candidate = Candidate("ring", "Simple", 0.0, inside, outside, 0.0, 4.0)
    cost = CollectiveTiming("all-gather", links, (candidate,), 1e12, 0.5).cost(size)
    assert cost.seconds == pytest.approx(4 + size)
    assert cost.bound_by == bound
    assert cost.sending == pytest.approx(size)
    assert cost.device_seconds == pytest.approx(size)
    assert cost.algbw == pytest.approx(size / (4 + size)) and cost.busbw == pytest.approx(0.5 * cost.algbw)
    assert cost.uncertainty == pytest.approx((cost.high - cost.low) / 2 / cost.seconds)


def test_the_lowest_rate_of_a_row_is_that_of_its_slow_end() -> None:
    """100 GB/s in 1 s, and at worst 1.25 s."""
    row = CollectiveRow("all-reduce", 8, 1e9, 1.0, 0.9, 1.25, 50e9, 100e9, 450e9, "latency", "scale-up", "ring")
    assert row.lowest_busbw == 80e9
    assert replace(row, high=0.0).lowest_busbw == 100e9


@pytest.mark.parametrize(
    ("collective", "highest"), [("all-gather", 495e9), ("all-reduce", 770e9), ("broadcast", 495e9)]
)
def test_no_run_in_a_node_exceeds_its_links_by_more_than_a_tenth(collective: str, highest: float) -> None:
    """450 GB/s of NVLink; with reduction in switches 8 ranks send 9/8 of the data instead of 14/8: 700 GB/s."""
    node = cluster_of("cluster: {platform: dgx-h100, nodes: 4}")
    for one in (node, replace(node, scale_up=replace(node.scale_up, in_network_reduction=False))):
        assert largest_possible_busbw(one, collective, contiguous_placement(one, 8)) == pytest.approx(highest)
