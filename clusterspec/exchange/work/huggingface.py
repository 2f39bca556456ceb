"""Hugging Face ``config.json`` of language models, and the index of their weights.

Names: huggingface/transformers, models/*/configuration_*.py; what those classes set when a key is absent is stated in
`TIED`, `UNGATED` and beside each function. Architectures whose tensors a spec cannot describe are refused by name.
"""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.files import InputFile
from clusterspec.exchange.reading import Notes, Reading, Refusal
from clusterspec.exchange.work.attention import give_attention
from clusterspec.exchange.work.experts import give_experts
from clusterspec.exchange.work.keys import Keys, give_counts, list_unused, truth
from clusterspec.exchange.work.sizes import check_parameters, give_parameters

KIND = "huggingface"
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
}
"""Model types whose feed-forward network has two matrices."""
GATED_ACTIONS = {"silu", "swish", "swiglu", "geglu", "gelu_pytorch_tanh", "silu_and_mul", "xielu"}
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
}


def suits(file: InputFile) -> bool:
    head = file.text.lstrip()[:1]
    return head == "{" and bool(
        re.search(r'"(architectures|model_type|num_hidden_layers|n_layer|weight_map)"\s*:', file.text)
    )


def read(file: InputFile) -> Reading:
    """The model of a configuration. Raises `Refusal` for architectures that a spec cannot describe."""
    notes, value = Notes(KIND, file.name), file.json
    if not isinstance(value, dict):
        raise Refusal("is no configuration: its top is no mapping")
    if isinstance(value.get("weight_map"), dict):
        return _index(value, file, notes)
    outer, inner, nested = _language_part(value)
    keys = _flat(inner, file)
    kind = str(inner.get("model_type") or value.get("model_type") or "").lower()
    _refuse(kind, value)
    give_counts(keys, _COUNTS, notes)
    if keys.find("num_hidden_layers", "num_layers", "n_layer") is None:
        listed = keys.get("layers_block_type", "hybrid_override_pattern", "layer_types")
        notes.give(
            "workload.model.layers",
            len(listed) if isinstance(listed, list | str) and listed else None,
            keys.line("layers_block_type", "hybrid_override_pattern", "layer_types"),
        )
    if {"workload.model.layers", "workload.model.hidden"} - {".".join(map(str, g.path)) for g in notes.given}:
        raise Refusal("states neither layers nor hidden size as the configuration of a language model does")
    if nested:
        notes.unknown(
            f"{len(outer)} keys beside {nested}",
            "parts for images or sound: they are not counted",
            file.line_of_key(nested),
        )
    _network(keys, kind, notes)
    give_attention(keys, kind, notes)
    give_experts(keys, kind, notes)
    _precision(keys, value, file, notes)
    line = keys.line("num_hidden_layers", "n_layer", "n_layers", "num_layers")
    if kind in {"gpt2", "opt", "gpt_bigcode", "gpt_neo", "xglm"}:
        notes.unknown("position embeddings", "learned, one for each position: not counted in the parameters", line)
    give_parameters(notes, line)
    check_parameters(str(value.get("_name_or_path") or ""), notes, file.line_of_key("_name_or_path"))
    keys.used |= {key for key in keys.values if key.startswith(("rope_scaling", "quantization_config", "layer_types"))}
    list_unused(keys, notes)
    return notes.reading()


def _refuse(kind: str, value: dict[str, Any]) -> None:
    if kind in REFUSED:
        raise Refusal(f"is of type {kind} ({REFUSED[kind]}): a spec describes decoders of text")
    if value.get("is_encoder_decoder") is True:
        raise Refusal("has an encoder and a decoder: a spec describes decoders of text")
    if isinstance(value.get("block_configs"), list):
        raise Refusal("describes layers that differ from each other (block_configs): no key of a spec does")
    named = [str(each) for each in value.get("architectures") or [] if isinstance(each, str)]
    if named and not any(
        re.search(r"CausalLM|LMHead|ConditionalGeneration|ForImageTextToText|Model$", each) for each in named
    ):
        raise Refusal(f"is of architecture {named[0][:60]}: a spec describes decoders of text")


def _language_part(value: dict[str, Any]) -> tuple[list[str], dict[str, Any], str]:
    """The part that describes the language model, where parts for images or sound stand beside it."""
    for name in ("text_config", "language_config", "llm_config", "thinker_config"):
        part = value.get(name)
        if isinstance(part, dict) and any(key in part for key in ("num_hidden_layers", "n_layer", "hidden_size")):
            inner = part.get("text_config") if isinstance(part.get("text_config"), dict) else part
            assert isinstance(inner, dict)
            merged = {"tie_word_embeddings": value.get("tie_word_embeddings"), **inner}
            return [key for key in value if key.endswith("_config") and key != name], merged, name
    return [], value, ""


def _flat(value: dict[str, Any], file: InputFile) -> Keys:
    """The keys of a configuration; those of small mappings in it with dots."""
    keys = Keys()
    if len(value) > MOST_KEYS:
        raise Refusal(f"has {len(value):,} keys, more than any configuration of a model")
    for name, item in value.items():
        line = file.line_of_key(str(name))
        if isinstance(item, dict):
            for inner, each in item.items():
                keys.put(f"{name}.{inner}", each, file.line_of_key(str(inner)) or line)
        elif item is not None:
            keys.put(str(name), item, line)
    return keys


def _network(keys: Keys, kind: str, notes: Notes) -> None:
    line = keys.line(*_FFN, "hidden_size", "n_embd", "d_model")
    hidden = keys.whole("hidden_size", "n_embd", "d_model")
    width = keys.whole("ffn_config.ffn_hidden_size", *_FFN)
    if kind == "mpt" and hidden:
        width = hidden * (keys.whole("expansion_ratio") or 4)
    if width is None and hidden and kind in UNGATED:
        width = 4 * hidden  # what these classes set
    notes.give("workload.model.ffn_hidden", width, line)
    action = str(
        keys.get("hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act", "activation_type") or ""
    ).lower()
    if kind in UNGATED:
        notes.give("workload.model.gated_ffn", False, line)
    elif action in GATED_ACTIONS or kind in {"dbrx", "gpt_oss", "chatglm", "grok-1", "kimi_linear", "deepseek_v4"}:
        notes.give("workload.model.gated_ffn", True, line)
    else:
        notes.unknown(
            "workload.model.gated_ffn", f"the type {kind or 'is not stated'} and {action or 'no activation'}", line
        )
    tied = truth(keys.get("tie_word_embeddings"))
    at = keys.line("tie_word_embeddings") or line
    notes.give("workload.model.tied_embeddings", tied if tied is not None else kind in TIED, at)


def _precision(keys: Keys, value: dict[str, Any], file: InputFile, notes: Notes) -> None:
    """In what the weights are kept: the quantization, else the type of the tensors."""
    quantization = value.get("quantization_config")
    method = str(quantization.get("quant_method", "")) if isinstance(quantization, dict) else ""
    kept = {"fp8": "fp8", "awq": "int4", "gptq": "int4", "fbgemm_fp8": "fp8"}.get(method)
    line = file.line_of_key("quant_method")
    if method == "mxfp4":
        notes.give("workload.expert_parameter_precision", "mxfp4", line)
    elif kept:
        notes.give("workload.parameter_precision", kept, line)
        return
    elif method:
        notes.unknown(
            f"quantization {method[:40]}", "which precision the weights are kept in it does not say alone", line
        )
        return
    dtype = str(keys.get("torch_dtype", "dtype") or value.get("torch_dtype") or value.get("dtype") or "")
    word = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}.get(dtype)
    notes.give("workload.parameter_precision", word, file.line_of_key("torch_dtype") or file.line_of_key("dtype"))


def _index(value: dict[str, Any], file: InputFile, notes: Notes) -> Reading:
    """The index of safetensors: how many tensors, and how many bytes they take."""
    line = file.line_of_key("weight_map")
    notes.count("tensors", len(value["weight_map"]), line)
    total = (value.get("metadata") or {}).get("total_size") if isinstance(value.get("metadata"), dict) else None
    if isinstance(total, int) and not isinstance(total, bool):
        notes.count("bytes", total, file.line_of_key("total_size"))
    layers = {
        match[1] for name in value["weight_map"] if (match := re.search(r"\.(?:layers|h|blocks)\.([0-9]{1,4})\.", name))
    }
    notes.count("layers", len(layers) or None, line)
    notes.unknown("workload.model", "an index of weights states no sizes: import config.json as well", line)
    return notes.reading()
