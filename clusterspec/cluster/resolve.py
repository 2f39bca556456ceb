"""Resolves a spec with the catalog: a value for every key, and a list of all defaults."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.catalog import Catalog
from clusterspec.cluster.layout import Software, resolve_layout, resolve_software
from clusterspec.cluster.machine import resolve_cluster
from clusterspec.cluster.model import Assumption, Cluster, Design
from clusterspec.cluster.resolution import Lookup, ResolutionLog, kernel_table
from clusterspec.cluster.workload import resolve_workload
from clusterspec.finding import Problem
from clusterspec.recent import Recent
from clusterspec.records import replace
from clusterspec.spec.model import ClusterSpec, LayoutSpec, Spec, WorkloadSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.logs.traces import TraceSummary


def resolve(
    spec: Spec, catalog: Catalog, traces: Mapping[str, TraceSummary] | None = None
) -> tuple[Design, list[Problem]]:
    """The design of a spec: each key as written, else from the platform, the accelerator, or the contract's defaults.

    The assumptions of the design list every default. A part that cannot be resolved is None, with a problem that states
    the reason; the other parts are still resolved. ``traces`` are the files of requests that the spec names. The time
    does not depend on the size of the cluster.
    """
    log = ResolutionLog(spec, traces=traces or {})
    lookup = Lookup(catalog, log)
    if spec.cluster is None:
        log.report_missing(
            ("cluster",), "the spec describes no machine", "describe it, at least `platform` and `nodes`"
        )
    cluster = _resolved_cluster(_section_with_nodes(spec, log), lookup) if spec.cluster else None
    accelerator = cluster.accelerator if cluster else None
    software = _resolved_software(spec, cluster, lookup)
    stack = software.stack if software else None
    if cluster is not None and describes_rl(spec):
        return _resolved_rl(spec, cluster, software, lookup)
    section = _section_of_samples(spec) if spec.workload is not None and describes_rl(spec) else spec.workload
    workload = resolve_workload(section, accelerator, stack, lookup) if section else None
    if section is not spec.workload:
        workload = None  # reported problems only: the trainer's batch and sequences depend on the machine
    if cluster is not None and workload is not None and workload.serving is not None:
        cluster = replace(cluster, kernels=kernel_table(cluster.accelerator, lookup))
    layout = None
    if cluster is not None and software is not None:
        layout = resolve_layout(spec.layout or LayoutSpec(), cluster, workload, software, log)
    return Design(spec, cluster, workload, layout, tuple(log.assumptions), catalog, log.traces), log.problems


def _section_of_samples(spec: Spec) -> WorkloadSpec:
    """The workload of reinforcement learning with a batch and a length that its samples and its machine would give."""
    section = spec.workload or WorkloadSpec()
    return replace(section, global_batch=section.global_batch or 1, sequence_length=section.sequence_length or 1)


def _section_with_nodes(spec: Spec, log: ResolutionLog) -> ClusterSpec:
    """The cluster section; if it states no size, with the number of nodes in the layout."""
    section = spec.cluster or ClusterSpec()
    stated = spec.layout.nodes if spec.layout and not describes_rl(spec) else None
    if stated is None or section.nodes or section.accelerators or log.unreadable(("cluster", "nodes")):
        return section
    return replace(section, nodes=log.assume("cluster.nodes", stated, "those of the job: the spec states no others"))


def _resolved_rl(
    spec: Spec, cluster: Cluster, software: Software | None, lookup: Lookup
) -> tuple[Design, list[Problem]]:
    """The design of the trainer of reinforcement learning, with its samples and roles."""
    from clusterspec.cluster.reinforcement import resolve_rl, trainer_section, trainer_workload  # few specs need it

    log, section = lookup.log, spec.workload or WorkloadSpec()
    rl = resolve_rl(section, spec.layout, cluster, log)
    workload = layout = None
    if rl is not None:
        stack = software.stack if software else None
        trainer = trainer_section(section, rl, spec.layout or LayoutSpec(), cluster, log)
        workload = resolve_workload(trainer, cluster.accelerator, stack, lookup)
        workload = trainer_workload(workload, rl) if workload else None
    if software is not None and workload is not None and rl is not None:
        own = replace(spec.layout or LayoutSpec(), nodes=rl.trainer_nodes)
        layout = resolve_layout(own, cluster, workload, software, log)
    return Design(spec, cluster, workload, layout, tuple(log.assumptions), lookup.catalog, log.traces), log.problems


def describes_rl(spec: Spec) -> bool:
    """Whether the workload of a spec is reinforcement learning."""
    work = spec.workload
    return work is not None and (work.kind == "rl" or (work.kind is None and work.rl is not None))


Resolved = tuple[Cluster | None, list[Assumption], list[Problem]]
_RECENT: Recent[tuple[Catalog, ClusterSpec, str, Resolved]] = Recent(4)
"""Clusters of recent specs by catalog and section. Many specs share a machine, as do the versions of a spec being
edited.
"""


def _resolved_cluster(section: ClusterSpec, lookup: Lookup) -> Cluster | None:
    """The cluster of a section. Its assumptions and problems are added to the log."""
    log = lookup.log
    if log.spec.broken:  # which keys are unreadable determines what is reported
        return resolve_cluster(section, lookup)
    known = next((each for each in _RECENT if each[0] is lookup.catalog and each[1] is section), None)
    if known is None:
        text = repr(section)
        known = next((each for each in _RECENT if each[0] is lookup.catalog and each[2] == text), None)
        if known is None:
            own = ResolutionLog(log.spec)
            found = resolve_cluster(section, Lookup(lookup.catalog, own))
            known = _RECENT.keep((lookup.catalog, section, text, (found, own.assumptions, own.problems)))
    cluster, assumptions, problems = known[3]
    log.assumptions += assumptions
    log.problems += problems
    return cluster


def _resolved_software(spec: Spec, cluster: Cluster | None, lookup: Lookup) -> Software | None:
    """The software of the layout. Separate engines for prefill and decode are a layout without `layout` in the spec."""
    serving = spec.workload.serving if spec.workload is not None else None
    engines = serving is not None and serving.disaggregated is not None
    if cluster is None or (spec.layout is None and not engines):
        return None
    return resolve_software(spec.layout or LayoutSpec(), lookup, serves=_is_serving(spec))


def _is_serving(spec: Spec) -> bool:
    """Whether the software of a spec serves requests."""
    work = spec.workload
    return work is not None and (work.kind == "serve" or (work.kind is None and work.serving is not None))
