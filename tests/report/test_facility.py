"""Power and space in reports: power at the meter, racks, heat and cable runs, worked by hand."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from clusterspec.analysis.full_report import report
from clusterspec.cost.energy import PUE
from clusterspec.procurement.cost import UseCost
from clusterspec.records import replace
from clusterspec.report.paper.blocks import Bullets, PaperTable
from clusterspec.report.paper.facility import energy_text, facility_section
from clusterspec.report.paper.materials import _uses_table, cost_section
from clusterspec.results.full import FullReport
from clusterspec.studies import study_text
from clusterspec.units import display
from tests.effort import thorough
from tests.settings import SETTINGS

HALL = """
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: fat-tree, nics_per_node: 8,
              distance: {node_leaf: 12 m}}
  power: {node: 10 kW, switch: 2 kW, nodes_per_rack: 2, feeds: 2N, cooling: liquid, liquid_share: 0.75}
procurement: {currency: EUR, pue: 1.2}
"""

WORK = (
    HALL.replace("distance: {node_leaf: 12 m}", "cable_type: {node_leaf: dac}").replace(
        "pue: 1.2", "pue: 1.2, electricity: 0.1, term: 4 years, prices: {node: 300000}"
    )
    + """
operations: {carbon: {intensity: 0.25, source: "grid operator, 2025"}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {framework: megatron-core, tp: 2}
"""
)


@cache
def report_of(spec: str) -> FullReport:
    return report(study_text(spec, SETTINGS), "procurement", live=False)


def test_power_heat_racks_and_cables_are_those_of_the_spec() -> None:
    """4 × 10 kW and one switch of 2 kW are 42 kW, 50.4 kW at the meter; of nodes 3 of 4 watts go to the liquid."""
    section = facility_section(report_of(HALL))
    assert section is not None
    cells = {
        row.cells[0]: row.cells[1:] for block in section.blocks if isinstance(block, PaperTable) for row in block.rows
    }
    assert cells["Peak"][0] == "42 kW" and cells["At the meter, at peak"] == ("50.4 kW", "× PUE 1.2")
    assert cells["A feed"][0] == "20 kW" and cells["All feeds"][0] == "84 kW"
    assert cells["Heat of the hall, to liquid"][0] == "30 kW" and cells["Heat of the hall, to air"][0] == "12 kW"
    assert cells["Air through the nodes"][0] == "0.663 m³/s", "12 kW / (1.2 kg/m³ × 1,006 J/(kg K) × 15 K)"
    assert cells["Coolant"][0] == "0.719 l/s", "30 kW / (998 kg/m³ × 4,182 J/(kg K) × 10 K) in m³/s"
    assert cells["Racks of nodes"][0] == "2" and "16 of 42 rack units" in cells["Racks of nodes"][1]
    assert cells["Cables, nodes to leaves"] == ("32", "longest 12 m: as stated")
    assert cells["Power supplies of a node"] == ("6", "of 3.3 kW each; 4 carry its power at nameplates"), "10 / 3.3 kW"
    placed = cells["Switches to place"]
    assert placed[0] == "1" and "1 rack unit and 2 kW at nameplates: at least 1 separate rack" in placed[1]
    assert cells["Racks side by side"][0] == "1.8 m", "2 racks of nodes and one of a switch, 0.6 m each"
    assert "At work" not in cells, "no work is planned"
    told = " ".join(text for block in section.blocks if isinstance(block, Bullets) for text, _ in block.items)
    assert "`operations.carbon.intensity`" in told
    assert "type of the cables from nodes to leaves: not stated" in told


def test_stated_cooling_units_are_shown_without_their_reserve() -> None:
    cooled = HALL.replace(
        "liquid_share: 0.75", "liquid_share: 0.75, cdus: {count: 4, capacity: 20 kW, redundancy: N+1}"
    )
    section = facility_section(report_of(cooled))
    assert section is not None
    rows = [row.cells for block in section.blocks if isinstance(block, PaperTable) for row in block.rows]
    found = next(cells for cells in rows if cells[0] == "Cooling distribution units")
    assert found[1:] == ("60 kW", "4 units of 20 kW, 1 of them in reserve")
    assert "Cooling distribution units" not in str(facility_section(report_of(HALL)))


@thorough
def test_switches_take_as_many_racks_as_their_height_and_the_limit_of_a_rack_ask() -> None:
    """64 nodes have 512 NICs: 16 leaves and 8 spines, 24 units of 2 kW; in racks of 12 kW six switches each."""
    larger = HALL.replace("nodes: 4", "nodes: 64")
    for text, racks in ((larger, 1), (larger.replace("nodes_per_rack: 2", "nodes_per_rack: 1, rack_limit: 12 kW"), 4)):
        hall = report(study_text(text, SETTINGS), "design", live=False).facility
        assert hall is not None and (hall.switches, hall.switch_units, hall.switch_watts) == (24, 24, 48e3)
        assert hall.switch_racks == racks
    unknown = report(
        study_text(larger.replace("switch: quantum-2-qm9700", "switch_ports: 64"), SETTINGS), "design", live=False
    )
    assert unknown.facility is not None and unknown.facility.switches == 24
    assert unknown.facility.switch_units is unknown.facility.switch_racks is unknown.facility.all_meters is None


@thorough
def test_the_carbon_of_a_year_is_its_energy_times_the_stated_intensity() -> None:
    found = report_of(WORK)
    hall, cost = found.facility, found.cost.cost
    assert hall is not None and hall.energy_of_year is not None and hall.carbon_of_year is not None
    assert hall.carbon_of_year == pytest.approx(hall.energy_of_year / 3.6e6 * 0.25, rel=1e-9)
    assert hall.runs[0].parts == "DAC"
    section, money = facility_section(found), cost_section(found)
    assert section is not None and money is not None and cost is not None
    rows = {
        row.cells[0]: row.cells
        for one in (section, money)
        for b in one.blocks
        if isinstance(b, PaperTable)
        for row in b.rows
    }
    assert rows["Carbon of a year"][2].endswith("at 0.25 kg for a kWh (grid operator, 2025)")
    energy = next(part.value for part in cost.total.parts if part.name == "energy") if cost.total else 0.0
    assert rows[f"Energy of a year, {rows['Energy of a year'][1]}"][1] == display(energy / 4, "EUR")


def test_a_tender_says_nothing_about_what_its_buyer_left_out() -> None:
    section = facility_section(report(study_text(HALL, SETTINGS), "procurement", "tender", live=False))
    assert section is not None
    told = [text for block in section.blocks if isinstance(block, Bullets) for text, _ in block.items]
    assert told == ["weight of a rack and load of the floor: to be stated in the offer"]


def test_the_operator_of_a_cloud_has_the_hall() -> None:
    rented = "clusterspec: 1\ncluster: {platform: aws-p5-48xlarge, nodes: 2}\n"
    assert facility_section(report_of(rented)) is None


@pytest.mark.parametrize(("power", "nodes", "racks"), [("", 5, 2), ("rack_limit: 22 kW, ", 2, 5)])
def test_racks_are_bounded_where_their_nodes_are_not_stated(power: str, nodes: int, racks: int) -> None:
    """Five nodes of 8 units stand in 42, and two of 10 kW within 22 kW: ten nodes take two racks, or five."""
    text = HALL.replace("nodes: 4", "nodes: 10").replace("nodes_per_rack: 2, ", power)
    found = report_of(text)
    section = facility_section(found)
    assert found.facility is not None and section is not None
    assert (found.facility.nodes_at_most, found.facility.least_racks) == (nodes, racks)
    told = " ".join(text for block in section.blocks if isinstance(block, Bullets) for text, _ in block.items)
    assert "rating of the feeds: the power of a rack is not known" in told, "2N is stated"
    rows = {row.cells[0]: row.cells for block in section.blocks if isinstance(block, PaperTable) for row in block.rows}
    assert rows["Racks of nodes, at least"][1] == f"{racks}"
    stated = report_of(HALL).facility
    assert stated is not None and stated.least_racks is None, "the racks are known"


@pytest.mark.parametrize(
    ("megawatt_hours", "text"),
    [(0.25, "0 MWh"), (328.255, "328 MWh"), (99_000, "99,000 MWh"), (100_000, "100 GWh"), (1_234_567, "1,235 GWh")],
)
def test_an_energy_is_in_gwh_from_100_of_them_on(megawatt_hours: float, text: str) -> None:
    assert energy_text(megawatt_hours * 3.6e9) == text


FLOOR = HALL.replace("  power:", "  floor: {racks_per_row: 2, rack_pitch: 0.6 m}\n  power:")
NO_RACKS = HALL.replace("nodes_per_rack: 2, ", "")
OPTIONAL = [  # a field of the hall, the spec, and the rows that go with the field
    ("meter_peak", FLOOR, {"At the meter, at peak"}),
    ("pue", FLOOR, {"At the meter, at peak"}),
    ("supplies", FLOOR, {"Power supplies of a node"}),
    ("supply_watts", FLOOR, {"Power supplies of a node"}),
    ("air_flow", FLOOR, {"Air through the nodes"}),
    ("liquid_flow", FLOOR, {"Coolant"}),
    ("rows", FLOOR, {"Rows of racks"}),
    ("row_meters", FLOOR, {"Rows of racks"}),
    ("all_meters", FLOOR, {"Racks side by side"}),
    ("switch_units", FLOOR, set()),
    ("switch_watts", FLOOR, set()),
    ("switch_racks", FLOOR, set()),
    ("units", FLOOR, set()),
    ("node_units", NO_RACKS, {"Rack units of the nodes"}),
    ("units", NO_RACKS, {"Rack units of the nodes"}),
    ("least_racks", NO_RACKS, {"Racks of nodes, at least"}),
    ("nodes_at_most", NO_RACKS, {"Racks of nodes, at least"}),
]


def rows_of(found: FullReport) -> dict[str, tuple[str, ...]]:
    section = facility_section(found)
    assert section is not None
    return {row.cells[0]: row.cells for block in section.blocks if isinstance(block, PaperTable) for row in block.rows}


@pytest.mark.parametrize(("field", "spec", "rows"), OPTIONAL)
def test_what_is_not_known_of_a_hall_takes_its_row_and_no_other(field: str, spec: str, rows: set[str]) -> None:
    found = report_of(spec)
    assert found.facility is not None and getattr(found.facility, field) is not None
    nothing: dict[str, Any] = {field: None}
    unknown = replace(found, facility=replace(found.facility, **nothing))
    assert set(rows_of(found)) - set(rows_of(unknown)) == rows


def told_as_unknown(text: str, **hall: Any) -> list[str]:
    """What the section on the data hall lists as unknown, for a spec and changed figures of its hall."""
    found = report_of(text)
    assert found.facility is not None
    section = facility_section(replace(found, facility=replace(found.facility, **hall)))
    assert section is not None
    return [item for block in section.blocks if isinstance(block, Bullets) for item, _ in block.items]


def test_the_cost_of_energy_says_which_pue_it_assumes() -> None:
    """Without a PUE, energy is priced with an assumed one; without work, nothing has a price of energy."""
    bare = "power at the meter: no PUE is stated (`procurement.pue`)"
    assumed = f"{bare}; the cost of energy assumes {PUE.value:g}"
    told = {
        "stated": told_as_unknown(WORK),
        "assumed": told_as_unknown(WORK.replace("pue: 1.2, ", "")),
        "not needed": told_as_unknown(WORK, pue=None),
        "no price": told_as_unknown(HALL, pue=None),
    }
    lines = {name: [one for one in items if one.startswith("power at the meter")] for name, items in told.items()}
    assert lines == {"stated": [], "assumed": [assumed], "not needed": [bare], "no price": [bare]}


@pytest.mark.parametrize(
    ("runs", "columns", "last"),
    [
        ((2000.0, 1000.0), 3, "1,000 EUR"),
        ((None, 1000.0), 3, "1,000 EUR"),
        ((None, None), 2, "5"),
    ],
)
def test_the_cost_by_use_has_a_run_where_one_is_planned(
    runs: tuple[float | None, ...], columns: int, last: str
) -> None:
    uses = (UseCost(1.0, True, 10.0, runs[0]), UseCost(0.5, False, 5.0, runs[1]))
    table = _uses_table(replace(report_of(WORK), uses=uses))
    assert table is not None and (len(table.columns), {len(row.cells) for row in table.rows}) == (columns, {columns})
    first, second = table.rows
    assert (first.cells[0], second.cells[0]) == ("100 % (stated)", "50 %")
    assert last in second.cells[-1] and [row.field for row in table.rows] == ["cost_by_use[0]", "cost_by_use[1]"]
    assert _uses_table(replace(report_of(WORK), uses=())) is None
