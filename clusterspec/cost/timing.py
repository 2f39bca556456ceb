"""The time of one optimizer step of a design, with everything that it was worked out from."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.catalog.entries import Stack
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cost.compute.rates import Rates, rates
from clusterspec.cost.compute.software import Software
from clusterspec.cost.schedule.clock import Clock
from clusterspec.cost.schedule.step import Step, step
from clusterspec.cost.traffic.wire import NoRoadError, Wire


@dataclass(frozen=True, slots=True)
class Job:
    """The parts that a step's time needs, all of them there."""

    cluster: Cluster
    workload: Workload
    layout: Layout
    stack: Stack

    @classmethod
    def of(cls, design: Design) -> Job | None:
        """None where a part is missing, the work is not training, or no stage holds anything."""
        cluster, workload, layout = design.cluster, design.workload, design.layout
        if cluster is None or workload is None or layout is None or layout.stack is None:
            return None
        if workload.kind != "train" or layout.micro_batches is None or not layout.stage_layers:
            return None
        return cls(cluster, workload, layout, layout.stack)

    @property
    def accelerators(self) -> float:
        """Packages that the layout uses."""
        return self.layout.ranks / self.cluster.ranks_per_accelerator


@dataclass(frozen=True, slots=True)
class Timed:
    """One step, the rates of one rank, and the clock that both came together in."""

    job: Job
    step: Step
    rates: Rates
    clock: Clock


def timed(design: Design, wire: Wire | None = None) -> Timed | None:
    """The time of a step; None where the design lacks what it takes (`Job.of`), where the accelerator
    has no peak at the precision of the work, or where nothing joins the ranks of a group.

    ``wire`` may be one made for the same cluster and layout, whose collectives then are not timed again.
    """
    job = Job.of(design)
    if job is None:
        return None
    software = Software.of(job.stack)
    reached = rates(job.cluster, job.workload, software, job.layout.software_year)
    if reached is None:
        return None
    clock = _clock(job, software, reached, wire or Wire(job.cluster, job.layout))
    try:
        return Timed(job, step(job.workload, job.layout, clock), reached, clock)
    except NoRoadError:
        return None


def _clock(job: Job, software: Software, reached: Rates, wire: Wire) -> Clock:
    """The clock of a layout, by what its overlap says (`cluster.model.Overlap`)."""
    overlap = job.layout.overlap
    hides = {"tp": overlap.tp == "full", "cp": overlap.cp, "ep": overlap.ep, "dp": overlap.dp, "pp": overlap.pp}
    refused = frozenset({"tp"} if overlap.tp in ("none", 0) else ())
    pipelined = 0.0 if refused else overlap.tp if isinstance(overlap.tp, int | float) else software.tensor_hidden
    return Clock(reached.speed, software, wire, job.layout, hides, refused, pipelined)
