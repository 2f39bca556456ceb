"""Configurations of Oumi: training with the trainers of Hugging Face and TRL, and engines that it starts.

Names: oumi-ai/oumi d8ed0777, src/oumi/core/configs/params (``training_params.py``, ``model_params.py``,
``peft_params.py``, ``fsdp_params.py``, ``deepspeed_params.py``, ``data_params.py``) and inference_config.py; its
trainers take the options of Hugging Face's, by other names (``TrainingParams.to_hf``); read 2026-11-26.
"""

from __future__ import annotations

import re

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.engines.command_lines import set_engine_options
from clusterspec.exchange.workloads.keys import Keys, flat_leaves, set_choice
from clusterspec.exchange.workloads.model_files.models import set_served_model
from clusterspec.exchange.workloads.trainers.trainer import read_training
from clusterspec.exchange.workloads.unused_keys import list_unused

OUMI = "oumi"
_MODEL = re.compile(r"^model[ \t]*:[ \t]*(?:#.*)?\n(?:(?:[ \t#].*)?\n){0,40}?[ \t]+model_name[ \t]*:", re.MULTILINE)
_TRAINS = re.compile(r"^[ \t]+trainer_type[ \t]*:[ \t]*[\"']?(\w{1,40})", re.MULTILINE)
_ENGINE = re.compile(r"^(?:engine|inference_engine)[ \t]*:[ \t]*[\"']?(\w{1,40})", re.MULTILINE)
_SUPERVISED = {"TRL_SFT", "HF", "OUMI"}
_NAMES = {
    "model.model_name": "model_name_or_path",
    "model.model_max_length": "max_length",
    "model.attn_implementation": "attn_implementation",
    "model.enable_liger_kernel": "use_liger_kernel",
    "training.optimizer": "optim",
    "training.enable_gradient_checkpointing": "gradient_checkpointing",
    "training.compile": "torch_compile",
    "data.train.pack": "packing",
    "peft.q_lora": "qlora",
}
_STRATEGIES = {"FULL_SHARD": "full_shard", "SHARD_GRAD_OP": "shard_grad_op", "HYBRID_SHARD": "hybrid_shard"}
_SHORT = {"bfloat16": "bf16", "bf16": "bf16", "float16": "fp16", "fp16": "fp16", "float32": "fp32", "fp32": "fp32"}
_ENGINES = {"VLLM": "vllm", "SGLANG": "sglang"}


def matches_oumi(file: InputFile) -> bool:
    return bool(_MODEL.search(file.text) and (_TRAINS.search(file.text) or _ENGINE.search(file.text)))


def read_oumi(file: InputFile) -> ImportResult:
    """The workload and layout of a run. Raises `FormatError` for trainers and engines other than those of the table."""
    keys, yaml, builder = Keys(), read_yaml(file), ImportBuilder(OUMI, file.name)
    for name, value, line in flat_leaves(yaml.mapping, yaml.line):
        if value is not None and not str(value).startswith("???"):
            keys.put(name, value, line)
    if (kind := keys.get("training.trainer_type")) is None:
        return _read_engine(keys, builder)
    if str(kind).upper() not in _SUPERVISED:
        why = f"trains with {excerpt(kind)} of Oumi; read are {', '.join(sorted(_SUPERVISED))}"
        raise FormatError(why, keys.line("training.trainer_type"))
    _set_precision(keys, builder)
    _take_sharding(keys)
    for name in [*_NAMES, *keys.values]:
        own = _NAMES.get(name) or (name.partition(".")[2] if name.startswith(("training.", "peft.")) else "")
        if own and name in keys.values:
            keys.values[own.replace("-", "_")] = keys.values.pop(name)
    keys.used |= {"trainer_type"}
    return read_training(file, keys, builder)


def _set_precision(keys: Keys, builder: ImportBuilder) -> None:
    """Set the precision: of mixed training if stated, else of the weights and all states."""
    name, all_mixed = "model.torch_dtype_str", ("training.mixed_precision_dtype", "fsdp.mixed_precision")
    for mixed in all_mixed:
        value, line = keys.values.pop(mixed, (None, 0))
        if str(value or "none").lower() != "none":
            keys.put(mixed, value, line)
            set_choice(keys, "workload.precision", (mixed,), _SHORT, builder)
            del keys.values[mixed]
            return
    set_choice(keys, "workload.precision", (name,), _SHORT, builder)
    if _SHORT.get(str(keys.get(name)), "fp32") != "fp32":
        why = "without mixed_precision_dtype, weights, gradients and states have this type as well"
        builder.unknown(f"torch_dtype_str: {keys.get(name)}", why, keys.line(name))


def _take_sharding(keys: Keys) -> None:
    """Take the strategy of FSDP as the word that the option ``fsdp`` of the Trainer has."""
    line, stated = keys.line("fsdp.enable_fsdp"), str(keys.get("fsdp.sharding_strategy") or "FULL_SHARD")
    if keys.is_on("fsdp.enable_fsdp"):
        words = [_STRATEGIES.get(stated.upper(), stated), *(["offload"] if keys.is_on("fsdp.cpu_offload") else [])]
        keys.put("fsdp", " ".join(words), keys.line("fsdp.sharding_strategy") or line)
    stage, at = keys.values.pop("deepspeed.zero_stage", (None, 0))
    if stage is not None and keys.is_on("deepspeed.enable_deepspeed"):
        keys.put("zero_stage", str(stage).upper().removeprefix("ZERO_"), at)


def _read_engine(keys: Keys, builder: ImportBuilder) -> ImportResult:
    """The engine of a configuration that generates."""
    names = ("engine", "inference_engine")
    kind, line = str(keys.get(*names)), keys.line(*names)
    engine = _ENGINES.get(kind.upper())
    if engine is None:
        raise FormatError(f"generates with the engine {excerpt(kind)} of Oumi: no engine of the catalog", line)
    builder.set("workload.kind", "serve", line)
    builder.set("layout.framework", engine, line)
    name, model = "model.model_name", None
    if isinstance(named := keys.get(name), str):
        model = set_served_model(named, builder, keys.line(name))
    length, dtype = "model.model_max_length", "model.torch_dtype_str"
    builder.count("max_model_len", keys.integer(length), keys.line(length))
    inner = "model.model_kwargs."
    keys.values = {each.removeprefix(inner): held for each, held in keys.values.items()}
    if not keys.find("tensor_parallel_size"):
        why = "not stated: an engine that Oumi starts takes all accelerators that it sees"
        builder.unknown("layout.tp", why, line)
        keys.undecided.append(("--tensor-parallel-size", line, line))
    set_engine_options(engine, keys, model, builder)
    keys.undecided.clear()
    if keys.find(dtype):
        builder.unknown(f"torch_dtype_str: {excerpt(keys.get(dtype))}", "type of the weights", keys.line(dtype))
    list_unused(keys, builder)
    return builder.reading()
