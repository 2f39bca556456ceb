"""A gateway ends the connection before the answer is complete.

## What it finds

The predicted time of a whole request, from its arrival to the last token, above a limit that the description or a
comment states for a gateway, proxy, load balancer or client: in the median, for one request in a hundred, or for the
longest answer that `output_tokens.max` allows. Sentences about idle connections or streams are not read,
since every token of a stream counts as activity. The finding is a warning; a note where the limit lies within the range
of the prediction, and an error where even the low end exceeds it by a quarter.

## Why it matters

The client receives an error after it has waited, the engine goes on decoding for nobody, and a client that tries again
doubles the load.

## What to do

Raise the limit above the 99th percentile of the answers, stream them, or cut their length.

## When to ignore it

Ignore it where answers are streamed and the limit counts from the last byte.

## Fires

```yaml workload.serving.output_tokens
clusterspec: 1
description: The API gateway ends every call after 30 s.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-405b
  precision: fp8
  parameter_precision: fp8
  serving: {input_tokens: 2000, output_tokens: 1800, concurrency: 16, load: closed}
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
description: The API gateway ends every call after 5 min.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-405b
  precision: fp8
  parameter_precision: fp8
  serving: {input_tokens: 2000, output_tokens: 1800, concurrency: 16, load: closed}
layout: {framework: vllm, tp: 8}
```

## Sources

- Limits of a gateway: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.formulas.serving import request_time
from clusterspec.cost.serving.percentiles import MEDIAN, latency_at, latency_range
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.knowledge.written_numbers import only_setting, sentences_of, time_in_text
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "warning", "likely")
_TIMEOUT = pattern(
    r"(?i)\b(?:gateway|ingress|load balancer|proxy|envoy|nginx|client|front door)\b[^.;]{0,60}?\b(?:ends|closes|cuts|aborts|drops|kills|gives up|times? ?out|timeouts?|deadline|limit)\b[^.;\d]{0,40}?(\d{1,4}) ?(s|seconds?|min|minutes?)\b"
)
_ACTIVITY = pattern(
    r"(?i)\bidle\b|\bstream(?:s|ed|ing)?\b(?! or not\b)|\bfirst (?:byte|token)\b|\bconnect(?:ion)? timeout\b"
)
LONGEST = 99.0
"""The percentile of the requests that the limit may not end."""


def check(own_remarks: str, served: Served) -> Iterator[Problem]:
    if not own_remarks:
        return
    for sentence in sentences_of(own_remarks):
        match = only_setting(_TIMEOUT, sentence) if _ACTIVITY.search(sentence) is None else None
        if match is None:
            continue
        limit = time_in_text(match[1], match[2])
        for which, (low, whole, high) in _times_of_requests(served):
            if whole > limit:
                message = f"{which} is predicted to take {display(whole, 's')}, and the text ends it after {match[1]} {match[2]}"
                severity = target_severity(limit, whole, (low / whole, high / whole))
                help_ = "raise the limit, or cut the answers"
                yield RULE.problem(f"{LOAD}.output_tokens", message, help_, severity=severity)
                return


def _times_of_requests(served: Served) -> Iterator[tuple[str, tuple[float, float, float]]]:
    """The median request, the 99th percentile and the longest answer with the seconds of the whole request: the low end,
    the prediction and the high end.
    """
    times, load = served.times, served.load

    def whole_at(percentile: float) -> tuple[float, float, float]:
        low, high = latency_range(times, load, "end_to_end", percentile)
        return low, latency_at(times, load, "end_to_end", percentile), high

    yield f"a request of {plural(load.output_tokens, 'output token')}", whole_at(MEDIAN)
    yield "one request in a hundred", whole_at(LONGEST)
    longest = load.output_lengths.most if load.output_lengths is not None else None
    if longest is not None:
        (first, first_most), (gap, gap_most) = (latency_range(times, load, each, MEDIAN) for each in ("ttft", "tpot"))
        whole = request_time(times.ttft, longest, times.tpot)
        ends = (request_time(first, longest, gap), whole, request_time(first_most, longest, gap_most))
        yield f"the longest answer, of {plural(longest, 'token')}", ends
