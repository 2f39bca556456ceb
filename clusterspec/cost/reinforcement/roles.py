"""The models beside the trained one in reinforcement learning: their work, and their time on nodes of their own."""

from __future__ import annotations

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Design, Workload
from clusterspec.cluster.requests import Rl, Role
from clusterspec.cost import parameters
from clusterspec.cost.mixers import attention_flops
from clusterspec.records import NamedTuple


class OwnRole(NamedTuple):
    """A role on nodes of its own, and its seconds of work in one step."""

    name: str
    nodes: int
    seconds: float


def role_model(design: Design, role: Role) -> Model:
    """The model of a role: the trained one where the spec names none, or one that is unknown."""
    assert design.workload is not None
    found = design.catalog.find("model", role.model) if design.catalog is not None and role.model else None
    return found if isinstance(found, Model) else design.workload.model


def work_share(design: Design, role: Role) -> float:
    """FLOPs of a forward pass of the role's model over those of the trained one, on the same tokens."""
    work = design.workload
    assert work is not None
    return _forward_flops(role_model(design, role), work) / _forward_flops(work.model, work)


def _forward_flops(model: Model, work: Workload) -> float:
    """FLOPs of a forward pass over one token: a third of those of training it."""
    return (6 * parameters.model_weights(model).multiplied + attention_flops(model, work.attended_length)) / 3


def weight_share(design: Design, role: Role) -> float:
    """Weights of the role's model over those of the trained one."""
    assert design.workload is not None
    trained = parameters.model_weights(design.workload.model).total
    return parameters.model_weights(role_model(design, role)).total / trained


def flops_of_step(design: Design, rl: Rl) -> float:
    """FLOPs of all models in one step: generation and each forward pass count a third of training."""
    work = design.workload
    assert work is not None
    forward = 1 + (0 if rl.recorded else 1) + sum(work_share(design, role) for role in rl.roles)
    trained = sum(work_share(design, role) for role in rl.roles if role.name == "critic")
    return rl.samples * rl.sample_tokens * _forward_flops(work.model, work) * (forward + 3 * rl.epochs * (1 + trained))


def forward_passes(design: Design, rl: Rl) -> float:
    """Forward passes over all samples of a step on the trainer's nodes, as multiples of one of the trained model."""
    beside = sum(work_share(design, role) for role in rl.roles if role.nodes is None)
    return (0 if rl.recorded else 1) + beside


def own_roles(design: Design, forward: float, update: float, efficiency: float) -> tuple[OwnRole, ...]:
    """The roles on nodes of their own, with their seconds in one step.

    ``forward`` and ``update`` are seconds in which the trainer's nodes run the trained model over all samples, and
    train it, on equal sequences: a role has the same rate on each of its nodes, over the ``efficiency`` of a training
    loop but for a reward model, whose engine batches samples of any length. Roles on another pool are left out, whose
    accelerators the design of the trainer does not have.
    """
    assert design.workload is not None
    rl = design.workload.rl
    assert rl is not None
    found = []
    for role in rl.own_roles:
        assert role.nodes is not None
        passes = forward + (update if role.name == "critic" else 0.0)
        share = work_share(design, role) * rl.trainer_nodes / role.nodes
        rate = 1.0 if role.name == "reward" else efficiency
        found.append(OwnRole(role.name, role.nodes, passes * share / rate))
    return tuple(found)
