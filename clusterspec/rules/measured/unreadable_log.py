"""A measured log or a trace of requests cannot be used.

## What it finds

A `log` under `measured` that is missing, is outside the folder of the spec, is not output of nccl-tests or rccl-tests,
contradicts its entry, or contradicts itself (size over time differs from the printed bandwidth). A `step_log` that has
no steps, or whose batch, degrees or ranks differ from the spec; a `load_test` without a time per output token, or with
another load than the spec. A `trace` of arrivals or lengths that is outside the folder of the spec or has a row that
cannot be read; the finding is a note where the file is missing.

## Why it matters

The figures of a log may be wrong, or from another machine. Without its trace, a serving plan is checked against a
load that nobody stated.

## What to do

Add the raw output with its header, or the trace as CSV with its header, as a file in the folder of the spec.

## When to ignore it

Do not ignore it.

## Fires

```yaml measured[0].log
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {log: no-such-log.txt}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
measured:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 370 GB/s}
```

## Sources

- What the tools print: https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/doc/PERFORMANCE.md
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
