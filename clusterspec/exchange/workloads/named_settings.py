"""Settings whose names have one meaning in the field, whatever program takes them.

The names are those of options of Megatron-LM, DeepSpeed, Transformers, torchrun, vLLM and SGLang, which other programs
keep. A name counts only where nothing around it may give it another meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from clusterspec.exchange.import_result import ImportBuilder, Value, excerpt
from clusterspec.exchange.workloads.keys import OPEN_COUNT, Keys, boolean_value, positive_integer_of
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.trainers.accelerate import STAGES
from clusterspec.records import NamedTuple

_RANKS = "#ranks_per_node"
_STEPS = "#gradient_accumulation_steps"
_COUNTS: Mapping[str, tuple[str, ...]] = {
    "layout.tp": (
        *("tensor_model_parallel_size", "tensor_parallel_size", "tensor_parallel_degree", "tensor_parallelism"),
        *("tensor_parallel", "tensor_model_parallel", "tp_size", "tp_degree", "tp"),
    ),
    "layout.pp": (
        *("pipeline_model_parallel_size", "pipeline_parallel_size", "pipeline_parallel_degree"),
        *("pipeline_parallelism", "pipeline_parallel", "pipeline_model_parallel", "pp_size", "pp_degree", "pp"),
    ),
    "layout.cp": ("context_parallel_size", "context_parallel_degree", "context_parallelism", "cp_size", "cp"),
    "layout.ep": (
        *("expert_model_parallel_size", "expert_parallel_size", "expert_parallel_degree"),
        *("expert_parallelism", "ep_size", "ep"),
    ),
    "layout.dp": ("data_parallel_size", "data_parallel_degree", "data_parallelism", "dp_size", "dp_degree", "dp"),
    "layout.virtual_stages": ("virtual_pipeline_model_parallel_size", "virtual_pipeline_parallel_size"),
    "layout.expert_tp": ("expert_tensor_parallel_size", "expert_tensor_parallel_degree"),
    "layout.nodes": ("nnodes", "num_nodes", "n_nodes", "num_machines", "nodes"),
    _RANKS: (
        *("nproc_per_node", "n_gpus_per_node", "num_gpus_per_node", "gpus_per_node", "ngpus_per_node"),
        *("devices_per_node", "ranks_per_node", "procs_per_node", "processes_per_node"),
    ),
    "layout.micro_batch": (
        *("micro_batch_size", "micro_batch_size_per_gpu", "micro_batch_size_per_device"),
        *("train_micro_batch_size_per_gpu", "per_device_train_batch_size", "per_device_batch_size"),
        *("per_gpu_train_batch_size", "per_gpu_batch_size", "batch_size_per_gpu", "batch_size_per_device", "mbs"),
    ),
    "workload.global_batch": ("global_batch_size", "global_train_batch_size", "gbs"),
    "workload.sequence_length": ("seq_length", "sequence_length", "seq_len"),
    _STEPS: (
        *("gradient_accumulation_steps", "grad_accumulation_steps", "grad_accum_steps", "gradient_accumulation"),
        *("accumulate_grad_batches", "grad_accum"),
    ),
    "workload.serving.max_sequences": ("max_num_seqs",),
}
"""Counts of a spec, and the names that state them; those with ``#`` are numbers for which the spec has no key."""
_ACCOMPANIED = frozenset(
    {"tp", "pp", "cp", "ep", "dp", "mbs", "gbs", "seq_len", "num_nodes", "n_nodes", "nodes", "accumulate_grad_batches"}
)
"""Short names, which programs of other fields have too (the nodes of a graph): read next to a longer one only."""
_PRECISIONS = {
    **dict.fromkeys(("bf16", "bfloat16", "bf16-mixed", "bf16-true"), "bf16"),
    **dict.fromkeys(("fp16", "float16", "16-mixed"), "fp16"),
}
_NO_PRECISION = "no type of numbers that has one meaning"


def _sharding(value: Any) -> Value:
    return STAGES.get(str(value).strip())


def _recompute(value: Any) -> Value:
    state = boolean_value(value)
    return None if state is None else "full" if state else "none"


def _precision(value: Any) -> Value:
    return _PRECISIONS.get(str(value).strip().lower())


def _share(value: Any) -> Value:
    """A share of a memory; None if the value is not one."""
    text = str(value).strip()
    return float(text) if re.fullmatch(r"0?\.[0-9]{1,6}|1(?:\.0{1,6})?", text) else None


_OTHERS: Mapping[str, tuple[tuple[str, ...], Callable[[Any], Value]]] = {
    "layout.sharding": (("zero_stage", "zero_optimization_stage"), _sharding),
    "layout.recompute": (("gradient_checkpointing",), _recompute),
    "layout.sequence_parallel": (("sequence_parallel",), boolean_value),
    "workload.precision": (("mixed_precision", "precision"), _precision),
    "workload.serving.memory_fraction": (("gpu_memory_utilization", "mem_fraction_static"), _share),
}
_MODEL = ("model_name_or_path", "pretrained_model_name_or_path", "hf_model_name_or_path", "base_model", "pretrained")
_PATHS = {name: path for path, names in _COUNTS.items() for name in names} | {
    name: path for path, (names, _) in _OTHERS.items() for name in names
}
NAMES = (*_PATHS, *_MODEL)
"""All names, in small letters with underscores."""
OF_LAUNCHERS = frozenset({"layout.nodes", _RANKS})
"""What launchers and jobs state as well as programs."""
_OF_TRAINING = frozenset({"layout.micro_batch", "workload.global_batch", _STEPS, "layout.sharding", "layout.recompute"})
_SIZES = frozenset(
    {
        *("layout.tp", "layout.pp", "layout.cp", "layout.ep", "layout.nodes", _RANKS, "layout.micro_batch"),
        *("workload.global_batch", "layout.sharding"),
    }
)
"""What describes a launch by itself; the others only with one of these (steps of nanoGPT are those of all ranks)."""
_NEUTRAL = frozenset(
    (
        *(
            "train",
            "training",
            "trainer",
            "pretrain",
            "pretraining",
            "finetune",
            "finetuning",
            "sft",
            "model",
            "models",
        ),
        *("parallel", "parallelism", "parallelization", "model_parallel", "distributed", "dist", "strategy", "mesh"),
        *("megatron", "deepspeed", "fsdp", "system", "hardware", "cluster", "resources", "resource", "job", "run"),
        *(
            "experiment",
            "common",
            "global",
            "general",
            "base",
            "default",
            "defaults",
            "config",
            "cfg",
            "args",
            "arguments",
        ),
        *("hparams", "hyperparameters", "hyperparams", "params", "parameters", "batch", "batching", "arguments"),
        *("launcher", "launch", "compute", "infra", "env", "environment", "slurm", "torchrun", "optimization"),
        *(
            "data",
            "setup",
            "settings",
            "options",
            "spec",
            "scale",
            "topology",
            "performance",
            "memory",
            "main",
            "task",
            "init",
        ),
    )
)
"""Words of outer keys that leave the meaning of a name as it is; others may hold another model or part of the work."""
_SHARED = frozenset({"base", "common", "default", "defaults", "general", "global", "main"})
"""Words of outer keys of settings that sections of the same file may replace."""
_OF_ENGINE = frozenset({"vllm", "sglang", "engine", "server", "serving", "serve", "inference", "llm", "generation"})
"""Words of outer keys of an engine, whose settings are those of the file where nothing in it trains."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDS = re.compile(r"_(?:args|arguments|config|configs|cfg|params|parameters|settings|options|kwargs)$")


class NamedSetting(NamedTuple):
    """A key of a file with the path of the spec, or the count, that its name states."""

    key: str
    path: str
    value: Any
    line: int

    @property
    def outer(self) -> list[str]:
        """The outer keys, as plain names."""
        return [_ENDS.sub("", plain_setting(each)) for each in self.key.split(".")[:-1]]


def plain_setting(name: str) -> str:
    """A name in small letters, with underscores.

    >>> plain_setting("tensorParallelSize"), plain_setting("NUM-NODES")
    ('tensor_parallel_size', 'num_nodes')
    """
    return _CAMEL.sub("_", name).lower().replace("-", "_")


def named_settings(keys: Keys) -> list[NamedSetting]:
    """The settings of keys whose names have one meaning.

    >>> keys = Keys({"train.micro_batch_size": (2, 1), "nodes": (4, 2)})
    >>> [(each.path, each.value) for each in named_settings(keys)]
    [('layout.micro_batch', 2), ('layout.nodes', 4)]
    >>> named_settings(Keys({"num_nodes": (207, 1), "seq_len": (96, 2)}))
    []
    """
    found, alone = list[NamedSetting](), False
    for key, (value, line) in keys.values.items():
        name = plain_setting(key.rpartition(".")[2])
        if name in _PATHS and not isinstance(value, dict | list) and value is not None:
            found.append(NamedSetting(key, _PATHS[name], value, line))
            alone = alone or (name not in _ACCOMPANIED and _PATHS[name] in _SIZES)
    return found if alone else []


def stated_settings(keys: Keys) -> tuple[tuple[str, str], ...]:
    """The names and values of such settings, by which launches are told apart."""
    return tuple((each.key, str(each.value)) for each in named_settings(keys))


def set_named(keys: Keys, builder: ImportBuilder) -> None:
    """Set what names of one meaning state; list those whose scope or value the file leaves open."""
    found = named_settings(keys)
    trains = any(each.path in _OF_TRAINING for each in found)
    if not any(each.path in _SIZES and _has_plain_scope(each, trains) for each in found):
        return
    if _splits_batches(keys):
        found = [each for each in found if each.path != "layout.micro_batch"]
    for path in dict.fromkeys(each.path for each in found):
        stated = [each for each in found if each.path == path]
        keys.used |= {each.key for each in stated}
        plain = [each for each in stated if _has_plain_scope(each, trains)]
        replaced = [each for each in plain if _is_replaced(each, stated)]
        _set_stated([each for each in plain if each not in replaced], builder)
        for each in replaced:
            why = "a value that sections of the file replace: which of them runs, it does not say"
            builder.unknown(f"{each.key}: {excerpt(each.value)}", why, each.line)
        for each in stated:
            if each not in plain:
                why = "which model or part of the work it sizes, the name does not tell"
                builder.unknown(f"{each.key}: {excerpt(each.value)}", why, each.line)
    _set_precision(keys, builder)
    _set_adapters(keys, builder)
    _set_model(keys, builder)


def _splits_batches(keys: Keys) -> bool:
    """Whether a program computes a batch in further parts (GradCache), whose size is not that of its option."""
    return any("grad_cache" in key or "gradcache" in key for key in map(plain_setting, keys.values))


def _has_plain_scope(setting: NamedSetting, trains: bool) -> bool:
    """Whether the outer keys of a setting leave its meaning as it is."""
    engine = setting.path.startswith("workload.serving.")
    words = _NEUTRAL if trains else _NEUTRAL | _OF_ENGINE
    return set(setting.outer) <= words and not (trains and engine)


def _is_replaced(setting: NamedSetting, stated: list[NamedSetting]) -> bool:
    """Whether other sections of a file give another value to a setting of the section that they share."""
    section, _, name = setting.key.partition(".")
    return plain_setting(section) in _SHARED and any(
        each.key.partition(".")[2] == name and each.value != setting.value for each in stated if each is not setting
    )


def _set_stated(stated: list[NamedSetting], builder: ImportBuilder) -> None:
    """Set the value in which all settings of one path agree; list them if they differ."""
    values = dict.fromkeys(_spec_value(each) for each in stated)
    for each in stated:
        value = _spec_value(each)
        if value is None and str(each.value).strip().lower() not in {"none", "null", "auto", "-1", "0", "false", ""}:
            why = _NO_PRECISION if each.path == "workload.precision" else OPEN_COUNT
            builder.unknown(f"{each.key}: {excerpt(each.value)}", why, each.line)
        elif value is not None and len(values) > 1:
            builder.unknown(f"{each.key}: {excerpt(each.value)}", "another setting of this meaning differs", each.line)
    if len(values) == 1 and stated and (value := next(iter(values))) is not None:
        _set_once(stated[0], value, builder)


def _set_once(setting: NamedSetting, value: Value, builder: ImportBuilder) -> None:
    """Set a value, unless the launcher of the program states it already; list it where the two differ."""
    name = setting.path.removeprefix("#")
    paths = {".".join(map(str, each.path)): each.value for each in builder.given}
    held = paths | {each.name: each.value for each in builder.counts}
    if name in held and held[name] != value:
        why = f"the launcher states {held[name]}, which is kept"
        builder.unknown(f"{setting.key}: {excerpt(setting.value)}", why, setting.line)
    elif name not in held and setting.path.startswith("#") and isinstance(value, int):
        builder.count(name, value, setting.line)
    elif name not in held:
        builder.set(name, value, setting.line)


def _spec_value(setting: NamedSetting) -> Value:
    """The value of the spec that a setting states; None if it is open."""
    other = _OTHERS.get(setting.path)
    return other[1](setting.value) if other else positive_integer_of(setting.value)


def _set_precision(keys: Keys, builder: ImportBuilder) -> None:
    """Set the precision of a switch that is named after it."""
    on = [name for name in ("bf16", "fp16") if keys.is_on(name)]
    if len(on) == 1 and not any(each.path == ("workload", "precision") for each in builder.given):
        builder.set("workload.precision", on[0], keys.line(on[0]))


_ADAPTER_RANKS = frozenset({"lora_r", "lora_rank", "lora_dim"})
_ADAPTER_RANK = re.compile(r"(?:^|\.)(?:peft_)?lora(?:_args|_config|_params)?\.r(?:ank)?$")
_ADAPTER_SWITCHES = re.compile(r"(?:use_|enable_)?(?:lora|peft|adapter)s?(?:_enabled?)?")


def _set_adapters(keys: Keys, builder: ImportBuilder) -> None:
    """Set the rank of adapters that one key of the file states, unless a switch turns them off."""
    names = {key: plain_setting(key.rpartition(".")[2]) for key in keys.values}
    ranks = [key for key, name in names.items() if name in _ADAPTER_RANKS or _ADAPTER_RANK.search(plain_setting(key))]
    off = [key for key, name in names.items() if _ADAPTER_SWITCHES.fullmatch(name) and not keys.is_on(key)]
    rank = positive_integer_of(keys.values[ranks[0]][0]) if len(ranks) == 1 and not off else None
    if rank is not None:
        keys.used.add(ranks[0])
        builder.set("workload.trainable.method", "lora", keys.values[ranks[0]][1])
        builder.set("workload.trainable.rank", rank, keys.values[ranks[0]][1])


_OF_MODEL = re.compile(r"(?:[\w.]{0,80}\.)?(?:base_?)?model(?:_args|_config)?[._](?:name|id|path|name_or_path)|model")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,80}/[A-Za-z0-9][\w.-]{0,120}")


def _names_a_repository(name: str, value: Any) -> bool:
    """Whether a key of the model of a file names a repository of the Hub (``model: {name: Qwen/Qwen3-8B}``).

    Outer keys may only be words that leave its meaning as it is: a reward, a teacher or a judge has a model too.
    """
    outer = [_ENDS.sub("", each) for each in name.split(".")[:-1]]
    stated = bool(_OF_MODEL.fullmatch(name) and _REPOSITORY.fullmatch(str(value)))
    return stated and set(outer) <= _NEUTRAL | {"base_model"}


def _set_model(keys: Keys, builder: ImportBuilder) -> None:
    """Set the model that one key of the whole file names."""
    names = [key for key in keys.values if plain_setting(key.rpartition(".")[2]) in _MODEL]
    names = names or [key for key, (value, _) in keys.values.items() if _names_a_repository(plain_setting(key), value)]
    stated = {str(keys.values[key][0]) for key in names}
    keys.used |= set(names)
    if len(stated) == 1 and "" not in stated and "None" not in stated:
        set_model(stated.pop(), builder, keys.values[names[0]][1])
    for key in names if len(stated) > 1 else ():
        value, line = keys.values[key]
        builder.unknown(f"{key}: {excerpt(value)}", "another key names another model", line)


def option_names() -> Iterator[str]:
    """The names as a part of a pattern for command lines, with either sign between their words."""
    return (name.replace("_", "[_-]") for name in sorted(NAMES, key=len, reverse=True))


_LONG_NAMES = re.compile("|".join(name.replace("_", "[_-]?") for name in _PATHS if name not in _ACCOMPANIED), re.I)


def has_long_name(text: str) -> bool:
    """Whether a text has one of the names that count by themselves, in any spelling.

    >>> has_long_name("gpusPerNode: 8"), has_long_name("num_nodes: 8")
    (True, False)
    """
    return bool(_LONG_NAMES.search(text))
