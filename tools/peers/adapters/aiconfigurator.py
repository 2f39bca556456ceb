"""AIConfigurator: `cli_estimate` on the systems and engines whose kernels it holds.

A closed load is its mode `agg` at the published concurrency, a static one its mode `static`; its newest table of each
engine answers for all releases. It has no term for offline loads of unknown concurrency.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Any

from tools.peers.adapters.rows import Inexpressible, Row, answer, require

SYSTEMS = {
    "h100-sxm-80gb": "h100_sxm",
    "h200-sxm-141gb": "h200_sxm",
    "b200-sxm-180gb": "b200_sxm",
    "gb200": "gb200",
    "gb300": "gb300",
    "l40s": "l40s",
    "a100-sxm-80gb": "a100_sxm",
}
ENGINES = {"trt-llm": "trtllm", "sglang": "sglang", "vllm": "vllm"}
MODELS = {
    "deepseek-r1": "deepseek-ai/DeepSeek-R1",
    "deepseek-v3": "deepseek-ai/DeepSeek-V3",
    "gpt-oss-120b": "openai/gpt-oss-120b",
    "gpt-oss-20b": "openai/gpt-oss-20b",
    "kimi-k2.5": "moonshotai/Kimi-K2.5",
    "llama-3.1-405b": "meta-llama/Meta-Llama-3.1-405B",
    "llama-3.1-70b": "meta-llama/Meta-Llama-3.1-70B",
    "llama-3.1-8b": "meta-llama/Meta-Llama-3.1-8B",
    "llama-3.3-70b": "meta-llama/Meta-Llama-3.1-70B",
    "mixtral-8x7b": "mistralai/Mixtral-8x7B-v0.1",
    "qwen3-235b-a22b": "Qwen/Qwen3-235B-A22B",
    "qwen3-30b-a3b": "Qwen/Qwen3-30B-A3B",
}
PRODUCTS = {"bf16": "bfloat16", "fp16": "bfloat16", "fp8": "fp8", "fp4": "nvfp4"}
EXPERTS = {"bf16": "bfloat16", "fp16": "bfloat16", "fp8": "fp8", "fp4": "nvfp4", "int4": "int4_wo"}
CACHES = {"bf16": "bfloat16", "fp16": "bfloat16", "fp8": "fp8"}


def predict(row: Row) -> dict[str, float]:
    """Seconds per output token and to the first token, and output tokens a second of the plan."""
    require(row["accelerator"] in SYSTEMS, "accelerator")
    require(row["framework"] in ENGINES, "engine")
    require(row["model"] in MODELS, "model")
    require(row["load"] in {"closed", "static"} and bool(row["concurrency"]), "offline load")
    require(not row["prefill"], "disaggregated: the size of batches of each pool is not published")
    require(not row["draft_tokens"], "draft tokens")
    logging.disable(logging.CRITICAL)
    estimate = import_module("aiconfigurator.cli.api").cli_estimate
    tensor, replicas = int(row["tp"] or 1), int(row["attention_dp"] or 1)
    if row["concurrency"] % replicas:
        raise Inexpressible("a batch that attention replicas do not divide")
    found = estimate(
        MODELS[row["model"]],
        SYSTEMS[row["accelerator"]],
        mode="static" if row["load"] == "static" else "agg",
        backend_name=ENGINES[row["framework"]],
        isl=row["input_tokens"],
        osl=row["output_tokens"],
        batch_size=row["concurrency"] // replicas,
        tp_size=tensor,
        pp_size=int(row["pp"] or 1),
        attention_dp_size=replicas,
        **_experts(row),
        **_formats(row),
    )
    figures = {"tpot": found.tpot / 1e3, "ttft": found.ttft / 1e3}
    if found.tokens_per_second:
        figures["output_tokens_per_second"] = float(found.tokens_per_second)
    return figures


def _experts(row: Row) -> dict[str, int]:
    expert = int(row["ep"] or 1)
    width = int(row["tp"] or 1) * int(row["attention_dp"] or 1)
    return {"moe_ep_size": expert, "moe_tp_size": width // expert}


def _formats(row: Row) -> dict[str, Any]:
    """Formats of products, experts and cache; blocks of fp8 where the checkpoint of DeepSeek has them."""
    product = PRODUCTS[row["precision"]]
    if row["model"].startswith("deepseek") and product == "fp8":
        product = "fp8_block"
    expert = EXPERTS[row["expert_precision"]] if row["expert_precision"] else product
    if row["model"].startswith("gpt-oss"):
        expert = "w4a16_mxfp4" if row["accelerator"].startswith("h") else "w4a8_mxfp4_mxfp8"
        product = "bfloat16"
    formats: dict[str, Any] = {"gemm_quant_mode": product, "moe_quant_mode": expert}
    if row["kv_precision"]:
        formats["kvcache_quant_mode"] = CACHES[row["kv_precision"]]
    return formats


if __name__ == "__main__":
    answer(predict)
