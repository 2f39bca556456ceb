"""A plan: a design with its predicted memory, time and throughput, and the record of the numbers behind its step."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot

from clusterspec.cluster.legality import layout_error_rules
from clusterspec.cluster.model import Assumption, Design
from clusterspec.records import NamedTuple, dataclass, field, replace
from clusterspec.standard import cached_property, sum_of
from clusterspec.units import display, percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.collectives import CollectiveCost
    from clusterspec.cost.compute.layer import SoftwareBehavior
    from clusterspec.cost.compute.rates import Rates
    from clusterspec.cost.layer_tables import PartTime, TransferTime
    from clusterspec.cost.memory.fullest import Memory
    from clusterspec.cost.reinforcement.times import RlTimes
    from clusterspec.cost.serving.day import DayPlan
    from clusterspec.cost.serving.latency import ServingTimes
    from clusterspec.cost.step import Exposure, StepChoices, StepInputs, StepTimes
    from clusterspec.cost.tables import Tables
    from clusterspec.cost.term import MemoryUse, Term
    from clusterspec.cost.traffic import Transfer

    Sent = tuple["Communication", CollectiveCost]
    """A row of the communication table, and the cost of one call of its collective."""

TIE = 0.01
"""Relative difference in time below which layouts count as tied, by judgment: repeated runs differ by as much."""


class WholeStep(NamedTuple):
    """Seconds, MFU, and tokens per second and accelerator of one step of a job; None if unknown."""

    seconds: float | None = None
    mfu: float | None = None
    rate: float | None = None


@dataclass(frozen=True)
class Plan:
    """The results of an estimate; a result that could not be computed is ``None``.

    Times in seconds per optimizer step; rates per accelerator (package as sold). ``mfu`` and ``hfu`` are fractions of
    the dense peak, attention counted as unmasked. ``step`` and ``stored`` hold the numbers behind time and memory;
    `step_time` and `memory` explain them, and are created on first access.
    """

    design: Design
    parameters: float | None = None
    active_parameters: float | None = None
    step: StepRecord | None = None
    tables: Tables | None = field(default=None, repr=False, compare=False)
    """Tables that an estimate of another layout of the same job can reuse."""
    stored: Memory | None = None
    """The numbers behind the memory; `memory` explains them."""
    tokens_per_second_per_accelerator: float | None = None
    model_flops_per_accelerator: float | None = None
    mfu: float | None = None
    hfu: float | None = None
    time_to_train: float | None = None
    serving: ServingTimes | None = None
    """The times of a serving plan; None where the plan trains."""

    @cached_property
    def rl(self) -> RlTimes | None:
        """The step of reinforcement learning, whose trainer this plan describes; None for other work."""
        workload = self.design.workload
        if workload is None or workload.rl is None or self.step is None:
            return None
        from clusterspec.cost.reinforcement.times import rl_times  # few plans need its modules

        return rl_times(self)

    @property
    def is_update(self) -> bool:
        """Whether the step is the trainer's update in reinforcement learning; ``rl`` has the whole step."""
        return self.design.workload is not None and self.design.workload.rl is not None

    @cached_property
    def day(self) -> DayPlan | None:
        """The engines of a serving plan over a day; None if the load does not vary by hour."""
        load = self.design.workload.serving if self.design.workload else None
        if self.serving is None or load is None or load.day is None:
            return None
        from clusterspec.cost.serving.day import day_plan  # few plans need it

        return day_plan(self.design)

    @cached_property
    def refused(self) -> frozenset[str]:
        """The names of the rules that the layout violates so that it cannot run. Such a layout has no time."""
        return layout_error_rules(self.design)

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions of the design and of the cost, in order, each once."""

        from clusterspec.cost.plan_assumptions import plan_assumptions  # a check lists none

        return plan_assumptions(self)

    @cached_property
    def communication(self) -> tuple[Communication, ...]:
        """The transfers of one step, a row for each collective of each axis."""
        return communication_rows(self.step) if self.step else ()

    @cached_property
    def memory(self) -> MemoryUse | None:
        """The memory of the fullest accelerator as terms, with their parts, formulas and inputs."""
        if self.stored is None:
            return None
        from clusterspec.cost.memory.explain import explained_memory

        return explained_memory(self.design, self.stored)

    @property
    def memory_range(self) -> tuple[float, float] | None:
        """The range in bytes that should contain published peaks.

        A serving engine gives the cache all memory that weights and activations leave free. If those need more, the
        cache shrinks, but never below the size of one request.
        """
        found = self.memory.range if self.memory else None
        if found is None:
            return None
        from clusterspec.cost.memory.fullest import spare_cache  # loaded with the memory

        (low, high), limit = found, self.memory_capacity
        spare = spare_cache(self.stored) if self.stored is not None else 0.0
        return (low, limit) if limit is not None and high - spare <= limit < high else (low, high)

    @cached_property
    def memory_term(self) -> Term | None:
        """The memory as a term with the range ``memory_range``, which is wider than the ranges of its parts imply."""
        if self.memory is None or self.memory_range is None:
            return self.memory.total if self.memory is not None else None
        low, high = self.memory_range
        return replace(self.memory.total, low=low, high=high)

    @property
    def memory_bytes(self) -> float | None:
        """Bytes on the fullest accelerator."""
        return self.stored.total if self.stored else None

    @property
    def memory_capacity(self) -> float | None:
        """Bytes that one accelerator has; None if that is not known."""
        return self.stored.capacity.value if self.stored and self.stored.capacity else None

    @property
    def fullest_is_prefill(self) -> bool:
        """Whether the fullest accelerator belongs to separate prefill engines, which have their own layout."""
        return self.has_separate_engines and self.stored is not None and self.stored.job.layout != self.design.layout

    @property
    def has_separate_engines(self) -> bool:
        """Whether prefill and decode have separate engines."""
        work = self.design.workload
        return work is not None and work.serving is not None and work.serving.prefill is not None

    @property
    def capacity_text(self) -> str:
        """The capacity, with the share that an engine may use and the marketed capacity.

        For example ``85.5 GB (sold as 80 GB)`` or ``77 GB (90 % of 85.5 GB, sold as 80 GB)``.
        """
        cluster, capacity = self.design.cluster, self.memory_capacity
        own = cluster.accelerator if cluster else None
        part = self.stored.elsewhere if self.stored and self.stored.elsewhere else own
        whole = part.memory if part else None
        if part is None or capacity is None or whole is None:
            return "an unknown capacity"
        available, printed = display(whole.value, "B"), part.memory_printed
        share = f"{percent(capacity / whole.value)} of {available}" if capacity < whole.value * (1 - 1e-6) else ""
        sold = f"sold as {printed}" if printed and printed != available else ""
        notes = ", ".join(note for note in (share, sold) if note)
        return display(capacity, "B") + (f" ({notes})" if notes else "")

    @property
    def fits(self) -> bool | None:
        """Whether the memory is at most the capacity; None if the capacity is not known."""
        if self.fullest_bytes is None or self.memory_capacity is None:
            return None
        return self.fullest_bytes <= self.memory_capacity

    @property
    def surely_fits(self) -> bool | None:
        """Whether the upper end of the memory range is at most the capacity; None if either is not known."""
        if self.fullest_range is None or self.memory_capacity is None:
            return None
        return self.fullest_range[1] <= self.memory_capacity

    def fullest_phase(self, used: float) -> float:
        """Bytes used on a trainer's accelerator in the phase of a step that uses the most memory; ``used`` is that of
        the update. In reinforcement learning each phase includes the other models and engines on the accelerator.
        """
        shared = self.rl.memory if self.rl is not None else None
        return shared.fullest_with(used) if shared is not None else used

    @property
    def fullest_bytes(self) -> float | None:
        """Bytes on the fullest accelerator in the fullest phase of a step."""
        return self.fullest_phase(self.memory_bytes) if self.memory_bytes is not None else None

    @property
    def fullest_range(self) -> tuple[float, float] | None:
        """The range of `fullest_bytes` that should contain published peaks."""
        low, high = self.memory_range or (None, None)
        return (self.fullest_phase(low), self.fullest_phase(high)) if low is not None and high is not None else None

    @property
    def step_seconds(self) -> float | None:
        """Seconds of one step; in reinforcement learning, of the update of one minibatch."""
        return self.step.seconds if self.step else None

    @property
    def whole_step(self) -> WholeStep:
        """A step of the job: in reinforcement learning the step of all roles, while ``step`` is the update of one
        minibatch.
        """
        if not self.is_update:
            return WholeStep(self.step_seconds, self.mfu, self.tokens_per_second_per_accelerator)
        found = self.rl
        return WholeStep(found.step, found.mfu, found.tokens_per_second_per_accelerator) if found else WholeStep()

    @cached_property
    def step_time_range(self) -> tuple[float, float] | None:
        """The range in seconds that should contain four in five measured steps; for a measured job, the range of its
        measurements.
        """
        return self._step_range()

    @cached_property
    def difference_bounds(self) -> tuple[float, float] | None:
        """The range of what another layout of the job takes, as the low and high end over the prediction: the errors of
        software are in part common to both.
        """
        found = self._step_range(between_layouts=True)
        return (found[0] / self.step.seconds, found[1] / self.step.seconds) if found and self.step else None

    def _step_range(self, between_layouts: bool = False) -> tuple[float, float] | None:
        """The range of the step in seconds, or of what another layout of the job takes."""
        workload, layout = self.design.workload, self.design.layout
        if self.step is None or workload is None or layout is None:
            return None
        from clusterspec.cost.estimate import highest_mfu, measured_step, range_figures, step_range, unseen_spread

        highest, measured = highest_mfu(self.design), measured_step(self.design)
        if measured is not None and measured.matches_measured_time(self.step.seconds):
            return self.step.seconds / (1 + measured.spread), self.step.seconds * (1 + measured.spread)
        gained = range_figures(self.design, self.step.seconds)
        return step_range(
            self.step,
            bool(workload.model.experts),
            layout.software is not None,
            hypot(*(figure.value for _, figure in gained)),
            seen=unseen_spread(self.design) is None,
            ahead=self.mfu / highest if self.mfu and highest else 0.0,
            measured=measured is not None,
            between_layouts=between_layouts,
        )

    @property
    def mfu_range(self) -> tuple[float, float] | None:
        """The MFU at the slow and fast end of the step time's range; None if it is not known."""
        if self.mfu is None or self.step_seconds is None or self.step_time_range is None:
            return None
        fast, slow = self.step_time_range
        return self.mfu * self.step_seconds / slow, self.mfu * self.step_seconds / fast

    @cached_property
    def step_time(self) -> Term | None:
        """The step as a term with its parts, their formulas and inputs."""
        if self.step is None:
            return None
        from clusterspec.cost.explain import step_term

        return step_term(self.step, self.step_time_range)


@dataclass(frozen=True)
class ReplicaTransfers:
    """Data-parallel transfers that run in one phase, and their exposed seconds.

    ``seconds`` has the time of each of ``transfers``, which run one after another.
    """

    exposure: Exposure
    transfers: tuple[Transfer, ...]
    costs: tuple[CollectiveCost, ...]
    gather: float
    """The rate of these transfers, relative to the rate of the same collectives outside data parallelism."""

    @property
    def seconds(self) -> tuple[float, ...]:
        return tuple(cost.device_seconds / self.gather for cost in self.costs)


@dataclass(frozen=True)
class StepRecord:
    """The components of one optimizer step, and its times.

    ``parts`` belong to the slowest stage, each with the number of passes of a micro-batch through it;
    ``chunk_share`` is the share of micro-batches in each (half of them in DualPipe); ``sends`` transfer one micro-batch
    to the next stage.
    """

    parts: tuple[tuple[PartTime, int], ...]
    chunk_share: float
    sends: tuple[TransferTime, ...]
    replicas: tuple[ReplicaTransfers, ...]
    inputs: StepInputs
    choices: StepChoices
    times: StepTimes
    rates: Rates
    software: SoftwareBehavior

    @property
    def seconds(self) -> float:
        """Seconds of the step."""
        return self.times.total

    @property
    def computing_seconds(self) -> float:
        """Seconds of the step in which kernels run or wait for their launch, over all passes."""
        phases = (count * (phase.device + phase.launch) for part, count in self.parts for _, phase in part.phases)
        return self.chunk_share * self.inputs.micro_batches * sum_of(phases)

    @property
    def flops(self) -> float:
        """FLOPs of the forward pass of one micro-batch on the slowest stage."""
        return sum_of(count * part.flops for part, count in self.parts)

    @property
    def recomputed_flops(self) -> float:
        """FLOPs that recomputation adds to it."""
        return sum_of(count * part.recomputed_flops for part, count in self.parts)


# Communication of a step: one row per collective of each axis

UNCOUNTED = "first_and_last_layer"
"""The name of an exposure that other rows already count."""


@dataclass(frozen=True)
class Communication:
    """Communication of one axis of the layout in one step, per accelerator.

    ``bytes`` the size as nccl-tests counts it, summed over ``calls``; ``seconds`` the time on the wire summed over the
    calls, ``exposed`` the part not overlapped with computation.
    """

    axis: str
    collective: str
    tier: str
    ranks: int
    calls: float
    bytes: float
    seconds: float
    exposed: float


def communication_rows(record: StepRecord) -> tuple[Communication, ...]:
    """One row for each collective of each axis, in the order of their first use in a step."""
    found: dict[tuple[str, str, int], Communication] = {}
    for row, _ in transfer_rows(record):
        key = (row.axis, row.collective, row.ranks)
        before = found.get(key)
        found[key] = row if before is None else _summed_row(before, row)
    return tuple(found.values())


def transfer_rows(record: StepRecord) -> Iterator[Sent]:
    """A row for every transfer of a step."""
    repeats = record.chunk_share * record.inputs.micro_batches
    for part, count in record.parts:
        for _, phase in part.phases:
            yield from (_transfer_row(one, repeats * count) for one in phase.transfers)
    repeats = 2 * record.inputs.micro_batches * record.inputs.virtual_stages
    yield from (_transfer_row(one, repeats) for one in record.sends)
    for group in record.replicas:
        yield from _replica_rows(group)


def _transfer_row(one: TransferTime, repeats: float) -> Sent:
    transfer, cost = one.transfer, one.cost
    row = Communication(
        axis=transfer.axis,
        collective=transfer.collective,
        tier=cost.tier,
        ranks=cost.ranks,
        calls=repeats * transfer.calls,
        bytes=repeats * transfer.size * transfer.calls,
        seconds=repeats * one.seconds,
        exposed=repeats * one.exposed,
    )
    return row, cost


def _replica_rows(group: ReplicaTransfers) -> Iterator[Sent]:
    """The exposed time of transfers that run together, divided in proportion to their times."""
    repeats, whole = group.exposure.repeats, group.exposure.seconds
    counted = 0.0 if group.exposure.name == UNCOUNTED else repeats
    for transfer, cost, seconds in zip(group.transfers, group.costs, group.seconds, strict=True):
        row = Communication(
            axis=transfer.axis,
            collective=transfer.collective,
            tier=cost.tier,
            ranks=cost.ranks,
            calls=counted,
            bytes=counted * transfer.size,
            seconds=counted * seconds,
            exposed=repeats * group.exposure.exposed * seconds / whole,
        )
        yield row, cost


def _summed_row(one: Communication, other: Communication) -> Communication:
    return replace(
        one,
        calls=one.calls + other.calls,
        bytes=one.bytes + other.bytes,
        seconds=one.seconds + other.seconds,
        exposed=one.exposed + other.exposed,
    )
