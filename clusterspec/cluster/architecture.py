"""Resolves the parts of a model that only some layers or some models have.

A part written in the spec takes what it leaves out from the same part of the catalog entry it
starts from, else from a default. A number of layers that is absent means all that can have it.
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
"""Tokens of the convolution in Mamba-2 (arXiv 2405.21060), gated delta net (arXiv 2412.06464) and Kimi Linear."""


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of the spec, the field of `Model` that it fills and the type of that field."""

    name: str
    field: str
    record: Any


_WINDOW = _Key("attention_window", "window", Window)
_LINEAR = _Key("linear_attention", "linear", LinearAttention)
_SPARSE = _Key("sparse_attention", "sparse", SparseAttention)
_COMPRESSED = _Key("compressed_attention", "compressed", CompressedAttention)
_PREDICTION = _Key("multi_token_prediction", "prediction", TokenPrediction)


def written_parts(said: ModelSpec, base: Model | None, layers: int, log: ResolutionLog) -> dict[str, Any]:
    """The fields of a `Model` for the parts that the spec states; one that lacks a key is left out.

    ``layers`` is the number of layers of the model.
    """
    window = said.attention_window
    window = AttentionWindowSpec(tokens=window, layers=layers) if isinstance(window, int) else window
    optional = ("heads", "kv_heads", "head_dim", "value_head_dim")
    parts = {
        _WINDOW: _part(_WINDOW, window, base, {"layers": layers, **dict.fromkeys(optional, 0)}, log),
        _LINEAR: _part(_LINEAR, said.linear_attention, base, _linear_defaults(said), log),
        _SPARSE: _part(_SPARSE, said.sparse_attention, base, {"layers": layers}, log),
        _COMPRESSED: _part(_COMPRESSED, said.compressed_attention, base, {}, log),
        _PREDICTION: _part(_PREDICTION, said.multi_token_prediction, base, _prediction_defaults(said, base), log),
    }
    return {key.field: part for key, part in parts.items() if part is not None}


def _linear_defaults(said: ModelSpec) -> dict[str, Any]:
    key_dim = said.linear_attention.key_head_dim if said.linear_attention else None
    return {"convolution": CONVOLUTION, "gate_rank": key_dim or 0, "output_gate_rank": 0}


def _prediction_defaults(said: ModelSpec, base: Model | None) -> dict[str, Any]:
    experts = said.experts if said.experts is not None else base.experts if base else 0
    return {"ffn": "experts" if experts else "dense"}


def _part(key: _Key, said: object, base: Model | None, defaults: Mapping[str, Any], log: ResolutionLog) -> Any:
    """The part of one key; None where it is absent, or where nothing supplies a key that it needs."""
    if said is None:
        return None
    original = getattr(base, key.field) if base else None
    values = {field.name: _first(field.name, said, original, defaults) for field in fields(key.record)}
    lacking = [name for name, value in values.items() if value is None]
    for name in lacking:
        log.missing((*PATH, key.name, name), WHY, REMEDY)
    return None if lacking else key.record(**values)


def _first(name: str, said: object, original: object, defaults: Mapping[str, Any]) -> Any:
    for source in (said, original):
        value = getattr(source, name, None)
        if value is not None:
            return value
    return defaults.get(name)


def scaled_parts(base: Model, layers: int, log: ResolutionLog) -> dict[str, Any]:
    """The parts of ``base`` with their layers in the same proportion of ``layers``, each as an assumption."""
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
