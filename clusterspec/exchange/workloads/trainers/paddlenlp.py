"""Launches and configurations of PaddleNLP and PaddleFormers, which train with PaddlePaddle.

Names and defaults: PaddleNLP 3.0.0b4, paddlenlp/trainer/training_args.py, lines 562 to 800, and PaddleFormers 1.2.0,
paddleformers/trainer/training_args.py, lines 649 to 940: a degree of -1 is 1, ``sharding_parallel_degree`` of -1 is all
replicas (line 1156), the ranks that the other degrees leave are replicas, with and without sharding (lines 1175 and
2021), and each of them passes ``per_device_train_batch_size`` sequences ``gradient_accumulation_steps`` times a step.
Sequences are divided over ``sep_parallel_degree`` ranks, which exchange heads (paddlenlp/transformers/
segment_parallel_utils.py, ``alltoall``).
"""

from __future__ import annotations

import re
from math import prod

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.keys import (
    Keys,
    positive_integer_of,
    set_switch,
)
from clusterspec.exchange.workloads.model_files.models import set_trained_model
from clusterspec.exchange.workloads.overrides import launch_or_file_keys
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.logs.statements.required_words import first_match

PADDLENLP = "paddlenlp"
_LAUNCH = re.compile(r"\bpaddle\.distributed\.(?:launch|fleet\.launch)\b|\bfleetrun\b|\bpaddleformers-cli\b")
_DEGREES = re.compile(
    r"(?:^|[\s\"'{,-])(?:(?:tensor|pipeline|sharding|sep|expert)_parallel_degree|(?:tensor|pipeline|expert)_model_parallel_size"
    r"|sharding_parallel_size)[\"']?(?=[ \t]*[=: ])",
    re.MULTILINE,
)
_BATCH = re.compile(r"per_device_train_batch_size\b")
_OF_OTHERS = re.compile(r"tensor_parallel_plan|^[\"' ]{0,4}finetuning_type[\"']?[ \t]*[:=]", re.MULTILINE)
"""Keys of Transformers and LLaMA-Factory (``fine_tuning`` here) that these trainers do not have."""
_NAMES = {
    "layout.tp": ("tensor_parallel_degree", "tensor_model_parallel_size"),
    "layout.pp": ("pipeline_parallel_degree", "pipeline_model_parallel_size"),
    "layout.cp": ("context_parallel_degree", "context_parallel_size"),
    "layout.ep": ("expert_parallel_degree", "expert_model_parallel_size"),
}
_SEGMENTS = ("sep_parallel_degree", "sep_parallel_size")
_SHARDED = ("sharding_parallel_degree", "sharding_parallel_size", "sharding_degree")
_VIRTUAL = ("virtual_pp_degree", "virtual_pipeline_model_parallel_size")
_STAGES = {"stage1": "zero1", "stage2": "zero2", "stage3": "fsdp"}
_DEVICES = ("gpus", "devices", "npus", "xpus")
_PAIRS = re.compile(r"(?:^|[/_.])(?:dpo|simpo|orpo|kto|ppo|grpo|rlhf|reward\w{0,20})(?=[/_.]|$)", re.IGNORECASE)
_PAIR_KEYS = ("beta", "ref_model_update_steps", "reward_model_name_or_path", "actor_model_name_or_path", "rl_algorithm")


def matches_paddlenlp(file: InputFile) -> bool:
    if first_match(_LAUNCH, file.text):
        return bool(_BATCH.search(file.text) or _DEGREES.search(file.text))
    return bool(first_match(_BATCH, file.text) and first_match(_DEGREES, file.text)) and not _OF_OTHERS.search(
        file.text
    )


def read_paddlenlp(file: InputFile) -> ImportResult:
    """The workload and the layout of a run. Raises `FormatError` if it trains on pairs or rewards, or states neither a
    batch nor a degree, `SeveralParts` for several launches.
    """
    builder, keys = ImportBuilder(PADDLENLP, file.name), launch_or_file_keys(file, _LAUNCH)
    own = ("per_device_train_batch_size", *(name for names in _NAMES.values() for name in names))
    first = keys.find(*own)
    if first is None:
        raise FormatError("states neither per_device_train_batch_size nor a degree: its settings are in another file")
    _refuse_pairs(file, keys)
    line = keys.line(first)
    builder.set("workload.kind", "train", line)
    if isinstance(named := keys.get("model_name_or_path"), str):
        set_trained_model(named, builder, keys.line("model_name_or_path"))
    degrees = _set_degrees(keys, builder)
    ranks = _count_ranks(keys, builder)
    replicas = ranks // degrees if ranks and degrees and ranks % degrees == 0 else None
    if replicas:
        builder.set("layout.dp", replicas, line)
    _set_batch(keys, replicas, builder)
    _set_sharding(keys, replicas, builder)
    _set_length(keys, builder)
    _set_options(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _refuse_pairs(file: InputFile, keys: Keys) -> None:
    """Raise `FormatError` if a run has a loss of pairs of answers, or rewards."""
    stage = str(keys.values.get("stage", ("",))[0])
    words = [(word.text, word.line) for word in keys.command.words if word.text.endswith(".py")]
    named = next((each for each in [*words, (stage, keys.line("stage"))] if _PAIRS.search(each[0])), None)
    if named is None and (key := keys.find(*_PAIR_KEYS)):
        named = key, keys.line(key)
    if named is not None:
        raise FormatError(f"trains with a reference, rewards or pairs ({named[0][-40:]}): supervised only", named[1])


def _degree(keys: Keys, names: tuple[str, ...], builder: ImportBuilder) -> int | None:
    """A degree: 1 if it is absent, negative or 0; None if it is a variable, which is listed."""
    value = keys.get(*names)
    if value is None or re.fullmatch(r"-\d{1,3}|0", str(value)):
        return 1
    if (count := positive_integer_of(value)) is None:
        builder.unknown(f"{keys.find(*names)}: {excerpt(value)}", "not an integer", keys.line(*names))
    return count


def _set_degrees(keys: Keys, builder: ImportBuilder) -> int | None:
    """Set the degrees that are stated; returns the ranks of one replica, where all of them are known."""
    found: dict[str, int | None] = {}
    for path, names in _NAMES.items():
        found[path] = _degree(keys, names, builder)
        if keys.find(*names):
            builder.set(path, found[path], keys.line(*names))
    segments = _degree(keys, _SEGMENTS, builder)
    if segments and segments > 1:
        builder.set("layout.cp", segments, keys.line(*_SEGMENTS))
        builder.set("layout.cp_method", "all-to-all", keys.line(*_SEGMENTS))
    virtual = _degree(keys, _VIRTUAL, builder)
    if virtual and virtual > 1 and (found["layout.pp"] or 0) > 1:
        builder.set("layout.schedule", "interleaved", keys.line(*_VIRTUAL))
        builder.set("layout.virtual_stages", virtual, keys.line(*_VIRTUAL))
    set_switch(keys, "layout.sequence_parallel", ("sequence_parallel",), builder)
    parts = (found["layout.tp"], found["layout.pp"], found["layout.cp"], segments)
    return prod(each for each in parts if each) if all(parts) else None


def _count_ranks(keys: Keys, builder: ImportBuilder) -> int | None:
    """Count the devices of a node that the launcher takes, and set its nodes; returns all ranks if both are stated."""
    devices, line = str(keys.get(*_DEVICES) or ""), keys.line(*_DEVICES)
    own = len(set(devices.split(","))) if re.fullmatch(r"\d{1,3}(?:,\d{1,3}){0,63}", devices) else None
    builder.count("ranks_per_node", own, line)
    nodes = positive_integer_of(keys.get("nnodes"))
    if nodes:
        builder.set("layout.nodes", nodes, keys.line("nnodes"))
    hosts = str(keys.get("ips") or "")
    if not nodes and re.fullmatch(r"[\w.-]{1,80}(?:,[\w.-]{1,80}){0,999}", hosts):
        nodes = len(hosts.split(","))
        builder.set("layout.nodes", nodes, keys.line("ips"))
    return own * nodes if own and nodes else None


def _set_batch(keys: Keys, replicas: int | None, builder: ImportBuilder) -> None:
    """Set the micro batch, and the global batch of known replicas."""
    name, steps = "per_device_train_batch_size", keys.integer("gradient_accumulation_steps")
    size, line = keys.integer(name), keys.line(name)
    builder.set("layout.micro_batch", size, line)
    if size and steps and replicas:
        builder.set("workload.global_batch", size * steps * replicas, line)
    elif size and steps:
        builder.count("sequences_per_replica_and_step", size * steps, line)


def _set_sharding(keys: Keys, replicas: int | None, builder: ImportBuilder) -> None:
    """Set the stage of sharding; list it instead if it divides only a part of the replicas."""
    stated, line = keys.get("sharding"), keys.line("sharding")
    words = re.split(r"[\s,]+", str(stated or "").strip().lower())
    stage = next((_STAGES[word] for word in words if word in _STAGES), None)
    group = keys.integer(*_SHARDED)
    if stage is None:
        if stated not in (None, "", False):
            builder.unknown(f"sharding: {excerpt(stated)}", "no stage of sharding", line)
        return
    if group == 1:
        builder.set("layout.sharding", "none", keys.line(*_SHARDED))  # line 1166 warns of it
    elif group and replicas and group < replicas and stage == "fsdp":
        builder.set("layout.sharding", "hsdp", line)
        builder.set("layout.shard_group", group, keys.line(*_SHARDED))
    elif group and replicas and group < replicas:
        why = f"divides {stage} over {group} of {replicas} replicas: no value of layout.sharding"
        builder.unknown(f"{keys.find(*_SHARDED)}: {group}", why, keys.line(*_SHARDED))
    else:
        builder.set("layout.sharding", stage, line)
    if "offload" in words:
        builder.set("layout.offload.optimizer", 1, line)


def _set_length(keys: Keys, builder: ImportBuilder) -> None:
    """Set the length of filled sequences (pretraining and packed sequences); list the limit of other sequences."""
    names = ("max_seq_length", "max_seq_len", "max_length")
    length, line = keys.integer(*names), keys.line(*names)
    filled = keys.find("input_dir") or any(keys.is_on(name) for name in ("zero_padding", "packing"))
    if length and filled:
        builder.set("workload.sequence_length", length, line)
    elif length:
        list_cut_length(str(keys.find(*names)), length, builder, line)
    keys.used |= {name for name in ("input_dir", "src_length", "max_prompt_len") if name in keys.values}


def _set_options(keys: Keys, builder: ImportBuilder) -> None:
    """Set precision, recomputation and adapters."""
    for name in ("bf16", "fp16"):
        if keys.is_on(name):
            builder.set("workload.precision", name, keys.line(name))
            break
    granularity, line = keys.get("recompute_granularity"), keys.line("recompute_granularity")
    if keys.find("recompute") and not keys.is_on("recompute"):
        builder.set("layout.recompute", "none", keys.line("recompute"))
    elif granularity in {"full", "core_attn"}:
        builder.set("layout.recompute", "full" if granularity == "full" else "selective", line)
    elif granularity or keys.is_on("recompute"):
        why = "which part of a layer it computes again: state layout.recompute"
        stated = f"recompute_granularity: {excerpt(granularity)}" if granularity else "recompute: true"
        builder.unknown(stated, why, line or keys.line("recompute"))
    tuned = str(keys.get("fine_tuning") or "").lower()
    if keys.is_on("lora") or tuned == "lora":
        builder.set("workload.trainable.method", "lora", keys.line("lora", "fine_tuning"))
        builder.set("workload.trainable.rank", keys.integer("lora_rank"), keys.line("lora_rank"))
        builder.unknown("the modules of the adapters", "each model has its own", keys.line("lora", "fine_tuning"))
    keys.used |= {name for name in ("rank", "ips", "master", "device", "log_dir", "run_mode") if name in keys.values}
