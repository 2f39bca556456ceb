"""Times common to all algorithms: launch time, allowed protocols, hops and crossings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from clusterspec.cost.collectives import stack
from clusterspec.cost.collectives.model import Between, Candidate, Paths
from clusterspec.cost.collectives.network import ALL_PROTOCOLS
from clusterspec.cost.collectives.stack import LL, LL128, PROTOCOLS, Protocol

SWITCHED = "switched"
Candidates = Iterator[Candidate]
Algorithm = Callable[[Paths], Candidates]


def launching(paths: Paths) -> float:
    """Seconds until all ranks run the kernel: one process drives a single node, one process per rank drives several."""
    if paths.nodes > 1:
        return stack.LAUNCH_APART.value
    return stack.LAUNCH.value + stack.LAUNCH_PER_RANK.value * (paths.ranks - 1)


def protocols(paths: Paths) -> Iterator[Protocol]:
    """The protocols that the links of the group allow."""
    allowed = paths.between.protocols if paths.between else ALL_PROTOCOLS
    whole = paths.inside.hops == "nvlink"
    return (each for each in PROTOCOLS if each.name in allowed and (whole or each is not LL128))


def start(protocol: Protocol, base: float, paths: Paths) -> float:
    """Seconds before the first hop: measured on the links for LL, else ``base``, the figure of NCCL."""
    return paths.inside.start.value if protocol is LL and paths.inside.start else base


def near_hop(protocol: Protocol, hops: dict[str, float], paths: Paths) -> float:
    """Seconds of one hop inside an island: measured on the links for LL, else the figure of NCCL."""
    return paths.inside.hop.value if protocol is LL and paths.inside.hop else hops[paths.inside.hops]


def crossing(protocol: Protocol, hop: float, between: Between) -> float:
    """Seconds of one hop over the network."""
    one = between.latency if protocol is LL else between.chunk_latency
    return hop + protocol.crossings * one.value


def low_latency_most(paths: Paths) -> float:
    """The highest rate of the LL (low-latency) protocol in B/s."""
    if paths.between:
        return stack.LOW_LATENCY_BETWEEN[min(3, max(2, paths.islands))].value
    return paths.inside.low_latency.value if paths.inside.low_latency else inf


def copying(paths: Paths, own: float) -> float:
    """Seconds per byte to copy the ``own`` part of the size from one buffer of a rank to the other.

    It counts behind a switch; on a mesh it runs beside the sending, which single links limit.
    """
    if paths.inside.topology != SWITCHED:
        return 0.0
    return own / (paths.inside.ring_rate * stack.OWN_COPY.value)


def overlapped(paths: Paths) -> bool:
    """Whether latency overlaps with sending."""
    return paths.between is not None and paths.between.overlapped


def filled(protocol: Protocol, rate: float, chunks: float = 1.0) -> float:
    """Seconds to send the contents of a full pipeline: ``chunks`` of each channel."""
    return chunks * stack.CHANNELS.value * protocol.chunk / rate


def held(paths: Paths) -> float:
    """Chunks of each channel that a full ring holds; none where the links' entry has no figure."""
    return paths.inside.held.value if paths.inside.held else 0.0
