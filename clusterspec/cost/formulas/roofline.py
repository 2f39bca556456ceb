"""Time of a kernel on one device. All functions take floats or arrays."""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import larger, positive


@formula("max(flops / rate, traffic / bandwidth)")
def roofline(flops: float, rate: float, traffic: float, bandwidth: float) -> float:
    """Seconds of a kernel bound by arithmetic or by memory: t = max(F / R, B / β).

    ``flops`` operations at ``rate`` FLOP/s, ``traffic`` bytes at ``bandwidth`` B/s (reads and
    writes together).

    Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for
    multicore architectures", CACM 52(4), 2009.

    >>> roofline(2e12, 1e12, 1e12, 2e12)
    2.0
    """
    return larger(flops / rate, traffic / bandwidth)


@formula("max(0, host - device)")
def launch_idle(device: float, host: float) -> float:
    """Seconds that a device waits for kernel launches of the host: t = max(0, t_host − t_device).

    Launches are asynchronous: over a run of kernels the host either stays ahead of the device, or
    the device waits until it has launched them all.

    >>> launch_idle(100e-6, 50e-6), launch_idle(1.0, 3.0)
    (0.0, 2.0)
    """
    return positive(host - device)


@formula("traffic / bandwidth")
def streaming(traffic: float, bandwidth: float) -> float:
    """Seconds of a kernel that is bound by memory alone: t = B / β.

    Source: Williams, Waterman, Patterson, CACM 52(4), 2009.

    >>> streaming(1e12, 2e12)
    0.5
    """
    return traffic / bandwidth


@formula("launches * gap + max(0, launches * interval + expert_launches * expert_interval - device - launches * gap)")
def launching(
    launches: float, device: float, *, gap: float, interval: float, expert_launches: float, expert_interval: float
) -> float:
    """Seconds that launch overhead adds to ``device`` seconds of kernels and exposed communication.

    Each launch leaves the device idle for ``gap`` seconds, and takes the host ``interval`` seconds;
    experts that it launches one by one take ``expert_interval`` each.

    >>> host = {"gap": 0.1, "interval": 0.5, "expert_launches": 0, "expert_interval": 0.0}
    >>> launching(10, 2.0, **host), launching(10, 9.0, **host)
    (3.0, 1.0)
    """
    gaps = launches * gap
    return gaps + launch_idle(device + gaps, launches * interval + expert_launches * expert_interval)
