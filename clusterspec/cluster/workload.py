"""Resolves the workload: the model, the batch or the requests, the precisions, and the peak that belongs to them."""

from __future__ import annotations

from typing import NamedTuple

from clusterspec.catalog.entries import Accelerator, Model, Stack
from clusterspec.cluster.lookup import Lookup
from clusterspec.cluster.machine import written_peak
from clusterspec.cluster.model import Serving, Workload
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.cluster.serving import resolve_serving
from clusterspec.cluster.transformer import settle_model
from clusterspec.quantity import Peak, Quantity
from clusterspec.source import Path
from clusterspec.spec.model import WorkloadSpec

PATH: Path = ("workload",)


def resolve_workload(
    said: WorkloadSpec, accelerator: Accelerator | None, stack: Stack | None, lookup: Lookup
) -> Workload | None:
    """The workload, or None where its model, sequence length or batch is not known.

    A serving workload has ``serving``, or a sequence length and a batch (one sequence, as an assumption,
    where it states none). ``accelerator`` is None where the cluster could not be resolved; the peak is
    then not known either. ``stack`` is the software, which may have its own precision of gradients.
    """
    log = lookup.log
    kind = _kind(said, log)
    model = settle_model(said.model, lookup)
    serving, size = _size(said, kind, model, log)
    if model is None or size is None:
        return None
    precisions = _precisions(said, kind, stack, log)
    data_loading = said.data_loading
    return Workload(
        kind=kind,
        model=model,
        sequence_length=size.sequence_length,
        global_batch=size.global_batch,
        precision=precisions.work,
        parameter_precision=precisions.parameters,
        expert_parameter_precision=said.expert_parameter_precision or precisions.parameters,
        kv_precision=precisions.cache,
        gradient_precision=precisions.gradients,
        optimizer=_optimizer(said, kind, log),
        attention=log.either(said.attention, "workload.attention", "flash", "every current framework has it"),
        peak=_peak(said.peak_flops, accelerator, precisions.work),
        tokens=said.tokens.value if said.tokens else None,
        data_loading=data_loading.value if isinstance(data_loading, Quantity) else None,
        expected_mfu=said.expected_mfu,
        serving=serving,
    )


def _kind(said: WorkloadSpec, log: ResolutionLog) -> str:
    if said.kind is None and said.serving is not None:
        return log.assume("workload.kind", "serve", "`serving` describes its requests")
    return log.either(said.kind, "workload.kind", "train", "nothing states that it serves")


class _Size(NamedTuple):
    """Tokens of a sequence, and sequences of a batch or in flight."""

    sequence_length: int
    global_batch: int


def _size(
    said: WorkloadSpec, kind: str, model: Model | None, log: ResolutionLog
) -> tuple[Serving | None, _Size | None]:
    """The requests, and the size of the work; None where a problem says what is missing."""
    if kind == "serve" and said.serving is not None:
        serving = resolve_serving(said.serving, model.experts if model else 0, log)
        return serving, _Size(serving.tokens, serving.concurrency or 1) if serving else None
    batch = _global_batch(said, kind, log)
    if said.sequence_length is None:
        log.missing((*PATH, "sequence_length"), "memory and time depend on it", "write it in tokens")
    if batch is None or said.sequence_length is None:
        return None, None
    return None, _Size(said.sequence_length, batch)


def _global_batch(said: WorkloadSpec, kind: str, log: ResolutionLog) -> int | None:
    if said.global_batch is not None:
        return said.global_batch
    if kind == "serve":
        return log.assume("workload.global_batch", 1, "a serving workload states no batch: one sequence")
    log.missing((*PATH, "global_batch"), "the step is not known", "write it in sequences per optimizer step")
    return None


def _optimizer(said: WorkloadSpec, kind: str, log: ResolutionLog) -> str:
    if kind != "train":
        return said.optimizer or "adam"
    return log.either(said.optimizer, "workload.optimizer", "adam", "usual for transformers")


class _Precisions(NamedTuple):
    work: str
    parameters: str
    gradients: str
    cache: str


def _precisions(said: WorkloadSpec, kind: str, stack: Stack | None, log: ResolutionLog) -> _Precisions:
    usual = "usual for training" if kind == "train" else "usual for serving"
    work = log.either(said.precision, "workload.precision", "bf16", usual)
    cache = said.kv_precision or "bf16"
    if kind == "serve" and said.kv_precision is None:
        log.assume("workload.kv_precision", cache, "the default of serving frameworks")
    return _Precisions(
        work=work,
        parameters=log.either(said.parameter_precision, "workload.parameter_precision", "bf16", "usual"),
        gradients=_gradients(said, work, kind, stack, log),
        cache=cache,
    )


def _gradients(said: WorkloadSpec, work: str, kind: str, stack: Stack | None, log: ResolutionLog) -> str:
    """The precision in which gradients are kept and reduced: what the software does where the spec states none."""
    if said.gradient_precision is not None or kind != "train":
        return said.gradient_precision or "fp32"
    if stack is None:
        return log.assume("workload.gradient_precision", "fp32", "gradients are usually summed in fp32")
    found = stack.memory.gradient_precision(work)
    return log.assume("workload.gradient_precision", found, f"what {stack.id} does when products run in {work}")


def _peak(said: Quantity | None, accelerator: Accelerator | None, precision: str) -> Peak | None:
    """Dense peak of one accelerator: as written, else the entry's; fp16 has bf16's unless the entry says."""
    written = written_peak(said, "workload.peak_flops") if said else None
    if written is not None or accelerator is None:
        return written
    peaks = accelerator.peaks
    return peaks.get(precision) or (peaks.get("bf16") if precision == "fp16" else None)
