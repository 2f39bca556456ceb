"""Environment variables of NCCL that a design implies, and the switches of a topology, counted by hand."""

from __future__ import annotations

from clusterspec.exchange.exporters.acceptance import environment_variables, unknown_variables
from clusterspec.exchange.exporters.schedulers import _leaf_groups, _tree_lines
from tests.effort import each
from tests.exchange.test_exporters import pod, source

BASE = "accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: {}"
OUT = "scale_out: {{technology: {}, nics_per_node: 8, nic_bandwidth: 400 Gb/s{}}}"
DEBUG = ["NCCL_DEBUG=INFO", "NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH"]


@each(
    ("technology", "more", "names"),
    [
        ("infiniband-ndr", "", ["NCCL_NET=IB"]),
        ("infiniband-ndr", ", load_balancing: adaptive", ["NCCL_NET=IB", "NCCL_IB_ADAPTIVE_ROUTING=1"]),
        ("infiniband-ndr", ", load_balancing: ecmp", ["NCCL_NET=IB"]),
        ("infiniband-ndr", ", in_network_reduction: true", ["NCCL_COLLNET_ENABLE=1", "NCCL_NET=IB"]),
        ("infiniband-ndr", ", gpudirect_rdma: false", ["NCCL_NET=IB", "NCCL_NET_GDR_LEVEL=LOC"]),
        ("infiniband-ndr", ", topology: rail-optimized", ["NCCL_NET=IB", "NCCL_CROSS_NIC=0"]),
        ("infiniband-ndr", ", topology: rail-only", ["NCCL_NET=IB", "NCCL_CROSS_NIC=0"]),
        ("roce-v2", "", ["NCCL_NET=IB"]),
        ("roce-v2", ", load_balancing: adaptive", ["NCCL_NET=IB", "NCCL_IB_ADAPTIVE_ROUTING=1"]),
        (
            "roce-v2",
            ", load_balancing: ecmp",
            ["NCCL_NET=IB", "NCCL_IB_QPS_PER_CONNECTION=4", "NCCL_IB_SPLIT_DATA_ON_QPS=1"],
        ),
        ("efa-v2", "", ["FI_PROVIDER=efa", "NCCL_NET=AWS Libfabric"]),
        ("gpudirect-tcpxo", ", collective_plugin: nccl-fastrak", ["NCCL_NET=FasTrak"]),
        ("gpudirect-tcpx", ", collective_plugin: nccl-tcpx", ["NCCL_NET=GPUDirectTCPX_v7"]),
        ("ethernet", "", []),
        ("ethernet", ", gpudirect_rdma: false", []),  # which could not do it anyway
    ],
)
def test_a_design_implies_the_variables_of_its_fabric(technology: str, more: str, names: list[str]) -> None:
    stated = more if "topology" in more else f", topology: fat-tree{more}"
    for nodes, wanted in ((4, names), (1, [])):
        cluster = source(f"{BASE.format(nodes)}, {OUT.format(technology, stated)}").cluster
        found = [f"{one.name}={one.value}" for one in environment_variables(cluster)]
        assert found == [*DEBUG, *wanted], nodes


def test_a_domain_whose_switches_could_reduce_says_where_they_do_not() -> None:
    for up, named in (("true", False), ("false", True)):
        cluster = source(f"{BASE.format(1)}, scale_up: {{in_network_reduction: {up}}}").cluster
        assert ("NCCL_NVLS_ENABLE" in {one.name for one in environment_variables(cluster)}) is named
    older = source("accelerator: a100-sxm-80gb, accelerators_per_node: 8, nodes: 1").cluster
    assert "NCCL_NVLS_ENABLE" not in {one.name for one in environment_variables(older)}


@each(
    ("technology", "more", "names"),
    [
        ("infiniband-ndr", "", ["NCCL_SOCKET_IFNAME", "NCCL_IB_HCA"]),
        ("roce-v2", "", ["NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_IB_GID_INDEX"]),
        (
            "roce-v2",
            ", flow_control: {pfc: true}",
            ["NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_IB_TC"],
        ),
        ("efa-v2", "", ["NCCL_SOCKET_IFNAME"]),
    ],
)
def test_variables_of_device_names_are_left_to_the_machine(technology: str, more: str, names: list[str]) -> None:
    for nodes, wanted in ((4, names), (1, [])):
        cluster = source(f"{BASE.format(nodes)}, {OUT.format(technology, more)}").cluster
        found = unknown_variables(cluster)
        assert [one.partition(":")[0] for one in found] == wanted, nodes
        assert all("8 NICs of the fabric" in one for one in found if one.startswith("NCCL_IB_HCA"))


def test_nodes_of_a_rail_leaf_are_a_block() -> None:
    """A switch of 64 ports of 400 Gb/s has 32 nodes below it; 40 nodes are blocks of 32 and of 8."""
    assert _leaf_groups(pod(40)) == ([(1, 32), (33, 40)], 1)
    assert _leaf_groups(pod(32)) == ([(1, 32)], 1)
    (block,) = [line for line in _tree_lines(pod(32)) if "- switch" in line]
    assert block == "      - switch: block0001"
    two = list(_tree_lines(pod(40)))
    assert two[4:6] == ["      - switch: fabric", "        children: block[0001-0002]"]
    assert [line for line in two if "- switch: block" in line] == [f"      - switch: block000{n}" for n in (1, 2)]
