"""Settles the work: the model, the batch, the precisions, and the peak that belongs to them."""

from __future__ import annotations

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.lookup import Lookup
from clusterspec.cluster.machine import written_peak
from clusterspec.cluster.model import Workload
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.cluster.transformer import settle_model
from clusterspec.quantity import Peak, Quantity
from clusterspec.source import Path
from clusterspec.spec.model import WorkloadSpec

PATH: Path = ("workload",)


def settle_workload(said: WorkloadSpec, accelerator: Accelerator | None, lookup: Lookup) -> Workload | None:
    """The workload, or None where its model, sequence length or batch is not known.

    The batch of a serving workload without one is one sequence, as an assumption. ``accelerator`` is
    None where the cluster could not be settled; the peak is then not known either.
    """
    log = lookup.log
    kind = log.either(said.kind, "workload.kind", "train", "nothing says that it serves")
    model = settle_model(said.model, lookup)
    batch = _global_batch(said, kind, log)
    if said.sequence_length is None:
        log.missing((*PATH, "sequence_length"), "memory and time follow it", "say it in tokens")
    if model is None or batch is None or said.sequence_length is None:
        return None
    precision = log.either(said.precision, "workload.precision", "bf16", "usual for training")
    data_loading = said.data_loading
    return Workload(
        kind=kind,
        model=model,
        sequence_length=said.sequence_length,
        global_batch=batch,
        precision=precision,
        parameter_precision=log.either(said.parameter_precision, "workload.parameter_precision", "bf16", "usual"),
        gradient_precision=log.either(
            said.gradient_precision, "workload.gradient_precision", "fp32", "gradients are usually summed in fp32"
        ),
        optimizer=log.either(said.optimizer, "workload.optimizer", "adam", "usual for transformers"),
        attention=log.either(said.attention, "workload.attention", "flash", "every current framework has it"),
        peak=_peak(said.peak_flops, accelerator, precision),
        tokens=said.tokens.value if said.tokens else None,
        data_loading=data_loading.value if isinstance(data_loading, Quantity) else None,
        expected_mfu=said.expected_mfu,
    )


def _global_batch(said: WorkloadSpec, kind: str, log: ResolutionLog) -> int | None:
    if said.global_batch is not None:
        return said.global_batch
    if kind == "serve":
        return log.assume("workload.global_batch", 1, "a serving workload states no batch: one sequence")
    log.missing((*PATH, "global_batch"), "the step is not known", "say it in sequences per optimizer step")
    return None


def _peak(said: Quantity | None, accelerator: Accelerator | None, precision: str) -> Peak | None:
    """Dense peak of one accelerator: as written, else the entry's; fp16 has bf16's unless the entry says."""
    written = written_peak(said, "workload.peak_flops") if said else None
    if written is not None or accelerator is None:
        return written
    peaks = accelerator.peaks
    return peaks.get(precision) or (peaks.get("bf16") if precision == "fp16" else None)
