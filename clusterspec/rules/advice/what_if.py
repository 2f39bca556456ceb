"""Estimates of the same job with some keys of the spec changed: other layouts, workloads and fabrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice

from clusterspec.cluster.groups import axis_placement
from clusterspec.cluster.legality import forbids_pipeline
from clusterspec.cluster.model import Cluster, Design, ScaleOut
from clusterspec.cluster.variation import Changes, design_with_keys
from clusterspec.cost.plan import Plan
from clusterspec.quantity import RATE, Quantity
from clusterspec.records import dataclass, replace
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.words import changed_keys
from clusterspec.units import display, display_bits, percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.tables import Tables
    from clusterspec.cost.term import MemoryUse
    from clusterspec.spec.model import LayoutSpec

TRIED = 8
"""Layouts estimated for one piece of advice; each takes a few milliseconds."""
FULLEST = 0.95
"""Share of the memory above which no layout is offered, since the allocator fragments memory."""
FULL = (Quantity(1.0, "1", "1:1"),)
INTERLEAVES = "requires.interleaved_micro_batch_groups"
"""A condition that only frameworks with interleaved stages have."""
MOST_IDLE = 0.5
"""Idle share of a step above which the pipeline itself is the flaw; published runs stay at or below it."""
NOTICEABLE = 0.02
"""Share of a step below which a gain is within the error of the model."""


@dataclass(frozen=True)
class Alternative:
    """Another layout of the job: the changed keys of the layout, and its plan with memory.

    ``tables`` of another plan are reused for the times, which are computed on first use: most layouts tried do not fit.
    """

    changes: Mapping[str, object]
    stored: Plan
    tables: Tables | None = None
    written: LayoutSpec | None = None
    """The layout as the spec states it; changed keys may contradict stated ones."""

    @cached_property
    def plan(self) -> Plan:
        """The plan; a layout that cannot run has no times."""
        from clusterspec.cost.estimate import legal_times

        return legal_times(self.stored, self.tables)

    def with_memory(self) -> Alternative:
        """The alternative with the memory of its plan counted."""
        from clusterspec.cost.estimate import plan_with_memory

        stored = plan_with_memory(self.stored.design)
        whole = replace(
            self.plan,
            parameters=stored.parameters,
            active_parameters=stored.active_parameters,
            stored=stored.stored,
        )
        other = replace(self, stored=stored)
        vars(other)["plan"] = whole  # a cached property, of which the times are known
        return other

    @property
    def words(self) -> str:
        """The changed keys as written in a spec, such as `tp: 8, pp: 4`, with dp if the spec states another value, and
        with the stated keys to remove.
        """
        removed = [key for key, value in self.changes.items() if value is None and getattr(self.written, key, None)]
        return changed_keys({**self.changes, **self._changed_replicas}, removed)

    @property
    def _changed_replicas(self) -> Mapping[str, int]:
        """The new dp as a change, if the spec states another dp; else empty."""
        stated, layout = self.written.dp if self.written else None, self.stored.design.layout
        return {} if stated is None or layout is None or layout.dp == stated else {"dp": layout.dp}

    def idle_nodes(self, cluster: Cluster) -> int:
        """The nodes of a cluster that the layout leaves without work."""
        layout = self.stored.design.layout
        return cluster.nodes - layout.nodes if layout is not None else 0

    @property
    def step_seconds(self) -> float:
        """Seconds per step; infinite if that is not known."""
        return self.plan.step_seconds or float("inf")

    @property
    def memory_bytes(self) -> float | None:
        """Bytes on the fullest rank."""
        return self.stored.memory_bytes

    @property
    def fits(self) -> bool:
        """Whether the layout can run, and its predicted memory is known and takes at most the share `FULLEST` of the device."""
        return fits_with_reserve(self.stored)

    @property
    def surely_fits(self) -> bool:
        """Whether the layout can run even if its memory lies at the high end of its range."""
        found, limit = self.stored.memory_range, self.stored.memory_capacity
        return self.fits and (found is None or limit is None or found[1] <= limit)

    @property
    def fits_in_memory(self) -> bool:
        """Whether the predicted memory is known and takes at most the share `FULLEST` of the device, even of a layout that cannot run."""
        return _leaves_reserve(self.stored)


def fits_with_reserve(plan: Plan) -> bool:
    """Whether a layout can run, and its predicted memory is known and takes at most the share `FULLEST` of the device."""
    return not plan.refused and _leaves_reserve(plan)


def _leaves_reserve(plan: Plan) -> bool:
    """Whether the predicted memory is known and takes at most the share `FULLEST` of the device."""
    stored = plan.stored
    if stored is None:
        return False
    return stored.capacity is None or stored.total <= FULLEST * stored.capacity.value


class WhatIf:
    """Estimates of a design with changed keys.

    Each costs one more estimate, so rules use it only after they found a flaw. ``plan`` is the estimate of the design
    itself. ``timed`` is None if the plan's times depend on a figure reported as wrong. ``advises`` is false where nobody
    reads the remedies of the findings.
    """

    def __init__(
        self, design: Design, legality: Legality | None, plan: Plan | None, timed: Plan | None, *, advises: bool = True
    ) -> None:
        self.design = design
        self.advises = advises
        self._legality = legality
        self._plan = plan
        self._timed = timed
        self._estimated: list[tuple[Changes, Plan | None]] = []

    @property
    def step_time(self) -> float | None:
        """Seconds per step of the design itself; None if not known."""
        return self._timed.step_seconds if self._timed else None

    @property
    def memory(self) -> MemoryUse | None:
        """The memory of the fullest accelerator of the design itself; None if not known."""
        return self._plan.memory if self._plan else None

    @property
    def refused(self) -> bool:
        """Whether the present design cannot run; then no times are compared with it."""
        return self._plan is not None and bool(self._plan.refused)

    def with_layout(self, **changes: object) -> Plan | None:
        """The plan with some keys of the layout changed and dp derived again; None if it cannot be estimated."""
        return self.estimate(_layout_keys(changes)) if self.design.spec.layout is not None else None

    def with_workload(self, **changes: object) -> Plan | None:
        """The plan with some keys of the workload changed; None if it cannot be estimated."""
        if self.design.spec.workload is None:
            return None
        return self.estimate({("workload", key): value for key, value in changes.items()})

    def with_scale_out(self, **changes: object) -> Plan | None:
        """The plan with some keys of the fabric changed; None if it cannot be estimated."""
        if self.design.spec.cluster is None:
            return None
        return self.estimate({("cluster", "scale_out", key): value for key, value in changes.items()})

    def estimate(self, changes: Changes) -> Plan | None:
        """The plan with some keys of the spec changed; None if it cannot be estimated. Several rules, and the condition
        under which a rule is silent, ask for the same changes; each change is estimated once.
        """
        from clusterspec.cost.estimate import legal_times

        for known, plan in self._estimated:
            if known == changes:
                return plan
        stored = self._plan_with_memory(changes)
        plan = legal_times(stored, self._tables) if stored is not None else None
        self._estimated.append((changes, plan))
        return plan

    def _plan_with_memory(self, changes: Changes) -> Plan | None:
        """The plan with some keys of the spec changed, without times; None if it cannot be estimated."""
        from clusterspec.cost.estimate import plan_with_memory

        design = design_with_keys(self.design, changes)
        return plan_with_memory(design) if design.cluster and design.workload and design.layout else None

    @property
    def _tables(self) -> Tables | None:
        return self._plan.tables if self._plan else None

    def fitting_alternatives(self, candidates: Iterable[Mapping[str, object]]) -> list[Alternative]:
        """The changes to the layout that can run and use at most `FULLEST` of the memory, the fastest first."""
        return fastest_fitting(self.estimated_alternatives(candidates))

    def faster_alternatives(self, candidates: Iterable[Mapping[str, object]], least: float) -> list[Alternative]:
        """The alternatives of `fitting_alternatives` that save at least the share ``least`` of the present step,
        fastest first.

        The step time of training does not depend on memory, so memory is computed only for alternatives that save
        enough.
        """
        now, work = self.step_time, self.design.workload
        if now is None or work is None or work.kind != "train" or work.rl is not None:
            found = self.fitting_alternatives(candidates) if now else []
            return [each for each in found if 1 - each.step_seconds / now >= least] if now else []
        found = [each for each in self._timed_alternatives(candidates) if 1 - each.step_seconds / now >= least]
        return fastest_fitting(each.with_memory() for each in found)

    def _timed_alternatives(self, candidates: Iterable[Mapping[str, object]]) -> Iterator[Alternative]:
        """Alternatives for the first `TRIED` changes to the layout that the framework allows, without the memory of
        their plans.
        """
        tried = (changes for changes in candidates if self.allows(changes)) if self.design.spec.layout else iter(())
        for changes in islice(tried, TRIED):
            design = design_with_keys(self.design, _layout_keys(changes))
            if design.cluster and design.workload and design.layout:
                yield Alternative(changes, Plan(design), self._tables, self.design.spec.layout)

    def estimated_alternatives(
        self, candidates: Iterable[Mapping[str, object]], most: int | None = TRIED
    ) -> list[Alternative]:
        """Alternatives for the first ``most`` changes to the layout that the framework allows (all if None), in the
        given order.
        """
        if self.design.spec.layout is None:
            return []
        tried = (changes for changes in candidates if self.allows(changes))
        plans = ((changes, self._plan_with_memory(_layout_keys(changes))) for changes in islice(tried, most))
        written = self.design.spec.layout
        return [Alternative(changes, plan, self._tables, written) for changes, plan in plans if plan is not None]

    def allows(self, changes: Mapping[str, object]) -> bool:
        """Whether a change violates no condition of the framework that the layout satisfies."""
        layout, legality = self.design.layout, self._legality
        if layout is None or legality is None or not legality.allows(changes):
            return False
        pp, sharding = changes.get("pp", layout.pp), changes.get("sharding", layout.sharding)
        return pp == 1 or not forbids_pipeline(layout.capabilities, str(sharding))

    def severity(self, loss: float | None, unknown: str = "error", most: str = "error") -> str:
        """The severity of a flaw that costs a share of the step, at ``most`` this one; ``unknown`` where the share is
        not known.
        """
        from clusterspec.rules.knowledge.shares import step_severity  # only for findings

        return step_severity(loss, self._timed, unknown, most)

    def saved_share(self, alternative: Alternative) -> float | None:
        """The share of the present step time that an alternative saves; None if either time is not known."""
        now = self.step_time
        return 1 - alternative.step_seconds / now if now and alternative.plan.step else None

    @cached_property
    def hsdp(self) -> Alternative | None:
        """The same layout with hsdp, with one shard group per domain, if it is legal, fits and is noticeably faster
        than fsdp; else None.
        """
        cluster, workload, layout = self.design.cluster, self.design.workload, self.design.layout
        if cluster is None or layout is None or workload is None or workload.kind != "train":
            return None
        if layout.sharding != "fsdp":
            return None
        group = cluster.ranks_per_domain // layout.tp
        placement = axis_placement(cluster, layout, "shard")
        if placement is None or placement.domains < 2 or group < 2 or (layout.dp * layout.cp) % group:
            return None
        found = self.faster_alternatives([{"sharding": "hsdp", "shard_group": group}], NOTICEABLE)
        saving = self.saved_share(found[0]) if found else None
        return found[0] if saving is not None and saving > NOTICEABLE else None

    @cached_property
    def interleaved(self) -> Alternative | None:
        """The fastest layout with more virtual stages, where the framework is known to interleave and it is noticeably
        faster; else None.
        """
        layout, workload = self.design.layout, self.design.workload
        if layout is None or workload is None or not layout.capabilities.has(INTERLEAVES):
            return None
        layers, left = divmod(workload.model.layers, layout.pp)
        chunks = [size for size in range(layout.virtual_stages + 1, layers + 1) if not left and layers % size == 0]
        tried = dict.fromkeys((*chunks[:2], *chunks[-1:]))
        found = self.faster_alternatives(
            ({"virtual_stages": size, "schedule": "interleaved", "stage_layers": None} for size in tried), NOTICEABLE
        )
        saving = self.saved_share(found[0]) if found else None
        return found[0] if saving is not None and saving > NOTICEABLE else None

    def idle_severity(self, idle: float, *, avoidable: bool = True) -> str:
        """The severity of an idle share of the step.

        The finding is an error if interleaved stages would save enough of the step, or if the idle share exceeds
        `MOST_IDLE`. It is a note where the stated batch makes the idle share unavoidable (not ``avoidable``) and
        interleaved stages are not faster.
        """
        better = self.interleaved
        if better is not None and self.severity(self.saved_share(better)) == "error":
            return "error"
        if better is None and not avoidable and idle <= MOST_IDLE:
            return "note"
        return "error" if idle > MOST_IDLE else self.severity(idle, most="warning")

    def with_nic_rate(self, rate: float) -> tuple[float | None, str]:
        """The share of the step that NICs of another rate (B/s per direction) would save, and a clause with that
        figure; None and an empty clause where a time is unknown.
        """
        now, then = self.step_time, self._step_with_nic_rate(rate)
        if not now or then is None:
            return None, ""
        saved = 1 - then / now
        times = f"{display(now, 's')} per step, {display(then, 's')} with it"
        return saved, f"; predicted {times} ({percent(max(0.0, saved), 2)} less)"

    def at_half_rate(self, fabric: ScaleOut) -> float | None:
        """Seconds of a step with NICs of half the rate; None if the time is not known."""
        return self._step_with_nic_rate(fabric.nic_bandwidth.value / 2)

    def _step_with_nic_rate(self, rate: float) -> float | None:
        other = self.with_scale_out(nic_bandwidth=Quantity(rate, RATE, display_bits(rate))) if self.step_time else None
        return other.step_seconds if other else None

    @cached_property
    def at_full_bandwidth(self) -> tuple[float | None, str]:
        """The share of the step that a full-bandwidth fabric would save, and a clause with that figure; None and an
        empty clause where a time is unknown.
        """
        now, full = self.step_time, self.with_scale_out(oversubscription=FULL, levels=None)
        if not now or full is None or full.step_seconds is None:
            return None, ""
        saved = 1 - full.step_seconds / now
        times = f"{display(now, 's')} per step, {display(full.step_seconds, 's')} at 1:1"
        return saved, f"; predicted {times} ({percent(saved, 2)} less)"

    def comparison_text(self, alternative: Alternative) -> str:
        """The comparison as text: `predicted 3.1 s per step, 1.9 s with tp: 8, pp: 4 (39 % less; 61.2 GB per rank)`."""
        now, saving = self.step_time, self.saved_share(alternative)
        memory = f"; {display(alternative.memory_bytes, 'B')} per rank" if alternative.memory_bytes else ""
        if now is None or saving is None:
            return f"{alternative.words} fits{memory}"
        less = f"{percent(abs(saving), 2)} {'less' if saving > 0 else 'more'}"
        return f"predicted {display(now, 's')} per step, {display(alternative.step_seconds, 's')} with `{alternative.words}` ({less}{memory})"

    def comparison(self, alternative: Alternative | None) -> str:
        """The comparison as the end of a sentence; empty without an alternative, or where its time is not known."""
        known = alternative is not None and self.saved_share(alternative) is not None
        return f"; {self.comparison_text(alternative)}" if alternative is not None and known else ""


def _layout_keys(changes: Mapping[str, object]) -> Changes:
    """Changed keys of the layout as keys of the spec; dp is derived again if it is not among them."""
    return {("layout", key): value for key, value in ({"dp": None} | dict(changes)).items()}


def fastest_fitting(alternatives: Iterable[Alternative]) -> list[Alternative]:
    """The layouts that fit, fastest first."""
    return sorted((each for each in alternatives if each.fits), key=lambda alternative: alternative.step_seconds)
