"""Launches of Colossal-AI (``colossalai run`` or ``torchrun``) of its own training programs, which take a plugin.

Names: hpcaitech/ColossalAI 4f9953be, applications/Colossal-LLaMA/train.py, applications/ColossalChat/examples/
training_scripts/train_sft.py, examples/language/llama/benchmark.py and colossalai/cli/launcher/__init__.py. A batch is
of one replica and pass (``batch_size``: "Global Batch size of each process"), which a pipeline divides into micro
batches. ``LowLevelZeroPlugin`` has stage 1 where none is stated, ``GeminiPlugin`` shards all parameters
(``shard_param_frac`` 1) and ``colossalai run`` starts one node without a list of hosts (booster/plugin/
low_level_zero_plugin.py and gemini_plugin.py, cli/launcher/run.py).
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
)
from clusterspec.exchange.workloads.keys import Keys, positive_integer_of, read_arguments, set_choice, set_counts
from clusterspec.exchange.workloads.launch_commands import GAP
from clusterspec.exchange.workloads.model_files.models import set_trained_model
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length
from clusterspec.exchange.workloads.trainers.colossalai_configs import is_configuration, read_configuration
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.logs.statements.required_words import first_match

COLOSSALAI = "colossalai"
_RUN = re.compile(rf"\bcolossalai{GAP}run\b")
_PLUGIN = re.compile(
    r"--plugin[ \t=]{1,4}[\"']?(?:zero[12](?:_cpu)?|low_level_zero|gemini(?:_auto)?|3d|3d_cpu|hybrid(?:_parallel)?|moe"
    r"|torch_ddp(?:_fp16)?|ddp|torch_fsdp)\b"
)
_LAUNCH = re.compile(f"{_RUN.pattern}|{_PLUGIN.pattern}")
_SHARDING = {
    **dict.fromkeys(("ddp", "torch_ddp", "torch_ddp_fp16"), "none"),
    **dict.fromkeys(("low_level_zero", "zero1", "zero1_cpu"), "zero1"),
    **dict.fromkeys(("zero2", "zero2_cpu"), "zero2"),
    **dict.fromkeys(("gemini", "gemini_auto", "torch_fsdp"), "fsdp"),
}
_HYBRID = frozenset({"3d", "3d_cpu", "hybrid", "hybrid_parallel", "moe"})
"""Plugins whose degrees and stage of sharding are options."""
_STAGES = {"0": "none", "1": "zero1", "2": "zero2"}
_DEGREES = {
    "layout.tp": ("tp", "tp_size", "tensor_parallel_size"),
    "layout.pp": ("pp", "pp_size", "pipeline_parallel_size"),
    "layout.ep": ("ep", "ep_size"),
}
_SEQUENCES = ("sp", "sp_size")
_MICRO = ("microbatch_size", "micro_batch_size", "mbs", "pp_microbatch_size")
_STEPS = ("accumulation_steps", "gradient_accumulation_steps", "gradient_accumulation")
_LENGTHS = ("max_length", "max_len", "seq_length", "l")
_MODELS = ("pretrained", "pretrain", "model_path", "model_name", "model_name_or_path", "model")
_PAIRS = re.compile(r"(?:^|[/_.])(?:dpo|simpo|orpo|kto|ppo|grpo|prompts|rl_example|rm|reward\w{0,20})(?=[/_.])")


def matches_colossalai(file: InputFile) -> bool:
    return bool(first_match(_LAUNCH, file.uncommented)) or is_configuration(file)


def read_colossalai(file: InputFile) -> ImportResult:
    """The workload and the layout of a launch, or of a configuration of the earlier engine.

    Raises `FormatError` if a launch names no plugin or trains on pairs or rewards, `SeveralParts` for several launches.
    """
    builder = ImportBuilder(COLOSSALAI, file.name)
    if not _LAUNCH.search(file.uncommented) and is_configuration(file):
        return read_configuration(file, builder)
    keys = read_arguments(file, _LAUNCH)
    for word in keys.command.words:
        if word.text.endswith(".py") and _PAIRS.search(word.text):
            raise FormatError(
                f"trains with a reference, rewards or pairs ({word.text[-40:]}): supervised only", word.line
            )
    plugin = str(keys.get("plugin", "p") or "")
    if not plugin or plugin.startswith("$"):
        raise NothingStarted("has no command that starts Colossal-AI with a plugin (--plugin)")
    builder.set("workload.kind", "train", keys.line("plugin", "p"))
    if isinstance(named := keys.get(*_MODELS), str):
        set_trained_model(named, builder, keys.line(*_MODELS))
    _set_degrees(plugin, keys, builder)
    _set_sharding(plugin, keys, builder)
    shared = _set_sequences(plugin, keys, builder)
    replicas = _replicas(plugin, keys, shared, builder)
    _set_batch(plugin, keys, replicas, builder)
    _set_options(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _set_degrees(plugin: str, keys: Keys, builder: ImportBuilder) -> None:
    """Set the degrees of a hybrid plugin. Other plugins ignore the degrees of some programs, so these are listed."""
    if plugin in _HYBRID:
        set_counts(keys, _DEGREES, builder)
        return
    for names in _DEGREES.values():
        if (keys.integer(*names) or 1) > 1:
            why = f"stated with the plugin {excerpt(plugin)}, and not every program applies it: state the layout"
            builder.unknown(f"{keys.find(*names)}: {keys.integer(*names)}", why, keys.line(*names))


def _set_sharding(plugin: str, keys: Keys, builder: ImportBuilder) -> None:
    """Set the sharding of a plugin, or of the ZeRO stage that is stated with the plugin."""
    line = keys.line("plugin", "p")
    if plugin in _HYBRID:
        set_choice(keys, "layout.sharding", ("zero_stage", "zero"), _STAGES, builder)
    elif plugin in _SHARDING:
        builder.set("layout.sharding", _SHARDING[plugin], line)
    else:
        builder.unknown(f"plugin: {excerpt(plugin)}", "no plugin of Colossal-AI that is known", line)
    if plugin.endswith("_cpu") or keys.is_on("zero_cpu_offload"):
        builder.set("layout.offload.optimizer", 1, keys.line("zero_cpu_offload") or line)
    if plugin == "gemini_auto":
        builder.unknown(plugin, "moves parameters to the memory of the host as it runs: state layout.offload", line)


def _set_sequences(plugin: str, keys: Keys, builder: ImportBuilder) -> int | None:
    """Set how tp ranks, or separate ranks, divide a sequence; returns the separate ranks, None if unknown."""
    size, mode = keys.integer(*_SEQUENCES), str(keys.get("sp_mode") or "")
    line = keys.line("sp_mode", "enable_sequence_parallelism", *_SEQUENCES)
    if plugin not in _HYBRID or not keys.is_on("enable_sequence_parallelism"):
        return 1
    if mode in {"split_gather", "ring"}:
        builder.set("layout.sequence_parallel", True, line)
        return 1
    if mode in {"all_to_all", "ring_attn"} and size:
        builder.set("layout.cp", size, line)
        builder.set("layout.cp_method", "all-to-all" if mode == "all_to_all" else "ring", line)
        return size
    builder.unknown(f"sp_mode: {excerpt(mode)}", "how ranks divide a sequence: state sequence_parallel or cp", line)
    return None


def _replicas(plugin: str, keys: Keys, shared: int | None, builder: ImportBuilder) -> int | None:
    """Count the ranks of a node, and set the replicas where the ranks and all degrees are stated."""
    own, line = keys.integer("nproc_per_node"), keys.line("nproc_per_node")
    builder.count("ranks_per_node", own, line)
    hosts = str(keys.get("host", "H") or "")
    nodes = keys.integer("nnodes", "num_nodes")
    if not nodes and re.fullmatch(r"[\w.-]{1,80}(?:,[\w.-]{1,80}){0,999}", hosts):
        nodes = len(hosts.split(","))
    text = " ".join(word.text for word in keys.command.words)
    if not nodes and _RUN.search(text) and not keys.values.keys() & {"hostfile", "host"}:
        nodes = 1
    builder.set("layout.nodes", nodes, keys.line("nnodes", "num_nodes", "host", "H") or line)
    degrees = [positive_integer_of(keys.get(*_DEGREES[path])) for path in ("layout.tp", "layout.pp")]
    if plugin not in _HYBRID:
        degrees = [each or 1 for each in degrees]
        if set(degrees) != {1}:
            return None
    if not own or not nodes or not shared or None in degrees:
        return None
    ranks, divided = own * nodes, shared * (degrees[0] or 1) * (degrees[1] or 1)
    if ranks % divided:
        return None
    builder.set("layout.dp", ranks // divided, line)
    return ranks // divided


def _set_batch(plugin: str, keys: Keys, replicas: int | None, builder: ImportBuilder) -> None:
    """Set the micro batch, which a pipeline divides further, and the global batch of known replicas."""
    size, line = keys.integer("batch_size", "b"), keys.line("batch_size", "b")
    stages = keys.integer(*_DEGREES["layout.pp"])
    steps = keys.integer(*_STEPS)
    if plugin in _HYBRID and stages != 1:
        set_counts(keys, {"layout.micro_batch": _MICRO}, builder)
    elif size:
        builder.set("layout.micro_batch", size, line)
        keys.used |= {name for name in _MICRO if name in keys.values}
    elif plugin not in _HYBRID:  # an earlier release of Colossal-LLaMA names the batch of a process so
        set_counts(keys, {"layout.micro_batch": ("micro_batch_size",)}, builder)
    if size and replicas and steps:
        builder.set("workload.global_batch", size * replicas * steps, line)
    elif size:
        builder.count("sequences_per_replica_and_pass", size, line)


def _set_options(keys: Keys, builder: ImportBuilder) -> None:
    """Set precision, recomputation, kernels, length and adapters."""
    names = ("mixed_precision", "precision")
    if keys.find(*names):
        set_choice(keys, "workload.precision", names, {"bf16": "bf16", "fp16": "fp16", "fp32": "fp32"}, builder)
    switches = ("use_grad_checkpoint", "grad_checkpoint", "grad_ckpt", "g")
    if any(keys.is_on(name) for name in switches):
        builder.set("layout.recompute", "full", keys.line(*switches))
    if keys.is_on("use_flash_attn"):
        builder.set("workload.attention", "flash", keys.line("use_flash_attn"))
    length, line = keys.integer(*_LENGTHS), keys.line(*_LENGTHS)
    if length and keys.is_on("benchmark"):
        builder.set("workload.sequence_length", length, line)
    elif length:
        list_cut_length(str(keys.find(*_LENGTHS)), length, builder, line)
    if rank := keys.integer("lora_rank"):
        builder.set("workload.trainable.method", "lora", keys.line("lora_rank"))
        builder.set("workload.trainable.rank", rank, keys.line("lora_rank"))
        builder.unknown("the modules of the adapters", "each model has its own", keys.line("lora_rank"))
    keys.used |= {name for name in ("hostfile", "host", "master_port", "master_addr") if name in keys.values}
