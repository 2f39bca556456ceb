"""Placements of reinforcement learning on one machine: the division of nodes between rollout and trainer, and the
tensor parallelism of the engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.cluster.model import Design
from clusterspec.cluster.requests import Rl
from clusterspec.cluster.variation import Changes, design_with_keys
from clusterspec.cost.estimate import legal_estimate
from clusterspec.cost.reinforcement.rollout import Rollout, rollout_of
from clusterspec.cost.reinforcement.times import RlTimes, composed_times, engine_nodes
from clusterspec.results import Json
from clusterspec.results.search import RlSplit

SHARES = (1 / 8, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4)
"""Shares of the nodes to try for separate rollout nodes."""
DEGREES = (1, 2, 4, 8, 16, 32)
RL = ("workload", "rl")
FULLEST = 0.9
"""Share of an engine's memory above which its weights leave too little cache."""


Rollouts = dict[tuple[int, int, int], Rollout | None]
"""The generation of a batch by the nodes of the engines, their tp, and the staleness."""


def rl_splits(
    design: Design, nodes: int | None = None, rollouts: Rollouts | None = None, *, layout: str = "spec"
) -> tuple[RlSplit, ...]:
    """The placements on ``nodes`` nodes (all nodes by default) that fit in memory, fastest first.

    Empty if the design is not reinforcement learning, or runs its rollout on another machine. The trainer keeps its
    layout, with dp set by its nodes. Rollout on separate nodes either takes turns with the trainer (staleness 0) or
    runs ahead of the weights, as far as the spec says but at least one step. ``rollouts`` caches results for other
    numbers of nodes of the same job. ``layout`` names the layout of the design.
    """
    workload, cluster = design.workload, design.cluster
    if workload is None or workload.rl is None or cluster is None or workload.rl.rollout_pool is not None:
        return ()
    most = cluster.nodes if nodes is None else nodes
    tried = _changes(workload.rl, most, cluster.ranks_per_domain)
    known = {} if rollouts is None else rollouts
    found = (
        _evaluated_split(design, on_nodes(changes, most) if nodes is not None else changes, known, layout)
        for changes in tried
    )
    return tuple(sorted((each for each in found if each is not None), key=lambda each: each.step_time))


def faster_splits(present: Iterable[RlSplit], best: Iterable[RlSplit]) -> tuple[RlSplit, ...]:
    """Each placement with the layout of the spec, or with the best one where that is faster; the fastest first."""
    found: dict[tuple[str, int, int, int, int], RlSplit] = {}
    for each in sorted([*present, *best], key=lambda each: each.step_time):
        keys = (each.placement, each.trainer_nodes, each.rollout_nodes, each.rollout_tp, each.max_staleness)
        found.setdefault(keys, each)
    return tuple(found.values())


def _changes(rl: Rl, nodes: int, domain: int) -> Iterator[Changes]:
    """The keys of each placement."""
    own = sorted({max(1, round(share * nodes)) for share in SHARES} & set(range(1, nodes)))
    ahead = max(1, rl.max_staleness)
    for tp in (degree for degree in DEGREES if degree <= domain):
        yield _placement_changes("colocated", None, tp, 0)
        for count in own:
            yield _placement_changes("split", count, tp, 0)
            yield _placement_changes("split", count, tp, ahead)


def on_nodes(changes: Changes, nodes: int) -> Changes:
    """The keys of a placement whose trainer has what rollout leaves of ``nodes``."""
    own = changes[*RL, "rollout", "nodes"]
    return {**changes, ("layout", "nodes"): nodes - own if isinstance(own, int) else nodes}


def keys_of_split(split: RlSplit) -> Changes:
    """The keys of the spec for a placement."""
    keys = _placement_changes(split.placement, split.rollout_nodes or None, split.rollout_tp, split.max_staleness)
    return {**keys, ("layout", "nodes"): split.trainer_nodes}


def placement_json(split: RlSplit) -> Json:
    """The keys of `workload.rl` for a placement."""
    own = {"nodes": split.rollout_nodes} if split.rollout_nodes else {}
    return {
        "placement": split.placement,
        "max_staleness": split.max_staleness,
        "rollout": own | {"tp": split.rollout_tp},
    }


def _placement_changes(placement: str, nodes: int | None, tp: int, staleness: int) -> Changes:
    return {
        (*RL, "placement"): placement,
        (*RL, "max_staleness"): staleness,
        (*RL, "rollout", "nodes"): nodes,
        (*RL, "rollout", "tp"): tp,
        (*RL, "weight_sync", "method"): None,
        ("layout", "nodes"): None,
        ("layout", "dp"): None,
    }


COLOCATED = _placement_changes("colocated", None, 1, 0)
"""The keys of engines on the nodes of the trainer."""


def _evaluated_split(design: Design, changes: Changes, rollouts: Rollouts, named: str) -> RlSplit | None:
    """One placement; None where its trainer cannot run, or where it does not fit.

    Without a length of the run, the estimate of the trainer leaves out the step of all roles.
    """
    plan = legal_estimate(design_with_keys(design, {**changes, ("workload", "tokens"): None}))
    workload = plan.design.workload
    if plan.fits is False or plan.step is None or workload is None or workload.rl is None:
        return None
    rl = workload.rl
    key = (engine_nodes(rl), int(str(changes[*RL, "rollout", "tp"])), rl.max_staleness)
    if key not in rollouts:
        rollouts[key] = rollout_of(plan.design, rl, key[0])
    rollout = rollouts[key]
    times = composed_times(plan, rollout) if rollout is not None else None
    if times is None or not _engines_fit(times):
        return None
    layout = times.rollout.engine.layout
    return RlSplit(
        placement=rl.placement,
        trainer_nodes=rl.trainer_nodes,
        rollout_nodes=rl.rollout_nodes,
        rollout_tp=layout.tp,
        max_staleness=rl.max_staleness,
        step_time=times.step,
        tokens_per_second_per_accelerator=times.tokens_per_second_per_accelerator,
        idle={part.role: part.idle_share for part in times.parts if part.role in {"rollout", "update"}},
        layout=named,
    )


def _engines_fit(times: RlTimes) -> bool:
    """Whether engines exist, have memory for their weights and some cache, and share it with the trainer."""
    engine, load = times.rollout.engine, times.rollout.engine.workload.serving
    memory = engine.cluster.accelerator.memory
    if memory is None or load is None or times.rollout.accelerators > times.accelerators:
        return False
    share = memory.value * load.memory_fraction / engine.cluster.ranks_per_accelerator
    shared = times.memory
    fits = shared is None or shared.capacity is None or shared.most <= shared.capacity
    return fits and engine.weight_bytes / engine.layout.pp < FULLEST * share
