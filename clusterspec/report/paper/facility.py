"""The section on power and space: power draw, capacity of feeds, racks and cooling, and cable runs."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.energy import PUE
from clusterspec.cost.heat import cooling_units
from clusterspec.cost.term import Term
from clusterspec.report.paper.blocks import Block, Bullets, PaperTable, Section, TableColumn, TableRow
from clusterspec.results.facility import AIR_RISE, LIQUID_RISE, RACK_UNITS, Facility
from clusterspec.results.full import FullReport
from clusterspec.units import display, percent, plain, plural

POWER = "estimate.power"
SUPPLY = f"{POWER}.supply"


def facility_section(report: FullReport) -> Section | None:
    """The requirements of the machine on its data hall; None for a cloud, where the operator meets them."""
    if report.facility is None or report.estimate.drawn is None:
        return None
    columns = (TableColumn("What"), TableColumn("Value", "right"), TableColumn("How it is counted"))
    power = PaperTable(columns, tuple(_power_rows(report)), POWER, caption="Power and heat")
    blocks: list[Block] = [power]
    space = tuple(_space_rows(report))
    if space:
        blocks.append(PaperTable(columns, space, "facility", caption="Racks and cables"))
    unknown = tuple((text, "facility") for text in _unknown_requirements(report))
    if unknown:
        blocks.append(Bullets("Not known", unknown))
    lead = "Power excludes cooling and conversion, except at the meter."
    return Section("facility", "Power and space", tuple(blocks), lead=lead)


def _power_rows(report: FullReport) -> Iterator[TableRow]:
    drawn, hall = report.estimate.drawn, report.facility
    assert drawn is not None and hall is not None
    if drawn.busy is not None:
        yield _watts_row("At work", drawn.busy.value, f"the planned work{_span_text(drawn.busy)}", f"{POWER}.busy")
    yield _watts_row("Idle", drawn.idle.value, f"no node works{_span_text(drawn.idle)}", f"{POWER}.idle")
    if drawn.peak is not None:
        yield _watts_row(
            "Peak",
            drawn.peak.value,
            _nameplate_text(drawn.peak, hall.switches) + _span_text(drawn.peak),
            f"{POWER}.peak",
        )
    if drawn.swings is not None:
        step, fall, ramp = drawn.swings
        text = f"fall and rise in each step, where all accelerators wait together{_span_text(step)}"
        yield _watts_row("Swing", step.value, text, f"{POWER}.swing")
        yield _watts_row(
            "Drop at a stop", fall.value, f"the job stops or starts again{_span_text(fall)}", f"{POWER}.fall"
        )
        each = f"at the edges of the swing{_span_text(ramp)}"
        yield TableRow(("Ramp", display(ramp.value, "W/s"), each), f"{POWER}.ramp", bare=True)
    for name, watts, key in (("at work", hall.meter_busy, "busy"), ("at peak", hall.meter_peak, "peak")):
        if watts is not None and hall.pue is not None:
            yield _watts_row(f"At the meter, {name}", watts, f"× PUE {plain(hall.pue)}", f"facility.meter_{key}")
    if hall.energy_of_year is not None and hall.pue is not None:
        told = f"at work {percent(hall.utilization)} of the time, × PUE {plain(hall.pue)}"
        yield TableRow(
            ("Energy of a year", energy_text(hall.energy_of_year), told), "facility.energy_of_year", bare=True
        )
    yield from _work_rows(report)
    yield from _supply_rows(report)


def _nameplate_text(peak: Term, switches: int) -> str:
    """The parts whose nameplates a peak sums."""
    drawn = next((part.value for part in peak.parts if part.name == "switches"), 0.0)
    if switches and not drawn:
        return "nameplates of nodes; the power of a switch is not known (`cluster.power.switch`)"
    return "nameplates of nodes and switches" if drawn else "nameplates of nodes"


def _work_rows(report: FullReport) -> Iterator[TableRow]:
    """The carbon of the run, else of a million tokens, where the spec states the intensity of the grid."""
    drawn = report.estimate.drawn
    emitted = {term.name: term for term in (drawn.carbon if drawn is not None else ())}
    name = "of_run" if "of_run" in emitted else "per_million_tokens"
    if name in emitted:
        what = "run" if name == "of_run" else "million tokens"
        cells = (f"Carbon of {'the' if name == 'of_run' else 'a'} {what}", display(emitted[name].value, "kg"))
        yield TableRow(
            (*cells, f"of CO2 equivalent, at the meter{_grid_text(report)}"), f"estimate.carbon.{name}", bare=True
        )
    hall = report.facility
    if hall is not None and hall.carbon_of_year is not None:
        cells = ("Carbon of a year", display(hall.carbon_of_year, "kg"))
        text = f"of CO2 equivalent, for the energy of a year{_grid_text(report)}"
        yield TableRow((*cells, text), "facility.carbon_of_year", bare=True)


def _grid_text(report: FullReport) -> str:
    """The stated intensity of the grid with its source."""
    running = report.estimate.design.spec.operations
    carbon = running.carbon if running else None
    if carbon is None or carbon.intensity is None:
        return ""
    source = f" ({carbon.source})" if carbon.source else ", without a source"
    return f", at {plain(carbon.intensity)} kg for a kWh{source}"


def energy_text(joules: float) -> str:
    """An energy as it is billed.

    >>> energy_text(3.6e6 * 328_255), energy_text(3.6e6 * 1_234_567_890)
    ('328 MWh', '1,235 GWh')
    """
    hours = joules / 3.6e9
    return f"{hours / 1e3:,.0f} GWh" if hours >= 1e5 else f"{float(plain(hours)):,.0f} MWh"


def _supply_rows(report: FullReport) -> Iterator[TableRow]:
    """Racks, rows and feeds at nameplates, and where the heat goes."""
    drawn, machine = report.estimate.drawn, report.machine
    assert drawn is not None
    supply, rack = drawn.supply, machine.rack if machine else None
    if supply.rack is not None:
        limit = f"; limit {display(rack.limit, 'W')}" if rack is not None and rack.limit else ""
        yield _watts_row(
            "A full rack", supply.rack.value, f"nameplates{_span_text(supply.rack)}{limit}", f"{SUPPLY}.rack"
        )
    if supply.row is not None:
        yield _watts_row("A full row", supply.row.value, f"nameplates{_span_text(supply.row)}", f"{SUPPLY}.row")
    if supply.feed is not None and supply.feeds:
        carries = f"each of the {plural(supply.feeds, 'feed')} of a rack, at nameplates{_span_text(supply.feed)}"
        yield _watts_row("A feed", supply.feed.value, carries, f"{SUPPLY}.feed")
    hall = report.facility
    if hall is not None and hall.supplies is not None and hall.supply_watts is not None:
        text = f"of {display(hall.supply_watts, 'W')} each; {hall.supplies_needed} carry its power at nameplates"
        name = f"Power supplies of a {hall.supplied}"
        yield TableRow((name, f"{hall.supplies}", text), "facility.supplies", bare=True)
    if supply.all_feeds is not None:
        yield _watts_row(
            "All feeds",
            supply.all_feeds.value,
            "the capacity of all of them together, redundant ones included",
            f"{SUPPLY}.all_feeds",
        )
    for heat in supply.heat:
        if heat.of in {"rack", "hall"}:
            name = {"rack": "Heat of a full rack", "hall": "Heat of the hall"}[heat.of]
            for medium, term in (("liquid", heat.liquid), ("air", heat.air)):
                if term.value:
                    field = f"{SUPPLY}.heat.{heat.of}.{medium}"
                    yield _watts_row(f"{name}, to {medium}", term.value, f"at nameplates{_span_text(term)}", field)
    yield from _cooling_rows(report)
    yield from _flow_rows(report)


def _cooling_rows(report: FullReport) -> Iterator[TableRow]:
    """The capacity of the stated cooling distribution units, without those in reserve."""
    cluster = report.estimate.design.spec.cluster
    units = cooling_units(cluster.power if cluster else None)
    if units is None:
        return
    reserve = f", {units.spare} of them in reserve" if units.spare else ""
    text = f"{plural(units.installed, 'unit')} of {display(units.capacity, 'W')}{reserve}"
    yield _watts_row("Cooling distribution units", units.carried_watts(units.spare), text, "spec.cluster.power.cdus")


def _flow_rows(report: FullReport) -> Iterator[TableRow]:
    """The air and the water that carry the heat of the hall."""
    hall = report.facility
    assert hall is not None
    if hall.air_flow is not None:
        text = f"for the heat of the hall to air, at a rise of {plain(AIR_RISE)} K"
        yield TableRow(
            ("Air through the nodes", f"{display(hall.air_flow, '1')} m³/s", text), "facility.air_flow", bare=True
        )
    if hall.liquid_flow is not None:
        text = f"of water for the heat of the hall to liquid, at a rise of {plain(LIQUID_RISE)} K"
        liters = f"{plain(hall.liquid_flow * 1e3)} l/s"
        yield TableRow(("Coolant", liters, text), "facility.liquid_flow", bare=True)


def _space_rows(report: FullReport) -> Iterator[TableRow]:
    hall, rack = report.facility, report.machine.rack if report.machine else None
    assert hall is not None
    if rack is not None:
        units = f", {rack.nodes * hall.units} of {RACK_UNITS} rack units" if hall.units else ""
        text = f"of {plural(rack.nodes, 'node')} each{units}; switches and storage need more"
        yield TableRow(("Racks of nodes", f"{rack.racks:,}", text), "machine.rack.racks", bare=True)
    elif hall.node_units is not None and hall.units is not None:
        text = f"{hall.node_units // hall.units:,} nodes × {hall.units}; switches and storage need more"
        yield TableRow(("Rack units of the nodes", f"{hall.node_units:,}", text), "facility.node_units", bare=True)
    if hall.least_racks is not None and hall.nodes_at_most is not None:
        text = f"at most {plural(hall.nodes_at_most, 'node')} in each, {_limits_of_rack(report, hall)}"
        yield TableRow(("Racks of nodes, at least", f"{hall.least_racks:,}", text), "facility.least_racks", bare=True)
    if hall.rows is not None and hall.row_meters is not None:
        text = f"a full one is {plain(hall.row_meters)} m long"
        yield TableRow(("Rows of racks", f"{hall.rows:,}", text), "facility.rows", bare=True)
    if hall.switches:
        yield TableRow(("Switches to place", f"{hall.switches:,}", _placed_text(hall)), "facility.switches", bare=True)
    if hall.all_meters is not None:
        racks = "racks of nodes and of switches" if hall.switches else "racks of nodes"
        text = f"all {racks}; storage, rack depth and aisles need more"
        yield TableRow(("Racks side by side", f"{plain(hall.all_meters)} m", text), "facility.all_meters", bare=True)
    for number, run in enumerate(hall.runs):
        length = f"longest {plain(run.meters)} m" if run.meters is not None else "length not known"
        parts = f"; {run.parts}" if run.parts else ""
        cells = (f"Cables, {run.level}", f"{run.cables:,}", f"{length}: {run.how}{parts}")
        yield TableRow(cells, f"facility.runs[{number}]", bare=True)


def _limits_of_rack(report: FullReport, hall: Facility) -> str:
    """The limits on the nodes of a rack: its height, and its power limit if stated."""
    section = report.estimate.design.spec.cluster
    limit = section.power.rack_limit if section is not None and section.power is not None else None
    height = f"{hall.units} of {RACK_UNITS} rack units each" if hall.units else ""
    power = f"a limit of {display(limit.value, 'W')} a rack" if limit is not None else ""
    return "by " + " and ".join(text for text in (height, power) if text)


def _placed_text(hall: Facility) -> str:
    """The racks that the fabric switches take: separate ones, or space in racks of nodes."""
    if hall.switch_units is None or hall.switch_racks is None:
        return "of the fabric, in separate racks or in those of nodes; their height is not known"
    power = f" and {display(hall.switch_watts, 'W')} at nameplates" if hall.switch_watts is not None else ""
    units = f"of the fabric, {plural(hall.switch_units, 'rack unit')}{power}"
    return f"{units}: at least {plural(hall.switch_racks, 'separate rack')}, or space in racks of nodes"


def _unknown_requirements(report: FullReport) -> Iterator[str]:
    """Requirements on the data hall that are unknown, since neither the spec nor the catalog states them."""
    hall, drawn = report.facility, report.estimate.drawn
    assert hall is not None and drawn is not None
    if report.tender:
        yield "weight of a rack and load of the floor: to be stated in the offer"
        return
    yield "weight of a rack and load of the floor: the catalog has no weights; ask the supplier"
    if any(heat.liquid.value for heat in drawn.supply.heat):
        yield "inlet temperature and pressure of the coolant: the catalog has none; ask the supplier"
    if hall.pue is None:
        cost = report.cost.cost
        priced = cost is not None and any(name == "procurement.pue" for name, _, _ in cost.assumptions)
        used = f"; the cost of energy assumes {PUE.value:g}" if priced else ""
        yield f"power at the meter: no PUE is stated (`procurement.pue`){used}"
    if not _grid_text(report):
        yield "carbon of the energy: the intensity of the grid is not stated (`operations.carbon.intensity`)"
    if bare := [run.level for run in hall.runs if not run.parts]:
        yield f"type of the cables from {', '.join(bare)}: not stated (`cluster.scale_out.optics`)"
    yield "time of installation: the spec has no key for it; milestones state it in words (`procurement.delivery`)"
    if drawn.supply.rack is None:
        yield "racks and their power: nodes per rack are not stated (`cluster.power.nodes_per_rack`)"
    if drawn.supply.feed is None:
        section = report.estimate.design.spec.cluster
        stated = section is not None and section.power is not None and section.power.feeds is not None
        lacks = (
            "the power of a rack is not known" if stated else "their redundancy is not stated (`cluster.power.feeds`)"
        )
        yield f"rating of the feeds: {lacks}"


def _watts_row(name: str, watts: float, text: str, field: str) -> TableRow:
    return TableRow((name, display(watts, "W"), text), field, bare=True)


def _span_text(term: Term) -> str:
    """The range of a term, where it has one."""
    if term.low is None or term.high is None or term.high <= term.low:
        return ""
    return f", {display(term.low, term.unit)} to {display(term.high, term.unit)}"
