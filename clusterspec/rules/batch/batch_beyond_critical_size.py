"""The global batch exceeds the critical batch size of the run.

## What it finds

A global batch, in tokens, above the critical batch size of a run of `tokens`: within the measured range (models up to 1.2
billion parameters and runs of 1.7 to 24.6 billion tokens) a note, and a warning from twice that size. Outside that range the size is
extrapolated, and the rule gives a note above four times the extrapolated size, and a warning above eight times; it also
gives a note where the run is fine-tuning, with fewer tokens than half the active parameters. The rule is silent for
adapters and reinforcement learning, since the law was measured in pre-training. Without `tokens`, a batch above 134
million tokens, the largest published one, is a note, and from twice that a warning.

## Why it matters

Up to the critical size, twice the batch needs half the steps. Beyond it, a larger batch needs more tokens for the same
loss. The critical size grows with the length of the run: 2,580 sequences of 512 tokens for 24.6B tokens, and 2^0.47
times as many for twice the tokens. DeepSeek-V3 trained with 2.3 times the extrapolated size, so smaller excesses are
not reported.

## What to do

Use a smaller batch, with the accelerators in tensor, pipeline or context parallelism instead of replicas; or a batch
that grows during the run.

## When to ignore it

Ignore it where a batch-size sweep on this data shows otherwise, or where time matters more than the cost of a token.

## Options

`thresholds = {batch-beyond-critical-size = 4.0}` in the configuration sets the multiple of the critical batch size
above which the rule reports. The default is 4.0 where the size is extrapolated, and 1.0 within the measured range. A
configured value applies to both.

## Fires

```yaml workload.global_batch
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 128}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 8192, tokens: 1T}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 128}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 3072, tokens: 1T}
layout: {tp: 1}
```

## Sources

- The law, its constants and the range of its measurements: Zhang et al., https://arxiv.org/abs/2410.21676
- The same exponent from other experiments: https://arxiv.org/abs/2505.13738
- Batches of 128M tokens, section 4.2: MiniMax-01, https://arxiv.org/abs/2501.08313
- Batch and tokens of DeepSeek-V3, section 4.2: https://arxiv.org/abs/2412.19437
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.cost.parameters import model_weights
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.tuning import is_fine_tuning
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plain, plural

RULE = Rule.of(__name__, "note", "heuristic")
MEASURED_BATCH = 2580 * 512
"""Tokens of the critical batch of the longest measured run, and tokens of that run."""
MEASURED_TOKENS = 24.6e9
EXPONENT = 0.47
SHORTEST = 1.7e9
"""Tokens of the shortest run measured."""
LARGEST_MODEL = 1.2e9
"""Parameters of the largest model measured."""
LARGEST = 128 * 1024**2
"""Tokens of a step: MiniMax-01 ended with batches of 128M tokens."""
FAR = 8.0
"""At this multiple of the extrapolated size or above, most of the batch is lost, for any reading of the
extrapolation."""
FAR_MEASURED = 2.0
"""The multiple for batches within the measured range: published runs used up to 2.3 times the size without a reported
loss.
"""
MARGIN = 4.0
"""At this multiple of the extrapolated size or above, a batch is reported: published runs used up to 2.3 times without
a reported loss."""


def check(thresholds: Thresholds, training: Workload) -> Iterator[Problem]:
    tokens, step = training.tokens, training.global_batch * training.sequence_length
    if tokens is None and step > LARGEST and training.rl is None:
        message = f"{_token_text(step)} tokens per step are more than the {_token_text(LARGEST)} of the largest published batch"
        help_ = "use a smaller batch, and put the accelerators into tp, pp or cp"
        severity = "note" if step < 2 * LARGEST else "warning"
        yield RULE.problem("workload.global_batch", message, help_, severity=severity)
    if tokens is None or tokens < SHORTEST or step >= tokens or training.trainable is not None or training.rl:
        return
    critical = critical_batch(tokens)
    extrapolated = tokens > MEASURED_TOKENS or model_weights(training.model).total > LARGEST_MODEL
    if step <= thresholds.of(RULE.name, MARGIN if extrapolated else 1.0) * critical:
        return
    far = FAR if extrapolated else FAR_MEASURED
    range_ = (
        "extrapolated from runs of at most 1.2B parameters and 24.6B tokens"
        if extrapolated
        else "where it was measured"
    )
    yield RULE.problem(
        "workload.global_batch",
        f"{_token_text(step)} tokens per step are {plain(step / critical)} times the critical batch size of a run of "
        f"{_token_text(tokens)} tokens ({_token_text(critical)}, {range_}): the run may need more tokens for the same loss",
        f"confirm by a batch-size sweep, or use at most {plural(int(critical // training.sequence_length), 'sequence')} and put the "
        "accelerators into tp, pp or cp",
        severity="note" if step < far * critical or (extrapolated and is_fine_tuning(training)) else "warning",
    )


def critical_batch(tokens: float) -> float:
    """Tokens of the critical batch of a run: B = 2580 · 512 · (D / 24.6e9)^0.47 (Zhang et al.).

    >>> round(critical_batch(24.6e9)), round(critical_batch(15e12) / 1e6)
    (1320960, 27)
    """
    return float(MEASURED_BATCH * (tokens / MEASURED_TOKENS) ** EXPONENT)


def _token_text(tokens: float) -> str:
    return f"{plain(tokens / 1e6)}M" if 1e6 <= tokens < 1e9 else display(tokens, "1")
