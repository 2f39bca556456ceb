"""Configurations of Nanotron (YAML).

Names and defaults: huggingface/nanotron 2411b022, src/nanotron/config/parallelism_config.py, config.py and
models_config.py (``num_key_value_heads`` equals the number of heads where absent; Llama and Qwen2 have gated networks).
The global batch is ``dp`` times ``micro_batch_size`` times ``batch_accumulation_per_replica``.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.workloads.keys import Keys, set_choice, set_counts
from clusterspec.exchange.workloads.model_files.models import set_parameters
from clusterspec.exchange.workloads.overrides import file_keys
from clusterspec.exchange.workloads.run_tokens import set_tokens_of_steps
from clusterspec.exchange.workloads.trainers.accelerate import STAGES
from clusterspec.exchange.workloads.unused_keys import list_unused

NANOTRON = "nanotron"
_MARKS = (
    re.compile(r"^parallelism[ \t]*:", re.MULTILINE),
    re.compile(r"^tokens[ \t]*:", re.MULTILINE),
    re.compile(r"^[ \t]+batch_accumulation_per_replica[ \t]*:", re.MULTILINE),
)
_COUNTS = {
    "layout.dp": ("parallelism.dp",),
    "layout.tp": ("parallelism.tp",),
    "layout.pp": ("parallelism.pp",),
    "layout.cp": ("parallelism.context_parallel_size",),
    "layout.ep": ("parallelism.expert_parallel_size",),
    "layout.micro_batch": ("tokens.micro_batch_size",),
    "workload.sequence_length": ("tokens.sequence_length",),
}
_MODEL = {
    "workload.model.layers": ("num_hidden_layers",),
    "workload.model.hidden": ("hidden_size",),
    "workload.model.heads": ("num_attention_heads",),
    "workload.model.kv_heads": ("num_key_value_heads",),
    "workload.model.ffn_hidden": ("intermediate_size",),
    "workload.model.vocab": ("vocab_size",),
    "workload.model.max_sequence_length": ("max_position_embeddings",),
    "workload.model.attention_window": ("sliding_window_size",),
}
_GATED = ("is_llama_config", "is_qwen2_config")
_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_OPTIMIZERS = {"adamw": "adamw", "sgd": "sgd"}


def matches_nanotron(file: InputFile) -> bool:
    return all(mark.search(file.text) for mark in _MARKS)


def read_nanotron(file: InputFile) -> ImportResult:
    """The model, the batch and the layout of a run. Raises `FormatError` if it states no batch."""
    builder, keys = ImportBuilder(NANOTRON, file.name), file_keys(file)
    if keys.find("tokens.micro_batch_size") is None:
        raise FormatError("is no configuration of Nanotron: it has no tokens.micro_batch_size")
    line = keys.line("tokens.micro_batch_size")
    builder.set("workload.kind", "train", line)
    builder.set("layout.framework", NANOTRON, keys.line("parallelism.dp") or line)
    set_counts(keys, _COUNTS, builder)
    _set_batch(keys, builder)
    _set_model(keys, builder)
    set_choice(keys, "workload.precision", ("model.dtype",), _DTYPES, builder)
    set_choice(keys, "layout.sharding", ("zero_stage",), STAGES, builder)
    set_choice(keys, "workload.optimizer", ("optimizer_factory.name",), _OPTIMIZERS, builder)
    if keys.find("recompute_layer"):
        builder.set(
            "layout.recompute", "full" if keys.is_on("recompute_layer") else "none", keys.line("recompute_layer")
        )
    if keys.find("tp_mode"):
        parallel = str(keys.get("tp_mode")).upper().endswith("REDUCE_SCATTER")
        builder.set("layout.sequence_parallel", parallel, keys.line("tp_mode"))
    set_parameters(builder, keys.line("num_hidden_layers"))
    list_unused(keys, builder)
    return builder.reading()


def _set_batch(keys: Keys, builder: ImportBuilder) -> None:
    """Set the global batch where replicas, micro batch and accumulation are stated."""
    steps = keys.integer("tokens.batch_accumulation_per_replica")
    replicas, size = keys.integer("parallelism.dp"), keys.integer("tokens.micro_batch_size")
    line = keys.line("tokens.batch_accumulation_per_replica")
    if steps and replicas and size:
        builder.set("workload.global_batch", replicas * size * steps, line)
    elif steps:
        builder.count("gradient_accumulation_steps", steps, line)
    set_tokens_of_steps(keys.integer("tokens.train_steps"), builder, keys.line("tokens.train_steps"))


def _set_model(keys: Keys, builder: ImportBuilder) -> None:
    """Set the sizes of a dense decoder; list another network."""
    own = Keys({name: held for name, held in keys.values.items() if name.startswith("model.model_config.")})
    other = next((name for name in own.values if re.search(r"is_mamba|moe|ssm|is_starcoder", name)), None)
    line = own.line("num_hidden_layers", "hidden_size")
    if not own.values:
        return
    keys.used |= own.values.keys()
    if other is not None or not any(own.is_on(name) for name in _GATED):
        why = "not a dense decoder with only gated networks: state workload.model"
        builder.unknown(other or "model.model_config", why, own.line(other) if other else line)
        return
    set_counts(own, _MODEL, builder)
    if own.find("num_key_value_heads") is None:
        builder.set("workload.model.kv_heads", own.integer("num_attention_heads"), own.line("num_attention_heads"))
    builder.set("workload.model.gated_ffn", True, own.line(*_GATED))
    if own.find("tie_word_embeddings"):
        builder.set("workload.model.tied_embeddings", own.is_on("tie_word_embeddings"), own.line("tie_word_embeddings"))
