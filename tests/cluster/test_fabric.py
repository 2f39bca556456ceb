from __future__ import annotations

import csv
from dataclasses import replace
from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterspec.cluster.fabric import Fabric, NoFabric, fabric_of_cluster
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.planes import OrderedParts, counted_plane, fabric_levels
from tests.cluster.resolving import clean, cluster_of
from tests.effort import each, examples

# Published reference designs: nodes, NICs of a node, ports at the rate of a plane, planes, and the switches and links
# per plane summed (leaf, spine, core, leaf to spine, spine to core; None where the source counts cables of two links).
H100 = "https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100/latest/network-fabrics.html"
B200 = "https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-b200/latest/dgx-superpod-architecture.html"
SPX = "https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300/latest/dgx-superpod-architecture.html"
XDR = "https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300-xdr/latest/dgx-superpod-architecture.html"
PUBLISHED = [
    (H100, 31, 64, 1, (8, 4, 0, 256, 0)),
    (H100, 63, 64, 1, (16, 8, 0, 512, 0)),
    (H100, 95, 64, 1, (24, 16, 0, 768, 0)),
    (H100, 127, 64, 1, (32, 16, 0, 1024, 0)),
    (B200, 64, 64, 1, (16, 8, 0, 512, 0)),
    (B200, 128, 64, 1, (32, 16, 0, 1024, 0)),
    (B200, 256, 64, 1, (64, 32, 0, 2048, 0)),
    (B200, 512, 64, 1, (128, 128, 64, 4096, 4096)),
    (B200, 1024, 64, 1, (256, 256, 128, 8192, 8192)),
    (B200, 2048, 64, 1, (512, 512, 256, 16384, 16384)),
    (SPX, 64, 128, 2, (16, 8, 0, None, 0)),
    (SPX, 128, 128, 2, (32, 16, 0, None, 0)),
    (SPX, 256, 128, 2, (64, 32, 0, None, 0)),
    (SPX, 512, 128, 2, (128, 64, 0, None, 0)),
    (SPX, 1024, 128, 2, (256, 128, 0, None, 0)),
    (XDR, 72, 144, 1, (8, 4, 0, 576, 0)),
    (XDR, 144, 144, 1, (16, 8, 0, 1152, 0)),
    (XDR, 288, 144, 1, (32, 18, 0, 2304, 0)),
    (XDR, 576, 144, 1, (64, 36, 0, 4608, 0)),
    (XDR, 1296, 144, 1, (144, 72, 0, 10368, 0)),
]


def cluster(nodes: int, **changes: object) -> Cluster:
    """So many DGX H100 with the fabric changed."""
    base = cluster_of(f"cluster: {{platform: dgx-h100, nodes: {nodes}}}")
    assert base.scale_out is not None
    spares = changes.pop("spare_nodes", 0)
    rails = base.scale_out.nics_per_node if str(changes.get("topology", "")).startswith("rail") else 1
    scale_out = replace(base.scale_out, **({"rails": rails} | changes))  # type: ignore[arg-type]
    return replace(base, scale_out=scale_out, spare_nodes=spares)  # type: ignore[arg-type]


def counted(machine: Cluster) -> Fabric:
    found = fabric_of_cluster(machine)
    assert isinstance(found, Fabric), found
    return found


CABLES = [  # platform and fabric as published, and the cables: node to leaf, leaf to spine, spine to core
    # NVIDIA counts a cable for each NIC and for each whole port of a switch, also where both are split into planes
    (SPX, "platform: dgx-b300, nodes: 64", "technology: spectrum-x, planes: 2", (512, 512, 0)),
    (SPX, "platform: dgx-b300, nodes: 128", "technology: spectrum-x, planes: 2", (1024, 1024, 0)),
    (SPX, "platform: dgx-b300, nodes: 1024", "technology: spectrum-x, planes: 2", (8192, 8192, 0)),
    (XDR, "platform: dgx-b300, nodes: 72", "technology: infiniband-xdr", (576, 576, 0)),
    (XDR, "platform: dgx-b300, nodes: 576", "technology: infiniband-xdr", (4608, 4608, 0)),
    (B200, "platform: dgx-b200, nodes: 256", "technology: infiniband-ndr", (2048, 2048, 0)),
    (B200, "platform: dgx-b200, nodes: 2048", "technology: infiniband-ndr", (16384, 16384, 16384)),
    # Without a switch, cables between switches have the rate of a NIC
    (SPX, "platform: dgx-b300, nodes: 128", "technology: spectrum-x, planes: 2, switch_ports: 128", (1024, 1024, 0)),
    # A port of a switch at twice the rate of the NICs: 64 ports of 800 Gb/s are 128 of 400, and switches connect by 800
    ("", "platform: dgx-h100, nodes: 128", "technology: roce-v2, switch: spectrum-4-sn5600", (1024, 512, 0)),
    ("", "platform: dgx-h100, nodes: 8", "technology: roce-v2, switch: spectrum-4-sn5600", (64, 0, 0)),
]


@pytest.mark.parametrize(("source", "machine", "scale_out", "want"), CABLES)
def test_cables_are_counted_by_whole_ports(
    source: str, machine: str, scale_out: str, want: tuple[int, int, int]
) -> None:
    text = f"cluster: {{{machine}, scale_out: {{topology: rail-optimized, {scale_out}}}}}"
    assert tuple(counted(cluster_of(text)).cables.values()) == want, source


def test_the_pod_of_hpn_7_has_60_cables_above_each_leaf() -> None:
    """Alibaba HPN, SIGCOMM 2024: 15 segments of 128 hosts; a leaf of 51.2 Tb/s has 128 ports of 200 Gb/s in use, 8
    spare and 60 uplinks of 400 Gb/s, to the 60 spines of its plane; 2 planes of 8 rails."""
    machine = cluster_of("""
cluster:
  accelerator: h800-sxm-80gb
  nodes: 1920
  scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, planes: 2, switch_ports: 248,
              topology: rail-optimized, oversubscription: '128:120'}
""")
    found = counted(machine)
    assert (found.leaf_switches, found.spine_switches) == (15 * 16, 2 * 60)
    assert found.cables["leaf_spine"] == 240 * 60


def test_an_adapter_of_two_cages_has_two_cables() -> None:
    machine = cluster(128, topology="rail-optimized", planes=2, switch_ports=128)
    assert machine.scale_out is not None and machine.scale_out.nic is not None
    twin = replace(machine.scale_out, nic=replace(machine.scale_out.nic, cages=2))
    assert counted(machine).cables["node_leaf"] == 1024
    assert counted(replace(machine, scale_out=twin)).cables["node_leaf"] == 2048


CORES = [  # nodes of 8 NICs, ports, leaves, spines, and the cores that their links need
    (512, 64, 128, 128, 64),
    (2048, 64, 512, 512, 256),
    (12_500, 128, 1568, 1568, 784),  # 100,352 links / 128; 98 pods of 16 spines
    (12_672, 128, 1584, 1584, 792),  # 101,376 links / 128; 99 pods, so that two groups of cores share 99
]


@pytest.mark.parametrize(("nodes", "ports", "leaves", "spines", "cores"), CORES)
def test_cores_are_as_many_as_the_links_need(nodes: int, ports: int, leaves: int, spines: int, cores: int) -> None:
    found = counted(cluster(nodes, topology="rail-optimized", switch_ports=ports))
    assert (found.leaf_switches, found.spine_switches, found.core_switches) == (leaves, spines, cores)


@each(("source", "nodes", "ports", "planes", "want"), PUBLISHED)
def test_published_reference_designs_come_out_exactly(
    source: str, nodes: int, ports: int, planes: int, want: tuple[int | None, ...]
) -> None:
    found = counted(cluster(nodes, topology="rail-optimized", switch_ports=ports, planes=planes))
    got = (found.leaf_switches, found.spine_switches, found.core_switches, *list(found.links.values())[1:])
    assert [mine for mine, theirs in zip(got, want, strict=True) if theirs is not None] == [
        theirs for theirs in want if theirs is not None
    ], source


def test_the_reference_designs_kept_with_the_accuracy_data_come_out_exactly() -> None:
    with (Path(__file__).parents[1] / "accuracy" / "fabrics.csv").open(newline="") as rows:
        for row in csv.DictReader(rows):
            machine = cluster(
                int(row["nodes"]),
                topology="rail-optimized",
                nics_per_node=int(row["nics_per_node"]),
                planes=int(row["planes"]),
                switch_ports=int(row["switch_radix"]),
            )
            found = counted(machine)
            switches = (found.leaf_switches, found.spine_switches, found.core_switches)
            assert switches == (int(row["leaf"]), int(row["spine"]), int(row["core"])), row["id"]
            assert found.tiers == int(row["tiers"]), row["id"]


def test_ports_on_accelerators_share_the_cables_of_the_cages_of_a_node() -> None:
    """24 ports of 200 Gb/s behind 6 cages: a cable has 4 ports where a port of the switch takes 800 Gb/s, else one."""
    text = "cluster: {platform: gaudi3-hls, nodes: 2, scale_out: {topology: single-switch, switch: %s}}"
    wide, narrow = (
        fabric_of_cluster(cluster_of(text % switch)) for switch in ("spectrum-4-sn5600", "spectrum-3-sn4700")
    )
    assert isinstance(wide, Fabric) and wide.cables["node_leaf"] == 2 * 6
    assert isinstance(narrow, Fabric) and narrow.cables["node_leaf"] == 2 * 24 / 2


@pytest.mark.parametrize(("cables", "modules"), [("", 8 * 24 + 48), ("links_per_cable: {node_leaf: 4}", 8 * 6 + 48)])
def test_modules_of_cages_that_nothing_states_have_the_links_of_a_cable(cables: str, modules: int) -> None:
    text = f"""
cluster:
  accelerator: gaudi3
  accelerators_per_node: 8
  nodes: 8
  scale_out: {{technology: gaudi3-scale-out, nics_per_node: 24, topology: single-switch, switch: arista-7060x6-64pe,
              switch_ports: 256, {cables}}}
"""
    design = clean(text)
    assert design.cluster is not None and design.spec.cluster is not None
    found = fabric_of_cluster(design.cluster, design.spec.cluster.scale_out)
    assert isinstance(found, Fabric) and found.transceivers == modules


def test_cables_of_two_links_are_half_as_many() -> None:
    text = """
cluster:
  platform: dgx-b300
  nodes: 128
  scale_out: {technology: spectrum-x, topology: rail-optimized, planes: 2, switch_ports: 128,
              links_per_cable: {node_leaf: 2, leaf_spine: 2}}
"""
    design = clean(text)
    assert design.cluster is not None and design.spec.cluster is not None
    found = fabric_of_cluster(design.cluster, design.spec.cluster.scale_out)
    assert isinstance(found, Fabric)
    assert found.cables == {"node_leaf": 1024, "leaf_spine": 1024, "spine_core": 0}
    assert found.links == {"node_leaf": 2048, "leaf_spine": 2048, "spine_core": 0}
    assert found.transceivers == 2 * 2048
    assert found.stated == {"links_per_cable": {"node_leaf": 2, "leaf_spine": 2}}


def test_spares_and_extra_endpoints_are_cabled() -> None:
    plain = counted(cluster(31, topology="rail-optimized"))
    assert counted(cluster(31, topology="rail-optimized", extra_endpoints=4)).links["node_leaf"] == 252
    # 128 × 8 NICs fill 8 × 4 leaves of 32 ports down; four endpoints more need one leaf, not one for each rail
    assert counted(cluster(128, topology="rail-optimized")).leaf_switches == 32
    assert counted(cluster(128, topology="rail-optimized", extra_endpoints=4)).leaf_switches == 33
    assert counted(cluster(128, topology="rail-optimized", extra_endpoints=33)).leaf_switches == 34
    spared = counted(cluster(31, topology="rail-optimized", spare_nodes=2))
    assert spared.links["node_leaf"] == plain.links["node_leaf"] + 16
    assert spared.leaf_switches == 2 * plain.leaf_switches


def test_few_endpoints_need_one_switch() -> None:
    for topology in ("fat-tree", "unknown", "single-switch", "rail-optimized"):
        found = counted(cluster(8, topology=topology))
        assert (found.tiers, found.leaf_switches, found.spine_switches, found.links["leaf_spine"]) == (1, 1, 0, 0)
    assert counted(cluster(9, topology="fat-tree")).tiers == 2
    crowded = counted(cluster(9, topology="single-switch"))
    assert (crowded.leaf_switches, crowded.fits, crowded.capacity) == (1, False, 64)


def test_a_rail_only_fabric_has_no_spines() -> None:
    found = counted(cluster(64, topology="rail-only"))
    assert (found.leaf_switches, found.spine_switches, found.fits) == (8, 0, True)
    assert not counted(cluster(65, topology="rail-only")).fits


def test_oversubscription_saves_uplinks() -> None:
    tapered = counted(cluster(192, topology="fat-tree", oversubscription=(3.0,)))
    assert (tapered.down_ports, tapered.up_ports) == (48, 16)
    assert (tapered.leaf_switches, tapered.spine_switches) == (32, 8)
    assert tapered.least_leaf_spine_links == 512


def test_a_stated_number_of_tiers_is_kept_even_if_too_small() -> None:
    assert counted(cluster(512, topology="fat-tree")).tiers == 3
    short = counted(cluster(512, topology="fat-tree", tiers=2))
    assert (short.tiers, short.fits, short.capacity) == (2, False, 2048)


def test_capacities_are_those_of_the_textbook() -> None:
    assert counted(cluster(100, topology="fat-tree", tiers=2)).capacity == 64**2 // 2
    assert counted(cluster(100, topology="fat-tree", tiers=3)).capacity == 64**3 // 4
    assert counted(cluster(100, tiers=2, topology="fat-tree", oversubscription=(3.0,))).capacity == 64 * 48


def test_the_oversubscription_applies_above_the_pod() -> None:
    found = counted(cluster(512, topology="fat-tree", pod_nodes=128, oversubscription=(3.0,)))
    assert (found.tiers, found.up_ports) == (3, 32)
    assert found.links["leaf_spine"] == 4096
    assert found.links["spine_core"] == 128 * 11
    assert counted(cluster(128, topology="fat-tree", pod_nodes=128, oversubscription=(3.0,))).tiers == 2


def test_a_pod_that_fills_a_leaf_is_that_leaf() -> None:
    """Six nodes of eight NICs take the 48 down ports of a leaf of 64, whose 16 uplinks have the ratio 3:1."""
    found = counted(cluster(24, topology="fat-tree", pod_nodes=6, oversubscription=(3.0,)))
    assert (found.tiers, found.leaf_switches, found.spine_switches, found.links["leaf_spine"]) == (2, 4, 1, 4 * 16)
    same = counted(cluster(24, topology="fat-tree", oversubscription=(3.0,)))
    assert (found.links, found.leaf_switches) == (same.links, same.leaf_switches)
    of_five, stated = (
        counted(cluster(24, topology="fat-tree", oversubscription=(3.0,), **keys))
        for keys in ({"pod_nodes": 5}, {"pod_nodes": 6, "tiers": 3})
    )
    assert (of_five.tiers, of_five.up_ports, stated.tiers, stated.up_ports) == (3, 32, 3, 32)


def test_an_order_that_is_too_small_is_below_the_least() -> None:
    found = counted(cluster(95, topology="rail-optimized"))
    assert (found.spine_switches, found.least_spine_switches, found.least_leaf_spine_links) == (16, 12, 760)


LEAST = [  # nodes, ratios, planes, and the fewest spines, cores and uplinks of leaves, with 64 ports
    (95, (1.0,), 1, (12, 0, 760)),  # 760 / 64
    (512, (1.0,), 1, (128, 64, 4096)),  # 4,096 / 32 down, 4,096 / 64
    (512, (1.0, 7.0), 1, (74, 10, 4096)),  # 4,096 / 56 down; 4,096 / 7 = 586 of 64 ports
    (512, (3.0, 1.0), 1, (43, 22, 1366)),  # 4,096 / 3; / 32; / 64
    (512, (2.0, 2.0), 1, (49, 16, 2048)),  # 2,048 / 42 down; 2,048 / 2 / 64
    (512, (2.0, 2.0), 2, (98, 32, 4096)),
]


@pytest.mark.parametrize(("nodes", "ratios", "planes", "least"), LEAST)
def test_the_least_switches_and_links_follow_from_the_ratios(
    nodes: int, ratios: tuple[float, ...], planes: int, least: tuple[int, int, int]
) -> None:
    found = counted(cluster(nodes, topology="fat-tree", switch_ports=64, oversubscription=ratios, planes=planes))
    assert (found.least_spine_switches, found.least_core_switches, found.least_leaf_spine_links) == least


LEVELS = """
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 3072
  scale_out:
    technology: roce-v2
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    topology: fat-tree
    levels:
      - {name: rack, nodes: 2, switch_ports: 64}
      - {name: pod, nodes: 384, switch_ports: 576, oversubscription: 7:1}
"""


TAPERED = [  # fabrics whose leaves are all full, so that the links built are those of the stated ratios
    ("{oversubscription: ['1:1', '7:1']}", 384),
    ("{oversubscription: ['2:1', '3:1'], topology: rail-optimized}", 378),
    ("{oversubscription: '7:1', topology: rail-optimized}", 448),
    ("{oversubscription: '7:1'}", 448),
    ("{pod_nodes: 128, oversubscription: '7:1'}", 384),
    ("{topology: single-switch, oversubscription: '7:1', switch_ports: 4096}", 384),
    ("{oversubscription: '7:1', topology: rail-optimized}", 4),
    ("{levels: [{name: leaf, nodes: 32}, {name: pod, nodes: 128, oversubscription: '7:1'}]}", 384),
]


@pytest.mark.parametrize(("scale_out", "nodes"), TAPERED)
def test_the_bill_and_the_estimate_use_the_same_oversubscription(scale_out: str, nodes: int) -> None:
    """Over all levels that a group of every node crosses: links at the bottom over links at the top."""
    machine = cluster_of(f"cluster: {{platform: dgx-h100, nodes: {nodes}, scale_out: {scale_out}}}")
    found = counted(machine)
    used = prod(level.oversubscription for level in fabric_levels(machine) if nodes > (level.nodes or 1))
    top = [count for count in found.links.values() if count][-1]
    assert found.links["node_leaf"] / top == pytest.approx(used, rel=0.1), (found.links, used)


def test_levels_are_counted_one_by_one() -> None:
    found = counted(cluster_of(LEVELS))
    assert (found.tiers, found.leaf_switches) == (3, 1536)
    assert found.links == {"node_leaf": 24576, "leaf_spine": 24576, "spine_core": 8 * 440}
    assert found.spine_switches == 8 * 8
    assert found.core_switches == 7  # 3,520 links / 576 ports = 6.1; the 11 that divide 55 uplinks would be 57 % more


def test_one_level_alone_has_leaves_and_no_links_above() -> None:
    """32 nodes of eight NICs on one level: 256 ends / 64 ports = 4 switches."""
    level = "{name: leaf, nodes: 32, switch_ports: 64}"
    found = counted(cluster_of(f"cluster: {{platform: dgx-h100, nodes: 32, scale_out: {{levels: [{level}]}}}}"))
    assert (found.tiers, found.leaf_switches, found.spine_switches, found.core_switches) == (1, 4, 0, 0)
    assert found.links == {"node_leaf": 256, "leaf_spine": 0, "spine_core": 0}


def test_a_level_that_holds_all_nodes_has_no_switches_above_it() -> None:
    """A last level of 384 nodes is all of 384; with one node more there are two blocks, and a level that joins them."""
    levels = "[{{name: leaf, nodes: 32}}, {{name: pod{}}}]"
    stated = f"cluster: {{{{platform: dgx-h100, nodes: {{}}, scale_out: {{{{levels: {levels}}}}}}}}}"
    for nodes, top in ((384, ", nodes: 384"), (384, ", nodes: 385"), (384, "")):
        found = counted(cluster_of(stated.format(nodes, top)))
        assert (found.tiers, found.core_switches) == (2, 0)
    found = counted(cluster_of(stated.format(385, ", nodes: 384")))
    assert found.tiers == 3 and found.core_switches


def test_a_level_of_unknown_ports_is_not_counted() -> None:
    machine = cluster_of(LEVELS)
    assert machine.scale_out is not None
    leaf, pod = machine.scale_out.levels
    levels = (leaf, replace(pod, switch_ports=None))
    found = fabric_of_cluster(replace(machine, scale_out=replace(machine.scale_out, levels=levels, switch_ports=None)))
    assert isinstance(found, NoFabric) and "ports" in found.why


NONE = [
    ("cluster: {platform: dgx-h100, nodes: 1}", "one node"),
    ("cluster: {platform: aws-p5-48xlarge, nodes: 16}", "cloud"),
    ("cluster: {accelerator: h100-sxm-80gb, nodes: 2, scale_out: {technology: efa-v2}}", "cloud"),
    ("cluster: {platform: mi250x-4, nodes: 16, scale_out: {topology: dragonfly}}", "dragonfly"),
    ("cluster: {platform: gaudi2-hls, nodes: 16}", "ports"),
    ("cluster: {platform: dgx-h100, nodes: 2, scale_out: {topology: direct}}", "8 cables between the NICs"),
]


@pytest.mark.parametrize(("text", "why"), NONE)
def test_a_missing_fabric_has_a_reason(text: str, why: str) -> None:
    found = fabric_of_cluster(cluster_of(text))
    assert isinstance(found, NoFabric) and why in found.why


@settings(max_examples=examples(37), deadline=None)
@given(
    nodes=st.integers(2, 4000),
    ports=st.sampled_from([36, 40, 64, 128, 144]),
    ratio=st.sampled_from([0.5, 1.0, 2.0, 3.0]),
    planes=st.sampled_from([1, 2, 4]),
    topology=st.sampled_from(["fat-tree", "rail-optimized", "unknown"]),
    nics=st.sampled_from([1, 4, 8, 10]),
)
def test_more_nodes_never_need_fewer_switches_and_every_plane_is_whole(
    nodes: int, ports: int, ratio: float, planes: int, topology: str, nics: int
) -> None:
    keys = {"switch_ports": ports, "oversubscription": (ratio,), "topology": topology, "nics_per_node": nics}
    few, many = (counted(_small(count, keys | {"planes": planes})) for count in (nodes, nodes + 1))
    assert _switches(few) <= _switches(many) or not many.fits
    one = counted(_small(nodes, keys | {"planes": 1}))
    assert _switches(few) == planes * _switches(one)
    assert few.links["leaf_spine"] == planes * one.links["leaf_spine"]
    if few.tiers > 1:
        uplinks = few.leaf_switches * few.up_ports
        assert few.links["leaf_spine"] == uplinks
        assert uplinks * ratio >= few.endpoints * planes
        assert few.leaf_switches * few.down_ports >= few.endpoints * planes


def _small(nodes: int, keys: dict[str, object]) -> Cluster:
    rails = keys["nics_per_node"] if keys["topology"] == "rail-optimized" else 1
    return replace(cluster(2, **(keys | {"rails": rails})), nodes=nodes)


def _switches(found: Fabric) -> int:
    return found.leaf_switches + (found.spine_switches or 0) + (found.core_switches or 0)


def test_absurd_sizes_take_bounded_work() -> None:
    for topology in ("fat-tree", "rail-optimized", "rail-only"):
        for ports in (2, 3, 64, 10**9, 10**18):
            found = fabric_of_cluster(replace(cluster(2, topology=topology, switch_ports=ports), nodes=10**18))
            assert isinstance(found, Fabric)


def test_fewer_uplinks_are_counted_where_they_are_ordered_and_carry_the_endpoints() -> None:
    """24 nodes on rails of eight NICs leave 8 of 32 ports of each of eight leaves free: 24 uplinks of each suffice."""
    text = "cluster: {{platform: dgx-h200, nodes: 24, scale_out: {{topology: rail-optimized, switch_ports: 64{}}}}}\n"
    for ordered, uplinks, spines in (
        ("", 256, 4),
        (", links: {leaf_spine: 192}", 192, 3),
        (", spine_switches: 3", 192, 3),
        (", links: {leaf_spine: 184}", 256, 4),  # fewer than the endpoints
        (", spine_switches: 5", 256, 4),
    ):
        design = clean(text.format(ordered))
        assert design.cluster is not None and design.spec.cluster is not None
        found = fabric_of_cluster(design.cluster, design.spec.cluster.scale_out)
        assert isinstance(found, Fabric)
        assert (found.links["leaf_spine"], found.spine_switches) == (uplinks, spines), ordered


def test_ordered_spines_give_every_leaf_as_many_ports_as_every_other() -> None:
    """240 endpoints at 2:1 need 120 links. Of six leaves with 21 up ports, two spines of 64 ports serve 10 each."""
    fabric = "{topology: fat-tree, switch_ports: 64, oversubscription: 2, spine_switches: 2}"
    design = clean(f"cluster: {{platform: dgx-h200, nodes: 30, scale_out: {fabric}}}\n")
    assert design.cluster is not None and design.spec.cluster is not None
    found = fabric_of_cluster(design.cluster, design.spec.cluster.scale_out)
    assert isinstance(found, Fabric)
    assert (found.leaf_switches, found.up_ports, found.links["leaf_spine"]) == (6, 21, 120)


@pytest.mark.parametrize(
    ("nodes", "topology", "leaves", "capacity", "fits"),
    [
        (8, "fat-tree", 1, 64, True),  # 64 NICs on the 64 ports of one switch
        (8, "single-switch", 1, 64, True),
        (9, "single-switch", 1, 64, False),
        (64, "rail-only", 8, 512, True),  # a switch for each of 8 rails
        (65, "rail-only", 16, 512, False),
    ],
)
def test_one_tier_has_leaves_alone(nodes: int, topology: str, leaves: int, capacity: int, fits: bool) -> None:
    found = counted_plane(cluster(nodes, topology=topology), 64, OrderedParts())
    assert (found.tiers, found.ports.down, found.ports.up) == (1, 64, 0)
    assert (found.leaves, found.capacity, found.fits, found.pods) == (leaves, capacity, fits, 1)
    beyond = (found.spines, found.cores, found.leaf_spine, found.spine_core)
    assert (*beyond, found.least_spines, found.least_cores, found.least_leaf_spine) == (0,) * 7
