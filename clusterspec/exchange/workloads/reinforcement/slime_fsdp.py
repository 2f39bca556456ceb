"""Launches of slime whose trainer is FSDP of PyTorch, not Megatron: no option of Megatron's degrees is among theirs.

Names and defaults: THUDM/slime 0c1e2ca1, slime/backends/fsdp_utils/arguments.py (``FSDPArgs``).
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder, ImportResult, InputFile, NothingStarted
from clusterspec.exchange.workloads.keys import Keys, read_arguments, set_choice, set_counts
from clusterspec.exchange.workloads.reinforcement.slime import set_rollouts
from clusterspec.exchange.workloads.unused_keys import list_unused

SLIME = "slime"
_COUNTS = {
    "layout.nodes": ("actor_num_nodes",),
    "layout.cp": ("context_parallel_size",),
    "workload.global_batch": ("global_batch_size",),
}
_RANKS = "actor_num_gpus_per_node"
_LAUNCH = re.compile(r"--train-backend[ =]\"?fsdp\b")


def matches_slime(file: InputFile) -> bool:
    return bool(_LAUNCH.search(file.text)) and "--rollout-batch-size" in file.text


def read_slime(file: InputFile) -> ImportResult:
    """The samples, engines and layout of a launch. Raises `NothingStarted` if the file starts none."""
    keys, builder = read_arguments(file, _LAUNCH), ImportBuilder(SLIME, file.name)
    if not keys.command.words or keys.find("rollout_batch_size", _RANKS) is None:
        raise NothingStarted("has no launch of slime with its options")
    builder.set("layout.framework", str(keys.get("train_backend")), keys.line("train_backend"))
    builder.set("layout.sharding", "fsdp", keys.line("train_backend"))
    set_counts(keys, _COUNTS, builder)
    builder.count("ranks_per_node", keys.integer(_RANKS), keys.line(_RANKS))
    set_rollouts(keys, builder)
    _set_memory(keys, builder)
    for precision in ("fp16", "bf16"):
        if keys.is_on(precision):
            builder.set("workload.precision", precision, keys.line(precision))
    set_choice(keys, "workload.optimizer", ("optimizer",), {"adam": "adamw"}, builder)
    list_unused(keys, builder)
    return builder.reading()


def _set_memory(keys: Keys, builder: ImportBuilder) -> None:
    """Set the micro batch, recomputation and offload to host memory."""
    if keys.is_on("use_dynamic_batch_size"):
        why = "micro batches hold as many sequences as fit into max_tokens_per_gpu: state layout.micro_batch"
        builder.unknown("use_dynamic_batch_size", why, keys.line("use_dynamic_batch_size"))
    else:
        set_counts(keys, {"layout.micro_batch": ("micro_batch_size",)}, builder)
    recomputed = keys.is_on(name := "gradient_checkpointing")
    if recomputed or not (keys.has_elided_options or keys.is_undecided(name)):
        builder.set("layout.recompute", "full" if recomputed else "none", keys.line(name) or keys.command.line)
    if keys.is_on("fsdp_cpu_offload"):
        line = keys.line("fsdp_cpu_offload")
        builder.set("layout.offload.optimizer", 1, line)
        builder.unknown("fsdp_cpu_offload", "the spec has no key for parameters offloaded to the host", line)
