"""In a full mesh, the links to all peers do not sum to the bandwidth of the accelerator.

## What it finds

With `topology: full-mesh` and both figures stated, a `bandwidth` that is not `peer_bandwidth` × (`domain` − 1), in the
same direction, within 3 %.

## Why it matters

A full mesh has one link (or a fixed bundle) to each peer: an MI300X has 7 × 64 = 448 GB/s, a Gaudi2 7 × 37.5 = 262.5
GB/s, not the 300 GB/s of its 24 ports. One of the two figures is wrong, and with it the predicted time of the
collectives that depend on it.

## What to do

Correct the wrong figure, and state both for the same direction.

## When to ignore it

Do not ignore it. If the links to different peers differ, write `topology: partial-mesh`.

## Fires

```yaml cluster.scale_up.peer_bandwidth
clusterspec: 1
cluster:
  accelerator: mi300x
  accelerators_per_node: 8
  nodes: 1
  scale_up:
    topology: full-mesh
    bandwidth: 448 GB/s unidirectional
    peer_bandwidth: 50 GB/s unidirectional
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: mi300x
  accelerators_per_node: 8
  nodes: 1
  scale_up:
    topology: full-mesh
    bandwidth: 896 GB/s duplex
    peer_bandwidth: 64 GB/s unidirectional
```

## Sources

- Links of each mesh: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L193
- Seven links of an MI300X in RCCL: https://github.com/ROCm/rccl/blob/0cbce2a7571c907554199fad7e905f16ec0a565c/README.md#L194
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleUp
from clusterspec.cost.formulas.topologies import mesh_bandwidth
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleUpSpec
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "error")
ROUNDED = 0.03


def check(deviations: Deviations, written_scale_up: ScaleUpSpec, scale_up: ScaleUp) -> Iterator[Problem]:
    written, peer = written_scale_up.bandwidth, written_scale_up.peer_bandwidth
    if scale_up.topology != "full-mesh" or scale_up.domain < 2 or written is None or peer is None:
        return
    if written.direction is None or peer.direction is None:
        return
    links, together = scale_up.domain - 1, mesh_bandwidth(peer.per_direction, scale_up.domain)
    off = written.per_direction / together - 1
    if abs(off) <= ROUNDED or _is_explained_by_deviation(deviations):
        return
    whole, each = "cluster.scale_up.bandwidth", "cluster.scale_up.peer_bandwidth"
    at, other = (whole, each) if any(deviation.stated.at == whole for deviation in deviations.found) else (each, whole)
    yield RULE.problem(
        at,
        f"{plural(links, 'peer')} at {display(peer.per_direction, 'B/s')} each {'is' if links == 1 else 'are'} {display(together, 'B/s')} per direction, "
        f"but `bandwidth` is {display(written.per_direction, 'B/s')}",
        f"one of the two is wrong: {written.written} over {plural(links, 'peer')} is {display(written.per_direction / links, 'B/s')} each way",
        related=[(other, "the other figure")],
    )


def _is_explained_by_deviation(deviations: Deviations) -> bool:
    """Whether a likely error in one of the two figures accounts for the difference."""
    return any(deviation.stated.kind in {"scale-up", "peer"} and deviation.causes for deviation in deviations.found)
