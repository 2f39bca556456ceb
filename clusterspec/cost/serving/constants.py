"""Constants of serving times other than the tables of measured kernels in the catalog."""

from __future__ import annotations

from clusterspec.cost.constants import assumed

GROUP = "serving"

FLOOR = assumed(GROUP, "floor", 4e-6, "the smallest GEMM where none was measured: as on Hopper and Blackwell", "s")
STREAMING = assumed(GROUP, "streaming", 0.8, "share of the memory bandwidth of kernels that read and write activations")
NETWORK = assumed(GROUP, "network", 0.9, "share of the line rate of NICs in a large dispatch or combine")
NETWORK_LATENCY = assumed(GROUP, "network_latency", 20e-6, "the smallest collective between domains", "s")
EXCHANGE = assumed(GROUP, "exchange", 25e-6, "the smallest dispatch and combine, where none was measured", "s")
EXCHANGE_LINE = assumed(
    GROUP, "exchange_line", 0.55, "share of the scale-up bandwidth in dispatch and combine, where none was measured"
)
EXCHANGE_BYTES = 3.0
"""Bytes of an element sent to an expert in 8 bits and back in 16 (DeepSeek-V3, arXiv 2412.19437, section 3.2)."""
LOW_LATENCY_TOKENS = 256
"""Tokens per rank above which an exchange sends one copy per rank instead of one per expert (the two modes of
DeepEP).
"""
PASSES = assumed(
    GROUP,
    "passes",
    6.0,
    "reads and writes of a hidden state between the GEMMs of a layer, by count; published plans agree",
)
ROUTED_PASSES = assumed(GROUP, "routed_passes", 4.0, "the same per copy for an expert: sorting, conversion, sum")
HABITS = {
    "serving.host": assumed(
        GROUP,
        "host",
        0.7e-3,
        "exposed scheduling and sampling of one step; fitted to published plans",
        "s",
    ),
    "serving.sequence": assumed(GROUP, "sequence", 3e-6, "sampling and detokenizing of one sequence", "s"),
    "serving.eager": assumed(
        GROUP,
        "eager",
        0.16e-3,
        "launching one counted kernel and those around it from the host without captured graphs; fitted to the first "
        "tokens of published plans. 0.6 ms for a dense layer, where NVIDIA's AIConfigurator has 0.8 ms; 1.3 ms for one "
        "with experts, 2.1 ms with latent attention too, where 1.2 to 1.8 ms fit InferenceX",
        "s",
    ),
    "serving.request": assumed(
        GROUP,
        "request",
        10e-3,
        "one request outside the engine: transport, tokenizing, scheduling; fitted to published plans",
        "s",
    ),
}
"""Defaults of serving software whose entry states none."""
WEIGHT_ONLY = assumed(
    GROUP,
    "weight_only",
    0.3,
    "rate of GEMMs that convert weights to a wider precision on load, over other GEMMs; fitted to published plans",
)
HANDOFF = assumed(
    GROUP,
    "handoff",
    60e-3,
    "transfer of a request to another engine without its cache: routing, polling; fitted to published plans",
    "s",
)
WAVE = assumed(
    GROUP,
    "wave",
    0.1,
    "share of idle prefill time over which requests that started together spread; fitted to published plans",
)
MOST_LOAD = 0.98
"""Utilization of a stated request rate above which its wait grows without limit."""
RESERVED = assumed(GROUP, "reserved", 2.5e9, "buffers, graphs and activations of an engine: 2 to 3 GB per rank", "B")
HIGHEST_FRACTION = 0.95
"""Share of memory to which operators raise the default where weights leave little: published plans use 0.95 to 0.98."""
UNEVEN = assumed(
    GROUP,
    "uneven",
    0.7,
    "standard deviation of the popularity of experts over its mean: the fullest of 32 and of 72 ranks of DeepSeek-V3 "
    "then have as much more than the mean as balancing them gained, 1.49 and 2.54 times, with 0.53 and 0.99; the "
    "geometric mean (SGLang, lmsys.org/blog/2025-05-05-large-scale-ep)",
)
RANGES = {
    "tpot": (0.78, 1.27),
    "ttft": (0.75, 1.25),
    "ttft alone": (0.75, 1.50),
    "ttft experts": (0.58, 2.2),
    "ttft apart": (0.55, 4.0),
    "output_tokens_per_second": (0.75, 1.20),
}
"""Ends of the uncertainty ranges relative to the prediction, which contain four in five published figures: ``alone``
with one request in flight, ``experts`` of models with experts, ``apart`` with separate prefill engines, whose range
contains three in four. The others wait up to fifteen times as long as predicted, at any load.
"""
TAILS = {"tpot": (0.84, 1.34), "ttft": (0.70, 7.3), "ttft apart": (0.36, 4.2)}
"""Ends of the ranges of 99th percentiles relative to the prediction, which contain four in five of 298 published 99th
percentiles (270 of InferenceX, 26 of AWS Neuron, 2 of Google's TPU recipes), with ``ttft apart`` as in `RANGES`.
"""
ASSUMED = (
    *HABITS.values(),
    FLOOR,
    STREAMING,
    NETWORK,
    NETWORK_LATENCY,
    EXCHANGE,
    EXCHANGE_LINE,
    PASSES,
    ROUTED_PASSES,
    WEIGHT_ONLY,
    HANDOFF,
    WAVE,
    RESERVED,
)
"""The constants that no source states; an estimate lists them."""
