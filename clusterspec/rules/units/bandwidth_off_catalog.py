"""A stated scale-up bandwidth differs from the catalog, and no known mistake explains it.

## What it finds

A `scale_up.bandwidth` more than 5 % from the figures of the accelerator, the platform and the interconnect, where
neither bits for bytes, nor the direction, the prefix, the scope or the raw signaling rate explains it: a warning. It is
an error for a bandwidth above three times the part's, for one of another interconnect above 1.2 times the part's, and
for one that includes the ports to the fabric between nodes.

## Why it matters

It is usually the figure of another generation (1,800 GB/s is NVLink 5) or of an export variant (an H800 has 400 of the
H100's 900 GB/s); other figures of the spec may then belong to the wrong part, too.

## What to do

Name the part that has this bandwidth, or remove the key so that the catalog supplies it.

## When to ignore it

Ignore it for parts that the catalog does not have. For a measured figure that replaces the nominal one, `measured` is
the better key.

## Fires

```yaml cluster.scale_up.bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 600 GB/s duplex}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {bandwidth: 880 GB/s duplex}
```

## Sources

- A published report with figures of several generations: https://neocloud.kedios.io/full-network-topology-report/Kedios-B300-Full-Network-Topology-Report.html
- Links and rates by generation: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L300
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator, Interconnect
from clusterspec.cluster.model import Cluster, ScaleUp
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviation, Deviations
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.units.display import AGREES, agrees_within

RULE = Rule.of(__name__, "warning", "likely", yields_to=("mesh-bandwidth-mismatch",))


FAR_ABOVE = 3.0
"""Smallest ratio to the part's own figure at which no board with that part explains a figure."""
ABOVE = 1.2
"""Smallest ratio to the part's figure at which the figure of another part is an error and not a warning."""


def check(
    deviations: Deviations, scale_up: ScaleUp | None, catalog: Catalog, cluster: Cluster | None
) -> Iterator[Problem]:
    for deviation in deviations.found:
        if deviation.stated.kind == "scale-up" and not deviation.causes:
            others = _with_that_bandwidth(deviation, scale_up, catalog)
            named = f"; {and_list(others)} have that" if others else ""
            help_ = "name the part that has it, or remove the key: the catalog supplies the figure"
            above = (bool(named) and deviation.ratio > ABOVE) or deviation.ratio > FAR_ABOVE
            if cluster is not None and _counts_all_ports(deviation, cluster):
                named, above = "; it includes the ports of the accelerator that leave the node", True
            yield RULE.problem(
                deviation.stated.at, deviation.comparison + named, help_, severity="error" if above else ""
            )


def _counts_all_ports(deviation: Deviation, cluster: Cluster) -> bool:
    """Whether a figure is the sum of the ports inside the domain and the ports of the fabric between nodes."""
    outside = cluster.nic_bandwidth_per_accelerator or _own_ports(cluster.accelerator)  # a single node has no fabric
    if outside is None or deviation.ratio <= 1:
        return False
    stated = deviation.stated.quantity.per_direction
    return agrees_within(stated, stated / deviation.ratio + outside, AGREES)


def _own_ports(accelerator: Accelerator) -> float | None:
    """The bandwidth of the fabric ports of one accelerator in B/s per direction; a single node does not use them."""
    number, each = accelerator.nics_per_accelerator, accelerator.nic_bandwidth
    return number * each.value if number and each else None


def _with_that_bandwidth(deviation: Deviation, scale_up: ScaleUp | None, catalog: Catalog) -> list[str]:
    """Text with up to three interconnects of the same family that have this bandwidth."""
    wanted = deviation.stated.quantity.per_direction
    interconnect = scale_up.interconnect if scale_up else None
    if interconnect is None:
        return []
    entries = (catalog.find("interconnect", id_) for id_ in catalog.ids("interconnect"))
    fits = (
        entry.id
        for entry in entries
        if isinstance(entry, Interconnect)
        and entry.family == interconnect.family
        and entry.bandwidth is not None
        and agrees_within(wanted, entry.bandwidth.value, AGREES)
    )
    return list(fits)[:3]
