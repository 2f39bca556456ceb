"""A part is announced and not shipping yet.

## What it finds

An accelerator, interconnect, technology, switch or platform whose catalog entry is `announced`: a warning, and an error where
`procurement.needed_by` is less than half a year away.

## Why it matters

Announced parts are often delayed by quarters, and their figures change: bandwidth, memory and power of the catalog
entry are preliminary. A schedule that depends on such a part needs an alternative.

## What to do

Use a part that ships, or record the risk and its date in the procurement.

## When to ignore it

Ignore it for designs meant for the year when the part is due.

## Fires

```yaml cluster.platform
clusterspec: 1
cluster: {platform: rubin-ultra-nvl576, nodes: 144}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 18}
```

## Sources

- What is announced and what ships: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L193
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from clusterspec.catalog.reader import Entry
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.purchases import date_of_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec, ProcurementSpec

RULE = Rule.of(__name__, "warning")
SOON = 182
"""Number of days from today within which unreleased parts are not delivered; the project's choice."""


def check(
    today: date, procurement: ProcurementSpec | None, written_cluster: ClusterSpec, cluster: Cluster
) -> Iterator[Problem]:
    """A platform's dates apply to the parts that it supplies; other named parts are checked separately."""
    asked = procurement.as_of if procurement else None
    when = f"the procurement is of {asked}" if asked else f"today is {today.isoformat()}"
    for at, entry in _named_entries(written_cluster, cluster):
        if entry is not None and entry.status.state == "announced":
            message = f"{entry.name} is announced and not shipping, as of {entry.status.as_of}; {when}"
            needed = date_of_text(procurement.needed_by) if procurement else None
            late = needed is not None and (needed - today).days < SOON
            message += f", but the machine is needed by {needed}" if late else ""
            help_ = "use a part that ships, or record the risk"
            yield RULE.problem(at, message, help_, severity="error" if late else "")


def _named_entries(written: ClusterSpec, cluster: Cluster) -> tuple[tuple[str, Entry | None], ...]:
    """The entries that the spec names, each with its key; None for a key without a name."""
    fabric = cluster.scale_out
    up, out = written.scale_up, written.scale_out if fabric else None
    return (
        ("cluster.platform", cluster.platform if written.platform else None),
        ("cluster.accelerator", cluster.accelerator if written.accelerator else None),
        ("cluster.scale_up.interconnect", cluster.scale_up.interconnect if up and up.interconnect else None),
        ("cluster.scale_out.technology", fabric.technology if fabric and out and out.technology else None),
        ("cluster.scale_out.switch", fabric.switch if fabric and out and out.switch else None),
    )
