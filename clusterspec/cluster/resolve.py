"""From what was asked and what is known to what would stand in the room."""

from __future__ import annotations

from clusterspec.catalog import Catalog
from clusterspec.cluster.layout import settle_layout
from clusterspec.cluster.lookup import Lookup
from clusterspec.cluster.machine import settle_cluster
from clusterspec.cluster.model import Design
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.cluster.software import with_stack
from clusterspec.cluster.workload import settle_workload
from clusterspec.finding import Problem
from clusterspec.spec.model import Spec


def resolve(spec: Spec, catalog: Catalog) -> tuple[Design, list[Problem]]:
    """Settles every key: as written, else of the platform, the accelerator, the contract's defaults.

    Every default taken is among the assumptions of the design. A part that cannot be settled is None,
    with a problem that says why; the other parts are settled all the same. Nothing here takes longer
    for a larger cluster.
    """
    log = ResolutionLog(spec)
    lookup = Lookup(catalog, log)
    if spec.cluster is None:
        log.missing(("cluster",), "there is no machine to look at", "describe it, at least `platform` and `nodes`")
    cluster = settle_cluster(spec.cluster, lookup) if spec.cluster else None
    accelerator = cluster.accelerator if cluster else None
    workload = settle_workload(spec.workload, accelerator, lookup) if spec.workload else None
    layout = settle_layout(spec.layout, cluster, workload, log) if spec.layout and cluster else None
    layout = with_stack(layout, lookup) if layout else None
    return Design(spec, cluster, workload, layout, tuple(log.assumptions)), log.problems
