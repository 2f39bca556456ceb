from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from tests.cluster.resolving import clean
from tests.effort import examples

POD = "{platform: dgx-h100, nodes: %d, scale_out: {technology: infiniband-ndr, topology: rail-optimized%s}}"


def built(cluster: str) -> Fabric:
    design = clean(f"cluster: {cluster}")
    assert design.cluster is not None and design.spec.cluster is not None
    found = fabric_of_cluster(design.cluster, design.spec.cluster.scale_out)
    assert isinstance(found, Fabric)
    return found


def test_a_superpod_of_127_nodes_takes_a_module_for_each_cage_in_use() -> None:
    # 127 nodes × 4 twin-port OSFP cages = 508. 32 leaves × (1,016 / 32 = 31.75 down + 32 up): 24 with 64 ports in use
    # fill 32 cages and 8 with 63 ports too: 1,024. 16 spines × 64 ports / 2 = 512.
    modules = built(POD % (127, "")).modules
    assert (modules.node, modules.leaf, modules.spine, modules.core) == (508, 1024, 512, 0)
    assert modules.total == 2044
    assert modules.assumed == ()


def test_one_port_a_module_where_no_entry_states_cages() -> None:
    # 16 nodes × 8 NICs = 128 links; 4 leaves with 32 ports down and 32 up, 2 spines: 128 + 128 + 128 ends at switches.
    modules = built(
        "{accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 16, scale_out: {technology: roce-v2,"
        " nics_per_node: 8, nic_bandwidth: 400 Gb/s, topology: fat-tree, switch_ports: 64}}"
    ).modules
    assert (modules.node, modules.leaf, modules.spine) == (128, 256, 128)
    assert modules.assumed == ("node", "switch")


@pytest.mark.parametrize(
    ("types", "want"),
    [
        ("{node_leaf: aoc}", (0, 512, 512)),  # 32 leaves × 32 uplinks / 2, and 1,024 spine ports / 2
        ("{leaf_spine: dac}", (508, 512, 0)),  # 24 leaves × 32 down / 2 and 8 leaves × 31 down / 2, rounded up
        ("{node_leaf: aec, leaf_spine: dac}", (0, 0, 0)),
    ],
)
def test_cables_with_fixed_ends_take_no_module(types: str, want: tuple[int, int, int]) -> None:
    modules = built(POD % (127, f", cable_type: {types}")).modules
    assert (modules.node, modules.leaf, modules.spine) == want


def test_extra_endpoints_take_a_module_each() -> None:
    assert built(POD % (31, ", extra_endpoints: 4")).modules.node == 31 * 4 + 4


@settings(max_examples=examples(37), deadline=None)
@given(
    nodes=st.integers(2, 1500),
    topology=st.sampled_from(["rail-optimized", "fat-tree"]),
    ratio=st.sampled_from(["1:1", "2:1", "3:1", "1:2"]),
)
def test_modules_never_exceed_cages_and_two_modules_end_every_link(nodes: int, topology: str, ratio: str) -> None:
    found = built(
        f"{{platform: dgx-h100, nodes: {nodes}, scale_out: {{technology: infiniband-ndr, topology: {topology},"
        f" oversubscription: '{ratio}'}}}}"
    )
    if not found.fits:
        return
    assert found.modules.node == 4 * nodes
    assert found.modules.leaf <= 32 * found.leaf_switches
    assert found.modules.spine <= 32 * found.spine_switches
    assert found.modules.core <= 32 * found.core_switches
    ends = 2 * sum(found.links.values())
    assert 2 * found.transceivers >= ends  # a module holds two ends at the most
