"""The parts of a design available to rules. A parameter of a check has the name of one of these properties."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cached_property

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator, Interconnect, Platform
from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Cluster, Design, Layout, ScaleOut, ScaleUp, Workload
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.knowledge.deviations import Deviations, find_deviations
from clusterspec.rules.knowledge.fabric_parts import FabricCount, fabric_count, oversubscription
from clusterspec.rules.knowledge.peaks import StatedPeak, stated_peaks
from clusterspec.rules.parts import Placements, PlannedDesign, PurchaseTexts, Thresholds, WrittenParts
from clusterspec.spec.model import LayoutSpec, Spec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.fleet import Fleet
    from clusterspec.cost.measured import Measurement
    from clusterspec.cost.plan import Plan
    from clusterspec.cost.reinforcement.times import RlTimes
    from clusterspec.cost.term import MemoryUse
    from clusterspec.document import Document
    from clusterspec.rules.knowledge.failures import FailureRate
    from clusterspec.rules.knowledge.served import Served


class Facts(WrittenParts):
    """The parts of one design; a part is ``None`` where the spec lacks it or cannot be resolved.

    ``written_*`` is the spec as written (units resolved), the other names are the resolved design. ``planned`` computes
    the plan when the first rule uses it; without it there is no plan. The texts outside the keys are those of
    ``document``.
    """

    def __init__(
        self,
        *,
        spec: Spec,
        catalog: Catalog,
        design: Design,
        today: date,
        planned: PlannedDesign | None = None,
        thresholds: Mapping[str, float] | None = None,
        measurements: tuple[Measurement, ...] = (),
        description: str | None = None,
        document: Document | None = None,
        describes_keys: bool = True,
        advises: bool = True,
    ) -> None:
        self.spec = spec
        self.catalog = catalog
        self.design = design
        self.today = today
        self._planned = planned
        self._thresholds = thresholds or {}
        self._measurements = measurements
        self._written_description = description if describes_keys else None
        self.description = _joined_lines(self._written_description)
        """The description of the spec, its wrapped lines joined; None where it describes other keys."""
        self._document = document
        self._describes_keys = describes_keys
        self.advises = advises
        """Whether the remedies of the findings are shown; each remedy with a changed layout costs one estimate."""
        self.thresholds = Thresholds(thresholds or {})
        self.fleet: Fleet | None = None
        """The pools and jobs of a fleet; None for a separate design."""

    @cached_property
    def remarks(self) -> str:
        """The text outside the keys: the description and the comments."""
        return self._document.remarks if self._document is not None else ""

    @cached_property
    def texts(self) -> PurchaseTexts | None:
        """The text of `remarks` and of the section `procurement`, in English; None if there is neither."""
        if self.procurement is not None:
            return PurchaseTexts(self.procurement, self.remarks)
        if not self.remarks:
            return None
        from clusterspec.spec.model import ProcurementSpec  # most specs buy nothing

        return PurchaseTexts(ProcurementSpec(), self.remarks)

    @cached_property
    def own_remarks(self) -> str | None:
        """The sentences of `remarks` about this machine; None for a variation or a fleet, which has other keys."""
        return self._own_sentences(self.statements) if self.statements is not None else None

    @property
    def statements(self) -> str | None:
        """The text of `remarks`, including sentences about other machines; None for a variation or a fleet."""
        return self.remarks if self._describes_keys else None

    @cached_property
    def own_description(self) -> str | None:
        """The sentences of the description about this machine; None without a description."""
        return self._own_sentences(self.description) if self.description is not None else None

    def _own_sentences(self, text: str) -> str:
        """A text without its sentences about other machines and about other models."""
        if not text:
            return text
        from clusterspec.rules.readers.other_models import without_other_models  # most specs have no text
        from clusterspec.rules.readers.written_numbers import without_other_machines

        return without_other_models(without_other_machines(text), self._model_sizes)

    def _model_sizes(self) -> tuple[float, ...]:
        """The numbers of parameters of the model, all and active; empty without a model."""
        if self.model is None:
            return ()
        from clusterspec.cost.parameters import model_weights  # few texts name a size

        weights = model_weights(self.model)
        return weights.total, weights.active_weights

    @cached_property
    def deviations(self) -> Deviations:
        """Stated figures that differ from the catalog's."""
        return find_deviations(self.spec.cluster, self.design.cluster, self.catalog)

    def for_spec(self, spec: Spec, design: Design) -> Facts:
        """The parts of another spec and design, with the same configuration and without an estimate."""
        return Facts(
            spec=spec,
            catalog=self.catalog,
            design=design,
            today=self.today,
            thresholds=self._thresholds,
            description=self._written_description,
            document=self._document,
            describes_keys=self._describes_keys,
        )

    def engine_facts(self, design: Design, planned: PlannedDesign | None = None) -> Facts:
        """The parts of the engines of rollout as a serving design, with the same configuration."""
        return Facts(
            spec=design.spec,
            catalog=self.catalog,
            design=design,
            today=self.today,
            planned=planned,
            thresholds=self._thresholds,
        )

    # Parts that combine the spec and the design

    @property
    def written_layout(self) -> LayoutSpec | None:
        """The section `layout` as written; empty if the layout consists of separate prefill and decode engines."""
        return self.spec.layout or (LayoutSpec() if self.design.layout is not None else None)

    @property
    def measurements(self) -> tuple[Measurement, ...] | None:
        """The entries of `measured`, with their logs read and their ranks placed."""
        return self._measurements or None

    # The resolved design

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
        """The workload where it is training; only training has a step time."""
        workload = self.design.workload
        return workload if workload and workload.kind == "train" else None

    @property
    def model(self) -> Model | None:
        return self.design.workload.model if self.design.workload else None

    @property
    def layout(self) -> Layout | None:
        return self.design.layout

    # The estimate

    @property
    def planned(self) -> PlannedDesign | None:
        """The design whose plan is computed on first access, for rules that need it only for some texts."""
        return self._planned

    @cached_property
    def plan(self) -> Plan | None:
        return self._planned.plan if self._planned is not None else None

    @cached_property
    def rated(self) -> Cluster | None:
        """The cluster, unless one of its bandwidths is reported as wrong; then None."""
        return None if self.deviations.mislead_time else self.design.cluster

    @cached_property
    def timed(self) -> Plan | None:
        """The plan; None if its times rest on a figure that is reported as wrong."""
        return None if self.deviations.mislead_time or any(peak.is_sparse for peak in self.peaks) else self.plan

    @cached_property
    def served(self) -> Served | None:
        """The serving plan; None if its times rest on a figure that is reported as wrong."""
        workload = self.design.workload
        if workload is None or workload.serving is None:
            return None
        from clusterspec.rules.knowledge.served import Served  # a training plan needs none of its modules

        return Served.from_plan(self.timed, self.what_if.estimate)

    @property
    def rl(self) -> RlTimes | None:
        """The reinforcement-learning step; None if its times rest on a figure that is reported as wrong."""
        workload = self.design.workload
        return self.timed.rl if workload is not None and workload.rl is not None and self.timed is not None else None

    @cached_property
    def peaks(self) -> tuple[StatedPeak, ...]:
        """The peaks that the spec states, each with the catalog's."""
        return tuple(stated_peaks(self.spec, self.design, self.catalog))

    @property
    def memory(self) -> MemoryUse | None:
        return self.plan.memory if self.plan else None

    @cached_property
    def what_if(self) -> WhatIf:
        """Estimates of this design with some keys of the spec changed."""
        return WhatIf(self.design, self.legality, self.plan, self.timed, advises=self.advises)

    # Counts and placement

    @cached_property
    def counts(self) -> FabricCount:
        """The fabric that the endpoints need; computed once."""
        return fabric_count(self.cluster, self.written_scale_out, self.assumed)

    @cached_property
    def oversubscription(self) -> float:
        """The product of the oversubscription ratios between the nodes of the job; 1 if none applies."""
        return oversubscription(self.cluster, self.job_nodes) if self.cluster and self.job_nodes else 1.0

    @cached_property
    def failures(self) -> FailureRate:
        """The failure rate of the job."""
        from clusterspec.rules.knowledge.failures import failure_rate  # a spec without `operations` needs none of it

        return failure_rate(self.operations, self.cluster, self.job_nodes, self.catalog)

    @property
    def job_nodes(self) -> int | None:
        """Number of nodes that the job uses; all nodes if there is no layout."""
        if self.layout is not None:
            return self.layout.nodes
        return self.cluster.nodes if self.cluster else None

    @cached_property
    def placements(self) -> Placements | None:
        """For each axis of the layout, the placement of its groups."""
        cluster, layout = self.design.cluster, self.design.layout
        return Placements(cluster, layout) if cluster and layout else None

    @cached_property
    def legality(self) -> Legality | None:
        """The conditions of the framework on the layout."""
        layout, written = self.design.layout, self.written_layout
        if layout is None or written is None or self.design.cluster is None:
            return None
        return Legality(self.design, layout, written, advises=self.advises)

    @cached_property
    def assumed(self) -> Mapping[str, str]:
        """The assumed keys in dotted notation, each with its reason."""
        return {key: why for key, _, why in self.design.assumptions}


def _joined_lines(text: str | None) -> str | None:
    if text is None or "\n" not in text:
        return text
    from clusterspec.document.comments import running_text  # a text of one line loads nothing

    return running_text(text)
