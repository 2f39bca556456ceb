"""The algorithms of each collective, all-to-all and sends to a neighbor, and the bus bandwidth that links allow."""

from __future__ import annotations

from clusterspec.cost.collectives import Candidate, Inside, Paths, rings, stack
from clusterspec.cost.collectives.stack import (
    SIMPLE,
    Algorithm,
    Candidates,
    allowed_protocols,
    copy_seconds_per_byte,
    crossing_latency,
    fill_seconds,
    latency_overlaps,
    launch_seconds,
)
from clusterspec.cost.formulas import collectives, topologies
from clusterspec.cost.formulas.collectives import all_reduce_factor, gather_factor


def direct_all_to_all(paths: Paths) -> Candidates:
    """Every rank sends its part directly to every other rank."""
    from clusterspec.cost.formulas import experts

    if paths.between and paths.between.rails_apart and paths.inside.ranks > 1:
        return
    hops = SIMPLE.ring_hops[paths.inside.hops]
    latency = crossing_latency(SIMPLE, SIMPLE.ring_hops["net"], paths.between) if paths.between else hops
    away = experts.direct_messages(paths.ranks) - experts.direct_messages(paths.inside.ranks)
    latency += SIMPLE.ring + away * stack.PER_MESSAGE.value
    near = experts.traffic_inside(1.0, paths.ranks, paths.inside.ranks)
    yield _exchange_candidate(paths, "direct", latency, near)


def staged_all_to_all(paths: Paths) -> Candidates:
    """Data for other islands first moves to the rail of its destination: fewer messages, more traffic inside the
    island. NCCL calls it PXN.
    """
    from clusterspec.cost.formulas import experts

    if paths.between is None or paths.inside.ranks == 1 or not paths.between.relays:
        return
    latency = SIMPLE.ring_hops[paths.inside.hops] + crossing_latency(SIMPLE, SIMPLE.ring_hops["net"], paths.between)
    latency += SIMPLE.ring + experts.staged_messages(paths.inside.ranks, paths.islands) * stack.PER_MESSAGE.value
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
    calls = experts.posted_calls(paths.ranks) * (paths.nodes == 1)
    launch = launch_seconds(paths)
    posting = launch + stack.LAUNCH_PER_CALL.value * calls
    return Candidate(
        name, "Simple", latency, seconds, outside, held, launch, overlapped=latency_overlaps(paths), posting=posting
    )


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
        yield Candidate("send", protocol.name, latency, near, far, held, launch_seconds(paths), latency_overlaps(paths))


_GATHERS: dict[str, Algorithm] = {
    "ring": rings.ring_gather,
    "direct": rings.mesh_gather,
    "torus": rings.torus_gather,
}
CHOICES: dict[str, dict[str, Algorithm]] = {
    "all-reduce": {
        "ring": rings.ring_all_reduce,
        "tree": rings.tree_all_reduce,
        "nvls": rings.switch_all_reduce,
        "collnet": rings.fabric_all_reduce,
        "direct": rings.mesh_all_reduce,
        "torus": rings.torus_all_reduce,
    },
    "all-gather": _GATHERS,
    "reduce-scatter": _GATHERS,
    "all-to-all": {"direct": direct_all_to_all, "staged": staged_all_to_all},
    "broadcast": {"ring": rings.ring_broadcast, "torus": rings.torus_broadcast},
    "send-recv": {"send": send_to_neighbor},
}
"""Algorithms that a library chooses from by default."""
ON_REQUEST: dict[str, dict[str, Algorithm]] = {
    "all-reduce": {"nvls-tree": rings.switch_all_reduce, "hierarchical": rings.hierarchical_all_reduce},
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


# Upper bounds of bus bandwidth: that of links at line rate, without protocol overhead or latency


def bus_factor(name: str, ranks: int) -> float:
    """Bus bandwidth over algorithm bandwidth, as nccl-tests defines it."""
    if name == "all-reduce":
        return float(all_reduce_factor(ranks))
    return float(gather_factor(ranks)) if name in {"all-gather", "reduce-scatter", "all-to-all"} else 1.0


IN_DOMAIN = frozenset({"nvls", "nvls-tree"})
"""Algorithms that reduce in the switches of a scale-up domain."""
IN_FABRIC = frozenset({"collnet"})
"""Algorithms that reduce in the switches of the scale-out network."""


def busbw_ceiling(name: str, paths: Paths, algorithm: str | None = None, *, reduces: bool) -> float:
    """The bus bandwidth in B/s that the links of the group allow; for two or more ranks.

    ``reduces`` says whether the switches of the domain can reduce, with or without a gain. With an ``algorithm`` the
    reduction of switches counts only where that algorithm uses it.
    """
    if name == "send-recv":
        return _send_ceiling(paths)
    inside = _inside_ceiling(name, paths, reduces=reduces and (algorithm is None or algorithm in IN_DOMAIN))
    if paths.between is None:
        return inside
    return min(inside, _between_ceiling(name, paths, reduces=algorithm is None or algorithm in IN_FABRIC))


def _send_ceiling(paths: Paths) -> float:
    inside = paths.inside.peer.value if paths.inside.ranks > 1 else float("inf")
    return min(inside, paths.between.sender.value) if paths.between else inside


def _inside_ceiling(name: str, paths: Paths, *, reduces: bool) -> float:
    inside: Inside = paths.inside
    if inside.ranks == 1:
        return float("inf")
    if name == "all-to-all":
        return inside.line.value * (paths.ranks - 1) / (inside.ranks - 1)
    gain = 1.0
    if reduces and name == "all-reduce":
        gain = max(1.0, collectives.bus_bandwidth_ceiling(inside.ranks, 1.0))
    return inside.line.value * gain


def _between_ceiling(name: str, paths: Paths, *, reduces: bool) -> float:
    between, ranks, m = paths.between, paths.ranks, paths.inside.ranks
    assert between is not None
    line = between.line.value
    if name == "all-to-all":
        from clusterspec.cost.formulas import experts

        exchange = between.exchange.value / m
        return float(experts.bus_bandwidth_ceiling(ranks, m, exchange)) if ranks > m else float("inf")
    if name == "broadcast":
        return line
    if name == "all-reduce" and reduces and between.reduces:
        return line * bus_factor(name, ranks)
    return float(topologies.bus_bandwidth_ceiling(ranks, between.islands, line * between.islands / ranks))
