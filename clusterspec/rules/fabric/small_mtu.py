"""The packets of an RDMA fabric are small.

## What it finds

On RoCE, an `mtu` too small for the largest RDMA payload of 4,096 bytes: a note from 1,501 to 4,095; a warning at 1,500
or less, and from 4,096 to 4,186, which hold the payload but not its headers. On InfiniBand, an `mtu` below 4,096 (a
note).

## Why it matters

The RDMA payload is the largest of 256, 512, 1,024, 2,048 and 4,096 bytes that fits into an Ethernet frame. With frames of
1,500 bytes it is 1,024: four times the packets of a fabric with jumbo frames, and 49 million a second at 400 Gb/s.

## What to do

Set 9,000 bytes (at least 4,200) on all switches and adapters; on InfiniBand 4,096.

## When to ignore it

Ignore it where the fabric is shared with hosts that are limited to 1,500 bytes.

## Fix safety

The fix is unsafe: it writes 9000, or 4096 for InfiniBand. Every switch must be configured accordingly.

## Fires

```yaml cluster.scale_out.mtu
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 16
  scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, mtu: 1500, flow_control: {pfc: true, ecn: true}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 16
  scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, mtu: 4200, flow_control: {pfc: true, ecn: true}}
```

## Sources

- The payload that follows from the frame: https://www.ibm.com/docs/en/linux-on-systems?topic=functions-set-mtu
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import ScaleOutSpec

RULE = Rule.of(__name__, "note")
AT = "cluster.scale_out.mtu"
HEADERS = 90
"""Bytes of a RoCE v2 packet beyond its payload: IP 40 (version 6), UDP 8, transport 12 to 28, checksum 4, rounded up.
"""
PAYLOADS = (4096, 2048, 1024, 512, 256)
ORDINARY = 1500
"""Bytes of an Ethernet frame that is not a jumbo frame."""


def check(written_scale_out: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    mtu, technology = written_scale_out.mtu, scale_out.technology
    if mtu is None or technology.family not in {"roce", "infiniband"}:
        return
    framed = technology.family == "roce"
    payload = rdma_payload(mtu - HEADERS * framed)
    if payload == PAYLOADS[0]:
        return
    packets = scale_out.nic_bandwidth.value / payload / 1e6
    message = (
        f"`mtu: {mtu}` leaves an RDMA payload of {payload:,} bytes: {packets:.0f} million packets a second for each NIC, "
        f"{PAYLOADS[0] // payload} times those of 4,096 bytes"
    )
    best = "9000" if framed else "4096"
    severity = "warning" if framed and (mtu <= ORDINARY or mtu >= PAYLOADS[0]) else "note"
    yield RULE.problem(
        AT, message, f"write `mtu: {best}`, on all switches and adapters", severity=severity, fix=value_fix(AT, best)
    )


def rdma_payload(size: int) -> int:
    """The largest RDMA payload that fits into ``size`` bytes.

    >>> rdma_payload(1500 - HEADERS), rdma_payload(4200 - HEADERS), rdma_payload(2048)
    (1024, 4096, 2048)
    >>> [rdma_payload(size) for size in (4095, 2047, 1023, 512, 511, 200)]
    [2048, 1024, 512, 512, 256, 256]
    """
    return next((payload for payload in PAYLOADS if payload <= size), PAYLOADS[-1])
