"""The sections of a spec that rules may take, as written with units resolved."""

from __future__ import annotations

from clusterspec.spec.model import (
    AcceptanceSpec,
    ClusterSpec,
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
        """The model where the spec describes it as a mapping."""
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
