"""A stated price is far from the market of the accelerator.

## What it finds

The rule divides the price of a node (in `prices` or in the quote), or its rent, by the accelerators of the node, and
compares the result with the lowest and the highest price in the catalog's sources. A price below 0.6 times the lowest
or above 2.5 times the highest is a warning (below a fifth of that limit, where the line or the text calls the machines
refurbished or used); so is a rent below half of the lowest (below three quarters of it, if the stated figure is a usual
rent of one accelerator) or above 2.5 times the highest. It is an error at a fifth of the lowest or five times the
highest, or where the stated figure is a usual price of a single accelerator in a node of several. Where the price list
of the provider is known, the lower limit of a rent is at most a quarter of the listed one, because long commitments and
preemptible machines cost less. For a cloud instance of four or more accelerators, the rule also reports a rent of at
most 1.1 times the provider's list price per accelerator. The message says where a price fits one accelerator or a whole
rack. For an accelerator whose price no source gives, the rule compares its price per gigabyte of memory with all
accelerators of the catalog.

## Why it matters

A price per accelerator in place of a price per node makes the total eight times too low. The ranges are from 2026 and
from prices of single accelerators; a node adds processors, NICs and a chassis, and large orders get a discount.

## What to do

Check the unit of the price: accelerator, node or rack; hour or month.

## When to ignore it

Ignore it for a price that a signed contract states.

## Fires

```yaml procurement.prices.node
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 38000}}
```

```yaml procurement.prices.node_hour
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 16}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node_hour: 3.9}}
```

```yaml procurement.prices.node_hour
clusterspec: 1
cluster: {platform: tpu-v6e, nodes: 32}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node_hour: 2.70}}
```

```yaml procurement.prices.node_hour
clusterspec: 1
cluster: {platform: aws-trn2-48xlarge, nodes: 64}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node_hour: 2.20}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
```

```yaml
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 16}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node_hour: 55.04}}
```

```yaml
clusterspec: 1
cluster: {platform: aws-trn2-48xlarge, nodes: 64}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node_hour: 35.20}}
```

## Sources

- Prices of accelerators and of instances: their entries in the catalog, with sources and dates
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import discount_of_quote
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import names_accelerator, plain_part, unit_of_hours
from clusterspec.procurement.quotes import offered_quantity
from clusterspec.rules.knowledge.purchases import CHEAP, DEAR, band_in_currency, price_ends
from clusterspec.rules.knowledge.ranges import UNITS_PER_DOLLAR
from clusterspec.rules.readers.purchases.orders import states_previous_owner
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.source import Path
from clusterspec.spec.model import Price, ProcurementSpec

RULE = Rule.of(__name__, "warning", "heuristic")
USED = 0.2
"""Share of the lower price limit of new machines that used ones may cost, by judgment."""
FAR = 5.0
"""Factor above the highest and below the lowest price beyond which no contract is plausible."""
NAMED = 3.0
"""Factor below the lowest price from which a figure is rather the price of a single accelerator than a discount."""
CHEAP_RENT, CHEAP_FOR_ONE = 0.5, 0.75
"""Lower limits relative to the lowest rent: multi-year reservations get up to half off; a higher limit applies if the
figure is a usual rent of one accelerator.
"""
CHEAP_LISTED, LISTED_FOR_ONE = 0.25, 0.3
"""Lower limits relative to the provider's list price: three-year commitments cost down to 0.35 of it, and preemptible
machines less.
"""
PRICE_PER_GB, RENT_PER_GB = (48.0, 470.0), (0.0057, 0.115)
"""Lowest and highest price (USD) and rent (USD per hour) of an accelerator per GB of memory, over all accelerators of
the catalog with a price.
"""
COMPARED_SINCE = 2023
"""Year from which purchased accelerators are compared by memory size; older ones are sold used."""
MOST_NODES = 10
"""Multiple of the accelerators above which a quantity counts hours, whatever its line says."""
SAME_LIST = 1.1
"""Ratio to the list price of one accelerator up to which a figure is taken as that price, perhaps in another region."""


def check(procurement: ProcurementSpec, cluster: Cluster, remarks: str) -> Iterator[Problem]:
    if not (procurement.prices or procurement.quote):
        return
    prices = procurement.prices or {}
    if (band := _usual_price(cluster, procurement.currency)) is not None:
        limits = (CHEAP * band[0], DEAR * band[1])
        stated: list[tuple[Path, Price]] = (
            [(("procurement", "prices", "node"), node)] if (node := prices.get("node")) else []
        )
        stated += [
            (quote_path(line.index, "unit_price"), line.unit_price * (1 - discount_of_quote(procurement)))
            for line in _nodes_with_accelerators(procurement, cluster)
            if line.unit_price and _counts_nodes(line, cluster)
        ]
        for at, amount in stated:
            least = limits[0] * (USED if _is_sold_used(at, procurement, remarks) else 1.0)
            yield from _problem(at, amount, "", (least, limits[1]), band, cluster, procurement.currency)
    rent, own = cluster.accelerator.market_rent, cluster.platform.market_rent if cluster.platform else None
    usual = band_in_currency(procurement.currency, rent) if rent else None
    listed = band_in_currency(procurement.currency, own) if own else None
    known = _has_market_price(cluster, rent=True)
    alike = None if known else _price_range_by_memory(RENT_PER_GB, cluster, procurement.currency)
    for at, hourly in _stated_rents(procurement, cluster):
        lowest = _lowest_rent(price_ends(hourly)[1], usual, listed, cluster.accelerators_per_node)
        if lowest is None and alike is not None:
            lowest = CHEAP_RENT * alike[0]
        if lowest is not None:
            bands = [band for band in (usual, listed, alike) if band is not None]
            band = (min(low for low, _ in bands), max(high for _, high in bands))
            yield from _problem(at, hourly, " an hour", (lowest, DEAR * band[1]), band, cluster, procurement.currency)


def _nodes_with_accelerators(procurement: ProcurementSpec, cluster: Cluster) -> list[Offered]:
    """The lines that offer nodes of the design; empty if other lines offer their accelerators.

    Such a line names accelerators, has as many units as there are nodes or accelerators, or is the only one: words for
    machines also name workstations, login nodes and work on servers.
    """
    lines = list(offered_lines(procurement.quote or (), cluster))
    apart = offered_quantity([line for line in lines if line.kind == "accelerator"])
    if 2 * apart >= cluster.nodes * cluster.accelerators_per_node:
        return []
    nodes = [line for line in lines if line.kind == "node"]
    whole = {cluster.nodes, cluster.all_nodes, cluster.nodes * cluster.accelerators_per_node}
    return [
        line
        for line in nodes
        if len(nodes) == 1 or line.quantity in whole or names_accelerator(plain_part(line.line)) or line.units > 1
    ]


def _counts_nodes(line: Offered, cluster: Cluster) -> bool:
    """Whether the quantity of a line may count nodes, and not accelerators or hours of the machine."""
    accelerators = cluster.all_nodes * cluster.accelerators_per_node
    return line.quantity is not None and line.quantity != accelerators and line.quantity <= MOST_NODES * accelerators


def _is_sold_used(at: Path, procurement: ProcurementSpec, remarks: str) -> bool:
    """Whether the line of a price, or the text of the spec, says that the machines are used ones."""
    line = (procurement.quote or ())[at[2]] if at[1] == "quote" and isinstance(at[2], int) else None
    return states_previous_owner((line.part if line else None) or "", remarks)


def _has_market_price(cluster: Cluster, *, rent: bool) -> bool:
    """Whether a source gives a market price of the accelerator or, for rents, a rent of it or its platform."""
    if not rent:
        return cluster.accelerator.market_price is not None
    return bool(cluster.accelerator.market_rent or (cluster.platform and cluster.platform.market_rent))


def _usual_price(cluster: Cluster, currency: str | None) -> tuple[float, float] | None:
    """The lowest and the highest price of an accelerator, by its market price or by its memory size; None if neither is
    known.
    """
    if (price := cluster.accelerator.market_price) is not None:
        return band_in_currency(currency, price)
    new = (cluster.accelerator.year or 0) >= COMPARED_SINCE
    return _price_range_by_memory(PRICE_PER_GB, cluster, currency) if new else None


def _price_range_by_memory(
    per_gb: tuple[float, float], cluster: Cluster, currency: str | None
) -> tuple[float, float] | None:
    """The price range of accelerators with the design's memory size, from a price per GB (10^9 bytes) in US dollars."""
    memory, rate = cluster.accelerator.memory, UNITS_PER_DOLLAR.get(currency or "USD")
    if memory is None or rate is None:
        return None
    return per_gb[0] * memory.value / 1e9 * rate, per_gb[1] * memory.value / 1e9 * rate


def _lowest_rent(
    hourly: float, usual: tuple[float, float] | None, listed: tuple[float, float] | None, count: int
) -> float | None:
    """The rent of one accelerator below which a rent is reported, by market prices and the provider's price list; None
    if neither is known.

    ``hourly`` is the rent of a node with ``count`` accelerators.

    >>> _lowest_rent(98.32, (1.47, 6.88), (12.29, 12.29), 8), round(_lowest_rent(12.29, (1.47, 6.88), (12.29, 12.29), 8), 3)
    (0.735, 3.687)
    """
    found = [CHEAP_LISTED * listed[0]] if listed else []
    if usual:
        found.append((CHEAP_FOR_ONE if usual[0] <= hourly <= usual[1] else CHEAP_RENT) * usual[0])
    if listed and hourly <= SAME_LIST * listed[1] and hourly / count < LISTED_FOR_ONE * listed[0]:
        return LISTED_FOR_ONE * listed[0]
    return min(found, default=None)


def _stated_rents(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[tuple[Path, Price]]:
    """The rents of a node per hour, from the prices and from the quote."""
    hourly = (procurement.prices or {}).get("node_hour")
    if hourly:
        yield ("procurement", "prices", "node_hour"), hourly
    for line in offered_lines(procurement.quote or (), cluster):
        rent = line.line.unit_price / line.hours if line.is_node_rent and line.line.unit_price else None
        if rent is not None and unit_of_hours(plain_part(line.line)) == "accelerator":
            rent *= cluster.accelerators_per_node
        if rent and rent != hourly:
            yield quote_path(line.index, "unit_price"), rent


def _problem(
    at: Path,
    price: Price,
    unit: str,
    limits: tuple[float, float],
    band: tuple[float, float],
    cluster: Cluster,
    currency: str | None,
) -> Iterator[Problem]:
    count, (low, high) = cluster.accelerators_per_node, price_ends(price)
    if high / count >= limits[0] and low / count <= limits[1]:
        return
    amount = high if high / count < limits[0] else low
    named = (
        f"{_amount_text(amount / count)} {currency or 'USD'}{unit} for one of {count} accelerators"
        if count > 1
        else f"{_amount_text(amount)} {currency or 'USD'}{unit}"
    )
    usual = (
        f"{_amount_text(band[0])} to {_amount_text(band[1])}" if band[0] < band[1] else f"about {_amount_text(band[0])}"
    )
    part = cluster.accelerator.name
    costs = (
        f"{part} costs"
        if _has_market_price(cluster, rent=bool(unit))
        else f"accelerators with the memory of {part} cost"
    )
    message = (
        f"{_amount_text(amount)} {currency or 'USD'} for a node is {named}; {costs} {usual} {currency or 'USD'}{unit}"
    )
    reading = _other_reading(amount, limits, cluster)
    help_ = (
        f"it looks like the price of {reading}: write the price of a node"
        if reading
        else f"write `{1000 * amount:.0f}` if a point separates the thousands: YAML reads it as a decimal point"
        if not unit and limits[0] <= 1000 * amount / count <= limits[1]
        else "check the figure and its unit"
    )
    far = (
        amount / count < band[0] / FAR
        or amount / count > band[1] * FAR
        or (reading == "one accelerator" and (bool(unit) or amount / count < band[0] / NAMED))
    )
    yield RULE.problem(at, message, help_, severity="error" if far else "", confidence="likely" if far else "")


def _other_reading(amount: float, limits: tuple[float, float], cluster: Cluster) -> str:
    """Another possible unit of a price: one accelerator, or a whole domain of several nodes; empty if neither fits."""
    domain = nodes_of_domain(cluster) * cluster.accelerators_per_node
    if cluster.accelerators_per_node > 1 and limits[0] <= amount <= limits[1]:
        return "one accelerator"
    return (
        "a whole rack" if domain > cluster.accelerators_per_node and limits[0] <= amount / domain <= limits[1] else ""
    )


def _amount_text(value: float) -> str:
    """An amount as text, without cents from a hundred on.

    >>> _amount_text(45000.0), _amount_text(100.0), _amount_text(99.5)
    ('45,000', '100', '99.50')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"
