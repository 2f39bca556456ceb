"""Checkpoint time: as stated, else by the bandwidth of the storage system."""

from __future__ import annotations

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Workload
from clusterspec.cost.formulas.parameters import checkpoint_bytes
from clusterspec.cost.parameters import model_weights
from clusterspec.records import dataclass
from clusterspec.spec.model import NetworksSpec, OperationsSpec


def serves(workload: Workload | None) -> bool:
    """Whether a workload serves, and saves no checkpoints."""
    return workload is not None and workload.kind == "serve"


@dataclass(frozen=True, slots=True)
class CheckpointTime:
    """Seconds to save a checkpoint, and the size and bandwidth they follow from where no time is stated."""

    seconds: float
    size: float = 0.0
    """Bytes; 0 where the time is stated."""
    store: str = ""
    """The bandwidth of the storage system as written; empty where the time is stated."""


def checkpoint_time(
    operations: OperationsSpec, networks: NetworksSpec | None, model: Model | None, workload: Workload | None
) -> CheckpointTime | None:
    """The time of one checkpoint; None where neither a time nor a storage system and a model are known, and in serving."""
    if serves(workload):
        return None
    if operations.pause is not None:
        return CheckpointTime(operations.pause.value)
    return None if operations.asynchronous else stored_checkpoint_time(networks, model, workload)


def saved_bytes(model: Model | None, workload: Workload | None) -> float | None:
    """Bytes of a checkpoint of all weights and their moments; None without a model, and where adapters alone are trained
    and saved.
    """
    if model is None or (workload is not None and workload.trainable is not None):
        return None
    return checkpoint_bytes(model_weights(model).total)


def stored_checkpoint_time(
    networks: NetworksSpec | None, model: Model | None, workload: Workload | None
) -> CheckpointTime | None:
    """The time that the storage system takes for one checkpoint; None where its bandwidth or the size is not known."""
    store, size = networks.storage.bandwidth if networks and networks.storage else None, saved_bytes(model, workload)
    if store is None or size is None or store.per_direction <= 0:
        return None
    return CheckpointTime(size / store.per_direction, size, store.written)


def written_after(
    operations: OperationsSpec, networks: NetworksSpec | None, model: Model | None, workload: Workload | None
) -> CheckpointTime | None:
    """The time after which an asynchronous checkpoint is complete; None where it is not known, or training waits."""
    if not operations.asynchronous or serves(workload):
        return None
    stated = operations.checkpoint.write_time if operations.checkpoint else None
    if stated is not None:
        return CheckpointTime(stated.value)
    return stored_checkpoint_time(networks, model, workload)
