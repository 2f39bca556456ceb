"""Parts of a design that checks take: sections as written, placements of groups, texts, and configured thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod

from clusterspec.cluster.groups import Placement, axis_placement
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cluster.planes import fabric_levels
from clusterspec.records import dataclass
from clusterspec.rules.rule import quote_path
from clusterspec.source import Path
from clusterspec.spec.model import (
    ClusterSpec,
    ModelSpec,
    NetworksSpec,
    PowerSpec,
    ScaleOutSpec,
    ScaleUpSpec,
    Spec,
    WorkloadSpec,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.plan import Plan
    from clusterspec.spec.model import AcceptanceSpec, MeasuredSpec, OperationsSpec, ProcurementSpec


class PlannedDesign:
    """A design whose plan is computed on first access."""

    def __init__(self, design: Design) -> None:
        self.design = design

    @cached_property
    def plan(self) -> Plan:
        """The plan of the design, without a time where the layout cannot run."""
        if self.design.workload is None:  # a machine alone: the modules that estimate have nothing to do
            from clusterspec.cost.plan import Plan

            return Plan(self.design)
        from clusterspec.cost.estimate import legal_estimate  # most checks need no times

        return legal_estimate(self.design)


class Placements:
    """The placements of the groups of each axis, computed once per axis."""

    def __init__(self, cluster: Cluster, layout: Layout) -> None:
        self._cluster = cluster
        self._layout = layout
        self._placed: dict[str, Placement | None] = {}

    def of(self, axis: str) -> Placement | None:
        """The placement of one axis (tp, cp, dp, ep, pp, shard …)."""
        if axis not in self._placed:
            self._placed[axis] = axis_placement(self._cluster, self._layout, axis)
        return self._placed[axis]

    def oversubscription(self, axis: str) -> float:
        """The product of the ratios (down over up) of the fabric levels that the groups of an axis cross."""
        placement = self.of(axis)
        if placement is None or placement.nodes == 1:
            return 1.0
        levels = fabric_levels(self._cluster)
        return prod(levels[index].oversubscription for index in placement.levels)


def groups_use_nics(placements: Placements, layout: Layout, workload: Workload) -> bool:
    """Whether a group of a layout extends beyond its scale-up domain and its node; the engines of a serving plan do not
    form one group.
    """
    axes = ("tp", "cp", "ep", "pp") if workload.kind == "serve" else ("tp", "cp", "ep", "pp", "dp")
    found = (placements.of(axis) for axis in axes if getattr(layout, axis) > 1)
    return any(placement is not None and placement.domains > 1 and placement.nodes > 1 for placement in found)


def traffic_uses_nics(placements: Placements, layout: Layout, workload: Workload) -> bool:
    """Whether a group extends beyond its domain and node, or caches move from prefill to decode engines."""
    return layout.separate_engines or groups_use_nics(placements, layout, workload)


def may_use_nics(placements: Placements | None, layout: Layout | None, workload: Workload | None) -> bool:
    """Whether the planned work may use the fabric; also true if the spec plans no work."""
    if placements is None or layout is None or workload is None:
        return True
    return traffic_uses_nics(placements, layout, workload)


class Thresholds:
    """The configured thresholds, by rule."""

    def __init__(self, configured: Mapping[str, float]) -> None:
        self._configured = configured

    def of(self, rule: str, default: float) -> float:
        """The threshold of a rule, by its name: as configured, else the rule's own default."""
        return self._configured.get(rule, default)


class WrittenParts:
    """The sections of a spec; a section is ``None`` where the spec lacks it."""

    spec: Spec

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
        """The model, if the spec describes it as a mapping."""
        model = self.spec.workload.model if self.spec.workload else None
        return model if isinstance(model, ModelSpec) else None

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
    def acceptance(self) -> tuple[AcceptanceSpec, ...] | None:
        return self.spec.acceptance

    @property
    def operations(self) -> OperationsSpec | None:
        return self.spec.operations

    @property
    def procurement(self) -> ProcurementSpec | None:
        return self.spec.procurement


def engines_stay_on_nodes(cluster: Cluster, workload: Workload | None, layout: Layout | None) -> bool:
    """Whether a service runs engines that each fit on a node, so that they exchange nothing over the fabric."""
    if workload is None or workload.kind != "serve" or layout is None or layout.separate_engines:
        return False
    return layout.replica_ranks <= cluster.ranks_per_node


@dataclass(frozen=True)
class PurchaseTexts:
    """The texts of a purchase, in lower case and in English as far as suppliers' words go; each is translated once.

    `remarks` are the description and the comments of the spec as written.

    >>> from clusterspec.spec.model import DeliverySpec, ProcurementSpec
    >>> milestones = DeliverySpec(milestones=("Abnahme 2027-03-01",))
    >>> texts = PurchaseTexts(ProcurementSpec(delivery=milestones), "Ein Angebot. Two racks")
    >>> texts.description, texts.milestones
    ('ein offer. two racks', ['acceptance 2027-03-01'])
    >>> texts.placed[1:]
    [(('description',), 'two racks'), (('procurement', 'delivery', 'milestones', 0), 'acceptance 2027-03-01')]
    """

    procurement: ProcurementSpec
    remarks: str

    @cached_property
    def description(self) -> str:
        """The description and the comments."""
        from clusterspec.procurement.supplier_words import english_text  # most specs have no text

        return english_text(self.remarks.lower())

    @cached_property
    def sentences(self) -> Sequence[str]:
        """The sentences of the description and the comments."""
        from clusterspec.rules.readers.written_numbers import sentences_of

        return sentences_of(self.description)

    @cached_property
    def milestones(self) -> list[str]:
        """The milestones of the delivery."""
        delivery = self.procurement.delivery
        if delivery is None or not delivery.milestones:
            return []
        from clusterspec.procurement.supplier_words import english_text

        return [english_text(each.lower()) for each in delivery.milestones]

    @cached_property
    def lines(self) -> list[str]:
        """The parts of the lines of the quote."""
        if not self.procurement.quote:
            return []
        from clusterspec.procurement.part_names import plain_part

        return [plain_part(line) for line in self.procurement.quote]

    @cached_property
    def placed(self) -> list[tuple[Path, str]]:
        """The sentences, the milestones and the lines with their keys."""
        return [*((("description",), each) for each in self.sentences), *self.stated]

    @cached_property
    def stated(self) -> list[tuple[Path, str]]:
        """The milestones and the lines with their keys."""
        at: Path = ("procurement", "delivery", "milestones")
        return [
            *(((*at, index), each) for index, each in enumerate(self.milestones)),
            *((quote_path(index, "part"), each) for index, each in enumerate(self.lines)),
        ]
