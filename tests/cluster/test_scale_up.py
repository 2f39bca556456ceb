"""The interconnect inside a domain: what each kind of accelerator has, worked out from vendors' figures."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.degrees import nodes_of_domain, nodes_of_rack
from clusterspec.cluster.model import ScaleUp
from tests.cluster.resolving import assumed, clean, cluster_of, resolve_text


def scale_up(cluster: str) -> ScaleUp:
    return cluster_of(f"cluster: {{{cluster}}}").scale_up


@pytest.mark.parametrize(
    ("cluster", "domain", "topology", "gigabytes", "peer"),
    [
        ("accelerator: h800-sxm-80gb, nodes: 2", 8, "switched", 200, 200),  # not the 450 of NVLink 4
        ("accelerator: h100-sxm-80gb, nodes: 1", 8, "switched", 450, 450),
        ("accelerator: h100-nvl-94gb, nodes: 1", 2, "bridge", 300, 300),
        ("accelerator: mi300x, nodes: 1", 8, "full-mesh", 448, 64),  # seven links of 64
        ("accelerator: gaudi3, nodes: 1", 8, "full-mesh", 525, 75),  # 21 ports of 25, three to each peer
        ("accelerator: tpu-v5p, nodes: 16", 64, "torus", 600, 100),  # six links of 100
        ("accelerator: trainium2, nodes: 1", 16, "torus", 512, 128),
    ],
)
def test_an_accelerator_has_its_own_domain(
    cluster: str, domain: int, topology: str, gigabytes: float, peer: float
) -> None:
    found = scale_up(cluster)
    assert (found.domain, found.topology) == (domain, topology)
    assert found.bandwidth.value == pytest.approx(gigabytes * 1e9)
    assert found.peer_bandwidth.value == pytest.approx(peer * 1e9)


@pytest.mark.parametrize(
    ("accelerator", "stated", "peer"),
    [
        ("mi300x, nodes: 1", 448, 64),
        ("mi300x, nodes: 1", 896, 128),  # seven links of 128
        ("mi300x, nodes: 1", 224, 32),
        ("gaudi3, nodes: 1", 1050, 150),  # 21 ports of 50, three to each peer
        ("tpu-v5p, nodes: 16", 1200, 200),  # six links of 200
        ("h100-sxm-80gb, nodes: 1", 900, 900),
        ("trainium2, nodes: 1", 1024, 256),
    ],
)
def test_links_between_two_accelerators_follow_a_stated_bandwidth(accelerator: str, stated: float, peer: float) -> None:
    found = scale_up(f"accelerator: {accelerator}, scale_up: {{bandwidth: {stated} GB/s unidirectional}}")
    assert found.bandwidth.value == pytest.approx(stated * 1e9)
    assert found.peer_bandwidth.value == pytest.approx(peer * 1e9)
    own = scale_up(f"accelerator: {accelerator}")
    assert [axis.value / stated for axis in found.axis_bandwidth] == pytest.approx(
        [axis.value / own.bandwidth.value * 1e9 for axis in own.axis_bandwidth]
    )


@pytest.mark.parametrize("accelerator", ["mi300x", "gaudi3"])
def test_links_of_their_own_are_not_changed_by_a_stated_bandwidth(accelerator: str) -> None:
    keys = "bandwidth: 900 GB/s unidirectional, peer_bandwidth: 60 GB/s unidirectional"
    assert scale_up(f"accelerator: {accelerator}, nodes: 1, scale_up: {{{keys}}}").peer_bandwidth.value == 60e9


def test_an_accelerator_without_links_has_its_slot() -> None:
    """PCIe 4 x16: 16 GT/s × 16 lanes × 128/130 / 8 bits = 31.5 GB/s each way, in a slot of generation 5 as well."""
    for slot in ("", ", pcie: 5"):
        found = scale_up(f"accelerator: l40s, nodes: 1{slot}")
        assert (found.domain, found.topology, found.in_network_reduction) == (1, "pcie", False)
        assert found.bandwidth.value == pytest.approx(16e9 * 16 * 128 / 130 / 8, rel=1e-3)
    older = scale_up("accelerator: l40s, nodes: 1, pcie: 3")
    assert older.bandwidth.value == pytest.approx(8e9 * 16 * 128 / 130 / 8, rel=1e-3)


def test_a_written_bandwidth_is_halved_if_duplex() -> None:
    for text in ("800 GB/s duplex", "400 GB/s unidirectional"):
        found = scale_up(f"accelerator: h100-sxm-80gb, nodes: 1, scale_up: {{bandwidth: {text}}}")
        assert found.bandwidth.value == found.peer_bandwidth.value == 400e9


def test_a_mesh_shares_its_bandwidth_among_peers() -> None:
    """Of an accelerator on the host bus whose links the spec states: 196 GB/s over seven peers are 28 each."""
    text = "accelerator: l40s, nodes: 1, scale_up: {topology: full-mesh, domain: 8, bandwidth: 392 GB/s duplex}"
    found = scale_up(text)
    assert (found.domain, found.topology) == (8, "full-mesh")
    assert found.peer_bandwidth.value == pytest.approx(28e9)
    assert scale_up(text.replace("domain: 8", "domain: 1")).peer_bandwidth.value == 196e9


@pytest.mark.parametrize(
    ("scale_up_text", "domain"),
    [("{domain: 4}", 4), ("{topology: torus, shape: [4, 4, 2]}", 32), ("{topology: torus, shape: [4], domain: 8}", 8)],
)
def test_a_domain_is_as_written_else_the_product_of_its_shape(scale_up_text: str, domain: int) -> None:
    assert scale_up(f"accelerator: tpu-v5p, nodes: 16, scale_up: {scale_up_text}").domain == domain


def test_a_domain_is_never_larger_than_the_cluster() -> None:
    assert scale_up("accelerator: tpu-v5p, nodes: 2").domain == 8
    assert scale_up("accelerator: h100-sxm-80gb, accelerators_per_node: 4, nodes: 2").domain == 4
    assert scale_up("platform: gb200-nvl72, nodes: 36").domain == 72


def test_a_slower_ratio_inside_a_domain_is_kept() -> None:
    assert scale_up("accelerator: h100-sxm-80gb, nodes: 1").oversubscription == 1
    assert scale_up("accelerator: h100-sxm-80gb, nodes: 1, scale_up: {oversubscription: 2:1}").oversubscription == 2


@pytest.mark.parametrize(
    ("cluster", "able"),
    [
        ("accelerator: h100-sxm-80gb, nodes: 1", True),
        ("accelerator: a100-sxm-80gb, nodes: 1", False),
        ("accelerator: h100-sxm-80gb, accelerators_per_node: 1, nodes: 2", False),
        ("accelerator: mi300x, nodes: 1", False),
        ("accelerator: h100-sxm-80gb, nodes: 1, scale_up: {in_network_reduction: false}", False),
    ],
)
def test_switches_reduce_where_the_entry_can(cluster: str, able: bool) -> None:
    assert scale_up(cluster).in_network_reduction is able


def test_the_shape_of_a_torus_is_as_even_as_possible() -> None:
    """64 chips with six links each are 4 × 4 × 4; the shape is listed where nothing gives it."""
    design = clean("cluster: {accelerator: tpu-v5p, nodes: 16}")
    assert design.cluster and design.cluster.scale_up.shape == (4, 4, 4)
    assert assumed(design)["cluster.scale_up.shape"] == (4, 4, 4)
    written = scale_up("accelerator: tpu-v5p, nodes: 16, scale_up: {shape: [2, 4, 8]}")
    assert written.shape == (2, 4, 8)


def test_torus_axes_may_differ_in_bandwidth() -> None:
    rates = "[128 GB/s unidirectional, 128 GB/s duplex]"
    found = scale_up(f"accelerator: trainium2, nodes: 1, scale_up: {{shape: [4, 4], axis_bandwidth: {rates}}}")
    assert [axis.value for axis in found.axis_bandwidth] == [128e9, 64e9]


def reported(cluster: str) -> list[tuple[str, Any]]:
    _, problems = resolve_text(f"cluster: {{{cluster}}}")
    return [(one.rule, one.path) for one in problems]


def test_a_scale_out_technology_is_no_interconnect() -> None:
    found = reported("accelerator: h100-sxm-80gb, nodes: 1, scale_up: {interconnect: infiniband-ndr}")
    assert found[0] == ("unknown-catalog-id", ("cluster", "scale_up", "interconnect"))


@pytest.mark.parametrize(
    ("stated", "found", "problems"),
    [
        ("", "nvlink-4", 0),
        (", scale_up: {interconnect: nvlink-4}", "nvlink-4", 0),
        (", scale_up: {interconnect: nvlink-3}", "nvlink-3", 0),
        (", scale_up: {interconnect: nvlink-44}", "nvlink-4", 1),  # unknown: that of the accelerator
        (", scale_up: {interconnect: infiniband-ndr}", "nvlink-4", 1),
    ],
)
def test_the_interconnect_is_the_stated_one_else_that_of_the_accelerator(
    stated: str, found: str, problems: int
) -> None:
    design, faults = resolve_text(f"cluster: {{accelerator: h100-sxm-80gb, nodes: 1{stated}}}")
    assert design.cluster is not None and design.cluster.scale_up.interconnect is not None
    assert design.cluster.scale_up.interconnect.id == found
    assert len([one for one in faults if one.rule == "unknown-catalog-id"]) == problems


@pytest.mark.parametrize(
    ("platform", "nodes", "of_rack", "of_domain"),
    [("gb200-nvl72", 18, 18, 18), ("gb200-nvl72", 36, 18, 18), ("dgx-h100", 4, 1, 1)],  # 18 trays of 4 accelerators
)
def test_a_rack_scale_machine_has_the_nodes_of_its_domain(
    platform: str, nodes: int, of_rack: int, of_domain: int
) -> None:
    cluster = cluster_of(f"cluster: {{platform: {platform}, nodes: {nodes}}}")
    assert cluster.platform is not None
    assert (nodes_of_rack(cluster.platform), nodes_of_domain(cluster)) == (of_rack, of_domain)
