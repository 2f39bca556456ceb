"""Storage is bought without a stated bandwidth or capacity.

## What it finds

`procurement` with a `networks.storage` that lacks `bandwidth` or `capacity`: a warning; a note where it states neither,
and no price or line of a quote is for storage, since it may not be part of the purchase.

## Why it matters

"2 PB of storage" does not state the bandwidth when all nodes write; "40 GB/s" does not state the capacity.

## What to do

State both; state the bandwidth that the system sustains while writing.

## When to ignore it

Ignore it where storage is not part of the purchase.

## Fires

```yaml cluster.networks.storage
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 1
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {capacity: 2 PB}
    out_of_band: {nic_bandwidth: 1 Gb/s}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 1
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {capacity: 2 PB, bandwidth: 40 GB/s}
    out_of_band: {nic_bandwidth: 1 Gb/s}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
```

## Sources

- What to ask of storage: https://www.clustermax.ai/criteria/storage
- Capacity and rate: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/storage/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import NetworksSpec, ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning")
_STORAGE = pattern(r"(?i)\b(?:storage|store|filer|file ?system|flash|lustre|weka|vast)\b")


def check(procurement: ProcurementSpec, networks: NetworksSpec) -> Iterator[Problem]:
    storage = networks.storage
    if storage is None or storage.pool is not None:  # that of another pool is bought with it
        return
    lacking = [key for key in ("bandwidth", "capacity") if getattr(storage, key) is None]
    if lacking:
        named = and_list(f"`{key}`" for key in lacking)
        bought = (len(lacking) == 1 or _is_priced(procurement)) and storage.system is None
        yield RULE.problem(
            "cluster.networks.storage",
            f"the storage is bought without a stated {named}: any storage system meets the clause"
            if bought
            else f"the procurement has a storage network without a stated {named}",
            f"add {named}" + (", sustained while writing" if "bandwidth" in lacking else ""),
            severity="" if bought else "note",
        )


def _is_priced(procurement: ProcurementSpec) -> bool:
    """Whether a price or a quote line is for storage."""
    lines = procurement.quote or ()
    return bool((procurement.prices or {}).get("storage")) or any(_STORAGE.search(line.part or "") for line in lines)
