"""A value is far outside the range of existing machines, runs and contracts.

## What it finds

A stated quantity outside the usual range of its key: an oversubscription of 1:4, electricity at 14 a kWh, a rack limit
of 44 MW, a global batch of four million sequences. Prices in other currencies are compared at approximate exchange
rates, with a wider range. The finding is a warning. It is an error at ten times outside the range or more for the price
of electricity, the global batch, the memory of a node, the capacity of a storage system and the length of a cable, and
at three times for the carbon intensity of a kWh.

It is also a warning for a price range whose upper end is more than 5 times the lower end, for a price of electricity that
is more than 5 times the price in other hours of the `tariff`, or less than a fifth of it, and for a storage system that
reads at half its write rate or less. It is a note for a storage system that reads below three quarters of its write
rate, for a high ratio above pods (pods may be sites, which few links join), and for a low utilization of 5 % or more (a
workstation may be idle most of the time). Other rules compare figures with the catalog where it has them, such as
bandwidths and the power of a node.

## Why it matters

Such a value is nearly always a wrong unit, a wrong prefix or the wrong side of a ratio. With `1:4` instead of `4:1`, an
oversubscribed fabric gets four uplinks for each downlink: the bill for 128 nodes has 311 switches.

## What to do

Check the unit, the prefix and the order of the ratio.

## When to ignore it

Ignore it where the value is intended; give its origin in the reason of the waiver.

## Fires

```yaml cluster.scale_out.oversubscription[0]
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 128
  scale_out: {technology: infiniband-ndr, oversubscription: "1:4"}
```

```yaml procurement.electricity
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, electricity: 14, pue: 1.3}
```

```yaml procurement.electricity
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: JPY, as_of: 2026-11-01, electricity: 0.12, pue: 1.3}
```

```yaml cluster.networks.storage.read
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  networks: {storage: {bandwidth: 90 GB/s, read: 30 GB/s}}
```

```yaml procurement.prices.node[1]
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: [275000, 2750000]}}
```

```yaml cluster.scale_out.oversubscription[0]
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 128
  scale_out: {technology: infiniband-ndr, pod_nodes: 64, oversubscription: "64:1"}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 128
  scale_out: {technology: infiniband-ndr, oversubscription: "1:2"}
procurement: {currency: JPY, as_of: 2026-11-01, electricity: 24, pue: 1.3}
```

## Sources

- Electricity prices by country: https://www.iea.org/data-and-statistics/data-product/energy-prices
- Ratios of published fabrics: https://glennklockwood.com/garden/systems/meta's-h100-clusters
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.ranges import UnusualValue, unusual_values
from clusterspec.rules.rule import Rule
from clusterspec.source import Path
from clusterspec.spec.model import Spec
from clusterspec.units import percent

RULE = Rule.of(
    __name__,
    "warning",
    "heuristic",
    yields_to=(
        "impossible-pue",
        "impossible-utilization",
        "run-shorter-than-step",
        "domain-not-whole-nodes",
        "price-outside-market",
        "part-price-outside-market",
    ),
)


WIDE = 5.0
"""Smallest ratio of the ends of a price range at which one of them is probably mistyped."""
SLOW_READ = 0.75
"""Ratio of the read rate to the write rate below which the two are probably swapped."""
SELDOM_USED = 0.05
"""Smallest utilization that a rarely used workstation or test machine may have on purpose, by judgment."""
SIXTY = 60
"""Base of the numbers that YAML 1.1 writes with colons: https://yaml.org/type/int.html"""
HALF = 0.5
"""Ratio of the read rate to the write rate at or below which the finding is a warning."""


def check(spec: Spec) -> Iterator[Problem]:
    yield from _wide_price_problems(spec)
    yield from _tariff_problems(spec)
    yield from _slow_read_problems(spec)
    for value in unusual_values(spec):
        key = next(name for name in reversed(value.path) if isinstance(name, str))
        message = f"`{key}: {value.written}` is outside the usual range of {value.range_text}"
        if value.is_impossible:
            yield RULE.problem(value.path, message, value.range.hint, severity="error", confidence="likely")
        else:
            severity = "note" if _may_be_meant(key, value, spec) else "warning"
            help_ = _sexagesimal_remedy(value.value) if key == "oversubscription" else ""
            yield RULE.problem(value.path, message, help_ or value.range.hint, severity=severity)


def _sexagesimal_remedy(ratio: float) -> str:
    """The remedy for a ratio such as 121, which a YAML 1.1 tool wrote for 2:1 (two sixties and one); empty for others.

    >>> _sexagesimal_remedy(121), _sexagesimal_remedy(64)
    ('YAML 1.1 reads `2:1` as 121: put it in quotes', '')
    """
    sixties, ones = divmod(ratio, SIXTY)
    return f"YAML 1.1 reads `{sixties:g}:1` as {ratio:g}: put it in quotes" if sixties and ones == 1 else ""


def _may_be_meant(key: str, value: UnusualValue, spec: Spec) -> bool:
    """Whether a value is rarely a mistake, such as that of a mostly idle desktop machine or of a long-haul link."""
    if key == "utilization":
        return value.value >= SELDOM_USED
    return value.value > value.range.high and _is_above_pods(spec, value.path)


def _is_above_pods(spec: Spec, path: Path) -> bool:
    """Whether a path is the last ratio of a fabric of pods, and so may be one between buildings or sites."""
    fabric = spec.cluster.scale_out if spec.cluster else None
    if fabric is None or fabric.pod_nodes is None or path[:3] != ("cluster", "scale_out", "oversubscription"):
        return False
    return path[3:] == (len(fabric.oversubscription or ()) - 1,)


def _wide_price_problems(spec: Spec) -> Iterator[Problem]:
    """Problems of price ranges that are too wide to be for one part."""
    for part, price in ((spec.procurement.prices if spec.procurement else None) or {}).items():
        if isinstance(price, tuple) and price[1] > WIDE * price[0] > 0:
            message = (
                f"the range of the price, {price[0]:,} to {price[1]:,}, spans a factor of {price[1] / price[0]:.2g}"
            )
            yield RULE.problem(f"procurement.prices.{part}[1]", message, "check both ends of the range")


def _tariff_problems(spec: Spec) -> Iterator[Problem]:
    """Problems of an electricity price that is far from the price at other hours; one of the two has another unit or
    currency.
    """
    stated = spec.procurement.electricity if spec.procurement else None
    for number, hours in enumerate((spec.procurement.tariff if spec.procurement else None) or ()):
        if not stated or not hours.price:
            continue
        ratio = max(stated, hours.price) / min(stated, hours.price)
        if ratio > WIDE:
            message = f"`electricity: {stated:g}` and `price: {hours.price:g}` of other hours differ by a factor of {ratio:.2g}"
            at = ("procurement", "tariff", number, "price")
            yield RULE.problem(at, message, "give both for one kWh, in the currency of the spec")


def _slow_read_problems(spec: Spec) -> Iterator[Problem]:
    """Problems of storage systems that read much more slowly than they write."""
    networks = spec.cluster.networks if spec.cluster else None
    storage = networks.storage if networks else None
    if storage is None or storage.read is None or storage.bandwidth is None:
        return
    read, write = storage.read.per_direction, storage.bandwidth.per_direction
    if read < write * SLOW_READ:
        message = f"the storage system reads at {storage.read.written}, {percent(read / write, 2)} of the {storage.bandwidth.written} of its writes: most read at least as fast as they write"
        help_ = "check whether the two figures are swapped"
        at = "cluster.networks.storage.read"
        yield RULE.problem(at, message, help_, severity="note" if read > write * HALF else "")
