"""Straight cables between parallel modules connect transmitters with transmitters.

## What it finds

A line for MPO cables of type A (key up to key down), where the modules of the fabric are parallel ones (SR4, DR4,
SR8) and no line sells cables of type B or cassettes that cross. It is an error.

## Why it matters

A direct cable between two parallel modules has to cross: fiber 1 to fiber 12 (type B). With type A the transmitting lanes
of one module meet the transmitting lanes of the other, and no link comes up.

## What to do

Order type B for direct links, and an odd number of crossings in structured ones.

## When to ignore it

Ignore it where a trunk or cassette in place crosses the fibers.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32}
procurement:
  currency: NOK
  quote:
    - {part: "Transceiver OSFP 800G 2xDR4", quantity: 128, unit_price: 13400}
    - {part: "Fiber cable OS2 MPO12 APC, type A, 20 m", quantity: 256, unit_price: 1650}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32}
procurement:
  currency: NOK
  quote:
    - {part: "Transceiver OSFP 800G 2xDR4", quantity: 128, unit_price: 13400}
    - {part: "Fiber cable OS2 MPO12 APC, type B, 20 m", quantity: 256, unit_price: 1650}
```

## Sources

- Cables between two modules cross, also those that NVIDIA calls straight, in contrast to divided ones: https://docs.nvidia.com/networking/display/mms4x00ns400/overview
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.quotes import lines_with_texts
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_MPO = pattern(r"\bm[pt][op]-?\s?\d{0,2}\b")
_STRAIGHT = pattern(r"\b(?:type|typ|tipo|polarity|method) a\b|\bkey up to key down\b")
_CROSSED = pattern(
    r"\b(?:type|typ|tipo|polarity|method) [bc]\b|\bcassettes?\b|\bcross(?:ed|over)\b|\btrunks?\b|\bpanels?\b"
)
_PARALLEL = pattern(r"\b(?:2x)?x?(?:[sdv]r)[48]\b|\bmma4z00|\bmms4x00|\bmpo\b")


def check(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines = lines_with_texts(procurement.quote, cluster)
    parallel = any(line.kind == "transceiver" and _PARALLEL.search(text) is not None for line, text in lines)
    if not parallel or any(_CROSSED.search(text) is not None for _, text in lines):
        return
    for line, text in lines:
        if line.kind == "cable" and _MPO.search(text) is not None and _STRAIGHT.search(text) is not None:
            message = f"`{name_of_part(line.line.part)}` is of type A, which does not cross the fibers, but links between parallel modules need fibers that cross: transmitters would meet transmitters"
            at = quote_path(line.index, "part")
            yield RULE.problem(at, message, "order type B")
            return
