"""Configurations of fairseq2 (YAML).

Names: facebookresearch/fairseq2 027bdebc, src/fairseq2/recipe/config.py. A recipe replaces the defaults of that file,
so a key that is absent states nothing. ``max_num_tokens`` is the number of tokens of a pass on one rank.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.keys import Keys, set_choice, set_counts
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.overrides import file_keys
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length
from clusterspec.exchange.workloads.unused_keys import list_unused

FAIRSEQ2 = "fairseq2"
_MARKS = (
    re.compile(r"^trainer[ \t]*:", re.MULTILINE),
    re.compile(r"^regime[ \t]*:", re.MULTILINE),
    re.compile(r"^(?:gang|lr_scheduler|common|optimizer)[ \t]*:", re.MULTILINE),
)
_COUNTS = {"layout.tp": ("gang.tensor_parallel_size",), "layout.micro_batch": ("dataset.batch_size",)}
_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_DTYPES |= {f"torch.{name}": value for name, value in _DTYPES.items()}
_OPTIMIZERS = {"adamw": "adamw", "muon": "muon"}
_OFF = frozenset({"false", "off", "none"})
"""Words of YAML 1.1 and of YAML 1.2 for a mode that is off."""


def matches_fairseq2(file: InputFile) -> bool:
    return file.name.endswith((".yaml", ".yml")) and all(mark.search(file.text) for mark in _MARKS)


def read_fairseq2(file: InputFile) -> ImportResult:
    """The batch, the precision and the sharding of a run. Raises `FormatError` if it trains nothing."""
    builder, keys = ImportBuilder(FAIRSEQ2, file.name), file_keys(file)
    if not any(name.startswith(("trainer.", "gang.")) for name in keys.values):
        raise FormatError("is no configuration of fairseq2: it has no trainer")
    first = next(name for name in keys.values if name.startswith(("trainer.", "gang.")))
    builder.set("workload.kind", "train", keys.line(first))
    set_counts(keys, _COUNTS, builder)
    _set_model(keys, builder)
    _set_lengths(keys, builder)
    _set_precision(keys, builder)
    _set_sharding(keys, builder)
    _set_recompute(keys, builder)
    if steps := keys.integer("trainer.grad_accumulation.num_batches"):
        builder.count("gradient_accumulation_steps", steps, keys.line("trainer.grad_accumulation.num_batches"))
    set_choice(keys, "workload.optimizer", ("optimizer.name",), _OPTIMIZERS, builder)
    list_unused(keys, builder)
    return builder.reading()


def _set_model(keys: Keys, builder: ImportBuilder) -> None:
    """Set the model by its name, where nothing changes its sizes."""
    stated = (each for each in ("model.name", "model.arch") if isinstance(keys.values.get(each, (None, 0))[0], str))
    name = next(stated, "")
    changed = next((each for each in keys.values if each.startswith("model.config_overrides.")), "")
    if name and changed:
        why = "sizes that differ from those of the named model: state workload.model"
        builder.unknown(f"{excerpt(keys.get(name))} with {changed.rpartition('.')[2]}", why, keys.line(changed))
    elif name:
        set_model(str(keys.get(name)), builder, keys.line(name))


def _set_lengths(keys: Keys, builder: ImportBuilder) -> None:
    """Count the tokens of a pass, and the length at which samples are cut."""
    if tokens := keys.integer("dataset.max_num_tokens"):
        builder.count("tokens_per_pass", tokens, keys.line("dataset.max_num_tokens"))
        builder.unknown(
            "layout.micro_batch", "samples of any length fill the tokens of a pass", keys.line("dataset.max_num_tokens")
        )
    if length := keys.integer("dataset.max_seq_len"):
        list_cut_length("max_seq_len", length, builder, keys.line("dataset.max_seq_len"))


def _set_precision(keys: Keys, builder: ImportBuilder) -> None:
    """Set the type of mixed precision, or that of the model where it is off."""
    mode = "trainer.mixed_precision.mode"
    off = str(keys.get(mode)).lower() in _OFF and keys.find(mode) is not None
    names = ("model.dtype",) if off else ("trainer.mixed_precision.dtype",)
    keys.get("model.dtype")
    set_choice(keys, "workload.precision", names, _DTYPES, builder)


def _set_sharding(keys: Keys, builder: ImportBuilder) -> None:
    """Set what ``data_parallelism`` states: copies of the parameters, or shards of them."""
    name = "trainer.data_parallelism"
    hybrid = keys.is_on("trainer.fsdp.hybrid")
    if str(keys.get(name)) == "fsdp":
        builder.set("layout.framework", "fsdp", keys.line(name))
    set_choice(keys, "layout.sharding", (name,), {"fsdp": "hsdp" if hybrid else "fsdp", "ddp": "none"}, builder)


def _set_recompute(keys: Keys, builder: ImportBuilder) -> None:
    """Set the recomputation of every layer or of none; list that of each nth layer."""
    mode, each = "trainer.activation_checkpointing.mode", "trainer.activation_checkpointing.every_nth_layer"
    nth, stated = keys.get(each), str(keys.get(mode)).lower()
    if keys.find(mode) is None:
        return
    if stated in _OFF:
        builder.set("layout.recompute", "none", keys.line(mode))
    elif stated == "layerwise" and nth in (None, 1):
        builder.set("layout.recompute", "full", keys.line(mode))
    else:
        what, line = (f"every_nth_layer: {excerpt(nth)}", keys.line(each)) if nth else (f"mode: {excerpt(stated)}", 0)
        builder.unknown(what, "of some layers only: state layout.recompute", line or keys.line(mode))
