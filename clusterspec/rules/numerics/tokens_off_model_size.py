"""The run has too few or too many tokens for the model.

## What it finds

The rule checks `tokens` per active parameter. Below 5 the finding is a note, for runs of at least 20 billion tokens or
on at least 256 accelerators; shorter runs on fewer accelerators and runs of adapters count as fine-tuning. Below 2 it
is a warning where the description says that the model starts from random weights (`from scratch`, `random weights`,
`pre-training`). Continued pre-training needs fewer tokens: Llama 3.1 Swallow 70B used 2.8 per parameter. Below 0.05,
and with sequences of 32,768 tokens or more, which extend the context of a trained model, it is always a note. On
accelerators from before 2022 the rule reports only values below 0.4, since their runs followed an older scaling law.
Above 100,000 it is a warning.

## Why it matters

For a given amount of compute, the loss is lowest near 20 tokens per parameter; current models use 100 to 10,000. At 2
tokens per parameter, a model of a third of the size would reach the same loss at a ninth of the cost. Qwen3-0.6B, with
60,000 tokens per parameter, has the highest published ratio.

## What to do

Use a smaller model or more tokens; check the suffix of `tokens` (15T, 300B).

## When to ignore it

Ignore it for continued pre-training and large fine-tuning runs, and for benchmarks of the machine.

## Fires

```yaml workload.tokens
clusterspec: 1
description: A 70B model, pre-trained from random weights.
cluster: {platform: dgx-h100, nodes: 64}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512, tokens: 30B}
layout: {tp: 8, pp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512, tokens: 1.4T}
layout: {tp: 8, pp: 4}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64, tokens: 1B}
layout: {tp: 1}
```

## Sources

- 20 tokens per parameter: Hoffmann et al., https://arxiv.org/abs/2203.15556
- Beyond it, where inference counts: Sardana et al., https://arxiv.org/abs/2401.00448
- 200B tokens of continued pre-training for 70B: https://huggingface.co/tokyotech-llm/Llama-3.1-Swallow-70B-v0.1
- 36T tokens for models from 0.6B: Qwen3 technical report, https://arxiv.org/abs/2505.09388
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.parameters import model_weights
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "warning", "heuristic", yields_to=("run-shorter-than-step", "few-steps"))
FEW, VERY_FEW = 5.0, 2.0
"""Tokens per active parameter below which a model has few, or very few, training tokens: GPT-3 has 1.7 and BLOOM 2.1,
and both count as undertrained.
"""
PRETRAINED = 0.05
"""Tokens per active parameter below which a run of any size is fine-tuning: BLOOMZ has 0.012 (arXiv 2211.01786)."""
MANY = 100_000.0
LAW = 2022
"""Year of the law of 20 tokens per parameter."""
BEFORE_LAW = 0.4
"""The lower limit of tokens per parameter before that law: MT-NLG 530B was trained on 0.51, and Narayanan et al.
planned 0.45 for a trillion parameters (arXiv 2104.04473, section 5.1).
"""
TUNING = 20e9
"""Tokens below which a run may be fine-tuning."""
LARGE = 256
"""Smallest number of ranks at which a run does not count as fine-tuning."""
BEST = 20
EXTENSION = 32_768
"""Sequence length that only the end of a pre-training uses, to extend the context (Llama 3, arXiv 2407.21783, 3.4.2).
"""
FIRST = pattern("(?i)from scratch|random(ly)?[ -](weights|init)|pre-?train")
CONTINUED = pattern("(?i)continu|mid-?train|further|fine-?tun|extension")
"""Pattern of words for a run that continues from a trained model; `FIRST` is for a run from random weights."""


def check(
    training: Workload, layout: Layout | None, accelerator: Accelerator, description: str | None
) -> Iterator[Problem]:
    tokens = training.tokens
    if (
        tokens is None
        or training.trainable is not None
        or training.rl is not None
        or (tokens < TUNING and (layout is None or layout.ranks < LARGE))
    ):
        return
    weights = model_weights(training.model).active_weights
    each = tokens / weights
    if (FEW if (accelerator.year or LAW) >= LAW else BEFORE_LAW) <= each <= MANY:
        return
    counted = "active parameter" if training.model.experts else "parameter"
    message = f"{display(tokens, '1')} tokens are {plain(each, 2)} per {counted}"
    if each > MANY:
        help_ = "check the suffix; a larger model makes better use of this many tokens"
        yield RULE.problem("workload.tokens", f"{message}, more than any published run has", help_)
        return
    message += f"; the lowest loss for this compute needs about {BEST}, {display(BEST * weights, '1')} tokens"
    help_ = "use a smaller model or more tokens, or say in a waiver that this is fine-tuning or a benchmark"
    yield RULE.problem(
        "workload.tokens",
        message,
        help_,
        severity="warning"
        if PRETRAINED <= each < VERY_FEW
        and training.sequence_length < EXTENSION
        and _starts_from_scratch(description or "")
        else "note",
    )


def _starts_from_scratch(description: str) -> bool:
    """Whether the description says that the run starts from random weights."""
    return bool(FIRST.search(description)) and not CONTINUED.search(description)
