"""Rows of steps that run as graphs compiled before for some numbers of tokens."""

from __future__ import annotations

from math import ceil, log2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.model import Cluster


def compiled_rows(cluster: Cluster, tokens: float) -> float:
    """Rows of the dense products and collectives of a step of ``tokens``: the next power of two, where graphs are
    compiled by size (``smallest_graph`` of the accelerator's entry).

    Attention works on the lengths that there are, and experts on the tokens: what their kernels do with other rows
    depends on the release (MOE_ROUTE_PADDING_TO_EXPERT0). Source: vllm-project/tpu-inference 0.25.0,
    tpu_inference/runner/utils.py (get_token_paddings with its default gap of 0); sgl-project/sglang-jax,
    python/sgl_jax/srt/utils/common_utils.py (PRECOMPILE_DEFAULT_TOKEN_PADDINGS).
    """
    smallest = cluster.accelerator.smallest_graph
    if smallest is None:
        return tokens
    return max(float(smallest), 2.0 ** ceil(log2(max(1.0, tokens)) - 1e-9))


def graph_sizes(cluster: Cluster, most: float) -> tuple[float, ...]:
    """The numbers of tokens, up to ``most``, for which graphs are compiled; none where none are compiled by size."""
    smallest = cluster.accelerator.smallest_graph
    if smallest is None:
        return ()
    return tuple(2.0**power for power in range(ceil(log2(smallest)), int(log2(most)) + 1))


def mean_compiled_rows(cluster: Cluster, tokens: float, full: float, last: float, steps: float) -> float:
    """Mean rows of ``steps`` of ``tokens`` in the mean: all but the last have ``full`` tokens, and it has ``last``."""
    if cluster.accelerator.smallest_graph is None:
        return tokens
    rows = compiled_rows(cluster, last)
    return rows + (steps - 1) / steps * (compiled_rows(cluster, full) - rows)
