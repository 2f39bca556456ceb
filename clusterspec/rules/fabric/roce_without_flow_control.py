"""A RoCE fabric has no flow control against packet loss.

## What it finds

RoCE v2 or Spectrum-X with `flow_control: {pfc: false, ecn: false}`: an error. The finding is a note if neither is
stated, or if one of the two is on. The rule is silent where the technology is an assumption, and for clouds, whose
provider configures the fabric.

## Why it matters

RoCE retransmits a lost packet and all packets after it (go-back-N). NCCL's maintainers report less than 1 GB/s on
fabrics that drop packets, where 40 GB/s was expected.

## What to do

Configure PFC on the traffic class of RoCE, and ECN marking with DCQCN, on NICs and on every switch. Declare both.

## When to ignore it

Ignore it on lossy fabrics with selective repeat that were tested under congestion.

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

- Throughput of a fabric that drops packets: https://github.com/NVIDIA/nccl/issues/378
- Another case: https://github.com/NVIDIA/nccl/issues/306
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, key_path
from clusterspec.spec.model import Spec

RULE = Rule.of(__name__, "error")
TECHNOLOGIES = {"roce-v2", "spectrum-x"}
AT = "cluster.scale_out.flow_control"


def check(assumed: Mapping[str, str], spec: Spec, cluster: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    if scale_out.technology.id not in TECHNOLOGIES or cluster.cloud or cluster.nodes < 2:
        return
    if scale_out.topology == "direct" or spec.unreadable(key_path(AT)) or "cluster.scale_out.technology" in assumed:
        return
    pfc, ecn = scale_out.pfc, scale_out.ecn
    help_ = "enable PFC and ECN on every NIC and switch, and write `flow_control: {pfc: true, ecn: true}`"
    if pfc is None and ecn is None:
        message = (
            f"flow control of {scale_out.technology.name} is not stated: without it the fabric drops packets under load"
        )
        yield RULE.problem(AT, message, help_, severity="note")
    elif not pfc and not ecn:
        yield RULE.problem(
            AT,
            "without PFC and ECN the fabric drops packets under load, and RoCE retransmits the lost packet and all packets after it",
            help_,
        )
    elif not (pfc and ecn):
        there, lacking = ("PFC", "ECN") if pfc else ("ECN", "PFC")
        effect = "pauses spread congestion to other flows" if pfc else "bursts can still overflow buffers"
        message = f"{there} is on and {lacking} is off: {effect}"
        yield RULE.problem(AT, message, help_, severity="note")
