"""What particular machines do: topologies, sharing, switches that reduce, plugins, tapering."""

from __future__ import annotations

import pytest

from clusterspec.cluster.groups import axis_placement, contiguous_placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives import CollectiveCost, CollectiveUnavailableError
from clusterspec.cost.collectives.predict import collective_cost
from clusterspec.source import Assumed, Cited
from tests.cost.collectives.machines import A100, H100, cluster, nodes_of, resolved

GIB = 2.0**30


def timed(spec: Cluster, name: str, ranks: int, size: float = 8 * GIB, algorithm: str | None = None) -> CollectiveCost:
    return collective_cost(spec, name, contiguous_placement(spec, ranks), size, algorithm)


def gigabytes(cost: CollectiveCost) -> float:
    return cost.busbw / 1e9


@pytest.mark.parametrize(
    ("accelerator", "ranks", "least"),
    [
        (H100, 4, None),
        (H100, 5, "nvls"),
        (H100, 8, "nvls"),
        ("b200-sxm-180gb", 5, None),
        ("b200-sxm-180gb", 6, "nvls"),
    ],
)
def test_switches_reduce_only_above_a_group_size(accelerator: str, ranks: int, least: str | None) -> None:
    assert timed(nodes_of(accelerator, 1), "all-reduce", ranks).algorithm == (least or "ring")


@pytest.mark.parametrize("name", ["all-gather", "reduce-scatter"])
def test_switches_reduce_in_an_all_reduce_alone(name: str) -> None:
    assert timed(nodes_of(H100, 1), name, 8).algorithm == "ring"


def test_switches_that_may_not_reduce_do_not() -> None:
    spec = nodes_of(H100, 1, up="in_network_reduction: false")
    cost = timed(spec, "all-reduce", 8)
    assert cost.algorithm == "ring"
    assert cost.ceiling_busbw == pytest.approx(450e9)


@pytest.mark.parametrize(
    ("library", "nodes", "reduces"),
    [
        ("nccl 2.16", 1, False),
        ("nccl 2.17", 1, True),
        ("nccl 2.17.1", 1, True),
        ("nccl 2.17.1", 4, False),
        ("nccl v2.18", 4, True),
        ("rccl 2.1", 1, True),
    ],
)
def test_a_library_reduces_in_switches_from_a_release_on(library: str, nodes: int, reduces: bool) -> None:
    """NCCL reduces inside one domain from 2.17 on, and with a tree between domains from 2.18 on."""
    spec = nodes_of(H100, nodes, more=f"collective_library: {library}")
    assert timed(spec, "all-reduce", 8 * nodes, GIB).algorithm.startswith("nvls") is reduces


@pytest.mark.parametrize(
    ("library", "gigabytes_of_four"), [("nccl 2.26.2", 420), ("nccl 2.29", 420), ("nccl 2.30", 613)]
)
def test_racks_keep_five_sixths_of_the_rate_of_two_from_a_release_on(library: str, gigabytes_of_four: float) -> None:
    """NCCL expects 80 of 96 GB/s a channel since 2.30, and 43.8 before, where 20 racks measured 433 GB/s."""
    more = f"collective_library: {library}"
    two, four = (
        timed(nodes_of("gb200", 9 * racks, more=more, up="domain: 72"), "all-reduce", 72 * racks) for racks in (2, 4)
    )
    assert gigabytes(two) == pytest.approx(750, rel=0.01)
    assert gigabytes(four) == pytest.approx(gigabytes_of_four, rel=0.01)


def test_the_ceiling_counts_reduction_in_the_switch() -> None:
    assert timed(nodes_of(H100, 1), "all-reduce", 8).ceiling_busbw == pytest.approx(700e9)
    assert timed(nodes_of(H100, 1), "all-gather", 8).ceiling_busbw == pytest.approx(450e9)


def test_a_fraction_of_a_mesh_uses_a_fraction_of_its_links() -> None:
    spec = nodes_of("mi300x", 1, "roce-v2")
    two, four, eight = (timed(spec, "all-reduce", ranks) for ranks in (2, 4, 8))
    assert two.ceiling_busbw == pytest.approx(64e9)
    assert four.ceiling_busbw == pytest.approx(3 * 64e9)
    assert eight.ceiling_busbw == pytest.approx(7 * 64e9)
    assert 5.5 < eight.busbw / two.busbw < 7


def test_a_switch_serves_two_ranks_as_fast_as_eight() -> None:
    spec = nodes_of(A100, 1)
    assert timed(spec, "all-reduce", 2).busbw == pytest.approx(timed(spec, "all-reduce", 8).busbw, rel=0.02)


def test_an_all_gather_also_copies_the_own_part() -> None:
    """512 MiB on H100: 2, 4 and 8 ranks take 1,042, 1,268 and 1,400 us (nccl-tests, aiconfigurator)."""
    spec = nodes_of(H100, 1, up="in_network_reduction: false")
    micro = [1e6 * timed(spec, "all-gather", ranks, 2.0**29).device_seconds for ranks in (2, 4, 8)]
    assert micro == pytest.approx([1042, 1268, 1400], rel=0.1)


def test_one_process_posts_an_all_to_all_no_faster_than_its_calls() -> None:
    """One to four MiB take 58 to 59 us on one node of eight (nccl-tests issue 314); a training step does not wait."""
    costs = [timed(nodes_of(H100, 1), "all-to-all", 8, size) for size in (2.0**20, 2.0**21, 2.0**22, 2.0**28)]
    assert [1e6 * cost.seconds for cost in costs[:3]] == pytest.approx([58, 58, 58], rel=0.03)
    assert [1e6 * cost.device_seconds for cost in costs] == pytest.approx([16.2, 18.8, 26.3, 765], rel=0.25)


SMALL = [  # us of 1 KiB over 2, 4 and 8 ranks of one node (nccl-tests with a thread for each GPU, aiconfigurator)
    (A100, "all-reduce", (10.1, 13.9, 21.8)),
    (A100, "all-gather", (9.1, 10.8, 15.0)),
    (H100, "all-reduce", (6.4, 9.7, 15.6)),
    (H100, "all-gather", (5.5, 7.2, 10.5)),
    ("b200-sxm-180gb", "all-reduce", (9.3, 14.6, 24.9)),
    ("b200-sxm-180gb", "all-gather", (8.3, 10.7, 15.8)),
]


@pytest.mark.parametrize(("accelerator", "name", "micro"), SMALL)
def test_a_small_collective_takes_the_hops_of_its_links(accelerator: str, name: str, micro: tuple[float, ...]) -> None:
    spec = nodes_of(accelerator, 1)
    assert [1e6 * timed(spec, name, ranks, 1024.0).device_seconds for ranks in (2, 4, 8)] == pytest.approx(
        micro, rel=0.1
    )


def test_settings_of_a_network_leave_the_ring_alone() -> None:
    """NCCL_ALGO=Ring on A3 High: four nodes wait for six crossings of 874 us, a tree would wait for four."""
    spec = nodes_of(H100, 4, "gpudirect-tcpx", 4, 200)
    ring, tree = (timed(spec, "all-reduce", 32, 2.0**22, algorithm) for algorithm in (None, "tree"))
    assert ring.algorithm == "ring"
    assert 6 * 874e-6 < ring.seconds < 6.5e-3
    assert 4 * 874e-6 < tree.seconds < ring.seconds


def test_1440_ranks_of_20_racks_wait_for_the_reductions_of_each() -> None:
    """512 MiB and 16 GiB take 7.1 and 84.6 ms (CoreWeave, nccl-tests, NCCL 2.26.2); the first was 42 % too fast."""
    body = "accelerator: gb200\naccelerators_per_node: 4\nnodes: 360\nscale_up: {domain: 72}\n"
    fabric = "technology: infiniband-ndr, nics_per_node: 4, nic_bandwidth: 400 Gb/s, collective_library: nccl 2.26.2"
    spec = cluster(f"{body}scale_out: {{{fabric}}}")
    milli = [1e3 * timed(spec, "all-reduce", 1440, size).seconds for size in (2.0**29, 2.0**34)]
    assert milli[0] == pytest.approx(7.1, rel=0.15)
    assert milli[1] == pytest.approx(84.6, rel=0.02)


def test_eight_groups_in_parallel_share_the_nics() -> None:
    fabric = "{technology: infiniband-ndr, nics_per_node: 8, nic_bandwidth: 400 Gb/s}"
    body = f"accelerator: {H100}\naccelerators_per_node: 8\nnodes: 4\nscale_out: {fabric}"
    model = "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}\n"
    apart, layout = resolved(body, model + "layout: {tp: 8, micro_batch: 1}")
    together, other = resolved(body, model + "layout: {tp: 1, micro_batch: 1}")
    assert layout is not None and other is not None
    shared = collective_cost(apart, "all-reduce", axis_placement(apart, layout, "dp"), 8 * GIB)
    alone = collective_cost(together, "all-reduce", axis_placement(together, other, "dp"), 8 * GIB)
    assert shared.ceiling_busbw == pytest.approx(50e9)
    assert alone.seconds < shared.seconds / 4


def test_four_nics_carry_half_of_eight() -> None:
    half, whole = (timed(nodes_of(H100, 4, nics=nics), "all-reduce", 32) for nics in (4, 8))
    assert gigabytes(half) == pytest.approx(193, rel=0.05)
    assert half.busbw < 0.6 * whole.busbw


def test_a_tapered_level_slows_the_groups_that_cross_it() -> None:
    flat = nodes_of(H100, 64)
    tapered = nodes_of(H100, 64, more="pod_nodes: 16, oversubscription: 4:1")
    within, as_flat = timed(tapered, "all-reduce", 128), timed(flat, "all-reduce", 128)
    assert within.seconds == pytest.approx(as_flat.seconds)
    crossing, free = timed(tapered, "all-to-all", 512), timed(flat, "all-to-all", 512)
    assert crossing.seconds == pytest.approx(free.seconds * 4 * (512 - 128) / (512 - 8), rel=0.01)
    every_node = nodes_of(H100, 64, more="pod_nodes: 1, oversubscription: 4:1")
    crossing, free = timed(every_node, "all-reduce", 512), timed(flat, "all-reduce", 512)
    assert crossing.seconds > 3 * free.seconds
    assert crossing.ceiling_busbw < free.ceiling_busbw / 3.9


def test_tree_bus_bandwidth_of_two_nodes_exceeds_the_nic_rate() -> None:
    two, four = (timed(nodes_of(A100, nodes, "efa-v1", 4, 100), "all-reduce", 8 * nodes) for nodes in (2, 4))
    assert gigabytes(two) > 50
    assert gigabytes(four) < 50
    assert two.algorithm == "tree"


def test_a_rack_is_one_domain_whatever_its_trays() -> None:
    spec = cluster(
        """
        accelerator: gb200
        accelerators_per_node: 4
        nodes: 18
        scale_up: {domain: 72}
        scale_out: {technology: infiniband-ndr, nics_per_node: 4, nic_bandwidth: 400 Gb/s}
        """
    )
    cost = timed(spec, "all-reduce", 72)
    assert (cost.tier, cost.algorithm) == ("scale-up", "nvls")


def test_the_fabric_reduces_where_it_may() -> None:
    plain, sharp = (nodes_of(H100, 8, more=more) for more in ("", "in_network_reduction: true"))
    assert timed(plain, "all-reduce", 64).algorithm != "collnet"
    assert timed(sharp, "all-reduce", 64).algorithm == "collnet"
    assert timed(sharp, "all-reduce", 64).seconds < timed(plain, "all-reduce", 64).seconds
    assert timed(sharp, "all-gather", 64).algorithm == "ring"


def test_a_missing_plugin_leaves_sockets() -> None:
    plugins = (f"collective_plugin: {name}" for name in ("aws-ofi-nccl", "none"))
    right, none = (nodes_of(H100, 2, "efa-v2", 32, 100, plugin) for plugin in plugins)
    assert gigabytes(timed(none, "all-gather", 16)) < 6
    assert timed(right, "all-gather", 16).busbw > 20 * timed(none, "all-gather", 16).busbw


def test_staging_through_the_host_halves_the_nics() -> None:
    direct, staged = (nodes_of(H100, 4, more=f"gpudirect_rdma: {word}") for word in ("true", "false"))
    slower = timed(staged, "all-gather", 32).seconds / timed(direct, "all-gather", 32).seconds
    assert 1.7 < slower < 2.1


def test_a_slow_network_costs_its_latency_in_small_messages() -> None:
    fast, slow = (nodes_of(H100, 2, technology, 8, 200) for technology in ("infiniband-hdr", "gpudirect-tcpxo"))
    gap = timed(slow, "all-reduce", 16, 1024.0).seconds - timed(fast, "all-reduce", 16, 1024.0).seconds
    assert 60e-6 < gap < 120e-6


def test_all_to_all_between_nodes_runs_at_the_nic_of_each_rank() -> None:
    cost = timed(nodes_of("mi355x", 2, "roce-v2"), "all-to-all", 16)
    assert cost.ceiling_busbw == pytest.approx(50e9 * 15 / 8)
    assert cost.busbw == pytest.approx(86.7e9, rel=0.05)


def slice_of(shape: str, chips: int) -> Cluster:
    return cluster(f"accelerator: tpu-v5p\naccelerators_per_node: 4\nnodes: {chips // 4}\nscale_up: {{shape: {shape}}}")


def test_a_library_relays_over_other_ranks_from_a_release_on() -> None:
    """NCCL sends through NICs of other ranks (PXN) from 2.12 on: 64 ranks post 14 messages each instead of 56."""
    old, new = (nodes_of(H100, 8, more=f"collective_library: nccl {release}") for release in ("2.11.4", "2.12.7"))
    assert timed(new, "all-to-all", 64, 2.0**16, "staged").seconds < timed(old, "all-to-all", 64, 2.0**16).seconds
    for release, relays in (("2.11", False), ("2.12", True)):
        spec = nodes_of(H100, 8, more=f"collective_library: nccl {release}")
        assert (timed(spec, "all-to-all", 64, 2.0**16).algorithm == "staged") is relays, release
    with pytest.raises(CollectiveUnavailableError, match="staged"):
        timed(old, "all-to-all", 64, 2.0**16, "staged")


def test_where_no_switch_joins_the_rails_data_changes_rails_inside_the_node() -> None:
    apart, joined = (nodes_of(H100, 4, more=f"topology: {name}") for name in ("rail-only", "rail-optimized"))
    assert timed(apart, "all-to-all", 32, 1024.0).algorithm == "staged"
    assert timed(apart, "all-to-all", 32).seconds >= timed(joined, "all-to-all", 32).seconds
    with pytest.raises(CollectiveUnavailableError, match="direct"):
        timed(apart, "all-to-all", 32, 1024.0, "direct")


@pytest.mark.parametrize(("platform", "ranks"), [("aws-trn1-32xlarge", 32), ("aws-trn2-48xlarge", 64)])
def test_a_small_collective_on_neuron_takes_its_start_and_the_hops_of_the_torus(platform: str, ranks: int) -> None:
    """16 chips as 4 x 4: two hops along each axis, there and back; a compiled program launches no collective."""
    spec = cluster(f"platform: {platform}\nnodes: 1")
    small = timed(spec, "all-reduce", ranks, 1024.0)
    assert (small.algorithm, small.bound_by) == ("torus", "latency")
    assert small.seconds == pytest.approx(58e-6 + 2 * 4 * 1e-6, rel=0.01)


@pytest.mark.parametrize(("shape", "ranks", "axes"), [("[4, 4, 4]", 64, 6), ("[4, 4, 4]", 4, 2), ("[2, 2, 1]", 4, 2)])
def test_a_torus_sends_along_every_axis_of_the_group(shape: str, ranks: int, axes: int) -> None:
    cost = timed(slice_of(shape, 64 if shape.endswith("4]") else 4), "all-gather", ranks)
    assert cost.algorithm == "torus"
    assert cost.ceiling_busbw == pytest.approx(axes * 100e9)


def test_an_all_to_all_on_a_torus_costs_more_than_on_a_switch_as_the_torus_grows() -> None:
    slices = (("[4, 4, 4]", 64), ("[8, 8, 8]", 512))
    small, large = (timed(slice_of(shape, chips), "all-to-all", chips) for shape, chips in slices)
    assert large.busbw < small.busbw


def test_pcie_is_a_tier_of_its_own() -> None:
    spec = cluster("accelerator: l40s\naccelerators_per_node: 8\nnodes: 1\npcie: 4")
    cost = timed(spec, "all-reduce", 8)
    assert cost.tier == "host"
    assert gigabytes(cost) < 31.6


def test_bridged_pairs_meet_the_others_over_pcie() -> None:
    spec = cluster("accelerator: h100-pcie-80gb\naccelerators_per_node: 8\nnodes: 1\npcie: 5\nscale_up: {domain: 2}")
    pair, all_of_them = timed(spec, "all-reduce", 2), timed(spec, "all-reduce", 8)
    assert (pair.tier, all_of_them.tier) == ("scale-up", "host")
    assert pair.busbw > 3 * all_of_them.busbw


def test_a_send_crosses_on_the_nic_of_its_rank() -> None:
    spec = nodes_of(H100, 2)
    assert timed(spec, "send-recv", 16).ceiling_busbw == pytest.approx(50e9)
    assert timed(spec, "send-recv", 2).ceiling_busbw == pytest.approx(450e9)


def test_figures_without_a_catalog_entry_are_assumptions() -> None:
    known, unknown = nodes_of(H100, 1), nodes_of(H100, 1, up="interconnect: neuronlink-v3, topology: switched")
    paths = [timed(spec, "all-gather", 8).paths for spec in (known, unknown)]
    assert isinstance(paths[0] and paths[0].inside.ring.origin, Cited)
    assert isinstance(paths[1] and paths[1].inside.ring.origin, Assumed)
    wide, narrow = (timed(spec, "all-gather", 8) for spec in (unknown, known))
    assert (wide.high - wide.low) / wide.seconds > (narrow.high - narrow.low) / narrow.seconds


@pytest.mark.parametrize(
    ("name", "ranks", "nodes", "gigabytes_"),
    [
        ("all-reduce", 9, 2, 2 * 8 / 9 * 50),  # one NIC of 50 GB/s carries all of the data in and out
        ("all-gather", 9, 2, 2 * 8 / 9 * 50),
        ("all-reduce", 20, 3, 19 / 20 * 200 * 3 / 2),  # four NICs
        ("all-to-all", 9, 2, 50),  # 8 of 9 parts of one rank leave by its NIC
        ("all-to-all", 17, 3, 50),  # 16 of 17 parts of the last rank do, 8 × 9 of each full node by eight NICs
        ("all-to-all", 16, 2, 93.75),
    ],
)
def test_ranks_that_take_no_part_lend_no_nic(name: str, ranks: int, nodes: int, gigabytes_: float) -> None:
    cost = timed(nodes_of(H100, nodes), name, ranks)
    assert cost.ceiling_busbw == pytest.approx(min(450e9, gigabytes_ * 1e9))
    assert cost.busbw <= cost.ceiling_busbw


def test_the_narrowest_node_bounds_a_ring() -> None:
    """Of 8 + 1 ranks one has one NIC of 50 GB/s; 8 + 8 use eight each."""
    spec = nodes_of(H100, 2)
    assert 0.9 * 50 < gigabytes(timed(spec, "all-reduce", 9, algorithm="ring")) < 50
    assert gigabytes(timed(spec, "all-reduce", 16, algorithm="ring")) > 300


@pytest.mark.parametrize("name", ["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast"])
@pytest.mark.parametrize("ranks", [9, 10, 12, 15, 17, 23])
def test_a_fuller_last_node_never_lowers_the_rate_of_an_island(name: str, ranks: int) -> None:
    spec = nodes_of(H100, 3)
    least, full = (timed(spec, name, each).seconds for each in (ranks, -(-ranks // 8) * 8))
    assert full <= least * (2.2 if name == "all-to-all" else 1.05)


@pytest.mark.parametrize(
    ("algorithm", "nodes", "ceiling"),
    [
        ("ring", 1, 450),
        ("tree", 1, 450),
        ("nvls", 1, 700),  # 450 × 2 × 7 / 8 × 8 / 9
        (None, 1, 700),
        ("ring", 2, 450),
        ("hierarchical", 2, 450),
        ("nvls-tree", 2, 700),
    ],
)
def test_the_ceiling_of_an_algorithm_is_its_own(algorithm: str | None, nodes: int, ceiling: float) -> None:
    """NVLink of 450 GB/s, in switches that reduce: a ring does not use the reduction."""
    spec = nodes_of(H100, nodes, up="in_network_reduction: true")
    cost = timed(spec, "all-reduce", 8 * nodes, algorithm=algorithm)
    assert cost.ceiling_busbw / 1e9 == pytest.approx(ceiling, rel=0.1)
    assert (cost.ceiling_busbw > 451e9) is (ceiling > 450)
    assert cost.busbw <= cost.ceiling_busbw


def test_a_tree_between_switches_needs_several_domains() -> None:
    """src/graph/tuning.cc of NCCL disables NVLS Tree on one node."""
    assert timed(nodes_of(H100, 2), "all-reduce", 16, algorithm="nvls-tree").algorithm == "nvls-tree"
    assert timed(nodes_of(H100, 1), "all-reduce", 8, algorithm="nvls").algorithm == "nvls"
    with pytest.raises(CollectiveUnavailableError, match="nvls-tree"):
        timed(nodes_of(H100, 1), "all-reduce", 8, algorithm="nvls-tree")


@pytest.mark.parametrize(
    ("algorithm", "nodes", "runs"),
    [
        ("nvls-tree", 1, {"ring", "tree", "nvls"}),  # one domain of switches that reduce
        ("torus", 2, {"ring", "tree", "nvls", "nvls-tree", "hierarchical"}),
        ("collnet", 2, {"ring", "tree", "nvls", "nvls-tree", "hierarchical"}),  # no switch of the fabric reduces
    ],
)
def test_a_refused_algorithm_is_told_with_those_that_apply(algorithm: str, nodes: int, runs: set[str]) -> None:
    with pytest.raises(CollectiveUnavailableError) as refused:
        timed(nodes_of(H100, nodes, up="in_network_reduction: true"), "all-reduce", 8 * nodes, algorithm=algorithm)
    before, _, after = str(refused.value).partition("; it runs by ")
    assert before == f"all-reduce does not run by `{algorithm}` over these ranks"
    assert set(after.split(", ")) == runs
    for each in runs:
        assert timed(nodes_of(H100, nodes, up="in_network_reduction: true"), "all-reduce", 8 * nodes, algorithm=each)
