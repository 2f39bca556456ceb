"""MaxText: model and job configurations (YAML), and ``key=value`` words of a command line.

Names: AI-Hypercomputer/maxtext, MaxText/configs/base.yml. A degree of -1 is computed by MaxText at run time.
"""

from __future__ import annotations

import re
from math import prod

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.workloads.keys import (
    Keys,
    boolean_value,
    flat_leaves,
    list_unused,
    override_keys,
    set_choice,
    set_counts,
    set_model,
    set_parameters,
    whole_of,
)

KIND = "maxtext"
_MODEL = {
    "workload.model.layers": ("base_num_decoder_layers",),
    "workload.model.hidden": ("base_emb_dim",),
    "workload.model.heads": ("base_num_query_heads",),
    "workload.model.kv_heads": ("base_num_kv_heads",),
    "workload.model.head_dim": ("qk_nope_head_dim", "head_dim"),
    "workload.model.ffn_hidden": ("base_mlp_dim",),
    "workload.model.vocab": ("vocab_size",),
    "workload.model.experts_per_token": ("num_experts_per_tok",),
    "workload.model.expert_ffn_hidden": ("base_moe_mlp_dim",),
    "workload.model.shared_experts": ("shared_experts",),
    "workload.model.latent_attention.q": ("q_lora_rank",),
    "workload.model.latent_attention.kv": ("kv_lora_rank",),
    "workload.model.latent_attention.rope": ("qk_rope_head_dim",),
    "workload.model.value_head_dim": ("v_head_dim",),
}
_APART = {"gemma4", "deepseek4", "qwen3_next", "qwen3_5", "kimi_linear", "gpt_oss_next"}
"""Decoder blocks whose layers mix tokens in several ways."""
_AXES = {
    "layout.tp": ("tensor", "tensor_sequence"),
    "layout.cp": ("context",),
    "layout.ep": ("expert",),
    "layout.pp": ("pipeline",),
}
_REMAT = {
    "full": "full",
    "none": "none",
    "minimal": "selective",
    "minimal_with_context": "selective",
    "save_qkv_proj": "selective",
}


def matches(file: InputFile) -> bool:
    return bool(re.search(r"base_emb_dim|base_num_decoder_layers|(ici|dcn)_\w+_parallelism", file.text))


def read(file: InputFile) -> ImportResult:
    """The model and the layout of a configuration. Raises `FormatError` if it has neither."""
    builder, keys = ImportBuilder(KIND, file.name), Keys()
    if re.search(r"^[ \t]*\w++\s*:", file.text, re.MULTILINE) and not re.search(r"\bpython3?\s", file.text):
        yaml = read_yaml(file)
        for name, value, line in flat_leaves(yaml.mapping, yaml.line):
            keys.put(name, value, line)
    else:
        keys = override_keys(file)
    if keys.find("base_emb_dim", "base_num_decoder_layers", "model_name") is None and not any(
        key.endswith("_parallelism") for key in keys.values
    ):
        raise FormatError("has neither model size nor parallelism keys of MaxText")
    builder.set("layout.framework", "maxtext", keys.line("base_emb_dim", "model_name", "ici_fsdp_parallelism"))
    _set_model(keys, builder)
    _set_layout(keys, builder)
    set_parameters(builder, keys.line("base_num_decoder_layers"))
    list_unused(keys, builder)
    return builder.reading()


def _set_model(keys: Keys, builder: ImportBuilder) -> None:
    name = str(keys.get("model_name") or "default")
    if keys.find("base_emb_dim") is None:
        if name != "default":
            set_model(name, builder, keys.line("model_name"))
        return
    set_counts(keys, _MODEL, builder)
    if (experts := keys.whole("num_experts")) and experts > 1:
        builder.set("workload.model.experts", experts, keys.line("num_experts"))
    activations = keys.get("mlp_activations")
    builder.set(
        "workload.model.gated_ffn",
        len(activations) > 1 if isinstance(activations, list) else None,
        keys.line("mlp_activations"),
    )
    builder.set(
        "workload.model.tied_embeddings",
        boolean_value(keys.get("logits_via_embedding")),
        keys.line("logits_via_embedding"),
    )
    dense, layers = keys.whole("first_num_dense_layers"), keys.whole("base_num_decoder_layers")
    every = keys.whole("interleave_moe_layer_step")
    if dense and layers:
        builder.set("workload.model.moe_layers", layers - dense, keys.line("first_num_dense_layers"))
    elif every and every > 1 and layers and keys.find("num_experts"):
        builder.set("workload.model.moe_layers", layers // every, keys.line("interleave_moe_layer_step"))
    block = str(keys.get("decoder_block") or "")
    if block == "gemma2" and layers:  # a block of Gemma 2 is a windowed layer and one with full attention
        builder.given[:] = [g for g in builder.given if g.path != ("workload", "model", "layers")]
        builder.set("workload.model.layers", 2 * layers, keys.line("base_num_decoder_layers"))
    if block in _APART:
        builder.given[:] = [g for g in builder.given if g.path != ("workload", "model", "hidden")]
        builder.unknown(
            f"decoder_block: {block}",
            "its attention has unsupported keys: import its config.json",
            keys.line("decoder_block"),
        )


def _set_layout(keys: Keys, builder: ImportBuilder) -> None:
    for path, axes in _AXES.items():
        names = [f"{mesh}_{axis}_parallelism" for mesh in ("ici", "dcn") for axis in axes]
        degrees = [(name, keys.get(name)) for name in names if keys.find(name)]
        _set_degree(path, degrees, keys, builder)
    fsdp, data = (
        {mesh: whole_of(keys.get(f"{mesh}_{axis}_parallelism")) for mesh in ("ici", "dcn")} for axis in ("fsdp", "data")
    )
    line = keys.line("ici_fsdp_parallelism", "dcn_data_parallelism")
    replicas = (data["ici"] or 1) * (data["dcn"] or 1)
    if line:
        builder.set("layout.sharding", "hsdp" if replicas > 1 and fsdp["ici"] != 1 else "fsdp", line)
        group = (fsdp["ici"] or 0) * (fsdp["dcn"] or 1)
        builder.set("layout.shard_group", group if replicas > 1 and group > 1 else None, line)
    set_counts(keys, {"workload.sequence_length": ("max_target_length",)}, builder)
    batch = keys.get("per_device_batch_size")
    if whole_of(batch) is None and batch is not None:
        builder.unknown(
            f"per_device_batch_size: {batch}",
            "less than one sequence per device",
            keys.line("per_device_batch_size"),
        )
    builder.set("layout.micro_batch", whole_of(batch), keys.line("per_device_batch_size"))
    set_choice(keys, "layout.recompute", ("remat_policy",), _REMAT, builder)
    if str(keys.get("quantization") or "").startswith("fp8"):
        builder.set("workload.precision", "fp8", keys.line("quantization"))
    elif str(keys.get("dtype")) == "bfloat16":
        builder.set("workload.precision", "bf16", keys.line("dtype"))
    if "adam" in str(keys.get("opt_type") or ""):
        builder.set(
            "workload.optimizer", "adamw" if "adamw" in str(keys.get("opt_type")) else "adam", keys.line("opt_type")
        )


def _set_degree(path: str, degrees: list[tuple[str, object]], keys: Keys, builder: ImportBuilder) -> None:
    """Set the product of an axis over slices and hosts; record a degree that MaxText computes itself."""
    if not degrees:
        return
    counts = [whole_of(value) for _, value in degrees]
    if None in counts:
        name, value = next((name, value) for (name, value), count in zip(degrees, counts, strict=True) if count is None)
        builder.unknown(f"{name}: {value}", f"{path} is computed at run time", keys.line(name))
        return
    builder.set(path, prod(count for count in counts if count), keys.line(degrees[0][0]))
