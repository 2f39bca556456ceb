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
    clock = _clock(design, job, software, reached, wire or Wire(job.cluster, job.layout))
    try:
        return Timed(job, step(job.workload, job.layout, clock), reached, clock)
    except NoRoadError:
        return None


def _clock(design: Design, job: Job, software: Software, reached: Rates, wire: Wire) -> Clock:
    """What may hide is what the layout allows and the software can; what the author wrote counts as it stands."""
    said = design.spec.layout.overlap if design.spec.layout else None
    written = {axis: getattr(said, axis) for axis in job.layout.overlap} if said else {}
    able = {"dp": software.hides("dp"), "pp": software.hides("pp")}
    hides = {
        axis: allowed and (written.get(axis) is not None or able.get(axis, True))
        for axis, allowed in job.layout.overlap.items()
    }
    refused = frozenset(axis for axis, allowed in written.items() if allowed is False)
    pipelined = 0.0 if "tp" in refused else software.tensor_hidden
    return Clock(reached.speed, software, wire, job.layout, hides, refused, pipelined)
