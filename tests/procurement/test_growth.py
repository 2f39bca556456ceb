"""Growth in phases, by hand-worked counts: the last phase is the machine, and every phase is a part of the next."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.procurement.bill import bill
from clusterspec.procurement.cost import cost
from clusterspec.procurement.growth import Phase, growth, leaves_of_nodes
from clusterspec.spec.model import PhaseSpec
from tests.cli.conftest import Call, call  # noqa: F401 - the fixture
from tests.cluster.resolving import clean
from tests.studies.test_fleets import WORK, fleet_of


def fleet_with_phases(machine: str, *nodes: int) -> str:
    phases = ", ".join(f"{{date: 20{30 + at}-01-01, nodes: {count}}}" for at, count in enumerate(nodes))
    pool = f"{{{machine}, nodes: {nodes[-1]}, phases: [{phases}]}}"
    return f"clusterspec: 1\npools:\n  p: {pool}\njobs: {{a: {{pool: p, {WORK}}}}}\n"


def phases_of(machine: str, *nodes: int) -> tuple[Phase, ...]:
    pool = fleet_of(fleet_with_phases(machine, *nodes))
    study, spec = pool.pools["p"], pool.study.spec.pools
    assert study.design.cluster is not None and spec is not None and spec["p"].phases is not None
    return growth(study.design.cluster, study.spec.cluster, spec["p"].phases)


MACHINES = {
    ("platform: dgx-b200, power: {nodes_per_rack: 4}", (32, 64)): 2,
    ("platform: dgx-h100", (4, 16)): 2,
    ("platform: dgx-h100, spare_nodes: 2", (64, 256, 512)): 3,
    ("platform: gb200-nvl72", (18, 72)): 2,
    ("platform: dgx-h100", (2, 4)): 1,
}


def test_the_last_phase_is_the_machine_and_each_phase_is_a_part_of_the_next() -> None:
    for (machine, nodes), tiers in MACHINES.items():
        built = phases_of(machine, *nodes)
        design = fleet_of(fleet_with_phases(machine, *nodes)).pools["p"].design
        assert design.cluster is not None
        whole, paid = fabric_of_cluster(design.cluster, None), cost(design, None, bill(design))
        assert isinstance(whole, Fabric) and paid is not None and whole.tiers == tiers, machine
        last = built[-1]
        counts = (whole.leaf_switches, whole.spine_switches, whole.core_switches, sum(whole.cables.values()))
        assert (last.leaf_switches, last.spine_switches, last.core_switches, last.cables) == counts, machine
        assert (last.reserved_ports, last.moved_cables, last.power) == (0, 0, paid.watts.value), machine
        for before, after in pairwise(built):
            for name in ("nodes", "leaf_switches", "spine_switches", "core_switches", "cables"):
                assert getattr(before, name) <= getattr(after, name), (machine, name)
            assert before.core_switches == after.core_switches
            assert before.reserved_power and before.reserved_power > (after.reserved_power or 0.0)


def test_half_of_a_fat_tree_keeps_half_of_its_spine_ports() -> None:
    """64 DGX B200 with 8 NICs on 64-port switches, 32 down: 16 leaves, 512 uplinks, 8 spines. Of 32 nodes the 8 leaves
    have 256 uplinks, so 256 of the 512 spine ports stay free. Built alone, 256 uplinks take 4 spines, with 8 uplinks of
    a leaf to each: half of the 256 move when 8 spines take 4 each. 4 nodes a rack: 8 of 16 racks."""
    first, _ = phases_of("platform: dgx-b200, power: {nodes_per_rack: 4}", 32, 64)
    assert (first.leaf_switches, first.spine_switches, first.cables) == (8, 8, 512)
    assert (first.reserved_ports, first.free_leaf_ports, first.moved_cables) == (256, 0, 128)
    assert (first.racks, first.reserved_racks) == (8, 8)


def test_a_phase_of_one_switch_gives_its_upper_ports_to_uplinks_later() -> None:
    """16 nodes with 8 NICs on 64-port switches: 4 leaves of 32 down and 2 spines with 128 ports. 6 nodes have 48 ports
    on 2 leaves with 64 uplinks: 16 leaf and 64 spine ports stay free. Built alone they stand on one switch, of which
    16 cables have to leave the ports that become uplinks; of 8 nodes 32, of 4 nodes none. 2 of 4 nodes take 16 of 64
    ports. Of 512 nodes, a pod has 2 leaves and 2 spines, with 64 of the 4,096 ports of the cores.
    """
    fabric = "platform: dgx-b200, scale_out: {topology: fat-tree}"
    told = {
        (nodes, machine): (
            *(first.leaf_switches, first.cables, first.free_leaf_ports),
            *(first.reserved_ports, first.moved_cables),
        )
        for nodes, machine in ((4, 16), (6, 16), (8, 16), (2, 4), (6, 512), (10, 512))
        for first in phases_of(fabric, nodes, machine)[:1]
    }
    assert told == {
        (4, 16): (1, 32 + 32, 0, 96, 0),
        (6, 16): (2, 48 + 64, 16, 64, 16),
        (8, 16): (2, 64 + 64, 0, 64, 32),
        (2, 4): (1, 16, 48, 0, 0),
        (6, 512): (2, 48 + 64 + 64, 16, 4096 - 64, 16),
        # 3 leaves of two pods: a leaf's 32 uplinks come later; alone 2 spines hold 96 uplinks, and keep 32 each
        (10, 512): (3, 80 + 96 + 128, 16, 32 + 4096 - 128, 32),
    }


def test_spines_of_two_tiers_give_half_of_their_ports_to_cores_later() -> None:
    """64 nodes with 8 NICs stand on 16 leaves with 512 uplinks and 8 spines, whose 64 ports all lead down. In the
    machine of 512 nodes 32 ports of each spine lead to cores, so 8 spines keep at most 256 of the 512 uplinks.
    """
    first, _ = phases_of("platform: dgx-h100, scale_out: {topology: fat-tree}", 64, 512)
    assert first.moved_cables == 512 - 8 * 32


def test_each_plane_has_the_ports_of_every_node() -> None:
    """2 planes of 64-port switches with ports of 200 Gb/s each: 16 nodes have 128 ports on a switch of each plane."""
    machine = "platform: dgx-h100, scale_out: {technology: roce-v2, nic_bandwidth: 400 Gb/s, planes: 2}"
    first, _ = phases_of(machine, 16, 32)
    assert first.cables == 16 * 8, "a cable of a NIC holds the links of both planes"
    assert first.free_leaf_ports == 2 * 16 * 8, "as many as the other 16 nodes take"


def test_a_phase_without_a_date_or_a_size_is_left_out() -> None:
    pool = fleet_of(fleet_with_phases("platform: dgx-h100", 2, 4)).pools["p"]
    phases = [PhaseSpec("2030-01-01", 2), PhaseSpec(None, 3), PhaseSpec("2031-01-01", None)]
    assert pool.design.cluster is not None
    assert [each.nodes for each in growth(pool.design.cluster, None, phases)] == [2]


def test_endpoints_of_no_node_are_there_from_the_first_phase() -> None:
    """4 nodes have 32 ports and 100 endpoints others: 132 ports take 5 leaves of 32 down, 4 nodes alone one."""
    text = "platform: dgx-b200, scale_out: {topology: fat-tree, extra_endpoints: %d}"
    assert [phases_of(text % extra, 4, 64)[0].leaf_switches for extra in (0, 100)] == [1, 5]


def test_estimate_bill_and_report_show_the_phases(call: Call) -> None:  # noqa: F811
    Path("x.yaml").write_text(fleet_with_phases("platform: dgx-b200", 32, 64))
    for verb in ("estimate", "bom", "cost"):
        assert "Growth of p" in call(verb, "x.yaml").out, verb
        made = json.loads(call(verb, "x.yaml", "--format", "json").out)
        (first, last) = made["pools"]["p"]["phases"]
        assert (first["date"], first["nodes"], first["reserved_ports"], last["nodes"]) == ("2030-01-01", 32, 256, 64)
    assert call("report", "x.yaml", "-o", "x.html").status == 0
    assert "Growth of p" in Path("x.html").read_text("utf-8")


def test_the_first_nodes_are_at_the_leaves_of_their_blocks_or_fill_ports_in_order() -> None:
    """Blocks of 8 nodes have two leaves. Without levels, leaves of 32 ports hold four
    nodes of 8 NICs; on 8 rails a leaf of each rail holds 32 nodes.
    """
    quantum = "switch: quantum-2-qm9700, technology: infiniband-ndr"
    tree = f"platform: dgx-h100, nodes: 16, scale_out: {{{quantum}, topology: fat-tree}}"
    rails = f"platform: dgx-h100, nodes: 64, scale_out: {{{quantum}, topology: rail-optimized}}"
    levels = (
        "platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr, levels: [{name: leaf, nodes: 8,"
        " switch_ports: 64, uplink_bandwidth: 400 Gb/s, oversubscription: 1}]}"
    )
    for text, counts in (
        (tree, {1: 1, 4: 1, 5: 2, 8: 2, 9: 3, 16: 4}),
        (rails, {1: 8, 32: 8, 33: 16, 64: 16}),
        (levels, {1: 2, 4: 2, 8: 2, 9: 4, 16: 4}),
    ):
        cluster = clean(f"cluster: {{{text}}}").cluster
        assert cluster is not None
        fabric = fabric_of_cluster(cluster, None)
        assert isinstance(fabric, Fabric)
        assert {nodes: leaves_of_nodes(cluster, fabric, nodes) for nodes in counts} == counts, text
