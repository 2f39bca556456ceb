"""The step of reinforcement learning: rollout, log-probabilities, updates, and transfers between them."""

from __future__ import annotations

from clusterspec.cluster.model import Workload
from clusterspec.cluster.samples import Rl
from clusterspec.cluster.sites import link_to_named_pool, link_to_pool
from clusterspec.cost import assumed_figure
from clusterspec.cost.formulas.reinforcement import (
    overlapped_step_time,
    partial_step_time,
    serial_step_time,
    switch_time,
)
from clusterspec.cost.plan import Plan, StepRecord
from clusterspec.cost.reinforcement.memory import RlMemory, shared_memory, trainer_memory
from clusterspec.cost.reinforcement.roles import (
    SCORING,
    OwnRole,
    flops_of_step,
    forward_passes,
    own_roles,
    work_share,
)
from clusterspec.cost.reinforcement.rollout import GROUP, Rollout, rollout_of
from clusterspec.cost.reinforcement.weights import Sync, file_store, sync_of
from clusterspec.cost.step import ReplicaSeconds, StageTime, composed_step
from clusterspec.records import NamedTuple, dataclass
from clusterspec.standard import sum_of

SWITCH = assumed_figure(
    GROUP, "switch", 3.0, "time of one switch between trainer and engines: caches are freed and allocated again", "s"
)
DRIVER = assumed_figure(
    GROUP,
    "driver",
    30.0,
    "time per step, fitted: rewards, advantages, packing, the exchange of samples through the driver, and the waits"
    " of its workers for each other",
    "s",
)
TRAINING = assumed_figure(
    GROUP,
    "training.efficiency",
    0.8,
    "fitted rate of the trainer, relative to training on sequences of equal length: all ranks wait for the rank with "
    "the most tokens, and micro-batches are not packed completely",
)
SPREAD = assumed_figure(
    "uncertainty",
    "reinforcement",
    0.45,
    "half-width of the range of a step of reinforcement learning, relative: nine in ten published steps of the fitted"
    " sources lie in it (docs/accuracy.md)",
)


class RlPart(NamedTuple):
    """A role: its seconds in one step, and the share of the step in which the role's accelerators wait."""

    role: str
    seconds: float
    idle_share: float


@dataclass(frozen=True)
class RlTimes:
    """One step of reinforcement learning, in seconds.

    ``training`` sums ``log_probabilities``, ``update``, ``driver`` and ``waits``, the time in which the trainer waits
    for ``roles`` on separate nodes; ``switch`` is the time to switch between engines and trainer. ``flops`` are the
    model FLOPs of one step, ``peak`` the FLOP/s of one accelerator; ``efficiency`` is the trainer's.
    """

    rl: Rl
    rollout: Rollout
    log_probabilities: float
    update: float
    driver: float
    switch: float
    sync: Sync
    step: float
    accelerators: float
    flops: float
    peak: float | None
    memory: RlMemory | None
    band: tuple[float, float]
    efficiency: float
    roles: tuple[OwnRole, ...] = ()
    waits: float = 0.0

    @property
    def training_seconds(self) -> float:
        """Seconds of the trainer in one step."""
        return self.log_probabilities + self.update + self.driver + self.waits

    @property
    def producing_seconds(self) -> float:
        """Seconds of rollout with full slots, or of the role that scores samples as they end, whichever is longer."""
        return _producing_seconds(self.rollout, self.roles)

    @property
    def tokens(self) -> float:
        """Tokens of one step, prompts included."""
        return self.rl.step_tokens

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.step

    @property
    def tokens_per_second_per_accelerator(self) -> float:
        return self.tokens_per_second / self.accelerators

    @property
    def mfu(self) -> float | None:
        """FLOPs of generation, log-probabilities and training over the peak of all accelerators for the whole step."""
        return self.flops / (self.step * self.accelerators * self.peak) if self.peak else None

    @property
    def parts(self) -> tuple[RlPart, ...]:
        """The roles in the order of a step."""
        step, rollout = self.step, self.rollout
        shared = self.rl.placement == "colocated"
        idle = 1 - rollout.busy / step
        found = [
            RlPart("rollout", rollout.batch, rollout.idle_share * rollout.batch / step if shared else idle),
            RlPart("log_probabilities", self.log_probabilities, 0.0),
            RlPart(
                "update",
                self.update,
                max(0.0, (self.waits if shared else step - self.training_seconds + self.waits) / step),
            ),
            RlPart("driver", self.driver, 0.0),
            RlPart("weight_sync", self.sync.seconds, 0.0),
        ]
        found += [RlPart(role.name, role.seconds, max(0.0, 1 - role.seconds / step)) for role in self.roles]
        if self.switch:
            found.append(RlPart("switch", self.switch, 0.0))
        return tuple(found)


def rl_times(plan: Plan) -> RlTimes | None:
    """The step of reinforcement learning whose trainer has a plan; None if the time of a part is unknown."""
    design = plan.design
    cluster, workload, layout = design.cluster, design.workload, design.layout
    if cluster is None or workload is None or layout is None or workload.rl is None or plan.step is None:
        return None
    if workload.rl.rollout_pool is not None and link_to_named_pool(design.spec, workload.rl.rollout_pool) is None:
        return None
    rollout = rollout_of(design, workload.rl, engine_nodes(workload.rl))
    return None if rollout is None else composed_times(plan, rollout)


def engine_nodes(rl: Rl) -> int:
    """The nodes whose engines generate samples, including the trainer's nodes if rollout shares them."""
    return rl.rollout_nodes + (0 if rl.placement == "split" else rl.trainer_nodes)


def composed_times(plan: Plan, rollout: Rollout) -> RlTimes:
    """The step of a trainer with a plan and of a rollout."""
    design, record = plan.design, plan.step
    cluster, workload, layout = design.cluster, design.workload, design.layout
    assert cluster and workload and layout and workload.rl and record
    rl = workload.rl
    forward, update = forward_seconds(record, rl.minibatches), rl.updates * record.seconds
    roles = own_roles(design, forward, update, TRAINING.value)
    scores = forward_passes(design, rl) * forward
    update *= 1.0 + sum(work_share(design, role) for role in rl.roles if role.name == "critic" and role.nodes is None)
    other = rollout.engine.cluster
    link = None
    if rl.rollout_pool is not None:
        link = link_to_pool(design, rl.rollout_pool, other, (rl.trainer_nodes, rl.rollout_nodes))
    store = file_store(design, rollout) if rl.sync.method == "disk" else None
    sync = sync_of(cluster, workload, layout, rl, rollout, link=link, store=store)
    shared = rl.placement != "split"
    memory = shared_memory(plan, rollout) if shared else trainer_memory(plan)
    rate = plan.tables.host_bandwidth * cluster.ranks_per_accelerator if plan.tables else 1.0
    switch = switch_time(2 * memory.offloaded, rate, SWITCH.value) if shared and memory else 0.0
    scores, update, driver = scores / TRAINING.value, update / TRAINING.value, DRIVER.value
    waits = _role_waits(rl, roles, rollout.batch, scores, update)
    training = scores + update + driver + waits
    trained = rl.trainer_nodes * cluster.accelerators_per_node
    generating = rl.rollout_nodes * other.accelerators_per_node
    accelerators = float(trained + generating + sum(role.accelerators for role in roles))
    producing = _producing_seconds(rollout, roles)
    step = _step_seconds(rl, rollout, training, sync.seconds, switch, producing=producing)
    width = 1 + SPREAD.value
    return RlTimes(
        rl=rl,
        rollout=rollout,
        log_probabilities=scores,
        update=update,
        driver=driver,
        switch=switch,
        sync=sync,
        step=step,
        accelerators=accelerators,
        flops=flops_of_step(design, rl),
        peak=_mean_peak(workload, rollout, (trained, generating), roles),
        memory=memory,
        band=(step / width, step * width),
        efficiency=TRAINING.value,
        roles=roles,
        waits=waits,
    )


def _mean_peak(
    workload: Workload, rollout: Rollout, counts: tuple[int, int], roles: tuple[OwnRole, ...]
) -> float | None:
    """Mean peak FLOP/s per accelerator in the trainer's precision; ``counts`` has the accelerators of trainer and
    rollout.
    """
    own = workload.peak.value if workload.peak else None
    if workload.rl is None or own is None:
        return own
    served = rollout.engine.workload.peak if workload.rl.rollout_pool is not None else None
    generating = (counts[1], served.value if served else own)
    parts = [(counts[0], own), generating, *((role.accelerators, role.peak or own) for role in roles)]
    return sum_of(count * peak for count, peak in parts) / sum(count for count, _ in parts)


def _producing_seconds(rollout: Rollout, roles: tuple[OwnRole, ...]) -> float:
    return max(rollout.busy, *(role.seconds for role in roles if role.name in SCORING), 0.0)


def _role_waits(rl: Rl, roles: tuple[OwnRole, ...], batch: float, scores: float, update: float) -> float:
    """Seconds for which the trainer waits for roles on separate nodes.

    Reward model and reference score samples as they end, the reference also during the log-probabilities, and a critic
    works during these and the updates. If rollout runs ahead of the weights, its scores run ahead, too.
    """
    overlapped = {"reference": batch + scores, "critic": scores + update, "reward": batch}
    ahead = rl.placement == "split" and rl.max_staleness > 0
    late = (role.seconds - overlapped[role.name] for role in roles if not (ahead and role.name in SCORING))
    return max(0.0, *late, 0.0)


def _step_seconds(rl: Rl, rollout: Rollout, training: float, sync: float, switch: float, *, producing: float) -> float:
    if rl.placement == "partial":
        tail = max(0.0, rollout.batch - rollout.drained)
        return partial_step_time(rollout.drained, tail, training, 1 / rl.minibatches, sync=sync, switch=switch)
    if rl.placement == "split" and rl.max_staleness:
        return overlapped_step_time(training, producing, rollout.batch, sync, float(rl.max_staleness))
    return serial_step_time(rollout.batch, training, sync, switch)


def forward_seconds(record: StepRecord, minibatches: int) -> float:
    """Seconds of the forward passes of the given minibatches, with the pipeline's bubble and the gathers of weights."""
    inputs, choices = record.inputs, record.choices
    stage = StageTime(inputs.stage.forward, 0.0, 0.0)
    share = inputs.stage.forward / inputs.stage.total
    schedule = choices.schedule if choices.schedule in {"1f1b", "interleaved", "gpipe"} else "1f1b"
    forward = inputs._replace(
        stage=stage,
        every=inputs.every * share,
        micro_batches=inputs.micro_batches * minibatches,
        send=inputs.send / 2,
        replicas=ReplicaSeconds(inputs.replicas.gather if choices.layer_by_layer else 0.0, 0.0, 0.0, 0.0),
        weights=0.0,
    )
    times, _ = composed_step(forward, choices._replace(schedule=schedule))
    return times.total
