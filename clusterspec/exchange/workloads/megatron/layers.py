"""Layers of a Megatron-LM launch that differ from the others, of predicted tokens too, and sizes left to defaults."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import Keys, positive_integer_of
from clusterspec.exchange.workloads.megatron.forks import list_option_of_fork, option_of_fork


def set_window(keys: Keys, tokens: int, builder: ImportBuilder) -> None:
    """Set the window of all layers, or of those that ``window-attn-skip-freq`` does not skip."""
    line, base = keys.line("window_size"), "workload.model.attention_window"
    every, layers = keys.get("window_attn_skip_freq"), keys.integer("num_layers")
    if every is None:
        builder.set(base, tokens, line)
    elif layers and (
        count := layers - layers // step if (step := positive_integer_of(every)) else marked_layer_count(str(every))
    ):
        builder.set(f"{base}.tokens", tokens, line)
        builder.set(f"{base}.layers", count, keys.line("window_attn_skip_freq"))
    else:
        builder.unknown(f"window_attn_skip_freq: {excerpt(every)}", "its pattern of layers is not counted", line)


def marked_layer_count(text: str) -> int:
    """The number of ones in a pattern of zeros and ones such as ``([0]*3+[1]*58)``."""
    parts = re.findall(r"\[([01](?:\s*,\s*[01])*)\]\s*(?:\*\s*([0-9]{1,6}))?", text)
    return sum(part.count("1") * int(times or 1) for part, times in parts)


def set_predicted_layers(keys: Keys, builder: ImportBuilder) -> None:
    """Set the layers of multi-token prediction; their blocks have experts if the blocks of the model have some."""
    if predicted := keys.integer("mtp_num_layers"):
        at = keys.line("mtp_num_layers")
        builder.set("workload.model.multi_token_prediction.layers", predicted, at)
        ffn = "experts" if keys.integer("num_experts", "num_moe_experts") else "dense"
        builder.set("workload.model.multi_token_prediction.ffn", ffn, at)
        builder.set("workload.predicted_layers", predicted, at)


def set_wide_layers(keys: Keys, builder: ImportBuilder) -> None:
    """Set the layers at either end that multiply in 16 bits: one each without numbers (Megatron-LM d98e8a64,
    megatron/training/arguments.py)."""
    if not keys.is_on("first_last_layers_bf16"):
        return
    for name, option in (("first", "num_layers_at_start_in_bf16"), ("last", "num_layers_at_end_in_bf16")):
        stated = keys.get(option)
        count = 1 if stated is None else 0 if str(stated) == "0" else keys.integer(option)
        builder.set(f"workload.bf16_layers.{name}", count, keys.line(option) or keys.line("first_last_layers_bf16"))


def set_experts(keys: Keys, builder: ImportBuilder) -> None:
    """Set the number of experts; a single expert is a dense layer.

    Megatron-DeepSpeed takes a number for each layer with experts, or one number for all. Without ``expert-interval``
    every second layer has experts, and without ``topk`` each token visits one expert (f4157bea, megatron/arguments.py,
    line 608).
    """
    names, base = ("num_experts", "num_moe_experts"), "workload.model"
    experts, several = keys.integer(*names), keys.listed.get("num_experts", ())
    line = keys.line(*names)
    if len(set(several)) > 1:
        builder.unknown(f"num_experts: {excerpt(' '.join(several))}", "layers have different numbers of experts", line)
        return
    builder.set(f"{base}.experts", experts if experts != 1 else None, line)
    layers = keys.integer("num_layers")
    if not (experts and experts > 1 and layers and keys.find("moe_expert_parallel_size")):
        return
    interval = keys.integer("expert_interval") or 2
    builder.set(f"{base}.moe_layers", layers // interval or None, keys.line("expert_interval") or line)
    builder.set(f"{base}.experts_per_token", keys.integer("topk") or 1, keys.line("topk") or line)
    if str(keys.get("mlp_type")) == "residual":
        why = "a dense layer in addition to the experts: state workload.model.shared_experts"
        builder.unknown("mlp_type: residual", why, keys.line("mlp_type"))


def set_expert_layers(keys: Keys, builder: ImportBuilder) -> None:
    """Set the number of expert layers: every n-th, or a list of zeros and ones such as ``([0]*3+[1]*58)``."""
    value, layers = keys.get("moe_layer_freq"), keys.integer("num_layers")
    if value is None or not layers:
        return
    line, text = keys.line("moe_layer_freq"), str(value)
    if text.isdecimal() and 0 < len(text) < 6:
        builder.set("workload.model.moe_layers", -(-layers // max(1, int(text))), line)
        return
    if count := marked_layer_count(text):
        builder.set("workload.model.moe_layers", count, line)
    else:
        builder.unknown(f"moe_layer_freq: {excerpt(text)}", "neither a number nor a pattern of zeros and ones", line)


def list_latent_rank(keys: Keys, builder: ImportBuilder) -> None:
    """List that latent attention has a rank which the launch leaves to the release."""
    if keys.is_on("multi_latent_attention") and not keys.find("kv_lora_rank"):
        why = "not stated: the default of the release; it sizes the attention and its cache"
        builder.unknown("kv_lora_rank", why, keys.line("multi_latent_attention"))


OWN_GATES = ("swiglu", "gated_linear_unit", "quick_geglu")


def set_default_width(keys: Keys, builder: ImportBuilder, gated: bool) -> None:
    """Set the width of the network to Megatron's default, unless options of a fork compute it."""
    if multiplied := keys.find("hidden_dim_multiplier", "multiple_of"):
        why = f"computed from {multiplied}, which depends on the fork of Megatron"
        builder.unknown("workload.model.ffn_hidden", why, keys.line(multiplied))
    elif other := option_of_fork(keys, "ffn_hidden"):
        list_option_of_fork(keys, "ffn_hidden", other, builder)
    elif fork := option_of_fork(keys, "gated_ffn", OWN_GATES):
        why = f"its default depends on the fork of Megatron that has {fork}"
        builder.unknown("workload.model.ffn_hidden", why, keys.line("hidden_size"))
    elif hidden := keys.integer("hidden_size"):
        width = int(4 * hidden * 2 / 3 / 64) * 64 if gated else 4 * hidden
        builder.set("workload.model.ffn_hidden", width, keys.line("hidden_size"))
        why = "not stated: the default of Megatron was used"
        builder.unknown("workload.model.ffn_hidden", why, keys.line("num_layers"))
