"""The prices that a quote states per unit of each kind of part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.procurement.amounts import line_price
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import WHOLE_NETWORK
from clusterspec.spec.model import QuoteLine


def quoted_unit_prices(
    lines: Sequence[QuoteLine], cluster: Cluster, required: Mapping[str, int]
) -> Mapping[str, tuple[float, float]]:
    """The lowest and highest unit price of each kind of part that a quote sells by the unit.

    ``required`` are the parts of the bill by kind: the price of one lot is not a unit price if the bill needs several
    units. Where the lines of a kind have different prices and as many units as the bill, both are the mean, so that the
    sum is the quote's.
    """
    found: dict[str, tuple[float, float]] = {}
    sums: dict[str, tuple[float, float]] = {}
    every = list(offered_lines(lines, cluster))
    for offered in every:
        whole, quantity = line_price(offered.line), offered.line.quantity
        unit = offered.line.unit_price
        if unit is None and whole is not None and quantity:
            unit = whole / quantity
        if offered.is_periodic or (offered.is_lot and required.get(offered.kind, 0) != 1):
            continue
        if unit is None or offered.kind == "other" or offered.covered_kinds == WHOLE_NETWORK:
            continue
        each = float(unit) / offered.units
        low, high = found.get(offered.kind, (each, each))
        found[offered.kind] = (min(low, each), max(high, each))
        units, price = sums.get(offered.kind, (0.0, 0.0))
        number = offered.quantity or 0.0
        sums[offered.kind] = (units + number, price + number * each)
    for kind, (units, price) in sums.items():
        if units and units == required.get(kind):
            found[kind] = (price / units, price / units)
    return found | _prices_over_bill(every, required)


def _prices_over_bill(lines: Sequence[Offered], required: Mapping[str, int]) -> dict[str, tuple[float, float]]:
    """Prices per unit of the bill for parts that quotes sell in other units: the storage system, racks and bundled
    cables. Each is the sum over all lines of the kind divided by the units of the bill.
    """
    bundled = {line.kind for line in lines if line.is_bundle}
    prices: dict[str, list[float | None]] = {}
    for line in lines:
        if (kind := line.site_kind or (line.kind if line.kind in bundled else None)) is not None:
            prices.setdefault(kind, []).append(line_price(line.line))
    found = {}
    for kind, each in prices.items():
        known = [float(price) for price in each if price is not None]
        if len(known) == len(each) and required.get(kind):
            found[kind] = (sum(known) / required[kind], sum(known) / required[kind])
    return found
