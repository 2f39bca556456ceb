"""Configurations of the SageMaker HyperPod training adapter for NeMo: FSDP with the degrees of ``use_smp_model``.

Names and meanings: aws/sagemaker-hyperpod-training-adapter-for-nemo 0f91fdd5, src/hyperpod_nemo_adapter,
conf/config_schemas.py (keys, and defaults, of which none is assumed), collections/model/sagemaker_base_model.py (line
192: ranks with samples of their own are all, divided by tensor and context parallelism), collections/data/base.py
(``train_batch_size`` of each of these), collections/parts/fsdp_strategy.py (``shard_degree``); read 2026-11-29.
"""

from __future__ import annotations

import re
from math import prod

from clusterspec.exchange.import_result import ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.workloads.keys import Keys, set_choice, set_counts, set_switch
from clusterspec.exchange.workloads.model_files.models import set_model, set_parameters
from clusterspec.exchange.workloads.overrides import file_keys, follow_references
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter, set_fsdp_words
from clusterspec.exchange.workloads.unused_keys import list_unused

_MARK = re.compile(r"^use_smp_model[ \t]*:", re.MULTILINE)
_LENGTH = re.compile(r"^[ \t]+max_context_width[ \t]*:", re.MULTILINE)
_COUNTS = {
    "layout.nodes": ("trainer.num_nodes",),
    "layout.tp": ("model.tensor_model_parallel_degree",),
    "layout.cp": ("model.context_parallel_degree",),
    "layout.ep": ("model.expert_model_parallel_degree",),
    "layout.micro_batch": ("model.train_batch_size",),
}
_SIZES = {
    "workload.model.layers": ("model.num_hidden_layers",),
    "workload.model.hidden": ("model.hidden_size",),
    "workload.model.heads": ("model.num_attention_heads",),
    "workload.model.kv_heads": ("model.num_key_value_heads",),
    "workload.model.vocab": ("model.vocab_size",),
    "workload.model.max_sequence_length": ("model.max_position_embeddings",),
    "workload.model.attention_window": ("model.sliding_window",),
}
_EXPERTS = {
    "workload.model.experts": ("model.num_local_experts",),
    "workload.model.experts_per_token": ("model.num_experts_per_tok",),
    "workload.model.expert_ffn_hidden": ("model.intermediate_size",),
}
_GATED = frozenset({"llama_v2", "llama_v3", "llama_v4", "mistral", "mixtral", "deepseek_r1_llama_v3", "qwen_v2"})
"""Types of models whose networks are gated (huggingface/transformers, models of these names)."""


def is_adapter_configuration(text: str) -> bool:
    return bool(_MARK.search(text) and _LENGTH.search(text))


def read_adapter_configuration(file: InputFile, kind: str) -> ImportResult:
    """The run of a configuration. Raises `FormatError` if it is no mapping."""
    keys, builder = file_keys(file), ImportBuilder(kind, file.name)
    follow_references(keys)
    builder.set("workload.kind", "train", keys.line("use_smp_model"))
    builder.set("layout.framework", "fsdp", keys.line("use_smp_model"))
    set_counts(keys, _COUNTS, builder)
    builder.count("ranks_per_node", keys.integer("trainer.devices"), keys.line("trainer.devices"))
    _set_model(keys, builder)
    _set_batch(keys, builder)
    _set_sharding(keys, builder)
    _set_adapters(keys, builder)
    set_switch(keys, "layout.recompute", ("model.activation_checkpointing",), builder, ("none", "full"))
    set_choice(keys, "workload.optimizer", ("model.optim.name",), {"adamw": "adamw", "adam": "adam"}, builder)
    if keys.is_on("model.use_flash_attention"):
        builder.set("workload.attention", "flash", keys.line("model.use_flash_attention"))
    precisions = {"bf16": "bf16", "bf16-mixed": "bf16", "16": "fp16", "fp16": "fp16", "32": "fp32"}
    if keys.is_on("model.fp8"):
        builder.set("workload.precision", "fp8", keys.line("model.fp8"))
        keys.used.add("trainer.precision")
    else:
        set_choice(keys, "workload.precision", ("trainer.precision",), precisions, builder)
    if keys.find("model.fp8") is None:
        builder.unknown("workload.precision", "the adapter computes in fp8 unless model.fp8 is off: not stated")
    list_unused(keys, builder)
    set_parameters(builder, keys.line("model.num_hidden_layers"))
    return builder.reading()


def _set_model(keys: Keys, builder: ImportBuilder) -> None:
    """Set the model by the name of its checkpoint, or by its sizes."""
    name = "model.hf_model_name_or_path"
    if (stated := keys.get(name)) and str(stated).lower() != "none":
        set_model(str(stated), builder, keys.line(name))
        return
    experts = keys.is_on("model.moe")
    dense = {} if experts else {"workload.model.ffn_hidden": ("model.intermediate_size",)}
    set_counts(keys, _SIZES | dense | (_EXPERTS if experts else {}), builder)
    if str(keys.get("model.model_type")) in _GATED and keys.find("model.num_hidden_layers"):
        builder.set("workload.model.gated_ffn", True, keys.line("model.model_type"))
    set_switch(keys, "workload.model.tied_embeddings", ("model.tie_word_embeddings",), builder)


def _set_adapters(keys: Keys, builder: ImportBuilder) -> None:
    """Set the low-rank adapters if a run trains only these."""
    kind, rank = str(keys.get("model.peft.peft_type") or "").lower(), keys.integer("model.peft.rank")
    if not kind.startswith(("lora", "qlora")):
        return
    words = list(keys.words("model.peft.target_modules"))
    line = keys.line("model.peft.rank")
    if rank:
        keys.asked.discard("model.peft.peft_type")
        set_adapter("qlora" if kind.startswith("q") else "lora", rank, words, builder, line)
    else:
        builder.unknown(
            "workload.trainable", "adapters of a rank that is not stated", keys.line("model.peft.peft_type")
        )


def _set_batch(keys: Keys, builder: ImportBuilder) -> None:
    """Set the length and, where all ranks are counted, the global batch."""
    length, line = keys.integer("model.max_context_width"), keys.line("model.max_context_width")
    if length and keys.is_on("model.do_finetune"):
        list_cut_length("max_context_width", length, builder, line)
    else:
        builder.set("workload.sequence_length", length, line)
    each, ranks = keys.integer("model.train_batch_size"), _data_ranks(keys)
    if each and ranks:
        builder.set("workload.global_batch", each * ranks, keys.line("model.train_batch_size"))


def _data_ranks(keys: Keys) -> int | None:
    """The ranks with samples of their own; None if the file does not count them."""
    counts = [keys.integer(name) for name in ("trainer.num_nodes", "trainer.devices")]
    names = ("model.tensor_model_parallel_degree", "model.context_parallel_degree")
    shared = prod(keys.integer(name) or 1 for name in names)
    ranks = prod(count for count in counts if count) if all(counts) else 0
    return ranks // shared if ranks and ranks % shared == 0 else None


def _set_sharding(keys: Keys, builder: ImportBuilder) -> None:
    """Set the sharding from its strategy and, for full shards, from the ranks of a shard."""
    name, degree = "model.sharding_strategy", keys.integer("model.shard_degree")
    strategy, line = str(keys.get(name) or "").lower(), keys.line(name) or keys.line("model.shard_degree")
    tensor = keys.integer("model.tensor_model_parallel_degree") or 1
    counts = [keys.integer(each) for each in ("trainer.num_nodes", "trainer.devices")]
    ranks = prod(count for count in counts if count) // tensor if all(counts) else 0
    if strategy and (degree is None or strategy not in {"full_shard", "hybrid_shard"}):
        set_fsdp_words((strategy,), builder, line)
    elif degree and ranks == degree:
        builder.set("layout.sharding", "fsdp", line)
    elif degree and ranks and ranks % degree == 0 and not (keys.integer("model.expert_model_parallel_degree") or 1) > 1:
        builder.set("layout.sharding", "hsdp", line)
        builder.set("layout.shard_group", degree, keys.line("model.shard_degree"))
    elif degree:
        why = f"{strategy} in groups of {degree} ranks: with experts spread or uncounted ranks, this does not tell them"
        builder.unknown("sharding_strategy", why, line)
    keys.asked.discard("model.shard_degree")  # it decides the strategy
