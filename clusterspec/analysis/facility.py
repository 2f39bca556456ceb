"""The requirements of a machine on its data hall, from its power, its bill of materials and the spec's floor."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TypedDict

from clusterspec.cluster.cable_runs import RACK_PITCH, longest_runs
from clusterspec.cluster.clos import FIBER, parts_needed
from clusterspec.cluster.fabric import level_optics
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cost.feed_loss import supplies_of
from clusterspec.cost.formulas.power import carbon_emitted, energy_of_run, flow_of_coolant, mean_draw
from clusterspec.cost.nameplates import lowest_node_power, switch_power
from clusterspec.cost.power import MachinePower
from clusterspec.procurement.bill import Bill
from clusterspec.quantity import YEAR
from clusterspec.results.facility import AIR_RISE, LIQUID_RISE, RACK_UNITS, CableRun, Facility

LEVELS = {"node_leaf": "nodes to leaves", "leaf_spine": "leaves to spines", "spine_core": "spines to cores"}


def facility(design: Design, bill: Bill, power: MachinePower | None) -> Facility | None:
    """The figures of the hall; None of a cloud, whose operator has them, and without a cluster."""
    cluster, buying, fabric = design.cluster, design.spec.procurement, bill.fabric
    if cluster is None or cluster.cloud:
        return None
    pue = buying.pue if buying else None
    busy, peak = (power.busy, power.peak) if power else (None, None)
    used = 1.0 if buying is None or buying.utilization is None else buying.utilization
    rows, meters = _rows_of_racks(design, power)
    mean = mean_draw(busy.value, power.idle.value, used) if power and busy else None
    energy = energy_of_run(mean, YEAR) if mean is not None and pue else None
    heat = next((each for each in power.supply.heat if each.of == "hall"), None) if power else None
    switches = fabric.leaf_switches + fabric.spine_switches + fabric.core_switches if fabric else 0
    stated = design.spec.operations.carbon if design.spec.operations else None
    intensity = stated.intensity if stated else None
    return Facility(
        pue=pue,
        meter_busy=busy.value * pue if busy and pue else None,
        meter_peak=peak.value * pue if peak and pue else None,
        switches=switches,
        units=cluster.platform.rack_units if cluster.platform else None,
        runs=tuple(_cable_runs(design, cluster, bill)),
        energy_of_year=energy * pue if energy is not None and pue else None,
        utilization=used,
        rows=rows,
        row_meters=meters,
        air_flow=_cooling_flow(heat.air.value, AIR, AIR_RISE) if heat else None,
        liquid_flow=_cooling_flow(heat.liquid.value, WATER, LIQUID_RISE) if heat else None,
        node_units=cluster.platform.rack_units * cluster.all_nodes
        if cluster.platform and cluster.platform.rack_units
        else None,
        carbon_of_year=carbon_emitted(energy, pue, intensity) if energy and pue and intensity is not None else None,
        **_power_supplies(cluster, design),
        **_switches_to_place(design, cluster, switches, power.supply.racks if power else None),
        **_racks_at_least(design, cluster, power.supply.racks if power else None),
    )


class _AtLeast(TypedDict):
    nodes_at_most: int | None
    least_racks: int | None


def _racks_at_least(design: Design, cluster: Cluster, racks: int | None) -> _AtLeast:
    """The most nodes that fit in a rack, and the racks that are needed at least. The bounds follow from the height of
    the nodes, and from the rack's power limit with the lowest possible node power. Both are None if the number of racks
    is known or neither limit is.
    """
    power, platform = design.spec.cluster.power if design.spec.cluster else None, cluster.platform
    most = [RACK_UNITS // platform.rack_units] if platform and platform.rack_units else []
    watts = lowest_node_power(cluster)
    if power is not None and power.rack_limit is not None and watts:
        most.append(int(power.rack_limit.value // watts))
    if racks is not None or not most or not min(most):
        return _AtLeast(nodes_at_most=None, least_racks=None)
    return _AtLeast(nodes_at_most=min(most), least_racks=parts_needed(cluster.all_nodes, min(most)))


class _SuppliedRows(TypedDict):
    supplies: int | None
    supplied: str
    supply_watts: float | None
    supplies_needed: int | None


def _power_supplies(cluster: Cluster, design: Design) -> _SuppliedRows:
    """The power supplies of a node or a rack, and how many of them carry it at nameplates."""
    found = supplies_of(cluster, design.spec.cluster.power if design.spec.cluster else None)
    if found is None:
        return _SuppliedRows(supplies=None, supplied="", supply_watts=None, supplies_needed=None)
    return _SuppliedRows(
        supplies=found.number,
        supplied=found.what,
        supply_watts=found.each,
        supplies_needed=ceil(found.load / found.each),
    )


class _Placed(TypedDict):
    switch_units: int | None
    switch_watts: float | None
    switch_racks: int | None
    all_meters: float | None


def _switches_to_place(design: Design, cluster: Cluster, switches: int, racks: int | None) -> _Placed:
    """The height, the power and the racks of the switches of the fabric, and the length of all racks."""
    written = design.spec.cluster
    power, floor = (written.power, written.floor) if written else (None, None)
    switch, each = cluster.scale_out.switch if cluster.scale_out else None, switch_power(cluster, power)
    units = switch.rack_units * switches if switch is not None and switch.rack_units and switches else None
    watts = each.value * switches if each is not None and switches else None
    limit = power.rack_limit.value if power and power.rack_limit else None
    own = parts_needed(units, RACK_UNITS) if units else 0 if not switches else None
    if own and watts and limit:
        own = max(own, ceil(watts / limit))
    pitch = floor.rack_pitch.value if floor and floor.rack_pitch else RACK_PITCH
    meters = (racks + own) * pitch if racks is not None and own is not None else None
    return _Placed(switch_units=units, switch_watts=watts, switch_racks=own or None, all_meters=meters)


AIR = 1.2 * 1006.0
"""The heat capacity of air of 20 °C at sea level, in J/(m³ K): 1.2 kg/m³, 1,006 J/(kg K)."""
WATER = 998.0 * 4182.0
"""The heat capacity of water of 20 °C, in J/(m³ K)."""


def _cooling_flow(watts: float, capacity: float, rise: float) -> float | None:
    return flow_of_coolant(watts, capacity, rise) if watts else None


def _rows_of_racks(design: Design, power: MachinePower | None) -> tuple[int | None, float | None]:
    """The number of rows of racks with nodes, and the length of a full row in meters."""
    written = design.spec.cluster
    floor, racks = written.floor if written else None, power.supply.racks if power else None
    if floor is None or floor.racks_per_row is None or racks is None:
        return None, None
    pitch = floor.rack_pitch.value if floor.rack_pitch else RACK_PITCH
    return parts_needed(racks, floor.racks_per_row), pitch * min(racks, floor.racks_per_row)


def _cable_runs(design: Design, cluster: Cluster, bill: Bill) -> Iterator[CableRun]:
    """The cable runs of each level that has cables."""
    fabric, out, written = bill.fabric, cluster.scale_out, design.spec.cluster
    if fabric is None or out is None or written is None:
        return
    runs = longest_runs(cluster, written, fabric.down_ports)
    named = {one.level: one for one in level_optics(out)}
    types = (written.scale_out.cable_type if written.scale_out else None) or {}
    for level, name in LEVELS.items():
        if cables := fabric.cables.get(level, 0):
            run = runs.get(level)
            unknown = "no distance stated" if written.floor else "neither distance nor floor stated"
            how = unknown if run is None else "as stated" if run.stated else run.how
            ends = named[level].ends if level in named else ()
            parts = " and ".join(dict.fromkeys(end.name for end in ends)) or _type_text(types.get(level))
            yield CableRun(name, cables, run.meters if run else None, how, parts)


def _type_text(cable_type: str | None) -> str:
    """A stated type of cable as engineers write it: ``DAC``, ``fiber``."""
    return (cable_type or "") if cable_type in (None, FIBER) else cable_type.upper()
