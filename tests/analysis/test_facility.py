"""What a machine requires of its data hall, figure by figure, worked by hand."""

from __future__ import annotations

import pytest

from clusterspec.analysis.facility import facility
from clusterspec.analysis.outputs import bill, estimate
from clusterspec.results.facility import CableRun, Facility
from tests.analysis.jobs import study_of
from tests.effort import each

SCALE_OUT = "technology: infiniband-ndr, switch: quantum-2-qm9700, topology: fat-tree, nics_per_node: 8"
RUN = """
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {framework: megatron-core, tp: 2}
"""


def hall(
    nodes: int = 4, power: str = "", out: str = "", floor: str = "", buying: str = "", rest: str = ""
) -> Facility | None:
    """The hall of DGX H100 nodes of 10 kW, 8 rack units and 8 NICs, behind switches of 2 kW, one unit and 64 ports."""
    study = study_of(f"""
cluster:
  platform: dgx-h100
  nodes: {nodes}
  scale_out: {{{SCALE_OUT}{out}}}
  power: {{node: 10 kW, switch: 2 kW{power}}}
{f"  floor: {{{floor}}}" if floor else ""}
procurement: {{currency: EUR{buying}}}
{rest}""")
    return facility(study.design, bill(study).bill, estimate(study).drawn)


def known(**keys: str | int) -> Facility:
    found = hall(**keys)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_power_at_the_meter_is_that_of_the_parts_times_the_pue() -> None:
    """4 × 10 kW and a switch of 2 kW."""
    found = known(buying=", pue: 1.25")
    assert (found.pue, found.meter_busy) == (1.25, None)
    assert found.meter_peak == pytest.approx(52.5e3)
    assert (found.energy_of_year, found.carbon_of_year, found.utilization) == (None, None, 1.0)
    assert known().meter_peak is None


def test_energy_and_carbon_of_a_year_follow_from_the_mean_power() -> None:
    """With the work for 60 % of the year, idle for 40 %; a year of 365.25 days is 31,557,600 s."""
    carbon = "operations: {carbon: {intensity: 0.25, source: the operator}}\n"
    buying = ", pue: 1.25, utilization: 0.6"
    study = study_of(f"""
cluster: {{platform: dgx-h100, nodes: 4, scale_out: {{{SCALE_OUT}}}, power: {{node: 10 kW, switch: 2 kW}}}}
procurement: {{currency: EUR{buying}}}
{carbon}{RUN}""")
    drawn = estimate(study).drawn
    found = facility(study.design, bill(study).bill, drawn)
    assert drawn is not None and drawn.busy is not None and found is not None and found.meter_busy is not None
    mean = 0.6 * drawn.busy.value + 0.4 * drawn.idle.value
    assert found.meter_busy == pytest.approx(1.25 * drawn.busy.value)
    assert found.energy_of_year == pytest.approx(mean * 31_557_600 * 1.25)
    assert found.carbon_of_year == pytest.approx(mean * 31_557_600 * 1.25 / 3.6e6 * 0.25)
    assert found.utilization == 0.6


@each(
    ("nodes", "power", "units", "switches", "watts", "own", "meters"),
    [
        # a switch of one unit and 2 kW in a rack of its own, with two racks of nodes, each 0.6 m
        (4, ", nodes_per_rack: 2", 32, 1, 2e3, 1, 1.8),
        # 512 NICs: 16 leaves and 8 spines of one unit fit a rack of 42; 64 racks of nodes and this one
        (64, ", nodes_per_rack: 1", 512, 24, 48e3, 1, 39.0),
        # 48 kW in racks of at most 12 kW take four
        (64, ", nodes_per_rack: 1, rack_limit: 12 kW", 512, 24, 48e3, 4, 40.8),
        # 2,048 NICs: 64 leaves and 32 spines, 96 units, in three racks
        (256, ", nodes_per_rack: 4", 2048, 96, 192e3, 3, 40.2),
        (4, "", 32, 1, 2e3, 1, None),
    ],
)
def test_switches_stand_in_racks_of_their_own(
    nodes: int, power: str, units: int, switches: int, watts: float, own: int, meters: float | None
) -> None:
    found = known(nodes=nodes, power=power)
    assert (found.units, found.node_units) == (8, units)
    assert (found.switches, found.switch_units, found.switch_watts) == (switches, switches, watts)
    assert (found.switch_racks, found.all_meters) == (own, meters and pytest.approx(meters))


@each(
    ("power", "most", "least"),
    [
        ("", 5, 2),  # 42 units hold five nodes of 8, and 10 nodes take two racks
        (", rack_limit: 30 kW", 3, 4),
        (", rack_limit: 29 kW", 2, 5),
        (", rack_limit: 90 kW", 5, 2),
        (", nodes_per_rack: 2", None, None),
        (", rack_limit: 9 kW", None, None),  # no rack holds a node
    ],
)
def test_racks_are_bounded_by_height_and_power_where_their_nodes_are_not_stated(
    power: str, most: int | None, least: int | None
) -> None:
    found = known(nodes=10, power=power)
    assert (found.nodes_at_most, found.least_racks) == (most, least)


@each(
    ("floor", "rows", "row", "meters"),
    [
        ("racks_per_row: 2", 3, 1.2, 3.6),  # five racks of nodes, and one of the switch
        ("racks_per_row: 5", 1, 3.0, 3.6),
        ("racks_per_row: 8", 1, 3.0, 3.6),
        ("racks_per_row: 2, rack_pitch: 80 cm", 3, 1.6, 4.8),
        ("rack_pitch: 80 cm", None, None, 4.8),
        ("", None, None, 3.6),
    ],
)
def test_racks_stand_in_rows(floor: str, rows: int | None, row: float | None, meters: float) -> None:
    found = known(nodes=5, power=", nodes_per_rack: 1", floor=floor)
    assert (found.rows, found.row_meters) == (rows, row and pytest.approx(row))
    assert found.all_meters == pytest.approx(meters)
    unknown = known(nodes=5, floor=floor)
    assert (unknown.rows, unknown.row_meters) == (None, None)


@each(
    ("share", "air", "liquid"),
    [
        # of 40 kW of nodes the share goes to water; air takes the rest and the switch of 2 kW
        (0.75, 12e3, 30e3),
        (0.5, 22e3, 20e3),
    ],
)
def test_flows_carry_the_heat_of_the_hall(share: float, air: float, liquid: float) -> None:
    """Air of 1.2 kg/m³ and 1,006 J/(kg K) warms by 15 K, water of 998 kg/m³ and 4,182 J/(kg K) by 10 K."""
    found = known(power=f", cooling: liquid, liquid_share: {share}")
    assert found.air_flow == pytest.approx(air / (1.2 * 1006 * 15))
    assert found.liquid_flow == pytest.approx(liquid / (998 * 4182 * 10))


def test_air_alone_needs_no_water() -> None:
    found = known(power=", cooling: air")
    assert found.air_flow == pytest.approx(42e3 / (1.2 * 1006 * 15))
    assert found.liquid_flow is None


@each(
    ("power", "number", "watts", "needed"),
    [
        ("", 6, 3300.0, 4),  # 10 kW are 3.03 supplies of 3.3 kW
        (", supplies: {count: 4, power: 5 kW}", 4, 5e3, 2),
        (", supplies: {count: 4, power: 4 kW}", 4, 4e3, 3),
    ],
)
def test_as_many_supplies_are_needed_as_carry_the_nameplates(
    power: str, number: int, watts: float, needed: int
) -> None:
    found = known(power=power)
    assert (found.supplies, found.supplied) == (number, "node")
    assert found.supply_watts == pytest.approx(watts)
    assert found.supplies_needed == needed


@each(
    ("nodes", "out", "floor", "runs"),
    [
        (4, "", "", [CableRun("nodes to leaves", 32, None, "neither distance nor floor stated")]),
        (4, "", "rack_pitch: 80 cm", [CableRun("nodes to leaves", 32, None, "no distance stated")]),
        (
            64,
            ", distance: {node_leaf: 12 m}, cable_type: {node_leaf: dac, leaf_spine: fiber}",
            "",
            [
                CableRun("nodes to leaves", 512, 12.0, "as stated", "DAC"),
                CableRun("leaves to spines", 512, None, "neither distance nor floor stated", "fiber"),
            ],
        ),
    ],
)
def test_every_level_that_has_cables_names_their_longest_run(
    nodes: int, out: str, floor: str, runs: list[CableRun]
) -> None:
    assert list(known(nodes=nodes, out=out, floor=floor).runs) == runs


def test_a_switch_that_is_not_named_has_no_height() -> None:
    study = study_of("cluster: {platform: dgx-h100, nodes: 64, scale_out: {topology: fat-tree, switch_ports: 64}}\n")
    found = facility(study.design, bill(study).bill, None)
    assert found is not None and found.switches == 24
    assert found.switch_units is found.switch_racks is found.all_meters is found.meter_peak is None


def test_the_operator_of_a_cloud_has_the_hall() -> None:
    study = study_of("cluster: {platform: aws-p5-48xlarge, nodes: 2}\n")
    assert facility(study.design, bill(study).bill, None) is None
