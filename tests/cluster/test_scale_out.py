"""The fabric between nodes: NICs, rates, switches and what fills them."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.levels import counted_levels
from clusterspec.cluster.model import ScaleOut
from tests.cluster.resolving import assumed, clean, cluster_of, resolve_text

H100 = "accelerator: h100-sxm-80gb, nodes: 4"


def fabric(text: str, cluster: str = H100) -> ScaleOut:
    found = cluster_of(f"cluster: {{{cluster}, scale_out: {{{text}}}}}").scale_out
    assert found is not None
    return found


def keys(text: str, cluster: str = H100) -> dict[str, Any]:
    return assumed(clean(f"cluster: {{{cluster}, scale_out: {{{text}}}}}"))


def test_a_named_nic_supplies_its_rate_and_its_slot() -> None:
    """ConnectX-7 carries 400 Gb/s, which are 50 GB/s each way, and sits in a slot of generation 5."""
    found = cluster_of(f"cluster: {{{H100}, scale_out: {{technology: roce-v2, nic: connectx-7}}}}")
    assert found.scale_out is not None and found.scale_out.nic is not None
    assert (found.scale_out.nic.id, found.scale_out.nic_bandwidth.value) == ("connectx-7", 50e9)
    assert found.pcie_nic == 5
    assert "cluster.scale_out.nic_bandwidth" not in keys("technology: roce-v2, nic: connectx-7")


def test_written_rate_and_slot_have_precedence_over_those_of_the_nic() -> None:
    found = cluster_of(
        f"cluster: {{{H100}, pcie: {{host: 5, nic: 4}},"
        " scale_out: {technology: roce-v2, nic: connectx-7, nic_bandwidth: 200 Gb/s}}"
    )
    assert found.scale_out is not None
    assert (found.scale_out.nic_bandwidth.value, found.pcie_nic) == (25e9, 4)


def test_a_platform_names_its_nic() -> None:
    found = cluster_of("cluster: {platform: dgx-h100, nodes: 2}").scale_out
    assert found is not None and found.nic is not None and found.nic.id == "connectx-7"


@pytest.mark.parametrize(
    ("text", "cluster", "technology"),
    [
        ("switch: quantum-2-qm9700", H100, "infiniband-ndr"),
        ("switch: spectrum-4-sn5600", H100, "roce-v2"),
        ("nic: slingshot-cassini", H100, "slingshot-11"),
        ("nic: omni-path-100-hfa", H100, "omni-path-100"),
        ("switch: quantum-qm8700, nic_bandwidth: 200 Gb/s", "platform: mi300x-ubb8, nodes: 4", "infiniband-hdr"),
        ("flow_control: {pfc: true}", H100, "roce-v2"),
        ("subnet_manager: host, nic_bandwidth: 400 Gb/s", "accelerator: mi300x, nodes: 4", "infiniband-ndr"),
        ("flow_control: {pfc: true}, switch: quantum-2-qm9700", H100, "infiniband-ndr"),
    ],
)
def test_an_absent_technology_is_one_that_the_stated_parts_carry(text: str, cluster: str, technology: str) -> None:
    """If no technology suits all parts, the usual one stays, and the rules report what contradicts it."""
    assert fabric(text, cluster).technology.id == technology


def test_the_assumed_nodes_of_a_level_below_another_one_are_listed_and_its_switches_not_counted() -> None:
    """A block of unknown size has no number of switches; each lower level needs its own size."""
    levels = "levels: [{name: leaf}, {name: pod, nodes: 8}, {name: zone}, {name: hall}]"
    listed = keys(f"technology: roce-v2, {levels}")
    assert listed["cluster.scale_out.levels[0].nodes"] == 1
    assert listed["cluster.scale_out.levels[2].nodes"] == 8
    assert "cluster.scale_out.levels[3].nodes" not in listed
    machine = cluster_of(f"cluster: {{{H100}, scale_out: {{technology: roce-v2, {levels}}}}}")
    assert counted_levels(machine, 64) is None


@pytest.mark.parametrize(
    ("text", "cluster", "plugin"),
    [
        ("", "platform: aws-p5-48xlarge, nodes: 4", "aws-ofi-nccl"),
        ("", "platform: aws-trn2-48xlarge, nodes: 4", "neuron"),
        ("technology: slingshot-11", "accelerator: mi250x, nodes: 4", "aws-ofi-rccl"),
        ("technology: infiniband-ndr", H100, "built-in"),
        ("technology: infiniband-ndr, in_network_reduction: true", H100, "nccl-rdma-sharp"),
    ],
)
def test_the_assumed_plugin_serves_the_library_of_the_accelerator(text: str, cluster: str, plugin: str) -> None:
    assert fabric(text, cluster).collective_plugin == plugin


@pytest.mark.parametrize(("rate", "switch"), [(400, "spectrum-4-sn5600"), (200, "spectrum-4-sn5600"), (100, None)])
def test_the_usual_switch_is_assumed_only_for_a_rate_of_its_ports(rate: int, switch: str | None) -> None:
    """SN5600 splits into at most 256 ports: of 200 Gb/s, not 512 of 100."""
    found = fabric(f"technology: roce-v2, nic_bandwidth: {rate} Gb/s").switch
    assert (found.id if found else None) == switch


@pytest.mark.parametrize(("nodes", "tiers", "leaves", "spines"), [(1, 1, 1, 0), (32, 1, 4, 0), (33, 2, 16, 8)])
def test_levels_above_the_block_of_all_nodes_have_no_switches(nodes: int, tiers: int, leaves: int, spines: int) -> None:
    """Eight NICs a node and 64 ports: 32 nodes take all ports of four switches. 33 nodes need two blocks, each of
    (256 down + 256 up) / 64 = 8 switches; the level above takes 2 × 256 / 64 = 8.
    """
    levels = "levels: [{name: rack, nodes: 32}, {name: pod, nodes: 64, oversubscription: 4}, {name: hall, nodes: 512}]"
    machine = cluster_of(
        f"cluster: {{accelerator: h100-sxm-80gb, nodes: {nodes}, scale_out: {{nics_per_node: 8, {levels}}}}}"
    )
    counted = counted_levels(machine, 64)
    assert counted is not None
    assert (counted.tiers, counted.leaves, counted.spines) == (tiers, leaves, spines)


def test_an_unknown_nic_is_reported() -> None:
    _, problems = resolve_text(f"cluster: {{{H100}, scale_out: {{technology: roce-v2, nic: connectx-77}}}}")
    assert [(one.rule, one.path) for one in problems] == [("unknown-catalog-id", ("cluster", "scale_out", "nic"))]


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("technology: infiniband-ndr", 50e9),
        ("technology: infiniband-hdr", 25e9),
        ("technology: infiniband-ndr, nic_bandwidth: 200 Gb/s", 25e9),
        ("technology: infiniband-ndr, nic_bandwidth: 800 Gb/s duplex", 50e9),
    ],
)
def test_the_rate_is_as_written_else_that_of_the_technology(text: str, rate: float) -> None:
    assert fabric(text).nic_bandwidth.value == rate
    assert ("cluster.scale_out.nic_bandwidth" in keys(text)) == ("nic_bandwidth" not in text)


def test_a_node_has_as_many_nics_as_is_typical() -> None:
    assert fabric("technology: infiniband-ndr").nics_per_node == 8
    assert (
        fabric(
            "technology: infiniband-ndr", "accelerator: h100-sxm-80gb, accelerators_per_node: 4, nodes: 4"
        ).nics_per_node
        == 4
    )
    assert fabric("technology: infiniband-ndr, nics_per_node: 2").nics_per_node == 2


@pytest.mark.parametrize(
    ("platform", "chips", "rate"),
    [("tpu-v6e", 8, 100e9), ("tpu-v6e", 4, 50e9), ("tpu-v6e", 1, 25e9), ("tpu-v5e", 8, 25e9), ("tpu-v5e", 4, 12.5e9)],
)
def test_a_part_of_a_host_has_its_share_of_the_nics(platform: str, chips: int, rate: float) -> None:
    """A host of eight v6e has 4 x 200 Gb/s, one of eight v5e 2 x 100 Gb/s; a machine has one NIC at least."""
    fabric = cluster_of(f"cluster: {{platform: {platform}, accelerators_per_node: {chips}, nodes: 64}}").scale_out
    assert fabric is not None
    assert fabric.node_bandwidth == pytest.approx(rate)


def test_the_share_of_an_accelerator_follows_from_the_nics() -> None:
    """Eight NICs of 50 GB/s for eight accelerators; two levels of 2:1 and 3:1 leave a sixth."""
    text = f"cluster: {{{H100}, scale_out: {{technology: infiniband-ndr, oversubscription: [2:1, 3:1]}}}}"
    found = cluster_of(text)
    assert found.scale_out is not None
    assert (found.scale_out.node_bandwidth, found.nic_bandwidth_per_accelerator) == (400e9, 50e9)
    assert found.scale_out.taper == 6


def test_levels_without_a_name_are_leaf_spine_and_core_and_numbered_above() -> None:
    found = fabric(
        "technology: infiniband-ndr, levels: [{nodes: 4}, {nodes: 8}, {nodes: 16}, {nodes: 32}, {nodes: 64}]"
    )
    assert [level.name for level in found.levels] == ["leaf", "spine", "core", "level 4", "level 5"]


def test_levels_have_their_own_ratios() -> None:
    levels = "[{nodes: 16, oversubscription: 1:1}, {name: pod, nodes: 64, oversubscription: 7:1}]"
    found = fabric(f"technology: infiniband-ndr, levels: {levels}")
    assert [(level.name, level.nodes, level.oversubscription) for level in found.levels] == [
        ("leaf", 16, 1.0),
        ("pod", 64, 7.0),
    ]
    assert found.oversubscription == (1.0, 7.0)
    assert found.taper == 7


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("switch: quantum-2-qm9700", 64),  # 64 ports of 400 Gb/s
        ("switch: quantum-2-qm9700, nic_bandwidth: 200 Gb/s", 128),  # each split in two
        ("switch: quantum-2-qm9700, planes: 2", 128),  # half the rate in each plane
        ("switch: quantum-2-qm9700, switch_ports: 40", 40),
        ("switch_ports: 32", 32),
    ],
)
def test_the_radix_is_that_of_the_switch_at_the_rate_of_a_plane(text: str, ports: int) -> None:
    assert fabric(f"technology: infiniband-ndr, {text}").switch_ports == ports


def test_rails_follow_from_the_topology() -> None:
    assert fabric("technology: infiniband-ndr, topology: rail-optimized").rails == 8
    assert fabric("technology: infiniband-ndr, topology: rail-only, nics_per_node: 4").rails == 4
    assert fabric("technology: infiniband-ndr, topology: fat-tree").rails == 1
    assert fabric("technology: infiniband-ndr, topology: rail-optimized, rails: 2").rails == 2


def test_a_rail_has_as_many_tiers_as_its_stated_switches_need() -> None:
    rails = "technology: infiniband-ndr, topology: rail-only"
    assert fabric(rails).tiers is None
    assert fabric(f"{rails}, spine_switches: 32").tiers == 2
    assert fabric(f"{rails}, spine_switches: 32, core_switches: 16").tiers == 3
    assert fabric(f"{rails}, spine_switches: 32, tiers: 3").tiers == 3
    assert fabric("technology: infiniband-ndr, topology: fat-tree, spine_switches: 32").tiers is None
    assert keys(f"{rails}, spine_switches: 32")["cluster.scale_out.tiers"] == 2


def test_the_usual_switch_is_assumed_where_none_is_sized() -> None:
    assert keys("technology: infiniband-ndr")["cluster.scale_out.switch"] == "quantum-2-qm9700"
    assert "cluster.scale_out.switch" not in keys("technology: infiniband-ndr, switch_ports: 32")
    assert "cluster.scale_out.switch" not in keys("technology: efa-v2")  # rented


def test_written_keys_of_the_fabric_are_kept() -> None:
    found = fabric(
        "technology: roce-v2, nic_bandwidth: 400 Gb/s, sharing: shared, load_balancing: spray, extra_endpoints: 3,"
        " flow_control: {pfc: false, ecn: true}, in_network_reduction: true, gpudirect_rdma: false, tiers: 3,"
        " collective_library: nccl 2.27, pod_nodes: 2"
    )
    assert (found.sharing, found.load_balancing, found.extra_endpoints) == ("shared", "spray", 3)
    assert (found.pfc, found.ecn, found.in_network_reduction, found.gpudirect_rdma) == (False, True, True, False)
    assert (found.tiers, found.collective_library, found.pod_nodes) == (3, "nccl 2.27", 2)


def test_remote_memory_access_follows_from_the_technology() -> None:
    assert fabric("technology: infiniband-ndr").gpudirect_rdma is True
    assert fabric("technology: ethernet, nic_bandwidth: 100 Gb/s").gpudirect_rdma is False


def test_one_node_needs_no_fabric() -> None:
    assert cluster_of("cluster: {accelerator: h100-sxm-80gb, nodes: 1}").scale_out is None
    assert cluster_of("cluster: {platform: dgx-h100, nodes: 1}").scale_out is not None  # it comes with one


def test_a_fabric_that_nothing_names_is_reported_where_it_is_needed() -> None:
    _, problems = resolve_text("cluster: {accelerator: l40s, nodes: 2}")
    found = {(one.rule, one.path) for one in problems}
    assert found <= {
        ("missing-key", ("cluster", "scale_out", key)) for key in ("technology", "nic_bandwidth", "nics_per_node")
    }


def test_host_memory_is_kept() -> None:
    found = cluster_of(f"cluster: {{{H100}, host_memory: 2 TB}}").host_memory
    assert found is not None and found.value == 2e12
    assert cluster_of(f"cluster: {{{H100}}}").host_memory is None
