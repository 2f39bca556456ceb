"""The releases of Fabric Manager and of the driver differ.

## What it finds

A release of `nvidia-fabricmanager` (or `fabricmanager`) in `cluster.software` that differs from the release of `nvidia-driver`.
It is an error where the numbers that both state differ.

## Why it matters

Fabric Manager refuses a driver of another release: the NVLink switches of the node are not initialized, and CUDA programs
end with error 802, system not yet initialized.

## What to do

Install both from one release, and pin both in the image.

## When to ignore it

Ignore it for nodes without NVLink switches, which need no Fabric Manager.

## Fires

```yaml cluster.software[1]
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 4, software: [nvidia-driver 570.172, nvidia-fabricmanager 550.163, cuda 12.8]}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 4, software: [nvidia-driver 570.172.08, nvidia-fabricmanager 570.172, cuda 12.8]}
```

## Sources

- The release of the manager has to match that of the driver: https://www.talos.dev/v1.10/talos-guides/configuration/nvidia-fabricmanager
- NVIDIA Fabric Manager: https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error")
_MANAGER = pattern(r"(?i)^(?:nvidia[- ]?)?fabric[- ]?manager(?:[- ]\d{3})? v?(\d{3}(?:\.\d{1,3}){0,2})$")
_DRIVER = pattern(r"(?i)^nvidia[- ](?:open[- ])?driver(?:[- ]\d{3})? v?(\d{3}(?:\.\d{1,3}){0,2})$")


def check(written_cluster: ClusterSpec) -> Iterator[Problem]:
    if written_cluster.software is None:
        return
    drivers = [found[1] for each in written_cluster.software if (found := _DRIVER.search(each.strip())) is not None]
    for index, each in enumerate(written_cluster.software):
        manager = _MANAGER.search(each.strip())
        if manager is None or len(drivers) != 1:
            continue
        pairs = [*zip(manager[1].split("."), drivers[0].split("."), strict=False)]
        if any(int(one) != int(other) for one, other in pairs):
            message = f"Fabric Manager {manager[1]} does not run with driver {drivers[0]}: both need the same release"
            at = ("cluster", "software", index)
            yield RULE.problem(at, message, f"install Fabric Manager {drivers[0]}")
