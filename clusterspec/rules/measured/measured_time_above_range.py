"""A measured step, or a measured time per output token, is slower than the range predicted for the same job.

## What it finds

The median of the `measured` step times (`step_time`, `step_log`), or of the mean times per output token (`tpot`,
`load_test`), above the high end of the range that the design has without this measurement. It is a warning, and an error
at twice the high end or more.

## Why it matters

The estimate takes the measured time and attributes the difference to slower kernels. Where a failed rail, a loader that
stalls or a wrong setting is the reason, a machine that is planned with that rate is too large.

## What to do

Compare the collectives (`clusterspec diagnose SPEC LOG`), the clocks and the data loader with the parts of
`clusterspec estimate`. State kernels that were measured alone as `gemm_rate`.

## When to ignore it

Ignore it where a profile shows that the kernels themselves are slow, such as at a lowered power cap.

## Fires

```yaml measured[0].step_time
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 2}
measured: [{step_time: 15 s}]
```

```yaml measured[0].tpot
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.3-70b, parameter_precision: fp8, serving: {input_tokens: 2000, output_tokens: 200, concurrency: 64}}
layout: {framework: vllm, tp: 4, dp: 2}
measured: [{tpot: 50 ms}]
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 2}
measured: [{step_time: 7.2 s}]
```

## Sources

- How far predictions are from published runs: docs/accuracy.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.measured_shares import MeasuredShare
from clusterspec.cluster.variation import with_values
from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import MeasuredSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
CERTAIN = 2.0
"""Smallest ratio to the high end of the range at which prediction uncertainty cannot explain a measured time."""


class _PredictedTime(NamedTuple):
    """A time in seconds and the high end of its range."""

    seconds: float
    high: float


def check(measured: tuple[MeasuredSpec, ...], plan: Plan) -> Iterator[Problem]:
    cluster = plan.design.cluster
    if cluster is None or not any(_time_key(entry) for entry in measured):
        return
    for share in cluster.measured:
        if not (share.is_of_step or share.is_of_tokens) or share.seconds is None:
            continue
        usual = _prediction_without(plan, share)
        if usual is None or share.seconds <= usual.high:
            continue
        what = "step" if share.is_of_step else "time per output token"
        index = next(index for index, entry in enumerate(measured) if _time_key(entry))
        yield RULE.problem(
            ("measured", index, _time_key(measured[index])),
            f"the measured {what} of {display(share.seconds, 's')} is "
            f"{percent(share.seconds / usual.seconds - 1, 2)} above the "
            f"{display(usual.seconds, 's')} predicted without it, and above the high end of the range, "
            f"{display(usual.high, 's')}",
            "compare measured collectives with `clusterspec diagnose`, and measured kernels with `gemm_rate`, before a plan uses this time",
            severity="error" if share.seconds >= CERTAIN * usual.high else "",
        )


def _time_key(entry: MeasuredSpec) -> str:
    """The key of an entry that states a measured time of a whole job; empty if there is none."""
    return next((key for key in ("step_time", "step_log", "tpot", "load_test") if getattr(entry, key) is not None), "")


def _prediction_without(plan: Plan, share: MeasuredShare) -> _PredictedTime | None:
    """The predicted time of a plan without calibration by its measured time; None if the plan has no such time, or
    belongs to another job.
    """
    cluster = plan.design.cluster
    assert cluster is not None
    others = tuple(each for each in cluster.measured if each is not share)
    other = estimate(with_values(plan.design, {("cluster", "measured"): others}), plan.tables)
    if share.is_of_step:
        seconds, ends = other.step_seconds, other.step_time_range
        known = plan.step_seconds is not None and share.matches_measured_time(plan.step_seconds)
        return _PredictedTime(seconds, ends[1]) if known and seconds and ends is not None else None
    if other.serving is None or plan.serving is None or not share.matches_measured_time(plan.serving.tpot_mean):
        return None
    from clusterspec.cost.serving.latency import serving_range  # a training plan needs none of it

    return _PredictedTime(other.serving.tpot_mean, serving_range(other.serving, "tpot_mean")[1])
