"""Recomputation of activations by options of Megatron: of modules, of all layers, of some, or none."""

from __future__ import annotations

from clusterspec.exchange.import_result import ImportBuilder
from clusterspec.exchange.workloads.keys import Keys, set_choice

_MODULES = {
    "layernorm": "norm",
    "moe_act": "activation",
    "core_attn": "attention",
    "mla_up_proj": "latent",
    "mlp": "mlp",
    "shared_experts": "shared_experts",
    "moe": "expert",
}


def set_recomputation(keys: Keys, builder: ImportBuilder) -> None:
    """Set the recomputation of modules, of all layers or of none; of some layers by their number."""
    words = (part for word in keys.words("recompute_modules") for part in word.split(","))
    modules = [name for word in words if (name := word.strip("[],'\""))]
    chosen = str(keys.get("recompute_granularity")) == "selective"
    if chosen and str(keys.get("recompute_modules")) == "[]":
        builder.set("layout.recompute", "none", keys.line("recompute_modules"))
    elif modules and chosen and set(modules) <= _MODULES.keys():
        builder.set("layout.recompute", [_MODULES[name] for name in modules], keys.line("recompute_modules"))
    elif str(keys.get(*_METHODS)) == "block" and str(keys.get(*_RECOMPUTED)) == "0":
        builder.set("layout.recompute", "none", keys.line(*_RECOMPUTED))
        keys.get("recompute_granularity", "activations_checkpoint_granularity")
    elif _recomputes_some_layers(keys):
        builder.set("layout.recompute", "full", keys.line(*_METHODS))
        builder.set("layout.recompute_layers", keys.integer(*_RECOMPUTED), keys.line(*_RECOMPUTED))
        keys.get("recompute_granularity", "activations_checkpoint_granularity")
    else:
        set_choice(
            keys,
            "layout.recompute",
            ("recompute_granularity", "activations_checkpoint_granularity"),
            {"full": "full", "selective": "selective", "none": "none", "null": "none"},
            builder,
        )
        _set_older_recompute(keys, builder)


def take_no_recomputation(keys: Keys) -> None:
    """Name a granularity of null ``none``: only ``full`` and ``selective`` recompute anything (Megatron-LM d98e8a64,
    megatron/core/transformer/transformer_block.py, lines 300 and 662). In earlier releases a method alone recomputes.
    """
    method = keys.find(*_METHODS)
    name = keys.find("recompute_granularity", "activations_checkpoint_granularity")
    if name and keys.values[name][0] is None and (method is None or keys.values[method][0] is None):
        keys.put(name, "none", keys.values[name][1])


def _set_older_recompute(keys: Keys, builder: ImportBuilder) -> None:
    """Set recomputation from the flags of older releases, where no granularity is stated.

    Source: bigscience-workshop/Megatron-DeepSpeed, megatron/arguments.py, line 512 (``--checkpoint-activations``: all
    of a layer); Megatron-LM, megatron/training/arguments.py (``--recompute-activations``: selective).
    """
    if keys.find("recompute_granularity", "activations_checkpoint_granularity"):
        return
    if keys.is_on("checkpoint_activations") or str(keys.get("activations_checkpoint_method")) == "uniform":
        line = keys.line("checkpoint_activations", "activations_checkpoint_method")
        builder.set("layout.recompute", "full", line)
    elif keys.is_on("recompute_activations"):
        builder.set("layout.recompute", "selective", keys.line("recompute_activations"))


_METHODS = ("recompute_method", "activations_checkpoint_method")
_RECOMPUTED = ("recompute_num_layers", "activations_checkpoint_num_layers")


def _recomputes_some_layers(keys: Keys) -> bool:
    """Whether the block method recomputes fewer layers than a pipeline stage has, as far as the keys show.

    Source: Megatron-LM d98e8a64, megatron/core/transformer/transformer_config.py, lines 543 to 555.
    """
    count, layers, stages = (
        keys.integer(*_RECOMPUTED),
        keys.integer("num_layers"),
        keys.integer("pipeline_model_parallel_size"),
    )
    every = count is not None and layers is not None and count * (stages or 1) >= layers
    return str(keys.get(*_METHODS)) == "block" and not every
