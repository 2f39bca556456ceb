"""Times of kernels of a serving step in addition to their bytes and operations."""

from __future__ import annotations

from clusterspec.cost.formulas import formula


@formula("depth * along")
def depth_time(depth: float, along: float) -> float:
    """Seconds that products with few tiles take in addition to reading their weights.

    ``depth`` adds up the elements along which each product sums, without elements that are summed while weights are
    read;
    ``along`` is the time of one such kernel.

    Source: a tile multiplies slice after slice along the depth. On H200 512 columns of FP8 in blocks take 5.3 us for
    1,024 elements and 12 us for 7,168, 1.1 ns each (ai-dynamo/aiconfigurator at 095f58a5, gemm_perf, TensorRT-LLM).

    >>> round(depth_time(7168, 1.1e-9), 10)
    7.8848e-06
    """
    return depth * along


@formula("drafts * (layers * layer + head)")
def drafting_time(drafts: float, layers: float, layer: float, head: float) -> float:
    """The time to draft ``drafts`` tokens one after another, each with ``layers`` layers of ``layer`` seconds and one
    head.

    Source: EAGLE, arXiv 2401.15077, section 3.1.

    >>> round(drafting_time(4, 1, 2e-4, 5e-5), 9)
    0.001
    """
    return drafts * (layers * layer + head)
