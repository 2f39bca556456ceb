"""Bytes of activations that a step of a serving engine moves between its GEMMs."""

from __future__ import annotations

from clusterspec.cost.formulas.memory import share_of_heads
from clusterspec.cost.serving import constants
from clusterspec.quantity import precision_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.serving.engine import Engine

WIDE = 2.0
"""Bytes of an element in 16 bits."""


def activation_bytes(engine: Engine, tokens: float, busy: float) -> float:
    """Bytes that a step of ``tokens`` on each of ``busy`` attention ranks reads and writes between GEMMs, on one rank.

    Kernels of vLLM at v0.6.1 (csrc/layernorm_kernels.cu, fused_add_rms_norm; csrc/pos_encoding_kernels.cu;
    csrc/activation_kernels.cu, silu_and_mul), as those of TensorRT-LLM and SGLang: before attention and before the
    network the sum with the residual, which is kept, and its norm; positions of queries and keys, with values into the
    cache; the activation of the network. The input of the next GEMM is written in that GEMM's precision. Norms are the
    same on all tensor-parallel ranks, heads and networks are divided. Experts also sort, convert and add copies of
    tokens; the activation of routed experts is in the time of their fused kernels.
    """
    model, whole, layout = engine.model, engine.whole, engine.layout
    narrow = min(WIDE, precision_width(engine.precision))
    norms = 2 * (3 * WIDE + narrow) * model.hidden
    keys = 0.0 if model.latent or not model.kv_heads else share_of_heads(model.kv_heads, layout.tp)
    positions = 2 * WIDE * model.head_dim * (share_of_heads(model.heads, layout.tp) + 2 * keys)
    inputs = model.ffn_matrices - 1
    networks = whole.dense_layers * model.ffn_hidden + whole.moe_layers * model.shared_width
    activated = (inputs * WIDE + narrow) * networks / layout.tp
    copies = tokens * model.experts_per_token * busy / max(1, layout.ep if layout.attention_dp > 1 else 1)
    routed = constants.ROUTED_PASSES.value * whole.moe_layers * copies * model.hidden * WIDE
    return tokens * (model.layers * (norms + positions) + activated) + routed
