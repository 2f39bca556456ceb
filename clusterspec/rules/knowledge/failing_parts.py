"""What the failure of a part does to a job, by class of parts.

All parts of a class have the same effect on the job, so one degraded machine is estimated for each class. A part whose
loss leaves bandwidth slows the job until it is repaired; any other loss stops it, and it starts again from the last
checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from clusterspec.cluster.clos import FIXED_ENDS
from clusterspec.cluster.model import Assumption, Design
from clusterspec.cluster.variation import with_values
from clusterspec.cost.class_rates import MachineFailures
from clusterspec.cost.estimate import legal_estimate
from clusterspec.cost.failures import PartRate
from clusterspec.cost.feed_loss import POWER
from clusterspec.cost.formulas.failures import goodput
from clusterspec.cost.interruptions import REPAIR, Interruptions, Recovery, job_interruptions
from clusterspec.cost.part_classes import SCALE_UP, SCALE_UP_SWITCH, PartClass
from clusterspec.cost.standby import ONE_NODE, is_provided
from clusterspec.quantity import HOUR, YEAR, Figure
from clusterspec.records import NamedTuple, replace
from clusterspec.results.faults import NONE, SLOWS, SOFTWARE, STOPS, FaultRow, Stock
from clusterspec.rules.knowledge.failing_engines import with_engines
from clusterspec.rules.knowledge.failures import poisson_percentile
from clusterspec.source import Assumed, Path, Written
from clusterspec.spec.model import ClusterSpec, OperationsSpec
from clusterspec.units import display, percent, plural

SAME = 1e-9
"""Relative difference of step times up to which they are equal; it absorbs rounding."""
SURE = 0.95
NOT_STOCKED = (SOFTWARE, "rack", "power feed", "storage system")
"""Classes that are repaired in place; no spares of them are stocked."""
Cut = tuple[str, float]
"""A tier and the share of its bandwidth that a failure removes."""


class HoursOfFailure(NamedTuple):
    """Hours that one failure costs a running job: stopped or repeating steps, and by slower steps until the repair."""

    stopped: float
    slowed: float


class FailingMachine:
    """The machine of a design, and the failures of its parts.

    ``step`` is the step time in seconds, None without a training job that can run; ``parameters`` is the size of the
    model. ``used`` is the share of the time in which the machine is in use; failures at other times cost a job nothing.
    """

    def __init__(self, design: Design, step: float | None, parameters: float | None) -> None:
        assert design.cluster is not None
        self.design, self.cluster, self.step = design, design.cluster, step
        self.written = design.spec.cluster or ClusterSpec()
        self.operations = design.spec.operations or OperationsSpec()
        found = MachineFailures.from_design(design)
        self.known, self.uncounted, self.rates = found, found.uncounted, found.rates
        self.fabric, self.nodes, self.levels = found.machine.fabric, found.machine.nodes, found.machine.levels
        self.accelerators = found.machine.accelerators
        self.classes = tuple(with_engines(design, part) for part in found.classes)
        self.recovery = Recovery.from_design(design, parameters) if design.layout is not None else None
        self.kept: Interruptions | None = None
        if step is not None and design.layout is not None:
            self.kept = job_interruptions(design, parameters, step=step, failures=found)
        stated = design.spec.procurement.utilization if design.spec.procurement else None
        self.used = 1.0 if stated is None else stated
        self._steps: dict[tuple[Cut, ...], float | None] = {}

    def goodput_of_year(self, failures: float = 1.0, hours: float = 1.0) -> float:
        """The goodput in a year with ``failures`` times the expected number of stops, each ``hours`` times as long as
        expected.
        """
        kept = self.kept
        assert kept is not None
        between, half = kept.between.value / max(failures, RARELY), kept.interval.value / 2
        restart = (kept.restart.value + half) * hours / max(failures, RARELY) - half
        return goodput(kept.interval.value, between, kept.checkpoint.value, max(0.0, restart))

    @property
    def stops(self) -> Iterator[tuple[PartClass, PartRate, float]]:
        """The classes whose failures stop the job, their rates, and the hours that one failure costs a running job."""
        rates = self.failures()
        for part in self.classes:
            rate, seconds = rates.get(part.name), 0.0
            if part.interrupts_job and rate is not None:
                seconds = self.stopped_seconds(part, self.repair_seconds(rate)) or 0.0
                yield part, rate, seconds / HOUR

    @property
    def shares_lost(self) -> tuple[float, float]:
        """Factors for the hours of failures that stop the job, and of failures that slow it.

        The hours per failure are computed as if the job always ran, but a stopped job cannot be stopped again or
        slowed.
        """
        kept = self.kept
        if kept is None:
            return self.used, self.used
        each = (kept.restart.value + kept.interval.value / 2) / kept.between.value
        stopped = (kept.stopped_share + kept.repeated_share) / each if each else 1.0
        return stopped * self.used, (1 - kept.stopped_share) * self.used

    @property
    def repair(self) -> Figure:
        """Seconds until a failed part is replaced."""
        stated = self.operations.repair_time
        return Figure(stated.value, "s", Written("operations.repair_time")) if stated else REPAIR

    def repair_seconds(self, rate: PartRate | None) -> float:
        """Seconds until a part is replaced: as stated for all parts, else the known time for this kind of part."""
        known = rate.repair if rate is not None else None
        return known.value if known is not None and self.operations.repair_time is None else self.repair.value

    def rows(self, hour: float | None) -> Iterator[FaultRow]:
        """A row for each class; ``hour`` is the cost of an hour of the machine."""
        rates, (stopped, slowed) = self.failures(), self.shares_lost
        for part in self.classes:
            step = self.step if part.lost >= 1 else self.degraded_step(part)
            rate = rates.get(part.name)
            failures = rate.yearly if rate is not None else None
            each = self.hours_of_failure(part, step, self.repair_seconds(rate))
            hours = None
            if failures is not None and each is not None:
                hours = min(failures * (each.stopped * stopped + each.slowed * slowed), YEAR / HOUR)
            yield FaultRow(
                part=part.name,
                count=part.count,
                failures=failures,
                likely=(rate.low, rate.high) if rate is not None else None,
                effect=self._effect_text(part, step),
                lost=part.lost,
                step_time=None if part.lost >= 1 else step,
                hours=hours,
                cost=hours * hour if hours is not None and hour is not None else None,
                why=part.why,
                each=each.stopped + each.slowed if each is not None else None,
                slowed=failures * each.slowed * slowed if failures is not None and each is not None else None,
            )

    def failures(self) -> dict[str, PartRate]:
        """The yearly failures of each class whose rate is known."""
        return dict(self.known.yearly)

    def has_fixed_ends(self, link: str) -> bool:
        """Whether the cables of a class of links are copper or active optical cables, without separate modules."""
        return self.rates.cable_type(link) in FIXED_ENDS

    def _effect_text(self, part: PartClass, step: float | None) -> str:
        return STOPS if part.lost >= 1 else self.bandwidth_loss_effect(step, part.lost)

    def bandwidth_loss_effect(self, step: float | None, lost: float) -> str:
        """The effect of a bandwidth loss that does not stop the job; ``step`` is the step time with the loss."""
        if step is None or self.step is None:
            return SLOWS if lost else NONE
        return SLOWS if step > self.step * (1 + SAME) else NONE

    @property
    def repair_years(self) -> float:
        """Years until a failed part is replaced."""
        return self.repair.value / YEAR

    @staticmethod
    def cuts(*parts: PartClass) -> tuple[Cut, ...]:
        """The share of each tier's bandwidth that failed parts remove together; at worst, on different links."""
        taken: dict[str, float] = {}
        for part in parts:
            if part.lost and part.lost < 1:
                taken[part.tier] = taken.get(part.tier, 0.0) + part.lost
        return tuple(sorted(taken.items()))

    def degraded_step(self, *parts: PartClass) -> float | None:
        """Step time in seconds while parts are failed that the job does not need in order to run; None if unknown."""
        cuts = self.cuts(*parts)
        if self.step is None or not cuts:
            return self.step
        if cuts not in self._steps:
            design = self.design
            for tier, lost in cuts:
                design = self.degraded_design(tier, lost, design)
            self._steps[cuts] = legal_estimate(design).whole_step.seconds
        return self._steps[cuts]

    def degraded_design(self, tier: str, lost: float, design: Design | None = None) -> Design:
        """The design (which may already be degraded) with a share of a tier's bandwidth, or of the power, removed."""
        design = design or self.design
        if tier == POWER:
            own = self.cluster.accelerator_cap or self.cluster.accelerator.power
            assert own is not None
            capped = replace(own, value=own.value * (1 - lost))
            return with_values(design, {("cluster", "accelerator_cap"): capped})
        if tier == SCALE_UP:
            inside = self.cluster.scale_up
            left = {name: getattr(inside, name).value * (1 - lost) for name in ("bandwidth", "peer_bandwidth")}
            return with_values(design, {("cluster", "scale_up", name, "value"): rate for name, rate in left.items()})
        out = self.cluster.scale_out
        assert out is not None
        if tier == "nic":
            path: Path = ("cluster", "scale_out", "nic_bandwidth", "value")
            return with_values(design, {path: out.nic_bandwidth.value * (1 - lost)})
        at = min(1 if tier == "pod" else 0, len(self.levels) - 1)
        tapered = tuple(
            replace(level, oversubscription=level.oversubscription / (1 - lost)) if index == at else level
            for index, level in enumerate(self.levels)
        )
        return with_values(design, {("cluster", "scale_out", "levels"): tapered})

    def hours_of_failure(self, part: PartClass, step: float | None, repair: float) -> HoursOfFailure | None:
        """Hours that a running job loses to one failure with a repair time of ``repair`` seconds; None without a job.

        A slowed job moves to standby nodes if that costs less than running slowly until the repair.
        """
        hours = self._moved_and_slowed_hours(part.nodes, part.held, step, repair)
        if hours is None:
            return None
        if part.interrupts_job:
            stopped = self.stopped_seconds(part, repair) or 0.0
            return HoursOfFailure(stopped / HOUR, hours[1] if part.restarts else 0.0)
        return HoursOfFailure(0.0, min(hours))

    def hours_lost(self, away: int, held: int, *, stops: bool, step: float | None, repair: float) -> float | None:
        """Hours that a running job loses to one failure; None without a job.

        The failure takes ``away`` nodes of the job and ``held`` nodes of the machine, and is repaired after ``repair``
        seconds. Until then a step takes ``step`` seconds, unless the job ``stops``.
        """
        hours = self._moved_and_slowed_hours(away, held, step, repair)
        if hours is None:
            return None
        return hours[0] if stops else min(hours)

    def _moved_and_slowed_hours(
        self, away: int, held: int, step: float | None, repair: float
    ) -> tuple[float, float] | None:
        """Hours that a failure costs a running job in two cases: if it moves to standby nodes and repeats half a
        checkpoint interval, and if it runs with steps of ``step`` seconds until the repair; None without a job.
        """
        if self.kept is None or self.recovery is None or self.step is None or step is None:
            return None
        moved = self.recovery.seconds(away, held, repair) + self.kept.interval.value / 2
        return moved / HOUR, repair * max(0.0, 1 - self.step / step) / HOUR

    def stopped_seconds(self, part: PartClass, repair: float) -> float | None:
        """Seconds that a running job loses to a failure that stops it, including half a checkpoint interval of repeated
        steps; None without a job.
        """
        if self.kept is None or self.recovery is None:
            return None
        return self.recovery.seconds_of(part, repair) + self.kept.interval.value / 2

    def waits_for_repair(self, away: int, held: int) -> bool:
        """Whether a job waits for the repair if a failure takes ``away`` of its nodes and ``held`` of the machine."""
        return self.recovery is not None and self.recovery.waits_for_repair(away, held)

    def repairs(self, rows: Iterable[FaultRow]) -> Mapping[str, int]:
        """For each part, the number in repair at the same time that is not exceeded in 95 % of the time."""
        rates = self.failures()
        known = [(row.part, row.failures) for row in rows if row.failures and row.count is not None]
        years = {part: self.repair_seconds(rates.get(part)) / YEAR for part, _ in known}
        return {part: poisson_percentile(number * years[part], SURE) for part, number in known}

    def stock(self, rows: Iterable[FaultRow], factor: float) -> Stock | None:
        """The spare parts for the stated lead time if hardware fails ``factor`` times as often; None without one."""
        stated = self.operations.stock
        if stated is None or stated.lead_time is None:
            return None
        years, sure = stated.lead_time.value / YEAR * factor, stated.percentile or SURE
        known = [(row.part, row.failures) for row in rows if row.failures and row.count is not None]
        parts = {part: poisson_percentile(number * years, sure) for part, number in known if part not in NOT_STOCKED}
        return Stock(sure, stated.lead_time.value, parts)

    def assumptions(self) -> tuple[Assumption, ...]:
        """The figures that the spec does not state."""
        of_job = self.kept.assumed if self.kept else ()
        figures = {
            each.origin.key: (each.origin.key, each, each.origin.why)
            for each in (self.repair, *of_job)
            if isinstance(each.origin, Assumed)
        }
        found: list[Assumption] = [*figures.values()]
        if any(part.name == SCALE_UP_SWITCH for part in self.classes) and not self.cluster.scale_up.switch_loss:
            found += [("cluster.scale_up.switch_loss", "stops", STOPPING)]
        return (*found, *self.rates.assumptions(self.classes))

    def notes(self) -> Iterator[str]:
        """Notes on what the rows omit."""
        if self.uncounted and self.nodes > 1:
            yield f"Links and switches are not counted: {self.uncounted}."
        known = self.failures()
        left_out = " Their hours are not part of the goodput." if self.kept else ""
        unknown = [part for part in self.classes if part.name not in known]
        for why, named in (
            ("No failure rate is known for", [part.name for part in unknown if part.used]),
            ("It is not known how many there are of", [part.name for part in unknown if not part.used]),
        ):
            if named:
                yield f"{why}: {', '.join(named)}.{left_out}"
        if self.kept is not None and self.used < 1:
            share = percent(self.used)
            yield f"Hours and costs count only the {share} of the time in which the machine is in use (`procurement.utilization`)."
        if self.kept is None:
            serves = self.design.workload is not None and self.design.workload.kind == "serve"
            lost = "The requests that a failure loses are not computed."
            yield lost if serves else "Hours lost need a training job whose step time can be computed."
        yield from self._notes_of_goodput()
        yield from self._notes_of_engines()
        yield from self._notes_of_idle_parts()

    def _notes_of_engines(self) -> Iterator[str]:
        """Notes on where the engines of a serving plan restart after a failure."""
        work = self.design.workload
        if work is None or work.kind != "serve" or self.recovery is None:
            return
        standby, repair = self.recovery.standbys, display(self.repair.value, "s")
        free = self.nodes * self.cluster.accelerators_per_node - self.accelerators
        if standby.total:
            nodes = f"{plural(standby.total, 'node')} without an engine"
            yield f"Engines that a failed node stops can start again on {nodes}, at once instead of after a repair of {repair}."
        elif is_provided(self.design):
            yield "Engines that a failed node stops start again on the node by which the provider replaces it."
        elif standby.provided:
            yield (
                "The spec leaves open whether there are spare nodes. With `spare_nodes: 0` the engines of a failed node "
                f"are out of service for {repair}."
            )
        else:
            others = f"{plural(free, 'accelerator')} without an engine"
            exception = f", except those that start again on {others}" if free else ""
            yield f"No standby node can replace a failed one: its engines are out of service for {repair}{exception}."

    def _notes_of_idle_parts(self) -> Iterator[str]:
        """The note that failures of idle nodes and accelerators are not counted."""
        work, idle = self.design.workload, self.cluster.all_nodes - self.nodes
        whole = self.nodes * self.cluster.accelerators_per_node
        free, other = whole - self.accelerators, " other" if idle else ""
        if not idle and not free:
            return
        nodes = [f"{idle:,} of {self.cluster.all_nodes:,} nodes"] if idle else []
        accelerators = [f"{free:,} of {whole:,}{other} accelerators"] if free else []
        one, serves = idle + free == 1, work is not None and work.kind == "serve"
        runs = ("runs" if one else "run") + " no engine" if serves else f"{'does' if one else 'do'} not run the job"
        alone = ", and of switches and links that only they use" if idle else ""
        yield f"Not counted: failures of {' and '.join((*nodes, *accelerators))} that {runs}{alone}."

    def _notes_of_goodput(self) -> Iterator[str]:
        """Notes on how failed nodes are replaced if the spec states no spares for them, and on frequent failures."""
        if self.kept is None or self.recovery is None:
            return
        if self.recovery.alone:
            yield (
                "There is no spare node: the stated `operations.restart_time` counts as the time until a failed node "
                "works again. State `operations.repair_time` if the job has to wait for a repair."
            )
        elif self.kept.standby is not None:
            yield (
                "The spec leaves open whether there are spare nodes. These figures assume that another node "
                "replaces a failed one. With "
                f"`spare_nodes: 0` the job waits {display(self.repair.value, 's')} for the repair."
            )
        elif self.recovery.standbys.provided and not self.recovery.standbys.total:
            yield "There is no spare node: these figures assume that the provider replaces a failed node within the restart time."
        elif (waits := self.recovery.share_without_standby(1, ONE_NODE)) and self.operations.recovery != "shrink":
            yield self._note_of_waits(waits)
        yield from _note_of_frequent_failures(self.kept)

    def _note_of_waits(self, share: float) -> str:
        """The note on the ``share`` of the job's nodes that no standby node can replace."""
        repair = display(self.repair.value, "s")
        if share >= 1:
            return f"No standby node can replace a failed one: the job waits {repair} for the repair."
        nodes = f"{round(share * self.nodes):,} of the {self.nodes:,} nodes of the job"
        return f"No standby node can replace one of {nodes}, since it is in another scale-up domain: the job waits {repair} for the repair."


def _note_of_frequent_failures(kept: Interruptions) -> Iterator[str]:
    """The note on failures that cost much of the running time, with the remedy."""
    between, restart, interval = kept.between.value, kept.restart.value, kept.interval.value
    apart = display(between, "s")
    if interval > between:
        yield (
            f"Checkpoints are {display(interval, 's')} apart and failures {apart}: most intervals end in a failure "
            "before they are saved. Save more often."
        )
    elif restart + interval / 2 > OFTEN * between:
        lost, shorter = display(restart + interval / 2, "s"), "Restart faster"
        if interval / 2 > restart:
            shorter = "Save more often"
        elif kept.mostly_waits:
            shorter = "Spare nodes shorten that"
        yield f"A failure takes {lost} of the job on average, after {apart} of running. {shorter}."


STOPPING = "no document that was read says that jobs of this platform run without a switch tray of their domain"
OFTEN = 0.2
"""Ratio of a failure's duration to the running time between failures above which a note suggests a remedy."""
RARELY = 1e-9
"""Smallest factor on the number of failures; it avoids a division by zero."""
