"""The kernels of a step that pass over activations: norms, positions, conversion, activation functions."""

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
STREAMS = 11
"""Kernels that mix the four residual streams before and after the mixer and the network of a layer with compressed
attention, as many as they take: 24 us with one token on H200 (DeepSeek-V4 Flash, vLLM 0.24.0; ai-dynamo/aiconfigurator,
commit 095f58a5, mhc_module).
"""
ACTIVATED = 1
"""The activation function of a dense network (vLLM, csrc/activation_kernels.cu, silu_and_mul)."""
CONVERTED, CONVERTED_LATENT = 2, 3
"""Conversions of inputs to 8 bits in one mixer whose weights have scales in blocks: one before each GEMM that is not
absorbed.
"""
UNFUSED = 1
"""Conversions to other narrow formats in one mixer: of the output of attention. Norms and activation functions convert
what they write (vLLM, vllm/compilation/fusion.py, RMSNormQuantFusionPass and ActivationQuantFusionPass).
"""


def passes_per_step(engine: Engine) -> float:
    """The kernels that pass over activations in one step through all layers. Those of routed experts are in the floor
    of their fused layer; those of shared experts run beside them on another stream.

    None where the host launches each kernel with the GEMM before it, or where a compiler fuses both.
    """
    if not captures_graphs(engine) or engine.cluster.accelerator.vendor in WHOLE_GRAPHS:
        return 0.0
    model, whole = engine.model, engine.whole
    softmax, linear = whole.full_layers + whole.window_layers, whole.linear_layers
    compact = bool(model.latent or model.compressed)
    normed = 1 if model.block is not None and model.block.qk_norm else 0
    keys = LATENT if compact else KEYS + normed
    found = NORM * (softmax + linear + whole.dense_layers + whole.moe_layers) + ACTIVATED * whole.dense_layers
    found += keys * softmax + LINEAR * linear + (STREAMS * softmax if model.compressed else 0)
    return float(found + _conversions(engine, softmax + linear))


def blocks_scaled(engine: Engine) -> bool:
    """Whether blocks of weights have scales of their own, as the checkpoint was trained."""
    return bool(engine.model.fp8_block) and engine.model.checkpoint_precision == "fp8"


def gemm_software(engine: Engine) -> str:
    """The software of an engine, or its generation, whose dense GEMMs were measured; with ``_block`` where blocks of
    weights have scales.
    """
    own = f"{engine.software}_{engine.software_year:g}", engine.software
    scaled = tuple(f"{name}_block" for name in own) if engine.precision == "fp8" and blocks_scaled(engine) else ()
    return engine.rates.measured_software(engine.precision, *scaled, *own)


def converting_gemms(engine: Engine) -> tuple[float, float] | None:
    """The GEMMs of a step that convert their inputs, and the seconds of the smallest, conversion included, as measured
    for the engine's software; None where that was not measured.

    Routers, absorbed matrices and GEMMs of an index stay in 16 bits, as does latent attention beside weights in 4 bits
    (NVIDIA's model card of DeepSeek-R1-FP4: "only the weights and activations of the linear operators within
    transformer blocks" of experts and networks are in 4 bits).
    """
    if engine.precision not in NARROW or engine.cluster.accelerator.kernels is None:
        return None
    kind = f"{engine.precision}_block" if blocks_scaled(engine) and engine.precision == "fp8" else engine.precision
    own = f"{engine.software}_{engine.software_year:g}", engine.software
    floor = engine.rates.converting_floor(kind, *own)
    if floor is None:
        return None
    model, whole = engine.model, engine.whole
    each = CONVERTED_LATENT if model.latent or model.compressed else CONVERTED
    if model.latent and engine.precision == "fp4":
        each = 0
    mixers = whole.full_layers + whole.window_layers + whole.linear_layers
    return float(each * mixers + CONVERTED * whole.dense_layers), floor


def _conversions(engine: Engine, mixers: int) -> int:
    """The kernels that convert activations alone; none for GEMMs in 16 bits, and where they are part of GEMMs."""
    model = engine.model
    if engine.precision not in NARROW or engine.cluster.accelerator.vendor != NVIDIA:
        return 0
    if converting_gemms(engine) is not None:
        return 0
    if not blocks_scaled(engine):
        return UNFUSED * mixers
    each = CONVERTED_LATENT if model.latent or model.compressed else CONVERTED
    return each * mixers + CONVERTED * engine.whole.dense_layers
