"""Purchases and rents, and the market's prices in the currency of a spec."""

from __future__ import annotations

from datetime import date

from clusterspec.cluster.model import Cluster
from clusterspec.quantity import HOUR, Figure
from clusterspec.rules.knowledge.ranges import UNITS_PER_DOLLAR
from clusterspec.spec.model import Price, ProcurementSpec
from clusterspec.standard import pattern

ROUNDED = 1.002
"""Smallest ratio of a sum to a budget at which the sum exceeds it; some count 8,760 hours per year and others 8,766."""


def is_bought(procurement: ProcurementSpec, cluster: Cluster) -> bool:
    """Whether the machine is bought: neither an instance of a cloud nor rented by the hour."""
    return not cluster.cloud and not procurement.is_rent


def price_ends(price: Price) -> tuple[float, float]:
    """The lowest and the highest amount of a price.

    >>> price_ends(900), price_ends((280000, 340000))
    ((900.0, 900.0), (280000.0, 340000.0))
    """
    return (float(price[0]), float(price[1])) if isinstance(price, tuple) else (float(price), float(price))


def band_in_currency(currency: str | None, band: tuple[Figure, Figure]) -> tuple[float, float] | None:
    """A band of the catalog, in US dollars, in another currency; None for a currency without a known rate."""
    rate = UNITS_PER_DOLLAR.get(currency or "USD")
    return None if rate is None else (band[0].value * rate, band[1].value * rate)


SAME_TOTAL = 1e-4
"""Relative difference up to which two totals are equal: one of them may be rounded."""
CHEAP, DEAR = 0.6, 2.5
"""Factors on the lowest and the highest accelerator price that limit plausible prices: orders of hundreds get up to a
third off, and a branded node doubles the price of its accelerators.
"""


def is_off_market(node: Price, cluster: Cluster, currency: str | None) -> bool:
    """Whether the price of a node, divided by its accelerators, is far outside the market range; False if the range is
    unknown.
    """
    market = cluster.accelerator.market_price
    band = band_in_currency(currency, market) if market is not None else None
    low, high = (end / cluster.accelerators_per_node for end in price_ends(node))
    return band is not None and (high < CHEAP * band[0] or low > DEAR * band[1])


def lowest_rent(procurement: ProcurementSpec, cluster: Cluster) -> float | None:
    """The rent of all nodes over the term at the low end of the hourly price, with discount and tax applied; None
    without a price or a term.
    """
    price = (procurement.prices or {}).get("node_hour")
    if price is None or procurement.term is None:
        return None
    from clusterspec.procurement.amounts import terms_factor  # most plans have no rent

    return price_ends(price)[0] * cluster.all_nodes * procurement.term.value / HOUR * terms_factor(procurement)


SMALL = 100_000.0
"""Quotes below this many US dollars need no review, because one bad part or lost payment costs little."""


def is_small(procurement: ProcurementSpec, most: float = SMALL) -> bool:
    """Whether the total of a quote is known and below ``most`` US dollars."""
    from clusterspec.procurement.amounts import amount_of_quote  # most plans have no quote

    total = amount_of_quote(procurement)
    rate = UNITS_PER_DOLLAR.get(procurement.currency or "USD")
    return total is not None and rate is not None and 0 < total < most * rate


def amount_text(money: float) -> str:
    """An amount to the cent, without the digits that binary fractions add.

    >>> amount_text(265950.7200000002), amount_text(19840000)
    ('265,950.72', '19,840,000')
    """
    return f"{round(money, 2):,.15g}"


def money_text(text: str, currency: str | None) -> str:
    """An amount, or amounts, as text with the currency of the spec, where it states one.

    >>> money_text("25,200 to 27,900", "EUR"), money_text("480,000", None)
    ('25,200 to 27,900 EUR', '480,000')
    """
    return f"{text} {currency}" if currency else text


DATE = r"(?<![\w-])(20\d\d-\d\d-\d\d)(?![\d-])"
"""The pattern of a date in a text."""


_ISO_DATE = pattern(DATE)


_MONTHS = pattern(
    r"\bmonths? (\d{1,3}) ?(?:[-–/]|to|until|through|bis|à|au|a|al|até|t/m|tot|till|til|do) ?(?:month )?(\d{1,3})\b"
)


def months_in(text: str) -> list[tuple[int, int]]:
    """The first and the last month of each period that a text gives in contract months.

    >>> months_in("months 1-12: 12 x 360 kw"), months_in("months 1 to 9, then months 10 to 36")
    ([(1, 12)], [(1, 9), (10, 36)])
    """
    return [(int(first), int(last)) for first, last in _MONTHS.findall(text)]


def dates_in(text: str) -> list[date]:
    """The dates of a text as ISO 8601 writes them, in its order.

    >>> [str(each) for each in dates_in("from 2026-12-14 until 2027-03-31, and 2027-02-30")]
    ['2026-12-14', '2027-03-31']
    """
    return [day for each in _ISO_DATE.findall(text) if (day := date_of_text(each)) is not None]


def date_of_text(text: str | None) -> date | None:
    """A date of a spec; None without one, and for a date that is not in the calendar."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def plural_of_kind(kind: str) -> str:
    """The plural name of a kind of part in a bill.

    >>> plural_of_kind("leaf_switch"), plural_of_kind("nic"), plural_of_kind("cable")
    ('leaf switches', 'NICs', 'cables')
    """
    name = name_of_kind(kind)
    return name + ("es" if name.endswith("switch") else "s")


def counted_kind(kind: str, count: float) -> str:
    """A number of parts of a kind.

    >>> counted_kind("leaf_switch", 1), counted_kind("nic", 1024.0)
    ('1 leaf switch', '1,024 NICs')
    """
    return f"{count:,.0f} {name_of_kind(kind) if count == 1 else plural_of_kind(kind)}"


def name_of_kind(kind: str) -> str:
    """The name of a kind of part in a bill, such as `leaf switch` or `NIC`."""
    return "NIC" if kind == "nic" else kind.replace("_", " ")


def surplus_question(count: float) -> str:
    """The advice to ask about a surplus of ``count`` parts.

    >>> surplus_question(1), surplus_question(1200)
    ('ask what the other one is for', 'ask what the other 1,200 are for')
    """
    return "ask what the other one is for" if count == 1 else f"ask what the other {count:,.0f} are for"
