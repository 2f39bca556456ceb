"""Weights of transformer matrices, bytes of model states, and seconds of the optimizer step."""

from __future__ import annotations

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.compute import larger


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


@formula("query_width * index_heads * index_dim + hidden * (index_dim + index_heads)")
def index_weights(hidden: float, query_width: float, index_heads: float, index_dim: float) -> float:
    """Weights of the index that ranks keys for sparse attention: ``P = q·i·d + h·(d + i)``.

    Queries of i heads from width q, one key and i head weights per token from hidden width h.

    Source: DeepSeek-V3.2-Exp, 2025 (arXiv 2512.02556), section 2.1.

    >>> index_weights(7168, 1536, 64, 128)
    13959168
    """
    return query_width * index_heads * index_dim + hidden * (index_dim + index_heads)


@formula("hidden * (q_rank + kv_rank + rope)")
def latent_down_weights(hidden: float, q_rank: float, kv_rank: float, rope: float) -> float:
    """Weights that compress one layer's input in multi-head latent attention.

    ``P = h·(q + c + r)`` with query rank q (0 if queries are not compressed), key-value rank
    c and shared rotary width r. Tensor parallelism does not cut them.

    Source: DeepSeek-V2, 2024 (arXiv 2405.04434), section 2.1.

    >>> latent_down_weights(7168, 1536, 512, 64)
    15138816
    """
    return hidden * (q_rank + kv_rank + rope)


@formula("heads * (q_width * (head_dim + rope) + kv_rank * (head_dim + value_dim) + value_dim * hidden)")
def latent_up_weights(
    hidden: float,
    heads: float,
    head_dim: float,
    value_dim: float,
    *,
    q_width: float,
    kv_rank: float,
    rope: float,
) -> float:
    """Weights that expand the latents to heads, and the output projection.

    ``P = w·a·(d + r) + c·a·(d + v) + a·v·h``: queries from width w (the query rank, or the hidden
    width where queries are not compressed), keys and values from rank c, and the output.

    Source: DeepSeek-V2, 2024 (arXiv 2405.04434), section 2.1.

    >>> up = latent_up_weights(7168, 128, 128, 128, q_width=1536, kv_rank=512, rope=64)
    >>> up + latent_down_weights(7168, 1536, 512, 64)
    187105280
    """
    return heads * (q_width * (head_dim + rope) + kv_rank * (head_dim + value_dim) + value_dim * hidden)


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

    >>> share_of_heads(8, 4), share_of_heads(8, 16), share_of_heads(40, 32)
    (2.0, 1.0, 2.0)
    """
    return larger(-(-heads // ranks), 1)


# Bytes of model states per weight, and their sharding


@formula("weights * width / ranks")
def sharded_bytes(weights: float, width: float, ranks: float) -> float:
    """Bytes of one state of ``weights`` numbers, of ``width`` bytes each, cut over ``ranks``: B = P w / n.

    Source: Rajbhandari et al., "ZeRO", SC20, arXiv 1910.02054, section 5.

    >>> sharded_bytes(7.5e9, 12, 64)
    1406250000.0
    """
    return weights * width / ranks


@formula("weights * width")
def checkpoint_bytes(weights: float, width: float = 14) -> float:
    """Bytes of a checkpoint: B = P w, with weights in bf16 and, for Adam, weights and two moments in fp32.

    Source: Rajbhandari et al., "ZeRO", SC20, arXiv 1910.02054, section 3.1, without the gradients.

    >>> checkpoint_bytes(70.6e9) / 1e9
    988.4
    """
    return weights * width


@formula("rank * (inputs + outputs)")
def adapter_weights(inputs: float, outputs: float, rank: float) -> float:
    """Weights of the low-rank adapter of a matrix: ``P = r·(k + n)``.

    ``inputs`` is the width k of its input, counted for each adapter where several matrices run as one GEMM.

    Source: Hu et al., *LoRA*, 2021 (arXiv 2106.09685), section 4.1.

    >>> adapter_weights(4096, 4096, 8)
    65536
    """
    return rank * (inputs + outputs)


# Time of the optimizer's step. Floats or arrays, seconds


@formula("(1 - offloaded) * bytes_each * weights / bandwidth")
def update_time(weights: float, bytes_each: float, bandwidth: float, offloaded: float = 0.0) -> float:
    """Seconds of updating ``weights`` at memory speed: t = (1 − o) P w / β.

    ``bytes_each`` (w) are read and written for each weight, ``offloaded`` (o) is the share in host memory.

    Source: Rajbhandari et al., "ZeRO-Infinity", SC21, arXiv 2104.07857, section 4.

    >>> update_time(1e9, 34.0, 3.4e12), update_time(1e9, 34.0, 3.4e12, 0.5)
    (0.01, 0.005)
    """
    return (1 - offloaded) * bytes_each * weights / bandwidth


@formula("offloaded * gradient_bytes * weights / host_bandwidth")
def offload_time(weights: float, gradient_bytes: float, host_bandwidth: float, offloaded: float) -> float:
    """Seconds on the host bus for the share of the weights that is updated in host memory: t = o P g / B.

    Gradients are copied to the host while weights are copied back; the computation of the host overlaps with these
    copies.

    Source: Ren et al., "ZeRO-Offload", ATC 2021, arXiv 2101.06840, section 4.

    >>> offload_time(1e9, 4.0, 4e10, 0.5)
    0.05
    """
    return offloaded * gradient_bytes * weights / host_bandwidth
