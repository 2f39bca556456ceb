"""Launches and configurations of EasyR1, a fork of verl with keys of its own: ``verl.trainer.main`` and ``worker.…``.

Names: hiyouga/EasyR1 b44b311b, examples/config.yaml, verl/trainer/config.py, verl/workers/actor/config.py,
verl/trainer/main.py (lines 55 to 64: actor, rollout and reference share one pool) and verl/workers/fsdp_workers.py
(lines 143: minibatches count prompts; 288: shards of parameters, or of gradients and states).
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.keys import Keys, boolean_value, set_choice, set_counts
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.reinforcement.samples import (
    count_lengths_and_ranks,
    set_memory_fraction,
    set_minibatches,
    set_shard_groups,
)
from clusterspec.exchange.workloads.reinforcement.verl import launch_keys
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter
from clusterspec.exchange.workloads.unused_keys import list_unused

EASYR1 = "easyr1"
_PROGRAM = re.compile(r"\bverl\.trainer\.main(?![\w.])")
_MARK = re.compile(r"(?:^|\s)worker\.(?:actor|rollout|critic|ref|reward)\.[\w.]{1,80}=", re.MULTILINE)
_FILE = re.compile(r"^worker[ \t]*:", re.MULTILINE)
_ACTOR, _ROLLOUT = "worker.actor.", "worker.rollout."
_SHARDING = {"True": "fsdp", "False": "zero2"}
_COUNTS = {
    "layout.nodes": ("trainer.nnodes",),
    "layout.cp": (f"{_ACTOR}ulysses_size",),
    "workload.rl.prompts_per_step": ("data.rollout_batch_size",),
    "workload.rl.samples_per_prompt": (f"{_ROLLOUT}n",),
    "workload.rl.epochs": (f"{_ACTOR}ppo_epochs",),
    "workload.rl.rollout.tp": (f"{_ROLLOUT}tensor_parallel_size",),
}


def matches_easyr1(file: InputFile) -> bool:
    launch = _PROGRAM.search(file.text) and _MARK.search(file.text)
    return bool(launch or (_FILE.search(file.text) and "rollout_batch_size" in file.text))


def read_easyr1(file: InputFile) -> ImportResult:
    """The samples, roles and layout of a launch. Raises `FormatError` if it has none, `SeveralParts` for several."""
    keys = launch_keys(file, _MARK, _FILE, "EasyR1 (worker.…=…)")
    builder, line = ImportBuilder(EASYR1, file.name), keys.command.line if keys.command.words else 0
    builder.set("workload.kind", "rl", line)
    model = f"{_ACTOR}model.model_path"
    if isinstance(named := keys.get(model), str):
        set_model(named, builder, keys.line(model))
    _set_algorithm(keys, builder)
    _set_trainer(keys, builder)
    set_counts(keys, _COUNTS, builder)
    part = keys.integer(f"{_ACTOR}global_batch_size")
    at = keys.line(f"{_ACTOR}global_batch_size")
    if not set_minibatches(keys.integer("data.rollout_batch_size"), part, builder, at) and part:
        builder.unknown(f"global_batch_size: {part}", "the prompts of a step are no stated multiple of it", at)
    _set_rollout(keys, builder, line)
    if isinstance(other := keys.get("config"), str):
        why = "another file, not read: its values apply where the launch states none"
        builder.unknown(f"config={excerpt(other)}", why, keys.line("config"))
    list_unused(keys, builder)
    return builder.reading()


def _set_algorithm(keys: Keys, builder: ImportBuilder) -> None:
    name = "algorithm.adv_estimator"
    if keys.get(name) in {"grpo", "rloo"} and keys.is_on("algorithm.disable_kl"):
        why = "without a divergence no reference model takes part, as in dapo: state the algorithm"
        builder.unknown(f"adv_estimator: {keys.get(name)}", why, keys.line(name))
    else:
        set_choice(keys, "workload.rl.algorithm", (name,), {"gae": "ppo", "grpo": "grpo", "rloo": "rloo"}, builder)


def _set_trainer(keys: Keys, builder: ImportBuilder) -> None:
    """Set the framework, its sharding, the batch of one rank, recomputation and adapters."""
    sharded = next((key for key in keys.values if key.startswith(f"{_ACTOR}fsdp.")), "")
    if sharded:
        builder.set("layout.framework", "fsdp", keys.line(sharded))
    full = f"{_ACTOR}fsdp.enable_full_shard"
    if keys.find(full) and (size := str(keys.get(f"{_ACTOR}fsdp.fsdp_size") or -1)) == "-1":  # all ranks
        builder.set("layout.sharding", _SHARDING.get(str(_boolean_value(keys, full))), keys.line(full))
    elif keys.find(full) and _boolean_value(keys, full):
        set_shard_groups(keys, f"{_ACTOR}fsdp.fsdp_size", builder, keys.line(full))
    elif keys.find(full):
        builder.unknown(
            f"fsdp_size: {excerpt(size)}", "groups of ranks that share a part of the states", keys.line(full)
        )
    size, filled = f"{_ACTOR}micro_batch_size_per_device_for_update", f"{_ACTOR}dynamic_batching"
    if keys.find(filled) and _boolean_value(keys, filled) is False:
        builder.set("layout.micro_batch", keys.integer(size), keys.line(size))
    elif keys.find(size, filled):
        keys.get(size)
        why = "micro-batches are filled up to a number of tokens, unless dynamic_batching is off"
        builder.unknown("layout.micro_batch", why, keys.line(size, filled))
    if keys.is_on(again := f"{_ACTOR}model.enable_gradient_checkpointing"):
        builder.set("layout.recompute", "full", keys.line(again))
    if rank := keys.integer(adapters := f"{_ACTOR}model.lora.rank"):
        modules = keys.get(f"{_ACTOR}model.lora.target_modules")
        words = [] if modules == "all-linear" else re.findall(r"\w+", str(modules or ""))
        set_adapter("lora", rank, words, builder, keys.line(adapters))
    for name in (f"{_ACTOR}offload.offload_params", f"{_ACTOR}offload.offload_optimizer"):
        if keys.is_on(name):
            why = "moves them to the host while engines generate, not during a step of training"
            builder.unknown(name.rpartition(".")[2], why, keys.line(name))


def _boolean_value(keys: Keys, name: str) -> bool | None:
    return boolean_value(keys.get(name))


def _set_rollout(keys: Keys, builder: ImportBuilder, line: int) -> None:
    set_memory_fraction(keys, (f"{_ROLLOUT}gpu_memory_utilization",), builder)
    builder.set("workload.rl.placement", "colocated", line)
    count_lengths_and_ranks(keys, builder)
