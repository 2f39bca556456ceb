"""Results of a search over a fleet: which job on which pool with how many nodes."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.records import asdict, dataclass
from clusterspec.results import Input, Json, Result, Tool, common_fields, result_repr
from clusterspec.results.search import Section

UNSEARCHED = "not searched"
"""The reason for a choice without a layout: the best assignments did not require a search."""


@dataclass(frozen=True)
class JobOption:
    """The best layout of a job on some nodes of a pool.

    ``elapsed`` is the time of its run in seconds with the pauses in which other jobs have the nodes. ``cost`` is the
    cost of a training run, or of the nodes of a serving plan over the term, in the currency of the spec; ``energy`` in
    joules of IT power at full load likewise. ``missed`` are the targets that it misses, with both figures; ``why`` is
    the reason where there is no layout.
    """

    job: str
    pool: str
    nodes: int
    layout: Section | None = None
    disaggregated: Json | None = None
    step_time: float | None = None
    mfu: float | None = None
    elapsed: float | None = None
    serving: Json | None = None
    memory: float | None = None
    surely_fits: bool | None = None
    cost: float | None = None
    energy: float | None = None
    missed: tuple[str, ...] = ()
    why: str = ""
    rl: Json | None = None
    """In reinforcement learning: the keys of `workload.rl` that place rollout."""
    least: float | None = None
    """For an option that was not searched: the run time in seconds, including pauses, with all accelerators at peak."""
    store_wait: float = 1.0
    """In an assignment: the factor by which run time, cost and energy of the job grow because it waits for a shared
    store.
    """

    as_written: bool = False
    """Whether the job is kept as written, because it has engines on several pools."""

    def has_same_nodes(self, other: JobOption | None) -> bool:
        """Whether another option runs the same job on the same number of nodes of the same pool."""
        return other is not None and (self.job, self.pool, self.nodes) == (other.job, other.pool, other.nodes)

    @property
    def is_usable(self) -> bool:
        """Whether it has a layout and misses no target."""
        return self.layout is not None and not self.missed

    def to_json(self) -> Json:
        return asdict(self) | {
            "layout": dict(self.layout) if self.layout is not None else None,
            "missed": list(self.missed),
            "why": self.why or None,
        }


@dataclass(frozen=True)
class Assignment:
    """One option for every job. ``objective`` is the minimized sum. ``gap`` bounds the share by which the objective of
    a better assignment could be lower; 0 if none is better.
    """

    jobs: Mapping[str, JobOption]
    objective: float
    gap: float | None

    def to_json(self) -> Json:
        jobs = {
            name: {key: value for key, value in each.to_json().items() if key != "job"}
            for name, each in self.jobs.items()
        }
        return {"jobs": jobs, "objective": self.objective, "gap": self.gap}


@dataclass(frozen=True)
class FleetSearchReport(Result):
    """The best assignments of the jobs of a fleet, best first, and all options that were compared.

    ``unit`` applies to the objective; ``present`` is the assignment of the spec, None if it has no value. ``why``
    is the reason where there is no assignment.
    """

    tool: Tool
    input: Input
    name: str
    objective: str
    unit: str
    assignments: tuple[Assignment, ...]
    present: Assignment | None
    options: tuple[JobOption, ...]
    currency: str = ""
    why: str = ""

    __repr__ = result_repr

    def to_json(self) -> Json:
        return common_fields(self.tool, self.input) | {
            "name": self.name,
            "objective": self.objective,
            "unit": self.unit,
            "assignments": [each.to_json() for each in self.assignments],
            "present": self.present.to_json() if self.present else None,
            "options": [each.to_json() for each in self.options],
            "currency": self.currency or None,
            "why": self.why or None,
        }
