"""A power cap or idle power contradicts the part.

## What it finds

`accelerator_cap` above the power of the accelerator, below 15 % of it, or below the limits that NVIDIA's driver accepts
(errors): 200 W for parts of 700 W and more, 100 W for those from 250 W on; a cap below the accelerator's power,
with the rate that GEMMs keep (a note, and a warning below 60 % of the power unless a stated `budget` or `rack_limit`,
or the supplies of a node, require the cap); and `node_idle` at or above the power of a node at full load (an error).

## Why it matters

A cap above the rating has no effect, so the planned saving does not occur; the driver refuses one below its lowest limit,
and the part keeps the limit that it had. A cap below the rating lowers clocks: estimates
assume that GEMMs and attention slow down with the square root of the power above idle. In MLPerf Inference 4.1, H200
with limits of 350 to 500 W lost 17 to 35 % of their throughput.

## What to do

Write the configured cap, and measure the machine with it. Below 60 % of the power, compare with fewer accelerators
at full power: `clusterspec solve SPEC --for nodes --until "power<=2MW"`.

## When to ignore it

Ignore it where the cap costs less time than the width of the predicted range.

## Fires

```yaml cluster.power.accelerator_cap
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  power: {accelerator_cap: 1000 W}
```

```yaml cluster.power.accelerator_cap
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  power: {accelerator_cap: 70 W}
```

```yaml cluster.power.accelerator_cap
clusterspec: 1
cluster:
  platform: dgx-h200
  nodes: 8
  power: {accelerator_cap: 180 W}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  power: {accelerator_cap: 700 W, node_idle: 2.9 kW}
```

## Sources

- 700 W of an H100: `clusterspec catalog show h100-sxm-80gb`
- "between 200.00 W and 700.00 W": https://github.com/stackhpc/ansible-slurm-appliance/pull/975
- H200 with and without caps, closed/NVIDIA/results: https://github.com/mlcommons/inference_results_v4.1
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Cluster
from clusterspec.cost.compute.power_cap import capped_clock
from clusterspec.cost.feed_loss import supplies_of
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "note")
AT = "cluster.power.accelerator_cap"
DEEP = 0.6
"""Share of the power below which few machines cap their parts: JUPITER and Alps cap their GH200 at 0.66 to 0.68."""
LEAST = 0.15
"""Share of the power below which no driver accepts a cap; 40 of 72 W on L4, 100 of 500 W on A100 (`nvidia-smi -q`)."""
LOWEST_OF_NVIDIA = ((700, 200), (250, 100))
"""Watts of a part, and the lowest limit in watts that NVIDIA's driver accepts for parts of so many and more: 200 of 700 W
on H100 and H200 SXM, 200 of 1,000 W on GH200, 100 of 300 to 500 W on A100 and PCIe cards (`nvidia-smi -q -d POWER`).
"""


def check(power: PowerSpec, cluster: Cluster) -> Iterator[Problem]:
    cap, own, node, idle = power.accelerator_cap, cluster.accelerator.power, cluster.node_power, power.node_idle
    if idle is not None and node is not None and idle.value >= node.value:
        message = (
            f"an idle node of {display(idle.value, 'W')} draws as much as one at full load, {display(node.value, 'W')}"
        )
        yield RULE.problem("cluster.power.node_idle", message, "correct one of the two figures", severity="error")
    if cap is None or own is None or cap.value == own.value:
        return
    lowest = _lowest_limit(cluster.accelerator, own.value)
    if cap.value > own.value:
        message = f"a cap of {display(cap.value, 'W')} is above the {display(own.value, 'W')} of {cluster.accelerator.id}: it limits nothing"
        yield RULE.problem(AT, message, "write the cap that is configured, or remove the key", severity="error")
    elif cap.value < lowest:
        message = f"a cap of {display(cap.value, 'W')} is {percent(cap.value / own.value)} of the {display(own.value, 'W')} of {cluster.accelerator.id}: drivers refuse limits below {display(lowest, 'W')}"
        yield RULE.problem(
            AT, message, f"write the cap of one accelerator, at least {display(lowest, 'W')}", severity="error"
        )
    else:
        clock = capped_clock(cluster)
        kept = f": matrix products run at {percent(clock.value, 2)} of their rate" if clock is not None else ""
        message = f"accelerators are capped at {percent(cap.value / own.value)} of their power{kept}"
        deep = cap.value < DEEP * own.value and not _is_needed(power, cluster, own.value - cap.value)
        yield RULE.problem(
            AT, message, "state the results of the capped machine under `measured`", severity="warning" if deep else ""
        )


def _lowest_limit(part: Accelerator, power: float) -> float:
    """The lowest power limit in watts that a driver may accept for a part of ``power`` watts."""
    of_vendor = LOWEST_OF_NVIDIA if part.vendor == "NVIDIA" else ()
    return next((lowest for watts, lowest in of_vendor if power >= watts), LEAST * power)


def _is_needed(power: PowerSpec, cluster: Cluster, saved: float) -> bool:
    """Whether the power cap is needed to stay within a limit of the machine, of a rack, or of the supplies of a node.

    ``saved`` is the number of watts that the cap saves per accelerator.
    """
    if cluster.node_power is None:
        return False
    uncapped = cluster.node_power.value + cluster.accelerators_per_node * saved
    limits = ((power.budget, cluster.all_nodes), (power.rack_limit, power.nodes_per_rack or 0))
    supplies = supplies_of(cluster, power)
    weak = supplies is not None and supplies.what == "node" and uncapped > supplies.number * supplies.each
    return weak or any(limit is not None and nodes * uncapped > limit.value for limit, nodes in limits)
