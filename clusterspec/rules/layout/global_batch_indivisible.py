"""The global batch is not a whole number of micro-batches.

## What it finds

A `global_batch` that dp × `micro_batch` does not divide; in reinforcement learning, a number of samples per minibatch
that dp does not divide.

## Why it matters

Every framework asserts it. 500 sequences over 16 replicas with micro-batches of 2 would be 15.6 micro-batches per
replica.

## What to do

Use the nearest divisible batch, another micro-batch, or another dp (through tp or pp).

## When to ignore it

Do not ignore it. With a batch-size ramp, every batch of the ramp must be divisible.

## Fires

```yaml workload.global_batch
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 500}
layout: {tp: 8, micro_batch: 2}
```

```yaml workload.rl.minibatches
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 8}
workload:
  kind: rl
  model: qwen3-8b
  rl: {prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 300, output_tokens: {mean: 2500, max: 7680}, minibatches: 16}
layout: {framework: fsdp}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512}
layout: {tp: 8, micro_batch: 2}
```

## Sources

- Megatron Core: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/num_microbatches_calculator.py#L382
- DeepSpeed: https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/deepspeed/runtime/config.py#L937
- torchtitan: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/trainer.py#L420
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import job_nodes
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cluster.nearby_layouts import fewer_nodes
from clusterspec.cluster.samples import Rl
from clusterspec.finding import Problem
from clusterspec.records import replace
from clusterspec.rules.advice.proposals import Legality, near_multiples
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list
from clusterspec.spec.model import LayoutSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(
    legality: Legality, training: Workload, cluster: Cluster, written_layout: LayoutSpec, layout: Layout
) -> Iterator[Problem]:
    if not legality.breaks(RULE.name) or not legality.has_integer_dp:
        return
    rl = training.rl
    if rl is not None and (rl.samples % rl.minibatches or rl.samples // rl.minibatches % layout.dp == 0):
        return  # `keys-disagree` reports the one; in the other, ranks pack the samples of a minibatch each on its own
    if training.rl is not None:
        yield _sample_batch_problem(training.rl, layout)
        return
    step = layout.dp * layout.micro_batch
    rounds = layout.pp if layout.schedule == "interleaved" else 1  # the schedule takes them in rounds of pp
    batches = or_list(near_multiples(training.global_batch, step * rounds))
    legal = legality.nearest_values_text(RULE.name, "micro_batch", "tp", "pp")
    yield RULE.problem(
        "workload.global_batch",
        f"a global batch of {training.global_batch:,} is not a multiple of dp {layout.dp} × micro_batch {layout.micro_batch} = {step:,}",
        f"use a batch of {batches}"
        + (f", or {legal}" if legal else "")
        + _fewer_nodes_advice(training.global_batch, rounds, cluster, written_layout, layout),
    )


def _fewer_nodes_advice(batch: int, rounds: int, cluster: Cluster, written: LayoutSpec, layout: Layout) -> str:
    """Advice to use only a power of two of the nodes, if the batch is divisible by their replicas; else empty."""
    fewer = fewer_nodes(written, cluster)
    if fewer is None or written.dp is not None:
        return ""
    key, used = fewer
    section = replace(written, nodes=used) if key == "nodes" else replace(written, nodes_per_domain=used)
    nodes = job_nodes(section, cluster)
    replicas, rest = divmod(nodes * cluster.ranks_per_node, layout.tp * layout.cp * layout.pp)
    fits = not rest and batch % (replicas * layout.micro_batch * rounds) == 0
    return f", or `layout.{key}: {used}`, with dp {replicas}" if fits else ""


def _sample_batch_problem(rl: Rl, layout: Layout) -> Problem:
    """The problem of a reinforcement-learning minibatch whose samples dp does not divide; the samples of one optimizer
    step are its batch.
    """
    samples = plural(rl.samples // rl.minibatches, "sample")
    fitting = [number for number in range(1, rl.minibatches) if rl.samples % (number * layout.dp) == 0]
    help_ = f"write `minibatches: {max(fitting)}`" if fitting else "use more prompts in a step, or fewer replicas"
    message = f"a minibatch has {rl.samples:,} / {rl.minibatches:,} = {samples}, not a multiple of dp {layout.dp}"
    return RULE.problem("workload.rl.minibatches", message, help_)
