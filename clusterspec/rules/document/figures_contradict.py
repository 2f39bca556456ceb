"""Two stated figures cannot both be right.

## What it finds

Figures of different keys that exclude each other:

- a `checkpoint.pause` one and a half times as long as its `write_time`, or shorter where saving is synchronous;
- a failure rate of a part outside its own `range`;
- an acceptance test whose `scope` has another number of nodes than the test;
- a `peer_bandwidth` above the `bandwidth` of all links, and a list of `axis_bandwidth` of another length than `shape`;
- more `scaling.min_replicas` than the plan has engines;
- more `batches_in_flight` than `max_staleness` + 1 allows;
- `tiers`, an `oversubscription` or a number of switches other than those that `levels` state; a list of
  `oversubscription` with more ratios than `tiers`;
- more `dataset_files` than `dataset_tokens`, and samples of reinforcement learning with fewer tokens than `turns`;
- a `peak` of an accelerator in fewer bits that is below its stated peak in more bits (a warning);
- a release of a library or framework in `cluster.software` and another one in `layout.software` or
  `collective_library`.

These are errors. A `concurrency` that a finite number of `requests` never reaches, a tier of caches that is faster than
the one above it, and drives that are written faster than they are read, are warnings.

## Why it matters

One of the two is a mistake, and estimates use one of them without knowing which is right.

## What to do

Correct the figure that is wrong.

## When to ignore it

Do not ignore it.

## Fires

```yaml operations.checkpoint.pause
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
operations: {checkpoint: {interval: 60 min, pause: 10 s, write_time: 5 min, mode: synchronous}, burn_in: 72 h}
```

```yaml operations.failures.accelerator.afr
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
operations: {failures: {accelerator: {afr: 0.2, range: [0.01, 0.05]}}, burn_in: 72 h}
```

```yaml acceptance[0].scope
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 GB/s, scope: every-8-nodes}
```

```yaml cluster.scale_up.peer_bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {peer_bandwidth: 600 GB/s unidirectional}
```

```yaml cluster.software[0]
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  software: [nccl 2.19]
  scale_out: {collective_library: nccl 2.27}
```

```yaml cluster.scale_out.oversubscription
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  scale_out:
    technology: infiniband-ndr
    oversubscription: 4:1
    levels: [{name: leaf, nodes: 8, oversubscription: "1:1"}, {name: spine, nodes: 16, oversubscription: "1:1"}]
```

```yaml workload.serving.concurrency
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 256, requests: 100}}
layout: {framework: vllm, tp: 8}
```

```yaml workload.serving.scaling.min_replicas
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 2000
    output_tokens: 300
    day: [{from: "08:00", to: "20:00", request_rate: 6}, {from: "20:00", to: "08:00", request_rate: 1}]
    scaling: {cold_start: 5 min, min_replicas: 20}
layout: {framework: vllm, tp: 8}
```

```yaml workload.rl.batches_in_flight
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 2000, max_staleness: 1, batches_in_flight: 4, placement: split, rollout: {nodes: 2}}
layout: {framework: megatron-core, nodes: 2}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  software: [nccl 2.27.3]
  scale_out: {collective_library: nccl 2.27}
operations: {checkpoint: {interval: 60 min, pause: 10 s, write_time: 5 min, mode: asynchronous}, failures: {accelerator: {afr: 0.02, range: [0.01, 0.05]}}, burn_in: 72 h}
acceptance:
  - {collective: all-reduce, nodes: 8, size: 8 GiB, busbw: 340 GB/s, scope: every-8-nodes}
```

## Sources

- The keys of a spec: docs/spec.md
- Pauses and writes of checkpoints: https://pytorch.org/blog/reducing-checkpointing-times/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.cost.failures import stated_rate
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.records import fields
from clusterspec.rules.rule import Rule
from clusterspec.source import Path
from clusterspec.spec.model import (
    AcceptanceSpec,
    CacheTierSpec,
    CheckpointSpec,
    ClusterSpec,
    FailureRateSpec,
    FailuresSpec,
    LevelSpec,
    OperationsSpec,
    RlSpec,
    ScaleOutSpec,
    ScaleUpSpec,
    ServingSpec,
    Spec,
    WorkloadSpec,
)
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")
OVERHEAD = 1.5
"""Ratio of the pause to the write time up to which work before and after the write explains the difference."""
ROUNDED = 1.05
"""Ratio up to which two figures for the same quantity count as equal."""


SWITCHES = ("leaf_switches", "spine_switches", "core_switches")
"""The keys of the ordered switches, by the level that they belong to."""
NARROWER = (("fp4", "fp8"), ("fp8", "bf16"), ("bf16", "tf32"), ("tf32", "fp32"))
"""Pairs of number formats, the narrower one first."""


def check(
    spec: Spec,
    operations: OperationsSpec | None,
    cluster: Cluster | None,
    layout: Layout | None,
    written_cluster: ClusterSpec | None,
    written_scale_up: ScaleUpSpec | None,
    written_scale_out: ScaleOutSpec | None,
    written_workload: WorkloadSpec | None,
) -> Iterator[Problem]:
    if operations is not None and operations.checkpoint is not None and operations.checkpoint.write_time is not None:
        yield from _checkpoint_problems(operations.checkpoint, operations.checkpoint.write_time)
    if operations is not None and operations.failures is not None:
        yield from _failure_problems(operations.failures)
    if any(test.scope for test in spec.acceptance or ()):
        yield from _scope_problems(spec.acceptance or ())
    if written_scale_up is not None and cluster is not None:
        yield from _link_problems(written_scale_up, cluster)
    if written_scale_out is not None and (written_scale_out.levels or written_scale_out.tiers):
        yield from _tier_count_problems(written_scale_out)
    if written_cluster is not None and written_cluster.stated_peaks:
        yield from _peak_problem(written_cluster.stated_peaks)
    if written_cluster is not None and written_cluster.software:
        yield from _release_problems(spec, written_cluster.software)
    if written_workload is not None and written_workload.serving is not None:
        yield from _serving_problems(written_workload.serving, layout)
    if written_workload is not None and written_workload.rl is not None:
        yield from _sample_problems(written_workload.rl)
    if written_workload is not None and written_workload.dataset_files is not None:
        yield from _file_problem(written_workload.dataset_files, written_workload.dataset_tokens)


def _serving_problems(serving: ServingSpec, layout: Layout | None) -> Iterator[Problem]:
    if serving.scaling is not None and layout is not None:
        yield from _replica_problems(serving, layout)
    if serving.requests:
        yield from _concurrency_problems(serving)
    if serving.cache_tiers:
        yield from _tier_problems(serving.cache_tiers)


def _file_problem(files: Quantity, tokens: Quantity | None) -> Iterator[Problem]:
    """The problem of a data set with more files than tokens."""
    if tokens is not None and files.value > tokens.value:
        message = f"{files.written} files hold {tokens.written} tokens: some files have none"
        yield RULE.problem("workload.dataset_files", message, "correct the number of files, or of tokens")


def _checkpoint_problems(checkpoint: CheckpointSpec, written: Quantity) -> Iterator[Problem]:
    """The problem of a checkpoint pause longer than the write, or of one shorter than the write in synchronous mode."""
    pause = checkpoint.pause
    if pause is None or not written.value:
        return
    at, help_ = "operations.checkpoint.pause", "correct `pause`, `write_time` or `mode`"
    if pause.value > written.value * OVERHEAD:
        message = f"training stops for {pause.written} at a checkpoint, which is complete after only {written.written}"
        yield RULE.problem(at, message, help_)
    elif checkpoint.mode == "synchronous" and pause.value * ROUNDED < written.value:
        message = f"training waits until the checkpoint is complete, which takes {written.written}, not {pause.written}"
        yield RULE.problem(at, message, help_)


def _failure_problems(failures: FailuresSpec) -> Iterator[Problem]:
    for each in fields(FailuresSpec):
        written: FailureRateSpec | None = getattr(failures, each.name)
        rate = stated_rate(each.name, written)
        if written is None or rate is None or written.range is None:
            continue
        if not rate.low / ROUNDED <= rate.yearly <= rate.high * ROUNDED:
            key = "afr" if written.mtbf is None else "mtbf"
            message = f"{rate.yearly:.3g} failures of a part in a year are outside its own range of {rate.low:g} to {rate.high:g}"
            yield RULE.problem(("operations", "failures", each.name, key), message, "correct the rate or the range")


def _scope_problems(tests: tuple[AcceptanceSpec, ...]) -> Iterator[Problem]:
    for number, test in enumerate(tests):
        if test.nodes and test.set_nodes and test.nodes != test.set_nodes:
            message = f"the test runs on each set of {test.set_nodes:,} nodes, but {test.nodes:,} take part in a run"
            yield RULE.problem(("acceptance", number, "scope"), message, f"write `scope: every-{test.nodes}-nodes`")


def _link_problems(written: ScaleUpSpec, cluster: Cluster) -> Iterator[Problem]:
    """Contradictions between the bandwidth of one pair or axis and the bandwidth of all links or the number of axes."""
    peer, total, shape = written.peer_bandwidth, cluster.scale_up.bandwidth, cluster.scale_up.shape
    if peer is not None and total is not None and peer.per_direction > total.value * ROUNDED:
        message = f"two accelerators reach {peer.written}, more than one accelerator has over all its links"
        yield RULE.problem("cluster.scale_up.peer_bandwidth", message, "give the bandwidth between two accelerators")
    axes = written.axis_bandwidth
    if axes and shape and len(axes) != len(shape):
        message = f"the torus has {len(shape)} axes, but `axis_bandwidth` states {len(axes)}"
        yield RULE.problem("cluster.scale_up.axis_bandwidth", message, "state one bandwidth for each axis of `shape`")


def _tier_count_problems(written: ScaleOutSpec) -> Iterator[Problem]:
    if written.levels:
        yield from _level_problems(written, written.levels)
    elif written.tiers:
        yield from _ratio_problem(written, written.tiers)


def _level_problems(written: ScaleOutSpec, levels: tuple[LevelSpec, ...]) -> Iterator[Problem]:
    """Problems of an oversubscription ratio or a number of tiers that contradicts the stated levels."""
    if written.tiers is not None and written.tiers not in (len(levels), len(levels) + 1):  # the top may be left out
        message = f"`levels` describes {len(levels)} levels, but `tiers` is {written.tiers}"
        yield RULE.problem("cluster.scale_out.tiers", message, "remove `tiers`: it is the number of the levels")
    for index, (key, level) in enumerate(zip(SWITCHES, levels, strict=False)):
        ordered = getattr(written, key)
        if ordered is not None and level.count is not None and ordered != level.count:
            message = f"`{key}` is {ordered:,}, but the level has a `count` of {level.count:,}"
            yield RULE.problem(("cluster", "scale_out", "levels", index, "count"), message, "keep one of the two")
    ratios = [level.oversubscription.value for level in levels if level.oversubscription is not None]
    stated = [ratio.value for ratio in written.oversubscription or ()]
    if ratios and stated and max(ratios) != max(stated):
        message = f"`oversubscription` is {max(stated):g}:1 at most, but `levels` states up to {max(ratios):g}:1"
        yield RULE.problem("cluster.scale_out.oversubscription", message, "remove the key: the levels state it")


def _ratio_problem(written: ScaleOutSpec, tiers: int) -> Iterator[Problem]:
    """The problem of more oversubscription ratios than tiers of switches, each of which has one at most."""
    ratios = written.oversubscription or ()
    if len(ratios) > tiers:
        message = f"{len(ratios)} ratios are stated, but {plural(tiers, 'tier')} of switches"
        yield RULE.problem("cluster.scale_out.oversubscription", message, "state one ratio for each tier with uplinks")


def _peak_problem(peaks: Mapping[str, Quantity]) -> Iterator[Problem]:
    """The problem of a stated peak below the stated one of a wider number format; sparse peaks count half."""
    for narrow, wide in NARROWER:
        low, high = peaks.get(narrow), peaks.get(wide)
        if low is not None and high is not None and low.dense * ROUNDED < high.dense:
            message = f"the peak in {narrow}, {low.written}, is below that in {wide}, {high.written}"
            key = ("cluster", "accelerator", "peak", narrow)
            yield RULE.problem(key, message, "correct the peak", severity="warning")


def _release_problems(spec: Spec, software: tuple[str, ...]) -> Iterator[Problem]:
    """Problems of a release in the software list that contradicts the release of the same software in another key."""
    fabric = spec.cluster.scale_out if spec.cluster else None
    stated = {
        "collective_library": fabric.collective_library if fabric else None,
        "layout.software": spec.layout.software if spec.layout else None,
    }
    for number, text in enumerate(software):
        name, _, release = text.partition(" ")
        for key, other in stated.items():
            again, _, other_release = (other or "").partition(" ")
            if name == again and release and other_release and not _is_same_release(release, other_release):
                message = f"`software` has {text}, but `{key}` is {other}"
                yield RULE.problem(("cluster", "software", number), message, "keep the release that is used")


def _is_same_release(one: str, other: str) -> bool:
    """Whether one release equals the other or is one of its patches.

    >>> _is_same_release("2.27.3", "2.27"), _is_same_release("2.2", "2.27")
    (True, False)
    """
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def _replica_problems(serving: ServingSpec, layout: Layout) -> Iterator[Problem]:
    least = serving.scaling.min_replicas if serving.scaling else None
    if least and serving.disaggregated is None and least > layout.dp:
        message = f"{least:,} engines run at any time, but the plan has {layout.dp:,}"
        yield RULE.problem(
            "workload.serving.scaling.min_replicas", message, f"state at most {layout.dp:,}, the engines of the plan"
        )


def _concurrency_problems(serving: ServingSpec) -> Iterator[Problem]:
    if serving.requests and serving.concurrency and serving.requests < serving.concurrency:
        message = f"a run of {serving.requests:,} requests never has {serving.concurrency:,} in flight"
        help_ = "state fewer requests in flight, or correct the number of requests in the run"
        yield RULE.problem("workload.serving.concurrency", message, help_, severity="warning")


def _tier_problems(tiers: tuple[CacheTierSpec, ...]) -> Iterator[Problem]:
    """Problems of drives that are written faster than read, and of a tier that is read faster than the one above it."""
    for number, tier in enumerate(tiers):
        if (
            tier.medium == "nvme"
            and tier.read is not None
            and tier.write is not None
            and tier.write.value > tier.read.value
        ):
            message = (
                f"the drives are written at {tier.write.written} and read at {tier.read.written}: flash is read faster"
            )
            at: Path = ("workload", "serving", "cache_tiers", number, "write")
            yield RULE.problem(at, message, "swap the two rates, or correct one", severity="warning")
    for number, (above, below) in enumerate(pairwise(tiers), start=1):
        if above.scope != below.scope or "remote" in (above.medium, below.medium):
            continue  # of unlike units
        if above.read is not None and below.read is not None and below.read.value > above.read.value:
            at = ("workload", "serving", "cache_tiers", number)
            message = f"this tier reads at {below.read.written}, but the one above it at {above.read.written}"
            yield RULE.problem(at, message, "list the fastest tier first", severity="warning")


def _sample_problems(rl: RlSpec) -> Iterator[Problem]:
    answer = (
        rl.output_tokens if isinstance(rl.output_tokens, int) or rl.output_tokens is None else rl.output_tokens.mean
    )
    if rl.turns and answer and answer < rl.turns:
        message = f"a sample generates {answer:,} tokens in {rl.turns:,} turns: fewer than one in a turn"
        yield RULE.problem("workload.rl.output_tokens", message, "state the tokens of all turns together")
    steps, flying = rl.max_staleness, rl.batches_in_flight
    if steps is not None and flying is not None and flying > steps + 1:
        message = f"the samples of {flying:g} steps are in flight, but rollout may run {steps} ahead of the weights"
        yield RULE.problem("workload.rl.batches_in_flight", message, f"state at most {steps + 1}")
