"""Mixture of experts in a Hugging Face configuration: number, width and layers of experts."""

from __future__ import annotations

from typing import Any

from clusterspec.exchange.import_result import ImportBuilder
from clusterspec.exchange.workloads.keys import Keys, set_counts, whole_of

_NAMES = ("ffn_config.moe_num_experts", "n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts")
_ACTIVE = (
    "ffn_config.moe_top_k",
    "num_experts_per_tok",
    "num_experts_per_token",
    "moe_topk",
    "moe_k",
    "experts_per_token",
    "num_experts_per_topk",
    "top_k_experts",
)
_WIDTH = ("moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size", "expert_hidden_size")


def set_experts(keys: Keys, kind: str, builder: ImportBuilder) -> None:
    """Set the expert keys of a model; none for a dense model."""
    experts = _first(keys.get(*_NAMES))
    if experts is None or experts < 2:
        return
    line = keys.line(*_NAMES)
    builder.set("workload.model.experts", experts, line)
    builder.set("workload.model.experts_per_token", _first(keys.get(*_ACTIVE)), keys.line(*_ACTIVE))
    width = _first(keys.get(*_WIDTH))
    if width is None:
        width = keys.whole("ffn_config.ffn_hidden_size", "intermediate_size")
    builder.set(
        "workload.model.expert_ffn_hidden", width, keys.line(*_WIDTH, "ffn_config.ffn_hidden_size", "intermediate_size")
    )
    if kind == "llama4_text" and keys.find("intermediate_size_mlp"):
        for at, given in enumerate(builder.given):
            if given.path == ("workload", "model", "ffn_hidden"):
                del builder.given[at]
                break
        set_counts(keys, {"workload.model.ffn_hidden": ("intermediate_size_mlp",)}, builder)
    set_counts(keys, {"workload.model.expert_latent": ("moe_latent_size", "routed_expert_hidden_size")}, builder)
    _shared(keys, kind, width, builder)
    _layers(keys, kind, builder)
    if predicted := keys.whole("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers"):
        at = keys.line("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers")
        builder.set("workload.model.multi_token_prediction.layers", predicted, at)
        builder.set("workload.model.multi_token_prediction.ffn", "experts", at)


def _first(value: Any) -> int | None:
    """A count, or the first of a per-layer list."""
    return whole_of(value[0]) if isinstance(value, list) and value else whole_of(value)


def _shared(keys: Keys, kind: str, width: int | None, builder: ImportBuilder) -> None:
    names = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert")
    count = _first(keys.get(*names))
    wide = keys.whole(
        "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size"
    )
    line = keys.line(*names, "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size")
    if count is None and kind == "llama4_text":
        count, line = 1, keys.line("num_local_experts")  # the model class has one shared expert without a key
    if count is None and wide:
        count = 1
    if count is None and kind == "gemma4_text":  # a dense FFN in addition to the experts of every layer
        count, wide, line = 1, keys.whole("intermediate_size"), keys.line("intermediate_size")
    builder.set("workload.model.shared_experts", count, line)
    if wide and wide != width:
        builder.set("workload.model.shared_expert_ffn_hidden", wide, line)


def _layers(keys: Keys, kind: str, builder: ImportBuilder) -> None:
    listed = keys.get("layers_block_type", "hybrid_override_pattern")
    layers = keys.whole("num_hidden_layers", "n_layer", "num_layers") or (len(listed) if listed else None)
    if layers is None:
        return
    found = _expert_layers(keys, kind, layers)
    names = (
        "first_k_dense_replace",
        "moe_layer_freq",
        "decoder_sparse_step",
        "mlp_only_layers",
        "moe_layers",
        "interleave_moe_layer_step",
        "hybrid_override_pattern",
        "num_hidden_layers",
    )
    if found != layers:
        builder.set("workload.model.moe_layers", found, keys.line(*names))


def _expert_layers(keys: Keys, kind: str, layers: int) -> int:
    """The number of layers with experts."""
    listed = keys.get("moe_layers")
    if isinstance(listed, list):
        return len(listed)
    pattern = keys.get("hybrid_override_pattern", "layers_block_type")
    if isinstance(pattern, str | list):
        return pattern.count("E") + pattern.count("moe")
    frequency = keys.get("moe_layer_freq")
    if isinstance(frequency, list):
        return sum(1 for each in frequency if each)
    first = keys.get("first_k_dense_replace", "moe_layer_start_index", "num_dense_layers")
    first = first if isinstance(first, int) and not isinstance(first, bool) and 0 <= first <= layers else 0
    step = whole_of(frequency) or 1
    if keys.find("decoder_sparse_step", "mlp_only_layers"):
        step = keys.whole("decoder_sparse_step") or 1
        dense = keys.get("mlp_only_layers")
        without = set(dense) if isinstance(dense, list) and all(isinstance(each, int) for each in dense) else set()
        return sum(1 for n in range(min(layers, 10_000)) if n not in without and (n + 1) % step == 0)
    if kind == "llama4_text":
        step = keys.whole("interleave_moe_layer_step") or 1
        return layers // step
    return sum(1 for n in range(min(layers, 10_000)) if n >= first and n % step == 0)
