"""Placements of reinforcement learning on one machine: the division of nodes between rollout and trainer, and the
tensor parallelism of the engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.cluster.model import Design
from clusterspec.cluster.samples import Rl
from clusterspec.cluster.sites import machine_of
from clusterspec.cluster.variation import Changes, design_with_keys
from clusterspec.cost.estimate import legal_estimate
from clusterspec.cost.reinforcement.rollout import Rollout, rollout_of
from clusterspec.cost.reinforcement.times import RlTimes, composed_times, engine_nodes
from clusterspec.results import Json
from clusterspec.results.search import RlSplit
from clusterspec.source import Path

SHARES = (1 / 8, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4)
"""Shares of the nodes to try for separate rollout nodes."""
DEGREES = (1, 2, 4, 8, 16, 32)
RL = ("workload", "rl")
FULLEST = 0.9
"""If weights take more than this share of an engine's memory, too little is left for the cache."""


Rollouts = dict[tuple[int, int, int], Rollout | None]
"""The generation of a batch, by the number of engine nodes, the engines' tp, and the staleness."""


def rl_splits(
    design: Design, nodes: int | None = None, rollouts: Rollouts | None = None, *, layout: str = "spec"
) -> tuple[RlSplit, ...]:
    """The placements on ``nodes`` nodes (all nodes by default) that fit in memory, fastest first.

    Empty if the design is not reinforcement learning. Other models on separate nodes keep these. The trainer keeps its
    layout, with dp set by its nodes. Rollout on separate nodes either takes turns with the trainer (staleness 0) or
    runs ahead of the weights, by the stated number of steps, at least one. Rollout on another machine stays there, on
    the nodes that it has in the spec or fewer. ``rollouts`` caches results for other numbers of nodes of the same job.
    ``layout`` names the layout of the design.
    """
    workload, cluster = design.workload, design.cluster
    if workload is None or workload.rl is None or cluster is None:
        return ()
    rl = workload.rl
    if rl.rollout_pool is not None:
        tried = _changes_on_pool(design, rl)
    else:
        most = (cluster.nodes if nodes is None else nodes) - _nodes_of_models(rl, on_this_machine=True)
        some = _keys_of_placements(rl, most, _engine_tp_degrees(design, rl))
        tried = some if nodes is None else (placement_on_nodes(changes, most) for changes in some)
    known = {} if rollouts is None else rollouts
    return _fastest_first(_evaluated_split(design, changes, known, layout) for changes in tried)


def splits_of_nodes(
    design: Design, nodes: int, rollouts: Rollouts, *, degrees: bool, layout: str = "spec"
) -> tuple[RlSplit, ...]:
    """The divisions of ``nodes`` nodes in all between trainer and rollout that fit in memory, fastest first.

    Placement and staleness come from the design. So does the tensor parallelism of the engines, unless ``degrees`` asks
    for every degree. Machines with fewer nodes grow.
    """
    rl = _rl_of(design)
    counts = _rollout_counts_of_job(rl, nodes - _nodes_of_models(rl)) if rl.placement != "colocated" else (0,)
    found = []
    for count in counts:
        keys = keys_of_nodes(design, nodes, count)
        for tp in _engine_tp_degrees(design, rl) if degrees else (None,):
            degree: Changes = {(*RL, "rollout", "tp"): tp} if tp is not None else {}
            found.append(_evaluated_split(design, {**keys, **degree}, rollouts, layout))
    return _fastest_first(found)


def _fastest_first(rl_splits: Iterable[RlSplit | None]) -> tuple[RlSplit, ...]:
    return tuple(sorted((each for each in rl_splits if each is not None), key=lambda each: each.step_time))


def _rl_of(design: Design) -> Rl:
    assert design.workload is not None
    assert design.workload.rl is not None
    return design.workload.rl


# Nodes of a job of reinforcement learning, of all its roles


def nodes_of_job(design: Design) -> int:
    """The nodes of all roles of a design of reinforcement learning, on all machines."""
    rl = _rl_of(design)
    return rl.trainer_nodes + rl.rollout_nodes + _nodes_of_models(rl)


def _nodes_of_models(rl: Rl, *, on_this_machine: bool = False) -> int:
    """The separate nodes of the other models: on all machines, or only ``on_this_machine``, on the trainer's."""
    return sum(role.nodes or 0 for role in (rl.own_roles if on_this_machine else rl.roles_on_separate_nodes))


def rollout_nodes_in_proportion(design: Design, nodes: int) -> int:
    """The number of rollout nodes if all roles have ``nodes`` nodes, in the design's proportion; 0 if rollout has no
    separate nodes.
    """
    rl = _rl_of(design)
    if not rl.rollout_nodes:
        return 0
    left = nodes - _nodes_of_models(rl)
    share = rl.rollout_nodes / (rl.trainer_nodes + rl.rollout_nodes)
    return min(max(1, round(left * share)), max(1, left - 1))


def keys_of_nodes(design: Design, nodes: int, rollout: int) -> Changes:
    """The keys that distribute ``nodes`` nodes over all roles: ``rollout`` nodes for rollout, the present number for
    other models, and the rest for the trainer.

    The trainer's machine gets the nodes that its roles need, and never fewer than it has outside the job. The rollout
    machine grows if it has too few.
    """
    rl, cluster = _rl_of(design), design.cluster
    assert cluster is not None
    trainer = max(1, nodes - rollout - _nodes_of_models(rl))
    there = trainer + _nodes_of_models(rl, on_this_machine=True) + (rollout if rl.rollout_pool is None else 0)
    keys: dict[Path, object] = {("layout", "nodes"): trainer, ("layout", "dp"): None}
    if rl.rollout_nodes:
        keys[*RL, "rollout", "nodes"] = rollout
    away = (design.spec.pools or {}).get(rl.rollout_pool or "")
    if away is not None and rollout > (away.nodes or rollout):
        keys |= {
            ("pools", rl.rollout_pool or "", "nodes"): rollout,
            ("pools", rl.rollout_pool or "", "accelerators"): None,
        }
    if there > cluster.nodes or rl.nodes == cluster.nodes:
        keys |= {("cluster", "nodes"): there, ("cluster", "accelerators"): None}
    return keys


def nodes_by_role(design: Design) -> dict[str, int]:
    """The nodes of each role of a design that has separate nodes; empty for other work."""
    rl = design.workload.rl if design.workload is not None else None
    if rl is None:
        return {}
    found = {"trainer": rl.trainer_nodes} | ({"rollout": rl.rollout_nodes} if rl.rollout_nodes else {})
    return found | {role.name: role.nodes for role in rl.roles_on_separate_nodes if role.nodes}


FEW = 16
"""Up to this number of nodes, each division between rollout and trainer is tried."""


def _rollout_counts(nodes: int) -> tuple[int, ...]:
    """Numbers of rollout nodes to try if rollout and trainer divide ``nodes`` nodes: all if there are few, else
    sixteenths of them and the usual shares.
    """
    if nodes <= FEW:
        return tuple(range(1, nodes))
    parts = {round(nodes * part / FEW) for part in range(1, FEW)} | {round(nodes * share) for share in SHARES}
    return tuple(sorted(parts))


def _rollout_counts_of_job(rl: Rl, nodes: int) -> tuple[int, ...]:
    """Numbers of rollout nodes to try: the numbers of `_rollout_counts`; numbers with 2^n nodes for the trainer, since
    its replicas then usually divide a batch; and numbers with the design's number of nodes for a role.
    """
    left = {nodes - 2**power for power in range(nodes.bit_length())} | {nodes - rl.trainer_nodes, rl.rollout_nodes}
    return tuple(sorted({*_rollout_counts(nodes), *(count for count in left if 0 < count < nodes)}))


def _engine_tp_degrees(design: Design, rl: Rl) -> tuple[int, ...]:
    """The degrees of tensor parallelism of engines within a scale-up domain of their machine that divide the heads."""
    machine = machine_of(design, rl.rollout_pool) if rl.rollout_pool is not None else design.cluster
    assert design.workload is not None
    most, heads = machine.ranks_per_domain if machine is not None else 0, design.workload.model.heads
    return tuple(degree for degree in DEGREES if degree <= most and heads % degree == 0)


def _changes_on_pool(design: Design, rl: Rl) -> Iterator[Changes]:
    """The keys for rollout on another machine: with the spec's number of nodes or fewer, synchronously or ahead of the
    trainer.
    """
    counts = {count for count in _rollout_counts(rl.rollout_nodes + 1) if count <= rl.rollout_nodes}
    for tp in _engine_tp_degrees(design, rl):
        for count in sorted(counts | {rl.rollout_nodes}):
            for staleness in sorted({0, max(1, rl.max_staleness)}):
                yield {
                    (*RL, "max_staleness"): staleness,
                    (*RL, "rollout", "nodes"): count,
                    (*RL, "rollout", "tp"): tp,
                }


def faster_splits(present: Iterable[RlSplit], best: Iterable[RlSplit]) -> tuple[RlSplit, ...]:
    """Each placement once, with the spec's layout or with the best layout if that is faster; fastest first."""
    found: dict[tuple[str, int, int, int, int], RlSplit] = {}
    for each in sorted([*present, *best], key=lambda each: each.step_time):
        keys = (each.placement, each.trainer_nodes, each.rollout_nodes, each.rollout_tp, each.max_staleness)
        found.setdefault(keys, each)
    return tuple(found.values())


def _keys_of_placements(rl: Rl, nodes: int, degrees: Iterable[int]) -> Iterator[Changes]:
    """The keys of each placement."""
    own = sorted({rl.rollout_nodes, *(max(1, round(share * nodes)) for share in SHARES)} & set(range(1, nodes)))
    ahead = max(1, rl.max_staleness)
    for tp in degrees:
        yield _placement_changes("colocated", None, tp, 0)
        for count in own:
            yield _placement_changes("split", count, tp, 0)
            yield _placement_changes("split", count, tp, ahead)


def placement_on_nodes(changes: Changes, nodes: int) -> Changes:
    """The keys of a placement in which the trainer has the nodes without rollout."""
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
    """One placement; None if its trainer cannot run or if it does not fit.

    Without a length of the run, the estimate of the trainer leaves out the step of all roles.
    """
    plan = legal_estimate(design_with_keys(design, {**changes, ("workload", "tokens"): None}))
    workload = plan.design.workload
    if plan.fits is False or plan.step is None or workload is None or workload.rl is None:
        return None
    rl = workload.rl
    key = (engine_nodes(rl), _engine_degree(plan.design), rl.max_staleness)
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


def _engine_degree(design: Design) -> int:
    """The tensor parallelism of the rollout engines as stated in the spec; 0 if it is not stated."""
    work = design.spec.workload
    rollout = work.rl.rollout if work is not None and work.rl is not None else None
    return (rollout.tp if rollout is not None else None) or 0


def _engines_fit(times: RlTimes) -> bool:
    """Whether engines exist, have memory for their weights and some cache, and share it with the trainer."""
    engine, load = times.rollout.engine, times.rollout.engine.workload.serving
    memory = engine.cluster.accelerator.memory
    if memory is None or load is None or times.rollout.accelerators > times.accelerators:
        return False
    share = memory.value * load.memory_fraction / engine.cluster.ranks_per_accelerator
    shared = times.memory
    fits = shared is None or shared.capacity is None or shared.fullest_bytes <= shared.capacity
    return fits and engine.weight_bytes / engine.layout.pp < FULLEST * share
