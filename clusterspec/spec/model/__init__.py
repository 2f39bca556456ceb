"""The types of the spec: quantities in SI units, catalog names not yet resolved.

Field names are the keys of the format, so a field's path in these objects is its key path in
the file. ``None`` means that the key is absent, or that its value could not be read and has a
finding. There are no defaults here: they are applied, and listed as assumptions, when the cluster
is resolved. A `Quantity` keeps the direction or sparsity in which the author counted.
"""

from __future__ import annotations

from importlib import import_module

from clusterspec.quantity import Quantity
from clusterspec.records import dataclass, field
from clusterspec.source import Path
from clusterspec.spec.model.cluster import (
    AcceleratorSpec,
    ClusterSpec,
    FloorSpec,
    FlowControlSpec,
    HostSpec,
    LevelSpec,
    LinkCounts,
    NetworkSpec,
    NetworksSpec,
    PcieSpec,
    PdusSpec,
    PowerSpec,
    ScaleOutSpec,
    ScaleUpSpec,
)
from clusterspec.spec.model.workload import (
    AttentionWindowSpec,
    CompressedAttentionSpec,
    LatentAttentionSpec,
    LengthsSpec,
    LinearAttentionSpec,
    ModelSpec,
    MultiTokenSpec,
    RoutingSpec,
    SparseAttentionSpec,
    TrainableSpec,
    WorkloadSpec,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.spec.model.business import (
        AcceptanceSpec,
        CarbonSpec,
        CheckpointSpec,
        DeliverySpec,
        DocumentSpec,
        EarlyFailuresSpec,
        FailureRateSpec,
        FailuresSpec,
        MeasuredSpec,
        Number,
        OperationsSpec,
        OperationsTargetsSpec,
        PaymentSpec,
        Price,
        ProcurementSpec,
        QuoteLine,
        StockSpec,
        SupportSpec,
        TariffSpec,
    )
    from clusterspec.spec.model.requests import (
        ArrivalsSpec,
        CacheTierSpec,
        DisaggregatedSpec,
        EnginesSpec,
        ExpertLoadSpec,
        RlSpec,
        RoleSpec,
        RolloutSpec,
        ScalingSpec,
        ServingSpec,
        SessionSpec,
        SpeculativeSpec,
        TargetsSpec,
        TracedLengthsSpec,
        TransferSpec,
        WeightSyncSpec,
    )

__all__ = [
    "AcceleratorSpec",
    "AcceptanceSpec",
    "ArrivalsSpec",
    "AttentionWindowSpec",
    "CacheTierSpec",
    "CarbonSpec",
    "CheckpointSpec",
    "ClusterSpec",
    "CompressedAttentionSpec",
    "DeliverySpec",
    "DisaggregatedSpec",
    "DispatcherSpec",
    "DocumentSpec",
    "EarlyFailuresSpec",
    "EnginesSpec",
    "ExpertLoadSpec",
    "FailureRateSpec",
    "FailuresSpec",
    "FloorSpec",
    "FlowControlSpec",
    "HostSpec",
    "JobSpec",
    "LatentAttentionSpec",
    "LayoutSpec",
    "LengthsSpec",
    "LevelSpec",
    "LinearAttentionSpec",
    "LinkCounts",
    "MeasuredSpec",
    "ModelSpec",
    "MultiTokenSpec",
    "NetworkSpec",
    "NetworksSpec",
    "Number",
    "OffloadSpec",
    "OperationsSpec",
    "OperationsTargetsSpec",
    "OptimizerStatesSpec",
    "OverlapSpec",
    "PaymentSpec",
    "PcieSpec",
    "PdusSpec",
    "PhaseSpec",
    "PoolLinkSpec",
    "PoolSpec",
    "PowerSpec",
    "Price",
    "ProcurementSpec",
    "QuoteLine",
    "RlSpec",
    "RoleSpec",
    "RolloutSpec",
    "RoutingSpec",
    "ScaleOutSpec",
    "ScaleUpSpec",
    "ScalingSpec",
    "ServingSpec",
    "SessionSpec",
    "SparseAttentionSpec",
    "Spec",
    "SpeculativeSpec",
    "StockSpec",
    "SupportSpec",
    "TargetsSpec",
    "TariffSpec",
    "TracedLengthsSpec",
    "TrainableSpec",
    "TransferSpec",
    "WeightSyncSpec",
    "WorkloadSpec",
]


LATER = ("business", "requests")
"""The modules of sections that few specs have. They are imported when one of their types is first requested, since
defining the types takes 2 % of a check.
"""


def __getattr__(name: str) -> object:
    """A type of the modules of `LATER`."""
    if name in __all__:
        for module in LATER:
            held = vars(import_module(f"{__name__}.{module}"))
            if name in held:
                globals()[name] = held[name]
                return held[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# The parallel layout, as written


@dataclass(frozen=True)
class OffloadSpec:
    """Fractions, from 0 to 1, that are offloaded to host memory."""

    optimizer: float | None = None
    activations: float | None = None


@dataclass(frozen=True)
class OptimizerStatesSpec:
    """Precision of the master weights and of the moments."""

    master: str | None = None
    moments: str | None = None


@dataclass(frozen=True)
class OverlapSpec:
    """The communication that may overlap with computation; for tp also a keyword or a fraction."""

    tp: str | bool | float | None = None
    cp: bool | None = None
    ep: bool | None = None
    dp: bool | None = None
    pp: bool | None = None


@dataclass(frozen=True)
class DispatcherSpec:
    """The token dispatcher of experts and the precision of its messages."""

    kind: str | None = None
    precision: str | None = None


@dataclass(frozen=True)
class LayoutSpec:
    """The degrees of parallelism in ranks, and framework options."""

    framework: str | None = None
    software_year: int | None = None
    software: str | None = None
    nodes: int | None = None
    nodes_per_domain: int | None = None
    tp: int | None = None
    sequence_parallel: bool | None = None
    attention_dp: int | None = None
    cp: int | None = None
    cp_method: str | None = None
    ep: int | None = None
    expert_tp: int | None = None
    dispatcher: str | DispatcherSpec | None = None
    pp: int | None = None
    stage_layers: tuple[int, ...] | None = None
    dp: int | None = None
    sharding: str | None = None
    shard_group: int | None = None
    order: tuple[str, ...] | None = None
    schedule: str | None = None
    virtual_stages: int | None = None
    micro_batch: int | None = None
    recompute: str | tuple[str, ...] | None = None
    recompute_layers: int | None = None
    offload: OffloadSpec | None = None
    optimizer_states: OptimizerStatesSpec | None = None
    capacity_factor: int | float | None = None
    gradient_compression: int | float | None = None
    gradient_sync: str | None = None
    fused_kernels: bool | None = None
    fused_optimizer: bool | None = None
    fused_experts: bool | None = None
    captured_graphs: bool | None = None
    loss: str | None = None
    overlap: OverlapSpec | None = None

    def forbids_overlap(self, axis: str) -> bool:
        """Whether the layout states that the communication of an axis (cp, ep, dp or pp) does not overlap."""
        return self.overlap is not None and getattr(self.overlap, axis) is False


# A fleet as written: pools, the links between them, and jobs


@dataclass(frozen=True)
class PhaseSpec:
    """A date, and the nodes of a pool from that date on."""

    date: str | None = None
    nodes: int | None = None


@dataclass(frozen=True)
class PoolSpec(ClusterSpec):
    """One machine of a fleet: the keys of a cluster, and further keys that apply to this machine only."""

    phases: tuple[PhaseSpec, ...] | None = None
    measured: tuple[MeasuredSpec, ...] | None = None
    acceptance: tuple[AcceptanceSpec, ...] | None = None
    prices: dict[str, Price] | None = None


@dataclass(frozen=True)
class PoolLinkSpec:
    """A connection between two pools. ``bandwidth`` is the total per direction; jobs have ``share`` of it."""

    between: tuple[str, ...] | None = None
    fabric: str | None = None
    bandwidth: Quantity | None = None
    latency: Quantity | None = None
    share: float | None = None


@dataclass(frozen=True)
class JobSpec:
    """A job or service of a fleet on some nodes of a pool. ``share`` is its share of the term on these nodes."""

    pool: str | None = None
    nodes: int | None = None
    nodes_of: str | None = None
    share: float | None = None
    workload: WorkloadSpec | None = None
    layout: LayoutSpec | None = None
    operations: OperationsSpec | None = None


# The whole file


@dataclass(frozen=True)
class Spec:
    """A complete spec. ``broken`` has the paths of values that are present but could not be read."""

    file: str
    name: str | None = None
    description: str | None = None
    cluster: ClusterSpec | None = None
    workload: WorkloadSpec | None = None
    layout: LayoutSpec | None = None
    pools: dict[str, PoolSpec] | None = None
    pool_links: tuple[PoolLinkSpec, ...] | None = None
    jobs: dict[str, JobSpec] | None = None
    measured: tuple[MeasuredSpec, ...] | None = None
    acceptance: tuple[AcceptanceSpec, ...] | None = None
    operations: OperationsSpec | None = None
    procurement: ProcurementSpec | None = None
    document: DocumentSpec | None = None
    broken: frozenset[Path] = field(default=frozenset())

    @property
    def power_budgets(self) -> tuple[tuple[str, Quantity], ...]:
        """The stated limits of a single cluster's IT power in watts, by key; empty for a fleet."""
        if self.cluster is None:
            return ()
        of_cluster = self.cluster.power.budget if self.cluster.power else None
        of_site = self.operations.power_budget if self.operations else None
        stated = (("cluster.power.budget", of_cluster), ("operations.power_budget", of_site))
        return tuple((key, budget) for key, budget in stated if budget is not None)

    def unreadable(self, path: Path) -> bool:
        """Whether this key, a key below it or an enclosing mapping could not be read. A finding then reports it."""
        return any(path[: len(part)] == part or part[: len(path)] == path for part in self.broken)
