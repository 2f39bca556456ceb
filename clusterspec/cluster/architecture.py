"""Resolves the parts of a model that only some layers or some models have.

A key that the spec does not state comes from the same part of the base catalog entry, else from a default. An absent
number of layers means all layers that can have the part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterspec.catalog.architecture import (
    CompressedAttention,
    LinearAttention,
    SparseAttention,
    TokenPrediction,
    Window,
)
from clusterspec.catalog.entries import Model
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.records import dataclass, fields
from clusterspec.source import Path
from clusterspec.spec.model import AttentionWindowSpec, ModelSpec

PATH: Path = ("workload", "model")
WHY = "this part of the model needs it"
REMEDY = "add it, or start from a `base` that has it"
CONVOLUTION = 4
"""Width in tokens of the convolution in Mamba-2 (arXiv 2405.21060), gated delta net (arXiv 2412.06464) and Kimi
Linear.
"""


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of the spec, the field of `Model` that it fills, and the type of that field."""

    name: str
    field: str
    record: Any


_WINDOW = _Key("attention_window", "window", Window)
_LINEAR = _Key("linear_attention", "linear", LinearAttention)
_SPARSE = _Key("sparse_attention", "sparse", SparseAttention)
_COMPRESSED = _Key("compressed_attention", "compressed", CompressedAttention)
_PREDICTION = _Key("multi_token_prediction", "prediction", TokenPrediction)


def written_parts(written: ModelSpec, base: Model | None, layers: int, log: ResolutionLog) -> dict[str, Any]:
    """The fields of a `Model` for the parts that the spec states; a part that lacks a required key is omitted.

    ``layers`` is the number of layers of the model.
    """
    window = written.attention_window
    window = AttentionWindowSpec(tokens=window, layers=layers) if isinstance(window, int) else window
    optional = ("heads", "kv_heads", "head_dim", "value_head_dim")
    parts = {
        _WINDOW: _part(_WINDOW, window, base, {"layers": layers, **dict.fromkeys(optional, 0)}, log),
        _LINEAR: _part(_LINEAR, written.linear_attention, base, _linear_defaults(written), log),
        _SPARSE: _part(_SPARSE, written.sparse_attention, base, {"layers": layers}, log),
        _COMPRESSED: _part(_COMPRESSED, written.compressed_attention, base, {}, log),
        _PREDICTION: _part(_PREDICTION, written.multi_token_prediction, base, _prediction_defaults(written, base), log),
    }
    return {key.field: part for key, part in parts.items() if part is not None}


def _linear_defaults(written: ModelSpec) -> dict[str, Any]:
    key_dim = written.linear_attention.key_head_dim if written.linear_attention else None
    return {"convolution": CONVOLUTION, "gate_rank": key_dim or 0, "output_gate_rank": 0}


def _prediction_defaults(written: ModelSpec, base: Model | None) -> dict[str, Any]:
    experts = written.experts if written.experts is not None else base.experts if base else 0
    return {"ffn": "experts" if experts else "dense"}


def _part(key: _Key, written: object, base: Model | None, defaults: Mapping[str, Any], log: ResolutionLog) -> Any:
    """The part of one key; None where it is absent, or where a required key has no value."""
    if written is None:
        return None
    original = getattr(base, key.field) if base else None
    values = {field.name: _first(field.name, written, original, defaults) for field in fields(key.record)}
    lacking = [name for name, value in values.items() if value is None]
    for name in lacking:
        log.missing((*PATH, key.name, name), WHY, REMEDY)
    return None if lacking else key.record(**values)


def _first(name: str, written: object, original: object, defaults: Mapping[str, Any]) -> Any:
    for source in (written, original):
        value = getattr(source, name, None)
        if value is not None:
            return value
    return defaults.get(name)


def scaled_parts(base: Model, layers: int, log: ResolutionLog) -> dict[str, Any]:
    """The parts of ``base`` with their numbers of layers scaled to ``layers``, each as an assumption."""
    found: dict[str, Any] = {}
    if base.window:
        found["window"] = _rescaled(_WINDOW, base.window, base.layers, layers, log)
    if base.linear:
        found["linear"] = _rescaled(_LINEAR, base.linear, base.layers, layers, log)
    if base.sparse:
        found["sparse"] = _rescaled(_SPARSE, base.sparse, base.layers, layers, log)
    return found


def _rescaled(key: _Key, part: Any, before: int, after: int, log: ResolutionLog) -> Any:
    scaled = round(part.layers * after / before)
    why = f"{part.layers} of {before} layers in the entry, in proportion"
    sizes = {field.name: getattr(part, field.name) for field in fields(part)}
    if scaled != part.layers:
        log.assume(f"workload.model.{key.name}.layers", scaled, why)
    return key.record(**{**sizes, "layers": scaled})
