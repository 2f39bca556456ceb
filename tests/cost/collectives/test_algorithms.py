"""Latency and seconds per byte of every algorithm on links of round figures, worked out by hand."""

from __future__ import annotations

from math import inf

import pytest

from clusterspec.cost.collectives import Between, Candidate, Inside, Paths, algorithms
from clusterspec.cost.collectives.stack import Algorithm
from clusterspec.quantity import Bandwidth, Figure
from clusterspec.records import replace
from clusterspec.source import Assumed

ORIGIN = Assumed("test", "a round figure")


def figure(value: float) -> Figure:
    return Figure(value, "1", ORIGIN)


def rate(value: float) -> Bandwidth:
    return Bandwidth.one_way(value, ORIGIN)


INSIDE = Inside(
    *("scale-up", "switched", 8, rate(400e9), rate(400e9), figure(0.75), figure(0.8), None, 4, None, None, "nvlink")
)
"""Eight ranks behind switches: rings reach 300 of 400 GB/s."""
BETWEEN = Between(
    "scale-out",
    islands=4,
    line=rate(100e9),
    exchange=rate(100e9),
    sender=rate(50e9),
    share=figure(0.5),
    latency=figure(1e-6),
    chunk_latency=figure(3e-6),
    switch_chunk=None,
    protocols=frozenset({"LL", "LL128", "Simple"}),
    algorithms=frozenset(),
    overlapped=False,
    reduces=False,
    relays=True,
    rails_apart=False,
)
"""Four islands, 50 GB/s each."""
ONE, FOUR = Paths(8, 1, INSIDE, None), Paths(32, 4, INSIDE, BETWEEN)
TWO = Paths(16, 2, INSIDE, replace(BETWEEN, islands=2))
MESH = replace(ONE, inside=replace(INSIDE, topology="full-mesh"))
TORUS = replace(INSIDE, topology="torus", reach=6.0)
MEBI = 2**20
APART = 6e-6
"""Launch of a process for each rank."""


def found(algorithm: Algorithm, paths: Paths, protocol: str = "Simple") -> Candidate:
    candidates: list[Candidate] = [*algorithm(paths)]
    return next(each for each in candidates if each.protocol == protocol)


def within(algorithm: Algorithm, paths: Paths, limits: dict[str, float]) -> Paths:
    return replace(paths, inside=replace(paths.inside, **{name: figure(value) for name, value in limits.items()}))  # type: ignore[arg-type]


RINGS = [  # algorithm, paths, protocol: latency in us, GB/s inside (0: bytes do not pass) and between per byte of size
    (algorithms.ring_all_reduce, ONE, "Simple", 8.4 + 14 * 3.4, 1.75 / 300, 0.0),
    (algorithms.ring_all_reduce, ONE, "LL128", 14 + 14 * 1.9, 1.75 / (300 * 0.92), 0.0),
    (algorithms.ring_all_reduce, ONE, "LL", 6.6 + 14 * 0.6, 1.75 / 150, 0.0),
    # 62 steps over 31 hops, of which 3 cross: 6 crossings of 14 + 2 * 3; the others at least 6 for posting
    (algorithms.ring_all_reduce, FOUR, "Simple", 8.4 + 56 * 6.0 + 6 * 20, 1.9375 / 300, 1.9375 / 50),
    (algorithms.ring_all_reduce, FOUR, "LL128", 14 + 56 * 2.0 + 6 * 17, 1.9375 / 276, 1.9375 / 46),
    # LL between more than two nodes reaches 19 GB/s at most, between two 22.5
    (algorithms.ring_all_reduce, FOUR, "LL", 6.6 + 56 * 2.0 + 6 * 3.7, 1.9375 / 19, 1.9375 / 19),
    (algorithms.ring_all_reduce, TWO, "LL", 6.6 + 28 * 2.0 + 2 * 3.7, 1.875 / 22.5, 1.875 / 22.5),
    # a gather copies the own eighth at 2.2 times the rate of the ring
    (algorithms.ring_gather, ONE, "Simple", 8.4 + 7 * 3.4, 0.875 / 300 + 0.125 / 660, 0.0),
    (algorithms.ring_gather, MESH, "Simple", 8.4 + 7 * 3.4, 0.875 / 300, 0.0),
    (algorithms.ring_gather, FOUR, "Simple", 8.4 + 28 * 6.0 + 3 * 20, 31 / 32 / 300 + 1 / 32 / 660, 31 / 32 / 50),
    (algorithms.ring_broadcast, ONE, "Simple", 8.4 + 7 * 3.4, 1 / 300, 0.0),
    (algorithms.ring_broadcast, FOUR, "Simple", 8.4 + 28 * 6.0 + 3 * 20, 1 / 300, 1 / 50),
    # a tree goes up and down 7 hops of its chain and log2 of the islands; chain bytes pass twice at 0.92 of the ring
    (algorithms.tree_all_reduce, ONE, "Simple", 8.4 + 14 * 4.0, 2 / 276, 0.0),
    (algorithms.tree_all_reduce, ONE, "LL128", 14 + 14 * 1.25, 2 / (276 * 7 / 9), 0.0),
    (algorithms.tree_all_reduce, ONE, "LL", 6.8 + 14 * 0.6, 2 / (276 / 3.8), 0.0),
    (algorithms.tree_all_reduce, FOUR, "Simple", 8.4 + 14 * 4.0 + 4 * 20, 2 / 276, 2 / (50 * 0.95)),
    (algorithms.tree_all_reduce, FOUR, "LL128", 14 + 14 * 1.25 + 4 * 17, 2 / (276 * 0.92), 2 / (50 * 0.95 * 0.92)),
    (algorithms.tree_all_reduce, FOUR, "LL", 6.8 + 14 * 0.6 + 4 * 6.0, 2 / 19, 2 / (50 * 0.95 * 0.5)),
    (algorithms.tree_all_reduce, TWO, "Simple", 8.4 + 14 * 4.0 + 2 * 20, 2 / 276, 1 / (50 * 0.95)),
    # two hops of a mesh for an all-reduce, one for a gather
    (algorithms.mesh_all_reduce, MESH, "LL", 6.6 + 2 * 0.6, 1.75 / 300, 0.0),
    (algorithms.mesh_gather, MESH, "LL", 6.6 + 0.6, 0.875 / 300, 0.0),
    # six hops of a torus each way
    (algorithms.torus_all_reduce, replace(ONE, inside=TORUS), "DMA", 8.4 + 12, 1.75 / 300, 0.0),
    # the start that the entry of the links states
    (
        algorithms.torus_all_reduce,
        replace(ONE, inside=replace(TORUS, start=figure(58e-6))),
        "DMA",
        58 + 12,
        1.75 / 300,
        0.0,
    ),
    (algorithms.torus_gather, replace(ONE, inside=TORUS), "DMA", 8.4 + 6, 0.875 / 300, 0.0),
    (algorithms.torus_broadcast, replace(ONE, inside=TORUS), "DMA", 8.4 + 6, 1 / 300, 0.0),
    (algorithms.torus_all_reduce, replace(FOUR, inside=TORUS), "DMA", 8.4 + 12 + 2 * 3 * 20, 1.75 / 300, 1.5 / 50),
    (algorithms.torus_gather, replace(FOUR, inside=TORUS), "DMA", 8.4 + 6 + 3 * 20, 0.875 / 300, 0.75 / 50),
    # inside, along the rails and inside again
    (algorithms.hierarchical_all_reduce, FOUR, "Simple", 8.4 + 14 * 3.4 + 6 * 20, 1.75 / 300, 1.5 / 50),
]


@pytest.mark.parametrize(("algorithm", "paths", "protocol", "latency", "inside", "between"), RINGS)
def test_latency_and_seconds_per_byte_are_those_worked_out_by_hand(
    algorithm: Algorithm, paths: Paths, protocol: str, latency: float, inside: float, between: float
) -> None:
    one = found(algorithm, paths, protocol)
    assert one.latency == pytest.approx(latency * 1e-6)
    assert one.inside == pytest.approx(inside * 1e-9)
    assert one.between == pytest.approx(between * 1e-9)
    several = paths.nodes > 1  # else one process drives the node, by 2 us for each further rank
    assert one.launch == pytest.approx(APART if several else APART + 7 * 2e-6)


NVLS = replace(INSIDE, reduction=figure(0.9))
"""The switches reduce at 360 GB/s, of which 9/8 bytes pass."""


def test_reduction_in_switches_has_the_rates_and_the_pieces_worked_out_by_hand() -> None:
    assert [*algorithms.switch_all_reduce(ONE)] == []
    one = found(algorithms.switch_all_reduce, replace(ONE, inside=NVLS))
    assert (one.algorithm, one.latency, one.between) == ("nvls", 25e-6, 0.0)
    assert one.inside == pytest.approx(1.125 / 360e9)
    assert one.held == pytest.approx(8 * 4 * 128 * 1024 * 1.125 / 360e9)
    four = found(algorithms.switch_all_reduce, replace(FOUR, inside=NVLS))
    assert four.algorithm == "nvls-tree" and four.latency == pytest.approx(25e-6 + 4 * (20.9e-6 + 2 * 3e-6))
    assert four.inside == pytest.approx(1.125 / (360e9 * 0.92))
    assert four.between == pytest.approx(2 / (50e9 * 0.95))
    assert four.held == pytest.approx(8 * 4 * 128 * 1024 * 2 / (50e9 * 0.95))
    assert four.stages == pytest.approx(1 + 4 / 3)
    limited = replace(FOUR, inside=replace(NVLS, ring_between=figure(200e9)))
    assert found(algorithms.switch_all_reduce, limited).inside == pytest.approx(1 / 100e9)
    two = replace(TWO, inside=replace(NVLS, ring_between=figure(200e9)))  # two islands have no such limit
    assert found(algorithms.switch_all_reduce, two).inside == pytest.approx(1.125 / (360e9 * 0.92))
    chunk = replace(FOUR, inside=NVLS, between=replace(BETWEEN, switch_chunk=figure(1000.0)))
    assert found(algorithms.switch_all_reduce, chunk).held == pytest.approx(32 * 1000 * 2 / (50e9 * 0.95))


def test_recent_libraries_keep_a_share_of_the_rate_over_two_islands_over_more() -> None:
    inside = replace(NVLS, ring_between=figure(200e9), reduction_between=figure(0.8))
    two, four = (found(algorithms.switch_all_reduce, replace(each, inside=inside)) for each in (TWO, FOUR))
    assert two.inside == pytest.approx(1.125 / 331.2e9)
    assert four.inside == pytest.approx(1.125 / (0.8 * 331.2e9))


def test_reduction_in_the_fabric_sends_every_byte_once() -> None:
    assert [*algorithms.fabric_all_reduce(FOUR)] == [*algorithms.fabric_all_reduce(ONE)] == []
    reducing = replace(FOUR, between=replace(BETWEEN, reduces=True))
    chain = found(algorithms.fabric_all_reduce, reducing)
    assert chain.latency == pytest.approx(8.4e-6 + 31e-6 + 2e-6 + 14 * 4e-6)
    assert (chain.inside, chain.between) == pytest.approx((2 / 276e9, 1 / 50e9))
    switched = found(algorithms.fabric_all_reduce, replace(reducing, inside=NVLS))
    assert switched.latency == pytest.approx(8.4e-6 + 31e-6 + 2e-6)
    assert (switched.inside, switched.between) == pytest.approx((1.125 / 360e9, 1 / 50e9))
    assert switched.held == pytest.approx(32 * MEBI / 50e9)


def test_algorithms_apply_to_their_topologies_alone() -> None:
    torus, pair = replace(ONE, inside=TORUS), replace(MESH, ranks=2, inside=replace(MESH.inside, ranks=2))
    for none in (
        algorithms.ring_all_reduce,
        algorithms.ring_gather,
        algorithms.ring_broadcast,
        algorithms.tree_all_reduce,
    ):
        assert [*none(torus)] == [] and len([*none(ONE)]) == 3
    for mesh in (algorithms.mesh_all_reduce, algorithms.mesh_gather):
        assert [*mesh(ONE)] == [*mesh(pair)] == [*mesh(replace(FOUR, inside=MESH.inside))] == []
        assert len([*mesh(replace(pair, ranks=3))]) == 1
    for each in (algorithms.torus_all_reduce, algorithms.torus_gather, algorithms.torus_broadcast):
        assert [*each(ONE)] == []
    assert [*algorithms.hierarchical_all_reduce(ONE)] == []
    # where switches of a domain beyond a node reduce, trees are left to LL
    domain = replace(FOUR, ranks=288, inside=replace(NVLS, ranks=72))
    assert [each.protocol for each in algorithms.tree_all_reduce(domain)] == ["LL"]
    for other in (replace(domain, between=None), replace(domain, inside=NVLS), replace(FOUR, inside=INSIDE)):
        assert len([*algorithms.tree_all_reduce(other)]) == 3
    cards = replace(ONE, inside=replace(INSIDE, hops="pci"))
    assert [each.protocol for each in algorithms.ring_all_reduce(cards)] == ["LL", "Simple"]


def test_rings_and_trees_over_more_than_two_islands_have_the_limits_of_their_channels() -> None:
    limits = {"ring_between": 40e9, "tree": 30e9}
    ring, tree = (within(each, FOUR, limits) for each in (algorithms.ring_all_reduce, algorithms.tree_all_reduce))
    assert found(algorithms.ring_all_reduce, ring).inside == pytest.approx(1.9375 / 40e9)
    assert found(algorithms.ring_all_reduce, ring).between == pytest.approx(1.9375 / 40e9)
    assert found(algorithms.tree_all_reduce, tree).inside == pytest.approx(2 / 30e9)
    pair = within(algorithms.ring_all_reduce, TWO, limits)
    assert found(algorithms.ring_all_reduce, pair).inside == pytest.approx(1.875 / 300e9)
    assert found(algorithms.tree_all_reduce, pair).inside == pytest.approx(2 / 276e9)


@pytest.mark.parametrize(
    ("topology", "paths", "share", "reached"),
    [  # eight open chains fit a mesh where rings close outside: 8/7, up to 0.977 of the links
        ("full-mesh", FOUR, 0.75, 0.75 * 8 / 7),
        ("full-mesh", FOUR, 0.9, 0.977),
        ("full-mesh", FOUR, 0.99, 0.99),
        ("full-mesh", ONE, 0.9, 0.9),
        ("switched", FOUR, 0.9, 0.9),
    ],
)
def test_rings_across_nodes_gain_on_a_mesh(topology: str, paths: Paths, share: float, reached: float) -> None:
    inside = replace(INSIDE, topology=topology, ring=figure(share))
    one = found(algorithms.ring_broadcast, replace(paths, inside=inside))
    assert one.inside == pytest.approx(1 / (400e9 * reached))


def test_full_pipelines_hold_a_chunk_of_each_channel() -> None:
    """32 channels: rings of gathers as many chunks as measured, others one, of the slower tier; trees 32 KiB a hop."""
    held = replace(ONE, inside=replace(INSIDE, held=figure(3.0)))
    assert found(algorithms.ring_all_reduce, held).held == pytest.approx(32 * MEBI / 300e9)
    assert found(algorithms.ring_gather, held).held == pytest.approx(3 * 32 * MEBI / 300e9)
    assert found(algorithms.ring_gather, ONE).held == 0.0
    assert found(algorithms.ring_all_reduce, held, "LL128").held == pytest.approx(3 * 32 * 0.6 * MEBI / 276e9)
    across = replace(FOUR, inside=held.inside)
    assert found(algorithms.ring_all_reduce, across).held == pytest.approx(32 * MEBI / 50e9)
    assert found(algorithms.ring_all_reduce, across, "LL128").held == pytest.approx(32 * 0.6 * MEBI / 46e9)
    assert found(algorithms.ring_all_reduce, across, "LL").held == 0.0
    assert found(algorithms.tree_all_reduce, ONE).held == pytest.approx(32 * MEBI / 14 * 2 / 276e9)
    assert found(algorithms.tree_all_reduce, FOUR).held == pytest.approx(32 * 32 * 1024 * 2 / 47.5e9)
    assert found(algorithms.tree_all_reduce, FOUR, "LL").held == 0.0
    assert (found(algorithms.tree_all_reduce, ONE).stages, found(algorithms.tree_all_reduce, FOUR).stages) == (14, 18)
    assert found(algorithms.hierarchical_all_reduce, FOUR).held == pytest.approx(32 * MEBI / 50e9)
    assert found(algorithms.mesh_gather, MESH, "LL").held == pytest.approx(32 * MEBI / 300e9)
    assert inf > found(algorithms.torus_gather, replace(ONE, inside=TORUS), "DMA").held == 0.0


def test_latency_overlaps_where_cpu_threads_move_the_data() -> None:
    threads = replace(FOUR, between=replace(BETWEEN, overlapped=True))
    for algorithm in (algorithms.ring_all_reduce, algorithms.tree_all_reduce):
        assert found(algorithm, threads).overlapped
        assert not found(algorithm, FOUR).overlapped and not found(algorithm, ONE).overlapped


def test_networks_have_trees_and_rings_of_their_own_over_more_than_two_islands() -> None:
    own = replace(BETWEEN, tree=figure(0.5), overlaps_rings=True)
    more, two = replace(FOUR, between=own), replace(TWO, between=replace(own, islands=2))
    usual = found(algorithms.tree_all_reduce, FOUR).between
    assert found(algorithms.tree_all_reduce, more).between == pytest.approx(usual * 0.95 / 0.5)
    assert found(algorithms.tree_all_reduce, two).between == found(algorithms.tree_all_reduce, TWO).between
    overlapped = [
        (paths.islands, protocol)
        for paths in (more, two)
        for protocol in ("LL", "LL128", "Simple")
        if found(algorithms.ring_all_reduce, paths, protocol).overlapped
    ]
    assert overlapped == [(4, "Simple")]
    assert not found(algorithms.tree_all_reduce, more).overlapped


def test_short_parts_of_an_all_to_all_go_by_lines_and_longer_ones_by_chunks() -> None:
    """Four islands: 6.6 + 2.7 + 1 us by LL and 8.4 + 14 + 2 x 3 by chunks, and 24 messages of 1 us; up to 16 KiB to a
    rank, half of the rates. One island: 6.6 + 0.6 and 8.4 + 3.4 us."""
    lines, chunks = (found(algorithms.direct_all_to_all, FOUR, name) for name in ("LL", "Simple"))
    assert (lines.latency, chunks.latency) == pytest.approx((34.3e-6, 52.4e-6))
    assert (lines.inside, lines.between) == pytest.approx((2 * chunks.inside, 2 * chunks.between))
    assert (lines.eager, lines.late) == pytest.approx((32 * 16384, 18.1e-6))
    assert lines.device_seconds(2.0**16) < chunks.device_seconds(2.0**16)
    assert lines.device_seconds(2.0**19) > chunks.device_seconds(2.0**19)
    alone = [found(algorithms.direct_all_to_all, ONE, name).latency for name in ("LL", "Simple")]
    assert alone == pytest.approx([7.2e-6, 11.8e-6])
    without = replace(FOUR, between=replace(BETWEEN, protocols=frozenset({"Simple"})))
    assert [one.protocol for one in algorithms.direct_all_to_all(without)] == ["Simple"]


@pytest.mark.parametrize("ranks", [1, 8])
def test_ranks_of_islands_whose_rails_are_apart_reach_each_other_along_a_rail_only(ranks: int) -> None:
    """One rank of each island forms a rail, so that all of them send directly; eight ranks have to relay."""
    apart = Paths(4 * ranks, 4, replace(INSIDE, ranks=ranks), replace(BETWEEN, rails_apart=True))
    kinds = [bool([*each(apart)]) for each in (algorithms.direct_all_to_all, algorithms.staged_all_to_all)]
    assert kinds == ([True, False] if ranks == 1 else [False, True])
    assert not [*algorithms.staged_all_to_all(replace(FOUR, between=replace(BETWEEN, relays=False)))]
