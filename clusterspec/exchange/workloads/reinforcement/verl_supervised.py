"""Supervised training with verl: launches of ``fsdp_sft_trainer`` and ``sft_trainer``, and their configurations.

Names and defaults: verl-project/verl 1dda039b, verl/trainer/config/sft_trainer_engine.yaml and engine (``sft_trainer``
fills micro batches up to a number of tokens where ``use_dynamic_bsz`` is absent), and the configuration before it,
SkyworkAI/Skywork-OR1 64e96afa, verl/trainer/config/sft_trainer.yaml. ``data.train_batch_size`` is the global batch,
``lora_rank`` 0 turns adapters off.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    excerpt,
    without_comments,
)
from clusterspec.exchange.workloads.keys import (
    Keys,
    set_choice,
    set_counts,
    set_switch,
)
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.overrides import file_keys, follow_references, launch_with_overrides
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length, set_shard_groups
from clusterspec.exchange.workloads.trainers.deepspeed import list_offloaded_parameters, set_adapter
from clusterspec.exchange.workloads.unused_keys import list_unused

VERL = "verl"
_LAUNCH = re.compile(r"\bverl\.trainer\.(?:fsdp_)?sft_trainer\b|\bfsdp_sft_trainer\.py\b")
_FILE = (
    re.compile(r"^[ \t]+(?:partial_pretrain|pad_mode)[ \t]*:", re.MULTILINE),
    re.compile(r"^data[ \t]*:[ \t]*$", re.MULTILINE),
    re.compile(r"^[ \t]+micro_batch_size_per_gpu[ \t]*:", re.MULTILINE),
)
_COUNTS = {
    "layout.nodes": ("trainer.nnodes", "nnodes"),
    "workload.global_batch": ("data.train_batch_size",),
    "layout.tp": ("engine.tensor_model_parallel_size",),
    "layout.pp": ("engine.pipeline_model_parallel_size",),
    "layout.ep": ("engine.expert_model_parallel_size",),
    "layout.cp": (
        "engine.context_parallel_size",
        "engine.ulysses_sequence_parallel_size",
        "ulysses_sequence_parallel_size",
    ),
}
_MODEL = ("model.path", "model.partial_pretrain")
_SIZE = "data.micro_batch_size_per_gpu"


def is_supervised(file: InputFile) -> bool:
    """Whether a file launches or configures supervised training with verl."""
    text = without_comments(file.text)
    return bool(_LAUNCH.search(text)) or all(mark.search(text) for mark in _FILE)


def read_supervised(file: InputFile) -> ImportResult:
    """The batch and layout of a run. Raises `FormatError` if it states none, `SeveralParts` for several launches."""
    keys, builder = _keys(file), ImportBuilder(VERL, file.name)
    if keys.find("data.train_batch_size", _SIZE, *_MODEL) is None:
        raise FormatError("has no supervised training of verl with its batch or model")
    builder.set("workload.kind", "train", keys.line("data.train_batch_size", *_MODEL))
    if isinstance(named := keys.get(*_MODEL), str):
        set_model(named, builder, keys.line(*_MODEL))
    set_counts(keys, _COUNTS, builder)
    for names in (("trainer.n_gpus_per_node", "nproc_per_node"),):
        builder.count("ranks_per_node", keys.integer(*names), keys.line(*names))
    _set_micro_batch(keys, builder)
    _set_framework(keys, builder)
    if length := keys.integer("data.max_length"):
        list_cut_length("max_length", length, builder, keys.line("data.max_length"))
    if rank := keys.integer("model.lora_rank"):
        words = keys.words("model.target_modules")
        modules = [] if words in ((), ("all-linear",)) else [word.strip("[],'\"") for word in words]
        set_adapter("lora", rank, modules, builder, keys.line("model.lora_rank"))
    _set_parameters(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


_DTYPES = {"bf16": "bf16", "bfloat16": "bf16", "fp16": "fp16", "float16": "fp16", "fp32": "fp32", "float32": "fp32"}


def _set_parameters(keys: Keys, builder: ImportBuilder) -> None:
    """Set the precision in which FSDP keeps the parameters, and list those that it keeps in host memory."""
    names = ("model.fsdp_config.model_dtype", "engine.model_dtype")
    set_choice(keys, "workload.parameter_precision", names, _DTYPES, builder)
    for name in ("cpu_offload", "offload_params", "param_offload"):
        if keys.is_on(f"model.fsdp_config.{name}", f"engine.{name}"):
            list_offloaded_parameters(builder, keys.line(f"model.fsdp_config.{name}", f"engine.{name}"))
    if keys.is_on("engine.optimizer_offload"):
        builder.set("layout.offload.optimizer", 1, keys.line("engine.optimizer_offload"))


def _keys(file: InputFile) -> Keys:
    if _LAUNCH.search(without_comments(file.text)):
        return launch_with_overrides(file, _LAUNCH)
    keys = file_keys(file)
    follow_references(keys)
    return keys


def _set_micro_batch(keys: Keys, builder: ImportBuilder) -> None:
    """Set the micro batch, unless micro batches are filled up to a number of tokens."""
    of_engine = any(word.text.endswith("trainer.sft_trainer") for word in keys.command.words)
    stated = keys.find("data.use_dynamic_bsz") is not None
    if keys.is_on("data.use_dynamic_bsz") or (of_engine and not stated):
        line = keys.line("data.use_dynamic_bsz", _SIZE) or keys.command.line
        builder.unknown("layout.micro_batch", "micro batches are filled up to a number of tokens", line)
        keys.used |= {_SIZE} & keys.values.keys()
    else:
        builder.set("layout.micro_batch", keys.integer(_SIZE), keys.line(_SIZE))


def _set_framework(keys: Keys, builder: ImportBuilder) -> None:
    """Set the framework and its settings from the engine's keys, or from the program, which trains with FSDP."""
    set_switch(keys, "layout.recompute", ("model.enable_gradient_checkpointing",), builder, ("none", "full"))
    names = ("engine", "engine.strategy", "model.strategy")
    engine, line = str(keys.get(*names) or ""), keys.line(*names)
    program = next((word for word in keys.command.words if "fsdp_sft_trainer" in word.text), None)
    if engine == "megatron":
        builder.set("layout.framework", "megatron-core", line)
    elif engine in {"fsdp", "fsdp2"} or program is not None or keys.find("model.fsdp_config.cpu_offload"):
        line = line or (program.line if program else keys.line("model.fsdp_config.cpu_offload"))
        builder.set("layout.framework", "fsdp", line)
        set_shard_groups(keys, "engine.fsdp_size", builder, line)
    elif engine:
        builder.unknown(f"engine: {excerpt(engine)}", "no framework of the catalog corresponds to it", line)
