"""The accelerator does not have the stated scale-up interconnect.

## What it finds

A `scale_up.interconnect` outside the list of the accelerator's entry: NVLink 5 on an H100, NVLink on an L40S or an
MI300X; and a `scale_up.topology` that the accelerator is not built with: switches for directly linked modules, direct
links for switched ones, or a torus or ring for modules with switches or a full mesh. Up to four modules may be linked
directly where eight have switches, as on the boards of four A100 or H100. A bridge of the same generation is accepted
for cards that are joined by bridges. `pcie-3` to `pcie-6` are always accepted, for machines without bridge or
baseboard.

## Why it matters

NVLink 5 has twice the bandwidth of NVLink 4, so every collective in the domain is predicted at half its time. The line
is usually copied from another quote, so other figures may be wrong as well.

## What to do

Use the accelerator's own interconnect, or correct the accelerator.

## When to ignore it

Do not ignore it for parts that the catalog has.

## Fix safety

The fix is unsafe: it writes the only interconnect of the accelerator. The accelerator may be the wrong part instead.

## Fires

```yaml cluster.scale_up.interconnect
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 4
  scale_up: {interconnect: nvlink-5}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 4
  scale_up: {interconnect: nvlink-4}
```

## Sources

- Which part has which interconnect: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L193
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator, Interconnect
from clusterspec.cluster.model import ScaleUp
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.rules.words import or_list
from clusterspec.spec.model import ScaleUpSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "error")
SMALL_BOARD = 4
"""Largest number of modules on a board that is sold without switches although larger boards of the same part have them
(HGX A100 and H100 4-GPU).
"""


def check(written_scale_up: ScaleUpSpec, scale_up: ScaleUp, accelerator: Accelerator) -> Iterator[Problem]:
    entry, own = scale_up.interconnect, accelerator.interconnects
    yield from _topology_problem(written_scale_up, scale_up, accelerator)
    if written_scale_up.interconnect is None or entry is None or not own:
        return
    if entry.id in own or entry.family == "pcie" or _is_its_bridge(entry, accelerator):
        return
    at, offered = "cluster.scale_up.interconnect", or_list(own)
    fix = value_fix(at, own[0]) if len(own) == 1 else None
    message = f"{accelerator.id} has {offered}{_bandwidth_text(accelerator)}, not {entry.name}{_possessive_text(entry)}"
    related = [("cluster.accelerator", "the accelerator")] if accelerator.id else []
    choices = or_list([f"`interconnect: {each}`" for each in own])
    yield RULE.problem(at, message, f"write {choices}, or correct the accelerator", related=related, fix=fix)


def _is_its_bridge(entry: Interconnect, accelerator: Accelerator) -> bool:
    """Whether an interconnect is the bridge that connects the accelerator's PCIe cards."""
    return accelerator.topology == "bridge" and entry.id.removesuffix("-bridge") in accelerator.interconnects


def _bandwidth_text(accelerator: Accelerator) -> str:
    known = accelerator.scale_up_bandwidth
    return f" ({display(known.value, 'B/s')} per direction)" if known else ""


def _possessive_text(entry: Interconnect) -> str:
    return f" ({display(entry.bandwidth.value, 'B/s')})" if entry.bandwidth else ""


def _topology_problem(written: ScaleUpSpec, scale_up: ScaleUp, accelerator: Accelerator) -> Iterator[Problem]:
    """The problem of a scale-up topology that the accelerator is not sold with, such as switched instead of meshed."""
    pair, entry = {written.topology, accelerator.topology}, scale_up.interconnect
    if written.topology == "full-mesh" and scale_up.domain <= SMALL_BOARD:
        return
    ring = written.topology in {"torus", "ring"} and accelerator.topology in {"switched", "full-mesh"}
    if not ring and pair != {"switched", "full-mesh"}:
        return
    if entry is None or entry.id not in accelerator.interconnects:
        return
    message = f"{accelerator.id} is sold with a {accelerator.topology} topology, not {written.topology}"
    yield RULE.problem(
        "cluster.scale_up.topology", message, f"write `topology: {accelerator.topology}`, or remove the key"
    )
