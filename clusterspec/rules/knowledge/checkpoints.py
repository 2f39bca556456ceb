"""Checkpoint time: as stated, else from the rates of the storage system and its clients."""

from __future__ import annotations

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.formulas.failures import checkpoint_bytes
from clusterspec.cost.parameters import model_weights
from clusterspec.cost.storage import moved_checkpoint
from clusterspec.cost.term import Term
from clusterspec.records import dataclass
from clusterspec.spec.model import NetworkSpec, NetworksSpec, OperationsSpec
from clusterspec.units import display, plural

ROUNDED = 0.1
"""Share by which a stated time may be below the computed time, because checkpoint formats differ in size."""


def is_serving(workload: Workload | None) -> bool:
    """Whether a workload serves, and saves no checkpoints."""
    return workload is not None and workload.kind == "serve"


@dataclass(frozen=True)
class CheckpointTime:
    """Seconds to move a checkpoint, and their derivation where no time is stated."""

    seconds: float
    size: float = 0.0
    """Bytes; 0 where the time is stated."""
    store: str = ""
    """The rate of the storage system, and its bottleneck; empty where the time is stated."""
    behind_clients: bool = False
    """Whether all clients together reach a lower rate than the storage system."""


def checkpoint_time(
    operations: OperationsSpec,
    networks: NetworksSpec | None,
    model: Model | None,
    workload: Workload | None,
    layout: Layout | None,
) -> CheckpointTime | None:
    """The time of one checkpoint; None if neither a time nor a storage system and a model are known, and in serving."""
    if is_serving(workload):
        return None
    if operations.pause is not None:
        return CheckpointTime(operations.pause.value)
    return None if operations.is_asynchronous else stored_checkpoint_time(networks, model, workload, layout)


def saved_bytes(model: Model | None, workload: Workload | None) -> float | None:
    """Bytes of a checkpoint of all weights and optimizer moments; None without a model, or if only adapters are trained
    and saved.
    """
    if model is None or (workload is not None and workload.trainable is not None):
        return None
    return checkpoint_bytes(model_weights(model).total)


def stored_checkpoint_time(
    networks: NetworksSpec | None,
    model: Model | None,
    workload: Workload | None,
    layout: Layout | None,
    *,
    reads: bool = False,
) -> CheckpointTime | None:
    """The time in which a job's nodes write one checkpoint to the storage system, or read it; None if the bandwidth
    or the size is unknown.

    Without a layout, the number of clients and files sets no limit.
    """
    store, size = networks.storage if networks else None, saved_bytes(model, workload)
    if (
        networks is None
        or store is None
        or store.bandwidth is None
        or size is None
        or store.bandwidth.per_direction <= 0
    ):
        return None
    stated = (store.read or store.bandwidth) if reads else store.bandwidth
    if layout is None or model is None:
        return CheckpointTime(size / stated.per_direction, size, stated.written)
    moved = moved_checkpoint(networks, model_weights(model).total, layout, reads=reads)
    behind = moved.rate.value < 0.999 * stated.per_direction
    text = (_limited_text(moved.rate) if behind else stated.written) + _files_text(store, layout, reads=reads)
    return CheckpointTime(moved.seconds.value, size, text, behind)


def _limited_text(rate: Term) -> str:
    """Text with the rate that clients reach, if it is below the storage system's."""
    figures = dict(rate.inputs)
    clients, each = int(figures["clients"].value), display(figures["per_client"].value, "B/s")
    return f"{display(rate.value, 'B/s')} ({plural(clients, 'client')} of {each} each)"


def _files_text(store: NetworkSpec, layout: Layout, *, reads: bool) -> str:
    """Text with the number of files to create or open first; empty without a stated metadata rate."""
    if not store.metadata_rate:
        return ""
    verb = "opening" if reads else "creating"
    return f" after {verb} {layout.ranks:,} files at {display(store.metadata_rate, '1')} a second"


def asynchronous_checkpoint_time(
    operations: OperationsSpec,
    networks: NetworksSpec | None,
    model: Model | None,
    workload: Workload | None,
    layout: Layout | None,
) -> CheckpointTime | None:
    """The time after which an asynchronous checkpoint is complete; None if it is not known, or training waits."""
    if not operations.is_asynchronous or is_serving(workload):
        return None
    stated = operations.checkpoint.write_time if operations.checkpoint else None
    if stated is not None:
        return CheckpointTime(stated.value)
    return stored_checkpoint_time(networks, model, workload, layout)
