"""Configurations of LLM Foundry and Composer (YAML), and runs of the MosaicML platform that hold one.

Names and defaults: mosaicml/llm-foundry 8c8dd48f, scripts/train/yamls and llmfoundry/models/mpt/configuration_mpt.py
(embeddings are tied and networks not gated where MPT states nothing else). ``global_train_batch_size`` counts the
sequences of a step; those of ``name: text`` are filled to ``max_seq_len``.
"""

from __future__ import annotations

import re

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.keys import (
    Keys,
    flat_leaves,
    positive_integer_of,
    set_choice,
    set_counts,
    set_switch,
)
from clusterspec.exchange.workloads.model_files.models import set_model, set_parameters
from clusterspec.exchange.workloads.overrides import follow_references
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length
from clusterspec.exchange.workloads.trainers.accelerate import STRATEGIES
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter
from clusterspec.exchange.workloads.unused_keys import list_unused

LLM_FOUNDRY = "llm-foundry"
_MARKS = (
    re.compile(r"^[ \t]*global_train_batch_size[ \t]*:", re.MULTILINE),
    re.compile(r"^[ \t]*name[ \t]*:[ \t]*(?:mpt|hf)_causal_lm\b", re.MULTILINE),
)
_MPT = {
    "workload.model.layers": ("model.n_layers",),
    "workload.model.hidden": ("model.d_model",),
    "workload.model.heads": ("model.n_heads",),
    "workload.model.vocab": ("model.vocab_size",),
    "workload.model.max_sequence_length": ("model.max_seq_len",),
}
_PRECISIONS = {"amp_bf16": "bf16", "amp_fp16": "fp16", "amp_fp8": "fp8", "fp32": "fp32"}
_OPTIMIZERS = {"decoupled_adamw": "adamw", "adamw": "adamw", "decoupled_lionw": "lion"}


def matches_llm_foundry(file: InputFile) -> bool:
    return all(mark.search(file.text) for mark in _MARKS)


def read_llm_foundry(file: InputFile) -> ImportResult:
    """The model, the batch and the sharding of a run. Raises `FormatError` if it has no batch."""
    builder, keys, yaml = ImportBuilder(LLM_FOUNDRY, file.name), Keys(), read_yaml(file)
    for name, value, line in flat_leaves(yaml.mapping, yaml.line):
        if value is not None:
            keys.put(name.removeprefix("parameters."), value, line)
    follow_references(keys)
    if keys.find("global_train_batch_size") is None:
        raise FormatError("is no configuration of LLM Foundry: it has no global_train_batch_size")
    _set_kind(keys, builder)
    set_counts(keys, {"workload.global_batch": ("global_train_batch_size",)}, builder)
    name = "device_train_microbatch_size"
    if str(keys.get(name)) == "auto":
        builder.unknown(f"{name}: auto", "found at run time, by the memory that is left", keys.line(name))
    else:
        set_counts(keys, {"layout.micro_batch": (name,)}, builder)
    _set_model(keys, builder)
    _set_length(keys, builder)
    set_choice(keys, "workload.precision", ("precision",), _PRECISIONS, builder)
    set_choice(keys, "workload.optimizer", ("optimizer.name",), _OPTIMIZERS, builder)
    _set_sharding(keys, builder)
    if devices := keys.integer("compute.gpus", "gpu_num"):
        builder.count("accelerators", devices, keys.line("compute.gpus", "gpu_num"))
    set_parameters(builder, keys.line("model.n_layers"))
    list_unused(keys, builder)
    return builder.reading()


def _set_kind(keys: Keys, builder: ImportBuilder) -> None:
    """Set the kind of work, which is another one with a teacher (neuralmagic's fork of LLM Foundry)."""
    if teacher := next((name for name in keys.values if name.startswith("knowledge_distillation.")), None):
        why = "a teacher runs forward on every sample, which a spec of training does not describe"
        builder.unknown(teacher.rpartition(".")[2], why, keys.line(teacher))
        keys.used |= {name for name in keys.values if name.startswith("knowledge_distillation.")}
    else:
        builder.set("workload.kind", "train", keys.line("global_train_batch_size"))


def _set_model(keys: Keys, builder: ImportBuilder) -> None:
    """Set a hub model by its name, or an MPT model by its sizes if they describe a dense decoder."""
    kind, line = str(keys.get("model.name")), keys.line("model.name")
    if kind == "hf_causal_lm":
        if isinstance(named := keys.get("model.pretrained_model_name_or_path"), str):
            set_model(named, builder, keys.line("model.pretrained_model_name_or_path"))
        _set_adapters(keys, builder)
        return
    own = ("model.ffn_config.ffn_type", "model.block_overrides.order", "model.attn_config.sliding_window_size")
    other = next((name for name in own if keys.find(name)), None)
    if kind != "mpt_causal_lm" or (other and str(keys.get(other)) != "mptmlp"):
        builder.unknown(f"model {other or kind}", "not a dense decoder with the networks of MPT", line)
        return
    set_counts(keys, _MPT, builder)
    attention = str(keys.get("model.attn_config.attn_type"))
    names = ("model.attn_config.kv_n_heads",) if attention == "grouped_query_attention" else ("model.n_heads",)
    heads = 1 if attention == "multiquery_attention" else keys.integer(*names)
    builder.set("workload.model.kv_heads", heads, keys.line(*names))
    width, ratio = keys.integer("model.d_model"), positive_integer_of(keys.get("model.expansion_ratio"))
    if width and ratio:
        builder.set("workload.model.ffn_hidden", width * ratio, keys.line("model.expansion_ratio"))
    builder.set("workload.model.gated_ffn", False, line)
    tied = keys.find("model.tie_word_embeddings") is None or keys.is_on("model.tie_word_embeddings")
    builder.set("workload.model.tied_embeddings", tied, keys.line("model.tie_word_embeddings") or line)


def _set_adapters(keys: Keys, builder: ImportBuilder) -> None:
    """Set low-rank adapters of PEFT on the modules that are named; list those without a rank or modules."""
    held = "model.peft_config"
    if not (first := next((name for name in keys.values if name.startswith(f"{held}.")), None)):
        return
    method, rank = str(keys.get(f"{held}.peft_type")).lower(), keys.integer(f"{held}.r")
    modules, line = keys.words(f"{held}.target_modules"), keys.line(f"{held}.r", first)
    if method != "lora" or rank is None or not modules or keys.is_on(f"{held}.use_dora"):
        builder.unknown(f"adapters ({excerpt(method)})", "state workload.trainable", line)
        return
    set_adapter(method, rank, [] if modules == ("all-linear",) else list(modules), builder, line)


def _set_length(keys: Keys, builder: ImportBuilder) -> None:
    """Set the length of packed sequences; for fine-tuning, sequences are only truncated to it."""
    length, line = keys.integer("max_seq_len"), keys.line("max_seq_len")
    packed = keys.find("train_loader.dataset.packing_ratio") is not None
    if length and (str(keys.get("train_loader.name")) == "text" or packed):
        builder.set("workload.sequence_length", length, line)
    elif length:
        list_cut_length("max_seq_len", length, builder, line)


def _set_sharding(keys: Keys, builder: ImportBuilder) -> None:
    """Set FSDP as ``fsdp_config`` states it, and the recomputation."""
    strategy = "fsdp_config.sharding_strategy"
    if keys.find(strategy):
        builder.set("layout.framework", "fsdp", keys.line(strategy))
        set_choice(keys, "layout.sharding", (strategy,), STRATEGIES, builder)
    set_switch(keys, "layout.recompute", ("fsdp_config.activation_checkpointing",), builder, ("none", "full"))
    if keys.is_on("fsdp_config.activation_cpu_offload"):
        why = "activations move to the memory of the host: state layout.offload"
        builder.unknown("activation_cpu_offload", why, keys.line("fsdp_config.activation_cpu_offload"))
    keys.get("fsdp_config.activation_cpu_offload")
