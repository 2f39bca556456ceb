"""Launch configurations of Hugging Face Accelerate (YAML), and lines of ``accelerate launch``.

Keys: huggingface/accelerate, src/accelerate/commands/config/config_args.py, src/accelerate/commands/launch.py and
src/accelerate/utils/dataclasses.py (``FullyShardedDataParallelPlugin``, ``MegatronLMPlugin``),
examples/config_yaml_templates. ``num_processes`` counts the processes of all machines, one for each accelerator.
The options of a line end at the program; what follows belongs to it.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    excerpt,
    without_comments,
)
from clusterspec.exchange.workloads.jobs.slurm_jobs import set_job_nodes
from clusterspec.exchange.workloads.keys import (
    Keys,
    boolean_value,
    chosen_launch,
    command_keys,
    launches_of,
    set_choice,
    set_counts,
)
from clusterspec.exchange.workloads.overrides import file_keys
from clusterspec.exchange.workloads.unused_keys import list_unused

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
"""FSDP strategies by name and number; 5 is the hybrid one without resharding, which a spec cannot express."""
STAGES = {"0": "none", "1": "zero1", "2": "zero2", "3": "fsdp"}
"""The sharding of each stage of ZeRO."""
_SECTIONS = {"fsdp_config": "FSDP", "deepspeed_config": "DEEPSPEED", "megatron_lm_config": "MEGATRON_LM"}
"""Sections of a configuration, and the type of distribution with which the launcher reads each of them."""
_PASSED = {"no", "none", "null", ""}
_UNRELATED = (
    *("compute_environment", "debug", "machine_rank", "main_process_ip", "main_process_port", "rdzv_backend"),
    *("same_network", "main_training_function", "tpu_env", "tpu_use_cluster", "tpu_use_sudo", "use_cpu", "gpu_ids"),
    *("downcast_bf16", "enable_cpu_affinity"),
)
"""Keys of the launcher that do not describe a layout."""


_TYPE = re.compile(r"^distributed_type[ \t]*:", re.MULTILINE)
_LAUNCHER_KEYS = re.compile(
    r"^(?:num_processes|num_machines|mixed_precision|fsdp_config|deepspeed_config)[ \t]*:", re.MULTILINE
)
_LAUNCH = re.compile(r"\baccelerate(?:-launch|[ \t]+launch|\.commands\.launch)\b")
_STATED = re.compile(r"--(?:num_processes|num_machines|use_fsdp|use_deepspeed|zero_stage|multi_gpu)\b")
_KINDS = {
    "FSDP": ("use_fsdp",),
    "DEEPSPEED": ("use_deepspeed", "deepspeed_config_file"),
    "MEGATRON_LM": ("use_megatron_lm",),
    "MULTI_GPU": ("multi_gpu",),
}
"""Options of a line that choose the type of distribution; without one a file of configuration does."""


def matches_accelerate(file: InputFile) -> bool:
    if _TYPE.search(file.text):
        return bool(_LAUNCHER_KEYS.search(file.text))
    text = without_comments(file.text)
    return bool(_LAUNCH.search(text) and _STATED.search(text))


def read_accelerate(file: InputFile) -> ImportResult:
    """The layout of a configuration, or of a launch. Raises `FormatError` if it has no type of distribution."""
    if not _TYPE.search(file.text) and _LAUNCH.search(file.text):
        return _read_launch(file)
    builder, keys = ImportBuilder(ACCELERATE, file.name), file_keys(file, with_null=True)
    kind = str(keys.get("distributed_type") or "").upper()
    if not kind:
        raise FormatError("has no distributed_type")
    keys.used |= {name for name in _UNRELATED if name in keys.values}
    line = keys.line("distributed_type")
    builder.set("workload.kind", "train", line)
    builder.set("layout.framework", _FRAMEWORKS.get(kind), line)
    _set_machines(keys, builder)
    _list_of_other_types(file, keys, kind, builder)
    _set_distribution(keys, kind, line, builder)
    list_unused(keys, builder)
    return builder.reading()


def _list_of_other_types(file: InputFile, keys: Keys, kind: str, builder: ImportBuilder) -> None:
    """List the sections of other types of distribution, which the launcher does not read."""
    for section, reads in _SECTIONS.items():
        found = [name for name in keys.values if name.startswith(f"{section}.")]
        keys.used |= {name for name in found if kind != reads}
        if found and kind != reads:
            why = f"not used: the launcher reads it with distributed_type: {reads}"
            builder.unknown(section, why, file.line_of(rf"(?m)^[\"' \t]*{section}\b"))


def _read_launch(file: InputFile) -> ImportResult:
    """The machines and the distribution of a line. Raises `FormatError` if it states neither, as for several lines."""
    lines = [_own_options(keys) for keys in launches_of(file, _LAUNCH)]
    different = {
        tuple((name, value) for name, (value, _) in keys.values.items() if name not in _UNRELATED): keys
        for keys in reversed(lines)
    }
    keys, builder = chosen_launch(list(different.values())[::-1], file.part), ImportBuilder(ACCELERATE, file.name)
    if keys.find("num_processes", "num_machines", *(name for names in _KINDS.values() for name in names)) is None:
        raise NothingStarted("has no line of accelerate launch with machines or a type of distribution")
    keys.used |= {name for name in (*_UNRELATED, "main_process_ip", "main_process_port") if name in keys.values}
    _set_machines(keys, builder)
    set_job_nodes(file, keys, builder)
    set_launcher(keys, builder)
    if "mixed_precision" not in keys.used:
        _set_precision(keys, builder)
    builder.unknown(
        "the program that is launched", "its options state what it trains, and with which batch", keys.command.line
    )
    if other := keys.get("config_file"):
        builder.unknown(f"{excerpt(other)}", "a separate file: import it as well", keys.line("config_file"))
    list_unused(keys, builder)
    return builder.reading()


_PROGRAM = re.compile(r"\S+\.py|-m|--module")
_LAUNCHES = re.compile(r"\A(?:\S{1,200}[-.])?launch\Z")


def _own_options(keys: Keys) -> Keys:
    """The options of a line before the program that it starts."""
    words = keys.command.words
    first = next((n for n, word in enumerate(words) if _LAUNCHES.search(word.text)), 0)
    end = next((n for n, word in enumerate(words) if n > first and _PROGRAM.fullmatch(word.text)), len(words))
    return command_keys(keys.command._replace(words=words[first:end]))


def set_launcher(keys: Keys, builder: ImportBuilder) -> None:
    """Set the distribution that the options of ``accelerate launch`` name, if any."""
    found = [(kind, name) for kind, names in _KINDS.items() for name in names if keys.find(name) == name]
    kind, name = next(((kind, name) for kind, name in found if keys.get(name) not in {False, "false"}), ("", ""))
    if not kind:
        return
    keys.used |= {name for _, name in found}
    builder.set("layout.framework", _FRAMEWORKS.get(kind), keys.line(name))
    _set_distribution(keys, kind, keys.line(name), builder)


def _set_machines(keys: Keys, builder: ImportBuilder) -> None:
    machines, ranks = keys.integer("num_machines"), keys.integer("num_processes")
    builder.set("layout.nodes", machines, keys.line("num_machines"))
    builder.count("ranks", ranks, keys.line("num_processes"))
    if machines and ranks and ranks % machines == 0:
        builder.count("ranks_per_node", ranks // machines, keys.line("num_processes"))


def _set_distribution(keys: Keys, kind: str, line: int, builder: ImportBuilder) -> None:
    """Set precision, degrees and sharding of a type of distribution that is stated on a line."""
    _set_precision(keys, builder)
    _set_compiler(keys, builder)
    _set_sharding(keys, kind, line, builder)


def _set_precision(keys: Keys, builder: ImportBuilder) -> None:
    """Set the precision of mixed training, unless it is set already."""
    precision = str(keys.get("mixed_precision") or "no").lower()
    decided = any(each.path == ("workload", "precision") for each in builder.given)  # by the program of a line
    if precision not in _PASSED and not decided:
        words = {name: name for name in ("bf16", "fp16", "fp8")}
        set_choice(keys, "workload.precision", ("mixed_precision",), words, builder)
    elif precision == "no" and keys.find("mixed_precision") and not decided:
        why = "GEMMs keep the precision in which the program loads the weights: state workload.precision"
        builder.unknown("mixed_precision: no", why, keys.line("mixed_precision"))


def _set_compiler(keys: Keys, builder: ImportBuilder) -> None:
    """Set whether torch.compile fuses operations; where it is off, the program may call it itself."""
    backend = str(keys.get("dynamo_backend") or "no").lower()
    if backend == "inductor":
        builder.set("layout.fused_kernels", True, keys.line("dynamo_backend"))
    elif backend not in _PASSED:
        why = "what it fuses is not known"
        builder.unknown(f"dynamo_backend: {excerpt(backend)}", why, keys.line("dynamo_backend"))


def _set_sharding(keys: Keys, kind: str, line: int, builder: ImportBuilder) -> None:
    """Set the degrees and the sharding of a type of distribution."""
    _set_parallelism(keys, builder)
    if kind == "FSDP":
        _set_fsdp(keys, builder)
    elif kind == "DEEPSPEED":
        _set_deepspeed(keys, builder)
    elif kind == "MEGATRON_LM":
        _set_megatron(keys, builder)
    elif kind in {"MULTI_GPU", "MULTI_XPU", "MULTI_NPU", "MULTI_HPU"}:
        builder.set("layout.sharding", "none", line)
        builder.set("layout.dp", keys.integer("num_processes"), keys.line("num_processes"))
    elif kind != "NO":
        builder.unknown(f"distributed_type: {excerpt(kind)}", "its layout has no keys in the spec", line)


def _set_parallelism(keys: Keys, builder: ImportBuilder) -> None:
    """Set the degrees of ``parallelism_config`` and the sharding that they imply."""
    if not any(name.startswith("parallelism_config") for name in keys.values):
        return
    names = {part: f"parallelism_config_{part}_size" for part in ("tp", "cp", "sp", "dp_shard", "dp_replicate")}
    keys.used |= {name for name in ("use_parallelism_config",) if name in keys.values}
    set_counts(keys, {"layout.tp": (names["tp"],)}, builder)
    _set_shared_sequences(keys, names["cp"], names["sp"], builder)
    shard, copies = (keys.integer(names[part]) or 1 for part in ("dp_shard", "dp_replicate"))
    ring = (keys.integer(names["cp"]) or 1) * (keys.integer(names["sp"]) or 1)
    line = keys.line(names["dp_shard"], names["dp_replicate"])
    builder.set("layout.dp", shard * copies, line)
    if shard > 1 and copies > 1:
        builder.set("layout.sharding", "hsdp", line)
        builder.set("layout.shard_group", shard if ring == 1 else None, line)  # cp ranks shard the weights as well
    elif shard * ring == 1:
        builder.set("layout.sharding", "none", line)


def _set_shared_sequences(keys: Keys, cp: str, sp: str, builder: ImportBuilder) -> None:
    """Set the ranks that share a sequence and how they exchange it. The two degrees exclude each other
    (src/accelerate/parallelism_config.py at 16cb6eb8); that of DeepSpeed exchanges heads for tokens.
    """
    set_counts(keys, {"layout.cp": (cp,) if (keys.integer(sp) or 1) == 1 else (sp,)}, builder)
    method = "parallelism_config_cp_comm_strategy"
    if (keys.integer(sp) or 1) > 1:
        keys.used |= {name for each in (cp, "parallelism_config_sp_backend") if (name := keys.find(each))}
        builder.set("layout.cp_method", "all-to-all", keys.line(sp))
    elif (keys.integer(cp) or 1) > 1:  # torch.distributed: alltoall passes blocks of keys and values on
        set_choice(keys, "layout.cp_method", (method,), {"allgather": "all-gather", "alltoall": "ring"}, builder)


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
    elif keys.find("use_fsdp") and not keys.is_undecided(strategy, again):  # of a line: both defaults shard all
        builder.set("layout.sharding", "fsdp", keys.line("use_fsdp"))
    else:
        why = "neither a strategy nor resharding is stated: the default depends on the release"
        builder.unknown("layout.sharding", why, keys.line("distributed_type"))
    if keys.is_on("fsdp_activation_checkpointing"):
        builder.set("layout.recompute", "full", keys.line("fsdp_activation_checkpointing"))
    if keys.is_on("fsdp_offload_params"):
        builder.set("layout.offload.optimizer", 1, keys.line("fsdp_offload_params"))  # PyTorch, fsdp.CPUOffload
        why = "the spec has no key for parameters in the memory of the host"
        builder.unknown("fsdp_offload_params", why, keys.line("fsdp_offload_params"))


def _set_deepspeed(keys: Keys, builder: ImportBuilder) -> None:
    if other := keys.get("deepspeed_config_file"):
        builder.unknown(
            f"deepspeed_config_file: {excerpt(other)}",
            "a separate file: import it as well",
            keys.line("deepspeed_config_file"),
        )
    set_choice(keys, "layout.sharding", ("zero_stage",), STAGES, builder)
    for name, shown in (("offload_optimizer_device", "optimizer"), ("offload_param_device", "parameters")):
        device = str(keys.get(name) or "none").lower()
        if device in {"cpu", "nvme"} and shown == "optimizer":
            builder.set("layout.offload.optimizer", 1, keys.line(name))
        elif device not in _PASSED:
            builder.unknown(f"{name}: {excerpt(device)}", "the spec has no key for it", keys.line(name))
    if steps := keys.integer("gradient_accumulation_steps"):
        builder.count("gradient_accumulation_steps", steps, keys.line("gradient_accumulation_steps"))


def _set_megatron(keys: Keys, builder: ImportBuilder) -> None:
    set_counts(
        keys,
        {
            "layout.tp": ("megatron_lm_tp_degree",),
            "layout.pp": ("megatron_lm_pp_degree",),
            "layout.cp": ("megatron_lm_context_parallel_size",),
            "layout.ep": ("megatron_lm_expert_model_parallel_size",),
            "layout.expert_tp": ("megatron_lm_expert_tensor_parallel_size",),
        },
        builder,
    )
    sharded = boolean_value(keys.get("megatron_lm_use_distributed_optimizer"))
    if sharded is not None:
        builder.set(
            "layout.sharding", "zero1" if sharded else "none", keys.line("megatron_lm_use_distributed_optimizer")
        )
    parallel = "megatron_lm_sequence_parallelism"
    builder.set("layout.sequence_parallel", boolean_value(keys.get(parallel)), keys.line(parallel))
    granularity = "megatron_lm_recompute_granularity"
    if keys.find(granularity):
        set_choice(keys, "layout.recompute", (granularity,), {"full": "full", "selective": "selective"}, builder)
    elif keys.is_on("megatron_lm_recompute_activations"):
        builder.set("layout.recompute", "selective", keys.line("megatron_lm_recompute_activations"))
    if batches := keys.integer("megatron_lm_num_micro_batches"):
        builder.count("micro_batches", batches, keys.line("megatron_lm_num_micro_batches"))
