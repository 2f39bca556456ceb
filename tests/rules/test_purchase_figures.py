"""Prices of a spec compared with those of the market, and sums of purchases and rents, worked out by hand."""

from __future__ import annotations

from datetime import date

import pytest

from clusterspec.cluster.model import Design
from clusterspec.procurement.amounts import line_price, total_of_lines
from clusterspec.quantity import Quantity
from clusterspec.records import replace
from clusterspec.rules.knowledge.market import BANDS, StatedPrice, stated_prices
from clusterspec.rules.knowledge.purchases import (
    band_in_currency,
    date_of_text,
    is_bought,
    is_off_market,
    is_small,
    lowest_rent,
)
from clusterspec.rules.knowledge.ranges import UNITS_PER_DOLLAR
from clusterspec.spec.model import Price, ProcurementSpec, QuoteLine
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

from .conftest import Check

SPEC = """clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  spare_nodes: 1
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: fat-tree}
  power: {node: 10 kW, nodes_per_rack: 2}
  networks: {storage: {capacity: 500 TB}}
procurement: {currency: USD, prices: {node: 300000, leaf_switch: 30000}}
"""


def design(text: str = SPEC) -> Design:
    return study_text(text, SETTINGS).design


def bought(currency: str | None = "USD", /, **prices: Price) -> ProcurementSpec:
    return ProcurementSpec(currency=currency, prices=prices)


@each(
    ("kind", "size"),
    [
        ("leaf_switch", 25_600.0),  # 64 ports of 400 Gb/s
        ("spine_switch", 25_600.0),
        ("core_switch", 25_600.0),
        ("nic", 400.0),
        ("transceiver", 400.0),
        ("storage", 500.0),
        ("rack_per_month", 20.0),  # two nodes of 10 kW
        ("support_per_year", 5 * 300_000.0 + 30_000.0),  # five nodes with the spare one, and one switch
    ],
)
def test_a_price_is_compared_for_all_that_it_covers(kind: str, size: float) -> None:
    (found,) = stated_prices(bought("USD", **{kind: (1, 3)}), design())
    assert (found.at, found.kind, found.low, found.high) == (("procurement", "prices", kind), kind, 1.0, 3.0)
    assert found.size == pytest.approx(size)


def test_a_cable_has_a_range_of_its_own_and_free_parts_none() -> None:
    assert not [*stated_prices(bought(cable=8), design())]
    assert not [*stated_prices(bought(nic=0), design())]
    assert not [*stated_prices(bought(node=300_000), design())], "nodes have the prices of their accelerators"


@each(
    ("currency", "factor"),
    [("USD", 1.0), (None, 1.0), ("EUR", 1 / 0.9), ("JPY", 1 / 150)],
)
def test_a_price_is_compared_in_dollars(currency: str | None, factor: float) -> None:
    (found,) = stated_prices(bought(currency, nic=(900, 1800)), design())
    assert (found.low, found.high) == pytest.approx((900 * factor, 1800 * factor))


def test_a_currency_without_a_rate_is_not_compared() -> None:
    assert not [*stated_prices(bought("XTS", nic=900), design())]
    assert band_in_currency("XTS", design().cluster.accelerator.market_price or ()) is None  # type: ignore[union-attr, arg-type]


@each("kind", sorted(BANDS))
def test_a_price_is_outside_only_beyond_the_ends_of_its_band(kind: str) -> None:
    band = BANDS[kind]

    def excess(low: float, high: float) -> float:
        return StatedPrice((), kind, low * 10, high * 10, 10.0).ratio_to_range

    assert excess(band.low, band.low) == excess(band.high, band.high) == excess(band.low / 2, band.low) == 1
    assert excess(band.low / 4, band.low / 4) == pytest.approx(0.25)
    assert excess(band.low / 8, band.low / 2) == pytest.approx(0.5)
    assert excess(band.high * 3, band.high * 3) == pytest.approx(3)
    assert excess(band.high * 2, band.high * 5) == pytest.approx(2)
    assert excess(band.low / 2, band.high * 2) == 1


def test_a_line_of_a_quote_is_compared_at_its_unit_price() -> None:
    quote = "quote: [{part: leaf switch, quantity: 1, unit_price: 30000}, {part: node, price: 5}]"
    found = design(SPEC.replace("prices: {node: 300000, leaf_switch: 30000}", quote))
    assert found.spec.procurement is not None
    rows = [(one.at, one.kind, one.low, one.high) for one in stated_prices(found.spec.procurement, found)]
    assert rows == [(("procurement", "quote", 0, "unit_price"), "leaf_switch", 30e3, 30e3)]


@each(
    ("factor_low", "factor_high", "off"),
    [(0.59, 0.59, True), (0.61, 0.61, False), (2.4, 2.4, False), (2.6, 2.6, True), (0.1, 0.61, False), (2.4, 9, False)],
)
def test_a_node_is_off_the_market_by_its_accelerators(factor_low: float, factor_high: float, off: bool) -> None:
    """Below 0.6 times the lowest price of eight accelerators, or above 2.5 times the highest."""
    cluster = design().cluster
    assert cluster is not None and cluster.accelerator.market_price is not None
    low, high = (end.value * 8 for end in cluster.accelerator.market_price)
    ends = [low * factor if factor < 1 else high * factor for factor in (factor_low, factor_high)]
    assert is_off_market((ends[0], ends[1]), cluster, "USD") is off
    assert is_off_market((ends[0] * 0.9, ends[1] * 0.9), cluster, "EUR") is off
    unknown = replace(cluster, accelerator=replace(cluster.accelerator, market_price=None))
    assert not is_off_market((1, 1), unknown, "USD")


def test_nodes_are_rented_by_an_hourly_price_alone() -> None:
    cluster = design().cluster
    assert cluster is not None
    cloud = study_text("clusterspec: 1\ncluster: {platform: aws-p5-48xlarge, nodes: 2}\n", SETTINGS).design.cluster
    assert cloud is not None
    for prices, rented in (({"node_hour": 20}, True), ({"node_hour": 20, "node": 1}, False), ({"node": 1}, False)):
        assert ProcurementSpec(prices=dict(prices)).is_rent is rented
        assert is_bought(ProcurementSpec(prices=dict(prices)), cluster) is not rented
        assert not is_bought(ProcurementSpec(prices=dict(prices)), cloud)
    assert not ProcurementSpec().is_rent


def test_the_least_rent_is_that_of_all_nodes_over_the_term() -> None:
    """Five nodes with the spare one, at 20 an hour, for 100 h."""
    cluster, term = design().cluster, Quantity(360_000.0, "s", "100 h")
    assert cluster is not None
    assert lowest_rent(ProcurementSpec(prices={"node_hour": (20, 30)}, term=term), cluster) == 10_000
    assert lowest_rent(ProcurementSpec(prices={"node_hour": 20}), cluster) is None
    assert lowest_rent(ProcurementSpec(prices={"node": 20}, term=term), cluster) is None


LINES = (
    QuoteLine(part="a", quantity=3, unit_price=20),
    QuoteLine(part="b", price=40, quantity=2, unit_price=1),
    QuoteLine(part="c", quantity=2),
    QuoteLine(part="d", unit_price=2),
)


def test_a_line_costs_its_price_or_all_of_its_pieces() -> None:
    assert [line_price(line) for line in LINES] == [60, 40, None, None]


@each(
    ("discount", "tax", "total"),
    [(None, None, 100.0), (0.1, None, 90.0), (None, 0.2, 120.0), (0.1, 0.2, 108.0)],
)
def test_a_quote_sums_its_lines_less_the_discount_and_with_the_tax(
    discount: float | None, tax: float | None, total: float
) -> None:
    assert total_of_lines(ProcurementSpec(quote=LINES, discount=discount, tax=tax)) == pytest.approx(total)
    assert total_of_lines(ProcurementSpec(quote=LINES[2:], discount=discount, tax=tax)) is None


@each(
    ("currency", "total", "small"),
    [
        (None, 99_999, True),
        ("USD", 100_000, False),
        ("EUR", 89_999, True),
        ("EUR", 90_000, False),
        ("JPY", 14_999_999, True),
        ("XTS", 1, False),
        ("USD", None, False),
    ],
)
def test_a_quote_is_small_below_a_hundred_thousand_dollars(
    currency: str | None, total: float | None, small: bool
) -> None:
    assert is_small(ProcurementSpec(currency=currency, quoted_total=total)) is small


def test_a_quote_without_the_price_of_a_line_is_not_known_to_be_small() -> None:
    assert is_small(ProcurementSpec(quote=LINES[:2]))
    assert not is_small(ProcurementSpec(quote=LINES))


@each(
    ("keys", "reported"),
    [
        ("quote: [{part: a, price: 1000000}], discount: 0.1, budget: 900000", []),
        ("quote: [{part: a, price: 1000000}], discount: 0.1, budget: 899999", ["procurement.quote: the quoted total"]),
        (
            "quote: [{part: a, price: 1000000}], discount: 0.1, tax: 0.2, budget: 1000000",
            ["procurement.quote: the quoted"],
        ),
        ("quote: [{part: a, price: 1000}, {part: b}], budget: 1500000", []),
        ("quote: [{part: a, price: 1000}, {part: b}], budget: 1499999", ["procurement.budget: the priced parts"]),
        ("quote: [{part: a, price: 2000000}, {part: b}], budget: 2000000", []),
        ("quote: [{part: a, price: 2000000}, {part: b}], budget: 1999999", ["procurement.budget: the priced lines of"]),
    ],
)
def test_a_budget_holds_the_whole_quote_or_the_larger_known_sum(keys: str, reported: list[str]) -> None:
    """Five nodes of 300,000 are 1,500,000 without the switches, which have no price here."""
    buying = f"procurement: {{prices: {{node: 300000}}, {keys}}}"
    one = study_text(f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: 5}}\n{buying}\n", SETTINGS)
    problems = [problem for problem in one.problems_and_fault[0] if problem.rule == "over-budget"]
    found = [f"{'.'.join(map(str, one.path))}: {one.message}" for one in problems]
    assert len(found) == len(reported)
    assert all(one.startswith(start) for one, start in zip(found, reported, strict=True))


def test_a_day_that_no_calendar_has_is_no_date() -> None:
    assert date_of_text("2026-02-28") == date(2026, 2, 28)
    assert date_of_text("2026-02-30") is date_of_text(None) is date_of_text("") is None


SIDE_PARTS = """clusterspec: 1
cluster: {{platform: dgx-h200, nodes: 16}}
procurement:
  currency: USD
  as_of: 2026-11-01
  term: 5 years
  support: {{term: 5 years, response: 24 h}}
  prices: {{{price}}}
  quote:
    - {{part: DGX H200, quantity: 16, unit_price: 310000}}
    - {{part: "rack 48U", quantity: 4, unit_price: 6000}}
    - {{part: "rack 48U without rails", quantity: 1, unit_price: 4000}}
    - {{part: "NVMe storage 1 PB", quantity: 1, unit_price: 900000}}
    - {{part: "SN4600C frontend switch, 100 GbE", quantity: 2, unit_price: 20000}}
    - {{part: "support of all systems, 60 months", quantity: 1, unit_price: 2000000}}
"""


@each(
    ("price", "off"),
    [
        ("rack: 6000", False),
        ("rack: 4000", False),
        ("rack: 5600", False),  # the mean of five
        ("rack: 12000", True),
        ("rack: [5500, 6500]", False),
        ("storage: 900000", False),
        ("storage: 450000", True),
        ("frontend_switch: 20000", False),
        ("frontend_switch: 40000", True),
        ("frontend_cable: 40", False),  # no line
        ("support_per_year: 400000", False),
        ("support_per_year: 450000", False),
        ("support_per_year: 200000", True),
        ("support_per_year: 800000", True),
    ],
)
def test_prices_other_than_the_fabric_are_those_of_the_quote(price: str, off: bool, check: Check) -> None:
    rules = {one.rule for one in check(SIDE_PARTS.format(price=price))}
    assert ("quote-off-prices" in rules) == off


MID_2025 = {
    **{"USD": 1.0, "EUR": 0.86, "GBP": 0.74, "CHF": 0.80, "CAD": 1.37, "AUD": 1.53, "SGD": 1.28, "NZD": 1.65},
    **{"JPY": 145.0, "CNY": 7.17, "INR": 86.0, "KRW": 1370.0, "TWD": 29.5, "SEK": 9.5, "NOK": 10.1, "DKK": 6.4},
    **{"PLN": 3.65, "CZK": 21.2, "HUF": 342.0, "RON": 4.35, "TRY": 40.0, "ILS": 3.4, "AED": 3.6725, "SAR": 3.75},
    **{"QAR": 3.64, "KWD": 0.306, "BHD": 0.376, "OMR": 0.3845, "THB": 32.5, "PHP": 56.5, "MYR": 4.23, "IDR": 16_250.0},
    **{"VND": 26_100.0, "HKD": 7.85, "KZT": 520.0, "UAH": 41.7, "ZAR": 17.8, "BRL": 5.5, "MXN": 18.8, "CLP": 935.0},
    **{"COP": 4_080.0, "PKR": 284.0},
}
"""Units of a currency for a dollar in the middle of 2025, rounded."""


@each("currency", sorted(UNITS_PER_DOLLAR))
def test_a_rate_of_exchange_is_that_of_its_years_within_a_sixth(currency: str) -> None:
    assert UNITS_PER_DOLLAR[currency] == pytest.approx(MID_2025[currency], rel=1 / 6)
