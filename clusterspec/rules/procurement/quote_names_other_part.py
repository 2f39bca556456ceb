"""The quote offers another model than the design.

## What it finds

A line of the quote whose text names an accelerator, a switch or a NIC of the catalog, and not the one of the design.

## Why it matters

The name in the quote is what is delivered. An H100 in place of an H200 has 43 % less memory, and a QM8700 in place of a
QM9700 half the rate.

## What to do

Correct the line, or the design.

## When to ignore it

Ignore it where the text names the other part for comparison.

## Fires

```yaml procurement.quote[0].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 64, spare_nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H100 640 GB, quantity: 68, unit_price: 310000, price: 21080000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 64, spare_nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: DGX H200 1128 GB, quantity: 68, unit_price: 350000, price: 23800000}
```

## Sources

- What a quote should contain: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.quotes import SWITCHES, Offered, named_entries, offered_lines
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import both
from clusterspec.spec.model import ProcurementSpec, ScaleOutSpec

RULE = Rule.of(__name__, "error", "likely")


def check(
    procurement: ProcurementSpec, cluster: Cluster, catalog: Catalog, written_scale_out: ScaleOutSpec | None
) -> Iterator[Problem]:
    if not procurement.quote:
        return
    for offered in offered_lines(procurement.quote, cluster):
        kind, own = _expected_entry(offered, cluster, written_scale_out)
        if not own:
            continue
        named = named_entries(offered.line.part or "", catalog, kind)
        known = named_entries(own, catalog, kind)
        if named and not any(one.endswith(other) for one in known for other in named):
            message = f"`{(offered.line.part or '')[:60]}` is {both(sorted(named))}, and the design has {own}"
            help_ = "correct the line or the design"
            yield RULE.problem(("procurement", "quote", offered.index, "part"), message, help_)


def _expected_entry(offered: Offered, cluster: Cluster, written: ScaleOutSpec | None) -> tuple[str, str]:
    """The kind of catalog entry that a line names, and the id of the design's; empty where the design states none."""
    fabric = cluster.scale_out
    if offered.kind in {"node", "accelerator"}:
        name = cluster.accelerator.id
        return "accelerator", name.replace("-", " ")
    if offered.kind in {*SWITCHES, "switch"}:
        stated = written is not None and written.switch is not None and fabric is not None and fabric.switch is not None
        return "switch", fabric.switch.id.replace("-", " ") if stated and fabric and fabric.switch else ""
    if offered.kind == "nic" and fabric is not None and fabric.nic is not None:
        return "nic", fabric.nic.id
    return "", ""
