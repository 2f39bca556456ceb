"""Taxes of a purchase compared with the general rate of its country or province, each rate of the table and the next
ones.
"""

from __future__ import annotations

from tests.effort import each, sampled

from .conftest import Check

SPEC = """\
clusterspec: 1
description: {text}
cluster: {{platform: dgx-h200, nodes: 2}}
procurement: {{currency: {currency}, tax: {tax:.6g}, quote: [{{part: "DGX H200", quantity: 2, unit_price: 420000}}]}}
"""
COUNTRIES = {
    **{"AUD": "10", "CHF": "8.1", "CLP": "19", "CZK": "21", "DKK": "25", "GBP": "20", "HUF": "27", "JPY": "10"},
    **{"KRW": "10", "MXN": "16", "NOK": "25", "NZD": "15", "PLN": "23", "SEK": "25", "SGD": "9"},
}
PROVINCES = [
    ("Alberta", "Calgary", (5,)),
    ("British Columbia", "Vancouver", (12, 5)),
    ("Manitoba", "Winnipeg", (12, 5)),
    ("New Brunswick", "Newfoundland", (15,)),
    ("Nova Scotia", "Halifax", (14, 15)),
    ("Ontario", "Waterloo", (13,)),
    ("Quebec", "Montréal", (14.975, 5)),
    ("Saskatchewan", "Regina", (11, 5)),
]


def told(check: Check, currency: str, tax: float, text: str = "A cluster") -> list[str]:
    """The messages on a tax in percent."""
    findings = check(SPEC.format(text=text, currency=currency, tax=tax / 100), "tax-off-jurisdiction")
    return [one.message for one in findings if one.rule == "tax-off-jurisdiction"]


@each("currency, rate", sampled(COUNTRIES.items(), 2 * len(COUNTRIES)))
def test_a_tax_is_the_general_rate_of_the_country_of_the_currency(currency: str, rate: str, check: Check) -> None:
    assert not told(check, currency, float(rate))
    assert not told(check, currency, float(rate) * 1.0009), "a rounded rate"
    off = f"is not that of purchases in {currency}: {rate} %"
    for tax in (float(rate) * 1.002, float(rate) + 1, float(rate) / 2):
        (message,) = told(check, currency, tax)
        assert off in message
    assert not told(check, "EUR", float(rate)), "a currency of several countries"


@each("name, place, rates", PROVINCES)
def test_a_tax_is_one_of_the_rates_of_the_province_that_a_text_names(
    name: str, place: str, rates: tuple[float, ...], check: Check
) -> None:
    for where in (name, place):
        for tax in rates:
            assert not told(check, "CAD", tax, f"A hall in {where}")
        (message,) = told(check, "CAD", 7, f"A hall in {where}")
        assert message == f"a tax of 7 % is not that of {name}: {rates[0]:g} %"
    assert not told(check, "CAD", 7), "no province is named"
    other = "Ottawa" if name != "Ontario" else "Edmonton"
    assert not told(check, "CAD", 7, f"Halls in {name} and {other}"), "of which of both?"
