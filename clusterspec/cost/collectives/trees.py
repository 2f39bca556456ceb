"""All-reduces by trees, by in-switch reduction, and in two tiers."""

from __future__ import annotations

from math import inf, log2

from clusterspec.cluster.scaleup import NODE_SCALE
from clusterspec.cost.collectives import stack
from clusterspec.cost.collectives.model import Candidate, Paths
from clusterspec.cost.collectives.stack import LL, LL128, SIMPLE, Protocol
from clusterspec.cost.collectives.timing import (
    Candidates,
    crossing,
    filled,
    launching,
    low_latency_most,
    near_hop,
    overlapped,
    protocols,
    start,
)
from clusterspec.cost.formulas import hierarchical, in_network, ring, tree


def tree_all_reduce(paths: Paths) -> Candidates:
    """Two complementary trees over the islands, a chain inside each."""
    if paths.inside.topology == "torus":
        return
    for protocol in protocols(paths):
        if protocol is not LL and _in_switches(paths):
            continue
        chain, links = _rates(paths, protocol)
        yield Candidate(
            "tree",
            protocol.name,
            latency=_latency(paths, protocol),
            inside=tree.chain_traffic(1.0) / chain,
            between=tree.island_traffic(1.0, paths.islands) / links,
            held=_held(paths, protocol)
            * max(tree.chain_traffic(1.0) / chain, tree.island_traffic(1.0, paths.islands) / links),
            launch=launching(paths),
            overlapped=overlapped(paths),
            stages=tree.depth(paths.inside.ranks, log2(paths.islands)),
        )


def _in_switches(paths: Paths) -> bool:
    """Whether NCCL's own model takes reduction in the switches for every large message: in domains beyond a node."""
    return paths.inside.reduction is not None and paths.inside.ranks > NODE_SCALE and paths.islands > 1


def _held(paths: Paths, protocol: Protocol) -> float:
    """Bytes that one hop of a tree holds; LL forwards line by line."""
    chunk = stack.TREE_CHUNK if paths.between else protocol.chunk / tree.depth(paths.inside.ranks, 0)
    return 0.0 if protocol is LL else stack.CHANNELS.value * chunk


def _rates(paths: Paths, protocol: Protocol) -> tuple[float, float]:
    """B/s of a tree's chain inside an island, and of the links between islands."""
    inside = min(paths.inside.ring_rate * stack.TREE_SHARE.value, _most(paths))
    between = paths.between.rate * stack.TREE_BETWEEN.value if paths.between else inf
    if protocol is LL:
        return min(inside * stack.LOW_LATENCY_TREE.value, low_latency_most(paths)), between * LL.share
    if protocol is LL128:
        return inside * (LL128.share if paths.between else stack.TREE_FLAGS_ALONE.value), between * LL128.share
    return inside, between


def _most(paths: Paths) -> float:
    """The highest bus bandwidth in B/s that its channels allow a tree over more than two islands."""
    return paths.inside.tree.value if paths.inside.tree and paths.islands > 2 else inf


def _latency(paths: Paths, protocol: Protocol) -> float:
    """Latency of a tree in seconds, up and down."""
    latency = start(protocol, protocol.tree, paths)
    latency += 2 * (paths.inside.ranks - 1) * near_hop(protocol, protocol.tree_hops, paths)
    if paths.between:
        latency += 2 * log2(paths.islands) * crossing(protocol, protocol.tree_hops["net"], paths.between)
    return latency


def switch_all_reduce(paths: Paths) -> Candidates:
    """Reduction in the switches of the domain; between domains a tree."""
    inside, between = paths.inside, paths.between
    if inside.reduction is None:
        return
    rate = inside.line.value * inside.reduction.value / in_network.all_reduce_traffic(1.0, inside.ranks)
    chunk = between.switch_chunk.value if between and between.switch_chunk else stack.SWITCH_CHUNK
    piece = inside.ranks * inside.chunks * chunk
    first = stack.SWITCH_REDUCTION.value
    if between is None:
        yield Candidate("nvls", "Simple", first, 1 / rate, 0.0, piece / rate, launching(paths))
        return
    limit = inside.ring_between.value / 2 if inside.ring_between and paths.islands > 2 else inf
    rate = min(rate * stack.SWITCH_TREE.value, limit)
    outside = tree.island_traffic(1.0, paths.islands) / (between.rate * stack.TREE_BETWEEN.value)
    crossings = 2 * log2(paths.islands)
    latency = first + crossings * crossing(SIMPLE, stack.SWITCH_TREE_HOP.value, between)
    held = piece * max(1 / rate, outside)
    stages = 1 + crossings * stack.SWITCH_STAGE.value
    yield Candidate("nvls-tree", "Simple", latency, 1 / rate, outside, held, launching(paths), stages=stages)


def fabric_all_reduce(paths: Paths) -> Candidates:
    """Reduction in the switches between nodes (SHARP): every island sends its sum once."""
    inside, between = paths.inside, paths.between
    if between is None or not between.reduces:
        return
    latency = SIMPLE.tree + stack.FABRIC_REDUCTION.value + 2 * between.latency.value
    if inside.reduction:
        near = in_network.all_reduce_traffic(1.0, inside.ranks) / (inside.line.value * inside.reduction.value)
    else:
        near = tree.chain_traffic(1.0) / (inside.ring_rate * stack.TREE_SHARE.value)
        latency += 2 * (inside.ranks - 1) * SIMPLE.tree_hops[inside.hops]
    held = filled(SIMPLE, between.rate)
    yield Candidate("collnet", "Simple", latency, near, 1 / between.rate, held, launching(paths))


def hierarchical_all_reduce(paths: Paths) -> Candidates:
    """Reduce-scatter inside, all-reduce along the rails, all-gather inside, on different chunks at once."""
    inside, between = paths.inside, paths.between
    if between is None:
        return
    latency = SIMPLE.ring + ring.all_reduce_steps(inside.ranks) * SIMPLE.ring_hops[inside.hops]
    latency += ring.all_reduce_steps(paths.islands) * crossing(SIMPLE, SIMPLE.ring_hops["net"], between)
    yield Candidate(
        "hierarchical",
        "Simple",
        latency=latency,
        inside=hierarchical.inside_time(1.0, inside.ranks, inside.ring_rate),
        between=hierarchical.between_time(1.0, paths.islands, between.rate),
        held=filled(SIMPLE, between.rate),
        launch=launching(paths),
    )
