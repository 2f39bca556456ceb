"""Memory of an accelerator of the trainer in reinforcement learning, with the other models and engines on it."""

from __future__ import annotations

from clusterspec.cluster.samples import Role
from clusterspec.cost import assumed_figure, parameters
from clusterspec.cost.plan import Plan
from clusterspec.cost.reinforcement.roles import SCORING, role_model, weight_share
from clusterspec.cost.reinforcement.rollout import GROUP, Rollout
from clusterspec.quantity import precision_width
from clusterspec.records import NamedTuple
from clusterspec.standard import sum_of

RESIDENT = assumed_figure(
    GROUP, "resident", 3e9, "bytes that an engine or a trainer keeps while the other runs: contexts and graphs", "B"
)
_KEPT = 2
"""Bytes of a weight of a model that scores samples: 16 bits."""


class RlMemory(NamedTuple):
    """Bytes used on one of the trainer's accelerators in each phase of a step, and its capacity.

    ``rollout`` and ``sync`` are 0 where engines have separate nodes. ``offloaded`` is the trainer's memory that moves
    to the host during rollout. ``update`` is what `Plan.memory_bytes` counts of an update, included in ``training``.
    ``critic`` is the states of a critic on the trainer's nodes, included in ``training``; ``scorers`` the weights of
    reference and reward models that stay there, included in ``training`` and ``scoring``.
    """

    rollout: float
    training: float
    sync: float
    offloaded: float
    capacity: float | None
    update: float
    critic: float = 0.0
    scorers: float = 0.0
    scoring: float = 0.0

    @property
    def fullest_bytes(self) -> float:
        return self.fullest_with(self.update)

    def fullest_with(self, update: float) -> float:
        """Bytes used in the fullest phase if an update uses ``update`` bytes; the other phases do not depend on it."""
        return max(self.rollout, self.training - self.update + update, self.sync, self.scoring)


class Scorers(NamedTuple):
    """Bytes of weights of reference and reward models on one of the trainer's accelerators.

    ``staying`` are always there, ``returning`` is the largest model that is in host memory between uses.
    """

    staying: float
    returning: float


def shared_memory(plan: Plan, rollout: Rollout) -> RlMemory | None:
    """Memory of an accelerator that the trainer and an engine share; None if either is not known."""
    stored, layout, load = plan.stored, rollout.engine.layout, rollout.engine.workload.serving
    whole = rollout.engine.cluster.accelerator.memory
    if stored is None or load is None or whole is None:
        return None
    ranks = stored.ranks
    critic, scorers = critic_bytes(plan), scorer_weights(plan)
    states = _state_bytes(plan) * ranks + critic + scorers.staying
    weights = sum_of(line.value for line in stored.rank.weights) * ranks
    served = rollout.engine.weight_bytes / layout.pp * rollout.engine.cluster.ranks_per_accelerator
    engine = load.memory_fraction * whole.value
    together = engine + states + RESIDENT.value <= whole.value
    written = plan.design.spec.layout.offload if plan.design.spec.layout else None
    stays = written is not None and written.optimizer == 0  # written, and so not what a framework may choose
    offloaded = 0.0 if together or stays else states
    rl = plan.design.workload.rl if plan.design.workload else None
    assert rl is not None
    return RlMemory(
        rollout=engine + RESIDENT.value + (states - offloaded),
        training=stored.total + critic + scorers.staying + RESIDENT.value,
        sync=weights + served + rl.sync.bucket + RESIDENT.value,
        offloaded=offloaded,
        capacity=whole.value,
        update=stored.total,
        critic=critic,
        scorers=scorers.staying,
        scoring=states + scorers.returning + RESIDENT.value,
    )


def trainer_memory(plan: Plan) -> RlMemory | None:
    """Memory of an accelerator of the trainer, if the engines have separate nodes but the trainer's nodes also have
    other models; None if they have none.
    """
    critic, scorers, cluster = critic_bytes(plan), scorer_weights(plan), plan.design.cluster
    if plan.stored is None or cluster is None or cluster.accelerator.memory is None:
        return None
    if not critic and not any(scorers):
        return None
    states = _state_bytes(plan) * plan.stored.ranks + critic + scorers.staying
    return RlMemory(
        rollout=0.0,
        training=plan.stored.total + critic + scorers.staying,
        sync=0.0,
        offloaded=0.0,
        capacity=cluster.accelerator.memory.value,
        update=plan.stored.total,
        critic=critic,
        scorers=scorers.staying,
        scoring=states + scorers.returning,
    )


def critic_bytes(plan: Plan) -> float:
    """Bytes of a critic's states on one of the trainer's accelerators, with the trainer's layout; 0 if the critic has
    separate nodes or is kept in host memory between uses.
    """
    workload = plan.design.workload
    role = workload.rl.role("critic") if workload and workload.rl else None
    if role is None or role.nodes is not None or role.offload or plan.stored is None:
        return 0.0
    return _state_bytes(plan) * plan.stored.ranks * weight_share(plan.design, role)


def scorer_weights(plan: Plan) -> Scorers:
    """Bytes of the reference and reward models that have no separate nodes."""
    workload = plan.design.workload
    roles = workload.rl.roles if workload is not None and workload.rl is not None else ()
    scoring = [role for role in roles if role.name in SCORING and role.nodes is None and role.pool is None]
    sizes = [(role.offload, _scorer_bytes(plan, role)) for role in scoring]
    return Scorers(
        sum_of(size for offloaded, size in sizes if not offloaded),
        max((size for offloaded, size in sizes if offloaded), default=0.0),
    )


def _scorer_bytes(plan: Plan, role: Role) -> float:
    """Bytes of the weights of a model that scores on one of the trainer's accelerators.

    The trained model is divided as the trainer divides it; if adapters are trained, the base without them is already in
    memory. The spec states no layout of another model, so its 16-bit weights count as divided over all accelerators of
    the trainer, the least possible memory.
    """
    design, stored = plan.design, plan.stored
    work, cluster = design.workload, design.cluster
    if stored is None or work is None or work.rl is None or cluster is None:
        return 0.0
    model = role_model(design, role)
    if model.id != work.model.id:
        accelerators = max(1, work.rl.trainer_nodes * cluster.accelerators_per_node)
        return _KEPT * parameters.model_weights(model).total / accelerators
    if work.trainable is not None:
        return 0.0
    kept, job = precision_width(work.parameter_precision), stored.job
    if job.framework.sharded_master:
        kept = max(kept, precision_width(job.layout.master_precision))
    return sum_of(line.value for line in stored.rank.weights) * stored.ranks * min(1.0, _KEPT / kept)


def _state_bytes(plan: Plan) -> float:
    """Bytes of weights, gradients and optimizer states on one rank."""
    assert plan.stored is not None
    rank = plan.stored.rank
    return sum_of(line.value for line in (*rank.weights, *rank.gradients, *rank.optimizer))
