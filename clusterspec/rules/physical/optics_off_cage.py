"""Optics do not fit the cages at the end of a link.

## What it finds

Named optics, at either end of a level, where

- the module has another form factor than the cage: a QSFP112 module in an OSFP cage
- the module has the wrong heat sink: a finned module in a NIC, whose cage has the heat sink, or a flat one in an
  air-cooled switch
- the module draws more than a cage of the switch supplies
- the module of a node carries one NIC, and each cage of the platform several

Cages follow from the platform or NIC and from the switch. A single id stands for both ends of the level.

## Why it matters

The module cannot be plugged in, overheats, or is not powered up.

## What to do

Name both ends: `node_leaf: [ID of the node, ID of the switch]`. Switches that are cooled by air take finned OSFP
modules, NICs and liquid-cooled switches flat ones.

## When to ignore it

Do not ignore it. If a cage accepts another form factor, correct the entry in a company catalog.

## Fires

```yaml cluster.scale_out.optics.node_leaf
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 16
  scale_out:
    technology: roce-v2
    nics_per_node: 8
    nic: bluefield-3
    switch: spectrum-4-sn5600
    flow_control: {pfc: true, ecn: true}
    optics: {node_leaf: mma4z00-ns}
```

```yaml cluster.scale_out.optics.node_leaf[0]
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 31
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    topology: rail-optimized
    optics: {node_leaf: [mms4x00-ns, mms4x00-ns]}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 31
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    topology: rail-optimized
    optics: {node_leaf: [mms4x00-ns-flt, mms4x00-ns]}
```

## Sources

- Finned and flat modules: https://docs.nvidia.com/networking/display/400g100gpam4ovpub/linkx-100g-pam4-product-line-overview
- 17 W for each cage of a QM9700: https://docs.nvidia.com/networking/display/QM97X0PUB/Interfaces
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Optics, Switch
from clusterspec.cluster.fabric import LevelOptics, level_optics
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import connectors_of_node, fits_cage
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list

RULE = Rule.of(__name__, "error")


def check(cluster: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    if not scale_out.optics:
        return
    for one in level_optics(scale_out):
        yield from list(_misfit_problems(one, cluster, scale_out))[: None if one.listed else 1]


def _misfit_problems(one: LevelOptics, cluster: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    """Problems of the optics at both ends of a level, the lower end first."""
    at, switch = f"cluster.scale_out.optics.{one.level}", scale_out.switch
    lower, upper = (f"{at}.0", f"{at}.1") if one.listed else (at, at)
    if one.level == "node_leaf":
        yield from _node_misfit_problem(lower, one.lower_end, cluster, scale_out)
    elif switch is not None:
        yield from _switch_misfit_problem(lower, one.lower_end, switch)
    if switch is not None:
        yield from _switch_misfit_problem(upper, one.upper_end, switch)


def _node_misfit_problem(at: str, part: Optics, cluster: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    forms = connectors_of_node(cluster, scale_out)
    help_ = "name both ends: the module of the node, then that of the switch"
    if forms and not any(fits_cage(part.cages, form) for form in forms):
        message = f"{part.name} fits {or_list(part.cages)}, but the cages of a node are {or_list(forms)}"
        yield RULE.problem(at, message, help_)
    elif part.top == "finned" and "OSFP" in forms:
        message = f"{part.name} has fins for air-cooled switches, but the OSFP cages of nodes take flat modules"
        yield RULE.problem(at, message, help_)
    else:
        yield from _dark_nic_problem(at, part, cluster, scale_out)


def _dark_nic_problem(at: str, part: Optics, cluster: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    """The problem of a module for one NIC in a platform whose cages each serve several NICs."""
    cages = cluster.platform.cages if cluster.platform is not None else None
    if not cages or part.bandwidth is None or cluster.platform is None:
        return
    nics = scale_out.nics_per_node
    alone = part.bandwidth.value <= scale_out.nic_bandwidth.value
    if alone and nics == cluster.platform.nics_per_node and nics > cages:
        message = f"{part.name} carries one NIC, but the {nics} NICs of a node share {cages} cages: {nics - cages} stay without a link"
        help_ = "name a module with as many ports as a cage has NICs"
        yield RULE.problem(at, message, help_)


def _switch_misfit_problem(at: str, part: Optics, switch: Switch) -> Iterator[Problem]:
    cage, limit = switch.connector or "", switch.cage_power
    if not fits_cage(part.cages, cage):
        message = f"{part.name} fits {or_list(part.cages)}, but the cages of {switch.id} are {cage}"
        yield RULE.problem(at, message, "name both ends: the module of the node, then that of the switch")
    elif part.top and switch.module_top and part.top != switch.module_top:
        message = f"{part.name} is {part.top}, but {switch.id} takes {switch.module_top} modules"
        yield RULE.problem(at, message, f"use the {switch.module_top} part")
    elif part.power is not None and limit is not None and part.power.value > limit.value:
        message = f"{part.name} draws {part.power.value:g} W, but a cage of {switch.id} supplies {limit.value:g} W"
        yield RULE.problem(at, message, "use a module of lower power, or another switch")
