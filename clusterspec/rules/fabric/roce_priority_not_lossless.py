"""Priority flow control does not protect the priority of RDMA traffic, or protects too many.

## What it finds

On RoCE, a priority of RDMA packets (`flow_control.roce_priority`, or the one that the accelerator's driver sets) that
is not among the `lossless_priorities`, or `pfc: false` with lossless priorities: an error. More than four lossless
priorities are a warning.

## Why it matters

The switches pause one priority while RDMA traffic uses another: the configuration looks lossless, and the fabric drops
packets under load. Each lossless priority needs headroom in the buffer of every port for packets in flight when the
port pauses; switches have it for two, some for four.

## What to do

Send RDMA traffic with a lossless priority; some adapters set theirs in the driver (Gaudi 3: 2 for data, 3 for
acknowledgments), and then the switches have to follow.

## When to ignore it

Do not ignore it. If the fabric is lossy by design, remove `lossless_priorities`.

## Fires

```yaml cluster.scale_out.flow_control.roce_priority
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 16
  scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, flow_control: {pfc: true, ecn: true, lossless_priorities: [3], roce_priority: 5}}
```

```yaml cluster.scale_out.flow_control.lossless_priorities
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 16
  scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, flow_control: {pfc: true, ecn: true, lossless_priorities: [0, 1, 2, 3, 4, 5, 6, 7]}}
```

```yaml cluster.scale_out.flow_control.lossless_priorities
clusterspec: 1
cluster:
  platform: gaudi3-hls
  nodes: 16
  scale_out: {flow_control: {pfc: true, ecn: true, lossless_priorities: [3]}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 16
  scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, flow_control: {pfc: true, ecn: true, lossless_priorities: [3], roce_priority: 3}}
```

## Sources

- At most two lossless priorities of a port, by the headroom of its buffer: https://manualshive.com/en/manual/dell/n1100-on/n1100-on_reference-manual_86012-1179.html
- Priorities of the driver and of the switches: https://docs.habana.ai/en/latest/Management_and_Monitoring/Network_Configuration/Expected_Switch_Configuration.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import ScaleOutSpec

RULE = Rule.of(__name__, "error")
AT = "cluster.scale_out.flow_control"
MOST = 4
"""Lossless priorities for which some switches have buffers."""


def check(written_scale_out: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    flow = written_scale_out.flow_control
    if flow is None or flow.lossless_priorities is None or scale_out.technology.family != "roce":
        return
    lossless, used = flow.lossless_priorities, flow.roce_priority
    if used is not None and used not in lossless:
        message = f"RDMA traffic has priority {used}, but flow control protects {and_list(sorted(set(lossless)))}: RDMA packets are dropped under load"
        yield RULE.problem(
            f"{AT}.roce_priority",
            message,
            f"write `roce_priority: {lossless[0]}`, or add {used} to `lossless_priorities`",
        )
    elif unprotected := [each for each in scale_out.technology.rdma_priorities if each not in lossless]:
        driver = and_list(scale_out.technology.rdma_priorities)
        message = (
            f"the driver sends RDMA packets with the priorities {driver} ({scale_out.technology.id}), but flow control "
            f"protects {and_list(sorted(set(lossless)))}: those of {and_list(unprotected)} are dropped under load"
        )
        yield RULE.problem(f"{AT}.lossless_priorities", message, f"add {and_list(unprotected)}")
    elif flow.pfc is False:
        message = "lossless priorities are stated, but priority flow control is off: nothing protects them"
        yield RULE.problem(f"{AT}.pfc", message, "write `pfc: true`, or remove `lossless_priorities`")
    elif len(set(lossless)) > MOST:
        message = f"{len(set(lossless))} lossless priorities: a port can buffer the packets in flight of two, in some switches of four"
        help_ = "keep one for RDMA, and one for storage if that is lossless as well"
        yield RULE.problem(f"{AT}.lossless_priorities", message, help_, severity="warning")
