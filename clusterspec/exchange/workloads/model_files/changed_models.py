"""Launches that name a model and change some of its sizes: the spec states the model as the base of the changes."""

from __future__ import annotations

import json
from collections.abc import Mapping

from clusterspec.catalog import Catalog
from clusterspec.exchange.import_result import LIST, ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import Keys, positive_integer_of
from clusterspec.exchange.workloads.model_files.models import catalog_model, set_model

_BEFORE = ("", "model.", "model.config.")
"""What comes before the name of a size, in arguments, in Megatron Bridge and in NeMo 2; elsewhere it is of a part."""
_SIZES = {
    "num_layers": "layers",
    "ffn_hidden_size": "ffn_hidden",
    "num_moe_experts": "experts",
    "num_experts": "experts",
    "moe_router_topk": "experts_per_token",
    "moe_ffn_hidden_size": "expert_ffn_hidden",
    "num_query_groups": "kv_heads",
    "hidden_size": "hidden",
    "num_attention_heads": "heads",
    "kv_channels": "head_dim",
}
"""Sizes of Megatron, with the keys of the spec."""
_SIZES_OF_CONFIG = {
    "num_hidden_layers": "layers",
    "intermediate_size": "ffn_hidden",
    "num_experts": "experts",
    "n_routed_experts": "experts",
    "num_local_experts": "experts",
    "num_experts_per_tok": "experts_per_token",
    "moe_intermediate_size": "expert_ffn_hidden",
    "num_key_value_heads": "kv_heads",
    "hidden_size": "hidden",
    "num_attention_heads": "heads",
    "head_dim": "head_dim",
}
"""Sizes of a config.json of Hugging Face, which engines and trainers override."""
_OVERRIDES = ("hf_overrides", "json_model_override_args", "actor_rollout_ref.model.override_config")
"""Options that override the config.json of a model, of vLLM, SGLang and verl (volcengine/verl 03620c95,
verl/workers/config/model.py, ``override_config``).
"""
_WIDTHS = frozenset({"hidden", "heads", "head_dim"})
"""Sizes of which a change may change others: the width of a head follows from two of them where it is not stated."""


def set_named_model(name: str, keys: Keys, builder: ImportBuilder, line: int) -> None:
    """Set the model of a name, with the sizes of Megatron that the keys change as changes of it."""
    found = {word: key for word in _SIZES if (key := _stated(keys, word)) is not None}
    set_model(name, builder, line)
    sizes = {_SIZES[word]: keys.values[key][0] for word, key in found.items()}
    keys.used |= set(found.values())
    at = min((keys.line(key) for key in found.values()), default=0)
    _change_model(name, sizes, list(found.values()), builder, at)


def change_overridden_model(name: str, keys: Keys, builder: ImportBuilder) -> None:
    """Change the model of a name, which is set, by the sizes of its config.json that an option overrides."""
    for option in _OVERRIDES:
        parts = {key: held for key, (held, _) in keys.values.items() if key == option or key.startswith(f"{option}.")}
        given = {key.rpartition(".")[2]: value for key, value in parts.items() if key != option}
        given |= _mapping_of(parts.get(option))
        if sizes := {size: given[word] for word, size in _SIZES_OF_CONFIG.items() if word in given}:
            words = [word for word in _SIZES_OF_CONFIG if word in given]
            keys.used |= {key for key in parts if key == option or key.rpartition(".")[2] in words}
            _change_model(name, sizes, words, builder, keys.line(*parts))


def _mapping_of(text: object) -> Mapping[str, object]:
    """The mapping that a text is in JSON, with the part for the text of a model of images; empty for other texts.

    >>> _mapping_of('{"text_config": {"num_hidden_layers": 4}}')["num_hidden_layers"], _mapping_of("[4")
    (4, {})
    """
    try:
        held = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}
    inner = held.get("text_config") if isinstance(held, dict) else None
    return (held if isinstance(held, dict) else {}) | (inner if isinstance(inner, dict) else {})


def _change_model(name: str, sizes: Mapping[str, object], words: list[str], builder: ImportBuilder, line: int) -> None:
    """Replace the model of a name, which is set, by its changes, or list it where they leave a size open."""
    model = catalog_model(name)
    entry = Catalog.open().model(model) if model else None
    counts = {size: positive_integer_of(value) for size, value in sizes.items()}
    changed = {size: count for size, count in counts.items() if count is None or count != getattr(entry, size, None)}
    if not changed:
        return
    builder.given[:] = [each for each in builder.given if each.path != ("workload", "model")]
    if model is None or not _WIDTHS.isdisjoint(changed) or None in changed.values():
        why = f"its launch changes {', '.join(words)}: state workload.model with all of its sizes"
        builder.unknowns[:] = [each for each in builder.unknowns if not each.what.startswith("model ")]
        builder.unknown(f"model {excerpt(name, LIST)}", why, line)
        return
    builder.set("workload.model.base", model, line)
    for size, count in changed.items():
        builder.set(f"workload.model.{size}", count, line)


def _stated(keys: Keys, word: str) -> str | None:
    return next((name for before in _BEFORE if (name := f"{before}{word}") in keys.values), None)
