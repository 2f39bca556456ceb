"""The host memory exceeds the memory that is soldered to the processors of the modules.

## What it finds

A `host_memory` above the largest memory of the processors of a node whose accelerators share a module with them, such
as GH200 and GB200. It may include the memory of the accelerators, which operating systems of such machines count as
well.

## Why it matters

This memory is soldered, and the modules have no slots. Caches, offloaded states and copies of checkpoints that are
planned for the stated memory do not fit.

## What to do

State the memory of the modules: 480 GB for one GH200, 960 GB for the four accelerators of a tray of GB200.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.host_memory
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 18, host_memory: 4 TB}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 18, host_memory: 960 GB}
```

## Sources

- 480 GB of one processor: https://www.nvidia.com/en-us/data-center/grace-hopper-superchip/
- 17 TB of 36 processors: https://www.nvidia.com/en-us/data-center/gb200-nvl72/
- 1.87 TB of a tray, counted with the memory of its accelerators: https://github.com/mlcommons/inference_results_v6.1/blob/main/closed/Crusoe/systems/GB200-NVL72_GB200-186GB_aarch64x16_Dynamo.json
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "error", yields_to=("unusual-value",))
ROUNDED = 1.1
"""Ratio to the sum of both memories above which neither rounding nor another prefix explains a figure."""


def check(cluster: Cluster) -> Iterator[Problem]:
    soldered, stated = cluster.accelerator.processor_memory, cluster.host_memory
    if stated is None or soldered is None:
        return
    own = cluster.accelerator.memory.value if cluster.accelerator.memory else 0.0
    each = cluster.accelerators_per_node
    if stated.value > ROUNDED * (soldered.value + own) * each:
        most = display(soldered.value * each, "B")
        message = f"a node has {display(stated.value, 'B')} of host memory, but the processors of {each} {cluster.accelerator.name} have {most} at most"
        yield RULE.problem("cluster.host_memory", message, f"write {most} or less")
