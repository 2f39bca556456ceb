"""The days of a purchase: order, delivery, acceptance, and the end of the planned run; and the gates of the delivery
and the term.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from math import ceil

from clusterspec.analysis.purchase.risks import IDLE
from clusterspec.cluster.model import Cluster
from clusterspec.money import Money
from clusterspec.procurement.amounts import rounded_text
from clusterspec.quantity import DAY
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import Gate, GateStatus, PurchaseDay, Risk
from clusterspec.spec.model import ProcurementSpec, Spec
from clusterspec.units import display, portion, term_text


def order_day(buying: ProcurementSpec, today: date) -> date:
    """The first day on which the machine can be ordered: the date of the prices, or today if that date has passed.
    Raises `ValueError` for an invalid date.
    """
    return max(today, date.fromisoformat(buying.as_of)) if buying.as_of else today


def purchase_days(report: FullReport) -> Iterator[PurchaseDay]:
    """The dates of the purchase from `order_day` on, as far as the spec states durations."""
    spec = report.estimate.design.spec
    buying = spec.procurement
    weeks = buying.delivery.weeks if buying is not None and buying.delivery is not None else None
    if buying is None or weeks is None:
        return
    try:
        ordered = order_day(buying, report.today)
        delivered = ordered + timedelta(days=round(7 * float(weeks)))
        yield PurchaseDay("delivered", delivered.isoformat(), f"if ordered on {ordered}")
        burning = spec.operations.burn_in if spec.operations is not None else None
        ready = delivered + timedelta(days=ceil(burning.value / DAY) if burning is not None else 0)
        if burning is not None:
            yield PurchaseDay("ready for work", ready.isoformat(), f"after a burn-in of {burning.written}")
        kept = report.reliability
        if kept is not None and kept.with_interruptions is not None:
            end = ready + timedelta(days=ceil(kept.with_interruptions / DAY))
            yield PurchaseDay("end of the run", end.isoformat(), "if it starts then")
    except (ValueError, OverflowError):
        return


# The gate of the delivery


def delivery_gate(spec: Spec, today: date, *, rents: bool) -> Gate:
    """The gate of the delivery: its weeks, and whether the machine is ready on the day when it is needed."""
    buying = spec.procurement or ProcurementSpec()
    weeks = buying.delivery.weeks if buying.delivery else None
    if weeks is None:
        if rents:
            return Gate("delivery", GateStatus.NOT_NEEDED, "rented")
        return Gate(
            "delivery", GateStatus.OPEN, "not stated (`procurement.delivery.weeks`)", "ask for a time of delivery"
        )
    late = _days_late(spec, float(weeks), today)
    if late is None:
        return Gate("delivery", GateStatus.MET, f"{weeks:g} weeks")
    days, ordered = late[0], late[1].isoformat()
    burning = " and the burn-in" if spec.operations is not None and spec.operations.burn_in is not None else ""
    if days > 0:
        text = f"{weeks:g} weeks{burning} from {ordered} end {days:,.0f} days after {buying.needed_by}"
        ask = "move the date, or have parts delivered earlier"
        return Gate("delivery", GateStatus.FAILED, text, ask if late[1] <= today else f"order earlier, {ask}")
    early = f"{abs(days):,.0f} days before {buying.needed_by} if ordered on {ordered}"
    return Gate("delivery", GateStatus.MET, f"{weeks:g} weeks{burning}, {early}")


def sold_gate(gate: Gate, cluster: Cluster) -> Gate:
    """The gate of the delivery. It is open if the catalog lists the node, or its accelerator, as not on sale."""
    part = cluster.platform or cluster.accelerator
    if gate.status not in {GateStatus.MET, GateStatus.OPEN} or part.status.state not in NOT_SOLD:
        return gate
    text = f"{part.name} is {part.status.state} as of {part.status.as_of}"
    text = text if gate.status is GateStatus.MET else f"{gate.text}; {text}"
    return Gate(gate.gate, GateStatus.OPEN, text, "ask whether, and when, it is delivered")


NOT_SOLD = frozenset({"announced", "discontinued"})
"""States of a catalog entry in which a delivery date in the spec does not settle the delivery."""


def _days_late(spec: Spec, weeks: float, today: date) -> tuple[float, date] | None:
    """The number of days by which the end of burn-in misses the required date, and the order date; None if a date is
    absent or unreadable.
    """
    buying = spec.procurement or ProcurementSpec()
    try:
        ordered, needed = order_day(buying, today), date.fromisoformat(buying.needed_by or "")
    except ValueError:
        return None
    burning = spec.operations.burn_in if spec.operations else None
    ready = ordered.toordinal() + 7 * weeks + (burning.value / DAY if burning else 0.0)
    return ready - needed.toordinal(), ordered


# The gate of the term, of which the planned run may take a part


def _run_seconds(report: FullReport) -> float | None:
    """The planned run with its interruptions, where they are known."""
    kept = report.reliability
    return (kept.with_interruptions if kept else None) or report.estimate.plan.time_to_train


def run_text(report: FullReport) -> str:
    """Text about the share of the term that the planned run takes; empty if the run takes almost all of it."""
    buying, run = report.estimate.design.spec.procurement, _run_seconds(report)
    if buying is None or buying.term is None or run is None or run >= (1 - IDLE) * buying.term.value:
        return ""
    share = portion(run / buying.term.value)
    return f", of which the planned run takes {display(run, 's')} ({share}); no work is stated for the rest"


def unused_rent(report: FullReport, rent: Money | None) -> Risk | None:
    """The rent for the days after the planned run, if these exceed a usual scheduling reserve."""
    buying, run = report.estimate.design.spec.procurement, _run_seconds(report)
    if buying is None or buying.term is None or run is None or rent is None:
        return None
    share = 1 - run / buying.term.value
    if share <= IDLE:
        return None
    text = f"the run ends after {display(run, 's')} of the term of {term_text(buying.term.value)}"
    return Risk("rent after the run", None, Money.of(rent.middle.low * share, rent.currency), text)


def term_gate(buying: ProcurementSpec, unused: Risk | None, run: str) -> Gate:
    """The gate of the term. ``run`` is the text about the share of the term that the planned run takes, or empty."""
    if buying.term is None:
        text = "not stated, so that no cost of operation is counted (`procurement.term`)"
        return Gate("term", GateStatus.OPEN, text, "state how long the machine is to run")
    if unused is not None and unused.money is not None:
        text = f"{unused.text}: {rounded_text(unused.money)} of the rent are for days without planned work"
        return Gate("term", GateStatus.OPEN, text, "rent for the run, or plan further work")
    return Gate("term", GateStatus.MET, term_text(buying.term.value) + run)
