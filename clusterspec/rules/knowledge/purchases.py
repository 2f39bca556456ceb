"""Purchases and rents, and the market's prices in the currency of a spec."""

from __future__ import annotations

from datetime import date

from clusterspec.cluster.model import Cluster
from clusterspec.quantity import Figure
from clusterspec.spec.model import Price, ProcurementSpec

YEAR = 365.25 * 86_400.0
HOUR = 3600.0
ROUNDED = 1.002
"""Ratio from which a sum is above a budget: a year has 8,760 hours for one and 8,766 for another."""
UNITS_PER_DOLLAR = {
    "USD": 1.0, "EUR": 0.9, "GBP": 0.77, "CHF": 0.85, "CAD": 1.38, "AUD": 1.52, "SGD": 1.32, "NZD": 1.7,
    "JPY": 150.0, "CNY": 7.1, "INR": 87.0, "KRW": 1400.0, "TWD": 31.0, "SEK": 10.0, "NOK": 10.5, "DKK": 6.8, "PLN": 3.8,
}  # fmt: skip
"""Rough exchange rates of 2025 and 2026. They place a price within the right magnitude, and no sum uses them."""


def rented(procurement: ProcurementSpec) -> bool:
    """Whether nodes have an hourly price and no purchase price."""
    prices = procurement.prices or {}
    return bool(prices.get("node_hour")) and not prices.get("node")


def bought(procurement: ProcurementSpec, cluster: Cluster) -> bool:
    """Whether the machine is bought: neither an instance of a cloud nor rented by the hour."""
    return not cluster.cloud and not rented(procurement)


def ends(price: Price) -> tuple[float, float]:
    """The lowest and the highest amount of a price.

    >>> ends(900), ends((280000, 340000))
    ((900.0, 900.0), (280000.0, 340000.0))
    """
    return (float(price[0]), float(price[1])) if isinstance(price, tuple) else (float(price), float(price))


def band_in(currency: str | None, band: tuple[Figure, Figure]) -> tuple[float, float] | None:
    """A band of the catalog, in US dollars, in another currency; None for a currency without a known rate."""
    rate = UNITS_PER_DOLLAR.get(currency or "USD")
    return None if rate is None else (band[0].value * rate, band[1].value * rate)


CHEAP, DEAR = 0.6, 2.5
"""Of the lowest and the highest price of an accelerator: orders of hundreds get up to a third off, and a node of a
brand doubles the price of its accelerators."""


def is_off_market(node: Price, cluster: Cluster, currency: str | None) -> bool:
    """Whether the price of a node, over its accelerators, is far from the market; False where the market is not known."""
    market = cluster.accelerator.market_price
    band = band_in(currency, market) if market is not None else None
    low, high = (end / cluster.accelerators_per_node for end in ends(node))
    return band is not None and (high < CHEAP * band[0] or low > DEAR * band[1])


def day(text: str | None) -> date | None:
    """A date of a spec; None without one, and for a day that no calendar has."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None
