"""FSDP of the Hugging Face Trainer and of ms-swift: the sharding, and the recomputation that its configuration decides.

Source of ms-swift: modelscope/ms-swift 3602360a, swift/arguments/sft_args.py (line 299) and swift/config/fsdp2.json:
``--fsdp fsdp2`` shards all states and has ``activation_checkpointing`` on.
"""

from __future__ import annotations

from clusterspec.exchange.import_result import ImportBuilder
from clusterspec.exchange.workloads.keys import Keys, set_switch
from clusterspec.exchange.workloads.trainers.deepspeed import set_fsdp_offload, set_fsdp_words

_RECOMPUTATION = "gradient_checkpointing"
_NEW_NAME = "activation_checkpointing"
"""Its name since Transformers 5.24 (huggingface/transformers, src/transformers/training_args.py)."""


def set_fsdp_of_trainer(keys: Keys, builder: ImportBuilder, *, swift: bool) -> None:
    """Set the sharding that the option ``fsdp`` states; a separate file states its own."""
    value, words, line = str(keys.get("fsdp")), keys.words("fsdp"), keys.line("fsdp")
    builder.set("layout.framework", "fsdp", line)
    if _is_file(value):
        builder.unknown(f"fsdp: {value[-60:]}", "a separate file, which states the strategy", line)
        return
    set_fsdp_words(("full_shard",) if swift and words == ("fsdp2",) else words, builder, line)
    if "offload" in words:
        set_fsdp_offload(builder, line)


def set_recomputation(keys: Keys, builder: ImportBuilder, *, swift: bool) -> None:
    """Set the recomputation, which the configuration of FSDP may turn on where ``gradient_checkpointing`` does not."""
    if _NEW_NAME in keys.values and _RECOMPUTATION not in keys.values:
        keys.values[_RECOMPUTATION] = keys.values.pop(_NEW_NAME)
    files = [name for name in ("fsdp", "fsdp_config") if _is_file(keys.get(name))]
    if swift and keys.words("fsdp") == ("fsdp2",):
        keys.used |= {_RECOMPUTATION} & keys.values.keys()
        builder.set("layout.recompute", "full", keys.line("fsdp"))
    elif files and not keys.is_on(_RECOMPUTATION):
        why = "the separate file of FSDP may recompute (activation_checkpointing): import it as well"
        builder.unknown("layout.recompute", why, keys.line(files[0]))
    else:
        set_switch(keys, "layout.recompute", (_RECOMPUTATION,), builder, ("none", "full"))


def _is_file(value: object) -> bool:
    return isinstance(value, str) and value.endswith((".json", ".yaml", ".yml"))
