"""Sums that must close in every entry: lanes, links, meshes, domains, nodes, peaks, switches, breakout, slots.

Where a vendor's own figures do not add up, the entry says why (``exceptions``), and a sum that
does close needs no excuse.
"""

from __future__ import annotations

import pytest

from clusterspec.catalog.audit import SUM_CHECKS, TOLERANCE, Sum, open_sums
from clusterspec.catalog.reader import FactReader, RawEntry
from tests.catalog.shipped import CARDS, CATALOG


def rate(read: FactReader, name: str) -> float | None:
    bandwidth = read.bandwidth(name)
    return bandwidth.value if bandwidth else None


def broken(raw_entry: RawEntry, check: str) -> list[Sum]:
    return open_sums(FactReader(raw_entry), check, CATALOG)


@pytest.mark.parametrize("check", SUM_CHECKS)
def test_the_sum_closes_or_the_entry_says_why_not(check: str) -> None:
    open_sums = {
        f"{raw_entry.kind}/{raw_entry.id}": broken(raw_entry, check)
        for raw_entry in CARDS
        if check not in raw_entry.exceptions
    }
    assert {name: sums for name, sums in open_sums.items() if sums} == {}


@pytest.mark.parametrize("check", SUM_CHECKS)
def test_an_exception_to_the_arithmetic_is_stated_only_where_the_sum_differs(check: str) -> None:
    assert [raw_entry.id for raw_entry in CARDS if check in raw_entry.exceptions and not broken(raw_entry, check)] == []


@pytest.mark.parametrize("check", SUM_CHECKS)
def test_a_check_applies_to_several_entries(check: str) -> None:
    asked = [
        sums for raw_entry in CARDS for sums in SUM_CHECKS[check](FactReader(raw_entry), CATALOG) if None not in sums
    ]
    assert len(asked) >= 2


def test_a_fraction_of_a_figure_is_not_more_than_the_figure() -> None:
    fractions = {
        f"{raw_entry.id} {name}": figure.value
        for raw_entry in CARDS
        for name, figure in FactReader(raw_entry).achievable().items()
        if figure.unit == "1" and raw_entry.achievable[name].of in raw_entry.facts
    }
    assert {name: value for name, value in fractions.items() if not 0 < value <= 1} == {}


def test_the_signaling_rate_is_at_least_the_payload_rate() -> None:
    for raw_entry in CARDS:
        read = FactReader(raw_entry)
        raw, carried = rate(read, "lane.signalling"), rate(read, "lane.bandwidth")
        assert raw is None or carried is None or carried <= raw * (1 + TOLERANCE), raw_entry.id
