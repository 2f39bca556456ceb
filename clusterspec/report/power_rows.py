"""The rows of an estimate on power: as drawn, at nameplates, its swings, heat, and the money and carbon of energy."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.report.estimate_rows import joined_notes
from clusterspec.results import EstimateReport
from clusterspec.units import display

Row = tuple[str, str, str]
"""Name, value and note."""


def power_rows(report: EstimateReport) -> Iterator[Row | None]:
    """The rows, each None if the spec states too little for it."""
    yield power_row(report)
    yield supply_row(report)
    yield swing_row(report)
    yield heat_row(report)
    yield energy_row(report)


def power_row(report: EstimateReport) -> Row | None:
    """The power of the machine under load with its range, and idle; without planned work only the idle power."""
    drawn = report.drawn
    if drawn is None:
        return None
    if drawn.busy is None:
        whose = "nodes of the job" if report.design.shares_machine else "whole machine"
        return "power, idle", display(drawn.idle.value, "W"), f"of the {whose}, without cooling"
    busy, token = drawn.busy, drawn.per_token
    span = f"{display(busy.low, 'W')} to {display(busy.high, 'W')}" if busy.low is not None and busy.high else ""
    each = f"{display(token.value, 'J')} a token" if token else ""
    return "power", display(busy.value, "W"), joined_notes(span, f"idle {display(drawn.idle.value, 'W')}", each)


def supply_row(report: EstimateReport) -> Row | None:
    """The power of a full rack and row at nameplates, and the rating of a feed; None if the spec states no racks."""
    supply = report.drawn.supply if report.drawn is not None else None
    if supply is None or supply.rack is None:
        return None
    row = f"row {display(supply.row.value, 'W')}" if supply.row else ""
    feed = f"{supply.feeds} feeds of {display(supply.feed.value, 'W')}" if supply.feed and supply.feeds else ""
    low, high = supply.rack.low, supply.rack.high
    held = "full, at nameplates"
    if low is not None and high is not None:
        held = f"full, {display(low, 'W')} to {display(high, 'W')} as the power of a node is not stated"
    return "rack", display(supply.rack.value, "W"), joined_notes(held, row, feed)


def swing_row(report: EstimateReport) -> Row | None:
    """How far and how fast the power of a training job falls and rises; None if the spec states no racks."""
    drawn = report.drawn
    if drawn is None or drawn.swings is None or drawn.supply.rack is None or report.plan.step_time is None:
        return None
    step, fall, ramp = drawn.swings
    each = f"in each step, {display(ramp.value, 'W/s')} at its edges"
    return "swing", display(step.value, "W"), joined_notes(each, f"{display(fall.value, 'W')} where the job stops")


def heat_row(report: EstimateReport) -> Row | None:
    """The heat of the hall and of a rack that liquid and air remove at nameplate power; None if air removes all."""
    heat = {each.of: each for each in report.drawn.supply.heat} if report.drawn is not None else {}
    hall, rack = heat.get("hall"), heat.get("rack")
    if hall is None or not hall.liquid.value:
        return None
    each = f"rack {display(rack.liquid.value, 'W')} and {display(rack.air.value, 'W')}" if rack else ""
    air = f"to liquid, {display(hall.air.value, 'W')} to air"
    return "heat", display(hall.liquid.value, "W"), joined_notes(air, each, "at nameplates")


def energy_row(report: EstimateReport) -> Row | None:
    """The money and the carbon of the energy of a run, else of a million tokens; None if the spec states neither."""
    drawn = report.drawn
    if drawn is None or not (drawn.money or drawn.carbon):
        return None
    pairs = [(term, "") for term in drawn.money] + [(term, " of CO2e") for term in drawn.carbon]
    name = "of_run" if drawn.of_run is not None else "per_million_tokens"
    texts = [display(term.value, term.unit) + what for term, what in pairs if term.name == name]
    of_what = "for the run, at the meter" if name == "of_run" else "per million tokens, at the meter"
    return "energy", texts[0], joined_notes(*texts[1:], of_what)
