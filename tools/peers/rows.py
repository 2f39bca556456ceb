"""The published cases in plain terms, as adapters read them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from clusterspec.catalog import Catalog
from tools.accuracy.cases import FILES, published_runs, study, table

COUNTS = ("accelerators", "concurrency", "input_tokens", "output_tokens")


def training() -> list[dict[str, Any]]:
    """Every published training run; values missing from its source are resolved as by the program."""
    return [_training(run) for name in FILES for run in published_runs(name)]


def serving() -> list[dict[str, Any]]:
    """Every published serving plan, with its counts as numbers."""
    return [{**row, **{name: int(row[name]) if row[name] else None for name in COUNTS}} for row in table("serving.csv")]


def digest(kind: str, names: Iterable[str]) -> str:
    """A hash of the published rows of one kind with these ids; a row no longer published counts as missing."""
    runs = (run for name in FILES for run in published_runs(name))
    published = list(runs if kind == "training" else table("serving.csv"))
    by_id = {row["id"]: row for row in published}
    chosen = [by_id.get(name) for name in sorted(names)]
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:16]


def _model(model: dict[str, Any] | str) -> dict[str, Any]:
    """The figures of a model: those in the row, or in the entry that the row names."""
    if isinstance(model, dict):
        return model
    return {name: fact.value for name, fact in Catalog.open().raw_entry("model", model).facts.items()}


def _training(run: dict[str, Any]) -> dict[str, Any]:
    design = study(run["spec"]).design
    workload, layout, cluster = design.workload, design.layout, design.cluster
    assert workload and layout and cluster
    stated = _model(run["spec"]["workload"]["model"])
    return {
        "id": run["id"],
        "accelerator": cluster.accelerator.id,
        "accelerators": layout.ranks,
        "accelerators_per_node": cluster.accelerators_per_node,
        "layers": stated["layers"],
        "hidden": stated["hidden"],
        "heads": stated["heads"],
        "kv_heads": stated["kv_heads"],
        "head_dim": stated.get("head_dim", stated["hidden"] // stated["heads"]),
        "ffn_hidden": stated["ffn_hidden"],
        "vocab": stated["vocab"],
        "gated_ffn": stated["gated_ffn"],
        "experts": stated.get("experts", 0),
        "experts_per_token": stated.get("experts_per_token"),
        "expert_ffn_hidden": stated.get("expert_ffn_hidden"),
        "shared_experts": stated.get("shared_experts", 0),
        "moe_layers": stated.get("moe_layers", stated["layers"] if stated.get("experts") else None),
        "latent_attention": stated.get("latent_attention"),
        "sequence_length": workload.sequence_length,
        "global_batch": workload.global_batch,
        "precision": workload.precision,
        "attention": "plain" if workload.attention == "plain" else "flash",
        "tp": layout.tp,
        "pp": layout.pp,
        "cp": layout.cp,
        "ep": layout.ep,
        "dp": layout.dp,
        "expert_tp": layout.expert_tp,
        "micro_batch": layout.micro_batch,
        "recompute": run["spec"]["layout"].get("recompute", layout.recompute),
        "sharding": layout.sharding,
        "virtual_stages": layout.virtual_stages,
        "sequence_parallel": layout.sequence_parallel,
    }
