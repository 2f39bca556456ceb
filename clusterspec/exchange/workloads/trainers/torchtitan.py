"""Job configurations of torchtitan: TOML, and the Python functions that replaced it, parsed but not executed."""

from __future__ import annotations

import re

from clusterspec.catalog import Catalog
from clusterspec.exchange.import_result import (
    LIST,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.workloads.config_code import CodeConfig, read_functions
from clusterspec.exchange.workloads.keys import (
    OPEN_COUNT,
    Keys,
    boolean_value,
    positive_integer_of,
    read_arguments,
    set_choice,
    set_counts,
)
from clusterspec.exchange.workloads.launcher_options import take_rank_variables
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.toml_files import toml_keys
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.units import plural

# Names: pytorch/torchtitan, torchtitan/config/job_config.py in 0.2.2 (TOML); torchtitan/config/configs.py and
# torchtitan/models/*/config_registry.py in commit b5bcd76c (Python). Its ``llama3`` is Llama 3.1

TORCHTITAN = "torchtitan"
_TABLE = {
    "layout.tp": ("tensor_parallel_degree",),
    "layout.pp": ("pipeline_parallel_degree",),
    "layout.cp": ("context_parallel_degree",),
    "layout.ep": ("expert_parallel_degree",),
    "layout.expert_tp": ("expert_tensor_parallel_degree",),
    "workload.global_batch": ("global_batch_size",),
}
_SCHEDULES = {
    "1f1b": "1f1b",
    "gpipe": "gpipe",
    "interleaved1f1b": "interleaved",
    "interleavedzerobubble": "zero-bubble",
    "zbvzerobubble": "zero-bubble",
    "dualpipev": "dualpipe",
}
_TYPES = {"bfloat16": "bf16", "float32": "fp32"}
_CONVERTERS = {"float8": None, "mx": "mxfp8", "mxfp8": "mxfp8"}
"""Converters of GEMMs to FP8 by the last word, as releases name them with or without a path, and the recipe of each;
None where its own options state it.
"""
_MODELS = {"llama3": "llama-3.1-{}", "qwen3": "qwen3-{}"}
_LARGE = {
    ("llama4", "17bx16e"): "llama-4-scout",
    ("llama4", "17bx128e"): "llama-4-maverick",
    ("deepseek_v3", "671b"): "deepseek-v3",
}


_CLASSES = frozenset({"Trainer.Config", "FaultTolerantTrainer.Config", "GraphTrainer.Config", "AutoParallelConfig"})
_PYTHON = re.compile(r"^(?:from|import) torchtitan\b|^from \. import model_registry", re.MULTILINE)
_POLICIES = {"FullAC": "full", "SelectiveAC": "selective"}
_PRECISIONS = {
    "Float8LinearConverter": ("fp8", None),
    "Float8GroupedExpertsConverter": ("fp8", None),
    "MXFP8LinearConverter": ("fp8", "mxfp8"),
    "MXFP8GroupedExpertsConverter": ("fp8", "mxfp8"),
    "NVFP4LinearConverter": ("fp4", "nvfp4"),
}
"""Precision and recipe of converters. Source: torchtitan b5bcd76c, torchtitan/components/quantization/__init__.py."""
_DISPATCHERS = {"standard": "all-to-all", "deepep": "deepep", "hybridep": "hybrid"}
_FUNCTIONS = (
    (re.compile(r"llama3_([0-9]+b)"), "llama-3.1-{}"),
    (re.compile(r"qwen3_([0-9]+)_([0-9]+b)"), "qwen3-{}.{}"),
    (re.compile(r"qwen3_([0-9]+b)(?:_(a[0-9]+b))?"), "qwen3-{}-{}"),
    (re.compile(r"deepseek_v3_671b"), "deepseek-v3"),
    (re.compile(r"gpt_oss_([0-9]+b)"), "gpt-oss-{}"),
    (re.compile(r"kimi_k2_5"), "kimi-k2.5"),
    (re.compile(r"qwen35_([0-9]+b)(?:_(a[0-9]+b))?"), "qwen3.5-{}-{}"),
)
"""Catalog ids by the start of the functions that return a configuration."""


_LAUNCH = re.compile(
    r"--(?:parallelism|training|activation_checkpoint)\.[a-z_-]{3,60}|--job\.config[_-]file|-m torchtitan\.train\b"
)
_STARTED = re.compile(r"--job\.config[_-]file|\btorchtitan\b|\brun_train\.sh")


_OF_OTHERS = re.compile(r"^\w+\.parallelism\.")
"""Degrees in a table of the model, as in Cosmos 3; torchtitan's are in the table ``parallelism``."""


def matches_torchtitan(file: InputFile) -> bool:
    if _LAUNCH.search(file.text) and _STARTED.search(file.text):
        return True
    if _PYTHON.search(file.text) and any(name in file.text for name in _CLASSES):
        return True
    return bool(re.search(r"^\[(parallelism|training|model|experimental)\]", file.text, re.MULTILINE)) and bool(
        re.search(r"tensor_parallel_degree|data_parallel_shard_degree|^[ \t]*flavor\s*=", file.text, re.MULTILINE)
    )


def read_torchtitan(file: InputFile) -> ImportResult:
    """The workload and layout of a job. Raises `FormatError` if it has no degree, or several configurations differ."""
    builder, keys = ImportBuilder(TORCHTITAN, file.name), Keys()
    if _PYTHON.search(file.text):
        _read_code(file, keys, builder)
        return builder.reading()
    keys = _launch_keys(file, builder) if _LAUNCH.search(file.text) else toml_keys(file)
    if other := next((key for key in keys.values if _OF_OTHERS.search(key)), None):
        raise FormatError(
            f"is a configuration of another trainer: torchtitan has no {excerpt(other)}", keys.line(other)
        )
    launched = keys.integer("nnodes") or keys.integer("nproc_per_node")
    stated = keys.find("tensor_parallel_degree", "data_parallel_shard_degree", "model.flavor", "flavor")
    if not launched and stated is None:
        refused = NothingStarted if _LAUNCH.search(file.text) else FormatError
        raise refused("has neither a model nor a parallel degree of torchtitan")
    builder.set("layout.framework", "torchtitan", keys.line("tensor_parallel_degree", "data_parallel_shard_degree"))
    set_counts(keys, _TABLE | {"workload.sequence_length": ("training.seq_len", "seq_len")}, builder)
    _set_torchtitan_model(keys, builder)
    _set_sharding(keys, builder)
    _set_options(keys, builder)
    _set_tokens_of_run(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _set_tokens_of_run(keys: Keys, builder: ImportBuilder) -> None:
    """Set the tokens of the whole run: steps × global batch × sequence length, where the job states all of them.

    Source: pytorch/torchtitan, torchtitan/config/job_config.py (``Training.steps``).
    """
    steps, batch = keys.integer("training.steps"), keys.integer("global_batch_size")
    length = keys.integer("training.seq_len", "seq_len")
    if steps and batch and length:
        builder.set("workload.tokens", steps * batch * length, keys.line("training.steps"))


def _launch_keys(file: InputFile, builder: ImportBuilder) -> Keys:
    """The options of a launch; options left to a configuration are in another file."""
    keys = read_arguments(file, _LAUNCH)
    if any(word.text.endswith("run_train.sh") for word in keys.command.words):
        take_rank_variables(("NGPU",), keys.values, keys.command, file.text)
    of_step = ("nodes", "N") if keys.command.words and keys.command.words[0].text == "srun" else ()
    set_counts(keys, {"layout.nodes": ("nnodes", *of_step)}, builder)
    ranks = ("nproc_per_node", "ngpu")  # pytorch/torchtitan b5bcd76c, run_train.sh: torchrun --nproc_per_node=${NGPU}
    builder.count("ranks_per_node", keys.integer(*ranks), keys.line(*ranks))
    if keys.find("fault_tolerance.enable"):
        why = "of one group of replicas: fault tolerance adds others"
        builder.unknown("layout.dp", why, keys.line("fault_tolerance.enable"))
    for name in ("job.config_file", "config"):  # ``--module llama3 --config llama3_8b``: a function of the module
        if named := keys.get(name):
            builder.unknown(f"{excerpt(named, LIST)}", "a separate file: import it as well", keys.line(name))
    return keys


_DECIDING = frozenset({"training", "parallelism", "activation_checkpoint"})
"""Parts of a configuration whose values decide the layout and the batch."""


def _read_code(file: InputFile, keys: Keys, builder: ImportBuilder) -> None:
    """The configuration of one function."""
    configs = read_functions(file, _CLASSES)
    if not configs:
        raise FormatError("has no function that returns a configuration of torchtitan")
    name, config = _chosen_config(file, configs)
    for key, (value, line) in config.values.items():
        keys.put(key, value, line)
    keys.undecided = [(path, line, line) for path, line in config.undecided]
    _list_open(config, builder)
    line = keys.line("tensor_parallel_degree", "max_context_length", "seq_len") or 1
    builder.set("layout.framework", "torchtitan", line)
    set_counts(keys, _TABLE, builder)
    _set_sharding(keys, builder)
    _set_code_model(name, config, keys, builder)
    _set_tokens(keys, builder)
    _set_code_choices(config, keys, builder)
    if config.base:
        builder.unknown(f"the values that {config.base}() sets", "the function is in another file")
    if config.changed_by:
        builder.unknown(f"the values that {config.changed_by}() changes", "the function is in another file")
    list_unused(keys, builder)


def _list_open(config: CodeConfig, builder: ImportBuilder) -> None:
    """List what decides the layout or the batch and has a value that the file does not decide."""
    called = [(name, line) for name, (function, line) in config.classes.items() if function[:1].islower()]
    shown = {".".join(name.split(".")[:2]): line for name, line in (*config.open, *called)}
    for name, line in shown.items():
        if name.partition(".")[0] in _DECIDING:
            builder.unknown(name, OPEN_COUNT, line)


def _chosen_config(file: InputFile, configs: dict[str, CodeConfig]) -> tuple[str, CodeConfig]:
    names = list(configs)
    listed = ", ".join(f"{number} {name}" for number, name in enumerate(names[:20], 1))
    counted = plural(len(names), "configuration")
    name = chosen_part(names, file.part, counted, f"holds {counted} ({listed})")
    return name, configs[name]


def _set_code_model(name: str, config: CodeConfig, keys: Keys, builder: ImportBuilder) -> None:
    """Set the model that the base function or the function itself names."""
    _, line = config.classes.get("model_spec", ("", 0))
    keys.get("hf_assets_path", "model_spec.0")
    if "debug" in str(keys.get("model_spec.0") or name):
        builder.unknown(f"the model of {name}", "a small model for debugging, which the file does not describe", line)
        return
    for function in (config.base, name):
        for pattern, entry in _FUNCTIONS:
            if match := pattern.match(function):
                parts = [group or "" for group in match.groups()]
                set_model(entry.format(*parts).rstrip("-"), builder, line)
                return
    if path := keys.get("hf_assets_path"):
        set_model(str(path).removesuffix("-Base"), builder, keys.line("hf_assets_path"))


def _set_tokens(keys: Keys, builder: ImportBuilder) -> None:
    """Set the sequence length, and the batches of a micro-batch and of a step from their tokens."""
    length = keys.integer("max_context_length", "seq_len")
    builder.set("workload.sequence_length", length, keys.line("max_context_length", "seq_len"))
    for path, name in (
        ("layout.micro_batch", "num_tokens_per_microbatch_per_dp_rank"),
        ("workload.global_batch", "num_tokens_per_train_step"),
    ):
        tokens, line = keys.integer(name), keys.line(name)
        if tokens and length and tokens % length == 0:
            builder.set(path, tokens // length, line)
        elif tokens:
            builder.unknown(f"{name}: {tokens}", "no multiple of the stated sequence length", line)
    if keys.find("num_tokens_per_microbatch_per_dp_rank") is None:
        micro = keys.integer("pipeline_parallel_microbatch_size", "local_batch_size")
        builder.set("layout.micro_batch", micro, keys.line("pipeline_parallel_microbatch_size", "local_batch_size"))


def _set_code_choices(config: CodeConfig, keys: Keys, builder: ImportBuilder) -> None:
    policy, line = config.classes.get("activation_checkpoint", ("", 0))
    mode = _POLICIES.get(policy.split(".")[0])
    if mode is not None:
        builder.set("layout.recompute", mode, line)
    elif "activation_checkpoint" in config.values and keys.get("activation_checkpoint") is None:
        builder.set("layout.recompute", "none", keys.line("activation_checkpoint"))
    elif policy:
        builder.unknown(f"activation_checkpoint: {policy}", "no value of layout.recompute corresponds to it", line)
    elif not config.base and not config.is_open(
        "activation_checkpoint"
    ):  # torchtitan/trainer.py, line 108: the default is SelectiveAC
        builder.set("layout.recompute", "selective", keys.line("parallelism", "max_context_length"))
    if (keys.integer("pipeline_parallel_degree") or 1) > 1:
        set_choice(keys, "layout.schedule", ("pipeline_parallel_schedule",), _SCHEDULES, builder)
        _set_stages(keys, builder)
    set_choice(keys, "layout.dispatcher", ("moe_comm_backend",), _DISPATCHERS, builder)
    sequence = keys.get("enable_sequence_parallel")
    if sequence is not None and (keys.integer("tensor_parallel_degree") or 1) > 1:
        builder.set("layout.sequence_parallel", bool(sequence), keys.line("enable_sequence_parallel"))
    precisions = {
        _PRECISIONS[called.split(".")[0]]: line
        for name, (called, line) in config.classes.items()
        if "converters" in name and called.split(".")[0] in _PRECISIONS
    }
    for (precision, recipe), line in list(precisions.items())[:1]:
        builder.set("workload.precision", precision, line)
        builder.set("workload.recipe", recipe, line)
    if not precisions:
        set_choice(keys, "workload.precision", ("mixed_precision_param",), _TYPES, builder)
    if keys.is_on("enable_cpu_offload"):
        builder.set("layout.offload.optimizer", 1, keys.line("enable_cpu_offload"))
        why = "parameters and gradients as well: the spec has no key for them"
        builder.unknown("enable_cpu_offload", why, keys.line("enable_cpu_offload"))
    optimizer, line = config.classes.get("optimizer", ("", 0))
    if "adamw" in optimizer.lower():
        builder.set("workload.optimizer", "adamw", line)


def _set_stages(keys: Keys, builder: ImportBuilder) -> None:
    """Set the stages of each rank: as listed, or from the layers of a stage and of the model."""
    degree = keys.integer("pipeline_parallel_degree") or 1
    listed = keys.get("module_fqns_per_model_part")
    line = keys.line("module_fqns_per_model_part", "pipeline_parallel_layers_per_stage")
    if isinstance(listed, list) and all(isinstance(part, list) for part in listed) and len(listed) % degree == 0:
        layers = [sum(str(name).startswith("layers.") for name in part) for part in listed]
        builder.set("layout.virtual_stages", len(layers) // degree, line)
        builder.set("layout.stage_layers", list(layers), line)
        return
    each, less = keys.integer("pipeline_parallel_layers_per_stage"), 0
    for name in ("pipeline_parallel_first_stage_less_layers", "pipeline_parallel_last_stage_less_layers"):
        stated = keys.get(name)
        less += stated if isinstance(stated, int) else 1
    if each is None:
        return
    model = builder.reading().value(("workload", "model"))
    if not isinstance(model, str):
        builder.unknown(f"pipeline_parallel_layers_per_stage: {each}", "the layers of the model are not known", line)
        return
    stages = -(-(Catalog.open().model(model).layers + less) // each)
    if stages % degree == 0:
        builder.set("layout.virtual_stages", stages // degree, line)


def _set_torchtitan_model(keys: Keys, builder: ImportBuilder) -> None:
    name, flavor = str(keys.get("model.name") or "").lower(), str(keys.get("model.flavor", "flavor") or "").lower()
    line = keys.line("model.flavor", "flavor")
    if (images := keys.find(*_OF_IMAGES)) or _IMAGES.search(name):
        why = "a model of images, or of images and text: a spec describes only text decoders"
        builder.unknown(f"model {name or images}", why, keys.line("model.name", images or "") or line)
    elif flavor:
        _set_named_model(name, flavor, builder, line)


_OF_IMAGES = ("img_size", "image_size", "crop_size", "clip_encoder", "autoencoder_path")
_IMAGES = re.compile(r"flux|diffusion|vision|siglip|clip|(?<![a-z])v(?:lm|it)(?![a-z])")


def _set_named_model(name: str, flavor: str, builder: ImportBuilder, line: int) -> None:
    named = _LARGE.get((name, flavor)) or _MODELS.get(name, name + "-{}").format(flavor)
    set_model(named, builder, line)


def _context_ranks(keys: Keys) -> int | None:
    """The ranks that share a sequence; one where no key states them, None where a variable does."""
    name = "context_parallel_degree"
    return None if keys.is_open(name) else keys.integer(name) or 1


def _set_sharding(keys: Keys, builder: ImportBuilder) -> None:
    shard, replicate = keys.get("data_parallel_shard_degree"), keys.integer("data_parallel_replicate_degree") or 1
    line = keys.line("data_parallel_shard_degree", "data_parallel_replicate_degree")
    if shard is None and replicate == 1:
        return
    degree, context = positive_integer_of(shard), _context_ranks(keys)
    holders = degree * context if degree and context else None  # distributed/parallel_dims.py: fsdp = dp_shard * cp
    if holders == 1:
        builder.set("layout.sharding", "none", line)
    elif not (degree == 1 and context is None):
        builder.set("layout.sharding", "hsdp" if replicate > 1 else "fsdp", line)
        builder.set("layout.shard_group", holders if replicate > 1 else None, line)
    if degree and not keys.is_on("fault_tolerance.enable"):
        builder.set("layout.dp", degree * replicate, line)


def _set_micro_batch(keys: Keys, builder: ImportBuilder) -> None:
    """Set the micro-batch: the local batch, or the part of it that a pipeline stage processes at a time."""
    names, part = ("local_batch_size", "training.batch_size"), "pipeline_parallel_microbatch_size"
    local, line = keys.integer(*names), keys.line(*names)
    if (keys.integer("pipeline_parallel_degree") or 1) == 1 or local == 1:
        builder.set("layout.micro_batch", local, line)
        return
    builder.set("layout.micro_batch", keys.integer(part), keys.line(part))
    if local:
        builder.count("sequences_per_replica_and_step", local, line)
        if not keys.find(part):
            why = "stages take parts of the local batch, whose size is not stated (the default of 0.2.2 is 1)"
            builder.unknown("layout.micro_batch", why, line)


def _set_options(keys: Keys, builder: ImportBuilder) -> None:
    _set_micro_batch(keys, builder)
    set_choice(
        keys,
        "layout.recompute",
        ("activation_checkpoint.mode",),
        {"none": "none", "selective": "selective", "full": "full"},
        builder,
    )
    if (keys.integer("pipeline_parallel_degree") or 1) > 1:
        set_choice(keys, "layout.schedule", ("pipeline_parallel_schedule",), _SCHEDULES, builder)
    set_choice(
        keys,
        "layout.cp_method",
        ("context_parallel_rotate_method",),
        {"allgather": "all-gather", "alltoall": "all-to-all"},
        builder,
    )
    set_choice(
        keys, "workload.optimizer", ("optimizer.name",), {"adam": "adam", "adamw": "adamw", "muon": "muon"}, builder
    )
    compiled = boolean_value(keys.get("compile.enable", "training.compile"))
    builder.set("layout.fused_kernels", compiled, keys.line("compile.enable", "training.compile"))
    converters = keys.get("model.converters", "converters")
    listed = converters.split(",") if isinstance(converters, str) else converters
    named = [str(each).split(".")[-1] for each in listed] if isinstance(listed, list) else []
    linear = "float8.enable_float8_linear"  # until 0.1: the converter was chosen by this switch
    if keys.is_on(linear):
        builder.set("workload.precision", "fp8", keys.line(linear))
    elif quantized := [each for each in named if each in _CONVERTERS]:
        line = keys.line("model.converters", "converters")
        builder.set("workload.precision", "fp8", line)
        builder.set("workload.recipe", _CONVERTERS[quantized[0]], line)
