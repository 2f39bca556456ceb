"""The algorithms of each collective: rings, meshes, tori, trees, in-switch reduction, all-to-all and sends."""

from __future__ import annotations

from math import inf, log2

from clusterspec.cluster.scaleup import NODE_SCALE
from clusterspec.cost.collectives import Candidate, Paths, stack
from clusterspec.cost.collectives.stack import (
    LL,
    LL128,
    SIMPLE,
    Algorithm,
    Candidates,
    Protocol,
    allowed_protocols,
    chunks_of_full_ring,
    copy_seconds_per_byte,
    crossing_latency,
    fill_seconds,
    has_overlapped_latency,
    highest_ll_rate,
    launch_seconds,
    mesh_rate,
    near_hop_latency,
    start_latency,
)
from clusterspec.cost.formulas import collectives
from clusterspec.records import replace


def ring_all_reduce(paths: Paths) -> Candidates:
    return _ring_candidates(
        paths, collectives.all_reduce_factor(paths.ranks), collectives.all_reduce_steps(paths.ranks), gathers=False
    )


def ring_gather(paths: Paths) -> Candidates:
    """An all-gather or a reduce-scatter."""
    return _ring_candidates(
        paths, collectives.gather_factor(paths.ranks), collectives.gather_steps(paths.ranks), own=1 / paths.ranks
    )


def ring_broadcast(paths: Paths) -> Candidates:
    """A broadcast along the ring, in which every link carries every byte once."""
    return _ring_candidates(paths, 1.0, collectives.gather_steps(paths.ranks))


def _ring_candidates(
    paths: Paths, factor: float, steps: float, own: float = 0.0, *, gathers: bool = True
) -> Candidates:
    """A ring over all ranks, per protocol. Every rank copies the ``own`` part of the size between its buffers."""
    if paths.inside.topology == "torus":
        return
    for protocol in allowed_protocols(paths):
        inside, between = _ring_rates(paths, protocol)
        yield Candidate(
            "ring",
            protocol.name,
            latency=_ring_latency(paths, protocol, steps),
            inside=factor / inside + copy_seconds_per_byte(paths, own),
            between=factor / between,
            held=fill_seconds(
                protocol,
                min(inside, between),
                chunks_of_full_ring(paths) if gathers or _forwards_lines(paths, protocol) else 1.0,
            ),
            launch=launch_seconds(paths),
            overlapped=has_overlapped_latency(paths, protocol),
        )


def _forwards_lines(paths: Paths, protocol: Protocol) -> bool:
    """Whether ranks forward each line instead of each chunk: LL128 inside an island."""
    return protocol is LL128 and paths.between is None


def _ring_rates(paths: Paths, protocol: Protocol) -> tuple[float, float]:
    """B/s of a ring inside an island and between islands (infinite if there are none)."""
    most = highest_ll_rate(paths) if protocol is LL else _highest_ring_rate(paths)
    inside = min(most, mesh_rate(paths) * protocol.share)
    between = min(most, paths.between.rate * protocol.share) if paths.between else inf
    return inside, between


def _highest_ring_rate(paths: Paths) -> float:
    """The highest bus bandwidth in B/s of a ring over more than two islands."""
    return paths.inside.ring_between.value if paths.inside.ring_between and paths.islands > 2 else inf


def _ring_latency(paths: Paths, protocol: Protocol, steps: float) -> float:
    """Seconds of a ring's steps: base latency, hops inside, crossings between islands."""
    hop = near_hop_latency(protocol, protocol.ring_hops, paths)
    first = start_latency(protocol, protocol.ring, paths)
    if paths.between is None:
        return first + steps * hop
    crossings = collectives.crossing_steps(steps, paths.ranks, paths.islands)
    outside = crossing_latency(protocol, protocol.ring_hops["net"], paths.between)
    return float(first + (steps - crossings) * max(hop, protocol.posting) + crossings * outside)


def mesh_all_reduce(paths: Paths) -> Candidates:
    """Every rank of a mesh sends each peer its part and receives the sums: two hops."""
    return _mesh_candidates(paths, collectives.all_reduce_factor(paths.ranks), hops=2)


def mesh_gather(paths: Paths) -> Candidates:
    """Every rank of a mesh sends its part to all peers at once: one hop."""
    return _mesh_candidates(paths, collectives.gather_factor(paths.ranks), hops=1)


def _mesh_candidates(paths: Paths, traffic: float, hops: int) -> Candidates:
    inside = paths.inside
    if paths.between is None and inside.topology == "full-mesh" and paths.ranks > 2:
        latency = start_latency(LL, LL.ring, paths) + hops * near_hop_latency(LL, LL.ring_hops, paths)
        held = fill_seconds(SIMPLE, inside.ring_rate)
        yield Candidate("direct", "LL", latency, traffic / inside.ring_rate, 0.0, held, launch_seconds(paths))


def torus_all_reduce(paths: Paths) -> Candidates:
    """A reduce-scatter and an all-gather along all axes at once; between slices every rank sends its own part."""
    near, far = collectives.all_reduce_factor(paths.inside.ranks), collectives.all_reduce_factor(paths.islands)
    return _torus_candidates(paths, near, far, passes=2)


def torus_gather(paths: Paths) -> Candidates:
    """An all-gather or a reduce-scatter along all axes of a torus at once."""
    near, far = collectives.gather_factor(paths.inside.ranks), collectives.gather_factor(paths.islands)
    return _torus_candidates(paths, near, far, passes=1)


def torus_broadcast(paths: Paths) -> Candidates:
    """A broadcast along all axes at once."""
    return _torus_candidates(paths, 1.0, 1.0, passes=1)


def _torus_candidates(paths: Paths, near: float, far: float, passes: int) -> Candidates:
    """The candidates of an algorithm along all axes of a torus.

    ``near`` and ``far`` are the bytes that a rank sends inside an island, and an island to others, per byte of the
    size.
    """
    inside, between = paths.inside, paths.between
    if inside.topology != "torus":
        return
    start = inside.start.value if inside.start else SIMPLE.ring
    latency = start + passes * inside.reach * stack.TORUS_HOP.value
    if between:
        latency += passes * (paths.islands - 1) * crossing_latency(SIMPLE, SIMPLE.ring_hops["net"], between)
    outside = far / between.rate if between else 0.0
    yield Candidate("torus", "DMA", latency, near / inside.ring_rate, outside, 0.0, launch_seconds(paths))


# All-reduces by trees, by in-switch reduction, and in two tiers


def tree_all_reduce(paths: Paths) -> Candidates:
    """Two complementary trees over the islands, a chain inside each."""
    if paths.inside.topology == "torus":
        return
    for protocol in allowed_protocols(paths):
        if protocol is not LL and _reduces_in_switches(paths):
            continue
        chain, links = _tree_rates(paths, protocol)
        yield Candidate(
            "tree",
            protocol.name,
            latency=_tree_latency(paths, protocol),
            inside=collectives.chain_traffic(1.0) / chain,
            between=collectives.island_traffic(1.0, paths.islands) / links,
            held=_bytes_of_tree_hop(paths, protocol)
            * max(collectives.chain_traffic(1.0) / chain, collectives.island_traffic(1.0, paths.islands) / links),
            launch=launch_seconds(paths),
            overlapped=has_overlapped_latency(paths),
            stages=collectives.tree_hops(paths.inside.ranks, log2(paths.islands)),
        )


def _reduces_in_switches(paths: Paths) -> bool:
    """Whether NCCL's own model selects in-switch reduction for all large messages: over domains larger than a node."""
    return paths.inside.reduction is not None and paths.inside.ranks > NODE_SCALE and paths.islands > 1


def _bytes_of_tree_hop(paths: Paths, protocol: Protocol) -> float:
    """Bytes in flight on one hop of a tree; 0 for LL, which forwards line by line."""
    chunk = stack.TREE_CHUNK if paths.between else protocol.chunk / collectives.tree_hops(paths.inside.ranks, 0)
    return 0.0 if protocol is LL else stack.CHANNELS.value * chunk


def _tree_rates(paths: Paths, protocol: Protocol) -> tuple[float, float]:
    """B/s of a tree's chain inside an island, and of the links between islands."""
    inside = min(paths.inside.ring_rate * stack.TREE_SHARE.value, _highest_tree_rate(paths))
    between = paths.between.tree_rate * stack.tree_share_between(paths) if paths.between else inf
    if protocol is LL:
        return min(inside * stack.LOW_LATENCY_TREE.value, highest_ll_rate(paths)), between * LL.share
    if protocol is LL128:
        return inside * (LL128.share if paths.between else stack.TREE_FLAGS_ALONE.value), between * LL128.share
    return inside, between


def _highest_tree_rate(paths: Paths) -> float:
    """The highest bus bandwidth in B/s of a tree over more than two islands by its channels; otherwise infinite."""
    return paths.inside.tree.value if paths.inside.tree and paths.islands > 2 else inf


def _tree_latency(paths: Paths, protocol: Protocol) -> float:
    """Latency of a tree in seconds, up and down."""
    latency = start_latency(protocol, protocol.tree, paths)
    latency += 2 * (paths.inside.ranks - 1) * near_hop_latency(protocol, protocol.tree_hops, paths)
    if paths.between:
        latency += 2 * log2(paths.islands) * crossing_latency(protocol, protocol.tree_hops["net"], paths.between)
    return latency


def switch_all_reduce(paths: Paths) -> Candidates:
    """Reduction in the switches of the domain; between domains a tree."""
    inside, between = paths.inside, paths.between
    if inside.reduction is None:
        return
    rate = inside.line.value * inside.reduction.value / collectives.all_reduce_traffic(1.0, inside.ranks)
    chunk = between.switch_chunk.value if between and between.switch_chunk else stack.SWITCH_CHUNK
    piece = inside.ranks * inside.chunks * chunk
    first = stack.SWITCH_REDUCTION.value
    if between is None:
        yield Candidate("nvls", "Simple", first, 1 / rate, 0.0, piece / rate, launch_seconds(paths))
        return
    rate = _rate_of_switch_trees(paths, rate * stack.SWITCH_TREE.value)
    outside = collectives.island_traffic(1.0, paths.islands) / (between.tree_rate * stack.TREE_BETWEEN.value)
    crossings = 2 * log2(paths.islands)
    latency = first + crossings * crossing_latency(SIMPLE, stack.SWITCH_TREE_HOP.value, between)
    held = piece * max(1 / rate, outside)
    stages = 1 + crossings * stack.SWITCH_STAGE.value
    yield Candidate("nvls-tree", "Simple", latency, 1 / rate, outside, held, launch_seconds(paths), stages=stages)


def _rate_of_switch_trees(paths: Paths, rate_of_two: float) -> float:
    """Bytes of the size per second that reduction in switches and a tree reach inside an island; over two islands they
    are ``rate_of_two``. Over more, earlier releases of the library do not exceed the rate of rings.
    """
    kept = paths.inside.reduction_between
    if paths.islands > 2 and kept:
        return rate_of_two * kept.value
    return min(rate_of_two, _highest_ring_rate(paths) / 2)


def switch_tree_all_reduce(paths: Paths) -> Candidates:
    """Reduction in the switches of several domains; NCCL has no such tree in one (src/graph/tuning.cc)."""
    return iter(()) if paths.between is None else switch_all_reduce(paths)


def fabric_all_reduce(paths: Paths) -> Candidates:
    """Reduction in the switches between nodes (SHARP): every island sends its sum once."""
    inside, between = paths.inside, paths.between
    if between is None or not between.reduces:
        return
    latency = SIMPLE.tree + stack.FABRIC_REDUCTION.value + 2 * between.latency.value
    if inside.reduction:
        near = collectives.all_reduce_traffic(1.0, inside.ranks) / (inside.line.value * inside.reduction.value)
    else:
        near = collectives.chain_traffic(1.0) / (inside.ring_rate * stack.TREE_SHARE.value)
        latency += 2 * (inside.ranks - 1) * SIMPLE.tree_hops[inside.hops]
    held = fill_seconds(SIMPLE, between.rate)
    yield Candidate("collnet", "Simple", latency, near, 1 / between.rate, held, launch_seconds(paths))


def hierarchical_all_reduce(paths: Paths) -> Candidates:
    """Reduce-scatter inside, all-reduce along the rails, all-gather inside, on different chunks at once."""
    inside, between = paths.inside, paths.between
    if between is None:
        return
    from clusterspec.cost.formulas import topologies  # on request only

    latency = SIMPLE.ring + collectives.all_reduce_steps(inside.ranks) * SIMPLE.ring_hops[inside.hops]
    latency += collectives.all_reduce_steps(paths.islands) * crossing_latency(SIMPLE, SIMPLE.ring_hops["net"], between)
    yield Candidate(
        "hierarchical",
        "Simple",
        latency=latency,
        inside=topologies.inside_time(1.0, inside.ranks, inside.ring_rate),
        between=topologies.inter_island_time(1.0, paths.islands, between.rate),
        held=fill_seconds(SIMPLE, between.rate),
        launch=launch_seconds(paths),
    )


# All-to-all, and sends to a neighbor


def direct_all_to_all(paths: Paths) -> Candidates:
    """Every rank sends its part directly to every other rank: short parts by LL, longer ones by whole chunks."""
    from clusterspec.cost.formulas import experts

    if paths.between and paths.between.rails_apart and paths.inside.ranks > 1:
        return
    away = experts.direct_messages(paths.ranks) - experts.direct_messages(paths.inside.ranks)
    near = experts.traffic_inside(1.0, paths.ranks, paths.inside.ranks)
    posting = away * stack.PER_MESSAGE.value
    chunks = _exchange_candidate(paths, "direct", _exchange_latency(paths, SIMPLE) + posting, near)
    yield chunks
    if LL in allowed_protocols(paths):
        lines = _exchange_latency(paths, LL) + posting
        longest = stack.LL_MESSAGE_OF_PEER.value * paths.ranks
        yield replace(
            chunks,
            protocol=LL.name,
            latency=lines,
            inside=chunks.inside / LL.share,
            between=chunks.between / LL.share,
            held=0.0,
            late=max(0.0, chunks.latency - lines),
            eager=longest,
        )


def _exchange_latency(paths: Paths, protocol: Protocol) -> float:
    """Seconds until the first bytes of a peer arrive: one hop inside an island, or one crossing."""
    if paths.between:
        hop = crossing_latency(protocol, protocol.ring_hops["net"], paths.between)
    else:
        hop = near_hop_latency(protocol, protocol.ring_hops, paths)
    return start_latency(protocol, protocol.ring, paths) + hop


def staged_all_to_all(paths: Paths) -> Candidates:
    """Data for other islands first moves to the rail of its destination: fewer messages, more traffic inside the
    island. NCCL calls it PXN.
    """
    from clusterspec.cost.formulas import experts

    if paths.between is None or paths.inside.ranks == 1 or not paths.between.relays:
        return
    latency = SIMPLE.ring_hops[paths.inside.hops] + _exchange_latency(paths, SIMPLE)
    latency += experts.staged_messages(paths.inside.ranks, paths.islands) * stack.PER_MESSAGE.value
    near = experts.staged_traffic_inside(1.0, paths.ranks, paths.inside.ranks)
    yield _exchange_candidate(paths, "staged", latency, near)


def _exchange_candidate(paths: Paths, name: str, latency: float, near: float) -> Candidate:
    from clusterspec.cost.formulas import experts

    inside, between = paths.inside, paths.between
    far = experts.traffic_between(1.0, paths.ranks, inside.ranks) * inside.ranks
    rate = inside.line.value * inside.exchange.value
    seconds = near / rate + copy_seconds_per_byte(paths, 1 / paths.ranks)
    outside = far / between.exchange_rate if between else 0.0
    held = stack.CHANNELS.value * stack.MESSAGE_CHUNK / rate if between is None else 0.0
    launch = launch_seconds(paths)
    posting = launch + stack.LAUNCH_PER_CALL.value * _posted_calls(paths)
    return Candidate(
        name,
        "Simple",
        latency,
        seconds,
        outside,
        held,
        launch,
        overlapped=has_overlapped_latency(paths),
        posting=posting,
    )


def _posted_calls(paths: Paths) -> float:
    """Sends and receives that one process of a single node posts in an all-to-all: those of all ranks, or of its own
    if ``paths.processes`` says so. On several nodes the times of messages include them.
    """
    from clusterspec.cost.formulas import experts

    if paths.nodes > 1:
        return 0.0
    drivers = paths.ranks if paths.processes == "rank" else 1
    return experts.posted_calls(paths.ranks) / drivers


def send_to_neighbor(paths: Paths) -> Candidates:
    """Every rank sends to its neighbor; where the group spans islands, some of these pairs are in different islands."""
    for protocol in allowed_protocols(paths):
        peer = paths.inside.peer.value * paths.inside.ring.value * protocol.share
        near = 1 / peer if paths.inside.ranks > 1 else 0.0
        hop, far, held = protocol.ring_hops[paths.inside.hops], 0.0, fill_seconds(protocol, peer)
        if paths.between:
            rate = paths.between.sender.value * paths.between.share.value * protocol.share
            hop, far, held = crossing_latency(protocol, protocol.ring_hops["net"], paths.between), 1 / rate, 0.0
        latency = protocol.ring + hop
        yield Candidate(
            "send", protocol.name, latency, near, far, held, launch_seconds(paths), has_overlapped_latency(paths)
        )


# The algorithms of each collective

_GATHERS: dict[str, Algorithm] = {
    "ring": ring_gather,
    "direct": mesh_gather,
    "torus": torus_gather,
}
CHOICES: dict[str, dict[str, Algorithm]] = {
    "all-reduce": {
        "ring": ring_all_reduce,
        "tree": tree_all_reduce,
        "nvls": switch_all_reduce,
        "collnet": fabric_all_reduce,
        "direct": mesh_all_reduce,
        "torus": torus_all_reduce,
    },
    "all-gather": _GATHERS,
    "reduce-scatter": _GATHERS,
    "all-to-all": {"direct": direct_all_to_all, "staged": staged_all_to_all},
    "broadcast": {"ring": ring_broadcast, "torus": torus_broadcast},
    "send-recv": {"send": send_to_neighbor},
}
"""Algorithms that a library chooses from by default."""
ON_REQUEST: dict[str, dict[str, Algorithm]] = {
    "all-reduce": {"nvls-tree": switch_tree_all_reduce, "hierarchical": hierarchical_all_reduce},
    "send-recv": {"direct": send_to_neighbor},
}
"""Algorithms used only on request, and alternative names."""


def candidate_algorithms(name: str, algorithm: str | None) -> tuple[Algorithm, ...]:
    """The algorithms to choose from; empty if the collective has none of that name."""
    if algorithm is None:
        return tuple(CHOICES[name].values())
    asked = {**CHOICES[name], **ON_REQUEST.get(name, {})}.get(algorithm)
    return (asked,) if asked else ()


def algorithm_names(name: str) -> tuple[str, ...]:
    """The algorithm names that a caller may request for a collective."""
    return (*CHOICES[name], *ON_REQUEST.get(name, {}))
