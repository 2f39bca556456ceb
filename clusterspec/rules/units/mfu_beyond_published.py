"""The predicted model FLOPs utilization exceeds every published training run.

## What it finds

A plan whose predicted MFU exceeds the highest one published for its kind of accelerator in its precision by more than
the half-width of the software's range, and by more than a tenth: 0.687 in 16 bits, 0.525 in 8 bits and 0.281 in 4 bits
on accelerators with many cores; 0.715 in 16 bits and 0.341 in 8 bits on TPUs. MFU usually counts attention as unmasked;
this rule omits the FLOPs that a causal mask removes, since kernels skip them. In 4 bits, in which few runs are
published, the finding is a note, otherwise a warning. The rule is silent where the plan does not fit in memory.

## Why it matters

The cost model is fitted to published runs. Beyond them it extrapolates, and a limit without a term in the model may apply. A
schedule that rests on such an MFU has no precedent.

## What to do

Plan with the step time at the published MFU, which the message states, until one node has been measured.

## When to ignore it

Ignore it where a run of this model on this accelerator was measured at the predicted MFU.

## Fires

```yaml workload
clusterspec: 1
cluster:
  accelerator: tpu-v6e
  nodes: 8
  accelerators_per_node: 8
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 512, precision: fp8}
layout: {framework: maxtext, tp: 1, sharding: fsdp, micro_batch: 1}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: tpu-v5e
  nodes: 2
  accelerators_per_node: 8
workload: {model: llama-3.1-8b, sequence_length: 2048, global_batch: 512}
layout: {framework: maxtext, tp: 1, sharding: fsdp, recompute: full}
```

## Sources

- The published runs and their errors: https://arxiv.org/abs/2204.02311
- MaxText's published runs: https://github.com/AI-Hypercomputer/maxtext
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.estimate import UNKNOWN_SPREAD, highest_mfu
from clusterspec.cost.parameters import causal_share
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.quantity import precision_width
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "heuristic")
BEYOND = 1.1
"""Ratio to the highest published MFU above which an MFU is reported; nine in ten published dense runs are predicted
within a tenth.
"""


def check(timed: Plan, written_workload: WorkloadSpec) -> Iterator[Problem]:
    highest, workload = highest_mfu(timed.design), timed.design.workload
    if timed.mfu is None or timed.step is None or highest is None or workload is None or timed.fits is False:
        return
    executed = timed.mfu * causal_share(workload.model, workload.sequence_length)
    spread = timed.step.software.stack.achievable.get("spread", UNKNOWN_SPREAD).value
    if executed <= max(BEYOND, 1 + spread) * highest:
        return
    planned = written_workload.expected_mfu
    if planned is not None and planned <= BEYOND * highest:
        return
    at_published = display(timed.step.seconds * timed.mfu / highest, "s")
    yield RULE.problem(
        "workload",
        f"the predicted MFU of {percent(timed.mfu)} exceeds the {percent(highest)} that the best published run in this precision"
        " reached on such accelerators: the cost model extrapolates",
        f"plan with {at_published} a step, the published MFU (`expected_mfu: {highest:.3g}`), until a node is measured",
        severity="note" if precision_width(workload.precision) < 1 else "warning",
    )
