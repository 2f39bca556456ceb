"""Launches that name a model and change some of its sizes: the spec states the model as the base of the changes."""

from __future__ import annotations

from clusterspec.catalog import Catalog
from clusterspec.exchange.import_result import LIST, ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import Keys, positive_integer_of
from clusterspec.exchange.workloads.models import catalog_model, set_model

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
_WIDTHS = frozenset({"hidden", "heads", "head_dim"})
"""Sizes of which a change may change others: the width of a head follows from two of them where it is not stated."""


def set_named_model(name: str, keys: Keys, builder: ImportBuilder, line: int) -> None:
    """Set the model of a name, with the sizes that the keys change as changes of it."""
    stated = {size: found for word, size in _SIZES.items() if (found := _stated(keys, word)) is not None}
    model = catalog_model(name)
    entry = Catalog.open().model(model) if model else None
    values = {size: positive_integer_of(keys.values[found][0]) for size, found in stated.items()}
    changed = {size: found for size, found in stated.items() if values[size] != getattr(entry, size, None)}
    if entry is not None:
        keys.used |= {found for size, found in stated.items() if size not in changed or values[size]}
    if not changed:
        set_model(name, builder, line)
    elif model is None or not _WIDTHS.isdisjoint(changed) or not all(values[size] for size in changed):
        why = f"its launch changes {', '.join(changed.values())}: state workload.model with all of its sizes"
        builder.unknown(f"model {excerpt(name, LIST)}", why, line)
    else:
        builder.set("workload.model.base", model, line)
        for size, found in changed.items():
            builder.set(f"workload.model.{size}", values[size], keys.line(found))


def _stated(keys: Keys, word: str) -> str | None:
    return next((name for before in _BEFORE if (name := f"{before}{word}") in keys.values), None)
