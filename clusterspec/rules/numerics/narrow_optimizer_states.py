"""Master weights or moments are kept in too few bits.

## What it finds

Weights that the optimizer updates in bf16 or narrower: `master: none` with `parameter_precision` below fp32, or a
`master` below fp32. The finding is a warning for runs of at least 20 billion tokens, and a note for shorter runs and
for runs without a stated length, such as benchmarks; 8 bits and fewer are always a warning. `master: fp16` is a note,
and so is bf16 on accelerators that can round stochastically. Moments in fp16 or fp8 are a warning: published runs that
keep them scale each tensor. `moments: none` with an optimizer that keeps moments, such as Adam, is an error: the plan leaves
out memory that the run needs.

## Why it matters

A bf16 number has 8 significant bits, so that an update below 1/512 of a weight rounds to nothing. With weights of 0.02
and updates as large as the learning rate, training stalls at learning rates below 4e-5, which every schedule reaches in
its last part. In fp8 the second moment, a square, underflows.

## What to do

Keep fp32 master weights, as most published runs do. bf16 moments save the same memory, and DeepSeek-V3 trained with
them. Shard the optimizer over more ranks where memory is short.

## When to ignore it

Ignore it where the optimizer rounds stochastically or sums with compensation (Kahan), or scales each tensor or block.

## Fires

```yaml layout.optimizer_states.master
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024, tokens: 15T}
layout: {tp: 1, optimizer_states: {master: none, moments: fp32}}
```

```yaml layout.optimizer_states.moments
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024, tokens: 15T}
layout: {tp: 1, optimizer_states: {master: fp32, moments: fp8}}
```

```yaml layout.optimizer_states.moments
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, optimizer: adamw}
layout: {framework: megatron-core, tp: 2, optimizer_states: {master: fp32, moments: none}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024, tokens: 15T}
layout: {tp: 1, optimizer_states: {master: fp32, moments: bf16}}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, optimizer: sgd}
layout: {framework: megatron-core, tp: 2, optimizer_states: {master: fp32, moments: none}}
```

## Sources

- Stochastic rounding of Trainium and the variable that turns it on:
  https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-features/rounding-modes.html
- Updates that nearest rounding cancels: Zamirai et al., https://arxiv.org/abs/2010.06192
- bf16 moments with fp32 master weights, section 3.3: https://arxiv.org/abs/2412.19437
- fp8 and fp16 states with scaling by tensor, and what diverges: Peng et al., FP8-LM, https://arxiv.org/abs/2310.18313
- 2T tokens with both moments in fp8, each scaled: Fishman et al., https://arxiv.org/abs/2409.12517
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Design, Layout, Workload
from clusterspec.cost.parameters import MOMENTS
from clusterspec.finding import Problem
from clusterspec.quantity import PRECISIONS
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "warning", "likely")
NARROW_MOMENTS = frozenset({"fp8", "fp16", "none"})
"""Settings of moments that are reported: formats in which the second moment underflows, and none."""
SHORT_RUN = 20e9
"""Number of tokens below which a run counts as fine-tuning: public fine-tuning sets have at most a few billion."""


def check(training: Workload, layout: Layout, design: Design) -> Iterator[Problem]:
    if layout.master_precision == "fp32" and layout.moments_precision not in NARROW_MOMENTS:
        return
    tokens = training.tokens
    short = tokens is not None and tokens < SHORT_RUN
    run = f"a run of {display(tokens, '1')} tokens" if tokens is not None else "the run"
    rounds = design.cluster is not None and design.cluster.accelerator.stochastic_rounding
    yield from _master_problem(training, layout, run, mild=short or rounds, rounds=rounds)
    moments = layout.moments_precision
    if moments == "none":
        yield from _moments_problem(training.optimizer)
    elif moments in NARROW_MOMENTS:
        lost = "the second moment, a square, underflows without scaling"
        message = f"{run} keeps the moments in {moments}: {lost}"
        help_ = "use bf16 or fp32, or confirm that the optimizer scales blocks of the moments"
        yield RULE.problem("layout.optimizer_states.moments", message, help_)


def _moments_problem(optimizer: str) -> Iterator[Problem]:
    """The problem of an optimizer that is planned without its moments."""
    if MOMENTS[optimizer]:
        message = f"`moments` is none, but {optimizer} keeps {plural(MOMENTS[optimizer], 'moment')} of each weight"
        help_ = "state their precision, or name an optimizer without moments"
        yield RULE.problem("layout.optimizer_states.moments", message, help_, severity="error")


def _master_problem(training: Workload, layout: Layout, run: str, *, mild: bool, rounds: bool) -> Iterator[Problem]:
    none = layout.master_precision == "none"
    kept = training.parameter_precision if none else layout.master_precision
    bits = PRECISIONS[kept].bits
    if bits >= 32:
        return
    held = f"updates weights in {kept}, without master weights" if none else f"keeps its master weights in {kept}"
    severity = "note" if bits > 8 and (mild or training.tokens is None or kept == "fp16") else "warning"
    lost = (
        "bf16 drops updates below 1/512 of a weight, those of small learning rates"
        if kept == "bf16"
        else (f"{kept} drops small updates unless each tensor is scaled")
    )
    help_ = (
        "confirm that stochastic rounding is on (`NEURON_RT_STOCHASTIC_ROUNDING_EN=1`), or keep `master: fp32`"
        if rounds
        else "keep `master: fp32` and shard it, or confirm stochastic rounding or compensated sums"
    )
    yield RULE.problem("layout.optimizer_states.master", f"{run} {held}: {lost}", help_, severity=severity)
