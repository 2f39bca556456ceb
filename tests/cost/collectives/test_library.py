"""The constants of the collective library are those that NCCL publishes, in its own units: us, GB/s and KiB."""

from __future__ import annotations

import pytest

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cost.collectives import stack
from clusterspec.cost.collectives.paths import crosses_host_memory
from clusterspec.cost.collectives.predict import collective_cost, group_timing
from clusterspec.cost.collectives.stack import LL, LL128, SIMPLE, Protocol
from tests.cluster.resolving import resolve_text
from tests.cost.collectives.machines import H100, cluster, nodes_of

KIB = 1024
GIB = 1 << 30
PUBLISHED = [  # base latency and hops (NVLink, PCIe, network) of trees and of rings, posting, crossings, chunk
    (LL, 0.5, (6.8, 0.6, 1.0, 5.0), (6.6, 0.6, 1.0, 2.7), 2, 1, 0),
    (LL128, 0.92, (14, 1.25, 1.9, 14), (14, 1.9, 2.5, 14), 2, 1, 0.6 * 1024),
    (SIMPLE, 1.0, (8.4, 4.0, 4.0, 14), (8.4, 3.4, 5.7, 14), 6, 2, 2 * 512),  # two steps of half a megabyte
]


@pytest.mark.parametrize(
    ("protocol", "share", "tree", "ring", "posting", "crossings", "chunk"), PUBLISHED, ids=lambda one: str(one)[:8]
)
def test_a_protocol_has_the_latencies_that_the_library_tunes_with(
    protocol: Protocol,
    share: float,
    tree: tuple[float, ...],
    ring: tuple[float, ...],
    posting: float,
    crossings: int,
    chunk: float,
) -> None:
    micro = [1e6 * seconds for seconds in (protocol.tree, *protocol.tree_hops.values())]
    assert micro == pytest.approx(tree)
    assert [1e6 * seconds for seconds in (protocol.ring, *protocol.ring_hops.values())] == pytest.approx(ring)
    assert list(protocol.tree_hops) == list(protocol.ring_hops) == ["nvlink", "pci", "net"]
    assert (protocol.share, protocol.crossings) == (share, crossings)
    assert 1e6 * protocol.posting == pytest.approx(posting)
    assert protocol.chunk == pytest.approx(chunk * KIB)


def test_trees_and_switches_have_the_factors_of_the_library() -> None:
    assert stack.TREE_SHARE.value == 0.92
    assert stack.LOW_LATENCY_TREE.value == pytest.approx(1 / 3.8)
    assert stack.TREE_FLAGS_ALONE.value == pytest.approx(7 / 9)
    assert {count: figure.value / 1e9 for count, figure in stack.LOW_LATENCY_BETWEEN.items()} == {2: 22.5, 3: 19}
    assert 1e6 * stack.SWITCH_REDUCTION.value == pytest.approx(25)  # NCCL adds no base latency
    assert 1e6 * stack.SWITCH_TREE_HOP.value == pytest.approx(20.9)
    assert 1e6 * stack.FABRIC_REDUCTION.value == pytest.approx(31)
    assert stack.SWITCH_CHUNK == 128 * KIB


def test_fitted_figures_lie_in_the_range_of_their_reason() -> None:
    assert 0.91 <= stack.TREE_BETWEEN.value <= 0.97
    assert 250 / 274 <= stack.SWITCH_TREE.value <= 260 / 274  # two H100 nodes over one
    assert 16 <= stack.CHANNELS.value <= 32
    assert stack.TREE_CHUNK == 32 * KIB and stack.MESSAGE_CHUNK == 512 * KIB
    assert 2.0 <= stack.OWN_COPY.value <= 2.7
    assert 0.3 <= stack.SWITCH_STAGE.value <= 0.35
    alone = stack.LAUNCH_APART.value + 7 * stack.LAUNCH_PER_RANK.value
    assert 10e-6 <= alone <= 22e-6  # what published tests of one node take beyond the device
    assert 112 * stack.LAUNCH_PER_CALL.value + alone == pytest.approx(58e-6, rel=0.01)  # 7 sends and receives each
    assert stack.PER_MESSAGE.value == stack.TORUS_HOP.value == 1e-6
    assert stack.LAUNCH_PER_RANK.value == 2e-6


def test_a_process_for_each_rank_starts_the_ranks_of_a_node_sooner_than_one_for_all() -> None:
    """6 us and 2 for each further of eight ranks, against 6 us; over two nodes each rank has its own if nobody says."""
    alone, pair = nodes_of(H100, 1), nodes_of(H100, 2)

    def seconds(nodes: int, processes: str | None) -> float:
        machine, ranks = (alone, 8) if nodes == 1 else (pair, 16)
        group = contiguous_placement(machine, ranks)
        return collective_cost(machine, "all-reduce", group, 32 * KIB, processes=processes).seconds

    assert seconds(1, "node") - seconds(1, "rank") == pytest.approx(14e-6)
    assert seconds(1, None) == seconds(1, "node")
    assert seconds(2, "node") - seconds(2, "rank") == pytest.approx(14e-6)
    assert seconds(2, None) == seconds(2, "rank")


def test_one_process_starts_accelerators_of_amd_as_its_published_tests_did() -> None:
    """5.2 us for each of seven further MI350X, of rccl-tests -g 8."""
    machine = nodes_of("mi350x", 1, "roce-v2")
    group = contiguous_placement(machine, 8)
    node, rank = (collective_cost(machine, "all-reduce", group, 8, processes=one).seconds for one in ("node", "rank"))
    assert node - rank == pytest.approx(7 * 5.2e-6)


def test_two_ranks_in_one_node_start_no_later_than_on_two_nodes() -> None:
    """NVLink against InfiniBand for 8 bytes: the network adds its latency, a second rank of one process 2 us."""
    network = "scale_out: {technology: infiniband-ndr, nics_per_node: 1, nic_bandwidth: 400 Gb/s}"
    machines = nodes_of(H100, 1), cluster(f"accelerator: {H100}\naccelerators_per_node: 1\nnodes: 2\n{network}")
    near, apart = (collective_cost(one, "all-reduce", contiguous_placement(one, 2), 8).seconds for one in machines)
    assert near < apart


def test_a_mesh_of_mi300x_starts_as_its_published_test_was_started() -> None:
    """6 us for the launch, 6.6 before the first hop, two hops of 0.6, and 1.75 of 32 KiB at 0.703 of 448 GB/s."""
    machine = nodes_of("mi300x", 1, "roce-v2")
    cost = collective_cost(machine, "all-reduce", contiguous_placement(machine, 8), 32 * KIB)
    assert cost.algorithm == "direct"
    assert cost.seconds == pytest.approx(13.8e-6 + 1.75 * 32 * KIB / (0.703 * 448e9), rel=0.02)  # and the fill


def test_low_latency_between_nodes_is_limited_by_the_network_that_has_a_limit() -> None:
    """An all-reduce of NCCL's LL over two nodes: 22.5 GB/s of bus bandwidth, 5.6 on Slingshot by rendezvous."""
    for technology, more, limit in (("infiniband-ndr", "", 22.5e9), ("slingshot-11", "", 5.6e9)):
        machine = nodes_of(H100, 2, technology, rate=400 if technology == "infiniband-ndr" else 200, more=more)
        timing = group_timing(machine, "all-reduce", contiguous_placement(machine, 16), "ring")
        (low,) = (each for each in timing.candidates if each.protocol == "LL")
        assert low.between == pytest.approx(2 * 15 / 16 / limit)


@pytest.mark.parametrize(
    ("machine", "through"),
    [
        # the driver of an RTX 4090 blocks direct access, unless the spec states what its links reach; others allow it
        ("accelerator: rtx-4090", True),
        ("accelerator: rtx-4090, scale_up: {peer_bandwidth: 13 GB/s unidirectional}", False),
        # neither the line rate of the slots nor a domain of two is a path that the driver opens
        ("accelerator: rtx-4090, scale_up: {bandwidth: 31.5 GB/s unidirectional}", True),
        ("accelerator: rtx-4090, scale_up: {topology: pcie, domain: 2}", True),
        ("accelerator: l40s", False),
        ("accelerator: h100-pcie-80gb", False),
        ("accelerator: rtx-4090, scale_up: {topology: switched}", False),
    ],
)
def test_accelerators_that_cannot_reach_each_other_go_through_the_host(machine: str, through: bool) -> None:
    design, _ = resolve_text(f"cluster: {{{machine}, accelerators_per_node: 8, nodes: 1}}\n")
    assert design.cluster is not None and crosses_host_memory(design.cluster) == through


@pytest.mark.parametrize("domain", [1, 2])
def test_the_slowest_pair_limits_a_ring_over_pcie(domain: int) -> None:
    """Two cards gather 8 GiB, half of it each: 0.38 of 31.5 GB/s by way of the host, or a share of the stated pair."""
    seconds = {}
    for pair in ("", ", peer_bandwidth: 10 GB/s unidirectional", ", peer_bandwidth: 20 GB/s unidirectional"):
        up = f"scale_up: {{topology: pcie, domain: {domain}{pair}}}"
        machine = cluster(f"accelerator: rtx-4090\naccelerators_per_node: 2\nnodes: 1\n{up}")
        group = contiguous_placement(machine, 2)
        seconds[pair] = collective_cost(machine, "all-gather", group, 8 * GIB).seconds
    host, slow, fast = seconds.values()
    assert host == pytest.approx(4 * GIB / (0.38 * 31.5e9), rel=0.02)
    assert slow == pytest.approx(2 * fast, rel=0.01)
    assert 4 * GIB / slow == pytest.approx((0.76 if domain == 1 else 0.8) * 10e9, rel=0.02)


@pytest.mark.parametrize(("technology", "wait"), [("efa-v2", 15e-6), ("infiniband-ndr", 0.0)])
def test_large_messages_of_ll_wait_for_their_receivers_on_efa(technology: str, wait: float) -> None:
    """LL sends 4 KiB with their flags as 8 KiB, eagerly, on eight channels: from 32 KiB on a tree over two nodes waits
    on its way up and down, and a ring at each of its two crossings where each of 16 ranks sends as much.
    """
    machine = nodes_of(H100, 2, technology, nics=32 if wait else 8, rate=100 if wait else 400)
    group = contiguous_placement(machine, 16)
    for algorithm, eager in (("tree", 32 * KIB), ("ring", 16 * 32 * KIB)):
        timing = group_timing(machine, "all-reduce", group, algorithm)
        low, *others = sorted(timing.candidates, key=lambda each: each.protocol != "LL")
        assert low.protocol == "LL" and all(not other.late for other in others)
        assert low.latency_of(eager) - low.latency_of(eager - 1) == pytest.approx(2 * wait)
        assert low.device_seconds(eager) - low.device_seconds(eager - 1) == pytest.approx(2 * wait, abs=1e-9)


def test_a_process_for_each_rank_posts_its_own_part_of_an_exchange_alone() -> None:
    """6 us and 14 of 112 calls at 0.335 us, against 20 us and all: a floor of 58 us where one process posts for all."""
    machine = nodes_of(H100, 1)
    group = contiguous_placement(machine, 8)
    apart, alone = (
        collective_cost(machine, "all-to-all", group, 32 * KIB, processes=each).seconds for each in ("rank", "node")
    )
    own = stack.LAUNCH_APART.value + 14 * stack.LAUNCH_PER_CALL.value
    assert alone == pytest.approx(58e-6, rel=0.01)
    assert own < apart < 20e-6
