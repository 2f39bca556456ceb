"""The number of ordered transceivers differs from the number that the links need.

## What it finds

Stated `transceivers` below the modules of all cages in use (an error; a note if the modules of `extra_endpoints`, which
may come with their own, explain it), or more than a tenth above them (a note; from twice as many on, a warning). Where
the catalog does not state the cages at one end, the rule reports only counts that are too small even with two ports per
cage. Cables with fixed ends need none; a twin-port module carries two links. Transceivers in a line of the `quote` are
an error where every cable of the fabric has fixed ends.

## Why it matters

A link without a module at one end does not come up. A few percent of spare modules are usual.

## What to do

Order the number in the message, with spares.

## When to ignore it

Ignore it for modules that are stocked for later nodes.

## Options

`thresholds = {transceivers-off-count = 0.1}` in the configuration sets the share of additional modules above which the rule
reports a note. The default is 0.1.

## Fix safety

The fix is unsafe: it writes the number that the links need. The cable types may be the wrong ones instead.

## Fires

```yaml cluster.scale_out.transceivers
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 127
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, transceivers: 2000}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 127
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, transceivers: 2044}
```

## Sources

- Modules in each cage: https://docs.nvidia.com/networking/display/400g100gpam4ovpub/linkx-100g-pam4-product-line-overview
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.readers.quotes.readings import OF_ENDPOINT
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import ProcurementSpec, QuoteLine, ScaleOutSpec

RULE = Rule.of(__name__, "error")
AT = "cluster.scale_out.transceivers"
MOST = 0.1
"""Share of spare modules above which an order is unusual; the project's choice."""
TWICE = 2
"""Ratio of ordered to needed modules that no usual stock of spares explains."""


def check(
    counts: FabricCount,
    written_scale_out: ScaleOutSpec,
    scale_out: ScaleOut,
    thresholds: Thresholds,
    procurement: ProcurementSpec | None,
) -> Iterator[Problem]:
    ordered, fabric = written_scale_out.transceivers, counts.fabric
    if ordered is None and (procurement is None or not procurement.quote):
        return
    if fabric is None or not fabric.fits:
        return
    if fabric.transceivers == 0 and fabric.links["node_leaf"] and procurement is not None:
        yield from _unplaced_transceiver_problems(procurement.quote or ())
    if ordered is None:
        return
    needed, fix = fabric.transceivers, value_fix(AT, str(fabric.transceivers))
    if ordered < fabric.modules.minimum_modules:
        message = f"{ordered:,} transceivers, but the links need {needed:,}: {fabric.modules.how}"
        own = ordered >= fabric.modules.minimum_modules - OF_ENDPOINT["transceiver"] * scale_out.extra_endpoints
        message += "; the extra endpoints may come with their own" if own else ""
        sure = None if own or fabric.modules.assumed else fix
        yield RULE.problem(AT, message, f"order at least {needed:,}", severity="note" if own else "error", fix=sure)
    elif fabric.modules.assumed:
        return
    elif ordered and not needed and fabric.links["node_leaf"]:
        message = f"{ordered:,} transceivers, but every cable of the fabric has fixed ends: no port is free for one"
        help_ = "remove the key, or use fibers instead of cables with fixed ends"
        yield RULE.problem(AT, message, help_, confidence="likely")
    elif ordered > needed * (1 + thresholds.of(RULE.name, MOST)):
        message = f"{ordered:,} transceivers, but the links need {needed:,}: {ordered - needed:,} are spare"
        of_nics = needed - fabric.modules.node + _module_count_by_nic(scale_out, fabric)
        by_nic = ordered == of_nics > needed
        message += ": one for each NIC, although one cage of a node carries several NICs" if by_nic else ""
        severity = "warning" if ordered >= TWICE * needed or by_nic else "note"
        yield RULE.problem(AT, message, f"order {needed:,} and a few percent of spares", severity=severity, fix=fix)


def _module_count_by_nic(scale_out: ScaleOut, fabric: Fabric) -> int:
    """The number of endpoints of the fabric, which would be the number of modules if every NIC had its own cage."""
    return fabric.links["node_leaf"] // scale_out.planes


def _unplaced_transceiver_problems(quote: Sequence[QuoteLine]) -> Iterator[Problem]:
    """Problems of quoted transceivers in a fabric whose cables all have fixed ends."""
    for number, line in enumerate(quote):
        if "transceiver" in (line.part or "").lower() and line.quantity:
            message = f"{line.quantity:,} transceivers are quoted, but every cable of the fabric has fixed ends: no port is free for one"
            help_ = "remove the line, or quote fibers instead of cables with fixed ends"
            yield RULE.problem(f"procurement.quote.{number}", message, help_, confidence="likely")
