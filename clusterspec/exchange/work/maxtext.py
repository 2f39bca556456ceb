"""MaxText: model and job configurations (YAML), and ``key=value`` words of a launch line.

Names: AI-Hypercomputer/maxtext, MaxText/configs/base.yml. A degree of -1 is worked out by MaxText at run time.
"""

from __future__ import annotations

import re
from math import prod

from clusterspec.exchange.files import InputFile
from clusterspec.exchange.reading import Notes, Reading, Refusal
from clusterspec.exchange.work.arguments import overrides
from clusterspec.exchange.work.keys import Keys, flat, give_choice, give_counts, list_unused, truth, whole_of
from clusterspec.exchange.work.model_names import give_model
from clusterspec.exchange.work.sizes import give_parameters
from clusterspec.exchange.yaml_input import read_yaml

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


def suits(file: InputFile) -> bool:
    return bool(re.search(r"base_emb_dim|base_num_decoder_layers|(ici|dcn)_\w+_parallelism", file.text))


def read(file: InputFile) -> Reading:
    """The model and the layout of a configuration. Raises `Refusal` where it names neither as MaxText does."""
    notes, keys = Notes(KIND, file.name), Keys()
    if re.search(r"^\s*\w+\s*:", file.text, re.MULTILINE) and not re.search(r"\bpython3?\s", file.text):
        yaml = read_yaml(file)
        for name, value, line in flat(yaml.mapping, yaml.line):
            keys.put(name, value, line)
    else:
        keys = overrides(file)
    if keys.find("base_emb_dim", "base_num_decoder_layers", "model_name") is None and not any(
        key.endswith("_parallelism") for key in keys.values
    ):
        raise Refusal("names neither sizes of a model nor parallelism as MaxText does")
    notes.give("layout.framework", "maxtext", keys.line("base_emb_dim", "model_name", "ici_fsdp_parallelism"))
    _model(keys, notes)
    _layout(keys, notes)
    give_parameters(notes, keys.line("base_num_decoder_layers"))
    list_unused(keys, notes)
    return notes.reading()


def _model(keys: Keys, notes: Notes) -> None:
    name = str(keys.get("model_name") or "default")
    if keys.find("base_emb_dim") is None:
        if name != "default":
            give_model(name, notes, keys.line("model_name"))
        return
    give_counts(keys, _MODEL, notes)
    if (experts := keys.whole("num_experts")) and experts > 1:
        notes.give("workload.model.experts", experts, keys.line("num_experts"))
    activations = keys.get("mlp_activations")
    notes.give(
        "workload.model.gated_ffn",
        len(activations) > 1 if isinstance(activations, list) else None,
        keys.line("mlp_activations"),
    )
    notes.give(
        "workload.model.tied_embeddings", truth(keys.get("logits_via_embedding")), keys.line("logits_via_embedding")
    )
    dense, layers = keys.whole("first_num_dense_layers"), keys.whole("base_num_decoder_layers")
    every = keys.whole("interleave_moe_layer_step")
    if dense and layers:
        notes.give("workload.model.moe_layers", layers - dense, keys.line("first_num_dense_layers"))
    elif every and every > 1 and layers and keys.find("num_experts"):
        notes.give("workload.model.moe_layers", layers // every, keys.line("interleave_moe_layer_step"))
    block = str(keys.get("decoder_block") or "")
    if block == "gemma2" and layers:  # a block of Gemma 2 is a layer with a window and one without
        notes.given[:] = [g for g in notes.given if g.path != ("workload", "model", "layers")]
        notes.give("workload.model.layers", 2 * layers, keys.line("base_num_decoder_layers"))
    if block in _APART:
        notes.given[:] = [g for g in notes.given if g.path != ("workload", "model", "hidden")]
        notes.unknown(
            f"decoder_block: {block}",
            "its attention has keys that are not read: import its config.json",
            keys.line("decoder_block"),
        )


def _layout(keys: Keys, notes: Notes) -> None:
    for path, axes in _AXES.items():
        names = [f"{mesh}_{axis}_parallelism" for mesh in ("ici", "dcn") for axis in axes]
        degrees = [(name, keys.get(name)) for name in names if keys.find(name)]
        _degree(path, degrees, keys, notes)
    fsdp, data = (
        {mesh: whole_of(keys.get(f"{mesh}_{axis}_parallelism")) for mesh in ("ici", "dcn")} for axis in ("fsdp", "data")
    )
    line = keys.line("ici_fsdp_parallelism", "dcn_data_parallelism")
    replicas = (data["ici"] or 1) * (data["dcn"] or 1)
    if line:
        notes.give("layout.sharding", "hsdp" if replicas > 1 and fsdp["ici"] != 1 else "fsdp", line)
        group = (fsdp["ici"] or 0) * (fsdp["dcn"] or 1)
        notes.give("layout.shard_group", group if replicas > 1 and group > 1 else None, line)
    give_counts(keys, {"workload.sequence_length": ("max_target_length",)}, notes)
    batch = keys.get("per_device_batch_size")
    if whole_of(batch) is None and batch is not None:
        notes.unknown(
            f"per_device_batch_size: {batch}",
            "less than one sequence for each device",
            keys.line("per_device_batch_size"),
        )
    notes.give("layout.micro_batch", whole_of(batch), keys.line("per_device_batch_size"))
    give_choice(keys, "layout.recompute", ("remat_policy",), _REMAT, notes)
    if str(keys.get("quantization") or "").startswith("fp8"):
        notes.give("workload.precision", "fp8", keys.line("quantization"))
    elif str(keys.get("dtype")) == "bfloat16":
        notes.give("workload.precision", "bf16", keys.line("dtype"))
    if "adam" in str(keys.get("opt_type") or ""):
        notes.give(
            "workload.optimizer", "adamw" if "adamw" in str(keys.get("opt_type")) else "adam", keys.line("opt_type")
        )


def _degree(path: str, degrees: list[tuple[str, object]], keys: Keys, notes: Notes) -> None:
    """The product of an axis over slices and hosts; one that MaxText works out itself is listed."""
    if not degrees:
        return
    counts = [whole_of(value) for _, value in degrees]
    if None in counts:
        name, value = next((name, value) for (name, value), count in zip(degrees, counts, strict=True) if count is None)
        notes.unknown(f"{name}: {value}", f"{path} is worked out at run time", keys.line(name))
        return
    notes.give(path, prod(count for count in counts if count), keys.line(degrees[0][0]))
