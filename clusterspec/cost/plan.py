"""A plan: a design with its predicted memory, time and throughput, and the assumptions behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from math import hypot

from clusterspec.cluster.legality import refusals
from clusterspec.cluster.model import Assumption, Design
from clusterspec.cost import CONSTANTS
from clusterspec.cost.compute import BIASES, FIXED, KERNELS
from clusterspec.cost.compute.attention import RECURRENCE, SPARSE
from clusterspec.cost.memory.fullest import Memory
from clusterspec.cost.record import Communication, StepRecord, communication_rows
from clusterspec.cost.tables import Tables
from clusterspec.quantity import Figure
from clusterspec.records import dataclass, field
from clusterspec.source import Assumed
from clusterspec.units import display, percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.reinforcement.times import RlTimes
    from clusterspec.cost.serving.day import DayPlan
    from clusterspec.cost.serving.latency import ServingTimes
    from clusterspec.cost.term import MemoryUse, Term

TIE = 0.01
"""The relative difference in time below which two layouts are tied, by judgment: repeated runs of one layout differ by
as much."""


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
        """Whether the step is an update of the trainer in reinforcement learning, whose other roles ``rl`` has."""
        return self.design.workload is not None and self.design.workload.rl is not None

    @cached_property
    def day(self) -> DayPlan | None:
        """The engines of a serving plan over a day; None if its load has no hours of a day."""
        load = self.design.workload.serving if self.design.workload else None
        if self.serving is None or load is None or load.day is None:
            return None
        from clusterspec.cost.serving.day import day_plan  # few plans need it

        return day_plan(self.design)

    @cached_property
    def refused(self) -> frozenset[str]:
        """The names of the rules by which the layout cannot run; a layout that cannot run has no time."""
        return refusals(self.design)

    @cached_property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions of the design and of the cost, in order, each once."""

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
        cache shrinks, at most to the size of one request.
        """
        total = self.memory.total if self.memory else None
        if total is None or total.low is None or total.high is None:
            return None
        least, limit = total.high - self._spare_cache, self.memory_capacity
        return (total.low, limit) if limit is not None and least <= limit < total.high else (total.low, total.high)

    @property
    def _spare_cache(self) -> float:
        """Bytes of cache on the fullest accelerator beyond one request; 0 in training."""
        if self.stored is None or self.stored.job.workload.kind != "serve":
            return 0.0
        from clusterspec.cost.memory.fullest import spare_cache

        return spare_cache(self.stored)

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
        return self.serves_apart and self.stored is not None and self.stored.job.layout != self.design.layout

    @property
    def serves_apart(self) -> bool:
        """Whether prefill and decode have engines of their own."""
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
        if self.memory_bytes is None or self.memory_capacity is None:
            return None
        return self.memory_bytes <= self.memory_capacity

    @property
    def surely_fits(self) -> bool | None:
        """Whether the upper end of the memory range is at most the capacity; None if either is not known."""
        if self.memory_range is None or self.memory_capacity is None:
            return None
        return self.memory_range[1] <= self.memory_capacity

    @property
    def step_seconds(self) -> float | None:
        """Seconds of one step."""
        return self.step.seconds if self.step else None

    @cached_property
    def step_time_range(self) -> tuple[float, float] | None:
        """The range in seconds that should contain four in five measured steps; for a measured job, the range of its
        measurements.
        """
        workload, layout = self.design.workload, self.design.layout
        if self.step is None or workload is None or layout is None:
            return None
        from clusterspec.cost.estimate import highest_mfu, measured_step, range_figures, step_range

        highest, measured = highest_mfu(self.design), measured_step(self.design)
        if measured is not None and measured.matches_measured_time(self.step.seconds):
            return self.step.seconds / (1 + measured.spread), self.step.seconds * (1 + measured.spread)
        gained = range_figures(self.design, self.step.seconds)
        return step_range(
            self.step,
            bool(workload.model.experts),
            layout.software is not None,
            hypot(*(figure.value for _, figure in gained)),
            self.mfu / highest if self.mfu and highest else 0.0,
        )

    @property
    def mfu_range(self) -> tuple[float, float] | None:
        """The MFU at the slow and at the fast end of the range of the step time; None if it is not known."""
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


# The assumptions of a plan, with their reasons


def plan_assumptions(plan: Plan) -> tuple[Assumption, ...]:
    """The assumptions of the design, then those of memory and time, each key once."""
    found = list(plan.design.assumptions)
    parts: list[Iterable[Assumption]] = []
    if plan.stored is not None:
        from clusterspec.cost.memory.explain import memory_assumptions  # a check explains no term

        parts.append(memory_assumptions(plan.stored.job, plan.stored.rank))
    if plan.serving is not None:
        parts.append(_serving_assumptions(plan, plan.serving))
    if plan.step is not None:
        from clusterspec.cost.estimate import range_figures

        parts.append(
            (
                *plan.step.rates.assumptions,
                *_assumed_figures(_time_figures(plan)),
                *_assumed_figures(range_figures(plan.design, plan.step.seconds)),
            )
        )
    for part in parts:
        keys = {key for key, _, _ in found}
        found += [each for each in part if each[0] not in keys]
    return tuple(found)


def _serving_assumptions(plan: Plan, times: ServingTimes) -> Iterator[Assumption]:
    """The assumed figures of serving, with those of the software on the accelerator."""
    from clusterspec.cost.serving.constants import ASSUMED  # a training plan needs none of its modules
    from clusterspec.cost.serving.host import compiled_figure, host_figures

    cluster, layout = plan.design.cluster, plan.design.layout
    assert cluster is not None and layout is not None  # what a timed plan has
    first = (times.compiled_first,) if times.compiled_first is not None else ()
    compiled = compiled_figure(layout.stack, layout.software_year)
    launches = (compiled,) if compiled is not None else ()
    figures = (*host_figures(layout.stack, cluster.accelerator.architecture), *launches, *ASSUMED, *first)
    return _assumed_figures((one.origin.key, one) for one in figures if isinstance(one.origin, Assumed))


def _time_figures(plan: Plan) -> Iterator[tuple[str, Figure]]:
    """The figures of accelerator and software in the order of their entries, and those of the kernels by name."""
    cluster, workload, step = plan.design.cluster, plan.design.workload, plan.step
    assert cluster and workload and step  # what a timed plan has
    stack = step.software.stack
    yield from ((f"{cluster.accelerator.id} {name}", figure) for name, figure in step.rates.figures.items())
    yield from ((f"{stack.id} {name}", figure) for name, figure in stack.achievable.items())
    fixed = sorted(name for name in FIXED if not name.startswith("usual."))
    yield from ((f"{KERNELS} {name}", FIXED[name]) for name in fixed)
    model = workload.model
    biased = step.software.biases and (model.expert_biases or model.limited_activation)
    for group, held in ((RECURRENCE, model.linear), (SPARSE, model.sparse), (BIASES, biased)):
        if held:
            yield from ((f"{group} {name}", figure) for name, figure in sorted(CONSTANTS[group].items()))


def _assumed_figures(figures: Iterable[tuple[str, Figure]]) -> Iterator[Assumption]:
    """The assumed figures; of several with one key, the last."""
    for key, figure in dict(figures).items():
        if isinstance(figure.origin, Assumed):
            yield key, figure, figure.origin.why
