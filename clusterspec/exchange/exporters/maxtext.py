"""Training designs as a MaxText configuration.

Keys, defaults and conditions: MaxText, commit e591f30c, ``src/maxtext/configs/base.yml`` (lines 170 ``decoder_block``,
317 to 327 pipeline, 350 ``remat_policy``, 531 mesh axes, 659 to 690 degrees over slices (dcn) and within one (ici), 731
``per_device_batch_size``, 968 ``gradient_accumulation_steps``, 1201 ``context_parallel_strategy``) and
``src/maxtext/configs/types.py`` (lines 83 quantizations, 216 names of models, 3458 batch, 3575 to 3619 stages and
micro-batches). The product of all degrees is the number of devices; the product of the dcn degrees is the number of
slices (``src/maxtext/utils/max_utils.py``, line 461): the ``expert`` axis is separate from ``fsdp``. Release 0.2.5
(PyPI, read 2026-11-27) has the same keys with the same defaults.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from clusterspec.catalog.models import Model
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.exchange.exporters.maxtext_models import decoder_of, model_lines
from clusterspec.exchange.exporters.registry import (
    ExportedFile,
    ExportInput,
    NotExportable,
    replicate_and_shard_degrees,
    shards_by_context,
    steps_of_run,
    training_design,
    training_omissions,
    unchanged_model,
)
from clusterspec.units import plural

_OF_MUON = {"deepseek", "gemma3", "llama2", "qwen3"}
"""Decoders that Muon trains (types.py, line 4250)."""
_OPTIMIZERS = {"adam": "adamw", "adamw": "adamw", "sgd": "sgd", "muon": "muon"}
_REMAT = {"none": "none", "full": "full", "selective": "minimal"}
_STRATEGIES = {"ring": "ring", "all-gather": "all_gather", "all-to-all": "ulysses"}
_PRECISIONS = {"fp8": "fp8", "int8": "int8", "bf16": "", "fp16": "", "fp32": ""}
_ENGINE = {
    ("fp8", "delayed"): "te_fp8_delayedscaling",
    ("fp8", "current"): "te_fp8_currentscaling",
    ("fp8", "mxfp8"): "te_mxfp8",
    ("fp4", "nvfp4"): "te_nvfp4",
}
"""Quantizations of Transformer Engine, by precision and recipe (types.py, line 98); only NVIDIA GPUs have them."""
_NANOO = ("mi300", "mi325")
"""Accelerators with the 8-bit formats of ``nanoo_fp8`` (base.yml, line 120)."""
_UNACCUMULATED = {"fp8", "nanoo_fp8", "te_fp8_delayedscaling"}
"""Quantizations that MaxText refuses with ``gradient_accumulation_steps`` above 1 (types.py, line 3879)."""


_BASE = "base_config: base.yml"
"""The file with the rules that divide arrays over the mesh; MaxText has no rules without it
(``src/maxtext/configs/pyconfig.py``, line 188; types.py, line 1178).
"""


def write(source: ExportInput) -> ExportedFile:
    """The configuration. Raises `NotExportable` if MaxText has no such mesh, stages or model."""
    layout, work = training_design(source, "maxtext")
    quantized = _quantization_option(source.cluster, work)
    if work.optimizer not in _OPTIMIZERS or quantized is None:
        raise NotExportable(f"MaxText has no {work.optimizer} in {work.precision}")
    if quantized in _UNACCUMULATED and layout.pp == 1 and (layout.micro_batches or 1) > 1:
        raise NotExportable(f"MaxText refuses {quantized} with {layout.micro_batches} micro-batches accumulated")
    name = unchanged_model(source)
    decoder = decoder_of(work.model, name)
    if work.optimizer == "muon" and decoder not in _OF_MUON:
        raise NotExportable(f"MaxText trains no {decoder} decoder with muon")
    if decoder == "deepseek" and layout.pp > 1 and work.model.moe_layers < work.model.layers:  # types.py, line 3566
        raise NotExportable("MaxText keeps the first layers, without experts, outside of its pipeline")
    unstated = "data, tokenizer and run_name" if work.tokens else "data, tokenizer, steps and run_name"
    omitted = [unstated, *training_omissions(work), *_omission_texts(layout)]
    lines = [f"# {source.name}: {plural(layout.ranks, 'device')} on {plural(layout.nodes, 'node')}", _BASE]
    if source.cluster.accelerator.vendor != "Google":
        lines.append("hardware: gpu_multiprocess" if layout.nodes > 1 else "hardware: gpu")
    lines += model_lines(layout.tp, work, name, omitted)
    if source.cluster.accelerator.vendor != "Google":
        lines += _kernel_lines(work.model, omitted)
    lines += [f"max_target_length: {work.sequence_length}", *_batch_lines(layout, work, decoder)]
    if steps := steps_of_run(work, omitted):
        lines.append(f"steps: {steps}")
    lines += _mesh_lines(source.cluster, layout)
    if layout.cp > 1:
        lines += _context_lines(source.cluster, layout, work, omitted)
    elif work.model.sparse and source.cluster.accelerator.vendor == "Google":
        lines += _SPLASH
    if layout.sharding in {"zero1", "zero2"}:
        lines.append("shard_optimizer_over_data: true")
    remat = _REMAT.get(layout.recompute, "minimal") if isinstance(layout.recompute, str) else "minimal"
    lines.append(f"remat_policy: {remat}")
    lines += [f"quantization: {quantized}"] if quantized else []
    if work.recipe and not quantized.startswith("te_"):
        omitted.append(f"the recipe {work.recipe}: MaxText has it only with Transformer Engine, or not at all")
    lines.append(f"dtype: { {'fp16': 'float16', 'fp32': 'float32'}.get(work.precision, 'bfloat16') }")
    lines.append(f"opt_type: {_OPTIMIZERS[work.optimizer]}")
    if layout.offload_optimizer == 1:
        lines.append("optimizer_memory_host_offload: true")
    lines += _stated_lines(source, omitted)
    return ExportedFile("\n".join([*lines, ""]), tuple(omitted))


_GRADIENTS = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}


def _stated_lines(source: ExportInput, omitted: list[str]) -> Iterator[str]:
    """Options for keys of a spec that MaxText otherwise decides itself; what it has no option for is ``omitted``.

    MaxText e591f30c: base.yml, lines 111 (``grad_dtype``) and 392 (``attention``), trainers/pre_train/train.py, line
    535 (gradients are cast after they are computed).
    """
    layout, work, asked = source.layout, source.workload, source.design.spec.workload
    if asked is None or layout is None or work is None:
        return
    if asked.gradient_precision in _GRADIENTS:
        yield f"grad_dtype: {_GRADIENTS[asked.gradient_precision]}"
    elif asked.gradient_precision:
        omitted.append(f"gradients in {asked.gradient_precision}")
    google, taken = source.cluster.accelerator.vendor == "Google", work.model.window or work.model.sparse
    if asked.attention and (layout.cp > 1 or taken or (work.attention != "plain" and not google)):
        omitted.append(f"attention {asked.attention}: see the option attention")
    elif asked.attention:
        yield f"attention: {'dot_product' if work.attention == 'plain' else 'flash'}"


_SPLASH = ("attention: flash", "use_tokamax_splash: true")
"""The attention kernel on TPUs that supports ring attention and attention to selected tokens."""


def _kernel_lines(model: Model, omitted: list[str]) -> Iterator[str]:
    """Kernels for devices other than TPUs; the default kernels are made for TPUs.

    MaxText e591f30c: on other devices the kernel of experts by default (``megablox``) is interpreted, step by step
    (layers/moe.py, line 1521; configs/gpu/models/mixtral_8x7b.yml turns it off), and the kernel of attention has only a
    causal mask and refuses sinks (layers/attention_op.py, lines 137 and 1491). Attention to selected tokens takes
    ``dot_product``, or `_SPLASH` on TPUs (configs/types.py, line 3803).
    """
    if model.experts:
        yield "megablox: false"
    if model.window or model.sparse:
        lacking = "windows" if model.window else "selected tokens"
        omitted.append(
            f"flash attention: by default MaxText's has no {lacking} on GPUs, and `dot_product` keeps all scores"
        )
        yield "attention: dot_product"


def _context_lines(cluster: Cluster, layout: Layout, work: Workload, omitted: list[str]) -> Iterator[str]:
    """How context parallelism exchanges keys, with the only attention kernel that supports it.

    MaxText e591f30c: on GPUs ``cudnn_flash_te`` (layers/attention_op.py, lines 1437 and 2230), without packed data or
    windows; ``autoselected`` takes a kernel that attends within a rank. Rings of TPUs: configs/types.py, line 4021.
    Raises `NotExportable` for what it refuses.
    """
    strategy, google = _STRATEGIES[layout.cp_method], cluster.accelerator.vendor == "Google"
    if strategy == "ulysses" and not google:
        raise NotExportable("MaxText exchanges heads (all-to-all) only on TPUs")
    if work.model.window and (strategy == "ring" or not google):
        raise NotExportable("MaxText has no layers with windows under this context parallelism")
    unpacked = not google or (strategy == "ring" and bool(work.model.latent))
    if work.model.sparse and (strategy != "ring" or not google):
        raise NotExportable("MaxText has no attention to selected tokens under this context parallelism")
    if not google:
        yield "attention: cudnn_flash_te"
    elif strategy == "ulysses":
        if refused := _refused_exchange(cluster, layout, work):
            raise NotExportable(f"MaxText exchanges heads (all-to-all) {refused}")
        yield from (*_SPLASH, "context_parallel_load_balance: false")
    elif strategy == "ring":
        if work.sequence_length % layout.cp**2 or layout.cp % 2:
            raise NotExportable(f"MaxText needs a length that {layout.cp}² divides, and an even cp, for its ring")
        yield from _SPLASH
    if unpacked:
        omitted.append("packed sequences: with this attention MaxText takes one sequence a row (`packing: false`)")
        yield "packing: false"
    yield f"context_parallel_strategy: {strategy}"


def _refused_exchange(cluster: Cluster, layout: Layout, work: Workload) -> str:
    """The condition of an exchange of heads that a design does not meet, else empty (configs/types.py, lines 4071 to
    4133).
    """
    model = work.model
    if model.latent:
        return "without latent attention alone"
    if model.kv_heads == 1 or model.heads % layout.cp or model.kv_heads % layout.cp or work.sequence_length % layout.cp:
        return f"where {layout.cp} ranks divide the query heads, the several key heads, and the length"
    within = slice_ranks(cluster, layout)
    return "" if gcd(layout.cp, within // gcd(layout.tp, within)) == layout.cp else "within a slice alone"


def _quantization_option(cluster: Cluster, work: Workload) -> str | None:
    """The quantization for a precision and its recipe; empty for none, None if MaxText does not have the precision."""
    if work.precision == "fp8" and (cluster.accelerator.id or "").startswith(_NANOO):
        return "nanoo_fp8"
    engine = _ENGINE.get((work.precision, work.recipe or "")) if cluster.accelerator.vendor == "NVIDIA" else None
    return engine or _PRECISIONS.get(work.precision)


# The mesh and the batch


def slice_ranks(cluster: Cluster, layout: Layout) -> int:
    """The devices of one slice: the devices of a scale-up domain, or of a node if that has more.

    Raises `NotExportable` if slices differ in size.
    """
    per_node = layout.ranks // max(1, layout.nodes)
    nodes = min(layout.nodes, layout.nodes_per_domain or nodes_of_domain(cluster))
    size = per_node * max(1, nodes)
    if layout.ranks % size:
        raise NotExportable(f"{plural(layout.nodes, 'node')} do not fill whole domains of {plural(nodes, 'node')}")
    return size


def _mesh_lines(cluster: Cluster, layout: Layout) -> Iterator[str]:
    """Degrees within a slice (ici) and over slices (dcn), the axes that vary fastest within a slice first."""
    replicate, shard = replicate_and_shard_degrees(layout)
    full = layout.sharding in {"fsdp", "hsdp"}
    replicate, shard = (replicate, shard) if full else (layout.dp, 1)
    holder = shard if full else replicate
    if holder % layout.ep:
        kind = "fsdp" if full else "data"
        why = f"the expert axis of {layout.ep} does not divide the {holder} ranks of {kind}, which is a separate axis"
        raise NotExportable(why)
    replicate, shard = (replicate, shard // layout.ep) if full else (replicate // layout.ep, shard)
    degrees = {
        "tensor": layout.tp,
        "context": layout.cp,
        "expert": layout.ep,
        "fsdp": shard,
        "data": replicate,
        "pipeline": layout.pp,
    }
    left = slice_ranks(cluster, layout)
    for axis, degree in degrees.items():
        ici = gcd(degree, left)
        left //= ici
        if ici > 1 or axis == "fsdp":
            yield f"ici_{axis}_parallelism: {ici}"
        if degree > ici or axis == "data":
            yield f"dcn_{axis}_parallelism: {degree // ici}"
    if left > 1:
        raise NotExportable("no mesh within a slice has these degrees")


def _batch_lines(layout: Layout, work: Workload, decoder: str) -> Iterator[str]:
    """The sequences per device in one pass. With pipeline parallelism a pass has all micro-batches, else one.

    A layer of MaxText's ``gemma2`` is two of the model (configs/models/gemma2-2b.yml, line 21).
    """
    passes = layout.micro_batches
    if passes is None:
        raise NotExportable("the global batch is not a multiple of micro-batch × dp")
    if layout.pp == 1:
        yield f"per_device_batch_size: {_finite_decimal(layout.micro_batch * layout.dp, layout.ranks)}"
        if passes > 1:
            yield f"gradient_accumulation_steps: {passes}"
        return
    if passes % layout.pp:
        raise NotExportable(f"MaxText needs a multiple of {layout.pp} micro-batches for its stages, not {passes}")
    if len(set(layout.stage_layers)) > 1:
        raise NotExportable("stages of different length: MaxText pipelines equal ones")
    yield f"per_device_batch_size: {_finite_decimal(work.global_batch, layout.ranks)}"
    yield f"num_pipeline_microbatches: {passes}"
    merged = 2 if decoder == "gemma2" else 1
    if layout.stage_layers[0] % merged:
        raise NotExportable(f"stages of {layout.stage_layers[0]} layers: MaxText's Gemma 2 has layers in pairs")
    yield f"num_layers_per_pipeline_stage: {layout.stage_layers[0] // merged}"
    yield f"num_pipeline_repeats: {layout.virtual_stages}"


def _finite_decimal(sequences: int, devices: int) -> str:
    """The share of sequences per device as a decimal number. MaxText multiplies it by the devices again, so the result
    must be exact.

    >>> _finite_decimal(8, 64), _finite_decimal(64, 8)
    ('0.125', '8.0')
    """
    share = sequences / devices
    if share * devices != sequences:
        raise NotExportable(f"{sequences} sequences on {devices} devices: a share that no number of MaxText gives")
    return repr(share)


def _omission_texts(layout: Layout) -> Iterator[str]:
    yield from shards_by_context(layout)
    if layout.sharding in {"zero1", "zero2"} and layout.cp > 1:
        yield f"{layout.sharding}: the {layout.cp} context ranks divide parameters as well"
    if layout.sharding == "zero2":
        yield "zero2: MaxText shards only optimizer states, or parameters as well"
    if isinstance(layout.recompute, tuple):
        yield f"the modules computed again ({', '.join(layout.recompute)}): see remat_policy: custom"
    if layout.expert_tp != layout.tp and layout.ep > 1:
        yield f"expert_tp {layout.expert_tp}: the tensor axis divides experts as well"
    if layout.schedule not in {"1f1b", "interleaved"} and layout.pp > 1:
        yield f"the schedule {layout.schedule}: MaxText pipelines in a circle"
    if 0 < layout.offload_optimizer < 1 or layout.offload_activations:
        yield "offloading of a share: MaxText offloads optimizer states whole, and activations by remat_policy"
