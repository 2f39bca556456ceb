"""Features of parts: what the catalog says a NIC, a switch or an accelerator can do, against what a spec uses."""

from __future__ import annotations

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Nic, Switch
from clusterspec.rules.fabric.small_mtu import PAYLOADS, rdma_payload
from clusterspec.source import dotted_path
from tests.effort import diagonal, thorough

from .conftest import Check

CATALOG = Catalog.open()
SWITCHES = [id_ for id_ in CATALOG.ids("switch") if "roce" in CATALOG.switch(id_).families]
FLOW = "flow_control: {pfc: true, ecn: true}"
FABRIC = """\
clusterspec: 1
cluster:
  accelerator: {accelerator}
  accelerators_per_node: 8
  nodes: {nodes}
  scale_out: {{{keys}}}
"""


def told(
    check: Check, rule: str, keys: str, nodes: int = 16, accelerator: str = "h100-sxm-80gb"
) -> list[tuple[str, str]]:
    """Severity and key of the findings of a rule on a fabric."""
    findings = check(FABRIC.format(accelerator=accelerator, nodes=nodes, keys=keys), rule)
    assert not [
        one for one in findings if one.rule in {"unknown-key", "wrong-type", "unknown-catalog-id", "unknown-choice"}
    ]
    return [(str(one.severity), dotted_path(one.path)) for one in findings if one.rule == rule]


ROCE = "technology: roce-v2, nics_per_node: 8, nic_bandwidth: 200 Gb/s, flow_control: {pfc: true, ecn: true}"
NDR = "technology: infiniband-ndr, nics_per_node: 8, nic_bandwidth: 400 Gb/s"


@thorough
@pytest.mark.parametrize(("id_", "how"), diagonal(len(SWITCHES), SWITCHES, ["adaptive", "spray"]))
def test_only_a_switch_without_adaptive_routing_is_reported(id_: str, how: str, check: Check) -> None:
    found = told(check, "part-lacks-feature", f"{ROCE}, switch: {id_}, load_balancing: {how}")
    lacks = CATALOG.switch(id_).adaptive_routing is False
    assert found == ([("error", "cluster.scale_out.load_balancing")] if lacks else [])
    assert told(check, "part-lacks-feature", f"{ROCE}, switch: {id_}, load_balancing: ecmp") == []


@pytest.mark.parametrize("id_", CATALOG.ids("nic"))
def test_a_nic_fits_the_technologies_of_its_families_alone(id_: str, check: Check) -> None:
    families = CATALOG.nic(id_).families
    for technology in ("infiniband-ndr", "roce-v2", "slingshot-11", "omni-path-100"):
        keys = f"technology: {technology}, nics_per_node: 8, nic: {id_}, flow_control: {{pfc: true, ecn: true}}"
        wrong = CATALOG.interconnect(technology).family not in families
        want = [("error", "cluster.scale_out.nic")] if wrong else []
        assert told(check, "nic-of-another-technology", keys) == want, technology


@pytest.mark.parametrize(("how", "severity"), [("spray", "error"), ("adaptive", "warning")])
def test_a_nic_that_drops_reordered_packets_is_reported_where_packets_overtake(
    how: str, severity: str, check: Check
) -> None:
    for nic, lacks in (("connectx-4", True), ("e810", True), ("connectx-7", False), ("thor-2", False)):
        keys = f"technology: roce-v2, nics_per_node: 8, nic: {nic}, {FLOW}, load_balancing: {how}"
        want = [(severity, "cluster.scale_out.load_balancing")] if lacks else []
        assert told(check, "part-lacks-feature", keys) == want


@pytest.mark.parametrize(("accelerator", "wrong"), [("rtx-4090", True), ("rtx-5090", True), ("l40s", False)])
def test_gpudirect_is_an_error_on_geforce_cards_and_never_assumed_there(
    accelerator: str, wrong: bool, check: Check
) -> None:
    keys = "technology: roce-v2, nics_per_node: 2, nic_bandwidth: 100 Gb/s, flow_control: {pfc: true, ecn: true}"
    stated = told(check, "part-lacks-feature", f"{keys}, gpudirect_rdma: true", accelerator=accelerator)
    assert stated == ([("error", "cluster.scale_out.gpudirect_rdma")] if wrong else [])
    off = told(check, "gpudirect-rdma-off", f"{keys}, gpudirect_rdma: false", accelerator=accelerator)
    assert off == ([] if wrong else [("warning", "cluster.scale_out.gpudirect_rdma")])
    assert told(check, "gpudirect-rdma-off", keys, accelerator=accelerator) == []


@pytest.mark.parametrize(
    ("nics", "rails", "want"),
    [
        (4, 8, "error"),  # four rails without a member
        (8, 16, "error"),
        (8, 3, "warning"),  # 3 + 3 + 2
        (8, 8, None),
        (8, 4, None),  # two NICs of a node on each rail
        (8, 1, "warning"),  # one rail is a fat tree
        (1, 1, None),
    ],
)
def test_rails_divide_the_nics(nics: int, rails: int, want: str | None, check: Check) -> None:
    fabric = f"technology: infiniband-ndr, nics_per_node: {nics}, nic_bandwidth: 400 Gb/s"
    keys = f"{fabric}, topology: rail-optimized, rails: {rails}"
    assert told(check, "rails-off-nics", keys) == ([(want, "cluster.scale_out.rails")] if want else [])


@pytest.mark.parametrize(
    ("switch", "rate", "planes", "severity"),
    [
        ("quantum-2-qm9700", 400, 4, "error"),  # four ports of 100 Gb/s from one of 400: 256 ports of 128
        ("quantum-2-qm9700", 400, 2, ""),  # NDR200
        ("quantum-2-qm9700", 400, 1, ""),
        ("spectrum-4-sn5600", 200, 1, ""),  # 256 of 200 Gb/s
        ("spectrum-4-sn5600", 400, 4, "warning"),  # 512 of 100 Gb/s
    ],
)
def test_a_port_splits_only_as_far_as_the_switch_offers(
    switch: str, rate: int, planes: int, severity: str, check: Check
) -> None:
    technology = "infiniband-ndr" if switch.startswith("quantum") else "roce-v2"
    keys = f"technology: {technology}, nics_per_node: 8, nic_bandwidth: {rate} Gb/s, planes: {planes}, switch: {switch}"
    found = told(check, "breakout-not-offered", f"{keys}, flow_control: {{pfc: true, ecn: true}}")
    assert found == ([(severity, "cluster.scale_out.switch")] if severity else [])


@pytest.mark.parametrize(
    ("nodes", "more", "want"),
    [
        (256, "switch: quantum-2-qm9700, subnet_manager: switch", []),  # 256 × 8 = 2,048, what the switch supports
        (257, "switch: quantum-2-qm9700, subnet_manager: switch", [("error", "cluster.scale_out.subnet_manager")]),
        (
            16,
            "switch: quantum-2-qm9700, subnet_manager: switch, in_network_reduction: true",
            [("error", "cluster.scale_out.subnet_manager")],
        ),
        (16, "switch: quantum-2-qm9700, subnet_manager: host, in_network_reduction: true", []),
        (257, "switch: quantum-2-qm9700", []),  # who runs it is not stated
        (257, "switch: quantum-2-qm9700, extra_endpoints: 2", []),
        (257, "switch: quantum-2-qm9700, subnet_manager: host", []),
        (16, "switch: quantum-2-qm9790", [("warning", "cluster.scale_out.switch")]),
        (16, "switch: quantum-2-qm9790, extra_endpoints: 0", [("error", "cluster.scale_out.switch")]),
        (32, "switch: quantum-2-qm9790", [("error", "cluster.scale_out.switch")]),  # 8 leaves × 32 ports = 32 × 8 NICs
        (31, "switch: quantum-2-qm9790", [("warning", "cluster.scale_out.switch")]),
        (16, "switch: quantum-2-qm9790, extra_endpoints: 2", []),
        (16, "switch: quantum-2-qm9790, subnet_manager: host", []),
        (16, "switch: quantum-2-qm9790, subnet_manager: switch", []),  # part-lacks-feature reports it
    ],
)
def test_the_subnet_manager_on_a_switch_has_a_limit(
    nodes: int, more: str, want: list[tuple[str, str]], check: Check
) -> None:
    keys = f"{NDR}, topology: rail-optimized, {more}"
    assert told(check, "subnet-manager-limit", keys, nodes=nodes) == want
    unmanaged = "qm9790, subnet_manager: switch" in more
    lacking = told(check, "part-lacks-feature", keys, nodes=nodes)
    assert lacking == ([("error", "cluster.scale_out.subnet_manager")] if unmanaged else [])


@pytest.mark.parametrize(
    ("technology", "mtu", "want"),
    [
        ("roce-v2", 9000, None),
        ("roce-v2", 4200, None),
        ("roce-v2", 4096, "warning"),  # 4,096 less headers hold 2,048
        ("roce-v2", 1500, "warning"),  # 1,024
        ("infiniband-ndr", 4096, None),
        ("infiniband-ndr", 2048, "note"),
    ],
)
def test_a_frame_holds_the_largest_payload_below_it(technology: str, mtu: int, want: str | None, check: Check) -> None:
    keys = f"technology: {technology}, nics_per_node: 8, nic_bandwidth: 400 Gb/s, mtu: {mtu}, {FLOW}"
    assert told(check, "small-mtu", keys) == ([(want, "cluster.scale_out.mtu")] if want else [])


def test_a_packet_larger_than_the_technology_carries_is_an_error(check: Check) -> None:
    assert told(check, "part-lacks-feature", f"{NDR}, mtu: 9000") == [("error", "cluster.scale_out.mtu")]
    assert told(check, "part-lacks-feature", f"{NDR}, mtu: 4096") == []


def test_a_larger_frame_never_holds_a_smaller_payload() -> None:
    held = [rdma_payload(room) for room in range(9217)]
    assert held == sorted(held)
    assert set(held) == set(PAYLOADS)
    assert all(payload <= room for room, payload in enumerate(held) if room >= PAYLOADS[-1])


@pytest.mark.parametrize(
    ("flow", "want"),
    [
        ("pfc: true, lossless_priorities: [3], roce_priority: 5", [("error", "roce_priority")]),
        ("pfc: true, lossless_priorities: [3, 5], roce_priority: 5", []),
        ("pfc: false, ecn: true, lossless_priorities: [3]", [("error", "pfc")]),
        ("pfc: true, lossless_priorities: [0, 1, 2, 3], roce_priority: 2", []),  # what Gaudi 3 asks for
        ("pfc: true, roce_priority: 5", []),  # which priorities are lossless is not stated
    ],
)
def test_rdma_traffic_needs_a_lossless_priority(flow: str, want: list[tuple[str, str]], check: Check) -> None:
    keys = f"technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, flow_control: {{{flow}}}"
    found = told(check, "roce-priority-not-lossless", keys)
    assert found == [(severity, f"cluster.scale_out.flow_control.{key}") for severity, key in want]


@pytest.mark.parametrize(
    ("cluster", "want"),
    [
        ("{platform: gb200-nvl72, nodes: 20}", ["cluster.nodes"]),
        ("{platform: gb200-nvl72, nodes: 16, spare_nodes: 2}", []),  # the spares fill the rack
        ("{platform: gb200-nvl72, nodes: 36}", []),
        ("{platform: aws-trn2u-48xlarge, nodes: 6}", ["cluster.nodes"]),  # UltraServers of four
        ("{platform: aws-trn2u-48xlarge, nodes: 8}", []),
        ("{platform: dgx-h100, nodes: 7}", []),
        ("{accelerator: a100-sxm-80gb, accelerators_per_node: 6, nodes: 1}", ["cluster.accelerators_per_node"]),
        ("{accelerator: a100-sxm-80gb, accelerators_per_node: 4, nodes: 1}", []),
        ("{accelerator: h100-sxm-80gb, accelerators_per_node: 2, nodes: 1}", []),  # a slice of a board
        ("{accelerator: l40s, accelerators_per_node: 6, nodes: 1}", []),  # cards in slots
    ],
)
def test_what_is_sold_whole_is_bought_whole(cluster: str, want: list[str], check: Check) -> None:
    findings = check(f"clusterspec: 1\ncluster: {cluster}\n")
    assert [dotted_path(one.path) for one in findings if one.rule == "partial-unit-of-sale"] == want


def test_every_entry_is_read_with_its_features() -> None:
    managed, other = CATALOG.get("switch", "quantum-2-qm9700"), CATALOG.get("switch", "quantum-2-qm9790")
    assert isinstance(managed, Switch) and isinstance(other, Switch)
    assert (managed.managed, managed.subnet_manager_nodes, other.managed) == (True, 2048, False)
    assert managed.cage_power is not None and managed.cage_power.value == 17.0
    nic = CATALOG.get("nic", "connectx-4")
    assert isinstance(nic, Nic) and nic.out_of_order is False


@pytest.mark.parametrize(
    ("switch", "wrong"), [("arista-7060x6-64pe", True), ("spectrum-4-sn5600", False), ("spectrum-6-sn6600", False)]
)
def test_a_technology_of_one_vendor_runs_on_its_switches(switch: str, wrong: bool, check: Check) -> None:
    for technology, reported in (("spectrum-x", wrong), ("roce-v2", False)):
        keys = f"technology: {technology}, nics_per_node: 8, nic_bandwidth: 400 Gb/s, switch: {switch}, {FLOW}"
        want = [("error", "cluster.scale_out.switch")] if reported else []
        assert told(check, "switch-of-another-technology", keys) == want


def test_a_technology_of_one_vendor_runs_on_its_adapters(check: Check) -> None:
    for nic, wrong in (("thor-2", True), ("bluefield-3", False)):
        keys = f"technology: spectrum-x, nics_per_node: 8, nic: {nic}, switch: spectrum-4-sn5600, {FLOW}"
        want = [("error", "cluster.scale_out.nic")] if wrong else []
        assert told(check, "nic-of-another-technology", keys) == want


@pytest.mark.parametrize(
    ("technology", "planes", "want"),
    [
        ("roce-v2", "planes: 1", "error planes"),  # an Ethernet port of ConnectX-8 runs at 400 Gb/s
        ("roce-v2", "planes: 2", None),
        ("roce-v2", "", "note nic_bandwidth"),  # both ports together have it
        ("infiniband-xdr", "planes: 1", None),
    ],
)
def test_a_link_is_no_faster_than_an_ethernet_port(
    technology: str, planes: str, want: str | None, check: Check
) -> None:
    keys = (
        f"technology: {technology}, nics_per_node: 8, nic: connectx-8, nic_bandwidth: 800 Gb/s, {planes or 'tiers: 2'}"
    )
    found = told(check, "nic-rate-off-technology", f"{keys}, {FLOW}", accelerator="b300-sxm-288gb")
    assert [f"{severity} {at.removeprefix('cluster.scale_out.')}" for severity, at in found] == ([want] if want else [])


@pytest.mark.parametrize(
    ("module", "want"),
    [
        ("mms4x00-ns400", None),  # a flat OSFP
        ("mms1x00-ns400", None),  # QSFP112, as other cards with a ConnectX-7 have
        ("400g-dr4-qsfp-dd", "error"),
    ],
)
def test_a_module_fits_one_of_the_forms_of_the_adapter(module: str, want: str | None, check: Check) -> None:
    fabric = "technology: infiniband-ndr, nics_per_node: 8, nic_bandwidth: 400 Gb/s, nic: connectx-7"
    keys = f"{fabric}, switch: quantum-2-qm9700, optics: {{node_leaf: [{module}, mms4x00-nm]}}"
    assert told(check, "optics-off-cage", keys) == ([(want, "cluster.scale_out.optics.node_leaf[0]")] if want else [])
