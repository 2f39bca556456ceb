"""A stated figure is above that of the storage systems or the cooling unit that the spec names.

## What it finds

`networks.storage.bandwidth` or `read` above 1.3 times those of its `system`, times `systems`: a warning, and above twice an
error. A `bandwidth` is compared with the read rate where no write rate is published. `networks.storage.capacity` above 10
times that of its `system`, and `power.cdus.capacity` above 1.5 times that of its `model`, are warnings: larger drives and
enclosures, and a larger difference of temperatures, explain less. Smaller figures are not reported: a system may be bought in
a smaller size, and usable rates are below published ones.

## Why it matters

The stated figure replaces the catalog's. Checkpoints, cold starts and the heat of a loop are then planned with a rate or
a capacity that the order does not contain.

## What to do

State how many `systems` are bought, remove the figure so that the catalog supplies it, or name the larger part.

## When to ignore it

Ignore it for a larger configuration of the system, with the supplier's figure as the reason.

## Fires

```yaml cluster.networks.storage.bandwidth
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32, networks: {storage: {nic_bandwidth: 400 Gb/s, system: ddn-ai400x2-turbo, bandwidth: 300 GB/s}}}
```

```yaml cluster.power.cdus.capacity
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 144
  power: {cooling: liquid, liquid_share: 0.85, cdus: {model: vertiv-coolchip-cdu-1350, count: 2, capacity: 3 MW}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32, networks: {storage: {nic_bandwidth: 400 Gb/s, system: ddn-ai400x2-turbo, systems: 4, bandwidth: 250 GB/s, read: 400 GB/s, capacity: 1 PB}}}
```

```yaml
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 144
  power: {cooling: liquid, liquid_share: 0.85, cdus: {model: vertiv-coolchip-cdu-1350, count: 2, capacity: 1.2 MW}}
```

## Sources

- Rates and capacities of storage systems, each with its source: `clusterspec catalog list storage-system`
- Capacities of cooling distribution units: `clusterspec catalog list cdu`
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from clusterspec.catalog import Catalog
from clusterspec.catalog.facilities import Cdu, StorageSystem
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec, NetworkSpec
from clusterspec.spec.model.cluster import CdusSpec
from clusterspec.units import display, plain, plural

RULE = Rule.of(__name__, "warning")
RATES, DRIVES, LOOP = (1.3, 2.0), (10.0, inf), (1.5, inf)
"""Ratios to the catalog's figure above which a finding is a warning and an error: of rates, where other clients and options
explain less; of capacities, which grow with the drives; of cooling units, which take up more heat in warmer loops.
"""
STORAGE = "cluster.networks.storage"
CDUS = "cluster.power.cdus"


def check(written_cluster: ClusterSpec, catalog: Catalog) -> Iterator[Problem]:
    networks, power = written_cluster.networks, written_cluster.power
    if networks is not None and networks.storage is not None and networks.storage.system is not None:
        yield from _storage_problems(networks.storage, networks.storage.system, catalog)
    if power is not None and power.cdus is not None and power.cdus.model is not None:
        yield from _unit_problem(power.cdus, power.cdus.model, catalog)


def _storage_problems(store: NetworkSpec, name: str, catalog: Catalog) -> Iterator[Problem]:
    """Problems of figures above those of the named storage systems together."""
    system, count = catalog.find("storage-system", name), store.systems or 1
    if not isinstance(system, StorageSystem):
        return
    whose = f"{plural(count, 'system')} {system.id}"
    for key, stated, figure, ratios in (
        ("bandwidth", store.bandwidth, system.write or system.read, RATES),
        ("read", store.read, system.read, RATES),
        ("capacity", store.capacity, system.capacity, DRIVES),
    ):
        if stated is not None and figure is not None:
            yield from _excess_problem(f"{STORAGE}.{key}", stated, (figure.value * count, whose), ratios)


def _unit_problem(written: CdusSpec, name: str, catalog: Catalog) -> Iterator[Problem]:
    """The problem of a capacity above that of the named cooling unit."""
    unit = catalog.find("cdu", name)
    if isinstance(unit, Cdu) and unit.capacity is not None and written.capacity is not None:
        yield from _excess_problem(f"{CDUS}.capacity", written.capacity, (unit.capacity.value, f"one {unit.id}"), LOOP)


def _excess_problem(
    at: str, stated: Quantity, most: tuple[float, str], ratios: tuple[float, float]
) -> Iterator[Problem]:
    """The problem of a stated figure above that of the named parts, ``most``, by more than the first of ``ratios``; an error
    above the second.
    """
    value, (known, whose), (above, far) = stated.per_direction, most, ratios
    if known > 0 and value > above * known:
        message = f"{stated.written} is {plain(value / known)} times the {display(known, stated.unit)} of {whose}"
        help_ = "state the number of parts that are bought, or remove the key so that the catalog supplies it"
        yield RULE.problem(at, message, help_, severity="error" if value > far * known else "")
