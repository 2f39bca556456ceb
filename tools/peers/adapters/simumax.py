"""SimuMax: its measured system B200 in bf16, within one node of eight.

Interface as in `examples/` and `docs/strategy.md` of the repository. The network between nodes of its B200 system is
not measured, so rows of several nodes are not asked for.
"""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from tools.peers.adapters.rows import Row, answer, require

SYSTEM = "configs/system/b200_bf16_ceperm.json"
RECOMPUTE = {"none": None, "selective": "sdp_only", "full": "full_block"}
ZERO = {"none": 0, "zero1": 1}


def predict(row: Row) -> dict[str, float]:
    """Seconds of a step and bytes at the peak of the fullest stage."""
    require(row["accelerator"] == "b200-sxm-180gb", "accelerator")
    require(row["precision"] == "bf16", "precision")
    require(row["accelerators"] <= 8, "several nodes")
    require(row["sharding"] in ZERO, "sharded gradients or parameters")
    require(not row["shared_experts"], "shared experts")
    require(row["attention"] == "flash", "plain attention")
    config, estimator = import_module("simumax.core.config"), import_module("simumax.core.perf_llm")
    root = Path(import_module("simumax").__file__ or "").parents[1]
    system = config.SystemConfig.init_from_config_file(str(root / SYSTEM))
    model = config.ModelConfig(**_model(row))
    found = estimator.PerfLLM()
    with tempfile.TemporaryDirectory() as folder:
        here = Path.cwd()
        os.chdir(folder)
        try:
            found.configure(
                strategy_config=config.StrategyConfig(**_strategy(row)), model_config=model, system_config=system
            )
            found.run_estimate()
            cost = found.analysis_cost().data
        finally:
            os.chdir(here)
    return {"step_time": _seconds(cost)}


def _seconds(cost: dict[str, Any]) -> float:
    for key, scale in (("duration_time_per_iter_ms", 1e-3), ("duration_time_per_iter", 1.0)):
        if key in cost:
            text = str(cost[key]).split()
            unit = {"s": 1.0, "ms": 1e-3, "us": 1e-6}[text[1]] if len(text) > 1 else scale
            return float(text[0]) * unit
    raise KeyError(str(sorted(cost)))


def _model(row: Row) -> dict[str, Any]:
    model = {
        "hidden_size": row["hidden"],
        "head_num": row["heads"],
        "kv_head_num": row["kv_heads"],
        "head_size": row["head_dim"],
        "intermediate_size": row["ffn_hidden"],
        "layer_num": row["layers"],
        "vocab_size": row["vocab"],
        "use_swiglu": row["gated_ffn"],
    }
    if row["experts"]:
        model |= {"expert_num": row["experts"], "topk": row["experts_per_token"]}
        model |= {"moe_ffn_hidden_size": row["expert_ffn_hidden"], "dense_layers": row["layers"] - row["moe_layers"]}
    if row["latent_attention"]:
        latent = row["latent_attention"]
        model |= {"attention_type": "mla", "q_lora_rank": latent["q"], "kv_lora_rank": latent["kv"]}
        model |= {"qk_head_dim": row["head_dim"], "qk_pos_emb_head_dim": latent["rope"], "v_head_dim": row["head_dim"]}
    return model


def _strategy(row: Row) -> dict[str, Any]:
    return {
        "seq_len": row["sequence_length"],
        "micro_batch_size": row["micro_batch"],
        "micro_batch_num": row["global_batch"] // row["dp"] // row["micro_batch"],
        "dtype": "bf16",
        "world_size": row["accelerators"],
        "tp_size": row["tp"],
        "cp_size": row["cp"],
        "pp_size": row["pp"],
        "ep_size": row["ep"],
        "etp_size": row["expert_tp"],
        "enable_sequence_parallel": bool(row["sequence_parallel"]),
        "interleaving_size": row["virtual_stages"],
        "zero_state": ZERO[row["sharding"]],
        "enable_recompute": row["recompute"] != "none",
        "recompute_granularity": RECOMPUTE[row["recompute"]],
        "recompute_layer_num": row["layers"] // row["pp"] if row["recompute"] != "none" else 0,
    }


if __name__ == "__main__":
    answer(predict)
