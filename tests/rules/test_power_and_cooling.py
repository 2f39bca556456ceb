"""Power and cooling of the machine against the data hall, by hand."""

from __future__ import annotations

import pytest

from clusterspec.source import dotted_path
from tests.effort import each

from .conftest import Check


def told(check: Check, rule: str, cluster: str) -> list[tuple[str, str]]:
    """Severity and key of the findings of a rule on a cluster."""
    findings = check(f"clusterspec: 1\ncluster: {{{cluster}}}\n", rule)
    assert {"unknown-key", "wrong-type", "unknown-choice"}.isdisjoint(one.rule for one in findings)
    return [(str(one.severity), dotted_path(one.path)) for one in findings if one.rule == rule]


def test_the_budget_holds_nodes_spares_and_switches(check: Check) -> None:
    # 64 + 2 nodes × 10.2 kW = 673.2 kW. 66 × 8 NICs: 8 rails × ceil(66 / 32) = 24 leaves, 24 × 32 uplinks / 64 =
    # 12 spines, 16 by an even spread: 40 switches × 1.72 kW = 68.8 kW; in all 742 kW.
    fabric = "scale_out: {technology: infiniband-ndr, topology: rail-optimized, switch: quantum-2-qm9700}"
    pod = f"platform: dgx-h100, nodes: 64, spare_nodes: 2, {fabric}, power: {{budget: %s}}"
    assert told(check, "power-over-budget", pod % "741.9 kW") == [("error", "cluster.power.budget")]
    assert told(check, "power-over-budget", pod % "742.1 kW") == []


def test_a_rack_scale_domain_draws_more_than_its_nodes(check: Check) -> None:
    # 18 trays draw 97 kW, the rack with its NVLink switches 120 kW; switches of the fabric are set to almost nothing
    for budget, wrong in (("119 kW", True), ("121 kW", False)):
        power = f"power: {{switch: 1 W, budget: {budget}}}"
        assert bool(told(check, "power-over-budget", f"platform: gb200-nvl72, nodes: 18, {power}")) == wrong


@pytest.mark.parametrize(
    ("racks", "limit", "wrong"),
    [
        (9, "367 kW", True),  # 9 × 4 × 10.2 = 367.2 kW
        (9, "368 kW", False),
        (100, "653 kW", False),  # 64 nodes are sixteen racks: 652.8 kW
        (100, "652 kW", True),
    ],
)
def test_a_row_has_no_more_racks_than_the_machine(racks: int, limit: str, wrong: bool, check: Check) -> None:
    power = f"power: {{nodes_per_rack: 4, row_limit: {limit}}}"
    cluster = f"platform: dgx-h100, nodes: 64, floor: {{racks_per_row: {racks}}}, {power}"
    want = [("error", "cluster.power.row_limit")] if wrong else []
    assert told(check, "row-over-power-limit", cluster) == want


@pytest.mark.parametrize(
    ("power", "severity", "enough"),
    [  # four nodes of 10 kW give 30 kW to liquid at a share of 0.75
        ("liquid_share: 0.75, cdus: {count: 2, capacity: 15 kW}", None, 0),
        ("liquid_share: 0.75, cdus: {count: 2, capacity: 14.9 kW}", "error", 3),
        ("liquid_share: 0.75, cdus: {count: 3, capacity: 15 kW, redundancy: N+1}", None, 0),
        ("liquid_share: 0.75, cdus: {count: 3, capacity: 14 kW, redundancy: N+1}", "error", 4),
        ("liquid_share: 0.75, cdus: {count: 4, capacity: 15 kW, redundancy: 2N}", None, 0),
        ("liquid_share: 0.75, cdus: {count: 5, capacity: 9 kW, redundancy: 2N}", "error", 8),
        ("cdus: {count: 1, capacity: 27.9 kW}", "error", 2),  # cold plates take up 28 to 38 kW
        ("cdus: {count: 1, capacity: 28.1 kW}", "warning", 2),
        ("cdus: {count: 1, capacity: 34 kW}", None, 0),
        ("cdus: {count: 1}", None, 0),
    ],
)
def test_cooling_units_without_their_reserve_carry_the_heat(
    power: str, severity: str | None, enough: int, check: Check
) -> None:
    cluster = f"{{platform: dgx-h100, nodes: 4, power: {{node: 10 kW, cooling: liquid, {power}}}}}"
    found = [one for one in check(f"clusterspec: 1\ncluster: {cluster}\n") if str(one.rule) == "cdus-below-heat"]
    assert [str(one.severity) for one in found] == ([severity] if severity else [])
    assert all(f"plan {enough} units" in (one.help or "") for one in found)


@pytest.mark.parametrize(
    ("cluster", "want"),
    [
        ("platform: gb200-nvl72, nodes: 18, power: {cooling: air}", "error"),  # sold with liquid cooling only
        ("platform: gb300-nvl72, nodes: 18, power: {cooling: liquid}", None),
        ("platform: dgx-h100, nodes: 8, power: {nodes_per_rack: 5, cooling: air}", None),  # 51 kW
        ("platform: dgx-h100, nodes: 8, power: {nodes_per_rack: 6, cooling: air}", "warning"),  # 61.2 kW
        (
            "platform: dgx-h100, nodes: 8, power: {nodes_per_rack: 5, cooling: liquid}",
            "warning",
        ),  # its fans blow into the hall
        ("platform: hgx-h100, nodes: 8, power: {nodes_per_rack: 5, cooling: liquid}", None),
        ("accelerator: mi355x, nodes: 8, power: {cooling: air}", "warning"),
        ("accelerator: mi355x, nodes: 8, power: {cooling: liquid}", None),
        ("platform: dgx-h100, nodes: 8, power: {nodes_per_rack: 5}", None),
    ],
)
def test_a_room_cools_as_its_nodes_are_sold_and_air_up_to_a_limit(cluster: str, want: str | None, check: Check) -> None:
    assert told(check, "cooling-insufficient", cluster) == ([(want, "cluster.power.cooling")] if want else [])


@pytest.mark.parametrize(
    ("power", "want"),
    [
        ("accelerator_cap: 701 W", [("error", "accelerator_cap")]),
        ("accelerator_cap: 700 W", []),
        ("accelerator_cap: 500 W", [("note", "accelerator_cap")]),
        ("node_idle: 10.2 kW", [("error", "node_idle")]),
        ("node_idle: 2.9 kW", []),
    ],
)
def test_a_cap_lies_below_the_rating_and_idle_power_below_full_load(
    power: str, want: list[tuple[str, str]], check: Check
) -> None:
    found = told(check, "power-cap-off-part", f"platform: dgx-h100, nodes: 8, power: {{{power}}}")
    assert found == [(severity, f"cluster.power.{key}") for severity, key in want]


def test_a_capped_node_may_draw_less_than_its_accelerators_are_rated(check: Check) -> None:
    # 8 × 700 W = 5.6 kW; capped at 500 W, 4 kW
    for power, wrong in (
        ("node: 5 kW", "error"),
        ("node: 5.6 kW", "error"),  # nothing is left for the host
        ("node: 6.1 kW", "warning"),  # less than a tenth is left
        ("node: 6.2 kW", ""),
        ("node: 5 kW, accelerator_cap: 500 W", ""),
        ("node: 4 kW, accelerator_cap: 500 W", "error"),
    ):
        cluster = f"accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 1, power: {{{power}}}"
        want = [(wrong, "cluster.power.node")] if wrong else []
        assert told(check, "node-power-below-accelerators", cluster) == want


@pytest.mark.parametrize(
    ("platform", "power", "severity"),
    [
        ("dgx-h100", "feeds: 2N", "note"),  # 3 × 3.3 = 9.9 of 10.2 kW: 37.5 of the 700 W of each, 5.4 %
        ("dgx-b200", "feeds: 2N", "warning"),  # 9.9 of 14.3 kW: 550 of 1000 W
        ("dgx-b200", "feeds: N+1", "warning"),  # 4 × 3.3 = 13.2 of 14.3 kW: 137.5 of 1000 W is above a tenth
        ("dgx-b200", "feeds: 2N, accelerator_cap: 450 W", None),  # 14.3 - 8 × 0.55 = 9.9 kW
        ("dgx-b200", "feeds: 2N, accelerator_cap: 460 W", "note"),  # 9.98 kW: 10 of 460 W
        ("dgx-h100", "feeds: N+1", None),  # 13.2 kW
        ("dgx-b200", "feeds: N", None),  # nothing is promised
        # the power of a node is not known: 3 supplies leave one of 3.3 kW for 8 × 700 W; 6 leave 9.9 kW
        ("hgx-h100", "feeds: 2N, supplies: {count: 3, power: 3.3 kW}", "error"),
        ("hgx-h100", "feeds: 2N, supplies: {count: 4, power: 2.8 kW}", None),
        ("hgx-h100", "feeds: 2N, supplies: {count: 4, power: 2.7 kW}", "warning"),
        ("hgx-h100", "feeds: 2N, supplies: {count: 4, power: 2.7 kW}, accelerator_cap: 600 W", None),
        ("gb200-nvl72", "feeds: 2N", None),  # 4 × 33 = 132 of 120 kW
        ("gb300-nvl72", "feeds: 2N", "note"),  # 132 of 135 kW
    ],
)
def test_supplies_of_the_feeds_that_are_left_carry_the_nodes(
    check: Check, platform: str, power: str, severity: str | None
) -> None:
    wanted = [(severity, "cluster.power.feeds")] if severity else []
    assert told(check, "feed-loss-throttles-nodes", f"platform: {platform}, nodes: 18, power: {{{power}}}") == wanted


QUOTED_UNITS = """clusterspec: 1
cluster: {{platform: dgx-h200, nodes: 16, power: {{nodes_per_rack: 4, feeds: 2N}}}}
procurement:
  currency: EUR
  quote:
    - {{part: DGX H200, quantity: 16, unit_price: 300000}}
    - {{part: "rack 48U", quantity: 5, unit_price: 4000}}
    - {{part: "{units}", quantity: {quantity}, unit_price: 900}}
"""


@each(
    ("units", "quantity", "off"),
    [
        ("rack PDU 400 V 63 A 3-phase", 10, False),  # sqrt(3) x 400 x 63 = 43.6 kW, and four nodes of 10.2 kW
        ("rack PDU 400 V 32 A 3-phase", 10, True),  # one of two is left: 22.2 kW
        ("rack PDU 400 V 32 A 3-phase", 20, False),  # two of four are left: 44.3 kW
        ("rack PDU 400 V 32 A 3-phase", 12, False),  # how many a rack has is not known
        ("rack PDU 400 V 32 A 3-phase, 2 per rack", 12, True),
        # four of eight are left: 4 x 208 x 60 x 0.8 = 39.9 kW for 40.8 kW
        ("rack PDU 208 V 60 A single-phase, 8 per server rack", 12, True),
        ("rack PDU 208 V 60 A single-phase, 10 per server rack", 12, False),  # five: 49.9 kW
        ("rack PDU 400 V 32 A 3-phase", 5, True),  # one for each rack
        ("rack PDU 400 V 32 A", 10, False),  # phases are not known
    ],
)
def test_quoted_power_distribution_units_carry_a_rack(units: str, quantity: int, off: bool, check: Check) -> None:
    rules = {one.rule for one in check(QUOTED_UNITS.format(units=units, quantity=quantity))}
    assert ("pdus-below-rack" in rules) == off


ROOM = """clusterspec: 1
description: "{remarks}"
cluster: {{platform: dgx-h200, nodes: 10, power: {{node: 10.2 kW, nodes_per_rack: 2, cooling: air}}}}
"""


@each(
    ("remarks", "rule", "words"),
    [
        # 10 x 10.2 kW and five switches of 1.72 kW: 110.6 kW; 112 x 0.9 = 100.8 kW
        ("The room hangs on one UPS of 112 kVA with a power factor of 0.9", "ups-below-load", "the UPS gives 101 kW"),
        ("The room hangs on two UPS of 112 kVA with a power factor of 0.9", "ups-below-load", ""),
        ("The switches hang on a UPS of 5 kVA", "ups-below-load", ""),
        ("The fan walls of the hall remove 110 kW", "air-coolers-below-heat", "111 kW of heat"),
        ("Coolant at 10 °C; the hall is held at 20 °C and 50 % relative humidity", "site-condition-unmet", ""),
        ("The fan walls of the hall remove 111 kW", "air-coolers-below-heat", ""),
    ],
)
def test_what_a_text_says_of_the_room_holds_the_machine(remarks: str, rule: str, words: str, check: Check) -> None:
    found = [one for one in check(ROOM.format(remarks=remarks), rule) if one.rule == rule]
    assert [one.message for one in found if words and words in one.message] or (not words and not found), found


@each(
    ("keys", "reported"),
    [("node: 10.2 kW, nodes_per_rack: 2", False), ("cooling: air", True), ("rack_limit: 40 kW", True)],
)
def test_a_condition_of_the_site_is_held_against_a_plan_of_cooling_or_power(
    keys: str, reported: bool, check: Check
) -> None:
    cluster = f"cluster: {{platform: dgx-h200, nodes: 10, power: {{{keys}}}}}"
    text = f'clusterspec: 1\ndescription: "Intake air of 45 °C."\n{cluster}\n'
    assert ("site-condition-unmet" in {one.rule for one in check(text)}) == reported


COOLED = """clusterspec: 1
description: "The building gives chilled water at {water} °C."
cluster: {{platform: dgx-h200, nodes: 24, power: {{node: 10 kW, cooling: air}}}}
procurement:
  currency: USD
  quote: [{{part: "in-row cooler, 45 kW at 7 °C supply (27 kW at 18 °C supply)", quantity: 8, unit_price: 1}}]
"""


@each(("water", "wrong"), [(18, True), (7, False)])  # 8 x 27 = 216 kW, 8 x 45 = 360 kW; 24 x 10 kW and the switches
def test_a_cooler_removes_what_it_does_with_the_water_of_the_building(water: int, wrong: bool, check: Check) -> None:
    found = check(COOLED.format(water=water))
    assert any(one.rule == "air-coolers-below-heat" for one in found) == wrong


@each(
    ("place", "distance", "off"),
    [("end-of-row", "5 m", True), ("end-of-row", "6 m", False), ("middle-of-row", "5 m", False)],
)
def test_a_cable_reaches_along_the_row_and_up_and_down(place: str, distance: str, off: bool, check: Check) -> None:
    # eight racks of two nodes: 8 x 0.6 = 4.8 m from the end of the row, 2.4 m from its middle, and 0.5 m at each end
    floor = f"floor: {{racks_per_row: 8, rack_pitch: 0.6 m, network_racks: {place}}}, power: {{nodes_per_rack: 2}}"
    fabric = f"scale_out: {{technology: infiniband-ndr, topology: rail-optimized, distance: {{node_leaf: {distance}}}}}"
    found = told(check, "distance-below-racks", f"platform: dgx-h200, nodes: 16, {floor}, {fabric}")
    assert bool(found) == off


LIQUID = """clusterspec: 1
description: "{remarks}"
cluster:
  platform: mi355x-ubb8
  nodes: 8
  power: {{node: 15 kW, nodes_per_rack: 4, cooling: liquid, liquid_share: 0.8}}
procurement: {{currency: USD, delivery: {{milestones: [{milestones}]}}}}
"""
DEW = "Coolant reaches the racks at {coolant} °C; the hall is held at 26 °C and 60 % relative humidity."
FLOW = "Each rack has {flow} l/min of water with a rise of 10 K."
CIRCUIT = "Vorlauf 32 °C, Rücklauf höchstens 40 °C, am Übergabepunkt {flow} m³/h"


@each(
    ("remarks", "milestones", "rule", "words"),
    [
        # ln 0.6 + 17.62 x 26 / 269.12 = 1.1915; 243.12 x 1.1915 / (17.62 - 1.1915) = 17.6 °C
        (DEW.format(coolant=17), "", "site-condition-unmet", "26 °C and 60 % humidity is 17.6 °C"),
        (DEW.format(coolant=18), "", "site-condition-unmet", ""),
        # 4 x 15 kW x 0.8 = 48 kW; 68 / 60 x 4.18 kJ x 10 = 47.4 kW, and 69 carry 48.1 kW
        (FLOW.format(flow=68), "", "coolant-flow-below-heat", "carry 47.4 kW, but a rack gives 48 kW"),
        (FLOW.format(flow=69), "", "coolant-flow-below-heat", ""),
        # 96 kW of all nodes; 10.3 m³/h are 171.7 l/min: 171.7 / 60 x 4.18 x 8 = 95.7 kW, and 10.4 carry 96.6 kW
        (CIRCUIT.format(flow=10.3), "", "coolant-flow-below-heat", "carry 95.7 kW, but the nodes give 96 kW"),
        (CIRCUIT.format(flow=10.4), "", "coolant-flow-below-heat", ""),
        (
            "x",
            '"burn-in in week 21", "coolant loop filled in week 23"',
            "milestones-out-of-order",
            "2 weeks before the coolant",
        ),
        ("x", '"burn-in in week 24", "coolant loop filled in week 23"', "milestones-out-of-order", ""),
    ],
)
def test_liquid_takes_up_the_heat_before_and_while_it_is_there(
    remarks: str, milestones: str, rule: str, words: str, check: Check
) -> None:
    found = [one for one in check(LIQUID.format(remarks=remarks, milestones=milestones), rule) if one.rule == rule]
    assert [one.message for one in found if words and words in one.message] or (not words and not found), found


@each(
    "part, volts",
    [
        ("Rack PDU, 208/120 V", None),  # outlets between two of three phases of 208 V
        ("Rack PDU, 415/240 V", None),  # 415 / sqrt(3) = 240 V
        ("Rack PDU 480/277 V", "277 V"),  # the higher voltage is the one between phases
        ("Rack PDU 277/480 V", "277 V"),
        ("Rack PDU 480 V, outlets for 240 V", "277 V"),
        ("Rack PDU 230 V", None),  # of one phase, or of three: it does not say
        ("Server with supplies for 480 V", None),  # no distribution
    ],
)
def test_a_quoted_distribution_is_judged_by_the_voltage_between_its_phases(
    part: str, volts: str | None, check: Check
) -> None:
    quote = f'{{currency: USD, quote: [{{part: "{part}", quantity: 2, unit_price: 4000}}]}}'
    findings = check(f"clusterspec: 1\ncluster: {{platform: dgx-b200, nodes: 16}}\nprocurement: {quote}\n")
    found = [one.message for one in findings if one.rule == "pdu-voltage-off-supplies"]
    assert len(found) == (volts is not None) and all(f"outlets {volts}" in one for one in found), found
