"""Configurations of Modalities (YAML): components with a key, a variant and a configuration, which name each other.

Names and defaults: Modalities/modalities bf0e6d32, src/modalities/registry/components.py (variants),
config/instantiation_models.py (``StepProfile``), running_env/fsdp/device_mesh.py (degrees, 1 where absent; one of the
data-parallel degrees may be -1, the remaining ranks), config/config.py (``reshard_after_forward`` is true where
absent), models/gpt2/gpt2_model.py and models/model.py, line 116: a gated network has two thirds of ``ffn_hidden``,
rounded up to a multiple of 256 where no other is stated; read 2026-11-27.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.keys import Keys, set_choice, set_counts
from clusterspec.exchange.workloads.model_files.models import set_model, set_parameters
from clusterspec.exchange.workloads.overrides import file_keys, follow_references
from clusterspec.exchange.workloads.trainers.accelerate import STRATEGIES
from clusterspec.exchange.workloads.unused_keys import list_unused

MODALITIES = "modalities"
_MARKS = (
    re.compile(r"^settings[ \t]*:", re.MULTILINE),
    re.compile(r"^[ \t]*component_key[ \t]*:[ \t]*model\b", re.MULTILINE),
    re.compile(r"^[ \t]*local_train_micro_batch_size[ \t]*:", re.MULTILINE),
)
_PROFILES = ("settings.step_profile.", "settings.training.")
"""The batch: in ``step_profile``, which earlier releases called ``training``."""
_ROOTS = ("app_state", "scheduled_pipeline")
_MODEL = {
    "layers": "n_layer",
    "hidden": "n_embd",
    "heads": "n_head_q",
    "kv_heads": "n_head_kv",
    "vocab": "vocab_size",
    "max_sequence_length": "sequence_length",
}
_DEGREES = {
    "layout.tp": "tensor_parallel_degree",
    "layout.pp": "pipeline_parallel_degree",
    "layout.cp": "context_parallel_degree",
}
_TYPES = {"bf_16": "bf16", "fp_16": "fp16", "fp_32": "fp32", "mixed_precision_megatron": "bf16"}
_SCHEDULES = {
    "1f1b": "1f1b",
    "gpipe": "gpipe",
    "interleaved1f1b": "interleaved",
    "interleavedzerobubble": "zero-bubble",
}
_POLICIES = {"full_activation_checkpointing": "full", "selective_op_activation_checkpointing": "selective"}
_OPTIMIZERS = {"adam_w": "adamw", "adam": "adam"}
_WRAPPERS = re.compile(r"fsdp[12]_(?:wrapped|checkpointed)")
_PRECISION = re.compile(r"\.mixed_precision_settings(?:\.param_dtype)?$")
_MULTIPLE = 256
"""The multiple to which the width of a gated network is rounded up, unless stated."""


def matches_modalities(file: InputFile) -> bool:
    return all(mark.search(file.text) for mark in _MARKS)


def read_modalities(file: InputFile) -> ImportResult:
    """The model, the batch and the layout of a training run. Raises `FormatError` if it has no batch."""
    builder, keys = ImportBuilder(MODALITIES, file.name), file_keys(file)
    for _ in range(2):  # a reference may lead to another one
        follow_references(keys)
    profile = next((each for each in _PROFILES if f"{each}local_train_micro_batch_size" in keys.values), None)
    if profile is None:
        raise FormatError("is no configuration of Modalities: its settings have no local_train_micro_batch_size")
    builder.set("workload.kind", "train", keys.line(f"{profile}local_train_micro_batch_size"))
    set_counts(keys, {"workload.sequence_length": (f"{profile}sequence_length",)}, builder)
    set_counts(keys, {"workload.tokens": ("settings.training_target.num_target_tokens",)}, builder)
    used = _used_components(keys)
    _set_model(keys, used, builder)
    replicas = _set_layout(keys, used, builder)
    _set_batch(keys, used, profile, replicas, builder)
    _set_options(keys, used, builder)
    keys.used |= {name for name in keys.values if name.endswith(("_key", ".pass_type"))}
    list_unused(keys, builder)
    return builder.reading()


def _used_components(keys: Keys) -> set[str]:
    """Names at the top of the file that a run builds: those that its state and its pipeline lead to; all, where an
    earlier release has no state.
    """
    tops = {name.partition(".")[0] for name in keys.values} - {"settings"}
    found: set[str] = set()
    waiting = [name for name in _ROOTS if name in tops] if _ROOTS[0] in tops else list(tops)
    named: dict[str, set[str]] = {}
    for name, (value, _) in keys.values.items():
        if name.endswith(".instance_key"):
            named.setdefault(name.partition(".")[0], set()).add(str(value))
    while waiting:
        top = waiting.pop()
        if top in found or top not in tops:
            continue
        found.add(top)
        waiting += sorted(named.get(top, ()))
    return found


def _components(keys: Keys, used: set[str], key: str) -> Iterator[tuple[str, str]]:
    """The prefix of the keys of each used component of a kind, and its variant."""
    for name, (value, _) in keys.values.items():
        if value == key and name.endswith(".component_key") and name.partition(".")[0] in used:
            start = name.removesuffix("component_key")
            yield start, str(keys.values.get(f"{start}variant_key", ("", 0))[0])


def _set_model(keys: Keys, used: set[str], builder: ImportBuilder) -> None:
    """Set the sizes of the one decoder, or the name of a hub model; list several, or another network."""
    models = [(f"{start}config.", variant) for start, variant in _components(keys, used, "model")]
    own = [each for each in models if each[1] in {"gpt2", "coca", "vision_transformer", "huggingface_pretrained_model"}]
    if len(own) != 1:
        builder.unknown("workload.model", f"{len(own)} networks that the run builds: state it")
        return
    config, variant = own[0]
    if variant == "huggingface_pretrained_model":
        name = f"{config}model_name"
        if isinstance(named := keys.get(name), str):
            set_model(named, builder, keys.line(name))
        return
    if variant != "gpt2":
        builder.unknown(
            f"model {variant}", "not only a text decoder: state workload.model", keys.line(f"{config}n_layer")
        )
        return
    set_counts(keys, {f"workload.model.{size}": (f"{config}{name}",) for size, name in _MODEL.items()}, builder)
    width, kind = keys.integer(f"{config}ffn_hidden"), str(keys.get(f"{config}activation_type")).lower()
    line, multiple = keys.line(f"{config}ffn_hidden"), f"{config}enforce_swiglu_hidden_dim_multiple_of"
    if kind == "swiglu":
        least = keys.integer(multiple) or _MULTIPLE
        builder.set("workload.model.gated_ffn", True, keys.line(f"{config}activation_type"))
        builder.set("workload.model.ffn_hidden", -(-(2 * width // 3) // least) * least if width else None, line)
    elif kind == "gelu":
        builder.set("workload.model.gated_ffn", False, keys.line(f"{config}activation_type"))
        builder.set("workload.model.ffn_hidden", width, line)
    elif kind != "none":
        builder.unknown(
            f"activation_type: {excerpt(kind)}", "its network is not known", keys.line(f"{config}activation_type")
        )
    if isinstance(tied := keys.get(f"{config}use_weight_tying"), bool):
        builder.set("workload.model.tied_embeddings", tied, keys.line(f"{config}use_weight_tying"))
    set_parameters(builder, keys.line(f"{config}n_layer"))


def _set_layout(keys: Keys, used: set[str], builder: ImportBuilder) -> int | None:
    """Set the degrees of the device mesh and the sharding; returns the replicas where they are known."""
    meshes = [f"{start}config." for start, _ in _components(keys, used, "device_mesh")]
    wraps = [each for each in _components(keys, used, "model") if _WRAPPERS.fullmatch(each[1])]
    for start, _ in wraps[:1]:
        builder.set("layout.framework", "fsdp", keys.line(f"{start}variant_key"))
    strategies = {
        name for name in keys.values if name.endswith(".sharding_strategy") and name.partition(".")[0] in used
    }
    if len({str(keys.get(name)) for name in strategies}) == 1:
        set_choice(keys, "layout.sharding", (min(strategies),), STRATEGIES, builder)
    elif strategies:
        builder.unknown(
            "sharding_strategy", f"{len(strategies)} components with different ones", keys.line(min(strategies))
        )
    if len(meshes) != 1:
        if meshes:
            builder.unknown("device_mesh", f"{len(meshes)} meshes that the run builds: state the layout")
        return None
    mesh = meshes[0]
    set_counts(keys, {path: (f"{mesh}{name}",) for path, name in _DEGREES.items()}, builder)
    split = any(variant == "gpt2_tp" for _, variant in _components(keys, used, "model"))
    if (
        split and (keys.integer(f"{mesh}tensor_parallel_degree") or 1) > 1
    ):  # model_factory.py, line 676: SequenceParallel
        builder.set("layout.sequence_parallel", True, keys.line(f"{mesh}tensor_parallel_degree"))
    second = [each for each in wraps if each[1].startswith("fsdp2")]  # the first kind takes no mesh
    return _set_mesh_sharding(keys, mesh, second, builder)


def _set_mesh_sharding(keys: Keys, mesh: str, wraps: list[tuple[str, str]], builder: ImportBuilder) -> int | None:
    """Set sharding and replicas of a mesh with FSDP2; returns the replicas where both degrees are known."""
    shard, line = keys.get(f"{mesh}data_parallel_shard_degree"), keys.line(f"{mesh}data_parallel_shard_degree")
    name = f"{mesh}data_parallel_replicate_degree"
    copies = keys.integer(name) if keys.find(name) else 1
    world = keys.integer(f"{mesh}world_size")
    others = prod(keys.integer(f"{mesh}{degree}") or 1 for degree in _DEGREES.values())
    group = shard if isinstance(shard, int) and shard > 0 else None
    if shard == -1 and world and copies and world % (others * copies) == 0:
        group = world // (others * copies)
    if world:
        builder.count("ranks", world, keys.line(f"{mesh}world_size"))
    if wraps and line:
        resharded = keys.get(f"{wraps[0][0]}config.reshard_after_forward") is not False
        if copies == 1:
            builder.set("layout.sharding", "fsdp" if resharded else "zero2", line)
        elif copies:
            builder.set("layout.sharding", "hsdp", line)
            builder.set("layout.shard_group", group, line)
    if copies is None or group is None:
        builder.unknown("layout.dp", "the ranks that the other degrees leave: the launch states them", line)
        return None
    builder.set("layout.dp", copies * group, line)
    return copies * group


def _set_batch(keys: Keys, used: set[str], profile: str, replicas: int | None, builder: ImportBuilder) -> None:
    """Set the micro-batch (the part of one stage if a pipeline splits it), and the global batch if the replicas are
    known.
    """
    own, acc = f"{profile}local_train_micro_batch_size", f"{profile}gradient_accumulation_steps"
    staged = [f"{start}config." for start, variant in _components(keys, used, "pipeline") if variant == "scheduled"]
    if staged:
        set_counts(keys, {"layout.micro_batch": (f"{staged[0]}microbatch_size",)}, builder)
        set_choice(keys, "layout.schedule", (f"{staged[0]}pp_schedule_name",), _SCHEDULES, builder)
        keys.get(own)
    else:
        set_counts(keys, {"layout.micro_batch": (own,)}, builder)
    stated = replicas or keys.integer(f"{profile}dp_degree")
    size, steps = keys.integer(own), keys.integer(acc)
    if size and steps and stated:
        builder.set("workload.global_batch", size * steps * stated, keys.line(own))
    elif size and steps:
        builder.count("sequences_per_replica_and_step", size * steps, keys.line(own))


def _set_options(keys: Keys, used: set[str], builder: ImportBuilder) -> None:
    """Set precision, recomputation, compilation and optimizer, each of the component that states it."""
    for start, variant in _components(keys, used, "model"):
        config = f"{start}config."
        if variant.startswith("activation_checkpointed"):
            if keys.find(policy := f"{config}ac_variant"):
                set_choice(keys, "layout.recompute", (policy,), _POLICIES, builder)
            else:
                why = "recomputes modules that it lists: state layout.recompute"
                builder.unknown(variant, why, keys.line(f"{start}variant_key"))
        elif variant == "compiled":
            builder.set("layout.fused_kernels", True, keys.line(f"{start}variant_key"))
    own = {name: keys.get(name) for name in keys.values if _PRECISION.search(name) and name.partition(".")[0] in used}
    if len(set(own.values())) == 1:
        set_choice(keys, "workload.precision", (min(own),), _TYPES, builder)
    elif own:
        builder.unknown("mixed_precision_settings", f"{len(own)} components with different ones", keys.line(min(own)))
    for start, variant in _components(keys, used, "optimizer"):
        if variant in _OPTIMIZERS:
            builder.set("workload.optimizer", _OPTIMIZERS[variant], keys.line(f"{start}variant_key"))
