from __future__ import annotations

import pytest

from clusterspec.cluster.degrees import nodes_of_rack, share_of_rack
from clusterspec.records import replace
from clusterspec.source import Cited, Written
from tests.cluster.resolving import assumed, catalog, clean, cluster_of, resolve_text


def test_a_platform_fills_every_key_that_the_spec_leaves_open() -> None:
    cluster = cluster_of("cluster: {platform: dgx-h100, nodes: 64}")
    assert cluster.accelerator.id == "h100-sxm-80gb"
    assert (cluster.accelerators, cluster.accelerators_per_node, cluster.ranks_per_accelerator) == (512, 8, 1)
    assert (cluster.scale_up.domain, cluster.scale_up.topology) == (8, "switched")
    assert cluster.scale_up.bandwidth.value == 450e9
    assert cluster.scale_up.peer_bandwidth.value == 450e9
    assert cluster.scale_out is not None
    assert (cluster.scale_out.technology.id, cluster.scale_out.nics_per_node) == ("infiniband-ndr", 8)
    assert cluster.scale_out.node_bandwidth == pytest.approx(400e9)
    assert (cluster.pcie_host, cluster.pcie_nic) == (5, 5)
    assert cluster.node_power is not None and cluster.node_power.value == 10_200


def test_a_total_without_nodes_is_one_node_where_such_nodes_are_sold() -> None:
    """Hosts of TPU v5e have 1, 4 or 8 chips; sixteen are whole hosts of the usual size."""
    found = {total: cluster_of(f"cluster: {{platform: tpu-v5e, accelerators: {total}}}") for total in (1, 4, 8, 16)}
    sizes = {total: (cluster.nodes, cluster.accelerators_per_node) for total, cluster in found.items()}
    assert sizes == {1: (1, 1), 4: (1, 4), 8: (1, 8), 16: (2, 8)}


def test_a_machine_without_a_size_has_the_nodes_of_its_job() -> None:
    text = "cluster: {platform: dgx-h100}\nworkload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}\n"
    design = clean(f"{text}layout: {{nodes: 4, tp: 1}}")
    assert design.cluster is not None and design.layout is not None
    assert (design.cluster.nodes, design.layout.ranks, assumed(design)["cluster.nodes"]) == (4, 32, 4)
    larger = clean(f"{text.replace('dgx-h100', 'dgx-h100, nodes: 8')}layout: {{nodes: 4, tp: 1}}")
    assert larger.cluster is not None and larger.cluster.nodes == 8
    assert "cluster.nodes" not in assumed(larger)


def test_written_values_have_precedence_and_keep_their_origin() -> None:
    cluster = cluster_of(
        """
cluster:
  platform: dgx-h100
  nodes: 2
  scale_up: {bandwidth: 800 GB/s duplex, domain: 4}
  scale_out: {nics_per_node: 4, nic_bandwidth: 200 Gb/s}
  power: {node: 9 kW}
"""
    )
    assert cluster.scale_up.bandwidth.value == 400e9
    assert cluster.scale_up.bandwidth.origin == Written("cluster.scale_up.bandwidth")
    assert cluster.scale_up.domain == 4
    assert cluster.scale_out is not None
    assert cluster.scale_out.nics_per_node == 4
    assert cluster.scale_out.nic_bandwidth.origin == Written("cluster.scale_out.nic_bandwidth")
    assert cluster.node_power is not None and cluster.node_power.origin == Written("cluster.power.node")


def test_catalog_figures_keep_their_source() -> None:
    cluster = cluster_of("cluster: {accelerator: h100-sxm-80gb, nodes: 1}")
    assert isinstance(cluster.scale_up.bandwidth.origin, Cited)
    assert cluster.accelerator.memory is not None and isinstance(cluster.accelerator.memory.origin, Cited)


def test_an_accelerator_like_another_keeps_what_is_not_changed() -> None:
    changed = cluster_of(
        """
cluster:
  nodes: 1
  accelerator: {like: h100-sxm-80gb, memory: 96 GB, memory_bandwidth: 2.4 TB/s, power: 500 W,
                peak: {bf16: 800 TFLOP/s dense, fp8: 3200 TFLOP/s sparse}}
"""
    ).accelerator
    entry = cluster_of("cluster: {accelerator: h100-sxm-80gb, nodes: 1}").accelerator
    assert changed.memory is not None
    assert changed.memory.value == 96e9
    assert changed.memory.origin == Written("cluster.accelerator.memory")
    assert changed.power is not None and changed.power.value == 500
    assert changed.peaks["bf16"].value == 800e12
    assert changed.peaks["fp8"].value == 1600e12
    assert changed.peaks["tf32"] == entry.peaks["tf32"]
    assert changed.scale_up_bandwidth == entry.scale_up_bandwidth


def test_a_mapping_without_like_changes_the_accelerator_of_the_platform() -> None:
    cluster = cluster_of("cluster: {platform: dgx-h100, nodes: 1, accelerator: {memory: 96 GB}}")
    assert cluster.accelerator.id == "h100-sxm-80gb"
    assert cluster.accelerator.memory is not None and cluster.accelerator.memory.value == 96e9


DOMAINS = [
    ("platform: dgx-h100, nodes: 4", 8, "an HGX board is a domain"),
    ("platform: gb200-nvl72, nodes: 36", 72, "a rack of eighteen trays"),
    ("platform: gb200-nvl72, nodes: 8", 32, "no more than there are"),
    ("accelerator: h100-sxm-80gb, accelerators_per_node: 4, nodes: 16", 4, "half a board, though eight are sold"),
    ("accelerator: h100-sxm-80gb, accelerators_per_node: 2, nodes: 1", 2, "a slice of a board"),
    ("accelerator: gb200, accelerators_per_node: 4, nodes: 64", 72, "rack-scale parts reach beyond the node"),
    ("accelerator: h100-pcie-80gb, accelerators_per_node: 8, nodes: 2", 2, "bridges join pairs"),
    ("accelerator: l40s, accelerators_per_node: 8, nodes: 2", 1, "nothing but PCIe"),
    ("platform: tpu-v5p, nodes: 16", 64, "a slice is what was asked for"),
    ("platform: dgx-h100, nodes: 2, scale_up: {domain: 16}", 16, "as written"),
    ("platform: tpu-v5p, nodes: 16, scale_up: {shape: [4, 4, 4]}", 64, "the product of the shape"),
]


@pytest.mark.parametrize(("keys", "domain", "why"), DOMAINS, ids=[why for *_, why in DOMAINS])
def test_the_domain_is_the_smaller_of_entry_and_cluster(keys: str, domain: int, why: str) -> None:
    assert cluster_of(f"cluster: {{{keys}}}").scale_up.domain == domain


def test_pcie_alone_is_as_fast_as_the_slower_of_slot_and_part() -> None:
    by_slot = {
        generation: cluster_of(
            f"cluster: {{accelerator: l40s, accelerators_per_node: 8, nodes: 1, pcie: {generation}}}"
        ).scale_up
        for generation in (3, 4, 5)
    }
    assert {scale_up.topology for scale_up in by_slot.values()} == {"pcie"}
    assert by_slot[4].bandwidth.value == pytest.approx(2 * by_slot[3].bandwidth.value, rel=0.01)
    assert by_slot[5].bandwidth == by_slot[4].bandwidth


def test_a_mesh_splits_its_bandwidth_over_its_peers_and_a_switch_does_not() -> None:
    mesh = cluster_of("cluster: {platform: mi300x-ubb8, nodes: 1}").scale_up
    assert (mesh.topology, mesh.bandwidth.value, mesh.peer_bandwidth.value) == ("full-mesh", 448e9, 64e9)
    switch = cluster_of("cluster: {platform: dgx-b200, nodes: 1}").scale_up
    assert switch.peer_bandwidth == switch.bandwidth


def test_a_scale_up_figure_without_a_direction_is_not_used() -> None:
    design, _ = resolve_text("cluster: {platform: dgx-h100, nodes: 1, scale_up: {bandwidth: 900 GB/s}}")
    assert design.cluster is not None
    assert isinstance(design.cluster.scale_up.bandwidth.origin, Cited)


def test_the_accelerator_has_precedence_over_its_interconnect() -> None:
    h800 = cluster_of("cluster: {accelerator: h800-sxm-80gb, nodes: 1, scale_up: {interconnect: nvlink-4}}")
    assert h800.scale_up.bandwidth.value == 200e9


def test_an_unstated_torus_shape_is_as_even_as_possible() -> None:
    design = clean("cluster: {platform: tpu-v5p, nodes: 2240}")
    assert design.cluster is not None and design.cluster.scale_up.shape in {(16, 20, 28), (28, 20, 16)}
    small = clean("cluster: {platform: tpu-v5p, nodes: 32}")
    assert small.cluster is not None and small.cluster.scale_up.shape == (4, 4, 8)
    assert assumed(small)["cluster.scale_up.shape"] == (4, 4, 8)


def test_ranks_per_accelerator_come_from_the_catalog() -> None:
    assert cluster_of("cluster: {platform: mi250x-4, nodes: 1}").ranks_per_node == 8
    assert cluster_of("cluster: {platform: aws-trn2-48xlarge, nodes: 1}").ranks_per_node == 64
    said = "cluster: {platform: aws-trn2-48xlarge, nodes: 1, ranks_per_accelerator: 8}"
    assert cluster_of(said).ranks_per_node == 128


def test_no_platform_of_the_catalog_leaves_a_key_open() -> None:
    from tests.cluster.resolving import catalog

    for platform in catalog().ids("platform"):
        cluster = cluster_of(f"cluster: {{platform: {platform}, nodes: 40}}")
        assert cluster.scale_out is not None, platform
        assert cluster.scale_up.bandwidth.value > 0, platform
        assert 0 < cluster.scale_up.peer_bandwidth.value <= cluster.scale_up.bandwidth.value, platform


def test_specs_of_one_machine_are_resolved_alike() -> None:
    """Also the second time, when the cluster is known: the same assumptions and the same problems."""
    machine = "cluster: {platform: dgx-h100, nodes: 12, accelerators_per_node: 8, scale_out: {switch: qm-none}}\n"
    work = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: %d}\n"
    one, found = resolve_text(machine + work % 96)
    other, again = resolve_text(machine + work % 192)
    assert found and found == again
    assert one.cluster == other.cluster
    assert one.assumptions == other.assumptions


def test_a_cluster_with_an_unreadable_key_is_incomplete() -> None:
    """Read, both sections lack `nodes`; only of the first one is it missing."""
    _, complete = resolve_text("cluster: {platform: dgx-h100}\n")
    assert [problem.path for problem in complete] == [("cluster", "nodes")]
    _, broken = resolve_text("cluster: {platform: dgx-h100, nodes: many}\n")
    assert ("cluster", "nodes") not in [problem.path for problem in broken if problem.rule == "missing-key"]


@pytest.mark.parametrize(
    ("written", "nodes"),
    [
        ("{accelerator: tpu-v5p, accelerators: 256}", 64),  # four chips a host
        ("{accelerator: tpu-v5e, accelerators_per_node: 8, accelerators: 256}", 32),
        ("{platform: dgx-h100, accelerators: 64}", 8),
        ("{platform: dgx-h100, nodes: 4, accelerators: 64}", 4),  # a stated number of nodes holds
    ],
)
def test_nodes_follow_from_the_accelerators(written: str, nodes: int) -> None:
    design, _ = resolve_text(f"cluster: {written}")
    assert design.cluster is not None and design.cluster.nodes == nodes
    assumed = [value for key, value, _ in design.assumptions if key == "cluster.nodes"]
    assert assumed == ([] if "nodes: 4" in written else [nodes])


@pytest.mark.parametrize(
    ("written", "per_node"),
    [
        ("{accelerator: a100-sxm-40gb, nodes: 560, accelerators: 2240}", 4),  # Polaris
        ("{accelerator: gh200-96gb, nodes: 2688, accelerators: 10752}", 4),  # Alps
        ("{accelerator: h100-sxm-80gb, nodes: 64, accelerators: 512}", 8),
        ("{accelerator: h100-sxm-80gb, nodes: 64, accelerators: 500}", 8),  # no whole number: the usual one
        ("{accelerator: h100-sxm-80gb, nodes: 4, accelerators: 4000}", 8),  # no server has a thousand
    ],
)
def test_the_accelerators_of_a_node_follow_from_both_counts(written: str, per_node: int) -> None:
    design, _ = resolve_text(f"cluster: {written}")
    assert design.cluster is not None and design.cluster.accelerators_per_node == per_node
    assert [value for key, value, _ in design.assumptions if key == "cluster.accelerators_per_node"] == [per_node]


@pytest.mark.parametrize(
    ("written", "size", "why"),
    [
        # slices of TPU v5e have hosts of 1, 4 or 8 chips, usually 8
        ("{platform: tpu-v5e, accelerators: 8}", (8, 1), ""),
        ("{platform: tpu-v5e, accelerators: 16}", (8, 2), ""),
        ("{platform: tpu-v5e, accelerators: 4}", (4, 1), "4 accelerators on 1 node"),
        ("{platform: tpu-v5e, accelerators: 1}", (1, 1), "1 accelerator on 1 node"),
        ("{platform: tpu-v5e, nodes: 2, accelerators: 8}", (4, 2), "8 accelerators on 2 nodes"),
        ("{platform: tpu-v5e, nodes: 2, accelerators: 16}", (8, 2), ""),
        ("{platform: tpu-v5e, nodes: 2, accelerators: 6}", (8, 2), ""),
        ("{accelerator: l40s, nodes: 2, accelerators: 6}", (8, 2), "the usual size of a node"),
        ("{accelerator: gb200, nodes: 2}", (4, 2), "a tray or host of a machine built of gb200 usually has 4"),
        (
            "{accelerator: tpu-v5p, accelerators: 8}",
            (4, 2),
            "a tray or host of a machine built of tpu-v5p usually has 4",
        ),
        ("{accelerator: h100-sxm-80gb, nodes: 2}", (8, 2), "a node of h100-sxm-80gb is usually one scale-up domain"),
    ],
)
def test_a_node_has_the_accelerators_of_its_platform_or_of_the_counts(
    written: str, size: tuple[int, int], why: str
) -> None:
    design, _ = resolve_text(f"cluster: {written}")
    assert design.cluster is not None
    assert (design.cluster.accelerators_per_node, design.cluster.nodes) == size
    assert [told for key, _, told in design.assumptions if key == "cluster.accelerators_per_node"] == (
        [why] if why else []
    )


def test_half_a_node_is_not_assumed() -> None:
    design, problems = resolve_text("cluster: {platform: dgx-h100, accelerators: 60}")
    assert design.cluster is None
    (missing,) = [problem for problem in problems if problem.rule == "missing-key"]
    assert missing.path == ("cluster", "nodes")
    assert "60 accelerators are not a whole number of nodes of 8" in missing.message


@pytest.mark.parametrize(
    ("name", "help_"),
    [
        ("v5p-512", "`accelerator: tpu-v5p` and `accelerators: 256`"),
        ("v4-4096", "`accelerator: tpu-v4` and `accelerators: 2048`"),
        ("v5litepod-256", "`accelerator: tpu-v5e` and `accelerators: 256`"),
        ("tpu-v6e-16", "`accelerator: tpu-v6e` and `accelerators: 16`"),
    ],
)
@pytest.mark.parametrize("key", ["accelerator", "platform"])
def test_the_name_of_a_slice_is_turned_into_chips(key: str, name: str, help_: str) -> None:
    _, problems = resolve_text(f"cluster: {{{key}: {name}, nodes: 1}}")
    (unknown,) = [problem for problem in problems if problem.rule == "unknown-catalog-id"]
    assert help_ in unknown.help and unknown.fix is None


@pytest.mark.parametrize(
    ("name", "help_", "fixed"),
    [("XE9780", "write `hgx-b200` or `hgx-b300`", False), ("Supermicro SYS-A21GE-NBRT", "write `hgx-b200`", True)],
)
def test_the_name_of_a_server_is_turned_into_its_board(name: str, help_: str, fixed: bool) -> None:
    _, problems = resolve_text(f"cluster: {{platform: {name}, nodes: 1}}")
    (unknown,) = [problem for problem in problems if problem.rule == "unknown-catalog-id"]
    assert unknown.help.startswith(help_) and (unknown.fix is not None) is fixed


def test_a_node_of_four_gh200_is_one_domain() -> None:
    alone, four = (
        cluster_of(f"cluster: {{accelerator: gh200-96gb, accelerators_per_node: {n}, nodes: 1}}") for n in (1, 4)
    )
    assert (alone.scale_up.domain, four.scale_up.domain) == (1, 4)
    assert four.scale_up.topology != "pcie"
    quad = cluster_of("cluster: {platform: gh200-quad, nodes: 2}").scale_up
    assert (quad.domain, quad.topology, quad.bandwidth.value, quad.peer_bandwidth.value) == (
        4,
        "full-mesh",
        450e9,
        150e9,
    )


@pytest.mark.parametrize(("domain", "nodes", "watts"), [(72, 18, 135_000 / 18), (8, 2, 67_500.0), (4, 1, None)])
def test_a_node_of_a_rack_that_is_sold_whole_has_its_share_of_the_power(
    domain: int, nodes: int, watts: float | None
) -> None:
    rack = replace(catalog().platform("gb300-nvl72"), domain=domain)
    assert (nodes_of_rack(rack), share_of_rack(rack)) == (nodes, watts)
    assert share_of_rack(replace(rack, rack_power=None)) is None and share_of_rack(None) is None
