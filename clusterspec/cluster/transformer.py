"""Resolves the model: a catalog entry, an entry with some keys changed, or a description in place."""

from __future__ import annotations

from typing import Any

from clusterspec.catalog.entries import Model, Status
from clusterspec.cluster.architecture import scaled_parts, written_parts
from clusterspec.cluster.lookup import Lookup
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.records import replace
from clusterspec.source import Path
from clusterspec.spec.model import LatentAttentionSpec, ModelSpec

KEY = "workload.model"
PATH: Path = ("workload", "model")
NEEDED = ("layers", "hidden", "heads", "vocab")
GPT_FFN = 4
"""Width of the feed-forward network over the hidden width in GPT-2 and GPT-3 (arXiv:2005.14165, section 2.1)."""


def resolve_model(said: str | ModelSpec | None, lookup: Lookup) -> Model | None:
    """The model; None, with a problem, where it is not named, not known or not described far enough."""
    if said is None:
        lookup.log.missing(
            PATH, "the spec does not name what is trained or served", "name a catalog model or describe one"
        )
        return None
    if isinstance(said, str):
        return lookup.model(said, PATH)
    if said.base is not None:
        base = lookup.model(said.base, (*PATH, "base"))
        return _changed(base, said, lookup.log) if base else None
    return _described(said, lookup.log)


def _changed(base: Model, said: ModelSpec, log: ResolutionLog) -> Model:
    """The entry with the keys of the spec in place of its own; published counts hold for the original only."""
    layers = said.layers or base.layers
    changes = {**_written(said), **written_parts(said, base, layers, log)}
    if not changes:
        return base
    if "head_dim" not in changes and ("hidden" in changes or "heads" in changes):
        natural = base.head_dim * base.heads == base.hidden
        hidden, heads = changes.get("hidden", base.hidden), changes.get("heads", base.heads)
        changes["head_dim"] = max(1, hidden // max(1, heads)) if natural else base.head_dim
    if layers != base.layers:
        changes = {**scaled_parts(base, layers, log), **_counts_of_layers(base, layers), **changes}
    return replace(base, name=f"{base.name}, changed", parameters=None, active_parameters=None, **changes)


def _counts_of_layers(base: Model, layers: int) -> dict[str, int]:
    """Layers with experts, with attention and with a feed-forward network, where the entry counts them."""
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


def _described(said: ModelSpec, log: ResolutionLog) -> Model | None:
    """A model from its description alone. A mapping that is empty of sizes is described nowhere."""
    lacking = [key for key in NEEDED if getattr(said, key) is None]
    if said.experts and said.experts_per_token is None:
        lacking.append("experts_per_token")
    for key in lacking:
        log.missing((*PATH, key), "a model without `base` needs it", "add it, or start from a `base`")
    if said.layers is None or said.hidden is None or said.heads is None or lacking:
        return None
    ffn = said.ffn_hidden or said.expert_ffn_hidden
    if ffn is None:
        ffn = log.assume(f"{KEY}.ffn_hidden", GPT_FFN * said.hidden, f"{GPT_FFN} × hidden, as in GPT-3")
    experts = said.experts or 0
    sizes: dict[str, Any] = {
        "kv_heads": said.heads,
        "head_dim": max(1, said.hidden // max(1, said.heads)),
        "ffn_hidden": ffn,
        "gated_ffn": said.gated_ffn if said.gated_ffn is not None else _gated(said.hidden, ffn, log),
        "expert_ffn_hidden": ffn if experts else 0,
        "moe_layers": (said.layers if said.ffn_layers is None else said.ffn_layers) if experts else 0,
    }
    sizes.update(written_parts(said, None, said.layers, log))
    nameless: dict[str, Any] = {
        "id": "",
        "name": "described in the spec",
        "vendor": "",
        "status": Status("described", ""),
        "notes": (),
    }
    return Model(**nameless, **{**sizes, **_written(said)})


def _gated(hidden: int, ffn: int, log: ResolutionLog) -> bool:
    plain = ffn == GPT_FFN * hidden
    why = "ffn_hidden is 4 × hidden, as in models without a gate" if plain else "ffn_hidden is not 4 × hidden"
    return log.assume(f"{KEY}.gated_ffn", not plain, why)


def _written(said: ModelSpec) -> dict[str, Any]:
    """The fields of an entry that the spec states."""
    latent = said.latent_attention or LatentAttentionSpec()
    fields = {
        "layers": said.layers,
        "hidden": said.hidden,
        "heads": said.heads,
        "kv_heads": said.kv_heads,
        "head_dim": said.head_dim,
        "latent_q": latent.q,
        "latent_kv": latent.kv,
        "latent_rope": latent.rope,
        "ffn_hidden": said.ffn_hidden,
        "vocab": said.vocab,
        "max_sequence_length": said.max_sequence_length,
        "gated_ffn": said.gated_ffn,
        "tied_embeddings": said.tied_embeddings,
        "value_head_dim": said.value_head_dim,
        "attention_gate": said.attention_gate,
        "shared_kv": said.shared_kv,
        "stated_attention_layers": said.attention_layers,
        "stated_ffn_layers": said.ffn_layers,
        "experts": said.experts,
        "experts_per_token": said.experts_per_token,
        "expert_ffn_hidden": said.expert_ffn_hidden,
        "expert_latent": said.expert_latent,
        "shared_expert_ffn_hidden": said.shared_expert_ffn_hidden,
        "shared_experts": said.shared_experts,
        "moe_layers": said.moe_layers,
        "routing_max_nodes": said.routing.max_nodes if said.routing else None,
    }
    return {name: value for name, value in fields.items() if value is not None}
