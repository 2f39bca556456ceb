"""The kernels of a step that are launched one by one, those that pass over activations aside."""

from __future__ import annotations

from clusterspec.catalog.models import Model
from clusterspec.cost.layers import Chunk

GROUPED_QUERIES, LATENT, LINEAR, COMPRESSED = 2, 5, 4, 5
"""GEMMs of one layer outside the attention core. Grouped queries: the combined projection of queries, keys and values,
and the output. Latent attention: both compressions combined, the queries, the two absorbed matrices, and the output.
Linear attention: two more than grouped queries. Compressed entries: queries and keys down, the queries, the compressor,
and the output in groups and of all (vLLM, vllm/model_executor/models/deepseek_v4.py).
"""
NETWORK = 2
"""GEMMs of a dense network: gate and up projection in one, and the down projection."""
INDEXED = 10
"""Kernels of one layer's sparse index: three GEMMs (queries, keys, weights of heads), the norm of keys, positions,
conversion of queries and of keys to 8 bits, scores, selection, and places of the selected tokens in the cache (vLLM,
vllm/model_executor/models/deepseek_v2.py, Indexer). A module with it takes 43 us longer on H200 (vLLM 0.24.0, one
sequence with two tokens; ai-dynamo/aiconfigurator, commit 095f58a5).
"""
INDEX_GEMMS = 3
"""The GEMMs among them, which count for the host with the kernels around them, as those of the rest of a layer."""
ROUTED = 6
"""Kernels of a layer's experts: the router, the selection, sorting of tokens, two grouped GEMMs, and the sum."""

RECURRENCES = {"gated-delta": 4, "kimi-delta": 4, "mamba-2": 3}
"""Kernels that count where the host launches the recurrence of one layer over prompts, by its kind. It has 10 and 7
kernels (convolution, gates, the passes over chunks, norm), of which one counts with 1.5 others, as ten of a dense layer
count as four (vLLM, vllm/model_executor/layers/fla/ops/chunk.py, chunk_gated_delta_rule_fwd, and
mamba/ops/ssd_combined.py, _mamba_chunk_scan_combined_fwd).
"""


def dense_gemms(model: Model, chunk: Chunk) -> float:
    """GEMMs of one step through all layers, those of routed experts excluded."""
    mixing = LATENT if model.latent else COMPRESSED if model.compressed else GROUPED_QUERIES
    shared = NETWORK if model.shared_experts else 0
    attention = mixing * (chunk.full_layers + chunk.window_layers) + LINEAR * chunk.linear_layers
    return float(attention + NETWORK * chunk.dense_layers + shared * chunk.moe_layers)


def _selecting_gemms(model: Model, chunk: Chunk) -> int:
    """GEMMs of the index of layers without latent attention, whose scores are a part of their own."""
    if model.sparse is None or model.latent:
        return 0
    return INDEX_GEMMS * min(model.sparse.layers, chunk.full_layers)


def launches_per_step(model: Model, chunk: Chunk) -> float:
    """Kernel launches of one step through all layers that take as long as the smallest GEMM: GEMMs, those of routers
    included, and kernels of a sparse index.

    Shared experts run beside the routed ones, on another stream or as one more expert, and launch nothing that lasts
    longer (vLLM, SharedFusedMoE; TensorRT-LLM, maybe_execute_in_parallel of modeling_deepseekv3.py; SGLang,
    forward_normal_dual_stream of deepseek_v2.py).
    """
    shared = NETWORK * chunk.moe_layers if model.shared_experts else 0
    routers = chunk.moe_layers
    indexed = INDEXED * _indexed_layers(model, chunk) + _selecting_gemms(model, chunk)
    return dense_gemms(model, chunk) + float(routers - shared + indexed)


def launches_by_host(model: Model, chunk: Chunk) -> float:
    """Kernels of one step that count where the host launches each of them with those around it."""
    indexed = INDEX_GEMMS * _indexed_layers(model, chunk) + _selecting_gemms(model, chunk)
    routed = ROUTED * chunk.moe_layers
    return dense_gemms(model, chunk) + float(routed + indexed) + recurrences_by_host(model, chunk)


def recurrences_by_host(model: Model, chunk: Chunk) -> float:
    """Kernels of recurrences over prompts that count where the host launches them."""
    return float(RECURRENCES.get(model.linear.kind, 0) * chunk.linear_layers) if model.linear else 0.0


def _indexed_layers(model: Model, chunk: Chunk) -> int:
    """The layers of a chunk with an index that selects tokens for latent attention."""
    return min(model.sparse.layers, chunk.full_layers) if model.sparse and model.latent else 0
