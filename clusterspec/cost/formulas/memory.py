"""Bytes of activations, buffers and model states on one rank, and weights of the parts of a layer."""

from __future__ import annotations

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.compute import larger, smaller


@formula("tokens * hidden * (width + kept) / ranks")
def residual_bytes(tokens: float, hidden: float, ranks: float, *, width: float = 2, kept: float = 2) -> float:
    """A normalization's input and its output, which products take in: B = t h (w + k) / r.

    A layer has two of them. r is the tensor-parallel degree under sequence parallelism, else 1.

    Source: Korthikanti et al., arXiv 2205.05198, section 4.1.

    Range: ranks >= 1.

    >>> residual_bytes(2048, 12288, 1) == 4 * 2048 * 12288
    True
    """
    return tokens * hidden * (width + kept) / ranks


@formula("width * tokens * (2 * queries + 2 * keys) / ranks")
def attention_bytes(tokens: float, queries: float, keys: float, ranks: float, *, width: float = 2) -> float:
    """Queries, keys, values and the output of attention: B = w t (2 q + 2 k) / r.

    ``queries`` is heads times head dimension, ``keys`` key-value heads times head dimension.

    Source: Korthikanti et al., arXiv 2205.05198, section 4.1, with GQA's narrower keys.

    Range: ranks >= 1.

    >>> attention_bytes(2048, 12288, 12288, 1) == 8 * 2048 * 12288
    True
    """
    return width * tokens * (2 * queries + 2 * keys) / ranks


@formula("4 * tokens * heads / ranks")
def softmax_bytes(tokens: float, heads: float, ranks: float) -> float:
    """The log-sum-exp that flash attention stores for each row in fp32: B = 4 t a / r.

    Source: Dao et al., "FlashAttention", arXiv 2205.14135, algorithm 1.

    Range: ranks >= 1.

    >>> softmax_bytes(2048, 96, 8)
    98304.0
    """
    return 4 * tokens * heads / ranks


@formula("(2 * width + 1) * tokens * keys * heads / ranks")
def scores_bytes(tokens: float, keys: float, heads: float, ranks: float, *, width: float = 2) -> float:
    """The parts of the score matrices that plain attention stores: the softmax and its dropout in the width of
    activations, and a mask of one byte: B = (2 w + 1) a t s / r, 5 a t s / r in 16 bits and 9 a t s / r in fp32.

    Source: Korthikanti et al., arXiv 2205.05198, section 4.1.

    Range: ranks >= 1.

    >>> scores_bytes(2048, 2048, 96, 1) == 5 * 96 * 2048**2
    True
    """
    return (2 * width + 1) * tokens * keys * heads / ranks


@formula("tokens * ffn * (width * (matrices - 1) + kept) / ranks")
def ffn_bytes(tokens: float, ffn: float, matrices: float, ranks: float, *, width: float = 2, kept: float = 2) -> float:
    """Outputs of the first GEMMs of a feed-forward network and input of its last: B = t f (w (n − 1) + k) / r.

    Source: Korthikanti et al., arXiv 2205.05198, section 4.1 (two matrices); SwiGLU has three.

    Range: matrices >= 1, ranks >= 1.

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

    Range: ranks >= 1.

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

    Range: ranks >= 1.

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

    Range: ranks >= 1.

    >>> logits_bytes(2048, 51200, 8, 6)
    78643200.0
    """
    return width * tokens * vocab / ranks


# Bytes of one rank other than states and standard activations: inputs, buffers, gathered weights


@formula("width * tokens * elements / ranks")
def tensor_bytes(tokens: float, elements: float, ranks: float, width: float = 2) -> float:
    """One tensor with ``elements`` for each token: B = w t e / r.

    Source: Korthikanti et al., arXiv 2205.05198, section 4.

    Range: ranks >= 1.

    >>> tensor_bytes(2048, 12288, 8)
    6291456.0
    """
    return width * tokens * elements / ranks


@formula("recomputed + width * tokens * (matrices * widest + 2 * hidden / ranks)")
def backward_bytes(
    recomputed: float, tokens: float, widest: float, *, hidden: float, matrices: float, ranks: float, width: float = 2
) -> float:
    """Memory of one layer's backward pass beyond stored activations: recomputed activations and gradients.

    B = a + w t (m e + 2 h / r): gradients of the widest tensors (e) of m matrices, of the layer's input and output.

    Source: Korthikanti et al., arXiv 2205.05198, section 5.

    Range: ranks >= 1.

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

    ``group`` is the largest number of weights that one rank updates at a time. The other arguments are the weights
    outside experts and of experts, and the ranks that shard each.

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


# Weights of the parts of a layer, and the heads of one rank


@formula("hidden * (heads + kv_heads) * (head_dim + value_dim)")
def attention_weights(hidden: float, heads: float, kv_heads: float, head_dim: float, value_dim: float) -> float:
    """Weights of one layer's grouped-query attention.

    ``P = h·(a + k)·(d + v)``: the projections of queries and keys of width d and of outputs and values
    of width v, with hidden width h, a query heads and k key-value heads.

    Source: Ainslie et al., *GQA*, 2023 (arXiv 2305.13245); Vaswani et al., 2017, for k = a.

    >>> attention_weights(8192, 64, 8, 128, 128)
    150994944
    """
    return hidden * (heads + kv_heads) * (head_dim + value_dim)


@formula("hidden * outputs")
def gate_weights(hidden: float, outputs: float) -> float:
    """Weights of a gate on the outputs of attention: ``P = h·n``, one output per head or per element.

    Source: Qiu et al., *Gated Attention for Large Language Models*, 2025 (arXiv 2505.06708).

    >>> gate_weights(4096, 32 * 256)
    33554432
    """
    return hidden * outputs


@formula("matrices * hidden * width")
def ffn_weights(hidden: float, width: float, matrices: float) -> float:
    """Weights of a feed-forward network: ``P = n·h·f``.

    Two matrices, or three where the network is gated (SwiGLU).

    Source: Shazeer, *GLU Variants Improve Transformer*, 2020 (arXiv 2002.05202).

    >>> ffn_weights(8192, 28672, 3)
    704643072
    """
    return matrices * hidden * width


@formula("2 * hidden * latent")
def latent_expert_weights(hidden: float, latent: float) -> float:
    """Weights that project hidden states to the experts' latent width and back: ``P = 2·h·l``.

    Source: Nemotron 3 white paper, NVIDIA, 2025 (LatentMoE).

    >>> latent_expert_weights(4096, 1024)
    8388608
    """
    return 2 * hidden * latent


@formula("2 * hidden * hidden")
def prediction_weights(hidden: float) -> float:
    """Weights that combine a hidden state and the embedding of the next token: ``P = 2·h²``.

    Each module of multi-token prediction has P such weights before its layer; it shares the embedding and the head of
    the model.

    Source: DeepSeek-V3, 2024 (arXiv 2412.19437), section 2.2.

    >>> prediction_weights(7168)
    102760448
    """
    return 2 * hidden * hidden


@formula("rows * hidden")
def embedding_weights(rows: float, hidden: float) -> float:
    """Weights of an embedding table: ``P = V·h`` for tokens, positions, or the output head.

    >>> embedding_weights(128256, 8192)
    1050673152
    """
    return rows * hidden


@formula("max(ceil(heads / ranks), 1)")
def share_of_heads(heads: float, ranks: float) -> float:
    """Heads of one of ``ranks`` tensor-parallel ranks: ``max(ceil(k / t), 1)``.

    A head is never split. With more ranks than key-value heads, several ranks hold a copy of the same head. If the
    ranks do not divide the number of heads, some libraries pad it; padded heads cost as much as others.

    Source: Megatron-LM, ``num_query_groups`` below the tensor-parallel size; GQA, section 2; NxD Core,
    parallel_layers/pad.py, get_number_of_extra_heads (github.com/aws-neuron/neuronx-distributed at c63420c).

    Range: ranks >= 1.

    >>> share_of_heads(8, 4), share_of_heads(8, 16), share_of_heads(40, 32)
    (2.0, 1.0, 2.0)
    """
    return larger(-(-heads // ranks), 1)


@formula("ceil(width / tile) * tile / width")
def filled_share(width: float, tile: float) -> float:
    """A width padded to whole tiles, divided by the unpadded width: ``⌈w / t⌉ t / w``.

    Kernels whose tiles do not divide a matrix multiply zeros that the engine appends to it.

    Source: vLLM, model_executor/layers/quantization/mxfp4.py at 007d5005 (create_weights: round_up).

    Range: width > 0, tile >= 1.

    >>> filled_share(2880, 256), filled_share(2048, 256)
    (1.0666666666666667, 1.0)
    """
    return -(-width // tile) * tile / width


# Bytes of model states per weight, and their sharding


@formula("weights * width / ranks")
def sharded_bytes(weights: float, width: float, ranks: float) -> float:
    """Bytes of one state of ``weights`` numbers, of ``width`` bytes each, cut over ``ranks``: B = P w / n.

    Source: Rajbhandari et al., "ZeRO", SC20, arXiv 1910.02054, section 5.

    Range: ranks >= 1.

    >>> sharded_bytes(7.5e9, 12, 64)
    1406250000.0
    """
    return weights * width / ranks


@formula("rank * (inputs + outputs)")
def adapter_weights(inputs: float, outputs: float, rank: float) -> float:
    """Weights of the low-rank adapter of a matrix: ``P = r·(k + n)``.

    ``inputs`` is the width k of its input, counted for each adapter where several matrices run as one GEMM.

    Source: Hu et al., *LoRA*, 2021 (arXiv 2106.09685), section 4.1.

    >>> adapter_weights(4096, 4096, 8)
    65536
    """
    return rank * (inputs + outputs)
