"""Settings common to launches: lengths; and of reinforcement learning minibatches and the memory of engines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from clusterspec.exchange.import_result import ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import Keys


def set_minibatches(whole: int | None, part: int | None, builder: ImportBuilder, line: int) -> bool:
    """Set the optimizer steps per step: ``whole`` samples divided by the ``part`` of one optimizer step. False if these
    are not stated.
    """
    if not whole or not part or whole % part:
        return False
    builder.set("workload.rl.minibatches", whole // part, line)
    return True


def set_memory_fraction(keys: Keys, names: tuple[str, ...], builder: ImportBuilder) -> None:
    """Set the share of the memory that engines of rollout fill, where it is a number below 1; list another value."""
    if (share := keys.get(*names)) is None:
        return
    if re.fullmatch(r"0?\.[0-9]{1,20}", str(share)):
        builder.set("workload.rl.rollout.memory_fraction", round(float(share), 4), keys.line(*names))
    else:
        why = "no share between 0 and 1: a variable, or computed elsewhere"
        builder.unknown(f"{keys.find(*names)}: {excerpt(share)}", why, keys.line(*names))


_RANKS = (("trainer.nnodes",), ("trainer.n_gpus_per_node",))


def set_shard_groups(
    keys: Keys, name: str, builder: ImportBuilder, line: int, factors: Sequence[tuple[str, ...]] = _RANKS
) -> None:
    """Set the sharding of FSDP by the size of its groups: all ranks where it is -1 or absent. ``factors`` are the names
    of the nodes and of the ranks of a node.

    Source: volcengine/verl b178a3cd5, verl/workers/fsdp_workers.py, lines 98 to 105 (``create_device_mesh``).
    """
    text, size = str(keys.get(name) or -1), keys.integer(name)
    counts = [keys.integer(*each) for each in factors]
    ranks = prod(count for count in counts if count) if all(counts) else 0
    if text == "-1" or (size and 0 < ranks <= size):
        builder.set("layout.sharding", "fsdp", line)
    elif size == 1 and ranks:
        builder.set("layout.sharding", "none", keys.line(name))
    elif size and ranks and ranks % size == 0:
        builder.set("layout.sharding", "hsdp", keys.line(name))
        builder.set("layout.shard_group", size, keys.line(name))
    else:
        why = "groups of ranks: the file does not say whether they are all ranks or only some"
        builder.unknown(f"{name.rpartition('.')[2]}: {excerpt(text)}", why, keys.line(name))


def list_cut_length(name: str, length: int, builder: ImportBuilder, line: int) -> None:
    """Count the length at which sequences are cut, and list the length of the data as unknown."""
    builder.count(name, length, line)
    builder.unknown("workload.sequence_length", f"sequences are cut at {length} tokens, shorter ones stay", line)


def list_output_lengths(builder: ImportBuilder, line: int) -> None:
    """List output lengths as unknown; a launch states only the maximum."""
    why = "only the longest is stated: the mean and the 99th percentile decide the time"
    builder.unknown("workload.rl.output_tokens", why, line)


def count_lengths_and_ranks(keys: Keys, builder: ImportBuilder) -> None:
    """Count the longest prompts and answers and the ranks of a node, by the keys of verl and its forks."""
    for name in ("data.max_prompt_length", "data.max_response_length"):
        if length := keys.integer(name):
            builder.count(name.partition(".")[2], length, keys.line(name))
    if keys.find("data.max_response_length"):
        list_output_lengths(builder, keys.line("data.max_response_length"))
    if devices := keys.integer("trainer.n_gpus_per_node"):
        builder.count("ranks_per_node", devices, keys.line("trainer.n_gpus_per_node"))
