"""GPT-NeoX configurations: YAML in the form of JSON, which extend a DeepSpeed configuration."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.workloads.keys import Keys, boolean_value, set_choice, set_counts
from clusterspec.exchange.workloads.model_files.models import set_parameters
from clusterspec.exchange.workloads.overrides import file_keys
from clusterspec.exchange.workloads.run_tokens import set_tokens_of_steps
from clusterspec.exchange.workloads.unused_keys import list_unused

# Source of the meaning of ``intermediate_size`` with gated activations: gpt-neox, megatron/model/transformer.py
# (``ParallelMLP``): two thirds of it are the two matrices at the input, each rounded up to ``mlp_multiple_of``

GPT_NEOX = "gpt-neox"
_STAGES = "pipe_parallel_size"
"""0 means one stage, like 1, but without the pipeline class of models (megatron/initialize.py, line 157)."""
_TABLE = {
    "layout.pp": (_STAGES,),
    "layout.tp": ("model_parallel_size",),
    "layout.micro_batch": ("train_micro_batch_size_per_gpu",),
    "workload.global_batch": ("train_batch_size",),
    "workload.sequence_length": ("seq_length",),
    "workload.model.layers": ("num_layers",),
    "workload.model.hidden": ("hidden_size",),
    "workload.model.heads": ("num_attention_heads",),
    "workload.model.kv_heads": ("num_kv_heads",),
    "workload.model.max_sequence_length": ("max_position_embeddings",),
    "workload.model.experts": ("moe_num_experts", "num_experts"),
    "workload.model.experts_per_token": ("moe_top_k",),
}
GATED = {"swiglu", "geglu", "reglu", "bilinear", "glu"}


_RUN = re.compile(r"^[ \t]*\"?(?:checkpoint|partition)[-_]activations\"?[ \t]*:", re.MULTILINE)
_ITERATIONS = re.compile(r"^[ \t]*\"?(?:train|lr[-_]decay)[-_]iters\"?[ \t]*:", re.MULTILINE)
"""Keys of the run, in a configuration that leaves the model to another file."""


def matches_gpt_neox(file: InputFile) -> bool:
    if _RUN.search(file.text) and _ITERATIONS.search(file.text) and "zero_optimization" in file.text:
        return True
    return (
        bool(re.search(r"pipe[-_]parallel[-_]size|model[-_]parallel[-_]size.*", file.text))
        and bool(re.search(r"^[ \t]*\"?(num[-_]layers|hidden[-_]size)\"?\s*:", file.text, re.MULTILINE))
        and "tensor_model_parallel" not in file.text
        and "tensor-model-parallel" not in file.text
    )


def read_gpt_neox(file: InputFile) -> ImportResult:
    """The model and the layout of a configuration. Raises `FormatError` if it has neither."""
    builder, keys = ImportBuilder(GPT_NEOX, file.name), file_keys(file, with_null=True)
    if keys.find("num_layers", _STAGES, "checkpoint_activations", "partition_activations") is None:
        raise FormatError("has neither layer nor parallel size keys of GPT-NeoX")
    mixing = str(keys.get("attention_config") or "")
    if other := next((name for name in ("mamba", "rwkv") if name in mixing), None):
        raise FormatError(
            f"its layers are {other}: a spec describes models with attention", keys.line("attention_config")
        )
    set_counts(keys, _TABLE, builder)
    if keys.values.get(_STAGES, ("",))[0] == 0:
        builder.set("layout.pp", 1, keys.line(_STAGES))
    builder.set("layout.framework", "megatron-deepspeed", keys.line(_STAGES))
    _set_network(keys, builder)
    _set_training(keys, builder)
    set_parameters(builder, keys.line("num_layers"))
    list_unused(keys, builder)
    return builder.reading()


def _set_network(keys: Keys, builder: ImportBuilder) -> None:
    hidden, given = keys.integer("hidden_size"), keys.integer("intermediate_size")
    activation = str(keys.get("activation") or "gelu").lower()
    llama = str(keys.get("mlp_type") or "").lower() == "llama"
    gated = activation in GATED or llama
    line = keys.line("intermediate_size", "activation", "mlp_type", "hidden_size")
    multiple = keys.integer("mlp_multiple_of", "multiple_of") or (256 if llama else 1)
    if hidden and gated:
        width = given or int((keys.get("expansion_factor") or 4) * hidden)
        part = int(width * 2 / 3) // 2 if not llama else given or int(2 * 4 * hidden / 3)
        builder.set("workload.model.ffn_hidden", -(-part // multiple) * multiple, line)
    elif hidden:
        width = given or int((keys.get("expansion_factor") or 4) * hidden)
        builder.set("workload.model.ffn_hidden", -(-width // multiple) * multiple, line)
    if hidden:
        builder.set("workload.model.gated_ffn", gated, keys.line("activation", "mlp_type", "hidden_size"))
        untied = boolean_value(keys.get("no_weight_tying"))
        builder.set("workload.model.tied_embeddings", not untied, keys.line("no_weight_tying", "hidden_size"))


def _set_training(keys: Keys, builder: ImportBuilder) -> None:
    stage = keys.get("zero_optimization.stage")
    stages = {"0": "none", "1": "zero1", "2": "zero2", "3": "fsdp"}
    set_choice(keys, "layout.sharding", ("zero_optimization.stage",), stages, builder)
    if stage is None and keys.find("zero_optimization"):
        builder.unknown("zero_optimization", "no stage is stated", keys.line("zero_optimization"))
    if boolean_value(keys.get("checkpoint_activations")) is not None:
        full = keys.is_on("checkpoint_activations")
        builder.set("layout.recompute", "full" if full else "none", keys.line("checkpoint_activations"))
    words = {"bf16": "bfloat16", "fp16": "float16"}
    for name, word in words.items():
        if keys.is_on(f"{name}.enabled", f"{name}.{name}") or keys.get("precision") in {name, word}:
            builder.set("workload.precision", name, keys.line(f"{name}.enabled", f"{name}.{name}", "precision"))
    set_choice(
        keys,
        "workload.optimizer",
        ("optimizer.type",),
        {"adam": "adam", "adamw": "adamw", "lion": "lion", "sgd": "sgd"},
        builder,
    )
    steps, micro = keys.integer("gradient_accumulation_steps"), keys.integer("train_micro_batch_size_per_gpu")
    if steps and micro and keys.find("train_batch_size") is None:
        line = keys.line("gradient_accumulation_steps")
        builder.count("sequences_per_replica_and_step", steps * micro, line)
        why = f"{steps} × {micro} sequences for each data-parallel replica; the file does not state the accelerators"
        builder.unknown("workload.global_batch", why, line)
    set_tokens_of_steps(keys.integer("train_iters"), builder, keys.line("train_iters"))
    if keys.get("attention_config") and "flash" in str(keys.get("attention_config")):
        builder.set("workload.attention", "flash", keys.line("attention_config"))
