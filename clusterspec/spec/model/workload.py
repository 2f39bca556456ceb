"""The workload as written: the model, and how it is trained or served."""

from __future__ import annotations

from clusterspec.quantity import Quantity
from clusterspec.records import dataclass
from clusterspec.spec.model.language_model import ModelSpec
from clusterspec.spec.model.serving import ServingSpec


@dataclass(frozen=True, slots=True)
class WorkloadSpec:
    """The workload planned on the machine."""

    kind: str | None = None
    model: str | ModelSpec | None = None
    sequence_length: int | None = None
    global_batch: int | None = None
    precision: str | None = None
    parameter_precision: str | None = None
    expert_parameter_precision: str | None = None
    kv_precision: str | None = None
    gradient_precision: str | None = None
    optimizer: str | None = None
    attention: str | None = None
    data_loading: str | Quantity | None = None
    tokens: Quantity | None = None
    peak_flops: Quantity | None = None
    expected_mfu: float | None = None
    serving: ServingSpec | None = None
