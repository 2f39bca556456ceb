"""Configurations of ROLL (reinforcement learning): roles with strategies and lists of devices of their own.

Names and meanings: alibaba/ROLL 8eb27cc2, roll/configs/base_config.py (lines 153: prompts of a step; 500: 0 runs in
turns; 786 to 808: a rank of the trainer takes per_device_train_batch_size × gradient_accumulation_steps samples for
one optimizer step, and its data-parallel degree is its devices over the degrees) and examples. Roles whose
``device_mapping`` is the same share their devices; the trainer's nodes are the nodes of its own devices.
"""

from __future__ import annotations

import re
from math import prod

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.keys import Keys, set_choice, set_counts, set_switch
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.reinforcement.samples import (
    list_output_lengths,
    set_memory_fraction,
    set_minibatches,
)
from clusterspec.exchange.workloads.reinforcement.verl import configuration_keys
from clusterspec.exchange.workloads.unused_keys import list_unused

ROLL = "roll"
_FILE = re.compile(r"^actor_train[ \t]*:", re.MULTILINE)
_RANGE = re.compile(r"list\(range\(\s*(\d{1,6})\s*,\s*(\d{1,6})\s*\)\)")
_MOST_DEVICES = 1_000_000
_TRAINED, _STRATEGY = "actor_train.training_args.", "actor_train.strategy_args."
_DEGREES, _ENGINES = f"{_STRATEGY}strategy_config.", "actor_infer.strategy_args."
_COUNTS = {
    "layout.tp": (f"{_DEGREES}tensor_model_parallel_size",),
    "layout.pp": (f"{_DEGREES}pipeline_model_parallel_size",),
    "layout.virtual_stages": (f"{_DEGREES}virtual_pipeline_model_parallel_size",),
    "layout.cp": (f"{_DEGREES}context_parallel_size",),
    "layout.ep": (f"{_DEGREES}expert_model_parallel_size",),
    "layout.expert_tp": (f"{_DEGREES}expert_tensor_parallel_size",),
    "layout.micro_batch": (f"{_TRAINED}per_device_train_batch_size",),
    "workload.rl.samples_per_prompt": (
        "actor_infer.generating_args.num_return_sequences",
        "num_return_sequences_in_group",
    ),
    "workload.rl.epochs": ("ppo_epochs",),
    "workload.rl.rollout.tp": (
        f"{_ENGINES}strategy_config.tensor_parallel_size",
        f"{_ENGINES}strategy_config.tp_size",
    ),
}
_SERVING = {"vllm": "vllm", "sglang": "sglang"}


def matches_roll(file: InputFile) -> bool:
    return bool(_FILE.search(file.text) and "strategy_args" in file.text and "device_mapping" in file.text)


def read_roll(file: InputFile) -> ImportResult:
    """The samples, roles and layout of a configuration. Raises `FormatError` if no trainer has a strategy."""
    keys, builder = configuration_keys(file, _FILE, "ROLL"), ImportBuilder(ROLL, file.name)
    if keys.find(f"{_STRATEGY}strategy_name") is None:
        raise FormatError("has no strategy of actor_train")
    builder.set("workload.kind", "rl", keys.line(f"{_STRATEGY}strategy_name"))
    names = ("actor_train.model_args.model_name_or_path", "pretrain")
    if isinstance(named := keys.get(*names), str):
        set_model(named, builder, keys.line(*names))
    set_counts(keys, _COUNTS, builder)
    _set_trainer(keys, builder)
    devices = _set_devices(keys, builder)
    _set_samples(keys, builder, len(devices))
    _set_rollout(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _set_trainer(keys: Keys, builder: ImportBuilder) -> None:
    """Set the framework, sharding, precision and recomputation of the trainer."""
    name = f"{_STRATEGY}strategy_name"
    frameworks = {"megatron_train": "megatron-core", "deepspeed_train": "deepspeed", "fsdp2_train": "fsdp"}
    set_choice(keys, "layout.framework", (name,), frameworks, builder)
    shared, stages = f"{_DEGREES}use_distributed_optimizer", f"{_STRATEGY}strategy_config"
    if keys.values.get(shared) and keys.is_on(shared):
        builder.set("layout.sharding", "zero1", keys.line(shared))
    elif keys.get(name) != "megatron_train":
        why = f"another file or the strategy decides it ({excerpt(keys.values.get(stages, ('',))[0])})"
        builder.unknown("layout.sharding", why, keys.line(name))
    if keys.values.get(f"{_DEGREES}sequence_parallel"):
        set_switch(keys, "layout.sequence_parallel", (f"{_DEGREES}sequence_parallel",), builder)
    if f"{_DEGREES}virtual_pipeline_model_parallel_size" in keys.values:
        line = keys.line(f"{_DEGREES}virtual_pipeline_model_parallel_size")
        builder.set("layout.schedule", "interleaved", line)
    set_choice(keys, "workload.precision", ("actor_train.model_args.dtype",), {"bf16": "bf16", "fp16": "fp16"}, builder)
    if f"{_DEGREES}recompute_granularity" in keys.values and keys.get(f"{_DEGREES}recompute_method") != "block":
        kinds = {"full": "full", "selective": "selective"}
        set_choice(keys, "layout.recompute", (f"{_DEGREES}recompute_granularity",), kinds, builder)
    if f"{_DEGREES}moe_token_dispatcher_type" in keys.values:
        kinds = {"alltoall": "all-to-all", "allgather": "all-gather"}
        set_choice(keys, "layout.dispatcher", (f"{_DEGREES}moe_token_dispatcher_type",), kinds, builder)


def _devices_of(keys: Keys, role: str) -> frozenset[int]:
    """The devices of a role; empty if the file does not list them as ranges."""
    text = str(keys.values.get(f"{role}.device_mapping", ("",))[0]).strip()
    spans = [(int(one[1]), int(one[2])) for one in _RANGE.finditer(text)]
    rest = _RANGE.sub("", text).replace("+", "").strip()
    if rest or sum(max(0, end - start) for start, end in spans) > _MOST_DEVICES:
        return frozenset()
    keys.used.add(f"{role}.device_mapping")
    return frozenset(device for start, end in spans for device in range(start, end))


def _set_devices(keys: Keys, builder: ImportBuilder) -> frozenset[int]:
    """Set the nodes and the placement from the devices of trainer and engines. Returns the trainer's devices."""
    trainer, engines = _devices_of(keys, "actor_train"), _devices_of(keys, "actor_infer")
    per_node = keys.integer("num_gpus_per_node")
    builder.count("ranks_per_node", per_node, keys.line("num_gpus_per_node"))
    at, line = keys.line("actor_train.device_mapping"), keys.line("actor_infer.device_mapping")
    apart = bool(trainer and engines) and trainer.isdisjoint(engines)
    if trainer:
        builder.count("trainer_devices", len(trainer), at)
    if engines:
        builder.count("rollout_devices", len(engines), line)
    for path, devices, place in (("layout.nodes", trainer, at), ("workload.rl.rollout.nodes", engines, line)):
        if path == "workload.rl.rollout.nodes" and not apart:
            continue
        if devices and per_node and len(devices) % per_node == 0:
            builder.set(path, len(devices) // per_node, place)
        else:
            why = f"{len(devices) or 'no listed'} devices, {per_node or 'no stated'} on a node: no whole nodes"
            builder.unknown(path, why, place)
    if trainer and trainer == engines:
        builder.set("workload.rl.placement", "colocated", line)
    elif apart:
        builder.set("workload.rl.placement", "split", line)
    elif trainer and engines:
        why = f"{len(trainer & engines)} devices have both roles, and {len(trainer ^ engines)} have one"
        builder.unknown("workload.rl.placement", why, line)
    return trainer


def _set_samples(keys: Keys, builder: ImportBuilder, devices: int) -> None:
    """Set the prompts and the optimizer steps of a step."""
    line, steps = keys.line("rollout_batch_size"), f"{_TRAINED}gradient_accumulation_steps"
    prompts = keys.integer("rollout_batch_size")
    if any(key.startswith(("custom_envs.", "train_env_manager.")) for key in keys.values):
        why = "counts trajectories of environments, whose groups say how many of them have one prompt"
        builder.unknown(f"rollout_batch_size: {prompts}", why, line)
        return
    builder.set("workload.rl.prompts_per_step", prompts, line)
    degrees = prod(keys.integer(*_COUNTS[f"layout.{axis}"]) or 1 for axis in ("tp", "pp", "cp"))
    names = ("actor_infer.generating_args.num_return_sequences", "num_return_sequences_in_group")
    samples, each = keys.integer(*names), keys.integer(f"{_TRAINED}per_device_train_batch_size")
    accumulated = keys.integer(steps)
    counted = all((prompts, samples, each, accumulated, devices)) and devices % degrees == 0
    of_megatron = keys.get(f"{_STRATEGY}strategy_name") == "megatron_train"
    part = (each or 0) * (accumulated or 0) * (devices // degrees) if counted and of_megatron else None
    if not set_minibatches((prompts or 0) * (samples or 0), part, builder, keys.line(steps)) and accumulated:
        why = "the samples of a step, or the replicas of the trainer, are not stated, or not a multiple"
        builder.unknown(f"gradient_accumulation_steps: {accumulated}", why, keys.line(steps))


def _set_rollout(keys: Keys, builder: ImportBuilder) -> None:
    """Set the engines; record the algorithm and the known lengths."""
    set_choice(keys, "workload.rl.rollout.framework", (f"{_ENGINES}strategy_name",), _SERVING, builder)
    shares = tuple(f"{_ENGINES}strategy_config.{name}" for name in ("gpu_memory_utilization", "mem_fraction_static"))
    set_memory_fraction(keys, shares, builder)
    for name in ("prompt_length", "response_length"):
        builder.count(name, keys.integer(name), keys.line(name))
    if keys.find("response_length"):
        list_output_lengths(builder, keys.line("response_length"))
    if (estimator := keys.get("adv_estimator")) == "gae":
        builder.set("workload.rl.algorithm", "ppo", keys.line("adv_estimator"))
    elif estimator is not None:
        why = "does not say whether a reference model takes part: state workload.rl.algorithm"
        builder.unknown(f"adv_estimator: {excerpt(estimator)}", why, keys.line("adv_estimator"))
    if str(keys.get("async_generation_ratio") or 0) not in {"0", "0.0"}:
        why = "engines generate while the trainer works on earlier samples: state workload.rl.max_staleness"
        builder.unknown("async_generation_ratio", why, keys.line("async_generation_ratio"))
