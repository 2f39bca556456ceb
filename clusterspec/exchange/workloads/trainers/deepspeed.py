"""DeepSpeed configurations, and configurations of Axolotl, which may refer to a DeepSpeed configuration."""

from __future__ import annotations

import re

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import (
    FileLine,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    SkippedPart,
    chosen_part,
    combined_result,
    excerpt,
)
from clusterspec.exchange.workloads.keys import Keys, boolean_value, flat_leaves, set_choice, set_counts
from clusterspec.exchange.workloads.model_files.models import set_model_of_key
from clusterspec.exchange.workloads.offloads import set_zero_offloads
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length
from clusterspec.exchange.workloads.trainers.accelerate import STAGES, STRATEGIES
from clusterspec.exchange.workloads.trainers.axolotl_kernels import set_axolotl_kernels
from clusterspec.exchange.workloads.trainers.deepspeed_precisions import set_number_types
from clusterspec.exchange.workloads.trainers.deepspeed_texts import plain_json, printed_configuration
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.records import replace

# DeepSpeed configurations (JSON) and Axolotl configurations (YAML), which may name one.
#
# Names: https://www.deepspeed.ai/docs/config-json; axolotl-ai-cloud/axolotl, docs/config-reference

DEEPSPEED = "deepspeed"
_DEEPSPEED = {
    "layout.micro_batch": ("train_micro_batch_size_per_gpu",),
    "workload.global_batch": ("train_batch_size",),
}
_AXOLOTL = {
    "layout.micro_batch": ("micro_batch_size",),
    "layout.tp": ("tensor_parallel_size",),
    "layout.cp": ("context_parallel_size", "sequence_parallel_degree"),
    "layout.ep": ("expert_parallel_size",),
}
_FILLED = ("sample_packing", "pad_to_sequence_len")
"""Switches of Axolotl that make each sequence exactly ``sequence_len`` tokens; otherwise this is only the limit."""
_RECOMPUTED_BY_FSDP = ("fsdp_config.activation_checkpointing", "fsdp_config.fsdp_activation_checkpointing")
"""The second is an earlier name (axolotl 067b021c, src/axolotl/utils/schemas/validation.py, lines 1084 to 1102)."""
OPTIMIZERS = {
    "adam": "adam",
    "adamw": "adamw",
    "lion": "lion",
    "sgd": "sgd",
    "adamw_torch": "adamw",
    "muon": "muon",
    "adamw_torch_fused": "adamw",
    "adamw_hf": "adamw",
    "adafactor": "adafactor",
    "fusedadam": "adam",
    "cpuadam": "adam",
}


_BASE_MODEL = re.compile(r"^base_model\s*:", re.MULTILINE)
_AXOLOTL_KEYS = re.compile(
    r"^(?:micro_batch_size|sequence_len|gradient_accumulation_steps|num_epochs|max_steps|adapter|datasets|val_set_size"
    r"|sample_packing|rl)\s*:",
    re.MULTILINE,
)
"""Keys that Axolotl has in addition to the base-model key, which other programs also have."""
_BATCH_OF_OTHERS = re.compile(r"^per_device_(?:train_)?batch_size\s*:", re.MULTILINE)
"""Micro-batch of programs of sites; that of Axolotl is ``micro_batch_size``."""


_KEYS_WITHOUT_ZERO = re.compile(
    r"\"(?:steps_per_print|prescale_gradients|wall_clock_breakdown|gradient_accumulation_steps|gradient_clipping"
    r"|zero_allow_untested_optimizer)\"\s{0,9}:"
)
"""Keys in addition to the batch size of a configuration without ZeRO (DeepSpeed, deepspeed/runtime/constants.py)."""


_FSDP, _FSDP_CONFIG = re.compile(r"\"fsdp\"\s{0,9}:\s{0,9}\""), re.compile(r"\"fsdp_config\"\s{0,9}:\s{0,9}\{")
"""Keys of a file for ``--fsdp`` of ms-swift (its page Command-line-parameters), as in TrainingArguments."""


def matches_deepspeed(file: InputFile) -> bool:
    text = file.text
    if re.search(r"pipe[-_]parallel[-_]size", text):
        return False
    if re.search(r"\"zero_optimization\"|\"train_micro_batch_size_per_gpu\"", text):
        return True
    if text.lstrip().startswith("{"):
        batch = '"train_batch_size"' in text and bool(_KEYS_WITHOUT_ZERO.search(text))
        return batch or bool(_FSDP.search(text) and _FSDP_CONFIG.search(text))
    return bool(_BASE_MODEL.search(text) and _AXOLOTL_KEYS.search(text)) and not _BATCH_OF_OTHERS.search(text)


def read_deepspeed(file: InputFile) -> ImportResult:
    """The layout, and for Axolotl the model. Raises `FormatError` if the file has neither format."""
    file = printed_configuration(file) or file
    if not file.text.lstrip().startswith("{") and "<<" in file.text:
        return _read_written(file)
    builder, keys = ImportBuilder(DEEPSPEED, file.name), Keys()
    if file.text.lstrip().startswith("{"):
        for name, value, line in flat_leaves(plain_json(file), lambda *path: file.line_of_key(str(path[-1]))):
            keys.put(name, value, line)
    else:
        yaml = read_yaml(file)
        for name, value, line in flat_leaves(yaml.mapping, yaml.line):
            keys.put(name, value, line)
    if keys.find("base_model"):
        _set_axolotl_keys(keys, builder)
    elif keys.find(
        "zero_optimization.stage", "zero_optimization", "train_batch_size", "train_micro_batch_size_per_gpu"
    ):
        _set_deepspeed_keys(keys, builder)
    elif keys.find("fsdp") and any(name.startswith("fsdp_config.") for name in keys.values):
        builder.set("layout.framework", "fsdp", keys.line("fsdp"))
        _set_fsdp(keys, False, keys.line("fsdp"), builder)
        if on := next((name for name in _RECOMPUTED_BY_FSDP if keys.is_on(name)), None):
            builder.set("layout.recompute", "full", keys.line(on))  # where it is off, gradient_checkpointing may be on
    else:
        raise FormatError("has neither ZeRO or batch size keys of DeepSpeed nor a base model of Axolotl")
    list_unused(keys, builder)
    return builder.reading()


def _set_deepspeed_keys(keys: Keys, builder: ImportBuilder) -> None:
    builder.set("layout.framework", "deepspeed", keys.line("zero_optimization.stage", "train_batch_size"))
    set_counts(keys, _DEEPSPEED, builder)
    _set_zero(keys, "zero_optimization", builder)
    set_number_types(keys, builder)
    if all(boolean_value(keys.get(f"{name}.enabled")) is False for name in ("bf16", "fp16")):
        builder.set("workload.precision", "fp32", keys.line("fp16.enabled"))
    momentum = keys.get("optimizer.params.momentum")
    sgd = {"sgd": "momentum"} if isinstance(momentum, int | float) and momentum else {}
    set_choice(keys, "workload.optimizer", ("optimizer.type",), OPTIMIZERS | sgd, builder)
    degrees = {"layout.tp": ("tensor_parallel.autotp_size",), "layout.pp": ("pipeline.stages",)}
    if keys.is_on("expert_parallel.enabled"):
        sizes = ("expert_parallel.autoep_size", "expert_parallel.expert_tensor_parallel_size")
        degrees |= {"layout.ep": sizes[:1], "layout.expert_tp": sizes[1:]}
    keys.used |= {"pipeline.stages"} if keys.get("pipeline.stages") == "auto" else set()
    set_counts(keys, {path: names for path, names in degrees.items() if keys.get(*names) != "auto"}, builder)
    _set_replicas(keys, builder)


def _set_zero(keys: Keys, zero: str, builder: ImportBuilder) -> None:
    """Set the sharding, what is kept on the host and the overlap, from the keys of ZeRO under a name."""
    group = keys.integer(f"{zero}.mics_shard_size")
    if group:
        builder.set("layout.sharding", "hsdp", keys.line(f"{zero}.mics_shard_size"))
        builder.set("layout.shard_group", group, keys.line(f"{zero}.mics_shard_size"))
    elif not any(key.startswith(zero) for key in keys.values):
        # deepspeedai/DeepSpeed, deepspeed/runtime/zero/config.py: stage is 0 (disabled) where none is stated
        builder.set("layout.sharding", "none", keys.line("train_batch_size", "train_micro_batch_size_per_gpu"))
    else:
        set_choice(keys, "layout.sharding", (f"{zero}.stage",), STAGES, builder)
    set_zero_offloads(keys, zero, builder)
    overlap = boolean_value(keys.get(f"{zero}.overlap_comm"))
    builder.set("layout.overlap.dp", overlap, keys.line(f"{zero}.overlap_comm"))


def _set_replicas(keys: Keys, builder: ImportBuilder) -> None:
    """Set the data parallelism that follows from the three sizes of a batch: batch = micro-batch × accumulation ×
    replicas. If two sizes are stated, DeepSpeed derives the third from the ranks.

    Source: deepspeedai/DeepSpeed, deepspeed/runtime/config.py (``_set_batch_related_parameters``).
    """
    names = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")
    batch, micro, steps = (keys.integer(name) for name in names)
    line = keys.line("gradient_accumulation_steps")
    builder.count("gradient_accumulation_steps", steps, line)
    if batch and micro and steps and batch % (micro * steps) == 0:
        builder.set("layout.dp", batch // (micro * steps), line)


def _read_written(file: InputFile) -> ImportResult:
    """The configuration that a script writes, with the nodes and ranks of its launcher. The options of the program that
    it launches are unknown.
    """
    from clusterspec.exchange.workloads.launchers import launch_of_unknown
    from clusterspec.exchange.workloads.trainers.written_configs import (
        UNDECIDED,
        line_of_undecided,
        written_configurations,
    )

    found = written_configurations(file)
    if not found and (line := line_of_undecided(file)):
        raise FormatError(f"has a configuration of DeepSpeed that is {UNDECIDED}", line)
    if not found:
        raise FormatError("is a script that writes no configuration of DeepSpeed")
    what = f"{len(found)} configurations that the script writes"
    reading = read_deepspeed(chosen_part(found, file.part, what, f"holds {what}"))
    if (launch := launch_of_unknown(file)) is not None:
        return combined_result([reading, launch])
    why = "no launch of a framework that a reader knows"
    return replace(reading, unknown=(*reading.unknown, SkippedPart("the commands", why, FileLine(file.name))))


_EMPTY: tuple[object, ...] = (None, "", [], {})
"""Values of a key that states nothing."""


_REWARDED = ("rl", "reward_model", "process_reward_model")
"""Keys of axolotl for training with pairs of answers or rewards (axolotl 067b021c, utils/schemas/config.py)."""


def _set_axolotl_keys(keys: Keys, builder: ImportBuilder) -> None:
    """Set the values of a configuration of Axolotl. Raises `FormatError` for training with pairs or rewards."""
    for name in _REWARDED:
        if (stated := keys.get(name)) and boolean_value(stated) is not False:
            why = f"trains with a reference, rewards or pairs ({name}: {excerpt(stated)}): supervised training only"
            raise FormatError(why, keys.line(name))
    set_model_of_key(keys, "base_model", builder)
    set_counts(keys, _AXOLOTL, builder)
    _set_axolotl_length(keys, builder)
    shard, replicate = keys.integer("dp_shard_size"), keys.integer("dp_replicate_size") or 1
    of_fsdp = [key for key, (value, _) in keys.values.items() if key.startswith("fsdp") and value not in _EMPTY]
    line = keys.line("dp_shard_size", *of_fsdp, "deepspeed")
    fsdp = bool(shard) or bool(of_fsdp)
    if fsdp:
        builder.set("layout.framework", "fsdp", line)
        _set_fsdp(keys, replicate > 1, line, builder)
        builder.set("layout.shard_group", shard if replicate > 1 else None, line)
        builder.set("layout.dp", shard * replicate if shard else None, line)
    elif (inline := "deepspeed.zero_optimization") and keys.find(f"{inline}.stage"):
        builder.set("layout.framework", "deepspeed", keys.line(f"{inline}.stage"))
        _set_zero(keys, inline, builder)
    elif keys.get("deepspeed"):
        builder.set("layout.framework", "deepspeed", keys.line("deepspeed"))
        builder.unknown(
            f"deepspeed: {excerpt(keys.get('deepspeed'))}",
            "a separate file: import it as well",
            keys.line("deepspeed"),
        )
    if on := next((name for name in ("gradient_checkpointing", *_RECOMPUTED_BY_FSDP) if keys.is_on(name)), None):
        builder.set("layout.recompute", "full", keys.line(on))
    keys.used |= {"bf16", "fp16"} & keys.values.keys()
    if precision := next((each for each in ("fp8", "bf16", "fp16") if keys.is_on(each)), None):
        builder.set("workload.precision", precision, keys.line(precision))
    set_axolotl_kernels(keys, builder)
    set_choice(keys, "workload.optimizer", ("optimizer",), OPTIMIZERS, builder)
    if adapter := keys.get("adapter"):
        line = keys.line("adapter")
        keys.used |= {name for name in ("lora_alpha", "lora_dropout", "load_in_4bit") if name in keys.values}
        names = [] if keys.is_on("lora_target_linear") else list(keys.words("lora_target_modules"))
        set_adapter(str(adapter), keys.integer("lora_r"), names, builder, line)
        if adapter == "lora" and keys.is_on("load_in_4bit"):  # axolotl aa1240ac, _set_quantization_config
            why = "with adapter: lora, releases to 0.12 store the frozen weights in 4 bits (method: qlora), later not"
            builder.unknown("load_in_4bit", why, keys.line("load_in_4bit"))
    set_trainer_accumulation(keys, builder)


def _set_axolotl_length(keys: Keys, builder: ImportBuilder) -> None:
    """Set the sequence length if sequences are packed or padded to it; else record it as the maximum."""
    length, line = keys.integer("sequence_len"), keys.line("sequence_len")
    keys.used |= {name for name in _FILLED if name in keys.values}
    if length and any(keys.is_on(name) for name in _FILLED):
        builder.set("workload.sequence_length", length, line)
    elif length:
        list_cut_length("sequence_len", length, builder, line)


def _set_fsdp(keys: Keys, hybrid: bool, line: int, builder: ImportBuilder) -> None:
    """Set the sharding of FSDP from the replicas of a shard group, from the strategy (version 1), or from resharding.

    A strategy without a value in the spec is listed as unknown. Without a stated strategy, everything is sharded
    (axolotl, Accelerate).
    """
    words = keys.words("fsdp")
    config = {key.removeprefix("fsdp_config.").removeprefix("fsdp_"): key for key in keys.values if "fsdp" in key}
    keys.used |= {name for key, name in config.items() if key not in {"offload_params", "activation_checkpointing"}}
    strategy, again = config.get("sharding_strategy"), config.get("reshard_after_forward")
    if hybrid:
        builder.set("layout.sharding", "hsdp", line)
    elif strategy:
        set_choice(keys, "layout.sharding", (strategy,), STRATEGIES, builder)
    elif again and (value := keys.get(again)) is not None:
        if (full := boolean_value(value)) is not None:
            builder.set("layout.sharding", "fsdp" if full else "zero2", keys.line(again))
        else:
            builder.unknown(f"{again}: {excerpt(value)}", "neither true nor false", keys.line(again))
    else:
        set_fsdp_words(words, builder, line, default="fsdp")
    if "offload" in words or keys.is_on(config.get("offload_params", "")):
        set_fsdp_offload(builder, keys.line(config.get("offload_params", "fsdp")))


def set_fsdp_words(words: tuple[str, ...], builder: ImportBuilder, line: int, default: str | None = None) -> None:
    """Set the sharding from the words of an option ``fsdp``; if none of them is a strategy, set the default.

    A strategy without a value in the spec is listed as unknown.
    """
    stated = [word for word in words if word not in _FSDP_OPTIONS]
    for word in stated[:1]:
        if word in STRATEGIES:
            builder.set("layout.sharding", STRATEGIES[word], line)
        else:
            builder.unknown(f"fsdp: {excerpt(word)}", "no value of layout.sharding corresponds to it", line)
    if not stated:
        builder.set("layout.sharding", default, line)


_FSDP_OPTIONS = frozenset({"auto_wrap", "offload"})
"""Words of ``fsdp`` other than the strategy: huggingface/transformers, src/transformers/training_args.py (``fsdp``)."""


def list_accumulation(keys: Keys, builder: ImportBuilder, replicas: int | None = None) -> None:
    """Set the global batch that a number of accumulated micro batches gives, unknown where the replicas are."""
    steps, line = keys.integer("gradient_accumulation_steps"), keys.line("gradient_accumulation_steps")
    if not steps:
        return
    builder.count("gradient_accumulation_steps", steps, line)
    micro = builder.reading().value(("layout", "micro_batch"))
    if replicas and isinstance(micro, int):
        builder.set("workload.global_batch", micro * steps * replicas, line)
    else:
        why = "micro batch × accumulation × replicas; the file does not state replicas"
        builder.unknown("workload.global_batch", why, line)


_SHARES_SEQUENCES = re.compile(r"(?:^|[_.])(?:sequence|seq|context)_parallel_size$")
_SHARDS_LAYERS = re.compile(r"(?:^|_)(?:tp|tensor_parallel|autotp|pp|pipeline_parallel|parallelism_config)(?:_|$)")


def _replica_count(keys: Keys, builder: ImportBuilder) -> int | None:
    """The replicas of a run of the Trainer: its processes, divided by those that share a sequence; None where a launch
    does not state all of these, or may shard layers.
    """
    ranks, nodes = keys.integer("nproc_per_node"), builder.reading().value(("layout", "nodes"))
    processes = keys.integer("num_processes") or (ranks * nodes if ranks and isinstance(nodes, int) else None)
    if processes is None or keys.has_elided_options or any(_SHARDS_LAYERS.search(name) for name in keys.values):
        return None
    if any(_SHARES_SEQUENCES.search(name) and keys.is_variable(name) for name in keys.values):
        return None
    shared = builder.reading().value(("layout", "cp")) or 1
    return processes // shared if isinstance(shared, int) and processes % shared == 0 else None


_EACH_BATCH = re.compile(r"sync_each_batch\W{1,4}true", re.IGNORECASE)


def set_trainer_accumulation(keys: Keys, builder: ImportBuilder) -> None:
    """List accumulation as `list_accumulation`, and set when FSDP reduces the gradients that the Trainer accumulates.

    ``no_sync`` holds for all but the last accumulated batch, unless ``accelerator_config`` states ``sync_each_batch``
    (huggingface/transformers, src/transformers/trainer.py, ``_inner_training_loop``).
    """
    list_accumulation(keys, builder, _replica_count(keys, builder))
    given = {each.path[-1]: each.value for each in builder.given}
    sharded = given.get("framework") == "fsdp" and given.get("sharding") != "none"
    if not sharded or (keys.integer("gradient_accumulation_steps") or 1) == 1:
        return
    name = "accelerator_config.gradient_accumulation_kwargs.sync_each_batch"
    if keys.is_on(name) or _EACH_BATCH.search(str(keys.get("accelerator_config"))):
        line = keys.line(name) or keys.line("accelerator_config")
        builder.set("layout.gradient_sync", "micro-batch", line)
    else:
        builder.set("layout.gradient_sync", "step", keys.line("gradient_accumulation_steps"))


def set_fsdp_offload(builder: ImportBuilder, line: int) -> None:
    """Set that the optimizer steps in the memory of the host, where FSDP keeps offloaded parameters and gradients.

    PyTorch 2.9, ``torch.distributed.fsdp.CPUOffload`` and ``CPUOffloadPolicy``.
    """
    builder.set("layout.offload.optimizer", 1, line)
    list_offloaded_parameters(builder, line)


def list_offloaded_parameters(builder: ImportBuilder, line: int) -> None:
    """List as unknown that parameters are kept in the memory of the host."""
    builder.unknown("offload of parameters", "the spec has no key for parameters in the memory of the host", line)


_MODULES = (
    (
        "attention",
        re.compile(
            r"(?:q|k|v|o|qkv|kv_a|kv_b|q_a|q_b|out|output)_proj(?:_with_mqa)?|c_attn|query_key_value|Wqkv|wo"
            r"|linear_(?:qkv|proj|q|kv_down_proj|kv_up_proj|q_down_proj|q_up_proj)"
        ),
    ),
    ("ffn", re.compile(r"(?:gate|up|down|gate_up)_proj|fc[12]|dense_h_to_4h|dense_4h_to_h|w[123]|linear_fc[12]")),
)


def set_adapter(method: str, rank: int | None, names: list[str], builder: ImportBuilder, line: int) -> None:
    """Set low-rank adapters on modules of these names; of all linear layers if there are none."""
    if method not in {"lora", "qlora"}:
        builder.unknown(f"adapter: {excerpt(method)}", "an adapter that a spec cannot say", line)
        return
    builder.set("workload.trainable.method", method, line)
    builder.set("workload.trainable.rank", rank, line)
    kinds = {kind for name in names for kind, pattern in _MODULES if pattern.fullmatch(name.rpartition(".")[2])}
    other = [name for name in names if not any(pattern.fullmatch(name.rpartition(".")[2]) for _, pattern in _MODULES)]
    if other:
        builder.unknown(f"adapters of {excerpt(', '.join(other))}", "modules of no kind that a spec has", line)
    builder.set(
        "workload.trainable.modules", [kind for kind, _ in _MODULES if kind in kinds or not names] or None, line
    )
