"""Times common to all algorithms: launch time, allowed protocols, hops and crossings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from clusterspec.cost.collectives import stack
from clusterspec.cost.collectives.model import Between, Candidate, Paths
from clusterspec.cost.collectives.network import ALL_PROTOCOLS
from clusterspec.cost.collectives.stack import LL128, PROTOCOLS, Protocol

Candidates = Iterator[Candidate]
Algorithm = Callable[[Paths], Candidates]


def launching(paths: Paths) -> float:
    """Seconds until all ranks run the kernel: one process drives a single node, one process per rank drives several."""
    alone = paths.nodes == 1
    return stack.LAUNCH.value + stack.LAUNCH_PER_RANK.value * (paths.ranks - 1) * alone


def protocols(paths: Paths) -> Iterator[Protocol]:
    """The protocols that the links of the group allow."""
    allowed = paths.between.protocols if paths.between else ALL_PROTOCOLS
    whole = paths.inside.hops == "nvlink"
    return (each for each in PROTOCOLS if each.name in allowed and (whole or each is not LL128))


def crossing(protocol: Protocol, hop: float, between: Between) -> float:
    """Seconds of one hop over the network."""
    return hop + protocol.crossings * between.latency.value


def low_latency_most(paths: Paths) -> float:
    """The highest rate of the LL (low-latency) protocol in B/s."""
    if paths.between:
        return stack.LOW_LATENCY_BETWEEN[min(3, max(2, paths.islands))].value
    return paths.inside.low_latency.value if paths.inside.low_latency else inf


def overlapped(paths: Paths) -> bool:
    """Whether latency overlaps with sending."""
    return paths.between is not None and paths.between.overlapped


def filled(protocol: Protocol, rate: float) -> float:
    """Seconds to send the contents of a full pipeline: one chunk of each channel."""
    return stack.CHANNELS.value * protocol.chunk / rate
