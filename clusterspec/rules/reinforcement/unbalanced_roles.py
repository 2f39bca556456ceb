"""One role waits for the other in a split plan.

## What it finds

Rollout on separate nodes that runs ahead of the weights, where the accelerators of one role wait for more than 25 % of
the predicted step while the others work. Severity follows the time that the step saves if half of the waiting nodes
move to the other role: a note below the half-width of the prediction's range, a warning above it, and an error where a
role waits for 80 % of the step and even the low end of the range loses a quarter. It is a note, too, where the step saves
less than a quarter with rollout as fast or as slow as the ends of the range. Nodes of another pool cannot move; they are
at most a warning. Where the longest samples of a batch
take longer than either role, both roles wait, and the rule names the `max_staleness` that would keep them busy; this is
a note, as published asynchronous runs accept it. Where these samples set the step and the trainer waits little, the
message names them instead of the trainer. The rule reports a reference, critic or reward model on separate nodes where
all others wait for it for more than 25 % of the step, with the same severities. Roles on separate nodes with a stated
`max_staleness: 0` work in turn. Where both wait for more than 25 %, severity follows the time that the step saves if
the roles share all nodes in turn (`placement: colocated`), which trains on the same samples; roles on two pools can
only run ahead, which is at most a warning. If only one of them waits, the rule reports it only where moving nodes saves
25 % of the step. In a split plan, nodes of the cluster that no role has are a warning from an eighth on, else a note.

## Why it matters

The slower role determines the step time. Waiting nodes would shorten the step in the other role, or are not needed.

## What to do

Move nodes from the role that waits to the other, or use a faster layout for a slow trainer; `search` tabulates the splits.

## When to ignore it

Ignore it where the machines of the two roles cannot be exchanged.

## Options

`thresholds = {unbalanced-roles = 0.25}` in the configuration sets the share above which the rule reports. The number is a
share of the predicted step time. The default is 0.25.

## Fires

```yaml workload.rl.max_staleness
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 5}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: {mean: 6000, p99: 20000, max: 32768}, max_staleness: 2, rollout: {nodes: 1, tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

```yaml workload.rl.rollout.nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 9}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 256, samples_per_prompt: 16, input_tokens: 512, output_tokens: {mean: 3000, p99: 6000, max: 8192}, max_staleness: 2, rollout: {nodes: 1, tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

```yaml workload.rl.reward.nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 9}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 256, samples_per_prompt: 16, input_tokens: 512, output_tokens: {mean: 3000, p99: 6000, max: 8192}, placement: colocated, rollout: {tp: 1}, reward: {model: qwen2.5-72b, nodes: 1}}
layout: {framework: megatron-core, nodes: 8, tp: 2, recompute: full}
```

```yaml workload.rl.rollout.nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 6}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: grpo, prompts_per_step: 128, samples_per_prompt: 16, input_tokens: 512, output_tokens: {mean: 2000, p99: 8000, max: 13000}, minibatches: 4, max_staleness: 1, rollout: {nodes: 4, tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full, nodes: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: {mean: 6000, p99: 20000, max: 32768}, placement: colocated, rollout: {tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Sources

- Rollout and training on separate nodes: https://arxiv.org/abs/2504.15930
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

from clusterspec.cluster.model import Design
from clusterspec.cluster.samples import Rl
from clusterspec.cost.formulas.reinforcement import overlapped_step_time, serial_step_time
from clusterspec.cost.reinforcement.rollout import rollout_of
from clusterspec.cost.reinforcement.times import RlTimes
from clusterspec.finding import Problem, Severity
from clusterspec.rules.knowledge.shares import A_QUARTER, cost_severity
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent, plural

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.25
MUCH = 1 / 8
"""Smallest share of nodes without work that spares do not explain."""
IDLE = 0.8
"""Smallest share of the step at which the nodes of a role are idle almost all the time."""


def check(rl: RlTimes, thresholds: Thresholds, design: Design) -> Iterator[Problem]:
    plan = rl.rl
    if plan.placement == "split":
        yield from _idle_nodes_problem(plan, design)
    elif not rl.roles:
        return
    first = _slowest_role_problem(rl, thresholds.of(RULE.name, MOST)) or _turn_taking_problem(rl, design)
    if first is not None:
        yield first
    elif plan.placement == "split":
        yield from _split_problem(rl, thresholds, design)


def _idle_nodes_problem(plan: Rl, design: Design) -> Iterator[Problem]:
    """The problem of nodes that neither the trainer, rollout nor another role has; in a fleet other jobs may have them."""
    if design.shares_machine:
        return
    nodes = design.cluster.nodes if design.cluster is not None else 0
    idle = nodes - plan.nodes
    if idle > 0:
        message = f"the trainer has {plan.trainer_nodes:,} and rollout {plan.rollout_nodes:,} of {plural(nodes, 'node')}: {idle:,} {'does' if idle == 1 else 'do'} no work"
        help_ = "give them to rollout or the trainer, or state them as `spare_nodes`"
        yield RULE.problem("cluster.nodes", message, help_, severity="" if idle / nodes >= MUCH else "note")


def _split_problem(rl: RlTimes, thresholds: Thresholds, design: Design) -> Iterator[Problem]:
    """The problem of a role that waits for another role, on nodes that the other role could use."""
    plan = rl.rl
    sync = rl.sync.seconds / rl.step  # both roles wait for it, which `weight-sync-exposed` reports
    idle = {role: share - sync for role, share in _idle_by_role(rl).items()}
    role, share = max(idle.items(), key=lambda each: each[1])
    nodes = plan.rollout_nodes if role == "rollout" else plan.trainer_nodes
    if share <= thresholds.of(RULE.name, MOST) or (nodes < 2 and idle["rollout"] == share):
        return
    waits, works = ("rollout", "the trainer") if role == "rollout" else ("the trainer", "rollout")
    moved = nodes // 2 if role == "rollout" else -(nodes // 2)
    saved = 1 - _step_with_moved_nodes(rl, design, moved) / rl.step
    if plan.max_staleness == 0 and saved <= MOST:  # one of two that take turns always waits
        return
    lost = 1 - (max(rl.training_seconds, rl.rollout.busy) + rl.sync.seconds) / rl.step
    if (
        plan.max_staleness and lost > MOST and saved < lost / 2
    ):  # the longest samples set the step, whatever nodes the roles have
        yield _longest_samples_problem(rl, lost)
        return
    if plan.max_staleness and role == "rollout" and saved <= 0 < lost:
        yield _rollout_of_long_samples_problem(rl, share, lost)
        return
    yield RULE.problem(
        "workload.rl.rollout.nodes",
        f"{waits} with {plural(nodes, 'node')} waits for {percent(share, 2)} of the step of {display(rl.step, 's')} behind {works}",
        _balance_advice(plan, role),
        severity=_severity_of_split(rl, share, saved, _saved_shares(rl, design, moved)),
    )


def _balance_advice(plan: Rl, role: str) -> str:
    """Advice on the nodes of the two roles, of which ``role`` waits."""
    if role == "rollout":
        change = "use fewer nodes for rollout" if plan.rollout_pool is not None else "move nodes to the trainer"
        return f"use a faster layout for the trainer, or {change}; `clusterspec search` tabulates the splits"
    change = "use more nodes for rollout" if plan.rollout_pool is not None else "move nodes to rollout"
    return f"{change}; `clusterspec search` tabulates the splits"


def _severity_of_split(rl: RlTimes, share: float, saved: float, at_ends: Iterable[float]) -> str:
    """The severity of a role that waits for ``share`` of the step, if a better split is predicted to save ``saved`` of it,
    and ``at_ends`` with rollout at both ends of the prediction's range.
    """
    if min(at_ends) < A_QUARTER:
        return "note"
    low, high = rl.band
    certain = share >= IDLE and rl.rl.rollout_pool is None
    return cost_severity(saved, (low / rl.step, high / rl.step), most="error" if certain else "warning")


def _saved_shares(rl: RlTimes, design: Design, moved: int) -> tuple[float, ...]:
    """The shares of the step that moving nodes saves, with the times of rollout at both ends of the prediction's range."""
    ends = (end / rl.step for end in rl.band)
    return tuple(
        1 - _step_with_moved_nodes(rl, design, moved, end) / _step_with_moved_nodes(rl, design, 0, end) for end in ends
    )


def _slowest_role_problem(rl: RlTimes, most: float) -> Problem | None:
    """The problem with a reference, critic or reward model on separate nodes that all other roles wait for."""
    role = max(rl.roles, key=lambda each: each.seconds, default=None)
    without = rl.step - rl.waits
    if rl.rl.placement == "split" and rl.rl.max_staleness:
        times = rl.training_seconds - rl.waits, rl.rollout.busy, rl.rollout.batch, rl.sync.seconds
        without = overlapped_step_time(*times, float(rl.rl.max_staleness))
    waited = 1 - without / rl.step
    if role is None or waited <= most:
        return None
    low, high = rl.band
    return RULE.problem(
        f"workload.rl.{role.name}.nodes",
        f"the {role.name} model on {plural(role.nodes, 'node')} takes {display(role.seconds, 's')} of the step of "
        f"{display(rl.step, 's')}: all others wait for {percent(waited, 2)} of it",
        f"use about {plural(ceil(role.nodes * role.seconds / max(1.0, rl.step * (1 - waited))), 'node')} for it, or a smaller model",
        severity=cost_severity(waited, (low / rl.step, high / rl.step), most="error" if waited >= IDLE else "warning"),
    )


def _longest_samples_problem(rl: RlTimes, lost: float) -> Problem:
    """The problem of rollout and trainer both waiting for the longest samples, because rollout may run too few steps
    ahead.
    """
    ahead, needed = rl.rl.max_staleness, _steps_ahead(rl, lost)
    return RULE.problem(
        "workload.rl.max_staleness",
        f"the longest of {rl.rl.samples:,} samples takes {display(rl.rollout.batch, 's')}, and with {plural(ahead, 'step')} ahead every step takes "
        f"{display(rl.step, 's')}: rollout and the trainer both wait, for at least {percent(lost, 2)} of it",
        f"let rollout run {needed} steps ahead, cut answers earlier, or use fewer nodes",
        severity="note",
    )


def _rollout_of_long_samples_problem(rl: RlTimes, share: float, lost: float) -> Problem:
    """The problem of rollout slots that empty while the longest sample, not the trainer, determines the step."""
    low, high = rl.band
    return RULE.problem(
        "workload.rl.rollout.nodes",
        f"the longest of {rl.rl.samples:,} samples run for the whole step of {display(rl.step, 's')} on {plural(rl.rl.rollout_nodes, 'node')} "
        f"of rollout, with empty slots for {percent(share, 2)} of it; the trainer takes {display(rl.training_seconds, 's')}",
        f"let rollout run {_steps_ahead(rl, lost)} steps ahead, and then move nodes to the trainer; `clusterspec search` tabulates the splits",
        severity=cost_severity(lost, (low / rl.step, high / rl.step), most="warning"),
    )


def _steps_ahead(rl: RlTimes, lost: float) -> int:
    """The smallest staleness at which the longest samples do not determine the step, if the step is shortened by the
    share ``lost``.
    """
    return ceil(rl.rollout.batch / ((1 - lost) * rl.step))


def _idle_by_role(rl: RlTimes) -> dict[str, float]:
    """The shares of the step in which rollout nodes and trainer nodes wait for each other.

    For roles that take turns, the wait for the longest samples is excluded; `rollout-tail-idles-accelerators` reports
    it.
    """
    idle = {part.role: part.idle_share for part in rl.parts if part.role in {"rollout", "update"}}
    return idle if rl.rl.max_staleness else idle | {"rollout": 1 - rl.rollout.batch / rl.step}


def _turn_taking_problem(rl: RlTimes, design: Design) -> Problem | None:
    """The problem of roles on separate nodes that wait for each other because neither runs ahead; None without such a
    problem.
    """
    written = design.spec.workload.rl if design.spec.workload else None
    idle = _idle_by_role(rl)
    if rl.rl.placement != "split" or rl.rl.max_staleness or written is None or written.max_staleness is None:
        return None
    if min(idle.values(), default=0.0) <= MOST:
        return None
    return RULE.problem(
        "workload.rl.max_staleness",
        f"rollout and the trainer have nodes of their own and wait for each other: {percent(idle['rollout'], 2)} and "
        f"{percent(idle['update'], 2)} of the step of {display(rl.step, 's')}",
        "let rollout run ahead (`max_staleness: 1`)" + ", or use `placement: colocated`" * (rl.rl.rollout_pool is None),
        severity=_severity_of_turns(rl, design),
    )


def _severity_of_turns(rl: RlTimes, design: Design) -> str:
    """The severity of roles that take turns, by the smaller of two savings.

    One is running both roles on all nodes; the other is running one step ahead, which trains on samples of older
    weights and is at most a warning.
    """
    plan, sync = rl.rl, rl.sync.seconds
    low, high = rl.band
    bounds = low / rl.step, high / rl.step
    ahead = overlapped_step_time(rl.training_seconds, rl.rollout.busy, rl.rollout.batch, sync, 1.0)
    found = [cost_severity(1 - ahead / rl.step, bounds, most="warning")]
    nodes = plan.trainer_nodes + plan.rollout_nodes
    together = rollout_of(design, plan, nodes) if plan.rollout_pool is None else None
    if together is not None:
        training = rl.training_seconds * plan.trainer_nodes / nodes
        colocated = serial_step_time(together.batch, training, sync, rl.switch)
        found.append(cost_severity(1 - colocated / rl.step, bounds))
    return min(found, key=lambda each: Severity(each).rank)


def _step_with_moved_nodes(times: RlTimes, design: Design, nodes: int, slower: float = 1.0) -> float:
    """Seconds of a step after moving nodes from rollout to the trainer (back if negative), with rollout ``slower`` times
    its predicted times; the trainer's time is inversely proportional to its number of nodes.
    """
    plan = times.rl
    rollout = rollout_of(design, plan, plan.rollout_nodes - nodes) if nodes else times.rollout
    if rollout is None:
        return times.step
    training, batch = times.training_seconds * plan.trainer_nodes / (plan.trainer_nodes + nodes), slower * rollout.batch
    if plan.max_staleness == 0:
        return serial_step_time(batch, training, times.sync.seconds, times.switch)
    return overlapped_step_time(training, slower * rollout.busy, batch, times.sync.seconds, float(plan.max_staleness))
