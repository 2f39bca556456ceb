"""Two entries of the tariff state different prices for the same hours.

## What it finds

`procurement.tariff` with hours that overlap at different prices (an error), an entry whose hours another one covers
completely at any price (a warning), and hours without a price, where `electricity` is absent and the entries do not cover
the day (a warning).

## Why it matters

The cost takes the price of each minute from the first entry that contains it, so the energy bill depends on the order
of the entries. Where a minute has no price, the cost cannot be computed.

## What to do

Let each entry end where the next one begins, and state `electricity` for all other hours.

## When to ignore it

Do not ignore it.

## Fires

```yaml procurement.tariff[1].from
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, electricity: 0.12, tariff: [{from: "22:00", to: "06:00", price: 0.07}, {from: "05:00", to: "09:00", price: 0.19}]}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, electricity: 0.12, tariff: [{from: "22:00", to: "06:00", price: 0.07}, {from: "06:00", to: "09:00", price: 0.19}]}
```

## Sources

- Hours of a tariff: the format of this program (docs/spec.md)
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.serving_load import DAY_MINUTES, minutes_of_hours
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "warning")


def check(procurement: ProcurementSpec) -> Iterator[Problem]:
    if not procurement.tariff:
        return
    earlier: dict[int, int] = {}
    for number, hours in enumerate(procurement.tariff):
        if hours.starts is None or hours.to is None or hours.price is None:
            return
        minutes = minutes_of_hours(hours.starts, hours.to)
        shared = [minute for minute in minutes if minute in earlier]
        differing = [minute for minute in shared if procurement.tariff[earlier[minute]].price != hours.price]
        if differing or (shared and len(shared) == len(minutes)):
            other = procurement.tariff[earlier[(differing or shared)[0]]]
            message = (
                f"the entry from {hours.starts} to {hours.to} at {hours.price:g} shares {_hours_text(len(differing or shared))} "
                f"with the one from {other.starts} to {other.to} at {other.price:g}"
            )
            yield RULE.problem(
                ("procurement", "tariff", number, "from"),
                message,
                "let each entry end where the next one begins",
                severity="error" if differing else "",
            )
        earlier |= {minute: number for minute in minutes if minute not in earlier}
    if procurement.electricity is None and len(earlier) < DAY_MINUTES:
        message = f"{_hours_text(DAY_MINUTES - len(earlier))} of the day have no price of a kWh: the cost of energy cannot be computed"
        yield RULE.problem("procurement.tariff", message, "state `electricity` for the other hours")


def _hours_text(minutes: int) -> str:
    """Minutes as hours in words: `1 hour`, `2.5 hours`."""
    return "1 hour" if minutes == 60 else f"{minutes / 60:.3g} hours"
