"""Time of a kernel on one device. All functions take floats or arrays."""

from __future__ import annotations

from clusterspec.cost.formulas.elementwise import Number, larger


def roofline(flops: Number, rate: Number, traffic: Number, bandwidth: Number) -> Number:
    """Seconds of a kernel bound by arithmetic or by memory: t = max(F / R, B / β).

    ``flops`` operations at ``rate`` FLOP/s, ``traffic`` bytes at ``bandwidth`` B/s (reads and
    writes together).

    Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for
    multicore architectures", CACM 52(4), 2009.

    >>> roofline(2e12, 1e12, 1e12, 2e12)
    2.0
    """
    return larger(flops / rate, traffic / bandwidth)


def launch_bound(device: Number, operations: Number, interval: Number) -> Number:
    """Seconds of a run of kernels that a host launches: t = max(t_device, n τ).

    Launches are asynchronous: the host either stays ahead of the device, or the device waits
    ``interval`` (τ, seconds) for each of the ``operations`` (n).

    >>> launch_bound(100e-6, 10, 5e-6)
    0.0001
    >>> launch_bound(10e-6, 10, 5e-6)
    5e-05
    """
    return larger(device, operations * interval)
