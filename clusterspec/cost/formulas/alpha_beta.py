"""Latency and bandwidth of one transfer. Floats or arrays; bytes, seconds, bytes per second."""

from __future__ import annotations

from clusterspec.cost.expressions import formula


@formula("latency + size / bandwidth")
def transfer(latency: float, size: float, bandwidth: float) -> float:
    """Seconds of one message: t = α + S / B.

    Source: Hockney, "The communication challenge for MPP", Parallel Computing 20(3), 1994.

    >>> transfer(2e-6, 50e9, 50e9)
    1.000002
    """
    return latency + size / bandwidth


@formula("latency * bandwidth")
def crossover(latency: float, bandwidth: float) -> float:
    """The message size whose latency equals its transmission time: S½ = α B, in bytes.

    >>> crossover(1e-6, 450e9), crossover(2e-6, 50e9)
    (450000.0, 100000.0)
    """
    return latency * bandwidth


@formula()
def parallel(first: float, second: float) -> float:
    """Two rates or times in parallel: x y / (x + y), at most the smaller of the two; 0 where both are 0.

    >>> parallel(2.0, 2.0), parallel(0.0, 5.0), parallel(0.0, 0.0)
    (1.0, 0.0, 0.0)
    """
    total = first + second
    return first * second / (total + (total == 0))


@formula("latency + sending + stages * sending * filling / (sending + filling)")
def pipelined(latency: float, sending: float, filling: float, stages: float = 1.0) -> float:
    """Seconds of a transfer in chunks, pipelined over its hops.

    t = α + b + d b q / (b + q), with α the latency of all hops, b = S / B the time to send all
    bytes, q the time to send what one full stage holds, and d the number of stages. A message much larger than the
    pipeline pays for filling it once (t → α + b + d q); one much smaller travels as one chunk and
    waits again for its own length at each stage (t → α + b + d b).

    Source: the two limits are those of a segmented pipeline (Sanders, Speck, Träff, "Two-tree
    algorithms for full bandwidth broadcast, reduction and scan", Parallel Computing 35(12),
    2009, section 2); the harmonic mean joins them.

    >>> pipelined(1e-6, 0.0, 1e-4), round(pipelined(1e-6, 1.0, 1e-4), 6)
    (1e-06, 1.000101)
    """
    return latency + sending + stages * parallel(sending, filling)


@formula("latency + sending - latency * sending / (latency + sending)")
def overlapped(latency: float, sending: float) -> float:
    """Seconds of a transfer whose latency overlaps with sending: t = α + b − α b / (α + b).

    Transports whose CPU threads keep many messages in flight behave like this.

    >>> overlapped(1.0, 0.0), overlapped(0.0, 1.0), overlapped(1.0, 1.0)
    (1.0, 1.0, 1.5)
    """
    return latency + sending - parallel(latency, sending)
