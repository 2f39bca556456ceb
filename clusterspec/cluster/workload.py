"""Resolves the workload: model, batch or requests, precisions and peak."""

from __future__ import annotations

from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.models import Model, SparseAttention, TokenPrediction
from clusterspec.catalog.stacks import Stack
from clusterspec.cluster.model import Trainable, Workload
from clusterspec.cluster.resolution import MODEL_PATH, Lookup, ResolutionLog, written_peak
from clusterspec.quantity import NARROW, PRECISIONS, ROUNDED, Peak, Quantity
from clusterspec.records import NamedTuple, replace
from clusterspec.source import Path
from clusterspec.spec.model import ModelSpec, WorkloadSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.requests import Serving

WORKLOAD_PATH: Path = ("workload",)
SCALED_BLOCK = 128
"""Rows and columns of the weights that share a scale in checkpoints of the recipe `blockwise`."""


def resolve_workload(
    section: WorkloadSpec, accelerator: Accelerator | None, stack: Stack | None, lookup: Lookup
) -> Workload | None:
    """The workload, or None if its model, sequence length or batch is not known.

    A serving workload has ``serving``, or a sequence length and a batch (one sequence, as an assumption, where it
    states none). ``accelerator`` is None if the cluster could not be resolved; the peak is then not known either.
    ``stack`` is the software, which may define the precision of gradients.
    """
    log = lookup.log
    kind = _workload_kind(section, log)
    model = _with_scaled_blocks(resolve_model(section.model, lookup), section, kind)
    serving, size = _workload_size(section, kind, (model, stack, accelerator), log)
    if model is None or size is None:
        return None
    precisions = _resolved_precisions(section, kind, (model, stack, accelerator), log)
    if kind == "serve" and model.sparse is not None:
        _assume_selection(model, model.sparse, log)
    data_loading = section.data_loading
    return Workload(
        kind=kind,
        model=_with_wide_layers(_with_predicted_layers(model, section, kind, log), section, kind, precisions.work),
        sequence_length=size.sequence_length,
        global_batch=size.global_batch,
        precision=precisions.work,
        parameter_precision=precisions.parameters,
        expert_parameter_precision=precisions.experts,
        kv_precision=precisions.cache,
        gradient_precision=precisions.gradients,
        optimizer=_resolved_optimizer(section, kind, log),
        attention=log.written_or_assumed(
            section.attention, "workload.attention", "flash", "every current framework has it"
        ),
        peak=_dense_peak(section.peak_flops, accelerator, precisions.work),
        tokens=section.tokens.value if section.tokens else None,
        data_loading=data_loading.value if isinstance(data_loading, Quantity) else None,
        expected_mfu=section.expected_mfu,
        serving=serving,
        recipe=section.recipe,
        quantization=section.quantization,
        trainable=_resolved_adapters(section, kind, model.experts, log),
        document_length=_document_length(section, log),
        residual_precision=section.residual_precision,
    )


def _with_scaled_blocks(model: Model | None, section: WorkloadSpec, kind: str) -> Model | None:
    """The model with the blocks of weights that share a scale, for an engine that loads blocks if the model has none.

    Source: 128 × 128 weights, DeepSeek-V3, arXiv 2412.19437, section 3.3.2.
    """
    if model is None or model.fp8_block or kind != "serve" or section.recipe != "blockwise":
        return model
    return replace(model, fp8_block=SCALED_BLOCK)


def resolve_model(written: str | ModelSpec | None, lookup: Lookup) -> Model | None:
    """The model: an entry of the catalog, an entry with some keys changed, or a description in the spec. None, with a
    problem, where it is absent, unknown or incompletely described.
    """
    if written is None:
        lookup.log.report_missing(MODEL_PATH, "the spec does not name a model", "name a catalog model or describe one")
        return None
    if isinstance(written, str):
        return lookup.model(written, MODEL_PATH)
    from clusterspec.cluster.transformer import changed_model, described_model  # most specs name an entry

    if written.base is None:
        return described_model(written, lookup.log)
    base = lookup.model(written.base, (*MODEL_PATH, "base"))
    return changed_model(base, written, lookup.log) if base else None


def _assume_selection(model: Model, sparse: SparseAttention, log: ResolutionLog) -> None:
    """Lists the assumption that layers of latent attention without a sparse index reuse the selection of an earlier
    layer.
    """
    key = "workload.model.sparse_attention"
    if model.latent and not model.compressed and sparse.layers < model.full_layers:
        without = model.full_layers - sparse.layers
        why = f"{without} layers have no index: they attend to what the index of another selects, as in GLM-5.2"
        log.assume(key, "the selection of a layer before", why)


USUAL_RANK = 16
ADAPTED = ("attention", "ffn")


def _resolved_adapters(section: WorkloadSpec, kind: str, experts: int, log: ResolutionLog) -> Trainable | None:
    """The adapters that are trained; None if all weights are."""
    written = section.trainable
    if kind == "serve" or written is None or (method := written.method or "lora") == "full":
        return None
    key = "workload.trainable"
    if written.method is None:
        log.assume(f"{key}.method", method, "a rank or modules of adapters are given")
    rank = log.written_or_assumed(written.rank, f"{key}.rank", USUAL_RANK, "a usual rank")
    usual = "all linear layers, as QLoRA finds necessary (arXiv 2305.14314, section 4)"
    why = f"{usual}, without routed experts" if experts else usual
    modules = log.written_or_assumed(written.modules, f"{key}.modules", ADAPTED, why)
    return Trainable(method, rank, modules, written.precision, written.autocast is not False)


def _with_predicted_layers(model: Model, section: WorkloadSpec, kind: str, log: ResolutionLog) -> Model:
    """The model with the further layers of multi-token prediction that training runs."""
    if kind != "train" or (model.prediction is None and not section.predicted_layers):
        return model
    why = "a run may train the model without its layers of multi-token prediction"
    predicted = log.written_or_assumed(section.predicted_layers, "workload.predicted_layers", 0, why)
    usual = TokenPrediction(predicted, "experts" if model.experts else "dense")
    return replace(model, prediction=model.prediction or usual, predicted=predicted) if predicted else model


def _with_wide_layers(model: Model, section: WorkloadSpec, kind: str, precision: str) -> Model:
    """The model with the first and last layers that training computes in 16 bits although ``precision`` is narrower."""
    written = section.bf16_layers
    if written is None or kind != "train" or precision not in NARROW:
        return model
    first = min(written.first, model.layers)
    return replace(model, wide_layers=(first, min(written.last, model.layers - first)))


def _document_length(section: WorkloadSpec, log: ResolutionLog) -> float | None:
    """Mean document length in tokens, weighted by tokens: E[L²] / E[L] for documents of length L, at most the sequence
    length.
    """
    if section.document_tokens is None:
        return None
    from clusterspec.cluster.serving import resolved_lengths

    lengths = resolved_lengths(section.document_tokens, (*WORKLOAD_PATH, "document_tokens"), log)
    if lengths is None or section.sequence_length is None:
        return None
    return min(float(section.sequence_length), lengths.mean * (1 + lengths.variation))


def _workload_kind(section: WorkloadSpec, log: ResolutionLog) -> str:
    if section.kind is None and section.serving is not None:
        return log.assume("workload.kind", "serve", "`serving` describes its requests")
    return log.written_or_assumed(section.kind, "workload.kind", "train", "nothing states that it serves")


class _Size(NamedTuple):
    """Tokens of a sequence, and sequences of a batch or in flight."""

    sequence_length: int
    global_batch: int


def _workload_size(
    section: WorkloadSpec,
    kind: str,
    parts: tuple[Model | None, Stack | None, Accelerator | None],
    log: ResolutionLog,
) -> tuple[Serving | None, _Size | None]:
    """The requests, and the size of the workload; None if a problem states what is missing. ``parts`` are the model,
    the software and the accelerator.
    """
    model, stack, accelerator = parts
    if kind == "serve" and section.serving is not None:
        from clusterspec.cluster.serving import resolve_serving  # a training plan needs none of it

        serving = resolve_serving(section.serving, model, stack, accelerator, log)
        return serving, _Size(serving.tokens, serving.concurrency or 1) if serving else None
    if log.unreadable((*WORKLOAD_PATH, "kind")) and None in (section.sequence_length, section.global_batch):
        return None, None  # what it needs depends on its kind
    batch = _global_batch(section, kind, log)
    if section.sequence_length is None:
        remedy = "write it in tokens"
        if kind == "serve":
            remedy += ", or describe the requests: `input_tokens`, `output_tokens` and a load in `workload.serving`"
        log.report_missing((*WORKLOAD_PATH, "sequence_length"), "memory and time depend on it", remedy)
    if batch is None or section.sequence_length is None:
        return None, None
    return None, _Size(section.sequence_length, batch)


def _global_batch(section: WorkloadSpec, kind: str, log: ResolutionLog) -> int | None:
    if section.global_batch is not None:
        return section.global_batch
    if kind == "serve":
        return log.assume("workload.global_batch", 1, "a serving workload states no batch: one sequence")
    log.report_missing(
        (*WORKLOAD_PATH, "global_batch"), "the step is not known", "write it in sequences per optimizer step"
    )
    return None


def _resolved_optimizer(section: WorkloadSpec, kind: str, log: ResolutionLog) -> str:
    if kind != "train":
        return section.optimizer or "adam"
    return log.written_or_assumed(section.optimizer, "workload.optimizer", "adam", "usual for transformers")


class _Precisions(NamedTuple):
    work: str
    parameters: str
    experts: str
    gradients: str
    cache: str


def _resolved_precisions(
    section: WorkloadSpec, kind: str, parts: tuple[Model, Stack | None, Accelerator | None], log: ResolutionLog
) -> _Precisions:
    model, stack, accelerator = parts
    loaded = model if kind == "serve" and _loads_checkpoint(section, model) else None
    usual, why = "bf16", "usual for training" if kind == "train" else "usual for serving"
    kept = section.parameter_precision or (loaded.checkpoint_precision if loaded else None)
    if kind == "serve" and (products := _multiplication_precision(kept, model, accelerator)):
        executed = accelerator is not None and products in accelerator.peaks
        usual = products if executed else usual
        why = (
            f"engines multiply {kept} weights in {products}"
            if executed
            else f"the accelerator does not multiply in {products}"
        )
    work = log.written_or_assumed(section.precision, "workload.precision", usual, why)
    parameters, experts = _weight_precisions(section, loaded, log)
    return _Precisions(
        work=work,
        parameters=parameters,
        experts=experts,
        gradients=_gradient_precision(section, work, kind, stack, log),
        cache=section.kv_precision or _cache_precision(parameters, kind, (model, stack), log),
    )


ROUNDED_BY_VENDOR = {"AMD": "mxfp4"}
"""The precision to which checkpoints that a vendor quantized for its accelerators round activations as well
(https://huggingface.co/amd/DeepSeek-R1-0528-MXFP4).
"""


def _multiplication_precision(stored: str | None, model: Model | None, accelerator: Accelerator | None) -> str | None:
    """The precision to which engines round activations if weights are stored in ``stored``; None if activations stay in
    16 bits.

    Models published in the precision of `ROUNDED_BY_VENDOR` use it for experts only, with activations in 16 bits.
    """
    of_vendor = ROUNDED_BY_VENDOR.get(accelerator.vendor) if accelerator is not None else None
    published = model.checkpoint_expert_precision if model is not None else stored
    rounded = stored in ROUNDED or (stored == of_vendor and published != stored)
    return PRECISIONS[stored].rates[0] if stored and rounded else None


def _loads_checkpoint(section: WorkloadSpec, model: Model) -> bool:
    """Whether the weights come from the published checkpoint. This is so if the spec states the checkpoint's quantized
    precision, or if it leaves `parameter_precision` open and states no other `precision`.

    Weights of 16 bits may come from another, unquantized checkpoint.
    """
    if section.parameter_precision is not None:
        return section.parameter_precision == model.checkpoint_precision and section.parameter_precision in NARROW
    return model.checkpoint_precision is None or section.precision in {None, model.checkpoint_precision}


def _weight_precisions(section: WorkloadSpec, loaded: Model | None, log: ResolutionLog) -> tuple[str, str]:
    """The precisions of weights and of expert weights: as written, else as in the checkpoint of ``loaded``,
    else bf16.
    """
    kept = loaded.checkpoint_precision if loaded else None
    why = f"as in the checkpoint of {loaded.name}" if loaded else "usual"
    written = section.parameter_precision, section.expert_parameter_precision
    parameters = log.written_or_assumed(
        written[0], "workload.parameter_precision", kept or "bf16", why if kept else "usual"
    )
    experts = loaded.checkpoint_expert_precision if loaded else None
    if experts is None:
        return parameters, written[1] or parameters
    return parameters, log.written_or_assumed(written[1], "workload.expert_parameter_precision", experts, why)


def _cache_precision(parameters: str, kind: str, parts: tuple[Model, Stack | None], log: ResolutionLog) -> str:
    """The default precision of the KV cache: the software's cache precision for quantized weights, else bf16."""
    if kind != "serve":
        return "bf16"
    model, stack = parts
    quantized = stack.serving.quantized_cache if stack is not None and stack.serving is not None else None
    if quantized and parameters in NARROW and not model.latent:
        why = f"what checkpoints in {parameters} state, which the software follows"
        return log.assume("workload.kv_precision", quantized, why)
    return log.assume("workload.kv_precision", "bf16", "the default of serving frameworks")


def _gradient_precision(section: WorkloadSpec, work: str, kind: str, stack: Stack | None, log: ResolutionLog) -> str:
    """The precision in which gradients are stored and reduced: the stated one, else the software's."""
    if section.gradient_precision is not None or kind != "train":
        return section.gradient_precision or "fp32"
    if stack is None:
        return log.assume("workload.gradient_precision", "fp32", "gradients are usually summed in fp32")
    found = stack.memory.gradient_precision(work)
    sent = f", sent in {stack.reduces}" if stack.reduces else ""
    return log.assume("workload.gradient_precision", found, f"as in {stack.id} when GEMMs run in {work}{sent}")


def _dense_peak(section: Quantity | None, accelerator: Accelerator | None, precision: str) -> Peak | None:
    """Dense peak of one accelerator: as written, else from its entry.

    fp16 takes the bf16 peak if the entry says that the part executes fp16 but states no fp16 peak.
    """
    written = written_peak(section, "workload.peak_flops") if section else None
    if written is not None or accelerator is None:
        return written
    peaks, executed = accelerator.peaks, accelerator.unpublished_peaks
    return peaks.get(precision) or (peaks.get("bf16") if precision == "fp16" and "fp16" in executed else None)
