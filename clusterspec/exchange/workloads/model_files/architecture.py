"""The architecture in a Hugging Face configuration: attention heads, kinds of attention, and experts."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from clusterspec.exchange.import_result import FormatError, ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import Keys, positive_integer_of, set_counts

# Attention in a Hugging Face configuration: heads; latent, windowed, linear and sparse attention

_LINEAR = {
    "key_heads": ("linear_num_key_heads",),
    "value_heads": ("linear_num_value_heads",),
    "key_head_dim": ("linear_key_head_dim",),
    "value_head_dim": ("linear_value_head_dim",),
    "convolution": ("linear_conv_kernel_dim",),
}
_MAMBA = {
    "key_heads": ("n_groups", "mamba_n_groups"),
    "value_heads": ("mamba_num_heads", "mamba_n_heads"),
    "key_head_dim": ("ssm_state_size", "mamba_d_state"),
    "value_head_dim": ("mamba_head_dim", "mamba_d_head"),
    "convolution": ("conv_kernel", "mamba_d_conv"),
}
_SAME = {"attention": "full_attention", "mamba2": "mamba"}
"""Names of one kind of layer."""
_KINDS = frozenset({"full_attention", "linear_attention", "sliding_attention", "mamba", "mlp", "moe"})
_PATTERNS = {"gemma2": 2, "gemma3": 6, "gemma3_text": 6, "cohere2": 4}
"""Period in layers of full attention, where the file does not state it."""


def set_attention(keys: Keys, kind: str, builder: ImportBuilder) -> None:
    """Set the attention keys of a model."""
    if keys.find("global_head_dim"):
        _set_global_attention(keys, builder)
    elif not keys.find("compress_ratios"):
        _set_heads(keys, kind, builder)
    if keys.find("compress_ratios"):
        _set_compressed_attention(keys, builder)
        return
    if keys.find("kv_lora_rank"):
        _set_latent_attention(keys, builder)
    kinds = _kinds_of_layers(keys, kind)
    if other := sorted(set(kinds) - _KINDS):
        line = keys.line("layer_types", "layers_block_type", "attention_layers_types", "hybrid_override_pattern")
        builder.unknown(f"layers of kind {excerpt(', '.join(other))}", "read as layers with full attention", line)
    _set_windows(keys, kind, kinds, builder)
    _set_linear_attention(keys, kinds, builder)
    if keys.find("linear_attn_config.kda_layers"):
        _set_kimi_attention(keys, builder)
    if keys.find("index_topk"):
        set_counts(
            keys,
            {
                "workload.model.sparse_attention.tokens": ("index_topk",),
                "workload.model.sparse_attention.index_heads": ("index_n_heads",),
                "workload.model.sparse_attention.index_dim": ("index_head_dim",),
            },
            builder,
        )
    if keys.is_on("attn_output_gate", "mla_use_output_gate") or kind in {
        "qwen3_next",
        "qwen3_5",
        "qwen3_5_moe",
        "qwen3_5_text",
        "qwen3_5_moe_text",
    }:
        builder.set(
            "workload.model.attention_gate",
            "element-wise",
            keys.line("attn_output_gate", "mla_use_output_gate", "num_attention_heads"),
        )


def _set_heads(keys: Keys, kind: str, builder: ImportBuilder) -> None:
    names = (
        "attn_config.kv_n_heads",
        "num_key_value_heads",
        "num_kv_heads",
        "n_head_kv",
        "multi_query_group_num",
        "n_kv_heads",
    )
    count = keys.integer(*names)
    line = keys.line(*names)
    falcon = kind in {"falcon", "refinedweb", "refinedwebmodel"} and not keys.is_on("new_decoder_architecture")
    if keys.is_on("multi_query") and (count is None or falcon):
        count, line = 1, keys.line("multi_query")
    builder.set("workload.model.kv_heads", count, line)
    if keys.find("kv_lora_rank") is None:
        builder.set(
            "workload.model.head_dim",
            keys.integer("head_dim", "attention_head_dim", "kv_channels"),
            keys.line("head_dim", "attention_head_dim", "kv_channels"),
        )


def _set_latent_attention(keys: Keys, builder: ImportBuilder) -> None:
    """Multi-head latent attention (DeepSeek-V2): a head has a part without position embedding."""
    set_counts(
        keys,
        {
            "workload.model.latent_attention.q": ("q_lora_rank",),
            "workload.model.latent_attention.kv": ("kv_lora_rank",),
            "workload.model.latent_attention.rope": ("qk_rope_head_dim",),
            "workload.model.head_dim": ("qk_nope_head_dim",),
        },
        builder,
    )
    value, plain = keys.integer("v_head_dim"), keys.integer("qk_nope_head_dim")
    if value and value != plain:
        builder.set("workload.model.value_head_dim", value, keys.line("v_head_dim"))


def _kinds_of_layers(keys: Keys, kind: str) -> Counter[str]:
    """The number of layers of each attention type, from a list, a pattern or an interval."""
    listed: Any = keys.get("layer_types", "layers_block_type", "attention_layers_types")
    layers = keys.integer("num_hidden_layers", "n_layer", "num_layers") or 0
    if isinstance(listed, list) and listed:
        return Counter(_SAME.get(str(each), str(each)) for each in listed)
    pattern = keys.get("hybrid_override_pattern")
    if isinstance(pattern, str) and len(pattern) <= 10_000:
        names = {"M": "mamba", "*": "full_attention", "-": "mlp", "E": "moe"}
        return Counter(names.get(letter, "other") for letter in pattern)
    if interval := keys.integer("full_attention_interval"):
        full = layers // interval
        return Counter(full_attention=full, linear_attention=layers - full)
    step = keys.integer("sliding_window_pattern", "_sliding_window_pattern") or _PATTERNS.get(kind)
    if step and step > 1 and keys.integer("sliding_window"):
        return Counter(full_attention=layers // step, sliding_attention=layers - layers // step)
    return Counter()


def _set_windows(keys: Keys, kind: str, kinds: Counter[str], builder: ImportBuilder) -> None:
    window, line = keys.integer("sliding_window"), keys.line("sliding_window")
    if keys.get("use_sliding_window") is False or not window:
        return
    some = kinds["sliding_attention"]
    if some and kinds.total() > some:
        builder.set("workload.model.attention_window.tokens", window, line)
        builder.set(
            "workload.model.attention_window.layers", some, keys.line("layer_types", "sliding_window_pattern") or line
        )
    elif some or kind in {"mistral", "mixtral", "starcoder2", "phi3"}:
        builder.set("workload.model.attention_window", window, line)
    elif kinds:
        return
    else:
        builder.unknown(f"sliding_window: {window}", "the file does not state which layers use it", line)


def _set_linear_attention(keys: Keys, kinds: Counter[str], builder: ImportBuilder) -> None:
    count = kinds["linear_attention"] + kinds["mamba"]
    if not count:
        return
    line = keys.line("layer_types", "full_attention_interval", "hybrid_override_pattern", "layers_block_type")
    mamba = kinds["mamba"] > 0
    base = "workload.model.linear_attention"
    builder.set(f"{base}.kind", "mamba-2" if mamba else "gated-delta", line)
    builder.set(f"{base}.layers", count, line)
    set_counts(keys, {f"{base}.{name}": names for name, names in (_MAMBA if mamba else _LINEAR).items()}, builder)
    if kinds["mlp"] or kinds["moe"]:
        builder.set("workload.model.attention_layers", kinds["full_attention"], line)
        builder.set("workload.model.ffn_layers", kinds["mlp"] + kinds["moe"], line)


def _set_global_attention(keys: Keys, builder: ImportBuilder) -> None:
    """Gemma 4: layers with full attention have other head counts than windowed layers."""
    set_counts(
        keys,
        {
            "workload.model.kv_heads": ("num_global_key_value_heads", "num_key_value_heads"),
            "workload.model.head_dim": ("global_head_dim",),
            "workload.model.attention_window.kv_heads": ("num_key_value_heads",),
            "workload.model.attention_window.head_dim": ("head_dim",),
        },
        builder,
    )
    if keys.is_on("attention_k_eq_v"):
        builder.set("workload.model.shared_kv", True, keys.line("attention_k_eq_v"))


def _set_compressed_attention(keys: Keys, builder: ImportBuilder) -> None:
    """DeepSeek-V4: layers attend to compressed entries, with a low or a high compression ratio."""
    base = "workload.model.compressed_attention"
    set_counts(
        keys,
        {
            "workload.model.kv_heads": ("num_key_value_heads",),
            "workload.model.head_dim": ("head_dim",),
            f"{base}.q": ("q_lora_rank",),
            f"{base}.rope": ("qk_rope_head_dim",),
            f"{base}.output_groups": ("o_groups",),
            f"{base}.output_rank": ("o_lora_rank",),
            f"{base}.window": ("sliding_window",),
            "workload.model.sparse_attention.tokens": ("index_topk",),
            "workload.model.sparse_attention.index_heads": ("index_n_heads",),
            "workload.model.sparse_attention.index_dim": ("index_head_dim",),
        },
        builder,
    )
    listed, layers = keys.get("compress_ratios"), keys.integer("num_hidden_layers") or 0
    stated = [each for each in listed[:layers] if isinstance(each, int)] if isinstance(listed, list) else []
    ratios = Counter(each for each in stated if each > 1)
    line = keys.line("compress_ratios")
    for name, ratio in zip(("light", "heavy"), sorted(ratios), strict=False):
        builder.set(f"{base}.{name}_ratio", ratio, line)
        builder.set(f"{base}.{name}_layers", ratios[ratio], line)
    if ratios:
        builder.set("workload.model.sparse_attention.layers", ratios[min(ratios)], line)
    plain = len(stated) - ratios.total()
    if plain and (window := keys.integer("sliding_window")):
        builder.set("workload.model.attention_window.tokens", window, keys.line("sliding_window"))
        builder.set("workload.model.attention_window.layers", plain, line)


def _set_kimi_attention(keys: Keys, builder: ImportBuilder) -> None:
    """Kimi delta attention: keys and values have the same heads, and the gate has the rank of one head."""
    base, part = "workload.model.linear_attention", "linear_attn_config"
    listed, line = keys.get(f"{part}.kda_layers"), keys.line(f"{part}.kda_layers")
    builder.set(f"{base}.kind", "kimi-delta", line)
    builder.set(f"{base}.layers", len(listed) if isinstance(listed, list) else None, line)
    set_counts(
        keys,
        {
            f"{base}.key_heads": (f"{part}.num_heads",),
            f"{base}.value_heads": (f"{part}.num_heads",),
            f"{base}.key_head_dim": (f"{part}.head_dim",),
            f"{base}.value_head_dim": (f"{part}.head_dim",),
            f"{base}.gate_rank": (f"{part}.head_dim",),
            f"{base}.convolution": (f"{part}.short_conv_kernel_size",),
        },
        builder,
    )


# Mixture of experts in a Hugging Face configuration: number, width and layers of experts

_NAMES = ("ffn_config.moe_num_experts", "n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts")
_ACTIVE = (
    "ffn_config.moe_top_k",
    "num_experts_per_tok",
    "num_experts_per_token",
    "moe_topk",
    "topk",
    "moe_k",
    "experts_per_token",
    "num_experts_per_topk",
    "top_k_experts",
)
_PREDICTED = ("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers")
_OWN_WIDTH = frozenset(
    {"qwen2_moe", "qwen3_moe", "qwen3_next", "deepseek_v2", "deepseek_v3", "glm4_moe", "ernie4_5_moe"}
)
"""Types whose experts have another width (``moe_intermediate_size``) than dense layers: classes of configurations of
huggingface/transformers.
"""
_WIDTH = ("moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size", "expert_hidden_size")


def set_experts(keys: Keys, kind: str, builder: ImportBuilder) -> None:
    """Set the keys of experts, none for a dense model, and of layers of multi-token prediction, alike inside."""
    experts = _first_count(keys.get(*_NAMES))
    if predicted := keys.integer(*_PREDICTED):
        at, ffn = keys.line(*_PREDICTED), "experts" if experts is not None and experts > 1 else "dense"
        builder.set("workload.model.multi_token_prediction.layers", predicted, at)
        builder.set("workload.model.multi_token_prediction.ffn", ffn, at)
    if experts is None or experts < 2:
        return
    line = keys.line(*_NAMES)
    builder.set("workload.model.experts", experts, line)
    active = _first_count(keys.get(*_ACTIVE))
    builder.set("workload.model.experts_per_token", active, keys.line(*_ACTIVE))
    if active is None:
        builder.unknown("workload.model.experts_per_token", "no key of this configuration is known to state it", line)
    width = _first_count(keys.get(*_WIDTH))
    if width is None and kind in _OWN_WIDTH:
        why = f"absent: {kind} has its own default, and intermediate_size is the width of dense layers"
        builder.unknown("workload.model.expert_ffn_hidden", why, line)
    elif width is None:
        width = keys.integer("ffn_config.ffn_hidden_size", "intermediate_size")
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
    _set_shared_experts(keys, kind, width, builder)
    _layers(keys, kind, builder)


def _first_count(value: Any) -> int | None:
    """A count, or the first of a per-layer list."""
    return positive_integer_of(value[0]) if isinstance(value, list) and value else positive_integer_of(value)


def _set_shared_experts(keys: Keys, kind: str, width: int | None, builder: ImportBuilder) -> None:
    names = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts", "num_shared_expert")
    count = _first_count(keys.get(*names))
    wide = keys.integer(
        "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size"
    )
    line = keys.line(*names, "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size")
    if count is None and kind == "llama4_text":
        count, line = 1, keys.line("num_local_experts")  # the model class has one shared expert without a key
    if count is None and wide:
        count = 1
    if count is None and kind == "gemma4_text":  # a dense FFN in addition to the experts of every layer
        count, wide, line = 1, keys.integer("intermediate_size"), keys.line("intermediate_size")
    builder.set("workload.model.shared_experts", count, line)
    if wide and wide != width:
        builder.set("workload.model.shared_expert_ffn_hidden", wide, line)


def _layers(keys: Keys, kind: str, builder: ImportBuilder) -> None:
    listed = keys.get("layers_block_type", "hybrid_override_pattern")
    layers = keys.integer("num_hidden_layers", "n_layer", "num_layers") or (len(listed) if listed else None)
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
        "moe_layer_interval",
        "expert_layer_period",
        "hybrid_override_pattern",
        "num_hidden_layers",
    )
    if found != layers:
        builder.set("workload.model.moe_layers", found, keys.line(*names))


_PATTERN = re.compile(r"(?:\w+\.)?(?:moe|expert|sparse)_\w*?(?:interval|freq|frequency|every|stride|period)(?:_\w+)?")


def _refuse_unknown_pattern(keys: Keys) -> None:
    """Raise `FormatError` for a key that places experts in some layers by a rule that is not known."""
    for name, (value, line) in keys.values.items():
        if _PATTERN.fullmatch(name) and name not in keys.used and (positive_integer_of(value) or 1) > 1:
            raise FormatError(f"{name}: {value}: which layers have experts is not known", line)


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
    step = positive_integer_of(frequency) or 1
    if keys.find("decoder_sparse_step", "mlp_only_layers"):
        step = keys.integer("decoder_sparse_step") or 1
        dense = keys.get("mlp_only_layers")
        without = set(dense) if isinstance(dense, list) and all(isinstance(each, int) for each in dense) else set()
        return sum(1 for n in range(min(layers, 10_000)) if n not in without and (n + 1) % step == 0)
    every = keys.integer("interleave_moe_layer_step") if kind == "llama4_text" else None
    every = every or keys.integer("moe_layer_interval", "expert_layer_period")
    _refuse_unknown_pattern(keys)
    # of an interval the last layer of each group has experts (of Jamba one at an offset), of a frequency the first
    step, rest = (every, every - 1) if every else (step, 0)
    return sum(1 for n in range(min(layers, 10_000)) if n >= first and n % step == rest)
