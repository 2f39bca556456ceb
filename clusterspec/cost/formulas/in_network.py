"""Reduction in the switches. Floats or arrays; bytes, seconds, bytes per second and direction.

Source: Graham et al., "Scalable hierarchical aggregation protocol (SHARP)", COMHPC 2016; for
NVSwitch: NVIDIA, "Upgrading multi-GPU interconnectivity with the third-generation NVIDIA
NVSwitch", 2022: an all-reduce sends N + 1 instead of 2 N pieces.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.bus import all_reduce_factor


@formula("size * (1 + 1 / ranks)")
def all_reduce_traffic(size: float, ranks: float) -> float:
    """Bytes over the link of each rank when its switch reduces and multicasts: (1 + 1 / n) S.

    Each rank offers its whole buffer once, and once more the reduced n-th part that it owns.

    >>> all_reduce_traffic(8e9, 8)
    9000000000.0
    """
    return size * (1 + 1 / ranks)


@formula("latency + size * (1 + 1 / ranks) / bandwidth")
def all_reduce_time(size: float, ranks: float, bandwidth: float, latency: float = 0.0) -> float:
    """Seconds of an all-reduce in the switch of one domain: t = α + (1 + 1 / n) S / B.

    >>> all_reduce_time(8e9, 8, 450e9)
    0.02
    """
    return latency + all_reduce_traffic(size, ranks) / bandwidth


@formula("2 * ranks / (ranks + 1)")
def gain(ranks: float) -> float:
    """Traffic of a ring of many ranks over that of in-network reduction: 2 n / (n + 1).

    >>> round(gain(8), 4), gain(1)
    (1.7778, 1.0)
    """
    return 2 * ranks / (ranks + 1)


@formula("2 * (ranks - 1) / ranks * bandwidth / (1 + 1 / ranks)")
def bus_bandwidth_ceiling(ranks: float, bandwidth: float) -> float:
    """The highest bus bandwidth that an all-reduce in the switch can show: 2 B (n − 1) / (n + 1).

    >>> bus_bandwidth_ceiling(8, 450e9) / 1e9
    700.0
    """
    return all_reduce_factor(ranks) * bandwidth / (1 + 1 / ranks)
