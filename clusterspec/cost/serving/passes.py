"""The kernels of a step that pass over activations between GEMMs: norms, positions, conversion, activation functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterspec.cost.serving.constants import WHOLE_GRAPHS
from clusterspec.cost.serving.expert_parts import captures_graphs
from clusterspec.quantity import NARROW

if TYPE_CHECKING:
    from clusterspec.cost.serving.engine import Engine

NVIDIA = "NVIDIA"
"""The vendor on whose accelerators these counts rest. AMD's kernels convert within norms (ROCm/aiter,
fused_rms_fp8_group_quant, which SGLang and vLLM call).
"""
NORM = 1
"""Kernels before each mixer and each network: the sum with the residual and its norm run as one (vLLM,
csrc/layernorm_kernels.cu, fused_add_rms_norm).
"""
KEYS = 2
"""Kernels between the projections of grouped queries and their attention: positions of queries and keys, and writing
the cache (vLLM, csrc/pos_encoding_kernels.cu and csrc/cache_kernels.cu, reshape_and_cache).
"""
LATENT = 3
"""The same of latent attention: the norm of the compressed vectors of queries beside that of keys, positions, writing
the cache (vLLM, vllm/model_executor/layers/mla.py, MultiHeadLatentAttentionWrapper.forward).
"""
LINEAR = 3
"""Kernels of linear attention beside its GEMMs and its recurrence: convolution, gates, and the gated norm (vLLM,
vllm/model_executor/models/qwen3_next.py, Qwen3NextGatedDeltaNet.forward).
"""
ACTIVATED = 1
"""The activation function of a dense network (vLLM, csrc/activation_kernels.cu, silu_and_mul)."""
CONVERTED, CONVERTED_LATENT = 2, 3
"""Conversions of inputs to 8 bits in one mixer whose weights have scales in blocks: of each GEMM that is not absorbed."""
UNFUSED = 1
"""Conversions of other narrow formats in one mixer: the output of attention. Those of norms and activation functions are
part of these kernels (TensorRT-LLM; vLLM, vllm/compilation/fusion.py, RMSNormQuantFusionPass, ActivationQuantFusionPass).
"""


def passes_per_step(engine: Engine) -> float:
    """The kernels that pass over activations in one step through all layers. Those of routed experts are in the floor
    of their fused layer; those of shared experts run beside them on another stream.
    """
    if not captures_graphs(engine) or engine.cluster.accelerator.vendor in WHOLE_GRAPHS:
        return 0.0  # the host launches them with GEMMs, or a compiler fuses them with these
    model, whole = engine.model, engine.whole
    softmax = whole.full_layers + whole.window_layers
    mixers = softmax + whole.linear_layers
    norms = NORM * (mixers + whole.dense_layers + whole.moe_layers)
    normed = 1 if model.block is not None and model.block.qk_norm else 0
    keys = LATENT if model.latent else KEYS + normed
    networks = ACTIVATED * whole.dense_layers
    return float(norms + keys * softmax + LINEAR * whole.linear_layers + networks + _conversions(engine, mixers))


def _conversions(engine: Engine, mixers: int) -> int:
    """The kernels that convert activations alone; none for GEMMs in 16 bits."""
    model = engine.model
    if engine.precision not in NARROW or engine.cluster.accelerator.vendor != NVIDIA:
        return 0
    if not model.fp8_block or model.checkpoint_precision != "fp8":
        return UNFUSED * mixers
    return (CONVERTED_LATENT if model.latent else CONVERTED) * mixers + CONVERTED * engine.whole.dense_layers
