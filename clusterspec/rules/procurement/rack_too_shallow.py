"""A quoted rack is not as deep as the servers in it.

## What it finds

A line of racks whose text states a footprint (`800 x 800 mm`) with a depth below 1,000 mm, for nodes with eight accelerators
or more, which are 800 to 900 mm deep. It is an error.

## Why it matters

The doors of a rack take 60 to 100 mm of its depth, and cords, cables and power distribution units another 150 to 200 mm
behind the servers: an eight-way server needs a rack of 1,070 mm or more.

## What to do

Order racks of 1,200 mm depth.

## When to ignore it

Ignore it where the racks are for the network or for storage only.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 4}
procurement:
  currency: CAD
  quote:
    - {part: "Supermicro AS-8125GS-TNMR2, 8x MI300X", quantity: 4, unit_price: 318000}
    - {part: "48U rack 800 x 800 mm", quantity: 3, unit_price: 3900}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 4}
procurement:
  currency: CAD
  quote:
    - {part: "Supermicro AS-8125GS-TNMR2, 8x MI300X", quantity: 4, unit_price: 318000}
    - {part: "48U rack 800 x 1200 mm", quantity: 2, unit_price: 3900}
    - {part: "42U rack 600 x 800 mm for the network", quantity: 1, unit_price: 1900}
```

## Sources

- An eight-way server is 897 mm deep, and its rack 1,070 mm or more: https://docs.nvidia.com/dgx/dgxh100-user-guide/introduction-to-dgxh100.html
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
SHALLOW = 1000
"""Depth in millimeters below which a rack is too shallow for an eight-accelerator server with its cords."""
LARGE_NODE = 8
"""Smallest number of accelerators at which a node is at least 800 mm deep."""
_FOOTPRINT = pattern(r"(?<![\w.,])(\d{3,4}) ?(?:mm)? ?[x×] ?(\d{3,4}) ?mm\b(?! ?[x×])")
_OTHER_USE = pattern(r"\b(?:networks?|switch\w*|storage|management|patch|telecom|fiber|fibre|only for|wall)\b")


def check(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    if not procurement.quote or cluster.accelerators_per_node < LARGE_NODE:
        return
    for line, text in lines_with_texts(procurement.quote, cluster):
        found = _FOOTPRINT.findall(text) if line.site_kind == "rack" and _OTHER_USE.search(text) is None else []
        deepest = max((int(side) for pair in found for side in pair), default=0)
        if 0 < deepest < SHALLOW:
            message = f"`{name_of_part(line.line.part)}` is {deepest:,} mm deep, but servers of {cluster.accelerators_per_node} accelerators are 800 to 900 mm deep without cords and cables"
            at = quote_path(line.index, "part")
            yield RULE.problem(at, message, "order racks that are 1,200 mm deep")
            return
