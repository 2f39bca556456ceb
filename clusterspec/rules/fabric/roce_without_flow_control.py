"""A RoCE fabric is not kept from dropping packets.

## What it finds

RoCE v2 or Spectrum-X with `flow_control: {pfc: false, ecn: false}`: an error. Nothing said: a warning. One of the two: a note. A
cloud's fabric is its provider's affair.

## Why it matters

RoCE resends from the lost packet on. "0.x GB/s is very typical of a fabric dropping packets", says a maintainer of NCCL to users who
expected 40.

## What to do

PFC on the class that carries RoCE, ECN marking with DCQCN, on NICs and on every switch; declare both.

## When to ignore it

On fabrics built to run lossy with selective repeat, tested under congestion.

## Fires

```yaml cluster.scale_out.flow_control
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: roce-v2, flow_control: {pfc: false, ecn: false}}
```

```yaml cluster.scale_out.flow_control
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: roce-v2}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: roce-v2, flow_control: {pfc: true, ecn: true}}
```

## Sources

- "Very typical of dropping packets": https://github.com/NVIDIA/nccl/issues/378
- Another case: https://github.com/NVIDIA/nccl/issues/306
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.rule import Rule, place

RULE = Rule.of(__name__, "error")
TECHNOLOGIES = {"roce-v2", "spectrum-x"}
AT = "cluster.scale_out.flow_control"


def check(facts: Facts, cluster: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    if scale_out.technology.id not in TECHNOLOGIES or cluster.cloud or cluster.nodes < 2:
        return
    if facts.spec.unreadable(place(AT)):
        return
    pfc, ecn = scale_out.pfc, scale_out.ecn
    help_ = "write `flow_control: {pfc: true, ecn: true}` once both are on every NIC and switch"
    if pfc is None and ecn is None:
        message = f"nothing says how {scale_out.technology.name} is kept from dropping packets"
        yield RULE.problem(AT, message, help_, severity="warning")
    elif not pfc and not ecn:
        yield RULE.problem(
            AT, "without PFC and ECN the fabric drops packets under load, and RoCE resends from there on", help_
        )
    elif not (pfc and ecn):
        there, lacking = ("PFC", "ECN") if pfc else ("ECN", "PFC")
        message = (
            f"{there} without {lacking}: congestion is {'stopped but not slowed' if pfc else 'slowed but not stopped'}"
        )
        yield RULE.problem(AT, message, help_, severity="note")
