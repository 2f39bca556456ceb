"""Resolves a model that the spec describes: an entry with some keys changed, or a description alone."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.catalog.models import (
    CompressedAttention,
    LinearAttention,
    Model,
    SparseAttention,
    TokenPrediction,
    Window,
)
from clusterspec.catalog.reader import Status
from clusterspec.cluster.resolution import MODEL_PATH, ResolutionLog
from clusterspec.records import dataclass, fields, replace
from clusterspec.spec.model import AttentionWindowSpec, LatentAttentionSpec, ModelSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WHY = "this part of the model needs it"
REMEDY = "add it, or start from a `base` that has it"
CONVOLUTION = 4
"""Width in tokens of the convolution in Mamba-2 (arXiv 2405.21060), gated delta net (arXiv 2412.06464) and Kimi
Linear.
"""


@dataclass(frozen=True)
class _Key:
    """A key of the spec, the field of `Model` that it sets, and the type of that field."""

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
        _WINDOW: _model_part(_WINDOW, window, base, {"layers": layers, **dict.fromkeys(optional, 0)}, log),
        _LINEAR: _model_part(_LINEAR, written.linear_attention, base, _linear_defaults(written), log),
        _SPARSE: _model_part(_SPARSE, written.sparse_attention, base, {"layers": layers}, log),
        _COMPRESSED: _model_part(_COMPRESSED, written.compressed_attention, base, {}, log),
        _PREDICTION: _model_part(
            _PREDICTION, written.multi_token_prediction, base, _token_prediction_defaults(written, base), log
        ),
    }
    return {key.field: part for key, part in parts.items() if part is not None}


def _linear_defaults(written: ModelSpec) -> dict[str, Any]:
    key_dim = written.linear_attention.key_head_dim if written.linear_attention else None
    return {"convolution": CONVOLUTION, "gate_rank": key_dim or 0, "output_gate_rank": 0}


def _token_prediction_defaults(written: ModelSpec, base: Model | None) -> dict[str, Any]:
    experts = written.experts if written.experts is not None else base.experts if base else 0
    return {"ffn": "experts" if experts else "dense"}


def _model_part(key: _Key, written: object, base: Model | None, defaults: Mapping[str, Any], log: ResolutionLog) -> Any:
    """The part of one key; None if it is absent or if a required key has no value."""
    if written is None:
        return None
    original = getattr(base, key.field) if base else None
    values = {field.name: _stated_value(field.name, written, original, defaults) for field in fields(key.record)}
    lacking = [name for name, value in values.items() if value is None]
    for name in lacking:
        log.report_missing((*MODEL_PATH, key.name, name), WHY, REMEDY)
    return None if lacking else key.record(**values)


def _stated_value(name: str, written: object, original: object, defaults: Mapping[str, Any]) -> Any:
    for source in (written, original):
        value = getattr(source, name, None)
        if value is not None:
            return value
    return defaults.get(name)


def parts_scaled_to_layers(base: Model, layers: int, log: ResolutionLog) -> dict[str, Any]:
    """The parts of ``base`` with their numbers of layers scaled to ``layers``, each as an assumption."""
    found: dict[str, Any] = {}
    if base.window:
        found["window"] = _part_with_layers(_WINDOW, base.window, base.layers, layers, log)
    if base.linear:
        found["linear"] = _part_with_layers(_LINEAR, base.linear, base.layers, layers, log)
    if base.sparse:
        found["sparse"] = _part_with_layers(_SPARSE, base.sparse, base.layers, layers, log)
    return found


def _part_with_layers(key: _Key, part: Any, before: int, after: int, log: ResolutionLog) -> Any:
    scaled = round(part.layers * after / before)
    why = f"{part.layers} of {before} layers in the entry, in proportion"
    sizes = {field.name: getattr(part, field.name) for field in fields(part)}
    if scaled != part.layers:
        log.assume(f"workload.model.{key.name}.layers", scaled, why)
    return key.record(**{**sizes, "layers": scaled})


KEY = "workload.model"
NEEDED = ("layers", "hidden", "heads", "vocab")
GPT_FFN = 4
"""Width of the feed-forward network over the hidden width in GPT-2 and GPT-3 (arXiv:2005.14165, section 2.1)."""


def changed_model(base: Model, written: ModelSpec, log: ResolutionLog) -> Model:
    """The entry with the keys that the spec changes; published counts apply to the original only."""
    layers = written.layers or base.layers
    changes = {**_written_fields(written), **written_parts(written, base, layers, log)}
    if not changes:
        return base
    if "head_dim" not in changes and ("hidden" in changes or "heads" in changes):
        natural = base.head_dim * base.heads == base.hidden
        hidden, heads = changes.get("hidden", base.hidden), changes.get("heads", base.heads)
        changes["head_dim"] = max(1, hidden // max(1, heads)) if natural else base.head_dim
    if layers != base.layers:
        changes = {**parts_scaled_to_layers(base, layers, log), **_scaled_layer_counts(base, layers), **changes}
    return replace(base, name=f"{base.name}, changed", parameters=None, active_parameters=None, **changes)


def _scaled_layer_counts(base: Model, layers: int) -> dict[str, int]:
    """Layers with experts, with attention and with a feed-forward network, where the entry states these counts."""
    found = {}
    if base.moe_layers and base.ffn_layers == base.layers:
        found["moe_layers"] = max(0, layers - base.dense_layers)
    elif base.moe_layers:
        found["moe_layers"] = round(base.moe_layers * layers / base.layers)
    if base.stated_ffn_layers is not None:
        found["stated_ffn_layers"] = round(base.stated_ffn_layers * layers / base.layers)
    if base.stated_attention_layers is not None:
        found["stated_attention_layers"] = round(base.stated_attention_layers * layers / base.layers)
    return found


def described_model(written: ModelSpec, log: ResolutionLog) -> Model | None:
    """A model from its description alone."""
    lacking = [key for key in NEEDED if getattr(written, key) is None]
    if written.experts and written.experts_per_token is None:
        lacking.append("experts_per_token")
    for key in lacking:
        log.report_missing((*MODEL_PATH, key), "a model without `base` needs it", "add it, or start from a `base`")
    if written.layers is None or written.hidden is None or written.heads is None or lacking:
        return None
    ffn = written.ffn_hidden or written.expert_ffn_hidden
    if ffn is None:
        ffn = log.assume(f"{KEY}.ffn_hidden", GPT_FFN * written.hidden, f"{GPT_FFN} × hidden, as in GPT-3")
    experts = written.experts or 0
    sizes: dict[str, Any] = {
        "kv_heads": written.heads,
        "head_dim": max(1, written.hidden // written.heads),
        "ffn_hidden": ffn,
        "gated_ffn": written.gated_ffn if written.gated_ffn is not None else _is_gated(written.hidden, ffn, log),
        "expert_ffn_hidden": ffn if experts else 0,
        "moe_layers": (written.layers if written.ffn_layers is None else written.ffn_layers) if experts else 0,
    }
    sizes.update(written_parts(written, None, written.layers, log))
    nameless: dict[str, Any] = {
        "id": "",
        "name": "the model in the spec",
        "vendor": "",
        "status": Status("described", ""),
        "notes": (),
    }
    return Model(**nameless, **{**sizes, **_written_fields(written)})


def assumed_gate(hidden: int, ffn: int) -> tuple[bool, str]:
    """Whether a feed-forward network of a width has a gate if nothing states it, and the reason.

    >>> assumed_gate(4096, 14336), assumed_gate(4096, 16384)[0]
    ((True, 'ffn_hidden is not 4 × hidden'), False)
    """
    plain = ffn == GPT_FFN * hidden
    return (
        not plain,
        "ffn_hidden is 4 × hidden, as in models without a gate" if plain else "ffn_hidden is not 4 × hidden",
    )


def _is_gated(hidden: int, ffn: int, log: ResolutionLog) -> bool:
    return log.assume(f"{KEY}.gated_ffn", *assumed_gate(hidden, ffn))


def _written_fields(written: ModelSpec) -> dict[str, Any]:
    """The fields of an entry that the spec states."""
    latent = written.latent_attention or LatentAttentionSpec()
    fields = {
        "layers": written.layers,
        "hidden": written.hidden,
        "heads": written.heads,
        "kv_heads": written.kv_heads,
        "head_dim": written.head_dim,
        "latent_q": latent.q,
        "latent_kv": latent.kv,
        "latent_rope": latent.rope,
        "ffn_hidden": written.ffn_hidden,
        "vocab": written.vocab,
        "max_sequence_length": written.max_sequence_length,
        "gated_ffn": written.gated_ffn,
        "tied_embeddings": written.tied_embeddings,
        "value_head_dim": written.value_head_dim,
        "attention_gate": written.attention_gate,
        "shared_kv": written.shared_kv,
        "stated_attention_layers": written.attention_layers,
        "stated_ffn_layers": written.ffn_layers,
        "experts": written.experts,
        "experts_per_token": written.experts_per_token,
        "expert_ffn_hidden": written.expert_ffn_hidden,
        "expert_latent": written.expert_latent,
        "shared_expert_ffn_hidden": written.shared_expert_ffn_hidden,
        "shared_experts": written.shared_experts,
        "moe_layers": written.moe_layers,
        "routing_max_nodes": written.routing.max_nodes if written.routing else None,
        "no_prediction_weights": False if written.multi_token_prediction else None,
    }
    return {name: value for name, value in fields.items() if value is not None}
