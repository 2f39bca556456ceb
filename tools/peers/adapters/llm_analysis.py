"""llm-analysis: `LLMAnalysis.training` on the accelerators that it ships, at half of the peak.

Its default is the full peak; according to the comment at its constant `FLOPS_EFFICIENCY`, Megatron-LM reaches half. It
has no term for pipeline bubbles.
"""

from __future__ import annotations

from importlib import import_module

from tools.peers.adapters.rows import Row, answer, require

ACCELERATORS = frozenset({"a100-sxm-40gb", "a100-sxm-80gb", "h100-sxm-80gb"})
RECOMPUTE = {"none": "NONE", "selective": "SELECTIVE", "full": "FULL"}
ZERO = {"none": 0, "zero1": 1, "zero2": 2, "fsdp": 3}
EFFICIENCY = 0.5


def predict(row: Row) -> dict[str, float]:
    """Seconds of a step."""
    require(row["accelerator"] in ACCELERATORS, "accelerator")
    require(row["precision"] in {"bf16", "fp16"}, "precision")
    require(row["cp"] == 1, "context parallelism")
    require(row["sharding"] in ZERO, "sharding in groups")
    require(not row["latent_attention"], "latent attention")
    require(not row["shared_experts"] and row["moe_layers"] in {None, row["layers"]}, "shared experts, dense layers")
    require(row["tp"] <= 8, "tensor parallelism over nodes")
    analysis, config = import_module("llm_analysis.analysis"), import_module("llm_analysis.config")
    model = config.ModelConfig(
        name=row["id"],
        num_layers=row["layers"],
        n_head=row["heads"],
        hidden_dim=row["hidden"],
        vocab_size=row["vocab"],
        max_seq_len=row["sequence_length"],
        num_key_value_heads=row["kv_heads"],
        ffn_embed_dim=row["expert_ffn_hidden"] if row["experts"] else row["ffn_hidden"],
        expansion_ratio=(row["expert_ffn_hidden"] if row["experts"] else row["ffn_hidden"]) / row["hidden"],
        moe_num_experts=row["experts"] or 1,
        moe_top_k=row["experts_per_token"] or 1,
    )
    parallelism = config.ParallelismConfig(
        tp_size=row["tp"],
        pp_size=row["pp"],
        dp_size=row["dp"],
        ep_size=row["ep"],
        sp_size=row["tp"] if row["sequence_parallel"] else 1,
    )
    found = analysis.LLMAnalysis(
        model,
        config.get_gpu_config_by_name(row["accelerator"]),
        config.get_dtype_config_by_name("w16a16e16"),
        parallelism,
        flops_efficiency=EFFICIENCY,
    ).training(
        batch_size_per_gpu=row["micro_batch"],
        global_batch_size=row["global_batch"],
        seq_len=row["sequence_length"],
        activation_recomputation=analysis.ActivationRecomputation[RECOMPUTE[row["recompute"]]],
        ds_zero=analysis.DSZeRO(ZERO[row["sharding"]]),
        flash_attn=row["attention"] == "flash",
        mlp_gated_linear_units=row["gated_ffn"],
    )
    return {"step_time": float(found["latency_per_iter"])}


if __name__ == "__main__":
    answer(predict)
