"""Hugging Face ``config.json`` of language models, and the index of their weights.

Names: huggingface/transformers, models/*/configuration_*.py; defaults of those classes for absent keys are in `TIED`,
`UNGATED` and the functions. Architectures whose tensors a spec cannot describe are rejected by name.
"""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    excerpt,
)
from clusterspec.exchange.workloads.keys import Keys, boolean_value, set_counts
from clusterspec.exchange.workloads.model_files.architecture import set_attention, set_experts
from clusterspec.exchange.workloads.model_files.models import check_parameters, set_parameters
from clusterspec.exchange.workloads.model_files.quantized_weights import quantized_weights
from clusterspec.exchange.workloads.unused_keys import list_unused

HUGGINGFACE = "huggingface"
MOST_KEYS = 5_000
_COUNTS = {
    "workload.model.layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "workload.model.hidden": ("hidden_size", "n_embd", "d_model", "dim", "model_dim"),
    "workload.model.heads": ("num_attention_heads", "n_head", "n_heads"),
    "workload.model.vocab": ("vocab_size", "padded_vocab_size"),
    "workload.model.max_sequence_length": (
        "max_position_embeddings",
        "n_positions",
        "max_seq_len",
        "seq_length",
        "max_sequence_length",
        "n_ctx",
        "model_max_length",
    ),
}
_FFN = ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "d_ff", "mlp_hidden_size", "hidden_dim")
UNGATED = {
    "gpt2",
    "gpt_neox",
    "gpt_neo",
    "gptj",
    "opt",
    "bloom",
    "mpt",
    "falcon",
    "refinedweb",
    "refinedwebmodel",
    "gpt_bigcode",
    "phi",
    "starcoder2",
    "nemotron",
    "nemotron_h",
    "persimmon",
    "codegen",
    "xglm",
    "gpt_neox_japanese",
    "apertus",
}
"""Model types whose feed-forward network has two matrices."""
GATED_ACTIONS = {"silu", "swish", "swiglu", "geglu", "gelu_pytorch_tanh", "silu_and_mul"}
GATED = {
    *(
        "llama",
        "llama4_text",
        "mistral",
        "ministral",
        "mixtral",
        "granite",
        "granitemoe",
        "smollm3",
        "stablelm",
        "helium",
    ),
    *(
        "qwen2",
        "qwen2_moe",
        "qwen3",
        "qwen3_moe",
        "qwen3_next",
        "phi3",
        "phimoe",
        "glm",
        "glm4",
        "glm4_moe",
        "seed_oss",
    ),
    *("gemma", "gemma2", "gemma3", "gemma3_text", "cohere", "cohere2", "olmo", "olmo2", "olmo3", "olmoe", "exaone4"),
    *("deepseek_v2", "deepseek_v3", "ernie4_5", "ernie4_5_moe", "hunyuan_v1_dense", "hunyuan_v1_moe", "dots1"),
    *("dbrx", "gpt_oss", "chatglm", "grok-1", "kimi_linear", "deepseek_v4"),
}
"""Model types whose feed-forward network has three matrices, whatever its activation: a gate is part of the class (in
Transformers `LlamaMLP` and those that copy it, or three weights of experts).
"""
TIED = {
    "gpt2",
    "opt",
    "bloom",
    "mpt",
    "falcon",
    "gpt_bigcode",
    "gpt_neo",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3_text",
    "gemma4",
    "cohere",
    "cohere2",
    "starcoder2",
    "xglm",
    "refinedweb",
    "refinedwebmodel",
    "smollm3",
    "gemma4_text",
}
"""Model types whose embeddings are tied when the file does not say so."""
REFUSED = {
    "t5": "an encoder and a decoder",
    "mt5": "an encoder and a decoder",
    "umt5": "an encoder and a decoder",
    "bart": "an encoder and a decoder",
    "mbart": "an encoder and a decoder",
    "whisper": "speech",
    "bert": "an encoder",
    "roberta": "an encoder",
    "xlm-roberta": "an encoder",
    "deberta-v2": "an encoder",
    "distilbert": "an encoder",
    "electra": "an encoder",
    "modernbert": "an encoder",
    "vit": "images",
    "clip": "images",
    "siglip": "images",
    "dinov2": "images",
    "mamba": "state-space layers alone",
    "falcon_mamba": "state-space layers alone",
    "rwkv": "recurrent layers alone",
    "rwkv5": "recurrent layers alone",
    "jamba": "Mamba 1 layers, which no key describes",
    "zamba2": "shared blocks",
    "recurrent_gemma": "gated linear recurrences",
    "xlstm": "recurrent layers alone",
    **dict.fromkeys(("minimax", "minimax_text_01", "minimax_m1"), "lightning attention in most layers"),
    **dict.fromkeys(("lfm2", "lfm2_moe"), "short convolutions in most layers"),
    **dict.fromkeys(("gla", "gsa", "abc", "hgrn", "hgrn2", "retnet", "delta_net", "linear_attn"), "linear attention"),
    **dict.fromkeys(("gated_deltanet", "gated_deltaproduct", "lightnet", "rwkv6", "rwkv7"), "linear attention"),
}


def matches_huggingface(file: InputFile) -> bool:
    if file.text.lstrip()[:1] != "{" or re.search(
        r'"(zero_optimization|train_micro_batch_size_per_gpu|per_device_train_batch_size)"\s*:', file.text
    ):
        return False
    return bool(re.search(r'"(architectures|model_type|num_hidden_layers|n_layer|weight_map)"\s*:', file.text))


def read_huggingface(file: InputFile) -> ImportResult:
    """The model of a configuration. Raises `FormatError` for architectures that a spec cannot describe."""
    builder, value = ImportBuilder(HUGGINGFACE, file.name), file.json
    if not isinstance(value, dict):
        raise FormatError("is not a configuration: its root is not a mapping")
    if isinstance(value.get("weight_map"), dict):
        return _index_result(value, file, builder)
    outer, inner, nested = _language_part(value)
    keys = _flat_keys(inner, file)
    kind = str(inner.get("model_type") or value.get("model_type") or _type_of_class(value)).lower()
    _refuse_kind(kind, value)
    set_counts(keys, _COUNTS, builder)
    if keys.find("num_hidden_layers", "num_layers", "n_layer") is None:
        listed = keys.get("layers_block_type", "hybrid_override_pattern", "layer_types")
        builder.set(
            "workload.model.layers",
            len(listed) if isinstance(listed, list | str) and listed else None,
            keys.line("layers_block_type", "hybrid_override_pattern", "layer_types"),
        )
    if {"workload.model.layers", "workload.model.hidden"} - {".".join(map(str, g.path)) for g in builder.given}:
        raise NothingStarted("has neither the layers nor the hidden size of a language model")
    if nested:
        builder.unknown(
            f"{len(outer)} keys outside {nested}",
            "image or audio components: not counted",
            file.line_of_key(nested),
        )
    _set_network(keys, kind, builder)
    set_attention(keys, kind, builder)
    set_experts(keys, kind, builder)
    if builder.reading().value(("workload", "model", "heads")) is None:
        builder.unknown("workload.model.heads", "the file has no attention heads under a known name")
    _set_precision(keys, value, file, builder)
    line = keys.line("num_hidden_layers", "n_layer", "n_layers", "num_layers")
    if kind in {"gpt2", "opt", "gpt_bigcode", "gpt_neo", "xglm"}:
        builder.unknown("position embeddings", "learned per position: not counted in the parameters", line)
    set_parameters(builder, line)
    check_parameters(str(value.get("_name_or_path") or ""), builder, file.line_of_key("_name_or_path"))
    keys.used |= {key for key in keys.values if key.startswith(("rope_scaling", "quantization_config", "layer_types"))}
    list_unused(keys, builder)
    return builder.reading()


def _type_of_class(value: dict[str, Any]) -> str:
    """The type of a configuration without one, from the name of its class (``Qwen3MoeForCausalLM``); empty if none."""
    named = next((each for each in value.get("architectures") or [] if isinstance(each, str)), "")
    match = re.fullmatch(r"(\w{1,60}?)For(?:CausalLM|ConditionalGeneration)", named)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", match[1]) if match else ""


def _refuse_several(value: dict[str, Any]) -> None:
    """Raise `FormatError` for a configuration with several models, none of which is the whole."""
    sizes = {"hidden_size", "num_hidden_layers"}
    parts = [name for name, part in value.items() if isinstance(part, dict) and sizes <= part.keys()]
    if len(parts) > 1 and "hidden_size" not in value and not any(name.endswith("_config") for name in parts):
        raise FormatError(f"describes several models ({excerpt(', '.join(parts))}): a spec describes one decoder")


def _refuse_kind(kind: str, value: dict[str, Any]) -> None:
    _refuse_several(value)
    family = kind.removesuffix("_model").removesuffix("_text").removesuffix("_vision")
    if family in REFUSED:
        raise FormatError(f"is of type {kind} ({REFUSED[family]}): a spec describes only text decoders")
    if "type_vocab_size" in value and not kind and not value.get("architectures") and not value.get("is_decoder"):
        raise FormatError("has segment embeddings (type_vocab_size), as BERT has: a spec describes only text decoders")
    if isinstance(mixed := value.get("attn_type_list"), list) and 0 in mixed:  # MiniMax: 1 is softmax attention
        raise FormatError("has layers of lightning attention (attn_type_list), which no key of a spec describes")
    if value.get("is_encoder_decoder") is True:
        raise FormatError("has an encoder and a decoder: a spec describes only text decoders")
    if isinstance(value.get("block_configs"), list):
        raise FormatError("describes layers that differ from each other (block_configs): no key of a spec does")
    named = [str(each) for each in value.get("architectures") or [] if isinstance(each, str)]
    if named and not any(
        re.search(r"CausalLM|LMHead|ConditionalGeneration|ForImageTextToText|Model$", each) for each in named
    ):
        why = f"is of architecture {excerpt(named[0])}: a spec describes only text decoders"
        raise FormatError(f"{why} that generate token by token" if "llada" in kind or "dream" in kind else why)


def _language_part(value: dict[str, Any]) -> tuple[list[str], dict[str, Any], str]:
    """The part of a multimodal configuration that describes the language model."""
    for name in ("text_config", "language_config", "llm_config", "thinker_config"):
        part = value.get(name)
        if isinstance(part, dict) and any(key in part for key in ("num_hidden_layers", "n_layer", "hidden_size")):
            inner = part.get("text_config") if isinstance(part.get("text_config"), dict) else part
            assert isinstance(inner, dict)
            merged = {"tie_word_embeddings": value.get("tie_word_embeddings"), **inner}
            return [key for key in value if key.endswith("_config") and key != name], merged, name
    return [], value, ""


def _flat_keys(value: dict[str, Any], file: InputFile) -> Keys:
    """The keys of a configuration. Keys of nested mappings have dotted names."""
    keys = Keys()
    if len(value) > MOST_KEYS:
        raise FormatError(f"has {len(value):,} keys, the maximum is {MOST_KEYS:,}")
    for name, item in value.items():
        line = file.line_of_key(str(name))
        if isinstance(item, dict):
            for inner, each in item.items():
                keys.put(f"{name}.{inner}", each, file.line_of_key(str(inner)) or line)
        elif item is not None:
            keys.put(str(name), item, line)
    return keys


def _set_network(keys: Keys, kind: str, builder: ImportBuilder) -> None:
    line = keys.line(*_FFN, "hidden_size", "n_embd", "d_model")
    hidden = keys.integer("hidden_size", "n_embd", "d_model")
    width = keys.integer("ffn_config.ffn_hidden_size", *_FFN)
    if kind == "mpt" and hidden:
        width = hidden * (keys.integer("expansion_ratio") or 4)
    if width is None and hidden and kind in UNGATED:
        width = 4 * hidden  # the default of these classes
    builder.set("workload.model.ffn_hidden", width, line)
    if width is None and keys.find(*_FFN) is None and keys.find("mlp_ratio"):
        why = "classes count it differently for gated networks: state workload.model.ffn_hidden"
        builder.unknown(f"mlp_ratio: {excerpt(keys.get('mlp_ratio'))}", why, keys.line("mlp_ratio"))
    action = str(
        keys.get("hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act", "activation_type") or ""
    ).lower()
    if kind in UNGATED:
        builder.set("workload.model.gated_ffn", False, line)
    elif action in GATED_ACTIONS or kind in GATED:
        builder.set("workload.model.gated_ffn", True, line)
    else:
        builder.unknown(
            "workload.model.gated_ffn", f"the type {kind or 'is not stated'} and {action or 'no activation'}", line
        )
    tied = boolean_value(keys.get("tie_word_embeddings", "weight_tying"))
    at = keys.line("tie_word_embeddings", "weight_tying") or line
    builder.set("workload.model.tied_embeddings", tied if tied is not None else kind in TIED, at)


def _set_precision(keys: Keys, value: dict[str, Any], file: InputFile, builder: ImportBuilder) -> None:
    """Set the precision of the weights: the quantization, else the tensor type."""
    quantization = value.get("quantization_config")
    method = str(quantization.get("quant_method", "")) if isinstance(quantization, dict) else ""
    kept = quantized_weights(quantization) if isinstance(quantization, dict) else None
    line = file.line_of_key("quant_method")
    if method == "mxfp4":
        builder.set("workload.expert_parameter_precision", "mxfp4", line)
    elif kept:
        builder.set("workload.parameter_precision", kept, line)
        return
    elif method:
        builder.unknown(f"quantization {excerpt(method)}", "it does not determine the precision of the weights", line)
        return
    dtype = str(keys.get("torch_dtype", "dtype") or value.get("torch_dtype") or value.get("dtype") or "")
    word = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}.get(dtype)
    builder.set("workload.parameter_precision", word, file.line_of_key("torch_dtype") or file.line_of_key("dtype"))


def _index_result(value: dict[str, Any], file: InputFile, builder: ImportBuilder) -> ImportResult:
    """The safetensors index: number of tensors and their total bytes."""
    line = file.line_of_key("weight_map")
    builder.count("tensors", len(value["weight_map"]), line)
    total = (value.get("metadata") or {}).get("total_size") if isinstance(value.get("metadata"), dict) else None
    if isinstance(total, int) and not isinstance(total, bool):
        builder.count("bytes", total, file.line_of_key("total_size"))
    layers = {
        match[1] for name in value["weight_map"] if (match := re.search(r"\.(?:layers|h|blocks)\.([0-9]{1,4})\.", name))
    }
    builder.count("layers", len(layers) or None, line)
    builder.unknown("workload.model", "an index of weights has no model sizes: import config.json as well", line)
    return builder.reading()
