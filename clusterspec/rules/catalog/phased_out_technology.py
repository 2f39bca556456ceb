"""The fabric's technology is being phased out.

## What it finds

A `technology` whose catalog entry is discontinued, and GPUDirect-TCPX and -TCPXO, which no instance after the A3 Mega
uses. The finding is a warning for new machines. It is a note where the accelerators are discontinued as well, and in a
cloud, since such machines exist already.

## Why it matters

The technology gets no new software, and clouds offer fewer machines with it: Google's A3 Ultra (H200), A4 and A4X all
use RoCE, at twice the rate of TCPXO.

## What to do

Use the successor that the finding names: A3 Ultra or A4 with `gcp-roce` instead of TCPX and TCPXO, otherwise the
generation of the technology that is sold in its place.

## When to ignore it

Ignore it for machines that exist already.

## Fires

```yaml cluster.scale_out.technology
clusterspec: 1
cluster:
  platform: gcp-a3-megagpu-8g
  nodes: 4
  scale_out: {technology: gpudirect-tcpxo, placement: compact-placement-policy}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: gcp-a3-ultragpu-8g
  nodes: 4
  scale_out: {placement: compact-placement-policy}
```

## Sources

- GCP's instances and their networks: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L566
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning")
SUPERSEDED = {"gpudirect-tcpx": "RoCE from A3 Ultra on", "gpudirect-tcpxo": "RoCE from A3 Ultra on"}


def check(scale_out: ScaleOut, accelerator: Accelerator) -> Iterator[Problem]:
    entry, old = scale_out.technology, accelerator.status.state == "discontinued"
    successor = SUPERSEDED.get(entry.id)
    if successor is None and entry.status.state != "discontinued":
        return
    why = f"is superseded by {successor}" if successor else f"was discontinued (as of {entry.status.as_of})"
    severity = "note" if old or entry.cloud else "warning"
    help_ = f"use {entry.replaced_by or 'its successor'} for new machines"
    yield RULE.problem("cluster.scale_out.technology", f"{entry.name} {why}", help_, severity=severity)
