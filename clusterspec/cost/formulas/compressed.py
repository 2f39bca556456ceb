"""Attention to compressed key-value entries (DeepSeek-V4): weights and cached entries.

Counts are of elements, not bytes; lengths in tokens.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula


@formula("q_rank * heads * head_dim + heads * head_dim * output_rank + output_rank * hidden")
def compressed_up_weights(heads: float, head_dim: float, hidden: float, q_rank: float, output_rank: float) -> float:
    """Weights of one layer that tensor parallelism cuts, for one group of heads and its output.

    ``P = q·a·d + a·d·o + o·h``: queries from rank q, the output of the a heads of a group into rank
    o, and its projection back to the hidden width. A layer has this once for every output group.

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

    A value and a gate projection, and a position bias for each of the m tokens of an entry; n is two
    where entries overlap and one where they do not.

    Source: DeepSeek-V4, 2026 (arXiv 2606.19348), section 2.

    >>> compressor_weights(7168, 512, 4, 2), compressor_weights(7168, 512, 128, 1)
    (14684160, 7405568)
    """
    return overlap * width * (2 * hidden + ratio)


@formula("tokens / ratio")
def compressed_entries(tokens: float, ratio: float) -> float:
    """Entries that one layer keeps of a sequence beside its window: ``E = s / m``.

    Source: DeepSeek-V4, 2026 (arXiv 2606.19348), section 2.

    >>> compressed_entries(8192.0, 128)
    64.0
    """
    return tokens / ratio
