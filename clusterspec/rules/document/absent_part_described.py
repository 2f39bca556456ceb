"""A figure describes a part that the machine does not have.

## What it finds

- Failure rates in `operations.failures` of parts that are not there: a `domain` or a `tray` where each scale-up domain is
  one node; a `spine` or a `core` switch of a fabric without that level; `cdu` in a data hall that cools with air; and
  `store` without `networks.storage`.
- `scale_up.oversubscription` above 1, `switches` and `switch_loss` where each scale-up domain is one node: its switches form a
  single level, and none of them is a tray.
- Figures of a storage system (`capacity`, `read`, `per_client`, `metadata_rate`, `slots`, `system`) on the frontend or the
  out-of-band network.
- The `shape` of a torus where `topology` names another, and `systems` without the `system` that they count.

Each is a warning.

## Why it matters

Failure rates and figures of storage that belong to no part have no effect: the goodput, the spare parts and the time of
checkpoints are computed without them, and the author counts on them. An oversubscription that does not exist makes
tensor parallelism look slower than it is.

## What to do

Move the figure to the part that it describes, describe the part, or remove the key.

## When to ignore it

Ignore it in a spec that others extend.

## Fires

```yaml operations.failures.tray
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
operations: {failures: {tray: {afr: 0.01}}, burn_in: 72 h}
```

```yaml operations.failures.core
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700}}
operations: {failures: {core: {afr: 0.02}}, burn_in: 72 h}
```

```yaml cluster.networks.frontend.capacity
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4, networks: {frontend: {nic_bandwidth: 200 Gb/s, capacity: 2 PB}}}
```

```yaml cluster.scale_up.oversubscription
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4, scale_up: {oversubscription: "2:1"}}
```

```yaml cluster.scale_up.switch_loss
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4, scale_up: {switch_loss: slows}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 36, networks: {storage: {nic_bandwidth: 400 Gb/s, bandwidth: 50 GB/s, capacity: 2 PB}}}
operations: {failures: {tray: {afr: 0.01}, domain: {afr: 0.01}, store: {afr: 0.1}}, burn_in: 72 h}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 512, scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700}}
operations: {failures: {spine: {afr: 0.02}, core: {afr: 0.02}}, burn_in: 72 h}
```

## Sources

- The keys of a spec: docs/spec.md
- Parts of a machine and the effect of each failure: `clusterspec estimate`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import FailuresSpec, NetworkSpec, NetworksSpec, OperationsSpec, PowerSpec, ScaleUpSpec

RULE = Rule.of(__name__, "warning")
OF_STORAGE = ("capacity", "read", "per_client", "metadata_rate", "slots", "system")
"""Keys of a network that describe the storage system behind it."""
NO_DOMAIN = "each scale-up domain is one node"


def check(
    cluster: Cluster,
    operations: OperationsSpec | None,
    networks: NetworksSpec | None,
    written_scale_up: ScaleUpSpec | None,
    counts: FabricCount,
    power: PowerSpec | None,
) -> Iterator[Problem]:
    if operations is not None and operations.failures is not None:
        yield from _failure_problems(operations.failures, dict(_absent_parts(cluster, counts, networks, power)))
    if networks is not None and networks.storage is not None and networks.storage.systems is not None:
        yield from _system_problem(networks.storage)
    if written_scale_up is not None and written_scale_up.topology is not None and written_scale_up.shape is not None:
        yield from _torus_problem(written_scale_up, written_scale_up.topology)
    if networks is not None and (networks.frontend is not None or networks.out_of_band is not None):
        yield from _storage_problems(networks)
    if written_scale_up is not None and nodes_of_domain(cluster) == 1:
        yield from _scale_up_problems(written_scale_up)


def _absent_parts(
    cluster: Cluster, counts: FabricCount, networks: NetworksSpec | None, power: PowerSpec | None
) -> Iterator[tuple[str, str]]:
    """The kinds of parts that the machine does not have, each with the reason."""
    if nodes_of_domain(cluster) == 1:
        yield "domain", NO_DOMAIN
        yield "tray", NO_DOMAIN
    if counts.fabric is not None and not counts.fabric.spine_switches:
        yield "spine", "the fabric has one level of switches"
    if counts.fabric is not None and not counts.fabric.core_switches:
        yield "core", "the fabric has no core switches"
    if power is not None and power.cooling == "air":
        yield "cdu", "the data hall cools with air"
    if networks is None or networks.storage is None:
        yield "store", "the design describes no storage system"


def _scale_up_problems(written: ScaleUpSpec) -> Iterator[Problem]:
    """Problems of switches of a scale-up domain that is one node."""
    ratio = written.oversubscription
    if ratio is not None and ratio.value > 1:
        message = f"`oversubscription` is {ratio.written}, but {NO_DOMAIN}, whose switches form one level"
        yield RULE.problem("cluster.scale_up.oversubscription", message, "remove the key")
    for key in ("switches", "switch_loss"):
        if getattr(written, key) is not None:
            message = f"`{key}` describes the switches between the nodes of a domain, but {NO_DOMAIN}"
            yield RULE.problem(f"cluster.scale_up.{key}", message, "remove the key, or state the `domain`")


def _torus_problem(written: ScaleUpSpec, topology: str) -> Iterator[Problem]:
    """The problem of the axes of a torus in a domain of another topology."""
    if topology != "torus" and written.shape is not None:
        message = f"`shape` describes the axes of a torus, but `topology` is {topology}"
        yield RULE.problem("cluster.scale_up.shape", message, "remove the key, or write `topology: torus`")


def _system_problem(storage: NetworkSpec) -> Iterator[Problem]:
    """The problem of a number of storage systems of unknown kind."""
    if storage.systems is not None and storage.system is None:
        message = f"`systems: {storage.systems}` counts the `system`, which is not stated: the figures are those of all together"
        yield RULE.problem("cluster.networks.storage.systems", message, "name the `system`, or remove the key")


def _failure_problems(failures: FailuresSpec, absent: dict[str, str]) -> Iterator[Problem]:
    """Problems of failure rates of parts that the machine does not have."""
    for part, why in absent.items():
        if getattr(failures, part) is not None:
            message = f"the failure rate of `{part}` has no effect: {why}"
            yield RULE.problem(("operations", "failures", part), message, "describe the part, or remove the key")


def _storage_problems(networks: NetworksSpec) -> Iterator[Problem]:
    """Problems of figures of a storage system on a network that has none."""
    for name, network in (("frontend", networks.frontend), ("out_of_band", networks.out_of_band)):
        stated = [key for key in OF_STORAGE if network is not None and getattr(network, key) is not None]
        if stated:
            message = f"`{stated[0]}` describes a storage system, which is `networks.storage`, not the {name.replace('_', '-')} network"
            help_ = f"write it in `networks.storage`, with `shares: {name}` where storage has no links of its own"
            yield RULE.problem(("cluster", "networks", name, stated[0]), message, help_)
