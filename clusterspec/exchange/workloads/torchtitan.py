"""torchtitan job configurations (TOML).

Names: pytorch/torchtitan, torchtitan/config/job_config.py; its ``llama3`` is Llama 3.1.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from clusterspec.config import DEEPEST, deeply_dotted
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.workloads.keys import (
    Keys,
    flat_leaves,
    list_unused,
    set_choice,
    set_counts,
    set_model,
    whole_of,
)

KIND = "torchtitan"
LARGEST_TOML = 256 * 1024
"""Bytes of the largest TOML file read: tables take some 500 times the space of their text."""
_TABLE = {
    "layout.tp": ("tensor_parallel_degree",),
    "layout.pp": ("pipeline_parallel_degree",),
    "layout.cp": ("context_parallel_degree",),
    "layout.ep": ("expert_parallel_degree",),
    "layout.expert_tp": ("expert_tensor_parallel_degree",),
    "workload.global_batch": ("global_batch_size",),
    "workload.sequence_length": ("training.seq_len", "seq_len"),
}
_SCHEDULES = {
    "1f1b": "1f1b",
    "gpipe": "gpipe",
    "interleaved1f1b": "interleaved",
    "interleavedzerobubble": "zero-bubble",
    "zbvzerobubble": "zero-bubble",
    "dualpipev": "dualpipe",
}
_KEY = re.compile(r"\"?([A-Za-z0-9_-]{1,80})\"?\s*=")
_MODELS = {"llama3": "llama-3.1-{}", "qwen3": "qwen3-{}"}
_LARGE = {
    ("llama4", "17bx16e"): "llama-4-scout",
    ("llama4", "17bx128e"): "llama-4-maverick",
    ("deepseek_v3", "671b"): "deepseek-v3",
}


def matches(file: InputFile) -> bool:
    return bool(re.search(r"^\[(parallelism|training|model|experimental)\]", file.text, re.MULTILINE)) and bool(
        re.search(r"tensor_parallel_degree|data_parallel_shard_degree|^[ \t]*flavor\s*=", file.text, re.MULTILINE)
    )


def read(file: InputFile) -> ImportResult:
    """The workload and layout of a job. Raises `FormatError` if it is not TOML or has no degree."""
    builder, keys = ImportBuilder(KIND, file.name), Keys()
    lines = _key_lines(file)
    for name, value, line in flat_leaves(_toml_value(file), lambda *path: lines.get(".".join(map(str, path)), 0)):
        keys.put(name, value, line)
    if keys.find("tensor_parallel_degree", "data_parallel_shard_degree", "model.flavor", "flavor") is None:
        raise FormatError("has neither a model nor a parallel degree of torchtitan")
    builder.set("layout.framework", "torchtitan", keys.line("tensor_parallel_degree", "data_parallel_shard_degree"))
    set_counts(keys, _TABLE, builder)
    _set_model(keys, builder)
    _set_sharding(keys, builder)
    _set_options(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _toml_value(file: InputFile) -> dict[str, Any]:
    file.bounded("TOML", LARGEST_TOML)
    if deeply_dotted(file.text):
        raise FormatError(f"a key of more than {DEEPEST} parts, the maximum for TOML")
    try:
        return tomllib.loads(file.text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as fault:
        match = re.search(r"line ([0-9]+)", str(fault))
        raise FormatError(
            f"no TOML: {str(fault).split(' (at')[0][:80].lower()}", int(match[1]) if match else 0
        ) from None


def _key_lines(file: InputFile) -> dict[str, int]:
    """The line of every key, by its dotted name with the table."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(file.lines, 1):
        text = line.strip()
        if text.startswith("["):
            table = text.split("]")[0].strip("[ ")
        elif match := _KEY.match(text):
            found.setdefault(f"{table}.{match[1]}".lstrip("."), number)
    return found


def _set_model(keys: Keys, builder: ImportBuilder) -> None:
    name, flavor = str(keys.get("model.name") or "").lower(), str(keys.get("model.flavor", "flavor") or "").lower()
    line = keys.line("model.flavor", "flavor")
    if not flavor:
        return
    named = _LARGE.get((name, flavor)) or _MODELS.get(name, name + "-{}").format(flavor)
    set_model(named, builder, line)


def _set_sharding(keys: Keys, builder: ImportBuilder) -> None:
    shard, replicate = keys.get("data_parallel_shard_degree"), keys.whole("data_parallel_replicate_degree") or 1
    line = keys.line("data_parallel_shard_degree", "data_parallel_replicate_degree")
    if shard is None and replicate == 1:
        return
    degree = whole_of(shard)
    if replicate > 1 and degree == 1:
        builder.set("layout.sharding", "none", line)
    elif replicate > 1:
        builder.set("layout.sharding", "hsdp", line)
        builder.set("layout.shard_group", degree, line)
    else:
        builder.set("layout.sharding", "none" if degree == 1 and shard is not None else "fsdp", line)
    if degree:
        builder.set("layout.dp", degree * replicate, line)


def _set_options(keys: Keys, builder: ImportBuilder) -> None:
    micro = (
        keys.whole("pipeline_parallel_microbatch_size") if (keys.whole("pipeline_parallel_degree") or 1) > 1 else None
    )
    local = keys.whole("local_batch_size", "training.batch_size")
    builder.set("layout.micro_batch", micro or local, keys.line("local_batch_size", "training.batch_size"))
    if micro and local:
        builder.count("sequences_per_replica_and_step", local, keys.line("local_batch_size", "training.batch_size"))
    set_choice(
        keys,
        "layout.recompute",
        ("activation_checkpoint.mode",),
        {"none": "none", "selective": "selective", "full": "full"},
        builder,
    )
    if (keys.whole("pipeline_parallel_degree") or 1) > 1:
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
    converters = keys.get("model.converters", "converters")
    if isinstance(converters, list) and "float8" in converters:
        builder.set("workload.precision", "fp8", keys.line("model.converters", "converters"))
