"""The library: a design that can be loaded, changed, checked and estimated in Python.

    design = clusterspec.load("cluster.yaml")
    design.with_layout(tp=4).estimate().plan.step_time

A design never changes: each ``with_…`` method returns another one.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clusterspec import analysis, studies
from clusterspec import document as documents
from clusterspec.cluster.variation import layout_changes
from clusterspec.records import dataclass
from clusterspec.source import Path as KeyPath
from clusterspec.source import Source
from clusterspec.studies import Settings, Study, variation
from clusterspec.units import plural

if TYPE_CHECKING:
    from clusterspec.cluster.model import Assumption, Cluster, Layout, Workload
    from clusterspec.cost.plan import Plan
    from clusterspec.finding import Finding
    from clusterspec.report.figures import Figures
    from clusterspec.results import BillReport, CheckReport, CollectiveReport, EstimateReport
    from clusterspec.results.decision import CostReport, DiffReport
    from clusterspec.results.faults import FaultsReport
    from clusterspec.results.fleet_search import FleetSearchReport
    from clusterspec.results.full import FullReport
    from clusterspec.results.levers import SensitivityReport, SolveReport
    from clusterspec.results.machine_search import MachinesReport
    from clusterspec.results.search import SearchReport
    from clusterspec.results.simulation import SimulationReport

Catalogs = str | Path | Sequence[str | Path]


@dataclass(frozen=True, eq=False)
class LoadedDesign:
    """A resolved spec. Two designs are equal if their text, catalog and date are equal."""

    study: Study

    # The resolved parts

    @property
    def name(self) -> str:
        """The name in the spec, else the name of its file."""
        return self.study.spec.name or self.study.source.name

    @property
    def cluster(self) -> Cluster | None:
        """The resolved cluster; None if its description is incomplete (see `findings`)."""
        return self.study.design.cluster

    @property
    def workload(self) -> Workload | None:
        """The resolved workload; None if it is absent or incomplete."""
        return self.study.design.workload

    @property
    def layout(self) -> Layout | None:
        """The resolved layout, hashable; None if there is none."""
        return self.study.design.layout

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions: key, value and reason of every default applied."""
        from clusterspec.cost.estimate import design_with_share_of_memory

        return design_with_share_of_memory(self.study.design).assumptions

    @cached_property
    def jobs(self) -> dict[str, LoadedDesign]:
        """The jobs of a fleet by name, each as a design on its part of its pool; empty for a spec of one cluster."""
        return {
            name: LoadedDesign(study) for name, study in (self.study.fleet.jobs if self.study.fleet else {}).items()
        }

    @cached_property
    def pools(self) -> dict[str, LoadedDesign]:
        """The pools of a fleet by name, each as a design without a workload; empty for a spec of one cluster."""
        return {
            name: LoadedDesign(study) for name, study in (self.study.fleet.pools if self.study.fleet else {}).items()
        }

    def to_mapping(self) -> dict[str, Any]:
        """The spec as plain values, with its bases merged in."""
        document = self.study.document
        value = document.value if document is not None else None
        return copy.deepcopy(value) if isinstance(value, dict) else {}

    # Results

    def check(self) -> CheckReport:
        """The findings, with the texts they refer to."""
        return analysis.check([self.study], self.study.settings)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, sorted by position."""
        return self.study.findings

    def estimate(self) -> EstimateReport:
        """Memory, step time, MFU and communication, term by term."""
        return analysis.estimate(self.study)

    @cached_property
    def plan(self) -> Plan:
        """The figures of `estimate` without its report."""
        return self.study.plan

    def collective(
        self, name: str, ranks: int, sizes: Sequence[float], algorithm: str | None = None
    ) -> CollectiveReport:
        """Time and bus bandwidth of a collective of ``ranks`` ranks over sizes in bytes, as nccl-tests counts them."""
        return analysis.collective(self.study, name, ranks, sizes, algorithm)

    def search(
        self,
        *,
        pins: Mapping[str, object] | None = None,
        objective: str = "",
        top: int = 10,
        min_headroom: float | None = None,
    ) -> SearchReport:
        """The best legal layouts of this cluster and workload.

        ``pins`` fix keys of the layout; ``min_headroom`` is the fraction of memory that the prediction leaves free;
        without it the upper end of the memory range has to fit. ``objective`` for
        training is step_time (the default), memory, cost or tokens_per_accelerator; for serving accelerators (the
        default with targets), cost, tokens_per_accelerator, tokens_per_user or memory.
        Raises `ValueError` for a pin that no search takes.
        """
        from clusterspec.analysis.searches.pins import pin_fault
        from clusterspec.analysis.searches.studied import SearchOptions

        serves = self.workload is not None and self.workload.kind == "serve"
        for key, value in (pins or {}).items():
            if fault := pin_fault(key, value, serves=serves):
                raise ValueError(f"pins: {fault}")
        return analysis.search(self.study, SearchOptions(dict(pins or {}), objective, top, min_headroom))

    def search_fleet(
        self,
        *,
        objective: str = "time",
        within: Mapping[str, float] | None = None,
        nodes: Sequence[int] = (),
        top: int = 3,
    ) -> FleetSearchReport:
        """The assignment of a fleet's jobs to pools and numbers of nodes that is best in ``time``, ``cost`` or
        ``energy``.

        ``within`` is the longest time of a run in seconds by job, of all others under the empty name; ``nodes`` are the
        sizes to try. Raises `clusterspec.analysis.fleets.search.FleetSearchFault` where nothing can be searched, and
        `clusterspec.analysis.fleets.assignment.SolverMissing` without the extra ``fleet``.
        """
        from clusterspec.analysis.fleets.search import Goal, fleet_search

        return fleet_search(self.study, Goal(objective, dict(within or {}), tuple(nodes), top))

    def search_machines(
        self,
        machines: Sequence[str | LoadedDesign],
        *,
        nodes: Sequence[int] = (),
        fabrics: Sequence[str] = (),
        prices: str | Path | None = None,
        within: float | None = None,
        budget: float | None = None,
        power: float | None = None,
    ) -> MachinesReport:
        """Machines to buy for this workload: platforms by name, and designs with a cluster.

        ``within`` is the longest time of a run in seconds, ``budget`` the highest cost in the currency of the spec,
        ``power`` the highest IT power in watts; ``prices`` is a price file. Raises
        `clusterspec.analysis.searches.candidates.MachineFault` for a machine that cannot be compared.
        """
        from clusterspec.analysis.searches import candidates
        from clusterspec.analysis.searches.machines import machine_search

        listed = [
            candidates.candidate_of_platform(each, self.study)
            if isinstance(each, str)
            else candidates.candidate_of_spec(each.name, each.study)
            for each in machines
        ]
        return machine_search(
            self.study,
            listed,
            nodes=nodes,
            fabrics=tuple(fabrics) or ("",),
            prices=candidates.read_prices(Path(prices)) if prices is not None else None,
            limits=candidates.Limits(within, budget, power),
        )

    def bill(self) -> BillReport:
        """The bill of materials with prices."""
        return analysis.bill(self.study)

    def solve(self, key: str, until: str, *, best_layout: bool = False) -> SolveReport:
        """The smallest or largest value of a key that meets a condition such as ``mfu>=0.4``.

        Raises `clusterspec.analysis.levers.conditions.ConditionFault` for an invalid condition.
        """
        return analysis.solve(self.study, key, until, best_layout=best_layout)

    def simulate(
        self, *, seed: int = 0, requests: int | None = None, trace: str | Path | None = None
    ) -> SimulationReport:
        """The requests of a serving plan, simulated event by event; the same seed gives the same result.

        Raises `clusterspec.analysis.simulation.traffic.SimulationFault` where there is no plan to simulate.
        """
        return analysis.simulate(self.study, seed=seed, requests=requests, trace=Path(trace) if trace else None)

    def sensitivity(self) -> SensitivityReport:
        """The effect of each parameter, moved to the next value that is sold."""
        return analysis.sensitivity(self.study)

    def faults(self, *, pairs: bool = False) -> FaultsReport:
        """Failures of single parts, by class: frequency, effect on the job, hours and money lost; with ``pairs``, also
        failures of two parts at once.
        """
        return analysis.faults(self.study, pairs=pairs)

    def cost(self) -> CostReport:
        """The cost over the term, by year, run and token."""
        return analysis.cost(self.study)

    def report(self, kind: str = "design", audience: str | None = None) -> FullReport:
        """A report for engineers (``design``) or buyers (``procurement``)."""
        return analysis.report(self.study, kind, audience)

    def figures(self, *sections: str) -> Figures:
        """The drawings of the report, or of its named sections, such as ``machine``, ``step`` and ``memory``, as SVG.

        Raises `ValueError` for a section that the report does not have, and for a fleet, whose jobs have figures.
        """
        from clusterspec.report.figures import figures_of

        if self.jobs:
            raise ValueError(f"a fleet has figures for each of its jobs: {', '.join(self.jobs)}")
        return figures_of(analysis.report(self.study, "design", live=False), sections)

    def diff(self, other: LoadedDesign) -> DiffReport:
        """The difference from this design to another."""
        return analysis.diff(self.study, other.study)

    # Other designs

    def with_layout(self, **changes: Any) -> LoadedDesign:
        """The design with keys of its layout changed; None deletes a key.

        An explicit dp is removed if a degree that determines it changes, and so are the layers of stages.
        """
        return self._changed_design({str(path[-1]): value for path, value in layout_changes(changes).items()}, "layout")

    def with_cluster(self, **changes: Any) -> LoadedDesign:
        """The design with keys of its cluster changed; mappings are merged key by key, None deletes a key."""
        return self._changed_design(changes, "cluster")

    def with_workload(self, **changes: Any) -> LoadedDesign:
        """The design with keys of its workload changed; mappings are merged key by key, None deletes a key."""
        return self._changed_design(changes, "workload")

    def _changed_design(self, changes: Mapping[str, Any], section: str) -> LoadedDesign:
        value = _plain_values(changes)
        if self.study.document is None:
            return _design_of_text(json.dumps({section: value}), self.study.settings, self.name, self.study.folder)
        return LoadedDesign(variation.rewritten_study(self.study, dict(_leaf_values(value, (section,)))))

    # As a value

    @property
    def _identity_key(self) -> tuple[str, str, date]:
        settings = self.study.settings
        return (json.dumps(self.to_mapping(), sort_keys=True), settings.catalog.version, settings.today)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LoadedDesign) and self._identity_key == other._identity_key

    def __hash__(self) -> int:
        return hash(self._identity_key)

    def __repr__(self) -> str:
        return f"<LoadedDesign {self.name}: {self._summary_text}>"

    @property
    def _summary_text(self) -> str:
        if self.pools:
            pools = ", ".join(f"{name} {_cluster_text(pool.cluster)}" for name, pool in self.pools.items())
            return f"{plural(len(self.pools), 'pool')} ({pools}), {plural(len(self.jobs), 'job')}"
        parts = [_cluster_text(self.cluster), _workload_text(self.workload), _layout_text(self.layout)]
        return ", ".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        """A short report for notebooks: the design, its findings, its step time and memory."""
        from html import escape

        findings = "".join(
            f"<li><b>{finding.severity}</b> {escape(finding.message)} <code>{escape(finding.rule)}</code></li>"
            for finding in self.findings
        )
        found = f"<ul>{findings}</ul>" if findings else "<p>Checked, nothing found against it.</p>"
        title = f"<h3>{escape(self.name)}</h3><p>{escape(self._summary_text)}</p>"
        jobs = "".join(
            f"<details><summary>{escape(name)}: {escape(job._summary_text)}</summary>"
            f"{job.estimate()._repr_html_()}</details>"
            for name, job in self.jobs.items()
        )
        return f"{title}{found}{self.estimate()._repr_html_() if self.workload else jobs}"


def load(
    source: str | Path | Mapping[str, Any], *, catalog: Catalogs = (), today: date | str | None = None
) -> LoadedDesign:
    """The design of a spec: a file (a path), YAML text (a string with a line break), or a mapping.

    ``catalog`` are folders of entries with precedence over the shipped ones; ``today`` is the date for the expiry of
    waivers and the release of hardware. The configuration of the spec's folder applies.

    Raises `OSError` if the file cannot be read, `NotADirectoryError` if a catalog folder does not exist, and
    `ConfigFault` for an invalid configuration. An invalid spec does not raise; it has findings.
    """
    day = date.fromisoformat(today) if isinstance(today, str) else today
    folders = [Path(catalog)] if isinstance(catalog, str | Path) else [Path(each) for each in catalog]
    if isinstance(source, Mapping):
        source = json.dumps(source, default=str) + "\n"
    if isinstance(source, str) and "\n" in source:
        return _design_of_text(source, Settings.from_folder(Path.cwd(), folders, day), "spec.yaml", Path.cwd())
    path = Path(source)
    data = documents.read_bytes(path)
    folder = path.resolve().parent
    settings = Settings.from_folder(folder, folders, day)
    return LoadedDesign(studies.study(documents.decode(str(path), data), data, settings, folder))


def _plain_values(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Values as the YAML reader would hold them."""
    document, problems = documents.parse(Source("changes", json.dumps(changes) + "\n"))
    if document is None or not isinstance(document.value, dict):
        raise ValueError(problems[0].message if problems else "the changes are not a mapping")
    return document.value


def _leaf_values(value: Mapping[str, Any], head: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    """The values of nested mappings by key path, as `document.merged_value` replaces them."""
    for key, item in value.items():
        if isinstance(item, dict) and item:
            yield from _leaf_values(item, (*head, key))
        else:
            yield (*head, key), item


def _design_of_text(text: str, settings: Settings, name: str, folder: Path) -> LoadedDesign:
    return LoadedDesign(studies.study_text(text, settings, name, folder))


def _cluster_text(cluster: Cluster | None) -> str:
    if cluster is None:
        return "cluster not resolved"
    return f"{cluster.nodes} × {cluster.platform.id if cluster.platform else cluster.accelerator.id}"


def _workload_text(workload: Workload | None) -> str:
    if workload is None:
        return ""
    return f"{workload.kind} {workload.model.id or workload.model.name}"


def _layout_text(layout: Layout | None) -> str:
    if layout is None:
        return ""
    return " ".join(f"{axis} {getattr(layout, axis)}" for axis in ("tp", "cp", "ep", "pp", "dp"))
