"""Configurations of VeOmni (YAML): training by FSDP with expert, Ulysses and ring parallelism.

Names and defaults: ByteDance-Seed/VeOmni d9774494, veomni/arguments/arguments_types.py (``train.accelerator``; mixed
precision in bfloat16, recomputation, dynamic batches and resharding after the forward pass are on where they are
absent), and its earlier flat names, sprout-ai/VeOmni 0f4f0935, veomni/utils/arguments.py, lines 223 to 361 (the same
defaults). A dynamic batch fills ``micro_batch_size`` sequences of ``max_seq_len`` tokens, ``global_batch_size`` of them
form a step (line 515).
"""

from __future__ import annotations

import re

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.keys import Keys, boolean_value, flat_leaves, set_choice, set_counts
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter
from clusterspec.exchange.workloads.unused_keys import list_unused

VEOMNI = "veomni"
_MARKS = (
    re.compile(r"^train[ \t]*:[ \t]*(?:#.*)?$", re.MULTILINE),
    re.compile(r"^[ \t]+(?:data_parallel_mode|fsdp_mode)[ \t]*:", re.MULTILINE),
    re.compile(
        r"^[ \t]+(?:ulysses_(?:parallel_)?size|dyn_bsz\w{0,20}|rmpad\w{0,20}|bsz_warmup_ratio)[ \t]*:", re.MULTILINE
    ),
)
_TRAIN = "train."
_MESH = "train.accelerator."
_SHARDED = f"{_MESH}fsdp_config."
_MODE = (f"{_SHARDED}fsdp_mode", f"{_TRAIN}data_parallel_mode")
_COUNTS = {
    "layout.micro_batch": (f"{_TRAIN}micro_batch_size",),
    "workload.global_batch": (f"{_TRAIN}global_batch_size",),
    "layout.tp": (f"{_MESH}tp_size", f"{_TRAIN}tensor_parallel_size"),
    "layout.pp": (f"{_MESH}pp_size", f"{_TRAIN}pipeline_parallel_size"),
    "layout.ep": (f"{_MESH}ep_size", f"{_TRAIN}expert_parallel_size"),
}
_CONTEXT = {
    "all-to-all": (f"{_MESH}ulysses_size", f"{_TRAIN}ulysses_parallel_size"),
    "ring": (f"{_MESH}cp_size", f"{_TRAIN}context_parallel_size"),
}
"""The degrees of context parallelism, by the method of the spec."""
_RESHARDED = (f"{_SHARDED}reshard_after_forward", f"{_TRAIN}enable_full_shard")
_RECOMPUTED = (f"{_TRAIN}gradient_checkpointing.enable", f"{_TRAIN}enable_gradient_checkpointing")
_MIXED = (f"{_SHARDED}mixed_precision.enable", f"{_TRAIN}enable_mixed_precision")
_TYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_OFFLOADED = (
    *(f"{_SHARDED}offload", f"{_TRAIN}enable_fsdp_offload"),
    *(f"{_MESH}offload_config.enable_activation", f"{_MESH}offload.enable_activation"),
    f"{_TRAIN}enable_activation_offload",
)
_UNRELATED = re.compile(
    r"(?:data\.(?!max_seq_len|data_type)|train\.(?:wandb|profile|checkpoint|save_|ckpt_|load_|output_dir|lr|bsz_|seed"
    r"|num_train_epochs|max_steps|optimizer\.(?!type)|empty_cache|init_device|weight_decay|max_grad_norm|use_wandb"
    r"|enable_full_determinism|enable_profiling|channel_loss)|model\.(?:tokenizer|attn_impl|ops_impl|encoders|decoders))"
)
"""Keys of data, logs, checkpoints and learning rate, which do not describe a layout."""


def matches_veomni(file: InputFile) -> bool:
    return all(mark.search(file.text) for mark in _MARKS)


def read_veomni(file: InputFile) -> ImportResult:
    """The workload and layout of a configuration. Raises `FormatError` if it states no mode of data parallelism."""
    keys, yaml, builder = Keys(), read_yaml(file), ImportBuilder(VEOMNI, file.name)
    for name, value, line in flat_leaves(yaml.mapping, yaml.line):
        if value is not None and not _UNRELATED.match(name):
            keys.put(name, value, line)
    if (mode := str(keys.get(*_MODE) or "")) == "":
        raise FormatError("is no configuration of VeOmni: train has no fsdp_mode or data_parallel_mode")
    data, line = keys.values.pop("data.data_type", ("", 0))
    if data == "diffusion":
        raise FormatError("trains a diffusion model, which a spec does not describe", line)
    names = ("model.model_path", "model.config_path")
    if isinstance(named := keys.get(*names), str):
        set_model(named, builder, keys.line(*names))
    _set_batch(str(data), line, keys, builder)
    set_counts(keys, _COUNTS, builder)
    _set_sharding(mode, keys, builder)
    _set_context(keys, builder)
    _set_length(keys, builder, filled=data == "plaintext")
    _set_memory(keys, builder)
    _set_updates(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _set_batch(data: str, line: int, keys: Keys, builder: ImportBuilder) -> None:
    """Set the kind and the batch of a step; batches of pairs are listed, as is the reference model that they need."""
    if data != "dpo":
        builder.set("workload.kind", "train", keys.line(*_MODE))
        return
    why = "a reference model runs forward on every sample, which a spec of training does not describe"
    builder.unknown("data_type: dpo", why, line)
    for name in ("micro_batch_size", "global_batch_size"):
        if size := keys.integer(f"{_TRAIN}{name}"):
            why = "counts pairs of a chosen and a rejected answer, each a sequence of its own"
            builder.unknown(f"{name}: {size}", why, keys.line(f"{_TRAIN}{name}"))
            del keys.values[f"{_TRAIN}{name}"]


def _set_updates(keys: Keys, builder: ImportBuilder) -> None:
    """Set the optimizer and the adapters."""
    optimizer = (f"{_TRAIN}optimizer.type", f"{_TRAIN}optimizer")
    set_choice(keys, "workload.optimizer", optimizer, {"adamw": "adamw", "muon": "muon"}, builder)
    if rank := keys.integer("model.lora_config.rank"):
        modules, _ = keys.values.pop("model.lora_config.lora_modules", ([], 0))
        names = [str(each) for each in modules] if isinstance(modules, list) else [str(modules)]
        set_adapter("lora", rank, names, builder, keys.line("model.lora_config.rank"))


def _is_on(keys: Keys, names: tuple[str, ...]) -> bool:
    """Whether a switch whose default is on has that default or says so."""
    return boolean_value(keys.get(*names)) is not False


def _set_sharding(mode: str, keys: Keys, builder: ImportBuilder) -> None:
    """Set the sharding and the precision of its mixed training."""
    line = keys.line(*_MODE)
    if mode == "ddp":
        builder.set("layout.sharding", "none", line)
        return
    if mode not in {"fsdp1", "fsdp2"}:
        builder.unknown(f"mode {excerpt(mode)}", "no value of layout.sharding corresponds to it", line)
        return
    builder.set("layout.framework", "fsdp", line)
    copies = keys.integer(f"{_MESH}dp_replicate_size", f"{_TRAIN}data_parallel_replicate_size") or 1
    kept = "hsdp" if copies > 1 else "fsdp"
    builder.set("layout.sharding", kept if _is_on(keys, _RESHARDED) else "zero2", keys.line(*_RESHARDED) or line)
    dtype = f"{_SHARDED}mixed_precision.param_dtype"
    if not _is_on(keys, _MIXED):
        why = "off: GEMMs keep the type in which the weights are loaded: state workload.precision"
        builder.unknown("mixed precision", why, keys.line(*_MIXED))
    elif keys.find(dtype):
        set_choice(keys, "workload.precision", (dtype,), _TYPES, builder)
    else:
        builder.set("workload.precision", "bf16", keys.line(*_MIXED) or line)


def _set_context(keys: Keys, builder: ImportBuilder) -> None:
    """Set the degree of context parallelism and its method; two methods at once are listed."""
    degrees = {method: keys.integer(*names) or 1 for method, names in _CONTEXT.items() if keys.find(*names)}
    several = {method: degree for method, degree in degrees.items() if degree > 1}
    if len(several) > 1:
        why = "both at once: layout.cp_method has one of them"
        shown = ", ".join(f"{method} {degree}" for method, degree in several.items())
        builder.unknown(f"layout.cp: {shown}", why, keys.line(*_CONTEXT["ring"]))
        return
    for method, degree in (several or degrees).items():
        builder.set("layout.cp", degree, keys.line(*_CONTEXT[method]))
        builder.set("layout.cp_method", method if several else None, keys.line(*_CONTEXT[method]))
        return


def _set_length(keys: Keys, builder: ImportBuilder, *, filled: bool) -> None:
    """Set the length of sequences if rows are filled up to it, as from plain text or by dynamic batches."""
    name, line = "data.max_seq_len", keys.line("data.max_seq_len")
    length = keys.integer(name)
    if length and (filled or _is_on(keys, (f"{_TRAIN}dyn_bsz",))):
        builder.set("workload.sequence_length", length, line)
    elif length:
        list_cut_length(name, length, builder, line)


def _set_memory(keys: Keys, builder: ImportBuilder) -> None:
    """Set recomputation; list what is kept in host memory."""
    line = keys.line(*_RECOMPUTED) or keys.line(*_MODE)
    builder.set("layout.recompute", "full" if _is_on(keys, _RECOMPUTED) else "none", line)
    for name in _OFFLOADED:
        if keys.is_on(name):
            why = "states or activations are in host memory: state layout.offload"
            builder.unknown(name.rpartition(".")[2] if name != _OFFLOADED[0] else "offload", why, keys.line(name))
