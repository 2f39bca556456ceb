"""Efficiencies of serving kernels: measured medians where tables of kernels are published, assumptions elsewhere."""

from __future__ import annotations

from clusterspec.origin import Assumed, Cited
from clusterspec.quantity import Figure

KERNELS = "https://github.com/ai-dynamo/aiconfigurator/tree/095f58a51c4c/aic-core/src/aiconfigurator_core/systems/data"


def _measured(name: str, value: float, unit: str, note: str) -> Figure:
    return Figure(
        value,
        unit,
        Cited("measured kernels", name, "aiconfigurator, silicon data of NVIDIA", KERNELS, "2026-11-20", note),
    )


def _assumed(name: str, value: float, unit: str, why: str) -> Figure:
    return Figure(value, unit, Assumed(f"serving.{name}", why))


STREAMING = _measured("gemm, m <= 64", 0.80, "1", "share of memory bandwidth: 0.74 to 0.87 by chip")
ATTENTION_STREAMING = _measured("decode attention", 0.80, "1", "share of memory bandwidth for 256 MB and more of cache")
EXPERT_STREAMING = _measured("grouped gemm", 0.65, "1", "share of memory bandwidth of experts' weights")
ARITHMETIC = {
    "bf16": _measured("gemm bf16, m >= 2048", 0.70, "1", "share of the dense peak: 0.68 to 0.84 by chip"),
    "fp8": _measured("gemm fp8, m >= 2048", 0.50, "1", "share of the dense peak: 0.43 to 0.57 by chip"),
    "fp4": _measured("gemm nvfp4, m >= 2048", 0.35, "1", "share of the dense peak: 0.34 to 0.39"),
}
GROUPED = _measured("grouped gemm, compute", 0.60, "1", "rate of experts' products over that of one GEMM")
ATTENTION_ARITHMETIC = _measured("prefill attention", 0.45, "1", "share of the 16-bit peak, 2,048 to 8,192 tokens")
ALL_REDUCE = {
    2: _measured("all-reduce, 2 ranks", 4.5e-6, "s", "16 KB inside a node"),
    4: _measured("all-reduce, 4 ranks", 5.5e-6, "s", "16 KB inside a node"),
    8: _measured("all-reduce, 8 ranks", 7.5e-6, "s", "16 to 128 KB inside a node"),
}
LINK = _measured("all-reduce, 256 MB", 0.62, "1", "share of the scale-up bandwidth per direction")
EXCHANGE = _measured("DeepEP low latency, one node", 12e-6, "s", "one dispatch or combine of few tokens")
EXCHANGE_LINK = _assumed("exchange_link", 0.60, "1", "share of the link in an exchange of experts, as for all-reduce")
EXCHANGE_BYTES = 3.0
"""Bytes of an element sent to an expert in 8 bits and back in 16 (DeepSeek-V3, arXiv 2412.19437, section 3.2)."""
DENSE_LAUNCH = _assumed("launch.dense", 25e-6, "s", "six kernels of a layer at floors of 4 to 8 us, overlapped in part")
EXPERT_LAUNCH = _assumed("launch.expert", 40e-6, "s", "the same with routing and grouped products")
HOST = _assumed("host", 1.5e-3, "s", "scheduling and sampling of one step in current engines")
PER_SEQUENCE = _assumed("per_sequence", 3e-6, "s", "sampling and detokenizing of one sequence")
EAGER_LAYER = _measured("eager prefill", 0.8e-3, "s", "launches of one layer of a prompt without captured graphs")
COMPILED_LAYER = _assumed(
    "compiled_prefill", 0.15e-3, "s", "a compiled engine takes 17.8 ms for 128 tokens of 80 layers"
)
EXPERT_LAYER = 1.5
"""Launches of a layer with experts over those of a dense one, without captured graphs (as `EAGER_LAYER`)."""
MOST_LOAD = 0.8
"""Share of its time beyond which the model of a queue is not trusted; a closed loop settles below it."""
RESERVED = _assumed("reserved", 2.5e9, "B", "buffers, graphs and activations of an engine: 2 to 3 GB of a rank")
NETWORK_LATENCY = _assumed("network_latency", 20e-6, "s", "the smallest collective between nodes")
BURST = _assumed(
    "burst",
    0.075,
    "1",
    "wait of the mean request, in prompts for each one in flight, where all start at once",
)
UNCERTAINTY = {"tpot": 0.30, "ttft": 0.75, "output_tokens_per_second": 0.35}
"""Half-widths of the ranges, as shares: the spread of published runs that no constant was fitted to."""
ASSUMED = (
    EXCHANGE_LINK,
    DENSE_LAUNCH,
    EXPERT_LAUNCH,
    HOST,
    PER_SEQUENCE,
    COMPILED_LAYER,
    RESERVED,
    NETWORK_LATENCY,
    BURST,
)
"""The constants that no source states; an estimate lists them."""
