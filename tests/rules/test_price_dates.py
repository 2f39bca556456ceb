"""The day of prices against today's: when it is too old, when it lies ahead, and how far."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from clusterspec.finding import Severity
from clusterspec.rules.procurement.stale_prices import check
from clusterspec.spec.model.business import ProcurementSpec

TODAY = date(2026, 11, 20)


@pytest.mark.parametrize(
    ("days", "severity"),
    [(-367, "note"), (-366, None), (0, None), (1, None), (2, "note"), (92, "note"), (93, "warning")],
)
def test_prices_may_be_a_year_old_and_a_day_ahead(days: int, severity: str | None) -> None:
    """A year has up to 366 days; a day ahead it may be elsewhere; a quote is dated some weeks ahead at most."""
    stated = ProcurementSpec(as_of=(TODAY + timedelta(days=days)).isoformat(), prices={"node": 1.0})
    found = [(problem.path, problem.severity or Severity.NOTE) for problem in check(stated, TODAY)]
    assert [str(level) for _, level in found] == ([severity] if severity else [])


def test_a_date_without_prices_dates_nothing() -> None:
    assert list(check(ProcurementSpec(as_of="2001-01-01"), TODAY)) == []
