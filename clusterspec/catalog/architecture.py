"""Optional parts of a model's architecture, present in some layers or models only.

Widths are in elements, windows in tokens. A `Model` has None for absent parts.
"""

from __future__ import annotations

from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """Sliding-window attention of ``layers`` layers over ``tokens`` tokens.

    ``heads``, ``kv_heads``, ``head_dim`` and ``value_head_dim`` are those of the layers with a
    window; 0 if they are those of the model.
    """

    tokens: int
    layers: int
    heads: int = 0
    kv_heads: int = 0
    head_dim: int = 0
    value_head_dim: int = 0


@dataclass(frozen=True, slots=True)
class LinearAttention:
    """Recurrent token mixing of ``layers`` layers: gated delta net, Kimi delta attention or Mamba-2.

    ``key_heads`` (groups in Mamba-2) of width ``key_head_dim`` (the state size in Mamba-2),
    ``value_heads`` of width ``value_head_dim``, a causal convolution over ``convolution`` tokens.
    ``gate_rank`` is the width that Kimi delta attention compresses the decay to, and
    ``output_gate_rank`` that of the output gate; 0 if the gate is one full matrix.
    """

    kind: str
    layers: int
    key_heads: int
    value_heads: int
    key_head_dim: int
    value_head_dim: int
    convolution: int = 4
    gate_rank: int = 0
    output_gate_rank: int = 0

    @property
    def value_width(self) -> int:
        """The width of the values of all heads."""
        return self.value_heads * self.value_head_dim


@dataclass(frozen=True, slots=True)
class SparseAttention:
    """Attention of ``layers`` layers to the ``tokens`` keys that an index ranks highest.

    The index has ``index_heads`` query heads of width ``index_dim`` and one key per token.
    """

    tokens: int
    layers: int
    index_heads: int
    index_dim: int


@dataclass(frozen=True, slots=True)
class CompressedAttention:
    """Attention to compressed key-value entries, as in DeepSeek-V4.

    Queries are compressed to ``q``; keys and values are one vector of the head dimension, of which
    ``rope`` is rotary. The output goes through ``output_groups`` groups of rank ``output_rank``.
    ``light_layers`` keep one entry for every ``light_ratio`` tokens and choose among them by index;
    ``heavy_layers`` keep one for every ``heavy_ratio`` tokens and attend to all. Every layer also
    attends to the last ``window`` tokens.
    """

    q: int
    rope: int
    output_groups: int
    output_rank: int
    light_ratio: int
    light_layers: int
    heavy_ratio: int
    heavy_layers: int
    window: int


@dataclass(frozen=True, slots=True)
class TokenPrediction:
    """Multi-token prediction: ``layers`` additional layers, with a ``dense`` FFN or with ``experts``."""

    layers: int
    ffn: str
