"""The sources that describe a machine: the spec, then the platform, then the accelerator."""

from __future__ import annotations

from clusterspec.catalog.entries import Accelerator, Platform
from clusterspec.cluster.lookup import Lookup
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.records import dataclass
from clusterspec.spec.model import ClusterSpec


@dataclass(frozen=True, slots=True)
class Parts:
    """The cluster section of the spec, and the entries that supply absent keys."""

    section: ClusterSpec
    platform: Platform | None
    accelerator: Accelerator
    nodes: int
    per_node: int
    """Accelerators of a node."""
    lookup: Lookup

    @property
    def log(self) -> ResolutionLog:
        return self.lookup.log

    @property
    def accelerators(self) -> int:
        return self.nodes * self.per_node
