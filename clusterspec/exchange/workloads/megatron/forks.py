"""Options that forks of Megatron-LM add, and that change what its own options and defaults mean.

Sources: NVIDIA/Megatron-LM d98e8a64, megatron/training/arguments.py, for the options of Megatron-LM itself;
CodexDive/Holmes 03d9522b, megatron/training/arguments.py, lines 233 to 304 (``--hetero-…``), and
examples/pretrain_gpt_2_nodes.sh (``--overlapped-distributed-optimizer``); read 2026-11-25.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import Keys

_OPTIMIZER = re.compile(r"distributed_optim|(?:^|_)zero_?(?:[123]\b|optim)")
_OF_MEGATRON = frozenset({"use_distributed_optimizer", "num_distributed_optimizer_instances"})
_UNLIKE_DEVICES = re.compile(r"hetero(?:geneous)?_(?:mode|pipeline|micro_batch|device|data_parallel|process)\w{0,40}")


def optimizer_of_fork(keys: Keys) -> str | None:
    """The option of a fork by whose name ranks share the states of the optimizer; None if the launch has none. A part
    of the configuration before a name (``ddp.``) is of Megatron Bridge.
    """
    given = (name for name in keys.values if keys.command.words and _OPTIMIZER.search(name))
    return next((name for name in given if name.rpartition(".")[2] not in _OF_MEGATRON), None)


_OF_FORKS = {
    "gated_ffn": re.compile(
        r"(?:^|_)\w{0,20}glu(?:_|$)|(?:^|_)(?:gated|llama)_(?:mlp|ffn)|(?:^|_)(?:hidden|mlp|ffn)_act"
    ),
    "tied_embeddings": re.compile(r"(?:^|_)(?:un)?tied?(?:_|$)|(?:^|_)shared?_\w{0,20}embed"),
    "kv_heads": re.compile(r"kv_heads?(?:_|$)|heads?_kv(?:_|$)|key_value_heads?|multi_?query|(?:^|_)[gm]qa(?:_|$)"),
    "ffn_hidden": re.compile(r"(?:^|_)(?:ffn|mlp)_(?:hidden_)?(?:mult|ratio|dim|width|size)|intermediate_(?:size|dim)"),
}
"""Words in names of options by which forks state a key of the model in their own way (``--t5-swiglu`` of OpenGPTX)."""
_NO_SIZES = re.compile(r"\w{0,20}swiglu_fusion|glu_linear_offset|share_word_embeddings_\w{1,40}|moe_\w{1,60}")
"""Options of Megatron-LM with such words that state none of these keys."""


def option_of_fork(keys: Keys, key: str, known: tuple[str, ...] = ()) -> str | None:
    """The option of a launch by whose name a fork states a key of the model; None if it has none but ``known`` ones."""
    given = (name for name in keys.values if name not in known) if keys.command.words else ()
    return next((name for name in given if _OF_FORKS[key].search(name) and not _NO_SIZES.fullmatch(name)), None)


def list_option_of_fork(keys: Keys, key: str, name: str, builder: ImportBuilder) -> None:
    """List a key of the model that an option of a fork may state."""
    why = f"the option {name}, which exists only in a fork of Megatron-LM, may state it"
    builder.unknown(f"workload.model.{key}", why, keys.line(name))


def list_unlike_devices(keys: Keys, builder: ImportBuilder) -> None:
    """List the options that give devices of several kinds unequal shares, which a layout cannot state."""
    for name in [name for name in keys.values if _UNLIKE_DEVICES.fullmatch(name)]:
        shown = " ".join(keys.words(name))
        why = "devices of several kinds have unequal shares of the work, which no key of layout states"
        builder.unknown(f"{name}: {excerpt(shown)}", why, keys.line(name))


def take_earlier_names(keys: Keys) -> None:
    """Rename options of the first releases to their successors: Megatron-LM, megatron/arguments.py of release 2.0,
    lists each pair.
    """
    names = {
        "model_parallel_size": "tensor_model_parallel_size",
        "tensor_parallel_size": "tensor_model_parallel_size",  # scripts of NeMo 2
        "pipeline_parallel_size": "pipeline_model_parallel_size",
        "batch_size": "micro_batch_size",
    }
    for earlier, name in names.items() if keys.command.words else ():
        if earlier in keys.values and name not in keys.values:
            keys.put(name, *keys.values.pop(earlier))
