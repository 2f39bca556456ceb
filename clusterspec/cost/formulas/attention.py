"""Attention cores, compressed entries and recurrences: FLOPs, bytes, weights and elements."""

from __future__ import annotations

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.compute import smaller

# Attention to compressed key-value entries (DeepSeek-V4): weights and cached entries


@formula("q_rank * heads * head_dim + heads * head_dim * output_rank + output_rank * hidden")
def compressed_up_weights(heads: float, head_dim: float, hidden: float, q_rank: float, output_rank: float) -> float:
    """Weights of one layer that tensor parallelism shards, for one group of heads and the group's output.

    ``P = q·a·d + a·d·o + o·h``: queries from rank q, the output of the group's a heads into rank o, and the projection
    back to the hidden width. A layer has P weights for each output group.

    Source: DeepSeek-V4, 2026 (arXiv 2606.19348), section 2.

    >>> 16 * compressed_up_weights(8, 512, 7168, 1536, 1024)
    285212672
    """
    return q_rank * heads * head_dim + heads * head_dim * output_rank + output_rank * hidden


@formula("hidden * (q_rank + head_dim)")
def compressed_down_weights(hidden: float, q_rank: float, head_dim: float) -> float:
    """Weights of one layer that every tensor-parallel rank holds: ``P = h·(q + d)``.

    Queries are compressed to rank q; one vector of width d serves as key and value of all heads.

    Source: DeepSeek-V4, 2026 (arXiv 2606.19348), section 2.

    >>> compressed_down_weights(7168, 1536, 512)
    14680064
    """
    return hidden * (q_rank + head_dim)


@formula("overlap * width * (2 * hidden + ratio)")
def compressor_weights(hidden: float, width: float, ratio: float, overlap: float) -> float:
    """Weights that compress tokens into entries of ``width``: ``P = n·w·(2h + m)``.

    A value and a gate projection, and a position bias for each of the m tokens of an entry; n is two if entries
    overlap, else one.

    Source: DeepSeek-V4, 2026 (arXiv 2606.19348), section 2.

    >>> compressor_weights(7168, 512, 4, 2), compressor_weights(7168, 512, 128, 1)
    (14684160, 7405568)
    """
    return overlap * width * (2 * hidden + ratio)


@formula("tokens / ratio")
def compressed_entries(tokens: float, ratio: float) -> float:
    """Compressed entries that one layer caches for a sequence, in addition to the window: ``E = s / m``.

    Source: DeepSeek-V4, 2026 (arXiv 2606.19348), section 2.

    Range: ratio > 0.

    >>> compressed_entries(8192.0, 128)
    64.0
    """
    return tokens / ratio


# Linear attention and state-space layers: weights, recurrent state and work


@formula("hidden * (2 * keys + 2 * values + gates * heads) + convolution * (2 * keys + values) + values * hidden")
def recurrent_weights(
    hidden: float, keys: float, values: float, heads: float, *, gates: float, convolution: float
) -> float:
    """Weights of one layer with a gated delta net (two gates per head) or Mamba-2 (one gate per head).

    ``P = h·(2K + 2V + g·a) + c·(2K + V) + V·h``: the projections of queries, keys, values, output
    gate and g gates per head; the convolution; and the output projection. In Mamba-2 the keys are
    B, the queries C, and the values x.

    Source: Yang et al., *Gated Delta Networks*, 2024 (arXiv 2412.06464); Dao and Gu, *Mamba-2*, 2024
    (arXiv 2405.21060).

    >>> recurrent_weights(2048, 2048, 4096, 32, gates=2, convolution=4)
    33718272
    """
    return hidden * (2 * keys + 2 * values + gates * heads) + convolution * (2 * keys + values) + values * hidden


@formula("hidden * (2 * keys + values + heads) + rank * keys + convolution * (2 * keys + values) + values * hidden")
def channel_gated_weights(
    hidden: float, keys: float, values: float, heads: float, *, rank: float, convolution: float
) -> float:
    """Tensor-parallel (sharded) weights of one Kimi delta attention layer, without the output gate.

    ``P = h·(2K + V + a) + r·K + c·(2K + V) + V·h``: projections of queries, keys, values and one gate
    per head; the decay of every key channel from rank r; the convolution; the output projection.

    Source: Kimi Team, *Kimi Linear*, 2025 (arXiv 2510.26692), section 4.

    >>> channel_gated_weights(2304, 4096, 4096, 32, rank=128, convolution=4)
    38395904
    """
    inputs = hidden * (2 * keys + values + heads) + rank * keys
    return inputs + convolution * (2 * keys + values) + values * hidden


@formula("heads * key_dim * value_dim")
def state_elements(heads: float, key_dim: float, value_dim: float) -> float:
    """Elements of one layer's recurrent state for one sequence: ``S = a·d_k·d_v``, for any length.

    Source: arXiv 2412.06464, section 2; arXiv 2405.21060, section 6.

    >>> state_elements(32, 128, 128)
    524288
    """
    return heads * key_dim * value_dim


@formula("(convolution - 1) * (2 * keys + values)")
def convolution_elements(keys: float, values: float, convolution: float) -> float:
    """Elements that one layer's causal convolution caches for one sequence: ``C = (c − 1)·(2K + V)``.

    Source: arXiv 2405.21060, section 6 (a convolution over c tokens needs the last c − 1).

    Range: convolution >= 1.

    >>> convolution_elements(2048, 4096, 4)
    24576
    """
    return (convolution - 1) * (2 * keys + values)


@formula("2 * products * heads * key_dim * value_dim")
def recurrence_flops(heads: float, key_dim: float, value_dim: float, products: float) -> float:
    """Forward operations of one layer's recurrence for one token: ``F = 2·n·a·d_k·d_v``.

    Each of n products reads or updates the state: two in Mamba-2 (update and read), three in the
    delta rule, which first reads what it replaces.

    Source: arXiv 2412.06464, equation 8; arXiv 2405.21060, equation 2.

    >>> recurrence_flops(32, 128, 128, 3)
    3145728
    """
    return 2 * products * heads * key_dim * value_dim


@formula(
    "2 * heads * (chunk * (key_products * key_dim + value_products * value_dim) + state_products * key_dim * value_dim)"
)
def chunked_flops(
    heads: float,
    key_dim: float,
    value_dim: float,
    *,
    chunk: float,
    key_products: float,
    value_products: float,
    state_products: float,
) -> float:
    """Forward operations of one layer's recurrence for one token in chunks: ``F = 2a·(C·(n·d_k + m·d_v) + p·d_k·d_v)``.

    Training kernels process chunks of C tokens: each token enters n products with the keys and m with the values of its
    chunk, and p products with the state of the chunks before. In Mamba-2 n = m = 1 and p = 2; in the delta rule n = 3,
    m = 2 and p = 3 (the inverse of its small triangular matrix is left out).

    Source: Yang et al., *Gated Delta Networks*, 2024 (arXiv 2412.06464), section 3.3; Dao and Gu,
    *Mamba-2*, 2024 (arXiv 2405.21060), section 6.

    >>> chunked_flops(32, 128, 128, chunk=64, key_products=3, value_products=2, state_products=3)
    5767168
    """
    inside = chunk * (key_products * key_dim + value_products * value_dim)
    return 2 * heads * (inside + state_products * key_dim * value_dim)


@formula(
    "2 * keys + value_passes * values + copies * (heads * key_dim + values) + state_passes * key_dim * values / chunk"
)
def chunked_elements(
    keys: float,
    values: float,
    heads: float,
    key_dim: float,
    *,
    chunk: float,
    copies: float,
    value_passes: float,
    state_passes: float,
) -> float:
    """Elements that chunked kernels move for one token: ``E = 2K + v·V + n·(a·d_k + V) + p·d_k·V / C``.

    Queries and keys in; v passes over values and the output (in Mamba-2 two kernels read the values);
    n passes over keys and values as the delta rule changes them (written once and read once; none in
    Mamba-2); p passes over one state per chunk; a pass in 32 bits counts twice.

    Source: arXiv 2412.06464, section 3.3; arXiv 2405.21060, section 6.

    Range: chunk > 0.

    >>> chunked_elements(2048, 4096, 32, 128, chunk=64, copies=2, value_passes=2, state_passes=2)
    45056.0
    """
    states = state_passes * key_dim * values / chunk
    return 2 * keys + value_passes * values + copies * (heads * key_dim + values) + states


@formula("width * tokens * (2 * (query_rank + key_rank) + rope) / cut")
def latent_bytes(
    tokens: float, query_rank: float, key_rank: float, rope: float, cut: float, *, width: float = 2
) -> float:
    """The compressed queries and keys of latent attention, before and after their norms: B = 2 w t (q + c) + w t r.

    ``cut`` is the tensor-parallel degree under sequence parallelism, else 1.

    Source: DeepSeek-V2, arXiv 2405.04434, section 2.1.

    Range: cut >= 1.

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

    Range: ranks >= 1.

    >>> latent_heads_bytes(1, 128, 128, 64, 1)
    163840.0
    """
    return width * tokens * heads * (2 * (head_dim + rope) + 2 * head_dim) / ranks


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

    Range: ranks >= 1.

    >>> recurrence_bytes(2048, 256, 256, 1)
    9437184.0
    """
    return width * tokens * (4 * keys + 5 * values) / ranks


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


# Keys and values of full attention and of windows, kept for a sequence in serving: per layer, in elements


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
