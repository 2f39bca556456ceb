"""Configurations of LitGPT (YAML) and its launches (``litgpt finetune_lora …``).

Names and defaults: Lightning-AI/litgpt 26857050, litgpt/args.py (``global_batch_size`` counts the samples of all ranks
between steps of the optimizer), litgpt/finetune/full.py line 107 and litgpt/pretrain.py line 143: several ranks train
with FSDP, which shards all and recomputes each layer in full fine-tuning, and shards within a node in pretraining;
``no_backward_sync`` holds for all but the last micro-batch of a step.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import (
    LIST,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    excerpt,
    without_comments,
)
from clusterspec.exchange.workloads.keys import OPEN_VALUE, Keys, read_arguments, set_counts
from clusterspec.exchange.workloads.launch_commands import GAP
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.overrides import file_keys
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.logs.statements.required_words import first_match

LITGPT = "litgpt"
_MARKS = (
    re.compile(r"^(?:checkpoint_dir|model_name|tokenizer_dir)[ \t]*:", re.MULTILINE),
    re.compile(r"^train[ \t]*:[ \t]*$", re.MULTILINE),
    re.compile(r"^[ \t]+global_batch_size[ \t]*:", re.MULTILINE),
    re.compile(r"\blitgpt\b|^logger_name[ \t]*:", re.MULTILINE),
)
_LAUNCH = re.compile(rf"\blitgpt{GAP}(?:finetune(?:_full|_lora)?|pretrain)\b")
_COUNTS = {
    "layout.nodes": ("num_nodes",),
    "layout.micro_batch": ("train.micro_batch_size",),
    "workload.global_batch": ("train.global_batch_size",),
}
_PRECISIONS = {"bf16": "bf16", "16": "fp16", "32": "fp32"}
_ATTENTION = ("lora_query", "lora_key", "lora_value", "lora_projection")
_UNRELATED = re.compile(
    r"(?:data|eval|log)\.|data$|(?:out_dir|logger_name|seed|resume|tokenizer_dir|access_token|lora_alpha|lora_dropout)$"
    r"|train\.(?:\w+_interval|lr_\w+|epochs|max_tokens|max_steps|max_time|max_norm|min_lr)$|optimizer\.init_args"
)
"""Keys of data, logs and learning rate, which do not describe a layout."""


def matches_litgpt(file: InputFile) -> bool:
    text = without_comments(file.text)
    return bool(first_match(_LAUNCH, text)) or all(first_match(mark, text) for mark in _MARKS)


def read_litgpt(file: InputFile) -> ImportResult:
    """The workload and layout of a run. Raises `FormatError` if it states no batch, `SeveralParts` for several."""
    builder, keys = ImportBuilder(LITGPT, file.name), _keys(file)
    if keys.find("train.micro_batch_size", "train.global_batch_size", "devices", "num_nodes", "lora_r") is None:
        raise FormatError("states neither the batch nor the devices of a run of litgpt")
    line = keys.line("train.global_batch_size", "train.micro_batch_size") or keys.command.line
    builder.set("workload.kind", "train", line)
    _set_model(keys, builder)
    set_counts(keys, _COUNTS, builder)
    pretrained = _pretrains(keys)
    _set_strategy(keys, pretrained, builder)
    _set_length(keys, pretrained, builder)
    if pretrained:
        set_counts(keys, {"workload.tokens": ("train.max_tokens",)}, builder)
    precision = str(keys.get("precision") or "").partition("-")[0]
    builder.set("workload.precision", _PRECISIONS.get(precision), keys.line("precision"))
    _set_updates(keys, builder)
    keys.used |= {name for name in keys.values if _UNRELATED.match(name)}
    list_unused(keys, builder)
    return builder.reading()


def _keys(file: InputFile) -> Keys:
    if _LAUNCH.search(without_comments(file.text)):
        keys = read_arguments(file, _LAUNCH)
        words = [word for word in keys.command.words if _LAUNCH.search(f"litgpt {word.text}")]
        at = keys.command.words.index(words[0]) + 1 if words else 0
        after = keys.command.words[at : at + 1] if at else ()
        if after and not after[0].text.startswith("-"):
            keys.put("checkpoint_dir", after[0].text, after[0].line)
        return keys
    return file_keys(file)


def _pretrains(keys: Keys) -> bool:
    """Whether a run uses ``litgpt pretrain``, which names a model instead of a checkpoint."""
    return "model_name" in keys.values or any(word.text == "pretrain" for word in keys.command.words)


def _set_model(keys: Keys, builder: ImportBuilder) -> None:
    names = ("model_name", "checkpoint_dir")
    if isinstance(named := keys.get(*names), str):
        set_model(named.rstrip("/"), builder, keys.line(*names))
    if sizes := [name for name in keys.values if name.startswith("model_config.")]:
        why = "sizes of a model of its own: state workload.model"
        builder.unknown(excerpt(", ".join(name.partition(".")[2] for name in sizes), LIST), why, keys.line(sizes[0]))
        keys.used |= set(sizes)


def _set_strategy(keys: Keys, pretrained: bool, builder: ImportBuilder) -> None:
    """Set the ranks, and the sharding if there are several ranks."""
    devices, nodes, line = keys.integer("devices"), keys.integer("num_nodes"), keys.line("devices")
    builder.count("ranks_per_node", devices, line)
    if keys.find("devices") and devices is None:
        builder.unknown(
            f"devices: {excerpt(keys.get('devices'))}", "all of a node, which the file does not count", line
        )
    if (devices or 1) * (nodes or 1) == 1:
        if devices and nodes:
            builder.set("layout.sharding", "none", line)
        return
    if keys.find("lora_r"):
        builder.unknown("layout.sharding", "adapters are sharded by another strategy of each release", line)
        return
    builder.set("layout.framework", "fsdp", line)
    builder.set("layout.sharding", "hsdp" if pretrained else "fsdp", line)
    builder.set("layout.shard_group", devices if pretrained else None, line)
    builder.set("layout.recompute", None if pretrained else "full", line)
    builder.set("layout.gradient_sync", "step", line)


def _set_length(keys: Keys, pretrained: bool, builder: ImportBuilder) -> None:
    """Set the length of the blocks of pretraining; fine-tuning only cuts its samples at it."""
    name = "train.max_seq_length"
    length, line = keys.integer(name), keys.line(name)
    if pretrained:
        builder.set("workload.sequence_length", length, line)
    elif length:
        builder.count("max_seq_length", length, line)
        builder.unknown("workload.sequence_length", f"samples are cut at {length} tokens, shorter ones stay", line)


def _set_updates(keys: Keys, builder: ImportBuilder) -> None:
    """Set the optimizer, and adapters if the launch has some."""
    names = ("optimizer.class_path", "optimizer")
    stated = str(keys.get(*names) or "")
    kind = stated.rpartition(".")[2].lower()
    if kind in {"adam", "adamw", "sgd"}:
        builder.set("workload.optimizer", kind, keys.line(*names))
    elif stated:
        builder.unknown(f"optimizer {stated[-40:]}", "no value of workload.optimizer", keys.line(*names))
    quantized = str(keys.get("quantize") or "")
    four = quantized.startswith("bnb.nf4")
    if not keys.find("lora_r"):
        return
    modules = ["q_proj"] if any(keys.is_on(name) for name in _ATTENTION) else []
    modules += ["up_proj"] if keys.is_on("lora_mlp") else []
    modules += ["lm_head"] if keys.is_on("lora_head") else []
    switches = (*_ATTENTION, "lora_mlp", "lora_head")
    keys.used |= {name for name in switches if name in keys.values}
    line = keys.line("lora_r")
    if undecided := next((name for name in switches if keys.is_variable(name)), ""):
        builder.unknown(f"{undecided}: {excerpt(keys.get(undecided))}", OPEN_VALUE, keys.line(undecided))
        modules = []
    if modules:
        set_adapter("qlora" if four else "lora", keys.integer("lora_r"), modules, builder, line)
    else:  # a launch of options, whose defaults are adapters of queries and values
        builder.set("workload.trainable.method", "qlora" if four else "lora", line)
        builder.set("workload.trainable.rank", keys.integer("lora_r"), line)
    if quantized and not four:
        builder.unknown(
            f"quantize: {excerpt(quantized)}", "frozen weights that a spec cannot say", keys.line("quantize")
        )
