"""Utilization: the share of the machine's peak that a computation achieves. Floats or arrays.

FLOPs are of the whole machine, peaks dense FLOP/s of one device, times in seconds.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula


@formula("flops / (devices * peak * utilization)")
def compute_time(flops: float, devices: float, peak: float, utilization: float = 1.0) -> float:
    """Seconds of an amount of work at utilization u: t = F / (n P u).

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 5.1 (solved for the time).

    >>> compute_time(1e18, 8, 1e15, 0.5)
    250.0
    """
    return flops / (devices * peak * utilization)


@formula("flops / (devices * seconds * peak)")
def utilization(flops: float, seconds: float, devices: float, peak: float) -> float:
    """The achieved share of the peak: u = F / (n t P).

    With the FLOPs of the model this is MFU, with those that the hardware did, recomputation
    among them, HFU.

    Source: PaLM, 2022, arXiv 2204.02311, appendix B.

    >>> utilization(1e18, 250.0, 8, 1e15)
    0.5
    """
    return flops / (devices * seconds * peak)


@formula("1 + recomputed / 3")
def recomputation_factor(recomputed: float) -> float:
    """Hardware FLOPs per FLOP of the model, HFU over MFU: 1 + r / 3.

    ``recomputed`` (r) is the share of the forward pass that is done again; the forward pass is a
    third of the model's FLOPs.

    Source: Korthikanti et al., arXiv 2205.05198, section 5 (full recomputation: 4/3).

    >>> round(recomputation_factor(1), 4), recomputation_factor(0)
    (1.3333, 1.0)
    """
    return 1 + recomputed / 3
