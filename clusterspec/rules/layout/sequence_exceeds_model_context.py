"""The sequence is longer than the model's context.

## What it finds

A `sequence_length` (in serving, input plus output tokens) above the `max_sequence_length` of the model. Where the
lengths of requests vary, the longest prompt (`max`, else `p99`) and the longest output (`max`, else the mean) count
together; in conversations (`session`), the prompt of the last turn. The finding is an error, and a note where adapters are trained, since such runs often extend the context.

## Why it matters

With learned positions there is no embedding for tokens beyond the limit. With rotary positions, the model was not
trained at these positions. Training frameworks assert the limit; serving engines reject a request whose prompt and
answer may exceed the limit.

## What to do

Use a shorter sequence; or state the new `max_sequence_length` where the context is extended on purpose.

## When to ignore it

Do not ignore it. If the run extends the context, state the new maximum as `max_sequence_length` of the model.

## Fires

```yaml workload.sequence_length
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: gpt3-175b, sequence_length: 8192, global_batch: 256}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: gpt3-175b, sequence_length: 2048, global_batch: 256}
```

## Sources

- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1354
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import longest_request
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(workload: Workload, model: Model) -> Iterator[Problem]:
    longest = model.max_sequence_length
    if longest is None:
        return
    severity = "note" if workload.trainable is not None else ""
    if workload.sequence_length > longest:
        at = "workload.serving.input_tokens" if workload.serving is not None else "workload.sequence_length"
        message = f"{workload.sequence_length:,} tokens exceed the context of {longest:,} of {model.name}"
        help_ = "shorten the sequence, or state a longer `max_sequence_length` in the model"
        yield RULE.problem(at, message, help_, severity=severity)
    elif workload.serving is not None and workload.rl is None:
        prompt, output = longest_request(workload.serving)
        if prompt + output > longest:
            yield RULE.problem(
                "workload.serving.input_tokens",
                f"the longest prompts of {prompt:,} tokens and outputs of {output:,} exceed the context of {longest:,} of {model.name}",
                "limit the longest requests, or state a longer `max_sequence_length` in the model",
                severity=severity,
            )
