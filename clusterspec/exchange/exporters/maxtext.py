"""Training designs as a MaxText configuration.

Keys, defaults and conditions: MaxText, commit e591f30c, ``src/maxtext/configs/base.yml`` (lines 170 ``decoder_block``,
317 to 327 pipeline, 350 ``remat_policy``, 531 mesh axes, 659 to 690 degrees over slices (dcn) and within one (ici), 731
``per_device_batch_size``, 968 ``gradient_accumulation_steps``, 1201 ``context_parallel_strategy``) and
``src/maxtext/configs/types.py`` (lines 83 quantizations, 216 names of models, 3458 batch, 3575 to 3619 stages and
micro-batches). The product of all degrees is the number of devices, of those of dcn the number of slices
(``src/maxtext/utils/max_utils.py``, line 461): the ``expert`` axis is one of its own beside ``fsdp``. Release 0.2.5
(PyPI, read 2026-11-27) has the same keys with the same defaults.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from clusterspec.catalog.models import Block, Model
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.exchange.exporters.registry import (
    ExportedFile,
    ExportInput,
    NotExportable,
    omitted_from_training,
    replicate_and_shard_degrees,
    training_design,
    unchanged_model,
)
from clusterspec.units import plural

MODELS = {
    "llama-2-7b": "llama2-7b",
    "llama-2-13b": "llama2-13b",
    "llama-2-70b": "llama2-70b",
    "llama-3-8b": "llama3-8b",
    "llama-3-70b": "llama3-70b",
    "llama-3.1-8b": "llama3.1-8b",
    "llama-3.1-70b": "llama3.1-70b",
    "llama-3.1-405b": "llama3.1-405b",
    "llama-3.3-70b": "llama3.3-70b",
    "llama-4-scout": "llama4-17b-16e",
    "llama-4-maverick": "llama4-17b-128e",
    "mistral-7b": "mistral-7b",
    "mixtral-8x7b": "mixtral-8x7b",
    "mixtral-8x22b": "mixtral-8x22b",
    "deepseek-v2-lite": "deepseek2-16b",
    "deepseek-v2": "deepseek2-236b",
    "deepseek-v3": "deepseek3-671b",
    "deepseek-v3.2": "deepseek3.2-671b",
    "kimi-k2": "kimi-k2-1t",
    "gemma-7b": "gemma-7b",
    "gemma-2-2b": "gemma2-2b",
    "gemma-2-9b": "gemma2-9b",
    "gemma-2-27b": "gemma2-27b",
    "gemma-3-4b": "gemma3-4b",
    "gemma-3-12b": "gemma3-12b",
    "gemma-3-27b": "gemma3-27b",
    "gemma-4-26b-a4b": "gemma4-26b",
    "gemma-4-31b": "gemma4-31b",
    "qwen2.5-1.5b": "qwen2.5-1.5b",
    "qwen2.5-7b": "qwen2.5-7b",
    "qwen2.5-14b": "qwen2.5-14b",
    "qwen3-0.6b": "qwen3-0.6b",
    "qwen3-1.7b": "qwen3-1.7b",
    "qwen3-4b": "qwen3-4b",
    "qwen3-8b": "qwen3-8b",
    "qwen3-14b": "qwen3-14b",
    "qwen3-32b": "qwen3-32b",
    "qwen3-30b-a3b": "qwen3-30b-a3b",
    "qwen3-235b-a22b": "qwen3-235b-a22b",
    "qwen3-coder-480b-a35b": "qwen3-480b-a35b",
    "qwen3-next-80b-a3b": "qwen3-next-80b-a3b",
    "qwen3.5-35b-a3b": "qwen3.5-35b-a3b",
    "qwen3.5-397b-a17b": "qwen3.5-397b-a17b",
    "gpt3-175b": "gpt3-175b",
    "gpt-oss-20b": "gpt-oss-20b",
    "gpt-oss-120b": "gpt-oss-120b",
    "olmo-3-7b": "olmo3-7b",
    "olmo-3-32b": "olmo3-32b",
}
"""Names in MaxText of models of the catalog (types.py, line 216)."""
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
"""Quantizations of Transformer Engine, by precision and recipe (types.py, line 98): of GPUs by NVIDIA alone."""
_NANOO = ("mi300", "mi325")
"""Accelerators with the 8-bit formats of ``nanoo_fp8`` (base.yml, line 120)."""
_UNACCUMULATED = {"fp8", "nanoo_fp8", "te_fp8_delayedscaling"}
"""Quantizations that MaxText refuses with ``gradient_accumulation_steps`` above 1 (types.py, line 3879)."""


def write(source: ExportInput) -> ExportedFile:
    """The configuration. Raises `NotExportable` if MaxText has no such mesh, stages or model."""
    layout, work = training_design(source, "maxtext")
    quantized = _quantization_option(source.cluster, work)
    if work.optimizer not in _OPTIMIZERS or quantized is None:
        raise NotExportable(f"MaxText has no {work.optimizer} in {work.precision}")
    if quantized in _UNACCUMULATED and layout.pp == 1 and (layout.micro_batches or 1) > 1:
        raise NotExportable(f"MaxText refuses {quantized} with {layout.micro_batches} micro-batches accumulated")
    omitted = ["data, tokenizer, steps and run_name", *omitted_from_training(work), *_omission_texts(layout)]
    lines = [f"# {source.name}: {plural(layout.ranks, 'device')} on {plural(layout.nodes, 'node')}"]
    if source.cluster.accelerator.vendor != "Google":
        lines.append("hardware: gpu_multiprocess" if layout.nodes > 1 else "hardware: gpu")
    lines += _model_lines(work.model, unchanged_model(source), omitted)
    if source.cluster.accelerator.vendor != "Google":
        lines += _kernel_lines(work.model, omitted)
    lines += [f"max_target_length: {work.sequence_length}", *_batch_lines(layout, work)]
    lines += _mesh_lines(source.cluster, layout)
    if layout.cp > 1:
        lines += _context_lines(source.cluster, layout, work, omitted)
    if layout.sharding in {"zero1", "zero2"}:
        lines.append("shard_optimizer_over_data: true")
    remat = _REMAT.get(layout.recompute, "minimal") if isinstance(layout.recompute, str) else "minimal"
    lines.append(f"remat_policy: {remat}")
    lines += [f"quantization: {quantized}"] if quantized else []
    if work.recipe and not quantized.startswith("te_"):
        omitted.append(f"the recipe {work.recipe}: MaxText has it with Transformer Engine alone, or not at all")
    lines.append(f"dtype: { {'fp16': 'float16', 'fp32': 'float32'}.get(work.precision, 'bfloat16') }")
    lines.append(f"opt_type: {_OPTIMIZERS[work.optimizer]}")
    if layout.offload_optimizer == 1:
        lines.append("optimizer_memory_host_offload: true")
    return ExportedFile("\n".join([*lines, ""]), tuple(omitted))


def _kernel_lines(model: Model, omitted: list[str]) -> Iterator[str]:
    """Kernels other than the default ones, which are made for TPUs.

    MaxText e591f30c: on other devices the kernel of experts by default (``megablox``) is interpreted, step by step
    (layers/moe.py, line 1521; configs/gpu/models/mixtral_8x7b.yml turns it off), and that of attention has a causal
    mask alone and refuses sinks (layers/attention_op.py, lines 137 and 1491).
    """
    if model.experts:
        yield "megablox: false"
    if model.window:
        omitted.append(
            "flash attention: by default MaxText's has no windows on GPUs, and `dot_product` keeps all scores"
        )
        yield "attention: dot_product"


def _context_lines(cluster: Cluster, layout: Layout, work: Workload, omitted: list[str]) -> Iterator[str]:
    """How context parallelism exchanges keys, with the one kernel of attention that takes part in it.

    MaxText e591f30c: on GPUs ``cudnn_flash_te`` (layers/attention_op.py, lines 1437 and 2230), without packed data or
    windows; ``autoselected`` takes a kernel that attends within a rank. Rings of TPUs: configs/types.py, line 4021.
    Raises `NotExportable` for what it refuses.
    """
    strategy, google = _STRATEGIES[layout.cp_method], cluster.accelerator.vendor == "Google"
    if strategy == "ulysses" and not google:
        raise NotExportable("MaxText exchanges heads (all-to-all) on TPUs alone")
    if work.model.window and (strategy == "ring" or not google):
        raise NotExportable("MaxText has no layers with windows under this context parallelism")
    unpacked = not google or (strategy == "ring" and bool(work.model.latent))
    if not google:
        yield "attention: cudnn_flash_te"
    elif strategy == "ring":
        if work.sequence_length % layout.cp**2 or layout.cp % 2:
            raise NotExportable(f"MaxText needs a length that {layout.cp}² divides, and an even cp, for its ring")
        yield from ("attention: flash", "use_tokamax_splash: true")
    if unpacked:
        omitted.append("packed sequences: with this attention MaxText takes one sequence a row (`packing: false`)")
        yield "packing: false"
    yield f"context_parallel_strategy: {strategy}"


def _quantization_option(cluster: Cluster, work: Workload) -> str | None:
    """The quantization of a precision and its recipe; empty for none, None if MaxText has no such precision."""
    if work.precision == "fp8" and (cluster.accelerator.id or "").startswith(_NANOO):
        return "nanoo_fp8"
    engine = _ENGINE.get((work.precision, work.recipe or "")) if cluster.accelerator.vendor == "NVIDIA" else None
    return engine or _PRECISIONS.get(work.precision)


# The mesh and the batch


def slice_ranks(cluster: Cluster, layout: Layout) -> int:
    """The devices of one slice: those of a scale-up domain, or of a node if the node is larger.

    Raises `NotExportable` if slices are of different sizes.
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
        why = f"the expert axis of {layout.ep} does not divide the {holder} ranks of {kind}, beside which it is an axis"
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


def _batch_lines(layout: Layout, work: Workload) -> Iterator[str]:
    """The sequences of a device in one pass: a pass has all micro-batches of a pipeline, else one."""
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
    yield f"num_layers_per_pipeline_stage: {layout.stage_layers[0]}"
    yield f"num_pipeline_repeats: {layout.virtual_stages}"


def _finite_decimal(sequences: int, devices: int) -> str:
    """A share that has a finite decimal expansion, as MaxText multiplies it by the devices again.

    >>> _finite_decimal(8, 64), _finite_decimal(64, 8)
    ('0.125', '8.0')
    """
    share = sequences / devices
    if share * devices != sequences:
        raise NotExportable(f"{sequences} sequences on {devices} devices: a share that no number of MaxText gives")
    return repr(share)


# The model: a name that MaxText knows, else its sizes


def _model_lines(model: Model, name: str, omitted: list[str]) -> Iterator[str]:
    if name in MODELS:
        yield f"model_name: {MODELS[name]}"
        return
    if model.linear or model.sparse or model.compressed or model.window or model.shared_kv or model.expert_latent:
        raise NotExportable("MaxText has no model with these layers, and its keys cannot describe them")
    yield f"decoder_block: {_decoder_block(model)}"
    if model.block is None:
        omitted.append(f"normalization and position embedding, not stated: those of {_decoder_block(model)} apply")
    yield from (
        f"base_emb_dim: {model.hidden}",
        f"base_num_query_heads: {model.heads}",
        f"base_num_kv_heads: {model.kv_heads}",
        f"head_dim: {model.head_dim}",
        f"base_mlp_dim: {model.ffn_hidden}",
        f"base_num_decoder_layers: {model.layers}",
        f"vocab_size: {model.vocab}",
        f"logits_via_embedding: {str(model.tied_embeddings).lower()}",
        f"mlp_activations: {'[silu, linear]' if model.gated_ffn else '[gelu]'}",
        "enable_dropout: false",
    )
    if model.latent:
        yield from (
            "attention_type: mla",
            f"q_lora_rank: {model.latent_q}",
            f"kv_lora_rank: {model.latent_kv}",
            f"qk_nope_head_dim: {model.head_dim}",
            f"qk_rope_head_dim: {model.latent_rope}",
            f"v_head_dim: {model.value_width}",
        )
    if model.experts:
        yield from _expert_lines(model)
    if model.block is not None:
        yield from _rotary_lines(model.block)


def _decoder_block(model: Model) -> str:
    """The decoder of MaxText with the parts of a model."""
    if model.block is not None and model.block.norm == "layer":
        return "gpt3"
    if model.latent or (model.experts and (model.shared_experts or model.moe_layers < model.layers)):
        return "deepseek"
    if model.block is not None and model.block.qk_norm:
        return "qwen3_moe" if model.experts else "qwen3"
    if model.block is not None and model.block.bias == "qkv":
        return "qwen2"
    return "mixtral" if model.experts else "llama2"


def _expert_lines(model: Model) -> Iterator[str]:
    yield f"num_experts: {model.experts}"
    yield f"num_experts_per_tok: {model.experts_per_token}"
    yield f"base_moe_mlp_dim: {model.expert_ffn_hidden}"
    if model.shared_experts:
        if model.shared_expert_ffn_hidden not in {0, model.expert_ffn_hidden}:
            raise NotExportable("MaxText gives shared experts the width of the others")
        yield f"shared_experts: {model.shared_experts}"
    if model.layers != model.moe_layers:
        yield f"first_num_dense_layers: {model.layers - model.moe_layers}"


def _rotary_lines(block: Block) -> Iterator[str]:
    if block.norm_epsilon is not None:
        yield f"normalization_layer_epsilon: {block.norm_epsilon!r}"
    if block.positions == "rope":
        yield f"rope_max_timescale: {block.rope_base}"
    if block.rope_scaling:
        yield f"rope_type: { {'llama3': 'llama3.1'}.get(block.rope_scaling, block.rope_scaling) }"
    if block.rope_scaling == "yarn" and block.rope_scaling_factor is not None:
        yield f"rope_factor: {block.rope_scaling_factor:g}"
        yield f"original_max_position_embeddings: {block.rope_original_length}"


def _omission_texts(layout: Layout) -> Iterator[str]:
    if layout.sharding == "zero2":
        yield "zero2: MaxText shards optimizer states alone, or parameters as well"
    if isinstance(layout.recompute, tuple):
        yield f"the modules computed again ({', '.join(layout.recompute)}): see remat_policy: custom"
    if layout.expert_tp != layout.tp and layout.ep > 1:
        yield f"expert_tp {layout.expert_tp}: the tensor axis divides experts as well"
    if layout.schedule not in {"1f1b", "interleaved"} and layout.pp > 1:
        yield f"the schedule {layout.schedule}: MaxText pipelines in a circle"
    if 0 < layout.offload_optimizer < 1 or layout.offload_activations:
        yield "offloading of a share: MaxText offloads optimizer states whole, and activations by remat_policy"
