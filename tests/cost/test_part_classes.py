"""The classes of the parts of a machine, worked out by hand: how many there are, and what one failure takes.

A line is a class with its count, the share of the bandwidth or power of its tier that is lost, and the nodes that one
failure affects. What a line does not show follows from it: all parts carry the job, and the tier is that of the class.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.cost.class_rates import MachineFailures
from clusterspec.cost.part_classes import PartClass, _scale_up_switches, built_levels
from clusterspec.records import replace
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

DGX = "cluster: {{platform: dgx-h100, nodes: {}, scale_out: {{technology: infiniband-ndr, {}}}}}\n"
"""Eight accelerators and, unless stated, eight NICs per node."""
RACK = "cluster: {{platform: gb200-nvl72, nodes: {}{}}}\n"
"""Domains of 18 nodes with four accelerators and four NICs each, and nine switch trays."""
JOB = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}\n"

MACHINES = {
    # 576 endpoints below 18 leaves of 32 + 32 ports. 32 uplinks on 9 spines: some spine has 4 of a leaf's.
    "fat tree": (
        DGX.format(72, "switch_ports: 64, topology: fat-tree"),
        """accelerator 576 1 1; node 72 1 1; NIC 576 1 1; NIC-leaf link 576 1 1; leaf switch 18 1 4;
        leaf-spine link 576 1/32 4; spine switch 9 1/8 72""",
    ),
    # 42 ports down and 21 up: 14 leaves, but 14 × 5 whole nodes are 70, so leaves are filled in order, and the first
    # has 5 nodes and 2 NICs of a sixth. 294 uplinks take 5 spines of 64 ports, and 7 spread them evenly, 3 per leaf.
    "oversubscribed": (
        DGX.format(72, "switch_ports: 64, topology: fat-tree, oversubscription: 2"),
        """accelerator 576 1 1; node 72 1 1; NIC 576 1 1; NIC-leaf link 576 1 1; leaf switch 14 1 6;
        leaf-spine link 294 1/21 6; spine switch 7 1/7 72""",
    ),
    # 14 leaves hold 14 × 5 whole nodes, and none has its NICs at two.
    "oversubscribed, of whole nodes": (
        DGX.format(70, "switch_ports: 64, topology: fat-tree, oversubscription: 2"),
        """accelerator 560 1 1; node 70 1 1; NIC 560 1 1; NIC-leaf link 560 1 1; leaf switch 14 1 5;
        leaf-spine link 294 1/21 5; spine switch 7 1/7 70""",
    ),
    # 22 ports down: 8 leaves, of which the second has NICs 22 to 43: of nodes 2 to 5. 176 uplinks take 4 spines of 44.
    "leaves of parts of nodes": (
        DGX.format(22, "switch_ports: 44, topology: fat-tree"),
        """accelerator 176 1 1; node 22 1 1; NIC 176 1 1; NIC-leaf link 176 1 1; leaf switch 8 1 4;
        leaf-spine link 176 1/22 4; spine switch 4 3/11 22""",
    ),
    # Each plane: 56 endpoints below 3 leaves of 20 + 20 ports, which hold 6 whole nodes of 7. The second leaf has
    # NICs 20 to 39: of nodes 2, 3 and 4. Both spines have half of the 20 uplinks.
    "two planes": (
        DGX.format(7, "switch_ports: 40, topology: fat-tree, planes: 2"),
        """accelerator 56 1 1; node 7 1 1; NIC 56 1 1; NIC-leaf link 112 1/2 1; leaf switch 6 1/2 3; plane 2 1/2 7;
        leaf-spine link 120 1/40 3; spine switch 4 1/4 7""",
    ),
    # 72 nodes on each of 8 rails: 3 leaves of 32 nodes. 768 uplinks take 12 spines, and 16 spread them evenly.
    "rails": (
        DGX.format(72, "switch_ports: 64, topology: rail-optimized"),
        """accelerator 576 1 1; node 72 1 1; NIC 576 1 1; NIC-leaf link 576 1 1; leaf switch 24 1 32; rail 8 1 72;
        leaf-spine link 768 1/32 32; spine switch 16 1/16 72""",
    ),
    # Each plane: 4 rails × 3 leaves of 8 + 8 ports, in 3 pods of 4 leaves and 4 spines, so 2 uplinks to each spine. A
    # pod has 32 uplinks. 4 spines and 6 cores form 2 groups of 2 spines and 3 cores: 16 uplinks on 3 cores, 6 on some.
    "three tiers": (
        DGX.format(24, "nics_per_node: 4, switch_ports: 16, topology: rail-optimized, tiers: 3, planes: 2"),
        """accelerator 192 1 1; node 24 1 1; NIC 96 1 1; NIC-leaf link 192 1/2 1; leaf switch 24 1/2 8; rail 8 1/2 24;
        plane 2 1/2 24; leaf-spine link 192 1/16 8; spine switch 24 1/8 24; spine-core link 192 1/64 24;
        core switch 12 3/32 24""",
    ),
    # Two pods of 8 leaves, 256 uplinks and 8 spines each; 2 : 1 leaves 128 uplinks per pod, on 4 cores.
    "levels": (
        DGX.format(
            64,
            "switch_ports: 64, topology: fat-tree, levels: [{name: leaf, nodes: 4},"
            " {name: pod, nodes: 32, oversubscription: 2}, {name: core}]",
        ),
        """accelerator 512 1 1; node 64 1 1; NIC 512 1 1; NIC-leaf link 512 1 1; leaf switch 16 1 4;
        leaf-spine link 512 1/32 4; spine switch 16 1/8 64; spine-core link 256 1/128 64; core switch 4 1/4 64""",
    ),
    "one switch": (
        DGX.format(2, "switch_ports: 64, topology: rail-optimized"),
        "accelerator 16 1 1; node 2 1 1; NIC 16 1 1; NIC-leaf link 16 1 1; leaf switch 1 1 2",
    ),
    # 144 endpoints below 5 leaves of 8 nodes. 160 uplinks take 3 spines, and 4 spread them evenly. A failed tray leaves
    # 8 of 9. A rack of 9 nodes has one feed.
    "two domains": (
        RACK.format(36, ", scale_up: {switch_loss: slows}, power: {feeds: N, nodes_per_rack: 9}"),
        """accelerator 144 1 1; node 36 1 1; scale-up domain 2 1 18; scale-up switch 18 1/9 18; NIC 144 1 1;
        NIC-leaf link 144 1 1; leaf switch 5 1 8; leaf-spine link 160 1/32 8; spine switch 4 1/4 36; rack 4 1 9;
        power feed 4 1 9""",
    ),
    # 85 % of 2 × 120 kW are 204 kW of heat for 2 × 80 kW: 44 kW are 11/36 kW of the 1.2 kW of each accelerator.
    "cooled": (
        RACK.format(
            36,
            ", power: {feeds: N+1, nodes_per_rack: 18, cdus: {count: 3, capacity: 80 kW}, cooling: liquid},"
            " networks: {storage: {bandwidth: 100 GB/s}}",
        ),
        """accelerator 144 1 1; node 36 1 1; scale-up domain 2 1 18; scale-up switch 18 1 18; NIC 144 1 1;
        NIC-leaf link 144 1 1; leaf switch 5 1 8; leaf-spine link 160 1/32 8; spine switch 4 1/4 36; rack 2 1 18;
        power feed 6 0 18; cooling distribution unit 3 55/216 36; storage system 1 1 36""",
    ),
    # Inside one domain no failure of the fabric matters. 96 uplinks of 3 leaves take 2 spines.
    "one domain": (
        RACK.format(18, ", power: {feeds: 2N}"),
        """accelerator 72 1 1; node 18 1 1; scale-up domain 1 1 18; scale-up switch 9 1 18; NIC 72 0 1;
        NIC-leaf link 72 0 1; leaf switch 3 0 8; leaf-spine link 96 0 8; spine switch 2 0 18; power feed 2 0 18""",
    ),
    # 16 nodes of the job fit into one domain, and the layout places 8 in each of two: the fabric carries the job.
    # Leaves of eight nodes have the 1st to the 8th, and the 19th to the 26th: the first, third and fourth.
    "two half domains": (
        RACK.format(36, ", power: {feeds: 2N}") + JOB + "layout: {tp: 4, nodes: 16, nodes_per_domain: 8}\n",
        """accelerator 64 1 1; node 16 1 1; scale-up domain 2 1 8; scale-up switch 18 1 8; NIC 64 1 1;
        NIC-leaf link 64 1 1; leaf switch 3 1 8; leaf-spine link 96 1/32 8; spine switch 4 1/4 16; power feed 4 0 8""",
    ),
}
PARTLY = {
    # 80 NICs of 10 nodes are below 3 of 16 leaves of 32 ports, all of them below the same 8 spines.
    "fat tree": (
        DGX.format(64, "switch_ports: 64, topology: fat-tree"),
        10,
        """accelerator 80 1 1/1; node 10 1 1/1; NIC 80 1 1/1; NIC-leaf link 80 1 1/1; leaf switch 3 1 4/4;
        leaf-spine link 96 1/32 4/4; spine switch 8 1/8 10/64""",
    ),
    # Each of 8 rails has 2 leaves of 32 nodes. 16 nodes are below the first of each.
    "rails": (
        DGX.format(64, "switch_ports: 64, topology: rail-optimized"),
        16,
        """accelerator 128 1 1/1; node 16 1 1/1; NIC 128 1 1/1; NIC-leaf link 128 1 1/1; leaf switch 8 1 16/32;
        rail 8 1 16/64; leaf-spine link 256 1/32 16/32; spine switch 8 1/8 16/64""",
    ),
    "rails alone": (
        DGX.format(64, "switch_ports: 64, topology: rail-only"),
        10,
        """accelerator 80 1 1/1; node 10 1 1/1; NIC 80 1 1/1; NIC-leaf link 80 1 1/1; leaf switch 8 1 10/64;
        rail 8 1 10/64""",
    ),
    # 32 NICs take 2 of the 3 leaves of 20 ports of each plane, and the second leaf has NICs of 3 nodes of the machine.
    "two planes": (
        MACHINES["two planes"][0],
        4,
        """accelerator 32 1 1/1; node 4 1 1/1; NIC 32 1 1/1; NIC-leaf link 64 1/2 1/1; leaf switch 4 1/2 3/3;
        plane 2 1/2 4/7; leaf-spine link 80 1/40 3/3; spine switch 4 1/4 4/7""",
    ),
    # 8 nodes are below one leaf of each of 4 rails and 2 planes, which are one pod of three: a third of its spines.
    "three tiers": (
        MACHINES["three tiers"][0],
        8,
        """accelerator 64 1 1/1; node 8 1 1/1; NIC 32 1 1/1; NIC-leaf link 64 1/2 1/1; leaf switch 8 1/2 8/8;
        rail 8 1/2 8/24; plane 2 1/2 8/24; leaf-spine link 64 1/16 8/8; spine switch 8 1/8 8/24;
        spine-core link 64 1/64 8/24; core switch 12 3/32 8/24""",
    ),
    # The same in the second pod too: 16 nodes have 2 of 3 leaves of each rail, one and a half pods of 8 leaves.
    "three tiers, two pods": (
        MACHINES["three tiers"][0],
        16,
        """accelerator 128 1 1/1; node 16 1 1/1; NIC 64 1 1/1; NIC-leaf link 128 1/2 1/1; leaf switch 16 1/2 8/8;
        rail 8 1/2 16/24; plane 2 1/2 16/24; leaf-spine link 128 1/16 8/8; spine switch 16 1/8 16/24;
        spine-core link 128 1/64 16/24; core switch 12 3/32 16/24""",
    ),
    # 24 nodes fill 6 leaves of the first of two pods, which has 8 of the 16 spines.
    "levels": (
        MACHINES["levels"][0],
        24,
        """accelerator 192 1 1/1; node 24 1 1/1; NIC 192 1 1/1; NIC-leaf link 192 1 1/1; leaf switch 6 1 4/4;
        leaf-spine link 192 1/32 4/4; spine switch 8 1/8 24/64; spine-core link 128 1/128 24/64;
        core switch 4 1/4 24/64""",
    ),
    "levels of which one has a size": (
        DGX.format(64, "switch_ports: 64, topology: fat-tree, levels: [{name: leaf, nodes: 4}, {name: pod}]"),
        10,
        """accelerator 80 1 1/1; node 10 1 1/1; NIC 80 1 1/1; NIC-leaf link 80 1 1/1; leaf switch 3 1 4/4;
        leaf-spine link 96 1/32 4/4; spine switch 8 1/8 10/64""",
    ),
    # A leaf of a rail has 32 ports down, of which 10 carry the job, and 16 up.
    "a pod of rails": (
        DGX.format(
            64,
            "switch_ports: 64, topology: rail-optimized,"
            " levels: [{name: pod, nodes: 32, oversubscription: 2}, {name: core}]",
        ),
        10,
        """accelerator 80 1 1/1; node 10 1 1/1; NIC 80 1 1/1; NIC-leaf link 80 1 1/1; leaf switch 8 1 10/32;
        rail 8 1 10/64; leaf-spine link 128 1/16 10/32; spine switch 4 1/4 10/64""",
    ),
    # A job of four nodes of a domain of 18 leaves no node of another domain without work when the domain fails.
    "a part of a domain": (
        RACK.format(36, ", power: {feeds: 2N}"),
        4,
        """accelerator 16 1 1/1; node 4 1 1/1; scale-up domain 1 1 4/18; scale-up switch 9 1 4/18; NIC 16 0 1/1;
        NIC-leaf link 16 0 1/1; leaf switch 1 0 4/8; leaf-spine link 32 0 4/8; spine switch 4 0 4/36;
        power feed 2 0 4/18""",
    ),
    "a part of a rack": (
        RACK.format(36, ", power: {feeds: 2N, nodes_per_rack: 18, cooling: liquid}"),
        10,
        """accelerator 40 1 1/1; node 10 1 1/1; scale-up domain 1 1 10/18; scale-up switch 9 1 10/18; NIC 40 0 1/1;
        NIC-leaf link 40 0 1/1; leaf switch 2 0 8/8; leaf-spine link 64 0 8/8; spine switch 4 0 10/36; rack 1 1 10/18;
        power feed 2 0 10/18; cooling distribution unit None 1 10/18""",
    ),
    # Without a number of nodes in a rack, the units cool all nodes, and the four spare ones.
    "units of a room": (
        "cluster: {platform: dgx-h100, nodes: 60, spare_nodes: 4, scale_out: {technology: none},"
        " power: {feeds: N, cooling: liquid}, networks: {storage: {bandwidth: 100 GB/s}}}\n",
        10,
        """accelerator 80 1 1/1; node 10 1 1/1; power feed None 1 10/64; cooling distribution unit None 1 10/64;
        storage system 1 1 10/64""",
    ),
}
"""Machines, the nodes of a job that leaves others without work, and the classes: after the nodes of the job that depend
on a part, all such nodes of the machine.
"""
TIERS = {"NIC": "nic", "NIC-leaf link": "nic", "leaf switch": "nic", "rail": "nic", "plane": "nic"}
TIERS |= {"leaf-spine link": "leaf", "spine switch": "leaf", "spine-core link": "pod", "core switch": "pod"}
TIERS |= {"power feed": "power", "cooling distribution unit": "power", "scale-up switch": "scale-up"}
KINDS = {"NIC": "nic", "scale-up domain": "domain", "scale-up switch": "tray", "leaf switch": "leaf"}
KINDS |= {"spine switch": "spine", "core switch": "core", "rail": "", "plane": "", "power feed": "feed"}
KINDS |= {"cooling distribution unit": "cdu", "storage system": "store"}
KINDS |= dict.fromkeys(("NIC-leaf link", "leaf-spine link", "spine-core link"), "link")


def classes(text: str) -> list[PartClass]:
    return list(MachineFailures.from_design(study_text(f"clusterspec: 1\n{text}", SETTINGS).design).classes)


@pytest.mark.parametrize("name", MACHINES)
def test_each_class_has_its_parts_and_takes_its_share(name: str) -> None:
    text, expected = MACHINES[name]
    *found, software = classes(text)
    lines = [f"{one.name} {one.count} {Fraction(one.lost).limit_denominator(1000)} {one.nodes}" for one in found]
    assert lines == [" ".join(line.split()) for line in expected.split(";")]
    assert [(one.used, one.tier, one.kind) for one in found] == [
        (one.count, TIERS.get(one.name, ""), KINDS.get(one.name, one.name)) for one in found
    ]
    assert not any(one.restarts for one in found)
    assert (software.name, software.count, software.used, software.lost) == ("software", None, 1, 1.0)


@pytest.mark.parametrize("name", PARTLY)
def test_a_job_depends_on_the_parts_of_its_own_nodes(name: str) -> None:
    text, nodes, expected = PARTLY[name]
    *found, software = classes(f"{text}{JOB}layout: {{tp: 4, nodes: {nodes}}}\n")
    lines = [
        f"{one.name} {one.count} {Fraction(one.lost).limit_denominator(1000)} {one.nodes}/{one.held}" for one in found
    ]
    assert lines == [" ".join(line.split()) for line in expected.split(";")]
    assert [one.used for one in found] == [one.count or 0 for one in found]
    assert (software.nodes, software.held) == (0, 0)


@each(
    ("lost", "restarts", "interrupts"),
    [(0.0, False, False), (0.99, False, False), (0.5, True, True), (1.0, False, True)],
)
def test_a_failure_stops_a_job_that_keeps_nothing_or_restarts(lost: float, restarts: bool, interrupts: bool) -> None:
    part = PartClass("x", 1, 1, "x", lost, "", 1, 1, "", restarts)
    assert part.interrupts_job is interrupts


@pytest.mark.parametrize(
    ("keys", "lost", "restarts"),
    [
        ("switch_loss: stops", 1, False),
        ("switch_loss: restarts", Fraction(1, 9), True),
        ("switch_loss: restarts, switches: 2", Fraction(1, 2), True),
        ("switch_loss: restarts, switches: 1", 1, False),
        ("switch_loss: slows, switches: 1", 1, False),
    ],
)
def test_a_lost_switch_tray_leaves_the_others(keys: str, lost: float, restarts: bool) -> None:
    """The last tray leaves nothing to restart with."""
    found = {one.name: one for one in classes(RACK.format(36, f", scale_up: {{{keys}}}"))}["scale-up switch"]
    assert found.lost == pytest.approx(float(lost))
    assert found.restarts is restarts


@each(
    ("cable", "stated", "parts"),
    [
        # a cable fails 0.0001 times a year and an optical module 0.0034 times, two on a link
        ("", "", [(1, 0.0001), (2, 0.0034)]),
        (", cable_type: {node_leaf: fiber}", "", [(1, 0.0001), (2, 0.0034)]),
        (", cable_type: {node_leaf: aoc}", "", [(1, 0.0001), (2, 0.0034)]),
        (", cable_type: {node_leaf: dac}", "", [(1, 0.0001)]),
        (", cable_type: {leaf_spine: dac}", "", [(1, 0.0001), (2, 0.0034)]),
        # a stated rate counts alone, and that of modules no link with fixed ends
        ("", "optic: {afr: 0.01}", [(2, 0.01)]),
        ("", "cable: {afr: 0.02}", [(1, 0.02)]),
        ("", "cable: {afr: 0.02}, optic: {afr: 0.01}", [(1, 0.02), (2, 0.01)]),
        (", cable_type: {node_leaf: aoc}", "optic: {afr: 0.01}", [(1, 0.0001), (2, 0.0034)]),
        (", cable_type: {node_leaf: dac}", "cable: {afr: 0.02}, optic: {afr: 0.01}", [(1, 0.02)]),
    ],
)
def test_a_link_fails_as_its_cable_and_its_modules_do(cable: str, stated: str, parts: list[tuple[int, float]]) -> None:
    text = DGX.format(64, f"switch_ports: 64, topology: rail-optimized{cable}")
    design = study_text(f"clusterspec: 1\n{text}operations: {{failures: {{{stated}}}}}\n", SETTINGS).design
    machine = MachineFailures.from_design(design)
    [link] = [each for each in machine.classes if each.name == "NIC-leaf link"]
    assert [(count, rate.yearly) for count, rate in machine.rates.rates_of_one(link)] == parts


@each(("nodes", "why"), [(1, "1 node is in it"), (2, "2 nodes are in it")])
def test_a_rack_says_how_many_nodes_are_in_it(nodes: int, why: str) -> None:
    text = f"cluster: {{platform: dgx-h100, nodes: 8, power: {{nodes_per_rack: {nodes}}}}}\n"
    [rack] = [each for each in classes(text) if each.name == "rack"]
    assert (rack.count, rack.nodes, rack.why) == (8 // nodes, nodes, why)


@each(
    ("keys", "nodes", "why"),
    [
        # 128 links of a pod over 125 cores of 128 ports: each core has a second link to 3 of 125 pods, so a job in all
        # pods waits for those, whichever core fails
        (
            "switch_ports: 128, topology: fat-tree",
            2000,
            "2 of 128 uplinks of the pods with the most links to it, 1 of the others",
        ),
        ("switch_ports: 64, topology: fat-tree", 512, "1 of 64 uplinks of a pod"),
    ],
)
def test_the_loss_of_a_core_says_how_many_uplinks_each_pod_loses(keys: str, nodes: int, why: str) -> None:
    assert [one.why for one in classes(DGX.format(nodes, keys)) if one.name == "core switch"] == [why]


POD = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 64, scale_out: {topology: TOPOLOGY, LEVELS}}\n"


@pytest.mark.parametrize(
    ("topology", "ports", "nodes"),
    [
        ("rail-optimized", 32, 32),  # one NIC of a node on each leaf
        ("fat-tree", 32, 4),  # all eight NICs of a node on one leaf
        ("fat-tree", 4, 1),
        ("rail-optimized", 100, 64),  # no more than the pod has
    ],
)
def test_leaves_below_a_pod_have_the_nodes_of_their_ports(topology: str, ports: int, nodes: int) -> None:
    text = POD.replace("TOPOLOGY", topology).replace("LEVELS", "levels: [{name: pod, nodes: 64, oversubscription: 1}]")
    cluster = study_text(text, SETTINGS).design.cluster
    assert cluster is not None
    fabric = fabric_of_cluster(cluster, None)
    assert isinstance(fabric, Fabric)
    found = built_levels(cluster, replace(fabric, down_ports=ports))
    assert [level.name for level in found] == ["leaf", "pod"] and found[0].nodes == nodes
    assert [level.name for level in built_levels(cluster, None)] == ["pod"]


@each(
    ("trays", "loss", "lost", "restarts", "words"),
    [
        (9, "stops", Fraction(1), False, "8 of 9 trays of the domain are left, but 5 nodes of the job wait"),
        (9, "slows", Fraction(1, 9), False, "8 of 9 trays of the domain are left: the job continues"),
        (9, "restarts", Fraction(1, 9), True, "8 of 9 trays of the domain are left: the job restarts"),
        (1, "slows", Fraction(1), False, "0 of 1 trays"),
        (1, "restarts", Fraction(1), False, "0 of 1 trays"),
        (None, "slows", Fraction(1), False, "5 nodes of the job are in the domain"),
    ],
)
def test_a_tray_takes_its_share_of_the_links_where_the_others_go_on(
    trays: int | None, loss: str, lost: Fraction, restarts: bool, words: str
) -> None:
    """Three domains of 18 nodes, each with five nodes of the job."""
    cluster = study_text("clusterspec: 1\n" + RACK.format(54, ""), SETTINGS).design.cluster
    assert cluster is not None
    one = replace(cluster, scale_up=replace(cluster.scale_up, switches=trays, switch_loss=loss))
    found = _scale_up_switches(one, 3, 5)
    assert (found.lost, found.restarts) == (float(lost), restarts) and words in found.why
    assert (found.count, found.used) == ((3 * trays, 3 * trays) if trays else (None, 0))
    assert (found.nodes, found.held) == (5, 18)
