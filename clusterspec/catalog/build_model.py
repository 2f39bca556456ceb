"""Conversion of catalog facts to the fields of a `Model`."""

from __future__ import annotations

from typing import Any

from clusterspec.catalog.architecture import (
    CompressedAttention,
    LinearAttention,
    SparseAttention,
    TokenPrediction,
    Window,
)
from clusterspec.catalog.reader import FactReader


def architecture(read: FactReader) -> dict[str, Any]:
    """The dimensions of a model and the parts that only some models have."""
    heads, hidden = read.count("heads") or 0, read.count("hidden") or 0
    layers = read.count("layers") or 0
    return {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "kv_heads": read.count("kv_heads") or heads,
        "head_dim": read.count("head_dim") or (hidden // heads if heads else 0),
        "attention_gate": read.text("attention_gate") or "none",
        "stated_attention_layers": read.count("attention_layers"),
        "stated_ffn_layers": read.count("ffn_layers"),
        "latent_q": read.count("latent_attention.q") or 0,
        "latent_kv": read.count("latent_attention.kv") or 0,
        "latent_rope": read.count("latent_attention.rope") or 0,
        "window": _window(read, layers),
        "linear": _linear(read),
        "sparse": _sparse(read, layers),
        "compressed": _compressed(read),
        "prediction": _prediction(read),
        **{name: read.count(name) or 0 for name in _COUNTS},
        **{name: read.flag(name) or False for name in _FLAGS},
        "max_sequence_length": read.count("max_sequence_length"),
        "routing_max_nodes": read.count("routing_max_nodes"),
    }


_COUNTS = (
    "value_head_dim",
    "ffn_hidden",
    "vocab",
    "experts",
    "experts_per_token",
    "expert_ffn_hidden",
    "expert_latent",
    "shared_experts",
    "shared_expert_ffn_hidden",
    "moe_layers",
)
_FLAGS = ("shared_kv", "gated_ffn", "tied_embeddings", "learned_positions")


def published(read: FactReader) -> dict[str, Any]:
    """The published parameter counts and year."""
    return {
        "parameters": read.figure("parameters", "count"),
        "parameters_with_prediction": read.flag("parameters_with_prediction") or False,
        "encoder_parameters": read.figure("encoder_parameters", "count"),
        "active_parameters": read.figure("active_parameters", "count"),
        "year": read.count("year"),
    }


def _part(read: FactReader, name: str, *keys: str) -> dict[str, int]:
    """The integers under ``name``; 0 for absent ones."""
    return {key: read.count(f"{name}.{key}") or 0 for key in keys}


def _window(read: FactReader, layers: int) -> Window | None:
    """The attention window: on all layers if the fact is a number of tokens, else on some."""
    if read.has("attention_window"):
        return Window(read.count("attention_window") or 0, layers)
    sizes = _part(read, "attention_window", "tokens", "layers", "heads", "kv_heads", "head_dim", "value_head_dim")
    return Window(**sizes) if sizes["tokens"] else None


def _linear(read: FactReader) -> LinearAttention | None:
    keys = ("layers", "key_heads", "value_heads", "key_head_dim", "value_head_dim", "convolution")
    sizes = _part(read, "linear_attention", *keys, "gate_rank", "output_gate_rank")
    kind = read.text("linear_attention.kind")
    return LinearAttention(kind, **sizes) if kind and sizes["layers"] else None


def _sparse(read: FactReader, layers: int) -> SparseAttention | None:
    sizes = _part(read, "sparse_attention", "tokens", "layers", "index_heads", "index_dim")
    sizes["layers"] = sizes["layers"] or layers
    return SparseAttention(**sizes) if sizes["tokens"] else None


def _compressed(read: FactReader) -> CompressedAttention | None:
    keys = ("q", "rope", "output_groups", "output_rank", "window")
    kinds = ("light_ratio", "light_layers", "heavy_ratio", "heavy_layers")
    sizes = _part(read, "compressed_attention", *keys, *kinds)
    return CompressedAttention(**sizes) if sizes["q"] else None


def _prediction(read: FactReader) -> TokenPrediction | None:
    layers, ffn = read.count("multi_token_prediction.layers"), read.text("multi_token_prediction.ffn")
    return TokenPrediction(layers, ffn) if layers and ffn else None
