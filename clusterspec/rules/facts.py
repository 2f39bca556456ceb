"""The parts of a design that rules may use. A parameter of a check is the name of one of these properties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator, Interconnect, Model, Platform
from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster, Design, Layout, ScaleOut, ScaleUp, Workload
from clusterspec.cost.plan import Plan
from clusterspec.cost.term import MemoryUse
from clusterspec.records import replace
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.knowledge.counts import FabricCount, fabric_count, oversubscription
from clusterspec.rules.knowledge.failures import FailureRate, failure_rate
from clusterspec.rules.knowledge.peaks import StatedPeak, stated_peaks
from clusterspec.rules.knowledge.slips import Slips, find_slips
from clusterspec.rules.parts import Placements, Thresholds
from clusterspec.spec.model import (
    AcceptanceSpec,
    ClusterSpec,
    LayoutSpec,
    MeasuredSpec,
    ModelSpec,
    NetworksSpec,
    OperationsSpec,
    PowerSpec,
    ProcurementSpec,
    ScaleOutSpec,
    ScaleUpSpec,
    Spec,
    WorkloadSpec,
)

if TYPE_CHECKING:
    from clusterspec.cost.measured import Measurement
    from clusterspec.rules.knowledge.served import Served

T = TypeVar("T")


class Facts:
    """The parts of one design; a part is ``None`` where the spec lacks it or cannot be resolved.

    ``written_*`` is the spec as written (units resolved), the other names are the resolved design. The plan is
    estimated when the first rule uses it.
    """

    def __init__(
        self,
        *,
        spec: Spec,
        catalog: Catalog,
        design: Design,
        today: date,
        estimated: Callable[[], Plan | None],
        thresholds: Mapping[str, float] | None = None,
        measurements: tuple[Measurement, ...] = (),
    ) -> None:
        self.spec = spec
        self.catalog = catalog
        self.design = design
        self.today = today
        self._estimated = estimated
        self._thresholds = thresholds or {}
        self._measurements = measurements
        self.thresholds = Thresholds(thresholds or {})
        self._remembered: dict[object, object] = {}

    @cached_property
    def slips(self) -> Slips:
        """Stated figures that are not the catalog's."""
        return find_slips(self.spec.cluster, self.design.cluster, self.catalog)

    @property
    def facts(self) -> Facts:
        """All of this, for a check that needs more than one part."""
        return self

    def of(self, spec: Spec, design: Design) -> Facts:
        """What rules may know of another spec and design, under the same choices and without an estimate."""
        return Facts(
            spec=spec,
            catalog=self.catalog,
            design=design,
            today=self.today,
            estimated=lambda: None,
            thresholds=self._thresholds,
        )

    def remember(self, work: Callable[[Facts], T]) -> T:
        """The result of ``work`` on these facts, computed once for all rules."""
        if work not in self._remembered:
            self._remembered[work] = work(self)
        return cast(T, self._remembered[work])

    def threshold(self, rule: str, default: float) -> float:
        """The threshold of a rule, by its name: as the team configured it, else the rule's own default."""
        return self.thresholds.of(rule, default)

    # The spec as written

    @property
    def written_cluster(self) -> ClusterSpec | None:
        return self.spec.cluster

    @property
    def written_scale_up(self) -> ScaleUpSpec | None:
        return self.spec.cluster.scale_up if self.spec.cluster else None

    @property
    def written_scale_out(self) -> ScaleOutSpec | None:
        return self.spec.cluster.scale_out if self.spec.cluster else None

    @property
    def written_workload(self) -> WorkloadSpec | None:
        return self.spec.workload

    @property
    def written_model(self) -> ModelSpec | None:
        """The model where it is described in place."""
        model = self.spec.workload.model if self.spec.workload else None
        return model if isinstance(model, ModelSpec) else None

    @property
    def written_layout(self) -> LayoutSpec | None:
        """The section as written; empty where separate engines for prefill and decode are the layout."""
        return self.spec.layout or (LayoutSpec() if self.design.layout is not None else None)

    def forbids_overlap(self, axis: str) -> bool:
        """Whether the spec states that nothing hides the communication of an axis (cp, ep, dp or pp)."""
        overlap = self.spec.layout.overlap if self.spec.layout else None
        return overlap is not None and getattr(overlap, axis) is False

    @property
    def networks(self) -> NetworksSpec | None:
        return self.spec.cluster.networks if self.spec.cluster else None

    @property
    def power(self) -> PowerSpec | None:
        return self.spec.cluster.power if self.spec.cluster else None

    @property
    def measured(self) -> tuple[MeasuredSpec, ...] | None:
        return self.spec.measured

    @property
    def measurements(self) -> tuple[Measurement, ...] | None:
        """What `measured` holds, logs read and ranks placed."""
        return self._measurements or None

    @property
    def acceptance(self) -> tuple[AcceptanceSpec, ...] | None:
        return self.spec.acceptance

    @property
    def operations(self) -> OperationsSpec | None:
        return self.spec.operations

    @property
    def procurement(self) -> ProcurementSpec | None:
        return self.spec.procurement

    # The design it resolves to

    @property
    def cluster(self) -> Cluster | None:
        return self.design.cluster

    @property
    def accelerator(self) -> Accelerator | None:
        return self.design.cluster.accelerator if self.design.cluster else None

    @property
    def platform(self) -> Platform | None:
        return self.design.cluster.platform if self.design.cluster else None

    @property
    def scale_up(self) -> ScaleUp | None:
        return self.design.cluster.scale_up if self.design.cluster else None

    @property
    def scale_out(self) -> ScaleOut | None:
        """The fabric, where there is more than one node."""
        cluster = self.design.cluster
        return cluster.scale_out if cluster and cluster.all_nodes > 1 else None

    @cached_property
    def nic_slot(self) -> Interconnect | None:
        """The PCIe slot of the NICs."""
        written, cluster = self.spec.cluster.pcie if self.spec.cluster else None, self.design.cluster
        generation = cluster.pcie_nic if cluster and cluster.pcie_nic else written.host if written else None
        slot = self.catalog.find("interconnect", f"pcie-{generation}") if generation else None
        return slot if isinstance(slot, Interconnect) else None

    @property
    def workload(self) -> Workload | None:
        return self.design.workload

    @property
    def training(self) -> Workload | None:
        """The workload, where it is training: time is estimated for nothing else."""
        workload = self.design.workload
        return workload if workload and workload.kind == "train" else None

    @property
    def model(self) -> Model | None:
        return self.design.workload.model if self.design.workload else None

    @property
    def layout(self) -> Layout | None:
        return self.design.layout

    # What it costs

    @cached_property
    def plan(self) -> Plan | None:
        return self._estimated()

    @cached_property
    def rated(self) -> Cluster | None:
        """The cluster, where its bandwidths can be relied on; None where one is reported as wrong."""
        return None if self.slips.mislead_time else self.design.cluster

    @cached_property
    def timed(self) -> Plan | None:
        """The plan, where its times can be relied on; None where they rest on a figure that is reported as wrong."""
        return None if self.slips.mislead_time or any(peak.is_sparse for peak in self.peaks) else self.plan

    @cached_property
    def served(self) -> Served | None:
        """The serving plan, where its times can be relied on."""
        workload = self.design.workload
        if workload is None or workload.serving is None:
            return None
        from clusterspec.rules.knowledge.served import Served  # a training plan needs none of its modules

        return Served.of(self.timed, self._redone)

    @cached_property
    def peaks(self) -> tuple[StatedPeak, ...]:
        """The peaks that the spec states, beside the catalog's."""
        return tuple(stated_peaks(self.spec, self.design, self.catalog))

    @property
    def memory(self) -> MemoryUse | None:
        return self.plan.memory if self.plan else None

    @property
    def step_time(self) -> float | None:
        """Seconds of one optimizer step."""
        return self.timed.step_seconds if self.timed else None

    # What it would cost

    def with_layout(self, **changes: Any) -> Plan | None:
        """The plan with some keys of the layout written otherwise, dp derived again; None where it cannot be estimated.

        Costs one more estimate, so a rule uses it only after it has found a flaw.
        """
        if self.spec.layout is None:
            return None
        return self._redone(replace(self.spec, layout=replace(self.spec.layout, **({"dp": None} | changes))))

    def with_workload(self, **changes: Any) -> Plan | None:
        """The plan with some keys of the workload written otherwise; None where it cannot be estimated."""
        if self.spec.workload is None:
            return None
        return self._redone(replace(self.spec, workload=replace(self.spec.workload, **changes)))

    def with_scale_out(self, **changes: Any) -> Plan | None:
        """The plan with some keys of the fabric written otherwise; None where it cannot be estimated."""
        if self.spec.cluster is None:
            return None
        fabric = replace(self.spec.cluster.scale_out or ScaleOutSpec(), **changes)
        return self._redone(replace(self.spec, cluster=replace(self.spec.cluster, scale_out=fabric)))

    def _redone(self, spec: Spec) -> Plan | None:
        from clusterspec.cluster.resolve import resolve
        from clusterspec.cost.estimate import estimate

        design, _ = resolve(spec, self.catalog)
        if not (design.cluster and design.workload and design.layout):
            return None
        seen = self.design.cluster.measured if self.design.cluster else ()
        if seen:
            design = replace(design, cluster=replace(design.cluster, measured=seen))
        return estimate(design, self.plan.tables if self.plan else None)

    # Where the groups lie

    @cached_property
    def counts(self) -> FabricCount:
        """The fabric that the endpoints need, counted once."""
        return fabric_count(self.cluster, self.written_scale_out, self.assumed)

    @cached_property
    def oversubscription(self) -> float:
        """Uplinks that are missing on the way between the nodes of the job, as a factor; 1 where none are."""
        return oversubscription(self.cluster, self.job_nodes) if self.cluster and self.job_nodes else 1.0

    @cached_property
    def failures(self) -> FailureRate:
        """How often failures stop the job."""
        return failure_rate(self.operations, self.cluster, self.job_nodes)

    @property
    def job_nodes(self) -> int | None:
        """Nodes that the job uses; all of them without a layout."""
        if self.layout is not None:
            return self.layout.nodes
        return self.cluster.nodes if self.cluster else None

    @cached_property
    def placements(self) -> Placements | None:
        """Where the groups of each axis are placed."""
        cluster, layout = self.design.cluster, self.design.layout
        return Placements(cluster, layout) if cluster and layout else None

    def placement(self, axis: str) -> Placement | None:
        """Where the groups of one axis (tp, cp, dp, ep, pp, shard …) are placed."""
        return self.placements.of(axis) if self.placements else None

    @cached_property
    def legality(self) -> Legality | None:
        """The conditions of the framework on the layout."""
        layout, written = self.design.layout, self.written_layout
        if layout is None or written is None or self.design.cluster is None:
            return None
        return Legality(self.design, layout, written)

    @property
    def assumed(self) -> Mapping[str, str]:
        """The dotted keys that are assumed, each with the reason."""
        return {key: why for key, _, why in self.design.assumptions}
