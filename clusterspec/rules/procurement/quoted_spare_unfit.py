"""A quoted spare does not replace the part that may fail.

## What it finds

A spare switch in the quote with fewer ports, or with cages of another form, than the switch of `scale_out.switch`, where the
quote has no other switch of its type. It is a warning.

## Why it matters

A spare that does not take the modules and the links of the failed switch cannot replace it, and the fabric stays down.

## What to do

Keep a spare of the type that is in use.

## When to ignore it

Ignore it where the spare is for a switch of another network, and say so in its line.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 14, scale_out: {technology: roce-v2, topology: single-switch, switch: dell-z9864f-on}}
procurement:
  currency: NOK
  quote:
    - {part: "Dell Z9864F-ON leaf switch", quantity: 1, unit_price: 486000}
    - {part: "Dell Z9664F-ON switch 64x 400G QSFP-DD, cold spare in store", quantity: 1, unit_price: 452000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 14, scale_out: {technology: roce-v2, topology: single-switch, switch: dell-z9864f-on}}
procurement:
  currency: NOK
  quote:
    - {part: "Dell Z9864F-ON leaf switch", quantity: 1, unit_price: 486000}
    - {part: "Dell Z9864F-ON switch, cold spare in store", quantity: 1, unit_price: 452000}
```

## Sources

- Spares by experience of large machines: https://arxiv.org/abs/2410.21680
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Switch
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.part_names import ANY_SWITCH
from clusterspec.procurement.product_names import switches_named
from clusterspec.procurement.quotes import lines_with_texts
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "warning", "likely")


def check(procurement: ProcurementSpec, cluster: Cluster, catalog: Catalog) -> Iterator[Problem]:
    if not procurement.quote:
        return
    switch = cluster.scale_out.switch if cluster.scale_out is not None else None
    if switch is None or not switch.ports:
        return
    lines = [(line, text) for line, text in lines_with_texts(procurement.quote, cluster) if line.kind in ANY_SWITCH]
    used = {id_ for line, text in lines if not line.is_spare for id_ in switches_named(text, catalog)}
    for line, text in lines:
        named = switches_named(text, catalog) if line.is_spare else []
        entry = catalog.find("switch", named[0]) if len(named) == 1 and switch.id not in named else None
        if not isinstance(entry, Switch) or entry.id in used:
            continue
        few = entry.ports is not None and entry.ports < switch.ports
        if few or (entry.connector and switch.connector and entry.connector != switch.connector):
            message = f"`{name_of_part(line.line.part)}` has {entry.ports} ports of {entry.connector}, but the {switch.name} that it is to replace has {switch.ports} of {switch.connector}"
            at = quote_path(line.index, "part")
            yield RULE.problem(at, message, f"keep a spare {switch.name}")
            return
