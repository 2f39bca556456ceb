"""A fleet as written: pools, the links between them, and jobs."""

from __future__ import annotations

from clusterspec.quantity import Quantity
from clusterspec.records import dataclass
from clusterspec.spec.model.business import AcceptanceSpec, MeasuredSpec, OperationsSpec, Price
from clusterspec.spec.model.cluster import ClusterSpec
from clusterspec.spec.model.layout import LayoutSpec
from clusterspec.spec.model.workload import WorkloadSpec


@dataclass(frozen=True, slots=True)
class PhaseSpec:
    """A date, and the nodes of a pool from that date on."""

    date: str | None = None
    nodes: int | None = None


@dataclass(frozen=True, slots=True)
class PoolSpec(ClusterSpec):
    """One machine of a fleet: the keys of a cluster, and those that hold for this machine only."""

    phases: tuple[PhaseSpec, ...] | None = None
    measured: tuple[MeasuredSpec, ...] | None = None
    acceptance: tuple[AcceptanceSpec, ...] | None = None
    prices: dict[str, Price] | None = None


@dataclass(frozen=True, slots=True)
class PoolLinkSpec:
    """A connection between two pools; the bandwidth is in all, per direction."""

    between: tuple[str, ...] | None = None
    fabric: str | None = None
    bandwidth: Quantity | None = None
    latency: Quantity | None = None


@dataclass(frozen=True, slots=True)
class JobSpec:
    """One work of a fleet on some nodes of a pool. ``share`` is its share of the term on these nodes."""

    pool: str | None = None
    nodes: int | None = None
    nodes_of: str | None = None
    share: float | None = None
    workload: WorkloadSpec | None = None
    layout: LayoutSpec | None = None
    operations: OperationsSpec | None = None
