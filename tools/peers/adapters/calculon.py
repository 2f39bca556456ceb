"""Calculon: its own systems A100 (80 GB) and H100 (NVLink domain of eight), with which its `validation.py` compares.

It covers only dense models with as many KV heads as heads: it has no terms for grouped heads and gated feed-forward
layers. Interface as in `examples/`, `models/` and `systems/` of the repository.
"""

from __future__ import annotations

import json
import logging
from importlib import import_module
from pathlib import Path
from typing import Any

from tools.peers.adapters.rows import Row, answer, require

SYSTEMS = {"a100-sxm-80gb": "a100_80g", "h100-sxm-80gb": "h100_80g_nvl8"}
RECOMPUTE = {"none": "none", "selective": "attn_only", "full": "full"}


def predict(row: Row) -> dict[str, float]:
    """Seconds of a step and bytes of memory of the first tier."""
    require(row["accelerator"] in SYSTEMS, "accelerator")
    require(not row["experts"], "experts")
    require(row["kv_heads"] == row["heads"], "grouped KV heads")
    require(not row["gated_ffn"], "gated feed-forward")
    require(row["precision"] in {"bf16", "fp16"}, "precision")
    require(row["cp"] == 1, "context parallelism")
    require(row["sharding"] in {"none", "zero1"}, "sharded gradients or parameters")
    require(row["layers"] % (row["pp"] * row["virtual_stages"]) == 0, "layers that stages do not divide")
    require(row["tp"] <= 8, "tensor parallelism over nodes")
    package = import_module("calculon")
    language_models: Any = import_module("calculon.llm").Llm
    file = Path(package.__file__ or "").parents[1] / "systems" / f"{SYSTEMS[row['accelerator']]}.json"
    system = package.System(json.loads(file.read_text("utf-8")))
    application = {
        "hidden": row["hidden"],
        "feedforward": row["ffn_hidden"],
        "seq_size": row["sequence_length"],
        "attn_heads": row["heads"],
        "attn_size": row["head_dim"],
        "num_blocks": row["layers"],
    }
    model = language_models(language_models.Application(application), logging.getLogger("calculon"))
    model.compile(system, language_models.Execution.from_json(_execution(row)))
    model.run(system)
    return {"step_time": float(model.get_total_time()), "memory": float(model.get_mem_tier1_cap_req())}


def _execution(row: Row) -> dict[str, Any]:
    sequence = bool(row["sequence_parallel"] and row["tp"] > 1)
    return {
        "num_procs": row["accelerators"],
        "tensor_par": row["tp"],
        "pipeline_par": row["pp"],
        "data_par": row["dp"],
        "tensor_par_net": 0,
        "pipeline_par_net": 1 if row["accelerators"] > 8 else 0,
        "data_par_net": 1 if row["accelerators"] > 8 else 0,
        "batch_size": row["global_batch"],
        "microbatch_size": row["micro_batch"],
        "datatype": "float16",
        "fused_activation": True,
        "attention_type": "multihead",
        "activation_recompute": RECOMPUTE[row["recompute"]],
        "pipeline_interleaving": row["virtual_stages"],
        "optimizer_sharding": row["sharding"] == "zero1" and row["dp"] > 1,
        "tensor_par_comm_type": "rs_ag" if sequence else "ar",
        "tensor_par_overlap": "none",
        "seq_par_ag_redo": sequence and row["recompute"] != "full",
        "data_par_overlap": False,
        "weight_offload": False,
        "activations_offload": False,
        "optimizer_offload": False,
        "training": True,
    }


if __name__ == "__main__":
    answer(predict)
