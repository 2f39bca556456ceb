"""Bytes of activations, buffers and gathered weights on one rank, and cache elements of one layer."""

from __future__ import annotations

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.compute import larger, smaller

SCORES = 5
"""Bytes per score that plain attention stores: the softmax and its dropout in 16 bits, and a mask."""


@formula("tokens * hidden * (width + kept) / ranks")
def residual_bytes(tokens: float, hidden: float, ranks: float, *, width: float = 2, kept: float = 2) -> float:
    """A normalization's input and its output, which products take in: B = t h (w + k) / r.

    A layer has two of them. r is the tensor-parallel degree under sequence parallelism, else 1.

    Source: Korthikanti et al., arXiv 2205.05198, section 4.1.

    >>> residual_bytes(2048, 12288, 1) == 4 * 2048 * 12288
    True
    """
    return tokens * hidden * (width + kept) / ranks


@formula("width * tokens * (2 * queries + 2 * keys) / ranks")
def attention_bytes(tokens: float, queries: float, keys: float, ranks: float, *, width: float = 2) -> float:
    """Queries, keys, values and the output of attention: B = w t (2 q + 2 k) / r.

    ``queries`` is heads times head dimension, ``keys`` key-value heads times head dimension.

    Source: Korthikanti et al., arXiv 2205.05198, section 4.1, with GQA's narrower keys.

    >>> attention_bytes(2048, 12288, 12288, 1) == 8 * 2048 * 12288
    True
    """
    return width * tokens * (2 * queries + 2 * keys) / ranks


@formula("4 * tokens * heads / ranks")
def softmax_bytes(tokens: float, heads: float, ranks: float) -> float:
    """The log-sum-exp that flash attention stores for each row in fp32: B = 4 t a / r.

    Source: Dao et al., "FlashAttention", arXiv 2205.14135, algorithm 1.

    >>> softmax_bytes(2048, 96, 8)
    98304.0
    """
    return 4 * tokens * heads / ranks


@formula("5 * tokens * keys * heads / ranks")
def scores_bytes(tokens: float, keys: float, heads: float, ranks: float) -> float:
    """Bytes that plain attention stores for its score matrices: B = 5 a t s / r.

    Source: Korthikanti et al., arXiv 2205.05198, section 4.1.

    >>> scores_bytes(2048, 2048, 96, 1) == 5 * 96 * 2048**2
    True
    """
    return SCORES * tokens * keys * heads / ranks


@formula("width * tokens * (2 * (query_rank + key_rank) + rope) / cut")
def latent_bytes(
    tokens: float, query_rank: float, key_rank: float, rope: float, cut: float, *, width: float = 2
) -> float:
    """The compressed queries and keys of latent attention, before and after their norms: B = 2 w t (q + c) + w t r.

    ``cut`` is the tensor-parallel degree under sequence parallelism, else 1.

    Source: DeepSeek-V2, arXiv 2405.04434, section 2.1.

    >>> latent_bytes(1, 1536, 512, 64, 1)
    8320.0
    """
    return width * tokens * (2 * (query_rank + key_rank) + rope) / cut


@formula("width * tokens * heads * (2 * (head_dim + rope) + 2 * head_dim) / ranks")
def latent_heads_bytes(
    tokens: float, heads: float, head_dim: float, rope: float, ranks: float, *, width: float = 2
) -> float:
    """Latents of latent attention expanded to heads: B = w t a (2 (d + r) + 2 d) / t_p.

    Queries and keys with their rotary part, and the expanded keys and values they come from.

    Source: DeepSeek-V2, arXiv 2405.04434, section 2.1.

    >>> latent_heads_bytes(1, 128, 128, 64, 1)
    163840.0
    """
    return width * tokens * heads * (2 * (head_dim + rope) + 2 * head_dim) / ranks


@formula("tokens * ffn * (width * (matrices - 1) + kept) / ranks")
def ffn_bytes(tokens: float, ffn: float, matrices: float, ranks: float, *, width: float = 2, kept: float = 2) -> float:
    """Outputs of the first GEMMs of a feed-forward network and input of its last: B = t f (w (n − 1) + k) / r.

    Source: Korthikanti et al., arXiv 2205.05198, section 4.1 (two matrices); SwiGLU has three.

    >>> ffn_bytes(2048, 4 * 12288, 2, 1) == 16 * 2048 * 12288
    True
    """
    return tokens * ffn * (width * (matrices - 1) + kept) / ranks


@formula("tokens * chosen * expert_ranks / ranks")
def routed_tokens(tokens: float, chosen: float, ranks: float, expert_ranks: float) -> float:
    """Tokens received by the experts of one rank with balanced routing: n = t k e / r.

    Each token selects ``chosen`` experts; ``ranks`` hold different tokens. The ``expert_ranks`` that share one expert
    by tensor parallelism gather each other's tokens.

    Source: Fedus et al., "Switch Transformers", arXiv 2101.03961, section 2.2, at capacity factor 1.

    >>> routed_tokens(4096, 8, 1, 1)
    32768.0
    """
    return tokens * chosen * expert_ranks / ranks


@formula("width * copies * tokens * heads_width / ranks")
def exchanged_bytes(tokens: float, heads_width: float, copies: float, ranks: float, *, width: float = 2) -> float:
    """Tensors in transit in context parallelism: B = w c t k / r.

    A token has ``heads_width`` (k) elements. ``copies`` (c) counts the buffers: in a ring, those received ahead and
    their gradients; with an all-gather, the keys and values of all ranks.

    Source: Liu et al., "Ring Attention", arXiv 2310.01889, section 3.

    >>> exchanged_bytes(4096, 2048, 4, 1)
    67108864.0
    """
    return width * copies * tokens * heads_width / ranks


@formula("width * tokens * vocab / ranks")
def logits_bytes(tokens: float, vocab: float, ranks: float, width: float) -> float:
    """The output head's logits and the intermediate results of the loss: B = w t V / r.

    ``width`` counts all copies that exist at the same time: 16-bit logits, fp32 logits, probabilities
    and gradients.

    Source: Korthikanti et al., arXiv 2205.05198, section 4.3.

    >>> logits_bytes(2048, 51200, 8, 6)
    78643200.0
    """
    return width * tokens * vocab / ranks


@formula("min(stages - stage, micro_batches)")
def stored_micro_batches(stages: float, stage: float, micro_batches: float) -> float:
    """Micro-batches whose activations a stage of 1F1B holds: n = min(p − i, m), i from 0.

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 2.2.1.

    >>> stored_micro_batches(8, 0, 64), stored_micro_batches(8, 7, 64), stored_micro_batches(8, 0, 4)
    (8.0, 1.0, 4.0)
    """
    return smaller(stages - stage, micro_batches)


@formula("min(2 * (stages - stage - 1) + (virtual_stages - 1) * stages + 1, micro_batches * virtual_stages)")
def stored_interleaved_passes(stages: float, stage: float, virtual_stages: float, micro_batches: float) -> float:
    """Passes through one chunk whose activations a stage holds with v interleaved chunks.

    ``n = min(2 (p − i − 1) + (v − 1) p + 1, m v)``; on the first stage this is 1F1B's memory
    times 1 + (p − 1) / (p v).

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 2.2.2; Korthikanti et al., section 4.2.3.

    >>> stored_interleaved_passes(4, 0, 5, 64), stored_interleaved_passes(4, 3, 5, 64)
    (23.0, 17.0)
    """
    return smaller(2 * (stages - stage - 1) + (virtual_stages - 1) * stages + 1, micro_batches * virtual_stages)


# Bytes of one rank other than states and standard activations: inputs, buffers, gathered weights


@formula("width * tokens * elements / ranks")
def tensor_bytes(tokens: float, elements: float, ranks: float, width: float = 2) -> float:
    """One tensor with ``elements`` for each token: B = w t e / r.

    Source: Korthikanti et al., arXiv 2205.05198, section 4.

    >>> tensor_bytes(2048, 12288, 8)
    6291456.0
    """
    return width * tokens * elements / ranks


@formula("width * tokens * chosen * (hidden + max(hidden, widest))")
def received_bytes(tokens: float, chosen: float, hidden: float, widest: float, width: float = 2) -> float:
    """Buffers of the experts of a rank for tokens of other ranks, each with a copy for ``chosen`` experts.

    Two are alive at once: the inputs, in whose place the second GEMM or its input comes, and the outputs of the first
    GEMM with ``widest`` elements, in whose place those of the second come: B = w t k (h + max(h, f)).

    Source: NVIDIA/TensorRT-LLM at ac73e31, cpp/tensorrt_llm/kernels/cutlass_kernels/moe_gemm/moe_kernels.cu
    (getWorkspaceDeviceBufferSizes): rows for all experts of all tokens, any of which a rank may have to compute.

    >>> received_bytes(57344, 8, 7168, 4096) / 1e9
    13.153337344
    """
    return width * tokens * chosen * (hidden + larger(hidden, widest))


@formula("routed * (hidden * kept + ffn * (width * (matrices - 1) + kept) / ranks)")
def expert_bytes(
    routed: float, hidden: float, ffn: float, matrices: float, ranks: float, *, width: float = 2, kept: float = 2
) -> float:
    """Inputs and intermediate results of experts for ``routed`` tokens: B = n (h k + f (w (m − 1) + k) / r).

    Source: Fedus et al., "Switch Transformers", arXiv 2101.03961, section 2.2.

    >>> expert_bytes(1, 4096, 14336, 3, 1)
    94208.0
    """
    return routed * (hidden * kept + ffn * (width * (matrices - 1) + kept) / ranks)


@formula("recomputed + width * tokens * (matrices * widest + 2 * hidden / ranks)")
def backward_bytes(
    recomputed: float, tokens: float, widest: float, *, hidden: float, matrices: float, ranks: float, width: float = 2
) -> float:
    """Memory of one layer's backward pass beyond stored activations: recomputed activations and gradients.

    B = a + w t (m e + 2 h / r): gradients of the widest tensors (e) of m matrices, of the layer's input and output.

    Source: Korthikanti et al., arXiv 2205.05198, section 5.

    >>> backward_bytes(1000, 1, 28672, hidden=8192, matrices=3, ranks=1)
    205800.0
    """
    return recomputed + width * tokens * (matrices * widest + 2 * hidden / ranks)


@formula("width * min(min(at_once, units) * unit, live)")
def gathered_bytes(unit: float, units: float, at_once: float, live: float, width: float = 2) -> float:
    """Weights gathered by full sharding, where the framework limits them: B = w min(min(k, L) u, n).

    Source: Rajbhandari et al., "ZeRO-Infinity", arXiv 2104.07857, section 5 (``stage3_max_live_parameters``).

    >>> gathered_bytes(8e8, 80, 2, 1e9)
    2000000000.0
    """
    return width * smaller(smaller(at_once, units) * unit, live)


@formula("(width + reduced) * min(unit, live)")
def reduced_bytes(unit: float, live: float, reduced: float, width: float = 2) -> float:
    """The full gradient of one unit, and its copy in the reduction: B = (w + r) min(u, n).

    Source: Zhao et al., "PyTorch FSDP", VLDB 2023, arXiv 2304.11277, section 4.3.

    >>> reduced_bytes(1e9, 1e12, 4)
    6000000000.0
    """
    return (width + reduced) * smaller(unit, live)


@formula("width * min(group, dense / dense_ranks + expert / expert_ranks)")
def sub_group_bytes(
    group: float, *, dense: float, dense_ranks: float, expert: float, expert_ranks: float, width: float
) -> float:
    """Gradients that a sharded optimizer widens at a time: B = w min(g, P_d/r_d + P_e/r_e).

    ``group`` is the largest number that one rank updates at a time; the rest are those of weights outside
    experts and of experts, and the ranks that shard them.

    Source: DeepSpeed configuration, ``sub_group_size``.

    Range: dense_ranks >= 1, expert_ranks >= 1.

    >>> sub_group_bytes(1e9, dense=8e9, dense_ranks=2, expert=0, expert_ranks=1, width=4)
    4000000000.0
    >>> sub_group_bytes(1e9, dense=8e8, dense_ranks=2, expert=0, expert_ranks=1, width=4)
    1600000000.0
    """
    return width * smaller(group, dense / dense_ranks + expert / expert_ranks)


@formula("width * min(buckets, 2 * weights)")
def bucket_bytes(buckets: float, weights: float, width: float = 2) -> float:
    """Flat buffers in which gradients are reduced and weights gathered: B = w min(b, 2 P).

    Source: DeepSpeed configuration, ``reduce_bucket_size`` and ``allgather_bucket_size``.

    >>> bucket_bytes(1e9, 1e8)
    400000000.0
    """
    return width * smaller(buckets, 2 * weights)


@formula("count * each")
def buffer_bytes(count: float, each: float) -> float:
    """The bytes of several buffers of one size: B = n b.

    Source: arithmetic.

    >>> buffer_bytes(4, 250e6)
    1000000000.0
    """
    return count * each


@formula("tokens * (width * queries + 4 * chosen)")
def index_bytes(tokens: float, queries: float, chosen: float, *, width: float = 2) -> float:
    """Queries of a sparse index, and the selected tokens as 32-bit numbers: B = t (w q + 4 n).

    Source: DeepSeek-V3.2, arXiv 2512.02556, section 2.1.

    >>> index_bytes(2048, 8192, 2048)
    50331648
    """
    return tokens * (width * queries + 4 * chosen)


@formula("width * tokens * (4 * keys + 5 * values) / ranks")
def recurrence_bytes(tokens: float, keys: float, values: float, ranks: float, *, width: float = 2) -> float:
    """Activations of linear attention: convolution, recurrence, gate and norm: B = w t (4 k + 5 v) / r.

    Source: Yang et al., "Gated Delta Networks", arXiv 2412.06464, section 3.

    >>> recurrence_bytes(2048, 256, 256, 1)
    9437184.0
    """
    return width * tokens * (4 * keys + 5 * values) / ranks


# State kept per sequence in serving, per layer and in elements


@formula("min(tokens, window)")
def cached_tokens(tokens: float, window: float) -> float:
    """Tokens of a sequence that a layer with a window keeps: ``n = min(s, w)``.

    Source: Beltagy et al., *Longformer*, 2020 (arXiv 2004.05150); Mistral 7B (arXiv 2310.06825), section 2.

    >>> cached_tokens(8192.0, 1024), cached_tokens(512.0, 1024)
    (1024.0, 512.0)
    """
    return smaller(tokens, window)


@formula("kv_heads * (key_dim + value_dim)")
def key_value_width(kv_heads: float, key_dim: float, value_dim: float) -> float:
    """Elements that one layer keeps of a token: ``c = k·(d_k + d_v)``.

    Source: Pope et al., 2022 (arXiv 2211.05102), section 3.3.

    >>> key_value_width(8, 128, 128)
    2048
    """
    return kv_heads * (key_dim + value_dim)
