"""Time of the optimizer's step. Floats or arrays, seconds."""

from __future__ import annotations

from clusterspec.cost.expressions import formula


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
