"""The result of a command on a fleet: the single results of its jobs, and the use, power and money of its pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from clusterspec.cluster.fleet import FreeGroups, NodeSet
from clusterspec.finding import Finding, Severity
from clusterspec.records import asdict, dataclass, field
from clusterspec.results import (
    BillReport,
    EstimateReport,
    Input,
    Json,
    Result,
    Tool,
    common_fields,
    counts_by_severity,
    result_repr,
)
from clusterspec.results.verdict import Purchase, Verdict, VerdictStatus
from clusterspec.source import Source
from clusterspec.spec.model import Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.procurement.cost import Cost
    from clusterspec.procurement.growth import Phase
    from clusterspec.results.decision import CostReport, DiffReport
    from clusterspec.results.full import FullReport

WORST_FIRST = (VerdictStatus.FAILS, VerdictStatus.NOT_JUDGED, VerdictStatus.RESERVATIONS, VerdictStatus.CLEAR)
OF_FILE = frozenset({"version", "tool", "input"})
"""Fields of a single result that describe the file."""


@dataclass(frozen=True)
class PoolUse:
    """The use of a pool: nodes with and without a job, watts of IT power at full load, and its cost over the term.

    ``used`` counts nodes of jobs that take turns once; ``used_share`` is the mean share of the nodes that have a job
    during the term. ``phases`` are the phases of its growth, ``free`` the nodes without a job by domain and leaf.
    ``parts`` divides the cost by name, ``missing`` lists parts without a price. Unknown figures are None. ``sets`` are
    the jobs' nodes in order of position; ``spares`` come in addition to ``nodes``.
    """

    nodes: int | None
    used: int
    idle: int | None
    used_share: float | None
    power: float | None
    cost: float | None
    currency: str
    phases: tuple[Phase, ...] = ()
    free: tuple[FreeGroups, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    machine: str = ""
    spares: int = 0
    sets: tuple[NodeSet, ...] = ()


@dataclass(frozen=True)
class JobUse:
    """The part of a fleet that a job has: its pool, nodes, share of the term, and its part of the pool's cost.

    ``elapsed`` is the time of its run in seconds with the pauses in which other jobs have its nodes, and in which it
    waits for the storage system that other jobs fill: ``store_wait`` is that factor, 1 if it does not wait.
    ``link_share`` is the share that others leave it of the link to its engines on other pools. ``beside`` has the nodes
    of these engines. ``unit_cost`` is the cost of its run, else of a million tokens.
    """

    pool: str | None
    nodes: int | None
    share: float
    elapsed: float | None
    billed: float | None
    beside: Mapping[str, int | None] = field(default_factory=dict)
    unit_cost: float | None = None
    store_wait: float = 1.0
    link_share: float = 1.0


@dataclass(frozen=True)
class LinkUse:
    """The traffic of jobs over the link between two pools, in B/s per direction.

    ``rate`` is available to caches and weights; by job, ``mean`` is the average traffic and ``burst`` the traffic
    during a transfer.
    """

    between: tuple[str, ...]
    rate: float
    latency: float | None
    mean: Mapping[str, float]
    burst: Mapping[str, float]


@dataclass(frozen=True)
class FleetReport(Result):
    """The results of one command for all jobs of a fleet, and its pools.

    ``reports`` are the reports of jobs, or of pools if a command counts machines (``bom``); ``costs`` are by job.
    """

    tool: Tool
    input: Input
    name: str
    jobs: Mapping[str, JobUse]
    pools: Mapping[str, PoolUse]
    reports: Mapping[str, EstimateReport | BillReport | CostReport]
    pool_bills: Mapping[str, BillReport]
    estimates: Mapping[str, EstimateReport]
    costs: Mapping[str, Cost | None]
    findings: tuple[Finding, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    today: date | None = None
    spec: Spec | None = None
    links: tuple[LinkUse, ...] = ()
    told: Mapping[str, Verdict] = field(default_factory=dict)
    """The verdict of each job, with messages instead of names of rules."""
    shared_reasons: tuple[str, ...] = ()
    """Errors and warnings of pools and links that no job has, by the names of their rules."""
    shared_reasons_in_words: tuple[str, ...] = ()
    """The messages of these errors and warnings."""
    purchase: Purchase | None = None
    """For a procurement report: the amount for all pools, the gates before a signature, and the risks."""
    machines: Mapping[str, FullReport] = field(default_factory=dict)
    """For a procurement report: bill, cost and acceptance tests of each pool."""

    __repr__ = result_repr

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of a job, or the errors of the fleet, with the reasons of all jobs."""
        verdicts = {name: report.verdict for name, report in self.estimates.items()}
        return self._joined_verdict(verdicts, self.shared_reasons)

    @property
    def verdict_in_words(self) -> Verdict:
        """The verdict with messages instead of names of rules."""
        return self._joined_verdict(self.told, self.shared_reasons_in_words)

    def _joined_verdict(self, verdicts: Mapping[str, Verdict], shared: Sequence[str]) -> Verdict:
        statuses = [each.status for each in verdicts.values()]
        wrong = any(finding.severity is Severity.ERROR for finding in self.findings)
        worst = VerdictStatus.FAILS if wrong else next((one for one in WORST_FIRST if one in statuses), WORST_FIRST[0])
        reasons = [*shared, *(f"{name}: {reason}" for name, each in verdicts.items() for reason in each.reasons)]
        unjudged = [f"{name}: {reason}" for name, each in verdicts.items() for reason in each.not_judged]
        return Verdict(worst, tuple(reasons), tuple(unjudged))

    def to_json(self) -> Json:
        """The JSON document. Top-level fields of a single design are null, except in a fleet of one pool and one job,
        where they have the job's values.
        """
        single = {name: _single_json(report) for name, report in self.reports.items()}
        jobs = {name: asdict(use) | single.get(name, {}) for name, use in self.jobs.items()}
        pools = {name: asdict(use) | _use_lists(use) for name, use in self.pools.items()}
        bills = {name: _single_json(bill) for name, bill in self.pool_bills.items()}
        tests = {name: {"acceptance": _acceptance_json(one)} for name, one in self.machines.items()}
        whole = {name: pools[name] | bills.get(name, {}) | tests.get(name, {}) for name in pools}
        return (
            common_fields(self.tool, self.input)
            | _top_fields(single, len(self.pools))
            | {"name": self.name, "jobs": jobs, "pools": whole}
            | {"pool_links": [asdict(one) for one in self.links], "summary": counts_by_severity(self.findings)}
            | ({"purchase": self.purchase.to_json()} if self.purchase else {})
        )


JOB_FIGURES = ("pool", "nodes", "share", "elapsed", "billed")
"""Figures of a job that a difference compares."""
POOL_FIGURES = ("nodes", "used", "idle", "power", "cost")
"""The figures of a pool that a comparison shows."""


@dataclass(frozen=True)
class FleetDiffReport(Result):
    """The difference of two fleets: the differences of the jobs in both, the names of jobs in only one, and the use of
    pools and jobs in both.
    """

    tool: Tool
    old: Input
    new: Input
    jobs: Mapping[str, DiffReport]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    old_pools: Mapping[str, PoolUse]
    new_pools: Mapping[str, PoolUse]
    found: tuple[Finding, ...] = ()
    fixed: tuple[Finding, ...] = ()
    old_jobs: Mapping[str, JobUse] = field(default_factory=dict)
    new_jobs: Mapping[str, JobUse] = field(default_factory=dict)

    __repr__ = result_repr

    def to_json(self) -> Json:
        """The JSON document; at the top, the fields of a single design are as in `FleetReport`."""
        from clusterspec.results import finding_json

        single = {
            name: {key: value for key, value in report.to_json().items() if key not in OF_FILE | {"against"}}
            for name, report in self.jobs.items()
        }
        names = dict.fromkeys((*self.new_pools, *self.old_pools))
        pools = {
            name: _use_figures(self.new_pools.get(name)) | {"old": _use_figures(self.old_pools.get(name))}
            for name in names
        }
        uses = {
            name: _job_figures(self.new_jobs.get(name)) | {"old": _job_figures(self.old_jobs.get(name))}
            for name in self.jobs
        }
        return (
            common_fields(self.tool, self.new)
            | {"against": self.old.to_json(), "changes": None, "effects": None, "caution": None}
            | (_top_fields(single, len(names)) if not self.added and not self.removed else {})
            | {"findings": {key: [finding_json(each) for each in many] for key, many in self.findings.items()}}
            | {"jobs": single, "added": list(self.added), "removed": list(self.removed), "pools": pools, "uses": uses}
        )

    @property
    def findings(self) -> dict[str, tuple[Finding, ...]]:
        """The findings of the whole file that differ."""
        return {"new": self.found, "fixed": self.fixed}


def _job_figures(use: JobUse | None) -> Json:
    return {name: getattr(use, name, None) for name in JOB_FIGURES}


def _use_figures(use: PoolUse | None) -> Json:
    return {name: getattr(use, name, None) for name in POOL_FIGURES}


def _acceptance_json(machine: FullReport) -> Json:
    """The planned tests of a pool, and the tests that the spec demands."""
    return machine.to_json()["acceptance"]  # type: ignore[no-any-return]


def _use_lists(use: PoolUse) -> Json:
    listed = {"phases": [asdict(each) for each in use.phases], "free": [asdict(each) for each in use.free]}
    sets = [{"jobs": list(each.jobs), "nodes": each.nodes} for each in use.sets]
    return listed | {"parts": dict(use.parts), "missing": list(use.missing), "sets": sets}


def _top_fields(single: Mapping[str, Json], pools: int) -> Json:
    """The top-level fields: those of the only job if the fleet has one job and one pool, else null."""
    if len(single) == pools == 1:
        return dict(next(iter(single.values())))
    return dict.fromkeys(key for each in single.values() for key in each)


def _single_json(report: EstimateReport | BillReport | CostReport) -> Json:
    """The fields of a single design."""
    return {key: value for key, value in report.to_json().items() if key not in OF_FILE}
