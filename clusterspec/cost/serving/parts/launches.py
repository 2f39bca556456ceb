"""The kernels of a step with separate launches."""

from __future__ import annotations

from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout
from clusterspec.cost import assumed_figure
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
"""The GEMMs among these kernels. The host time of a GEMM includes the kernels around it, as for the rest of a layer."""
SQUARED = 2
"""Kernels of one layer's norm of queries and keys over all heads where ranks share these, without the all-reduce of the
sums: one that adds the squares of both, and one that scales both (SGLang, pull request 14416, in releases since 0.5.7;
six before).
"""
ROUTED = 6
"""Kernels of a layer's experts: the router, the selection, sorting of tokens, two grouped GEMMs, and the sum."""
FUSED = 4
"""The kernels of `ROUTED` that one fused layer runs: sorting of tokens, two grouped GEMMs, and the sum."""
FUSED_EXPERTS = assumed_figure(
    "serving",
    "fused_experts",
    31e-6,
    "time of one fused layer of experts for a token beyond reading its weights: 13 to 56 us in the median by"
    " accelerator, release and precision (aiconfigurator 095f58a, moe_perf)",
    "s",
)
NORMS, ELEMENTWISE = 2, 2
"""Kernels of one layer between its GEMMs: two norms with the residual, which run in the kernel of an all-reduce where
ranks share the layer and the software fuses both; positions with the write to the cache, and the activation of the
network. Latent attention has them in the kernels that are counted for it.
"""
SMALL_KERNEL = assumed_figure(
    "serving",
    "small_kernel",
    2e-6,
    "time of one kernel between GEMMs in a captured graph; of 1, 1.5 and 2 us the best fit to published plans."
    " Modules of latent attention with vLLM have 2.5 us per kernel (aiconfigurator 095f58a)",
    "s",
)


def dense_gemms(model: Model, chunk: Chunk) -> float:
    """GEMMs of one step through all layers, those of routed experts excluded."""
    mixing = LATENT if model.latent else COMPRESSED if model.compressed else GROUPED_QUERIES
    shared = NETWORK if model.shared_experts else 0
    attention = mixing * (chunk.full_layers + chunk.window_layers) + LINEAR * chunk.linear_layers
    return float(attention + NETWORK * chunk.dense_layers + shared * chunk.moe_layers)


def _selecting_gemms(model: Model, chunk: Chunk) -> int:
    """GEMMs of the index of layers without latent attention, whose scores are a separate part."""
    if model.sparse is None or model.latent:
        return 0
    return INDEX_GEMMS * min(model.sparse.layers, chunk.full_layers)


def launches_per_step(model: Model, chunk: Chunk, ranks: int = 1) -> float:
    """Kernel launches of one step through all layers, whose heads are split over ``ranks``: GEMMs, kernels that route
    tokens, those of a sparse index, and of norms over all heads.
    """
    indexed = INDEXED * _indexed_layers(model, chunk) + _selecting_gemms(model, chunk)
    squared = SQUARED * layers_with_summed_norms(model, chunk, ranks)
    return dense_gemms(model, chunk) + float(ROUTED * chunk.moe_layers + indexed + squared)


def small_kernels(layout: Layout, model: Model, chunk: Chunk, chip: Accelerator) -> float:
    """Kernels of one step between the GEMMs in the layers of a chunk: norms, unless an all-reduce includes them, and
    the kernels that the software does not fuse.
    """
    each = ELEMENTWISE + (NORMS if separates_norms(layout, model, chip) else 0)
    if model.latent:
        return _separate_kernels(layout, chunk, chip) + float(each * chunk.linear_layers)
    return float(each * (chunk.full_layers + chunk.window_layers + chunk.linear_layers))


def _separate_kernels(layout: Layout, chunk: Chunk, chip: Accelerator) -> float:
    """The kernels of one step with latent attention that later releases of the software fuse."""
    software = layout.stack.serving if layout.stack else None
    if software is None:
        return 0.0
    known = software.separate_kernels
    each = known.get(f"latent on {chip.architecture}", known.get("latent", 0))
    return float(each * chunk.full_layers + known.get("latent experts", 0) * chunk.moe_layers)


def separates_norms(layout: Layout, model: Model, chip: Accelerator) -> bool:
    """Whether norms are separate kernels: no all-reduce is before them, or it is the software's, without norms."""
    software, kind = layout.stack.serving if layout.stack else None, "latent" if model.latent else "grouped"
    places = software.separate_norms if software is not None else frozenset()
    return layout.tp == 1 or kind in places or f"{kind} on {chip.architecture}" in places


def launches_by_host(model: Model, chunk: Chunk, ranks: int = 1) -> float:
    """Kernels of one step that add launch time if the host launches kernels separately, and the all-reduces of the
    squares of norms that ``ranks`` share.
    """
    unseen = (INDEXED - INDEX_GEMMS) * _indexed_layers(model, chunk)
    return launches_per_step(model, chunk, ranks) + layers_with_summed_norms(model, chunk, ranks) - float(unseen)


def layers_with_summed_norms(model: Model, chunk: Chunk, ranks: int) -> int:
    """The layers whose queries and keys are normalized over the heads of all ``ranks``, which sum their squares."""
    return chunk.full_layers + chunk.window_layers if model.norm_across_heads and ranks > 1 else 0


def _indexed_layers(model: Model, chunk: Chunk) -> int:
    """The layers of a chunk with an index that selects tokens for latent attention."""
    return min(model.sparse.layers, chunk.full_layers) if model.sparse and model.latent else 0
