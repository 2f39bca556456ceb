"""A section belongs to another kind of workload.

## What it finds

`workload.serving` where `kind` is not `serve`, and `workload.rl` where it is not `rl`. Without `kind`, the section
decides, which is a note; it is an error where both sections are stated.

## Why it matters

With another kind the section is not read. Without `kind`, the section decides; other readers of the file may take the
default, a training run.

## What to do

State the kind, or remove the section.

## When to ignore it

Do not ignore it.

## Fires

```yaml workload.serving
clusterspec: 1
cluster: {platform: aws-g6e-48xlarge, nodes: 2}
workload:
  kind: train
  model: llama-3.1-8b
  serving: {input_tokens: 2000, output_tokens: 300, concurrency: 256}
layout: {framework: vllm, tp: 1}
```

```yaml workload.serving
clusterspec: 1
cluster: {platform: aws-g6e-48xlarge, nodes: 2}
workload:
  model: llama-3.1-8b
  serving: {input_tokens: 2000, output_tokens: 300, concurrency: 256}
layout: {framework: vllm, tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: aws-g6e-48xlarge, nodes: 2}
workload:
  kind: serve
  model: llama-3.1-8b
  serving: {input_tokens: 2000, output_tokens: 300, concurrency: 256}
layout: {framework: vllm, tp: 1}
```

## Sources

- The kinds of workloads: `clusterspec schema`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec, WorkloadSpec

RULE = Rule.of(__name__, "error")
KINDS = {"serving": "serve", "rl": "rl"}
"""The kind of workload that each section belongs to."""
STATED = "`kind: {}`"


def check(spec: Spec, written_workload: WorkloadSpec) -> Iterator[Problem]:
    if spec.unreadable(("workload", "kind")):
        return  # `unknown-choice` reports it
    for section, needed in KINDS.items():
        if getattr(written_workload, section) is not None and written_workload.kind != needed:
            yield _problem(section, needed, written_workload)


def _problem(section: str, needed: str, written: WorkloadSpec) -> Problem:
    """The problem of one section. If no kind is stated and no other section belongs to a kind, the section decides the
    kind.
    """
    if written.kind is None and (written.serving is None or written.rl is None):
        message = f"`kind` is absent, and `{section}` describes `{needed}`, which is assumed"
        return RULE.problem(f"workload.{section}", message, f"write {STATED.format(needed)}", severity="note")
    message = f"the workload is `{written.kind or 'train'}`, so that `{section}` is not read"
    return RULE.problem(f"workload.{section}", message, f"write {STATED.format(needed)}, or remove the keys")
