"""Launch configurations of Hugging Face Accelerate (YAML).

Keys: huggingface/accelerate, src/accelerate/commands/config/config_args.py and src/accelerate/utils/dataclasses.py
(``FullyShardedDataParallelPlugin``, ``MegatronLMPlugin``), examples/config_yaml_templates. ``num_processes`` counts the
processes of all machines, one for each accelerator.
"""

from __future__ import annotations

import re

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.workloads.keys import Keys, boolean_value, flat_leaves, list_unused, set_choice, set_counts

ACCELERATE = "accelerate"
_FRAMEWORKS = {"FSDP": "fsdp", "DEEPSPEED": "deepspeed", "MEGATRON_LM": "megatron-core"}
STRATEGIES = {
    "full_shard": "fsdp",
    "1": "fsdp",
    "shard_grad_op": "zero2",
    "2": "zero2",
    "no_shard": "none",
    "3": "none",
    "hybrid_shard": "hsdp",
    "4": "hsdp",
}
"""Strategies of FSDP by name and number; 5 is the hybrid one without resharding, of which the spec has no value."""
STAGES = {"0": "none", "1": "zero1", "2": "zero2", "3": "fsdp"}
"""The sharding of each stage of ZeRO."""
_PASSED = {"no", "none", "null", ""}
_UNRELATED = (
    *("compute_environment", "debug", "machine_rank", "main_process_ip", "main_process_port", "rdzv_backend"),
    *("same_network", "main_training_function", "tpu_env", "tpu_use_cluster", "tpu_use_sudo", "use_cpu", "gpu_ids"),
    *("downcast_bf16", "enable_cpu_affinity", "dynamo_config.dynamo_backend"),
)
"""Keys of the launcher that do not describe a layout."""


def matches_accelerate(file: InputFile) -> bool:
    return bool(re.search(r"^distributed_type[ \t]*:", file.text, re.MULTILINE)) and bool(
        re.search(
            r"^(?:num_processes|num_machines|mixed_precision|fsdp_config|deepspeed_config)[ \t]*:",
            file.text,
            re.MULTILINE,
        )
    )


def read_accelerate(file: InputFile) -> ImportResult:
    """The layout of a configuration. Raises `FormatError` if it has no type of distribution."""
    builder, keys, yaml = ImportBuilder(ACCELERATE, file.name), Keys(), read_yaml(file)
    for name, value, line in flat_leaves(yaml.mapping, yaml.line):
        keys.put(name, value, line)
    kind = str(keys.get("distributed_type") or "").upper()
    if not kind:
        raise FormatError("has no distributed_type")
    keys.used |= {name for name in _UNRELATED if name in keys.values}
    line = keys.line("distributed_type")
    builder.set("workload.kind", "train", line)
    builder.set("layout.framework", _FRAMEWORKS.get(kind), line)
    machines, ranks = keys.whole("num_machines"), keys.whole("num_processes")
    builder.set("layout.nodes", machines, keys.line("num_machines"))
    builder.count("ranks", ranks, keys.line("num_processes"))
    if machines and ranks and ranks % machines == 0:
        builder.count("ranks_per_node", ranks // machines, keys.line("num_processes"))
    precision = str(keys.get("mixed_precision") or "no").lower()
    if precision not in _PASSED:
        words = {name: name for name in ("bf16", "fp16", "fp8")}
        set_choice(keys, "workload.precision", ("mixed_precision",), words, builder)
    _set_parallelism(keys, builder)
    if kind == "FSDP":
        _set_fsdp(keys, builder)
    elif kind == "DEEPSPEED":
        _set_deepspeed(keys, builder)
    elif kind == "MEGATRON_LM":
        _set_megatron(keys, builder)
    elif kind in {"MULTI_GPU", "MULTI_XPU", "MULTI_NPU", "MULTI_HPU"}:
        builder.set("layout.sharding", "none", line)
        builder.set("layout.dp", ranks, keys.line("num_processes"))
    elif kind != "NO":
        builder.unknown(f"distributed_type: {kind[:40]}", "its layout has no keys in the spec", line)
    list_unused(keys, builder)
    return builder.reading()


def _set_parallelism(keys: Keys, builder: ImportBuilder) -> None:
    """Set the degrees of ``parallelism_config`` and the sharding that they imply."""
    if not any(name.startswith("parallelism_config.") for name in keys.values):
        return
    names = {part: f"parallelism_config_{part}_size" for part in ("tp", "cp", "dp_shard", "dp_replicate")}
    set_counts(keys, {"layout.tp": (names["tp"],), "layout.cp": (names["cp"],)}, builder)
    shard, copies, ring = (keys.whole(names[part]) or 1 for part in ("dp_shard", "dp_replicate", "cp"))
    line = keys.line(names["dp_shard"], names["dp_replicate"])
    builder.set("layout.dp", shard * copies, line)
    if shard > 1 and copies > 1:
        builder.set("layout.sharding", "hsdp", line)
        builder.set("layout.shard_group", shard if ring == 1 else None, line)  # cp ranks shard the weights as well
    elif shard * ring == 1:
        builder.set("layout.sharding", "none", line)


def _set_fsdp(keys: Keys, builder: ImportBuilder) -> None:
    decided = any(each.path == ("layout", "sharding") for each in builder.given)
    strategy, again = "fsdp_sharding_strategy", "fsdp_reshard_after_forward"
    if decided:
        keys.get(strategy)
        keys.get(again)
    elif keys.find(strategy):
        set_choice(keys, "layout.sharding", (strategy,), STRATEGIES, builder)
    elif (full := boolean_value(keys.get(again))) is not None:
        builder.set("layout.sharding", "fsdp" if full else "zero2", keys.line(again))
    else:
        why = "neither a strategy nor resharding is stated: the default depends on the release"
        builder.unknown("layout.sharding", why, keys.line("distributed_type"))
    if keys.is_on("fsdp_activation_checkpointing"):
        builder.set("layout.recompute", "full", keys.line("fsdp_activation_checkpointing"))
    if keys.is_on("fsdp_offload_params"):
        why = "the spec has no key for parameters in the memory of the host"
        builder.unknown("fsdp_offload_params", why, keys.line("fsdp_offload_params"))


def _set_deepspeed(keys: Keys, builder: ImportBuilder) -> None:
    if other := keys.get("deepspeed_config_file"):
        builder.unknown(
            f"deepspeed_config_file: {str(other)[:60]}",
            "a separate file: import it as well",
            keys.line("deepspeed_config_file"),
        )
    set_choice(keys, "layout.sharding", ("zero_stage",), STAGES, builder)
    for name, shown in (("offload_optimizer_device", "optimizer"), ("offload_param_device", "parameters")):
        device = str(keys.get(name) or "none").lower()
        if device in {"cpu", "nvme"} and shown == "optimizer":
            builder.set("layout.offload.optimizer", 1, keys.line(name))
        elif device not in _PASSED:
            builder.unknown(f"{name}: {device[:20]}", "the spec has no key for it", keys.line(name))
    if steps := keys.whole("gradient_accumulation_steps"):
        builder.count("gradient_accumulation_steps", steps, keys.line("gradient_accumulation_steps"))


def _set_megatron(keys: Keys, builder: ImportBuilder) -> None:
    set_counts(
        keys,
        {"layout.tp": ("megatron_lm_tp_degree",), "layout.pp": ("megatron_lm_pp_degree",)},
        builder,
    )
    sharded = boolean_value(keys.get("megatron_lm_use_distributed_optimizer"))
    if sharded is not None:
        builder.set(
            "layout.sharding", "zero1" if sharded else "none", keys.line("megatron_lm_use_distributed_optimizer")
        )
    parallel = "megatron_lm_sequence_parallelism"
    builder.set("layout.sequence_parallel", boolean_value(keys.get(parallel)), keys.line(parallel))
    if keys.is_on("megatron_lm_recompute_activations"):
        builder.set("layout.recompute", "selective", keys.line("megatron_lm_recompute_activations"))
    if batches := keys.whole("megatron_lm_num_micro_batches"):
        builder.count("micro_batches", batches, keys.line("megatron_lm_num_micro_batches"))
