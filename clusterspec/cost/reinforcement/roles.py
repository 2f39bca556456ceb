"""The models of reinforcement learning other than the trained one: their work, and their time on separate nodes."""

from __future__ import annotations

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Design, Workload
from clusterspec.cluster.samples import Rl, Role
from clusterspec.cluster.sites import machine_of
from clusterspec.cost import parameters
from clusterspec.cost.mixers import attention_flops
from clusterspec.records import NamedTuple

SCORING = frozenset({"reward", "reference"})
"""Roles that score samples and are not trained. On separate nodes they score each sample as soon as it is finished."""


class OwnRole(NamedTuple):
    """A role on separate nodes, and its seconds of work in one step.

    ``peak`` is the FLOP/s of one of its ``accelerators``; None if unknown.
    """

    name: str
    nodes: int
    seconds: float
    accelerators: int
    peak: float | None


def role_model(design: Design, role: Role) -> Model:
    """The model of a role: the one that the spec names, if known, else the trained model."""
    assert design.workload is not None
    found = design.catalog.find("model", role.model) if design.catalog is not None and role.model else None
    return found if isinstance(found, Model) else design.workload.model


def work_share(design: Design, role: Role) -> float:
    """FLOPs of a forward pass of the role's model relative to the trained model's, on the same tokens."""
    work = design.workload
    assert work is not None
    return _forward_flops(role_model(design, role), work) / _forward_flops(work.model, work)


def _forward_flops(model: Model, work: Workload) -> float:
    """FLOPs of a forward pass over one token: a third of the training FLOPs."""
    return (6 * parameters.model_weights(model).multiplied_weights + attention_flops(model, work.attended_length)) / 3


def weight_share(design: Design, role: Role) -> float:
    """Weights of the role's model relative to the trained model's."""
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
    """Forward passes over all samples of a step on the trainer's nodes, counted in passes of the trained model."""
    colocated = sum(work_share(design, role) for role in rl.roles if role.nodes is None)
    return (0 if rl.recorded else 1) + colocated


def own_roles(design: Design, forward: float, update: float, efficiency: float) -> tuple[OwnRole, ...]:
    """The roles on separate nodes, with their seconds in one step.

    ``forward`` and ``update`` are the trainer's seconds for a forward pass over all samples, and for training on them,
    with sequences of equal length. A role is assumed to have the trainer's rate per accelerator; on another pool the
    rate is scaled by the ratio of the accelerators' peaks. The rate is multiplied by the ``efficiency`` of a training
    loop, except for a reward model, whose engine batches samples of any length. Roles on a pool that does not exist are
    omitted.
    """
    cluster, work = design.cluster, design.workload
    assert cluster is not None and work is not None and work.rl is not None
    own = work.peak.value if work.peak else None
    found = []
    for role in work.rl.roles_on_separate_nodes:
        machine = cluster if role.pool is None else machine_of(design, role.pool)
        if role.nodes is None or machine is None:
            continue
        passes = forward + (update if role.name == "critic" else 0.0)
        accelerators, peak = role.nodes * machine.accelerators_per_node, own
        if role.pool is not None:
            listed = machine.accelerator.peaks.get(work.precision) or machine.accelerator.peaks.get("bf16")
            peak = listed.value if listed else None
        faster = peak / own if peak and own else 1.0
        trained = work.rl.trainer_nodes * cluster.accelerators_per_node
        rate = (1.0 if role.name == "reward" else efficiency) * faster * accelerators / trained
        found.append(OwnRole(role.name, role.nodes, passes * work_share(design, role) / rate, accelerators, peak))
    return tuple(found)
