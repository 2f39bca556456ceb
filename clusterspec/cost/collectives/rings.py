"""Rings, and the algorithms that replace them on meshes and tori."""

from __future__ import annotations

from math import inf

from clusterspec.cost.collectives import stack
from clusterspec.cost.collectives.model import Candidate, Paths
from clusterspec.cost.collectives.stack import LL, LL128, SIMPLE, Protocol
from clusterspec.cost.collectives.timing import (
    Candidates,
    copying,
    crossing,
    filled,
    held,
    launching,
    low_latency_most,
    near_hop,
    overlapped,
    protocols,
    start,
)
from clusterspec.cost.formulas import bus, ring


def ring_all_reduce(paths: Paths) -> Candidates:
    return _rings(paths, bus.all_reduce_factor(paths.ranks), ring.all_reduce_steps(paths.ranks), gathers=False)


def ring_gather(paths: Paths) -> Candidates:
    """An all-gather or a reduce-scatter."""
    return _rings(paths, bus.gather_factor(paths.ranks), ring.gather_steps(paths.ranks), own=1 / paths.ranks)


def ring_broadcast(paths: Paths) -> Candidates:
    """A broadcast along the ring: every link carries every byte once."""
    return _rings(paths, 1.0, ring.gather_steps(paths.ranks))


def _rings(paths: Paths, factor: float, steps: float, own: float = 0.0, *, gathers: bool = True) -> Candidates:
    """A ring over all ranks, on each protocol; every rank copies the ``own`` part of the size to its other buffer."""
    if paths.inside.topology == "torus":
        return
    for protocol in protocols(paths):
        inside, between = _rates(paths, protocol)
        yield Candidate(
            "ring",
            protocol.name,
            latency=_latency(paths, protocol, steps),
            inside=factor / inside + copying(paths, own),
            between=factor / between,
            held=filled(protocol, min(inside, between), held(paths) if gathers or _flows(paths, protocol) else 1.0),
            launch=launching(paths),
            overlapped=overlapped(paths),
        )


def _flows(paths: Paths, protocol: Protocol) -> bool:
    """Whether data flow on line by line instead of chunk by chunk: LL128 inside an island."""
    return protocol is LL128 and paths.between is None


def _rates(paths: Paths, protocol: Protocol) -> tuple[float, float]:
    """B/s of a ring inside an island and between islands (infinite where there are none)."""
    most = low_latency_most(paths) if protocol is LL else _most(paths)
    inside = min(most, paths.inside.ring_rate * protocol.share * _mesh_gain(paths))
    between = min(most, paths.between.rate * protocol.share) if paths.between else inf
    return inside, between


def _most(paths: Paths) -> float:
    """The highest bus bandwidth in B/s of a ring over more than two islands."""
    return paths.inside.ring_between.value if paths.inside.ring_between and paths.islands > 2 else inf


def _mesh_gain(paths: Paths) -> float:
    """The factor on the line rate of a full mesh of m ranks that concurrent rings achieve. The line rate counts the m −
    1 links of a rank; m open chains fit a mesh if the rings close outside it.
    """
    ranks = paths.inside.ranks
    return ranks / (ranks - 1) if paths.between and paths.inside.topology == "full-mesh" and ranks > 1 else 1.0


def _latency(paths: Paths, protocol: Protocol, steps: float) -> float:
    """Seconds of a ring's steps: base latency, hops inside, crossings between islands."""
    hop = near_hop(protocol, protocol.ring_hops, paths)
    first = start(protocol, protocol.ring, paths)
    if paths.between is None:
        return first + steps * hop
    crossings = ring.crossing_steps(steps, paths.ranks, paths.islands)
    outside = crossing(protocol, protocol.ring_hops["net"], paths.between)
    return float(first + (steps - crossings) * max(hop, protocol.posting) + crossings * outside)


def mesh_all_reduce(paths: Paths) -> Candidates:
    """Every rank of a mesh sends each peer its part and receives the sums: two hops."""
    return _mesh(paths, bus.all_reduce_factor(paths.ranks), hops=2)


def mesh_gather(paths: Paths) -> Candidates:
    """Every rank of a mesh sends its part to all peers at once: one hop."""
    return _mesh(paths, bus.gather_factor(paths.ranks), hops=1)


def _mesh(paths: Paths, traffic: float, hops: int) -> Candidates:
    inside = paths.inside
    if paths.between is None and inside.topology == "full-mesh" and paths.ranks > 2:
        latency = hops * LL.ring_hops[inside.hops]
        held = filled(SIMPLE, inside.ring_rate)
        yield Candidate("direct", "LL", latency, traffic / inside.ring_rate, 0.0, held, launching(paths))


def torus_all_reduce(paths: Paths) -> Candidates:
    """A reduce-scatter and an all-gather along all axes at once; between slices every rank sends its own part."""
    near, far = bus.all_reduce_factor(paths.inside.ranks), bus.all_reduce_factor(paths.islands)
    return _torus(paths, near, far, passes=2)


def torus_gather(paths: Paths) -> Candidates:
    """An all-gather or a reduce-scatter along all axes of a torus at once."""
    near, far = bus.gather_factor(paths.inside.ranks), bus.gather_factor(paths.islands)
    return _torus(paths, near, far, passes=1)


def torus_broadcast(paths: Paths) -> Candidates:
    """A broadcast along all axes at once."""
    return _torus(paths, 1.0, 1.0, passes=1)


def _torus(paths: Paths, near: float, far: float, passes: int) -> Candidates:
    """The candidates of an algorithm along all axes of a torus.

    ``near`` and ``far`` are the bytes that a rank sends inside an island, and an island to others, per byte of the
    size.
    """
    inside, between = paths.inside, paths.between
    if inside.topology != "torus":
        return
    latency = SIMPLE.ring + passes * inside.reach * stack.TORUS_HOP.value
    if between:
        latency += passes * (paths.islands - 1) * crossing(SIMPLE, SIMPLE.ring_hops["net"], between)
    outside = far / between.rate if between else 0.0
    yield Candidate("torus", "DMA", latency, near / inside.ring_rate, outside, 0.0, launching(paths))
