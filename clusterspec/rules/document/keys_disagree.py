"""Two keys that describe the same thing disagree.

## What it finds

A key and its nested form with different values: `operations.checkpoint_interval` and `operations.checkpoint.interval`,
`operations.checkpoint_time` and `operations.checkpoint.pause`; for a single cluster, `cluster.power.budget` and
`operations.power_budget`. In `workload.serving`: `arrivals` of an open load with `concurrency`, which describes a
closed load; a `load` of one kind with the key of another (`closed` with `request_rate` alone); a Poisson process with a coefficient of variation other than 1; lengths with a 99th percentile below their
mean, above 14 times the mean, or above their maximum. In `workload.rl`: `minibatches` that do not divide the samples of a
step, and roles that have more nodes than the cluster or leave none for the trainer. In `layout`: a `software_year` more than a year from the release
year of `software`.

All of these are errors. So is a topology with parts that it does not have: a second tier of a `single-switch`, or
switches of a tree with a `torus`; and two networks that each claim to share the links of the other. A
`weight_sync.precision` with fewer bits than the engines keep is a warning, and so is a storage system whose stated write
bandwidth fills its capacity within five minutes, or that reads slower than it writes; and sessions whose `growth` is below
the answer that each prompt repeats, unless the description says that a part of it, such as reasoning, is dropped.

## Why it matters

One of the two is wrong, and the program cannot tell which.

## What to do

Keep one of the two keys.

## When to ignore it

Do not ignore it.

## Fires

```yaml operations.checkpoint.interval
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
operations: {checkpoint_interval: 30 min, checkpoint: {interval: 60 min}, burn_in: 72 h}
```

```yaml workload.serving.arrivals
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, arrivals: {process: gamma, cv: 2}}}
layout: {framework: vllm, tp: 8}
```

```yaml layout.software_year
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {software: megatron-core 0.15, software_year: 2023, tp: 2}
```

```yaml cluster.scale_out.tiers
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr, topology: single-switch, tiers: 2}}
```

```yaml cluster.networks.storage.shares
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  networks: {storage: {bandwidth: 40 GB/s, shares: storage}}
```

```yaml workload.rl.weight_sync.precision
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 2000, weight_sync: {precision: int4}}
layout: {framework: megatron-core}
```

```yaml workload.serving.load
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, request_rate: 1, load: closed}}
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: {mean: 2000, p99: 9000}, output_tokens: 500, request_rate: 1, arrivals: {process: gamma, cv: 2}}}
layout: {framework: vllm, tp: 8}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
operations: {checkpoint_interval: 30 min, checkpoint: {interval: 1800 s}, burn_in: 72 h}
```

## Sources

- The keys of a spec: docs/spec.md
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.quantity import PRECISIONS, Quantity
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import (
    LayoutSpec,
    NetworksSpec,
    OperationsSpec,
    RlSpec,
    ScaleOutSpec,
    ServingSpec,
    Spec,
    WorkloadSpec,
)
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error")


def check(
    operations: OperationsSpec | None,
    written_layout: LayoutSpec | None,
    written_scale_out: ScaleOutSpec | None,
    layout: Layout | None,
    networks: NetworksSpec | None,
    spec: Spec,
) -> Iterator[Problem]:
    yield from _checkpoint_time_problems(operations)
    yield from _power_budget_problems(spec)
    if written_scale_out is not None and written_scale_out.topology in {"single-switch", "torus", "dragonfly"}:
        yield from _topology_problems(written_scale_out)
    if networks is not None and networks.without_links:
        yield _shared_network_problem(*networks.without_links)
    if networks is not None and networks.seconds_to_fill < 300:
        yield _fast_store_problem(networks)
    if networks is not None and networks.reads_slower:
        yield _slow_read_problem(networks)
    if spec.workload is not None and spec.workload.rl is not None and spec.workload.rl.weight_sync is not None:
        yield from _weight_sync_problems(spec.workload, spec.workload.rl)
    if spec.workload is not None and spec.workload.serving is not None:
        yield from _session_problem(spec.workload.serving, spec.description or "")
    if layout is None or written_layout is None or layout.capabilities.release is None:
        return
    year = written_layout.software_year
    if year is not None and abs(year - layout.software_year) > 1:
        message = f"`software_year` is {year}, but {layout.capabilities.release} is of {layout.software_year}"
        yield RULE.problem("layout.software_year", message, "keep one of the two keys")


def _checkpoint_time_problems(operations: OperationsSpec | None) -> Iterator[Problem]:
    nested = operations.checkpoint if operations else None
    if operations is None or nested is None:
        return
    pairs: tuple[tuple[str, Quantity | None, str, Quantity | None], ...] = (
        ("checkpoint_interval", operations.checkpoint_interval, "checkpoint.interval", nested.interval),
        ("checkpoint_time", operations.checkpoint_time, "checkpoint.pause", nested.pause),
    )
    for key, stated, other, again in pairs:
        if stated is not None and again is not None and stated.value != again.value:
            message = f"`{key}` is {stated.written} and `{other}` is {again.written}, and both state the same time"
            yield RULE.problem(f"operations.{other}", message, "keep one of the two keys")


def _power_budget_problems(spec: Spec) -> Iterator[Problem]:
    """Two limits of the IT power of one cluster."""
    values = {budget.value for _, budget in spec.power_budgets}
    if len(values) > 1:
        (key, budget), (other, again) = spec.power_budgets
        message = f"`{key}` is {budget.written} and `{other}` is {again.written}, and both limit the same power"
        yield RULE.problem(other, message, "keep one of the two keys")


def _fast_store_problem(networks: NetworksSpec) -> Problem:
    """The problem of a storage system that its writes fill within five minutes. The fastest published systems need
    three times as long to fill their flash, so the unit of one figure is probably wrong.
    """
    store = networks.storage
    assert store is not None
    assert store.bandwidth is not None
    assert store.capacity is not None
    seconds = display(networks.seconds_to_fill, "s")
    message = f"{store.bandwidth.written} of writes fill the {store.capacity.written} in {seconds}"
    return RULE.problem("cluster.networks.storage.capacity", message, "check the units of both", severity="warning")


def _slow_read_problem(networks: NetworksSpec) -> Problem:
    """The problem of a storage system that reads more slowly than it writes, although each write also stores copies or
    parity.
    """
    store = networks.storage
    assert store is not None
    assert store.bandwidth is not None
    assert store.read is not None
    message = f"the storage system reads {store.read.written} and writes {store.bandwidth.written}: such systems read faster than they write"
    help_ = "swap the two values, or state the bandwidth that the supplier measured"
    return RULE.problem("cluster.networks.storage.read", message, help_, severity="warning")


_DROPPED = pattern(
    r"(?i)\b(?:reason\w*|think(?:ing)?|thoughts?|dropp\w*|stripp\w*|discard\w*|summar\w*|truncat\w*|compact\w*)\b"
)
"""Pattern of words that say that the next prompt repeats only a part of the answer."""
WITHOUT: Mapping[str, tuple[str, ...]] = {
    "single-switch": ("tiers", "core_switches"),
    "torus": ("tiers", "leaf_switches", "spine_switches", "core_switches"),
    "dragonfly": ("core_switches",),
}
"""The keys that contradict a topology: further tiers, or switches of a tree. `surplus-fabric-parts` reports the spines
of a single switch.
"""


def _topology_problems(written: ScaleOutSpec) -> Iterator[Problem]:
    """Problems of keys for parts of a switch tree that the stated topology does not have."""
    for key in WITHOUT[written.topology or ""]:
        stated = getattr(written, key)
        if stated is not None and stated > (1 if key == "tiers" else 0):
            message = f"`topology` is {written.topology}, but `{key}` is {stated:,}"
            at = f"cluster.scale_out.{key}"
            yield RULE.problem(at, message, "remove the key, or name the topology that has it, such as `fat-tree`")
            return


def _shared_network_problem(name: str, other: str) -> Problem:
    """The problem of networks that each share the links of the other, so that no network has links."""
    message = f"the {name} network shares the links of the {other} network, which has none of its own"
    help_ = "name the network that has the links, such as `scale_out`, or describe them"
    return RULE.problem(f"cluster.networks.{name}.shares", message, help_)


def _session_problem(serving: ServingSpec, description: str) -> Iterator[Problem]:
    """The problem of a session whose prompts grow by fewer tokens than the answer that they repeat, unless the text
    says that a part of the answer is dropped.
    """
    grown = serving.session.growth if serving.session is not None else None
    answer = serving.output_tokens
    mean = answer if isinstance(answer, int) or answer is None else answer.mean
    if grown is not None and mean is not None and 0 < grown < mean and _DROPPED.search(description) is None:
        message = (
            f"each prompt is {grown:,} tokens longer than the one before, but the answer that it repeats has "
            f"{mean:,.0f}"
        )
        help_ = "state `growth` with the answer and the next request, or say in the description which tokens of an answer are left out"
        yield RULE.problem("workload.serving.session.growth", message, help_, severity="warning", confidence="likely")


def _weight_sync_problems(work: WorkloadSpec, rl: RlSpec) -> Iterator[Problem]:
    """The problem of weights that are sent to the rollout engines in fewer bits than the engines keep."""
    sent = PRECISIONS.get((rl.weight_sync.precision if rl.weight_sync else None) or "")
    kept = PRECISIONS.get(
        (rl.rollout.parameter_precision if rl.rollout else None) or work.parameter_precision or "bf16"
    )
    if sent is not None and kept is not None and sent.bits < kept.bits:
        message = f"weights are sent in {sent.name}, but the engines keep them in {kept.name}"
        help_ = f"state `rollout.parameter_precision: {sent.name}` if the engines serve that, or send {kept.name}"
        yield RULE.problem("workload.rl.weight_sync.precision", message, help_, severity="warning")
