"""The days of a purchase: its order, delivery, acceptance, and the end of the planned run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from math import ceil

from clusterspec.quantity import DAY
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import PurchaseDay
from clusterspec.spec.model import ProcurementSpec


def order_day(buying: ProcurementSpec, today: date) -> date:
    """The first day on which the machine can be ordered: the date of the prices, or today where that is past. Raises
    `ValueError` for a date that is none.
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
