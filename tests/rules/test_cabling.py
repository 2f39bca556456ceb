"""Runs, reach, cages and modules of a fabric, by hand; and what the bill makes of named optics."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Optics
from clusterspec.cluster.cable_runs import RISE, run_length
from clusterspec.procurement.bill import bill
from clusterspec.rules.knowledge.fabric_parts import fits_cage
from clusterspec.source import dotted_path
from tests.cluster.resolving import clean
from tests.effort import examples

from .conftest import Check

CATALOG = Catalog.open()
OPTICS = [entry for id_ in CATALOG.ids("optics") if isinstance(entry := CATALOG.get("optics", id_), Optics)]
POD = """\
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: {nodes}
  scale_out: {{technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, {keys}}}
{more}
"""


def told(check: Check, rule: str, keys: str, more: str = "", nodes: int = 31) -> list[tuple[str, str]]:
    """Severity and key of the findings of a rule on a pod of DGX H100."""
    findings = check(POD.format(nodes=nodes, keys=keys, more=more), rule)
    assert not [
        one for one in findings if one.rule in {"unknown-key", "wrong-type", "unknown-catalog-id", "wrong-unit"}
    ]
    return [(str(one.severity), dotted_path(one.path)) for one in findings if one.rule == rule]


@pytest.mark.parametrize(
    ("racks", "per_row", "place", "meters"),
    [
        (1, 16, "top-of-rack", 3.0),  # up and down
        (8, 8, "middle-of-row", 3.0 + 4 * 0.6),  # four racks from the middle
        (8, 8, "end-of-row", 3.0 + 8 * 0.6),
        (32, 16, "middle-of-row", 3.0 + 8 * 0.6 + 1 * 3.0),  # two rows, one of them across the aisle
        (32, 16, "separate-row", 3.0 + 8 * 0.6 + 2 * 3.0),
    ],
)
def test_a_run_goes_up_along_the_row_across_and_down(racks: int, per_row: int, place: str, meters: float) -> None:
    assert run_length(racks, per_row, 0.6, 3.0, place) == pytest.approx(meters)


@pytest.mark.parametrize(
    ("racks", "hall", "crossed"),
    [
        (16, 16, 1),
        (16, 32, 1),  # the row of switches stands between the two
        (16, 256, 8),  # 16 rows, eight on each side
        (32, 48, 2),
        (256, 256, 16),
    ],
)
def test_a_separate_row_of_switches_is_as_far_as_half_of_the_hall(racks: int, hall: int, crossed: int) -> None:
    assert run_length(racks, 16, 0.6, 4.0, "separate-row", hall=hall) == pytest.approx(
        2 * RISE + 8 * 0.6 + crossed * 4.0
    )
    assert run_length(racks, 16, 0.6, 4.0, "end-of-row", hall=hall) == run_length(racks, 16, 0.6, 4.0, "end-of-row")


@settings(max_examples=examples(25), deadline=None)
@given(racks=st.integers(1, 500), per_row=st.integers(1, 60), pitch=st.floats(0.5, 1.2), rows=st.floats(1.5, 6.0))
def test_more_racks_and_wider_rooms_never_shorten_a_run(racks: int, per_row: int, pitch: float, rows: float) -> None:
    for place in ("middle-of-row", "end-of-row", "separate-row"):
        here = run_length(racks, per_row, pitch, rows, place)
        assert here >= 2 * RISE
        assert run_length(racks, per_row, pitch + 0.1, rows + 0.1, place) >= here
        assert run_length(racks + per_row, per_row, pitch, rows, place) >= here
        assert run_length(racks, per_row, pitch, rows, "middle-of-row") <= here


@pytest.mark.parametrize(
    ("keys", "more", "want"),
    [
        ("optics: {leaf_spine: mma4z00-ns}, distance: {leaf_spine: 50 m}", "", None),
        ("optics: {leaf_spine: mma4z00-ns}, distance: {leaf_spine: 51 m}", "", "optics.leaf_spine"),
        ("optics: {leaf_spine: mms4x00-ns}, distance: {leaf_spine: 101 m}", "", "optics.leaf_spine"),
        ("optics: {leaf_spine: mms4x00-nm}, distance: {leaf_spine: 500 m}", "", None),
        ("optics: {leaf_spine: dac-mcp4y10}, distance: {leaf_spine: 2 m}", "", None),
        ("optics: {leaf_spine: dac-mcp4y10}, distance: {leaf_spine: 2.5 m}", "", "optics.leaf_spine"),
        ("cable_type: {node_leaf: dac}", "", None),  # nothing says how far
        ("cable_type: {node_leaf: dac}, distance: {node_leaf: 3 m}", "", None),  # the longest splitter
        ("cable_type: {node_leaf: dac}, distance: {node_leaf: 3.5 m}", "", "cable_type.node_leaf"),
        ("cable_type: {node_leaf: aec}, distance: {node_leaf: 7 m}", "", None),
        # 31 nodes in eight racks share each rail leaf: 1.5 + 4 × 0.6 + 1.5 = 5.4 m
        ("cable_type: {node_leaf: dac}", "  power: {nodes_per_rack: 4}", "cable_type.node_leaf"),
        ("cable_type: {node_leaf: aec}", "  power: {nodes_per_rack: 4}", None),
        ("cable_type: {node_leaf: fiber}", "  power: {nodes_per_rack: 4}", None),
        # 31 nodes in two racks, in which the leaves stand: 1.5 + 0.6 + 1.5 = 3.6 m
        ("cable_type: {node_leaf: dac}", "  power: {nodes_per_rack: 16}", "cable_type.node_leaf"),
        ("cable_type: {node_leaf: dac}, distance: {node_leaf: 2 m}", "  power: {nodes_per_rack: 16}", None),
    ],
)
def test_a_run_ends_where_its_optics_do(keys: str, more: str, want: str | None, check: Check) -> None:
    assert told(check, "run-exceeds-reach", keys, more) == ([("error", f"cluster.scale_out.{want}")] if want else [])


@pytest.mark.parametrize(
    ("optics", "rule", "at"),
    [
        ("{node_leaf: [mms4x00-ns-flt, mms4x00-ns]}", "", ""),
        ("{node_leaf: [mma4z00-ns-flt, mma4z00-ns], leaf_spine: mma4z00-ns}", "", ""),
        ("{leaf_spine: acc-mca4j80}", "", ""),
        ("{node_leaf: mms4x00-ns}", "optics-off-cage", "node_leaf"),  # fins in a node
        ("{node_leaf: mms4x00-ns-flt}", "optics-off-cage", "node_leaf"),  # a flat module in an air-cooled switch
        ("{node_leaf: [mma1z00-ns400, mma4z00-ns]}", "optics-off-cage", "node_leaf[0]"),  # QSFP112 in an OSFP cage
        ("{leaf_spine: 400g-dr4-qsfp-dd}", "optics-off-cage", "leaf_spine"),
        ("{leaf_spine: 800g-dr8-osfp}", "optics-off-link", "leaf_spine"),  # an Ethernet part
        ("{leaf_spine: mms4a00}", "optics-off-link", "leaf_spine"),  # lanes of 200 Gb/s, and NDR has 100
        ("{leaf_spine: dac-mcp1650}", "optics-off-link", "leaf_spine"),  # 200 Gb/s
        ("{node_leaf: [mma4z00-ns-flt, mms4x00-ns]}", "optics-mixed", "node_leaf"),  # multimode and single mode
        ("{leaf_spine: [mms4x50-nm, mms4x00-ns]}", "optics-mixed", "leaf_spine"),  # FR and DR
        ("{leaf_spine: [dac-mcp4y10, mms4x00-ns]}", "optics-mixed", "leaf_spine"),
    ],
)
def test_optics_fit_cage_link_and_each_other(optics: str, rule: str, at: str, check: Check) -> None:
    want = [("error", f"cluster.scale_out.optics.{at}")]
    for one in ("optics-off-cage", "optics-off-link", "optics-mixed"):
        found = told(check, one, f"optics: {optics}")
        if rule == one:
            assert found == want
        elif not rule:
            assert found == [], one


def test_optics_say_the_cable_type_and_agree_with_a_stated_one(check: Check) -> None:
    for optics, kind, clash in (
        ("mms4x00-ns", "fiber", False),
        ("mms4x00-ns", "dac", True),
        ("dac-mcp4y10", "dac", False),
        ("acc-mca4j80", "aec", True),
    ):
        keys = f"optics: {{leaf_spine: {optics}}}, cable_type: {{leaf_spine: {kind}}}"
        want = [("error", "cluster.scale_out.cable_type.leaf_spine")] if clash else []
        assert told(check, "optics-contradict-cable-type", keys) == want


@pytest.mark.parametrize(("ordered", "want"), [(2043, "error"), (2044, None), (2248, None), (2249, "note")])
def test_transceivers_are_counted_by_cage(ordered: int, want: str | None, check: Check) -> None:
    # 127 nodes × 4 cages + 32 leaves × 32 cages + 16 spines × 32 = 508 + 1,024 + 512; a tenth more is 2,248
    found = told(check, "transceivers-off-count", f"transceivers: {ordered}", nodes=127)
    assert found == ([(want, "cluster.scale_out.transceivers")] if want else [])


@pytest.mark.parametrize(("links", "rails", "wrong"), [(1, 8, False), (2, 8, True), (2, 4, False), (4, 4, True)])
def test_a_cable_of_a_node_stays_on_one_rail(links: int, rails: int, wrong: bool, check: Check) -> None:
    found = told(check, "cable-joins-rails", f"rails: {rails}, links_per_cable: {{node_leaf: {links}}}")
    assert found == ([("error", "cluster.scale_out.links_per_cable.node_leaf")] if wrong else [])


def parts_of(optics: str) -> dict[str, int]:
    design = clean(
        "cluster: {platform: dgx-h100, nodes: 127, scale_out: {technology: infiniband-ndr, topology: rail-optimized,"
        f" switch: quantum-2-qm9700{optics}}}}}"
    )
    found = bill(design)
    assert found is not None
    return {item.part: item.quantity for item in found.items if item.kind in {"cable", "transceiver"}}


def test_the_bill_names_optics_and_counts_them_as_before() -> None:
    plain = parts_of("")
    named = parts_of(", optics: {node_leaf: [mms4x00-ns-flt, mms4x00-ns], leaf_spine: mms4x00-ns}")
    assert plain["transceiver module"] == 2044
    assert {part: count for part, count in named.items() if "module" in part} == {
        "transceiver module at the node, MMS4X00-NS-FLT 2x400G DR4 flat top": 508,
        "transceiver module at the leaf, MMS4X00-NS 2x400G DR4": 1024,
        "transceiver module at the spine, MMS4X00-NS 2x400G DR4": 512,
    }
    copper = parts_of(", optics: {leaf_spine: dac-mcp4y10}")
    assert copper["leaf to spine cable, MCP4Y10 800G OSFP DAC"] == plain["leaf to spine cable"]
    assert copper["transceiver module"] == 508 + 512  # leaves keep those toward nodes: 24 × 16 + 8 × 16


@pytest.mark.parametrize("part", OPTICS, ids=lambda part: part.id)
def test_what_an_optic_is_agrees_with_itself(part: Optics) -> None:
    assert part.type in {"module", "dac", "acc", "aec", "aoc"}
    assert (part.media == "copper") == (part.type in {"dac", "acc", "aec"})
    assert bool(part.reach_class) == (part.type == "module")
    assert part.type == "module" or part.id.startswith(f"{part.type}-")
    assert part.reach is not None and part.bandwidth is not None and part.lane_bandwidth is not None
    assert part.bandwidth.value % part.lane_bandwidth.value == 0
    assert part.cages and part.families
    assert all(fits_cage(part.cages, cage) for cage in part.cages)
    if part.reach_class == "SR":
        assert part.media == "multimode" and part.reach.value <= 150
    elif part.type == "module":
        assert part.media == "singlemode" and part.reach.value >= 100
    assert part.power is None or part.power.value < 40


@pytest.mark.parametrize(
    ("kinds", "wrong"),
    [("{node_leaf: aoc, leaf_spine: aoc}", True), ("{node_leaf: aoc}", False), ("{node_leaf: fiber}", False)],
)
def test_quoted_transceivers_need_a_fiber(kinds: str, wrong: bool, check: Check) -> None:
    more = "procurement: {quote: [{part: node, quantity: 31}, {part: transceiver, quantity: 640}]}"
    found = told(check, "transceivers-off-count", f"cable_type: {kinds}", more)
    assert found == ([("error", "procurement.quote[1]")] if wrong else [])


@pytest.mark.parametrize(
    ("keys", "rule"),
    [  # 31 nodes of 8 NICs: 248 links, of 31 twin-port cages each on 8 leaves
        ("links: {node_leaf: 248}, cables: {node_leaf: 248}", None),
        ("links: {node_leaf: 248}, cables: {node_leaf: 124}, links_per_cable: {node_leaf: 2}", None),
        ("links: {node_leaf: 248}, cables: {node_leaf: 124}, links_per_cable: {node_leaf: 1}", "too-few-cables"),
        ("links: {node_leaf: 248}, cables: {node_leaf: 25}", "too-few-cables"),
        ("links: {node_leaf: 248}, cables: {node_leaf: 260}", None),  # spare ones
        ("links: {node_leaf: 248}, cables: {node_leaf: 2480}", "surplus-fabric-parts"),
    ],
)
def test_stated_cables_carry_the_stated_links(check: Check, keys: str, rule: str | None) -> None:
    for each in ("too-few-cables", "surplus-fabric-parts"):
        paths = [path for _, path in told(check, each, keys)]
        assert paths == (["cluster.scale_out.cables.node_leaf"] if each == rule else [])
