"""A gateway closes the connection, or Kubernetes stops the pod, before the answer is complete.

## What it finds

The predicted time of a whole request, from its arrival to the last token, above a limit that the description or a
comment states for a gateway, proxy, load balancer or client: in the median, for one request in a hundred, or for the
longest answer that `output_tokens.max` allows. A limit of idle connections is compared with the time to first token
where the text says that answers are streamed, since every token counts as activity, and with the whole request where it
says that they are not streamed. The finding is a warning; a note where the limit lies within the range of the
prediction, and an error where even the low end exceeds it by a quarter.

A grace period of pods (`terminationGracePeriodSeconds`, a drain or stop timeout) is compared with the median request, and
also with the longer ones where the text says that all running answers are completed. That finding is at most a warning.

## Why it matters

The client receives an error after it has waited, the engine goes on decoding for nobody, and a client that tries again
doubles the load. A pod that is killed at the end of its grace period cuts all answers that still run, at each update.

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

```yaml workload.serving.output_tokens
clusterspec: 1
description: terminationGracePeriodSeconds is 30, so every running answer ends in order at an update.
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

- Termination of pods: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
- Limits of a gateway: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.formulas.serving import request_time
from clusterspec.cost.serving.percentiles import MEDIAN, latency_at, latency_range
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.services.time_limits import TimeLimit, limits_in
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "warning", "likely")
LONGEST = 99.0
"""The percentile of requests that a limit must not interrupt."""
Times = tuple[float, float, float]
"""The low end, the prediction and the high end of a time in seconds."""


def check(own_remarks: str, served: Served) -> Iterator[Problem]:
    if not own_remarks:
        return
    for limit in limits_in(own_remarks[:MOST_CHARACTERS]):
        for which, (low, predicted, high) in _limited_times(served, limit):
            if predicted > limit.seconds:
                message = f"{which} is predicted to take {display(predicted, 's')}, but {_limit_text(limit)}"
                bounds, most = (low / predicted, high / predicted), "warning" if limit.of == "pod" else "error"
                severity = target_severity(limit.seconds, predicted, bounds, most)
                help_ = "raise the limit, or cut the answers"
                yield RULE.problem(f"{LOAD}.output_tokens", message, help_, severity=severity)
                return


def _limit_text(limit: TimeLimit) -> str:
    if limit.of == "pod":
        return f"according to the text, a pod is killed {limit.written} after it is told to end"
    return f"the text ends {'a connection without data' if limit.of == 'first token' else 'it'} after {limit.written}"


def _limited_times(served: Served, limit: TimeLimit) -> Iterator[tuple[str, Times]]:
    """The predicted times that a limit applies to, each with its name."""
    if limit.of == "first token":
        yield "the time to first token of one request in a hundred", _latency(served, "ttft", LONGEST)
        return
    yield f"a request of {plural(served.load.output_tokens, 'output token')}", _latency(served, "end_to_end", MEDIAN)
    if limit.of == "pod" and not limit.for_all:
        return
    yield "one request in a hundred", _latency(served, "end_to_end", LONGEST)
    longest = served.load.output_lengths.most if served.load.output_lengths is not None else None
    if longest is not None:
        first, gap = (_latency(served, each, MEDIAN) for each in ("ttft", "tpot"))
        low, whole, high = (request_time(first[end], longest, gap[end]) for end in range(3))
        yield f"the longest answer, of {plural(longest, 'token')}", (low, whole, high)


def _latency(served: Served, which: str, percentile: float) -> Times:
    low, high = latency_range(served.times, served.load, which, percentile)
    return low, latency_at(served.times, served.load, which, percentile), high
