"""A limit that the text states refuses requests that the service has to accept.

## What it finds

Limits in the description or a comment that lie below the requests of the keys, or below the prompts that the text promises:

- a token bucket, a burst, or a quota of tokens for each minute that holds fewer tokens than the longest prompt, where a
  request is admitted as a whole: it is refused however long it waits;
- a length of requests (`max_model_len`, a context window) below the longest prompt with its answer (`launch-settings-off-keys` reads flags);
- a limit of new tokens (`max_tokens`, or a length at which answers are cut) below the mean answer;
- a size of request bodies below the text of the longest prompt at three bytes a token;
- `max` of `input_tokens` or `output_tokens` below the longest prompts or answers that the text promises.

Buckets that may go below zero, and sentences in which longer prompts are refused on purpose, are not read.

## Why it matters

The client gets the same error at each attempt. The longest requests, for which the context was sized and paid, never run.

## What to do

Raise the limit above the longest request, or state shorter requests.

## When to ignore it

Ignore it where long requests take another way into the service.

## Fires

```yaml description
clusterspec: 1
description: Each key has a token bucket of 65,536 tokens that refills at 2,000 tokens/s; a request waits until the bucket holds all of its prompt.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.3-70b
  serving: {input_tokens: {mean: 9000, p99: 90000, max: 120000}, output_tokens: 350, request_rate: 0.5}
layout: {framework: vllm, tp: 8}
```

```yaml description
clusterspec: 1
description: The gateway sets max_tokens to 256 where a client sends none.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.3-70b
  serving: {input_tokens: 2000, output_tokens: 900, request_rate: 0.5}
layout: {framework: vllm, tp: 8}
```

```yaml workload.serving.input_tokens.max
clusterspec: 1
description: Case files of up to 60,000 tokens are read in one piece.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.3-70b
  serving: {input_tokens: {mean: 9000, max: 32768}, output_tokens: 350, request_rate: 0.5}
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
description: Each key has a token bucket of 131,072 tokens that refills at 2,000 tokens/s; a request waits until the bucket holds all of its prompt.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.3-70b
  serving: {input_tokens: {mean: 9000, p99: 90000, max: 120000}, output_tokens: 350, request_rate: 0.5}
layout: {framework: vllm, tp: 8}
```

## Sources

- Token buckets, and requests above the burst: https://pkg.go.dev/golang.org/x/time/rate#Limiter.WaitN
- Lengths of requests: https://docs.vllm.ai/en/latest/configuration/engine_args.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.demands.values import unkept
from clusterspec.rules.readers.loads import MOST_CHARACTERS, place_of
from clusterspec.rules.readers.services.request_limits import promised_prompt, request_limits_in
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec

RULE = Rule.of(__name__, "error", "likely")
BYTES_OF_TOKEN = 3.0
"""Bytes of text per prompt token: fewer than English (about 4) or code needs with current vocabularies."""


def check(own_remarks: str, spec: Spec, workload: Workload) -> Iterator[Problem]:
    if not own_remarks or spec.workload is None:
        return
    text, serving = own_remarks[:MOST_CHARACTERS], spec.workload.serving
    promised = promised_prompt(text)
    for section, lengths in (("serving", serving), ("rl", spec.workload.rl)):
        if lengths is not None:
            yield from _short_limit_problem(f"workload.{section}.input_tokens", "prompt", lengths.input_tokens, text)
            yield from _short_limit_problem(f"workload.{section}.output_tokens", "answer", lengths.output_tokens, text)
    if workload.serving is None or serving is None:
        return
    longest = max(_longest_length(serving.input_tokens), promised)
    answer = _longest_length(serving.output_tokens)
    asked = {
        "bucket": ("the longest prompt has", longest),
        "prompt": ("the longest prompt has", longest),
        "request": ("the longest prompt and its answer have", longest + answer),
        "answer": ("the mean answer has", float(workload.serving.output_tokens)),
        "body": ("its prompt has at least", BYTES_OF_TOKEN * longest),
    }
    for limit in request_limits_in(text):
        what, needed = asked[limit.of]
        if needed > limit.value:
            message = f"according to the text, {limit.what} {limit.value:,.10g} {limit.unit}, but {what} {needed:,.10g}"
            help_ = "raise the limit above the longest request, or state shorter requests"
            yield RULE.problem(place_of(limit.sentence, spec), message, help_)
            return


def _short_limit_problem(key: str, what: str, lengths: object, text: str) -> Iterator[Problem]:
    """The problem of a `max` of lengths in tokens below the longest prompts or answers that the text promises."""
    accepted = getattr(lengths, "max", None)
    promised = unkept(text, what, accepted) if accepted is not None else 0.0
    if accepted is not None and promised:
        name = key.removeprefix("workload.")
        message = (
            f"according to the text, {what}s have up to {promised:,.10g} tokens, but `{name}.max` is {accepted:,.10g}"
        )
        yield RULE.problem(f"{key}.max", message, "correct one of the two")


def _longest_length(lengths: object) -> float:
    """The longest of the given lengths in tokens: their limit, else their 99th percentile, else their mean."""
    stated = (getattr(lengths, key, None) for key in ("max", "p99", "mean"))
    return float(lengths if isinstance(lengths, int) else next(filter(None, stated), 0))
