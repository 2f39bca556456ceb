"""Job configurations of MaxText (YAML or ``key=value`` words) and torchtitan (TOML)."""

from __future__ import annotations

import re
import tomllib
from math import prod
from typing import Any

from clusterspec.config import DEEPEST, deeply_dotted
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

# torchtitan job configurations (TOML).
#
# Names: pytorch/torchtitan, torchtitan/config/job_config.py; its ``llama3`` is Llama 3.1

TORCHTITAN = "torchtitan"
LARGEST_TOML = 256 * 1024
"""Bytes of the largest TOML file read: tables take some 500 times the space of their text."""
_TABLE = {
    "layout.tp": ("tensor_parallel_degree",),
    "layout.pp": ("pipeline_parallel_degree",),
    "layout.cp": ("context_parallel_degree",),
    "layout.ep": ("expert_parallel_degree",),
    "layout.expert_tp": ("expert_tensor_parallel_degree",),
    "workload.global_batch": ("global_batch_size",),
    "workload.sequence_length": ("training.seq_len", "seq_len"),
}
_SCHEDULES = {
    "1f1b": "1f1b",
    "gpipe": "gpipe",
    "interleaved1f1b": "interleaved",
    "interleavedzerobubble": "zero-bubble",
    "zbvzerobubble": "zero-bubble",
    "dualpipev": "dualpipe",
}
_CONVERTERS = {"float8": "fp8", "mx": "mxfp8", "mxfp8": "mxfp8"}
"""Precision of the GEMMs by the last word of a converter, which releases name with or without its path."""
_KEY = re.compile(r"\"?([A-Za-z0-9_-]{1,80})\"?\s*=")
_MODELS = {"llama3": "llama-3.1-{}", "qwen3": "qwen3-{}"}
_LARGE = {
    ("llama4", "17bx16e"): "llama-4-scout",
    ("llama4", "17bx128e"): "llama-4-maverick",
    ("deepseek_v3", "671b"): "deepseek-v3",
}


def matches_torchtitan(file: InputFile) -> bool:
    return bool(re.search(r"^\[(parallelism|training|model|experimental)\]", file.text, re.MULTILINE)) and bool(
        re.search(r"tensor_parallel_degree|data_parallel_shard_degree|^[ \t]*flavor\s*=", file.text, re.MULTILINE)
    )


def read_torchtitan(file: InputFile) -> ImportResult:
    """The workload and layout of a job. Raises `FormatError` if it is not TOML or has no degree."""
    builder, keys = ImportBuilder(TORCHTITAN, file.name), Keys()
    lines = _key_lines(file)
    for name, value, line in flat_leaves(_toml_value(file), lambda *path: lines.get(".".join(map(str, path)), 0)):
        keys.put(name, value, line)
    if keys.find("tensor_parallel_degree", "data_parallel_shard_degree", "model.flavor", "flavor") is None:
        raise FormatError("has neither a model nor a parallel degree of torchtitan")
    builder.set("layout.framework", "torchtitan", keys.line("tensor_parallel_degree", "data_parallel_shard_degree"))
    set_counts(keys, _TABLE, builder)
    _set_torchtitan_model(keys, builder)
    _set_sharding(keys, builder)
    _set_options(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _toml_value(file: InputFile) -> dict[str, Any]:
    file.bounded("TOML", LARGEST_TOML)
    if deeply_dotted(file.text):
        raise FormatError(f"a key of more than {DEEPEST} parts, the maximum for TOML")
    try:
        return tomllib.loads(file.text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as fault:
        match = re.search(r"line ([0-9]+)", str(fault))
        raise FormatError(
            f"no TOML: {str(fault).split(' (at')[0][:80].lower()}", int(match[1]) if match else 0
        ) from None


def _key_lines(file: InputFile) -> dict[str, int]:
    """The line of every key, by its dotted name with the table."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(file.lines, 1):
        text = line.strip()
        if text.startswith("["):
            table = text.split("]")[0].strip("[ ")
        elif match := _KEY.match(text):
            found.setdefault(f"{table}.{match[1]}".lstrip("."), number)
    return found


def _set_torchtitan_model(keys: Keys, builder: ImportBuilder) -> None:
    name, flavor = str(keys.get("model.name") or "").lower(), str(keys.get("model.flavor", "flavor") or "").lower()
    line = keys.line("model.flavor", "flavor")
    if not flavor:
        return
    named = _LARGE.get((name, flavor)) or _MODELS.get(name, name + "-{}").format(flavor)
    set_model(named, builder, line)


def _set_sharding(keys: Keys, builder: ImportBuilder) -> None:
    shard, replicate = keys.get("data_parallel_shard_degree"), keys.whole("data_parallel_replicate_degree") or 1
    line = keys.line("data_parallel_shard_degree", "data_parallel_replicate_degree")
    if shard is None and replicate == 1:
        return
    degree = whole_of(shard)
    if replicate > 1 and degree == 1:
        builder.set("layout.sharding", "none", line)
    elif replicate > 1:
        builder.set("layout.sharding", "hsdp", line)
        builder.set("layout.shard_group", degree, line)
    else:
        builder.set("layout.sharding", "none" if degree == 1 and shard is not None else "fsdp", line)
    if degree:
        builder.set("layout.dp", degree * replicate, line)


def _set_options(keys: Keys, builder: ImportBuilder) -> None:
    micro = (
        keys.whole("pipeline_parallel_microbatch_size") if (keys.whole("pipeline_parallel_degree") or 1) > 1 else None
    )
    local = keys.whole("local_batch_size", "training.batch_size")
    builder.set("layout.micro_batch", micro or local, keys.line("local_batch_size", "training.batch_size"))
    if micro and local:
        builder.count("sequences_per_replica_and_step", local, keys.line("local_batch_size", "training.batch_size"))
    set_choice(
        keys,
        "layout.recompute",
        ("activation_checkpoint.mode",),
        {"none": "none", "selective": "selective", "full": "full"},
        builder,
    )
    if (keys.whole("pipeline_parallel_degree") or 1) > 1:
        set_choice(keys, "layout.schedule", ("pipeline_parallel_schedule",), _SCHEDULES, builder)
    set_choice(
        keys,
        "layout.cp_method",
        ("context_parallel_rotate_method",),
        {"allgather": "all-gather", "alltoall": "all-to-all"},
        builder,
    )
    set_choice(
        keys, "workload.optimizer", ("optimizer.name",), {"adam": "adam", "adamw": "adamw", "muon": "muon"}, builder
    )
    converters = keys.get("model.converters", "converters")
    named = [str(each).split(".")[-1] for each in converters] if isinstance(converters, list) else []
    precision = next((_CONVERTERS[each] for each in named if each in _CONVERTERS), None)
    builder.set("workload.precision", precision, keys.line("model.converters", "converters"))


# MaxText: model and job configurations (YAML), and ``key=value`` words of a command line.
#
# Names: AI-Hypercomputer/maxtext, MaxText/configs/base.yml. A degree of -1 is computed by MaxText at run time

MAXTEXT = "maxtext"
_MODEL = {
    "workload.model.layers": ("base_num_decoder_layers",),
    "workload.model.hidden": ("base_emb_dim",),
    "workload.model.heads": ("base_num_query_heads",),
    "workload.model.kv_heads": ("base_num_kv_heads",),
    "workload.model.head_dim": ("head_dim",),
    "workload.model.ffn_hidden": ("base_mlp_dim",),
    "workload.model.vocab": ("vocab_size",),
    "workload.model.experts_per_token": ("num_experts_per_tok",),
    "workload.model.expert_ffn_hidden": ("base_moe_mlp_dim",),
    "workload.model.shared_experts": ("shared_experts",),
}
_LATENT = {
    "workload.model.head_dim": ("qk_nope_head_dim",),
    "workload.model.latent_attention.q": ("q_lora_rank",),
    "workload.model.latent_attention.kv": ("kv_lora_rank",),
    "workload.model.latent_attention.rope": ("qk_rope_head_dim",),
    "workload.model.value_head_dim": ("v_head_dim",),
}
"""Keys of latent attention, for which base.yml has values that other attention ignores."""
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


def matches_maxtext(file: InputFile) -> bool:
    return bool(re.search(r"base_emb_dim|base_num_decoder_layers|(ici|dcn)_\w+_parallelism", file.text))


def read_maxtext(file: InputFile) -> ImportResult:
    """The model and the layout of a configuration. Raises `FormatError` if it has neither."""
    builder, keys = ImportBuilder(MAXTEXT, file.name), Keys()
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
    _set_maxtext_model(keys, builder)
    _set_layout(keys, builder)
    set_parameters(builder, keys.line("base_num_decoder_layers"))
    list_unused(keys, builder)
    return builder.reading()


def _set_maxtext_model(keys: Keys, builder: ImportBuilder) -> None:
    name = str(keys.get("model_name") or "default")
    if keys.find("base_emb_dim") is None:
        if name != "default":
            set_model(name, builder, keys.line("model_name"))
        return
    latent = str(keys.get("attention_type")) == "mla"
    set_counts(keys, _MODEL | _LATENT if latent else _MODEL, builder)
    if not latent:
        keys.used |= {name for names in _LATENT.values() for name in names}
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
    for path in _AXES:
        degrees = [(name, keys.get(name)) for name in _degree_names(path) if keys.find(name)]
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
    _set_micro_batch(keys, builder)
    set_choice(keys, "layout.recompute", ("remat_policy",), _REMAT, builder)
    if str(keys.get("quantization") or "").startswith("fp8"):
        builder.set("workload.precision", "fp8", keys.line("quantization"))
    elif str(keys.get("dtype")) == "bfloat16":
        builder.set("workload.precision", "bf16", keys.line("dtype"))
    if "adam" in str(keys.get("opt_type") or ""):
        builder.set(
            "workload.optimizer", "adamw" if "adamw" in str(keys.get("opt_type")) else "adam", keys.line("opt_type")
        )


def _set_micro_batch(keys: Keys, builder: ImportBuilder) -> None:
    """Set the micro-batch of a replica: the sequences of each device, times the devices that share a sequence."""
    stated, line = keys.get("per_device_batch_size"), keys.line("per_device_batch_size")
    if stated is None:
        return
    shared = [path for path in ("layout.tp", "layout.cp", "layout.pp") if keys.find(*_degree_names(path))]
    given = builder.reading()
    degrees = {path: given.value(tuple(path.split("."))) for path in shared}
    steps = keys.whole("gradient_accumulation_steps") or 1
    parts = keys.whole("num_pipeline_microbatches") if (degrees.get("layout.pp") or 1) != 1 else 1
    counts = [degree for degree in degrees.values() if isinstance(degree, int)]
    whole = float(stated) * prod(counts) / (parts or 1) if isinstance(stated, int | float) or whole_of(stated) else 0.0
    if len(counts) == len(degrees) and parts and steps == 1 and whole >= 1 and whole == int(whole):
        builder.set("layout.micro_batch", int(whole), line)
        return
    why = "sequences of each device; those of a replica need its degrees, pipeline and accumulation"
    builder.unknown(f"per_device_batch_size: {stated}", why, line)


def _degree_names(path: str) -> list[str]:
    return [f"{mesh}_{axis}_parallelism" for mesh in ("ici", "dcn") for axis in _AXES[path]]


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
