"""Resolves the workload: the model, the batch or the requests, the precisions, and the corresponding peak."""

from __future__ import annotations

from clusterspec.catalog.entries import Accelerator, Model, Stack
from clusterspec.cluster.lookup import Lookup
from clusterspec.cluster.machine import written_peak
from clusterspec.cluster.model import Serving, Workload
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.cluster.serving import resolve_serving
from clusterspec.cluster.transformer import resolve_model
from clusterspec.precision import NARROW
from clusterspec.quantity import Peak, Quantity
from clusterspec.records import NamedTuple
from clusterspec.source import Path
from clusterspec.spec.model import WorkloadSpec

PATH: Path = ("workload",)


def resolve_workload(
    section: WorkloadSpec, accelerator: Accelerator | None, stack: Stack | None, lookup: Lookup
) -> Workload | None:
    """The workload, or None where its model, sequence length or batch is not known.

    A serving workload has ``serving``, or a sequence length and a batch (one sequence, as an assumption, where it
    states none). ``accelerator`` is None where the cluster could not be resolved; the peak is then not known either.
    ``stack`` is the software, which may define the precision of gradients.
    """
    log = lookup.log
    kind = _kind(section, log)
    model = resolve_model(section.model, lookup)
    serving, size = _size(section, kind, (model, stack), log)
    if model is None or size is None:
        return None
    precisions = _precisions(section, kind, (model, stack), log)
    data_loading = section.data_loading
    return Workload(
        kind=kind,
        model=model,
        sequence_length=size.sequence_length,
        global_batch=size.global_batch,
        precision=precisions.work,
        parameter_precision=precisions.parameters,
        expert_parameter_precision=section.expert_parameter_precision or precisions.parameters,
        kv_precision=precisions.cache,
        gradient_precision=precisions.gradients,
        optimizer=_optimizer(section, kind, log),
        attention=log.either(section.attention, "workload.attention", "flash", "every current framework has it"),
        peak=_peak(section.peak_flops, accelerator, precisions.work),
        tokens=section.tokens.value if section.tokens else None,
        data_loading=data_loading.value if isinstance(data_loading, Quantity) else None,
        expected_mfu=section.expected_mfu,
        serving=serving,
    )


def _kind(section: WorkloadSpec, log: ResolutionLog) -> str:
    if section.kind is None and section.serving is not None:
        return log.assume("workload.kind", "serve", "`serving` describes its requests")
    return log.either(section.kind, "workload.kind", "train", "nothing states that it serves")


class _Size(NamedTuple):
    """Tokens of a sequence, and sequences of a batch or in flight."""

    sequence_length: int
    global_batch: int


def _size(
    section: WorkloadSpec, kind: str, known: tuple[Model | None, Stack | None], log: ResolutionLog
) -> tuple[Serving | None, _Size | None]:
    """The requests, and the size of the workload; None where a problem states what is missing. ``known`` are the model
    and the software.
    """
    model, stack = known
    if kind == "serve" and section.serving is not None:
        serving = resolve_serving(section.serving, model.experts if model else 0, stack, log)
        return serving, _Size(serving.tokens, serving.concurrency or 1) if serving else None
    batch = _global_batch(section, kind, log)
    if section.sequence_length is None:
        log.missing((*PATH, "sequence_length"), "memory and time depend on it", "write it in tokens")
    if batch is None or section.sequence_length is None:
        return None, None
    return None, _Size(section.sequence_length, batch)


def _global_batch(section: WorkloadSpec, kind: str, log: ResolutionLog) -> int | None:
    if section.global_batch is not None:
        return section.global_batch
    if kind == "serve":
        return log.assume("workload.global_batch", 1, "a serving workload states no batch: one sequence")
    log.missing((*PATH, "global_batch"), "the step is not known", "write it in sequences per optimizer step")
    return None


def _optimizer(section: WorkloadSpec, kind: str, log: ResolutionLog) -> str:
    if kind != "train":
        return section.optimizer or "adam"
    return log.either(section.optimizer, "workload.optimizer", "adam", "usual for transformers")


class _Precisions(NamedTuple):
    work: str
    parameters: str
    gradients: str
    cache: str


def _precisions(section: WorkloadSpec, kind: str, known: tuple[Model, Stack | None], log: ResolutionLog) -> _Precisions:
    usual = "usual for training" if kind == "train" else "usual for serving"
    work = log.either(section.precision, "workload.precision", "bf16", usual)
    parameters = log.either(section.parameter_precision, "workload.parameter_precision", "bf16", "usual")
    cache = section.kv_precision
    if cache is None:
        cache = _cache(parameters, kind, known, log)
    return _Precisions(
        work=work, parameters=parameters, gradients=_gradients(section, work, kind, known[1], log), cache=cache
    )


def _cache(parameters: str, kind: str, known: tuple[Model, Stack | None], log: ResolutionLog) -> str:
    """The precision of the cache where the spec states none: that of the software for quantized weights, else bf16."""
    if kind != "serve":
        return "bf16"
    model, stack = known
    quantized = stack.serving.quantized_cache if stack is not None and stack.serving is not None else None
    if quantized and parameters in NARROW and not model.latent:
        why = f"what checkpoints in {parameters} state, which the software follows"
        return log.assume("workload.kv_precision", quantized, why)
    return log.assume("workload.kv_precision", "bf16", "the default of serving frameworks")


def _gradients(section: WorkloadSpec, work: str, kind: str, stack: Stack | None, log: ResolutionLog) -> str:
    """The precision in which gradients are stored and reduced: that of the software where the spec states none."""
    if section.gradient_precision is not None or kind != "train":
        return section.gradient_precision or "fp32"
    if stack is None:
        return log.assume("workload.gradient_precision", "fp32", "gradients are usually summed in fp32")
    found = stack.memory.gradient_precision(work)
    sent = f", sent in {stack.reduces}" if stack.reduces else ""
    return log.assume("workload.gradient_precision", found, f"what {stack.id} does when products run in {work}{sent}")


def _peak(section: Quantity | None, accelerator: Accelerator | None, precision: str) -> Peak | None:
    """Dense peak of one accelerator: as written, else the entry's; that of bf16 for fp16 where the entry states
    none.
    """
    written = written_peak(section, "workload.peak_flops") if section else None
    if written is not None or accelerator is None:
        return written
    peaks = accelerator.peaks
    return peaks.get(precision) or (peaks.get("bf16") if precision == "fp16" else None)
