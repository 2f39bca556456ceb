"""All-to-all, and sends to a neighbor."""

from __future__ import annotations

from clusterspec.cost.collectives import stack
from clusterspec.cost.collectives.model import Candidate, Paths
from clusterspec.cost.collectives.stack import SIMPLE
from clusterspec.cost.collectives.timing import Candidates, copying, crossing, filled, launching, overlapped, protocols
from clusterspec.cost.formulas import all_to_all


def direct_all_to_all(paths: Paths) -> Candidates:
    """Every rank sends its part directly to every other rank."""
    if paths.between and paths.between.rails_apart and paths.inside.ranks > 1:
        return
    hops = SIMPLE.ring_hops[paths.inside.hops]
    latency = crossing(SIMPLE, SIMPLE.ring_hops["net"], paths.between) if paths.between else hops
    away = all_to_all.messages(paths.ranks) - all_to_all.messages(paths.inside.ranks)
    latency += SIMPLE.ring + away * stack.PER_MESSAGE.value
    near = all_to_all.traffic_inside(1.0, paths.ranks, paths.inside.ranks)
    yield _exchange(paths, "direct", latency, near)


def staged_all_to_all(paths: Paths) -> Candidates:
    """Data for other islands first moves to the rail of its destination: fewer messages, more traffic inside the
    island. NCCL calls it PXN.
    """
    if paths.between is None or paths.inside.ranks == 1 or not paths.between.relays:
        return
    latency = SIMPLE.ring_hops[paths.inside.hops] + crossing(SIMPLE, SIMPLE.ring_hops["net"], paths.between)
    latency += SIMPLE.ring + all_to_all.staged_messages(paths.inside.ranks, paths.islands) * stack.PER_MESSAGE.value
    near = all_to_all.staged_traffic_inside(1.0, paths.ranks, paths.inside.ranks)
    yield _exchange(paths, "staged", latency, near)


def _exchange(paths: Paths, name: str, latency: float, near: float) -> Candidate:
    inside, between = paths.inside, paths.between
    far = all_to_all.traffic_between(1.0, paths.ranks, inside.ranks) * inside.ranks
    rate = inside.line.value * inside.exchange.value
    seconds = near / rate + copying(paths, 1 / paths.ranks)
    outside = far / between.exchange_rate if between else 0.0
    held = stack.CHANNELS.value * stack.MESSAGE_CHUNK / rate if between is None else 0.0
    calls = all_to_all.calls(paths.ranks) * (paths.nodes == 1)
    launch = launching(paths)
    posting = launch + stack.LAUNCH_PER_CALL.value * calls
    return Candidate(
        name, "Simple", latency, seconds, outside, held, launch, overlapped=overlapped(paths), posting=posting
    )


def send(paths: Paths) -> Candidates:
    """Every rank sends to its neighbor; where the group spans islands, some of these pairs are in different islands."""
    for protocol in protocols(paths):
        peer = paths.inside.peer.value * paths.inside.ring.value * protocol.share
        near = 1 / peer if paths.inside.ranks > 1 else 0.0
        hop, far, held = protocol.ring_hops[paths.inside.hops], 0.0, filled(protocol, peer)
        if paths.between:
            rate = paths.between.sender.value * paths.between.share.value * protocol.share
            hop, far, held = crossing(protocol, protocol.ring_hops["net"], paths.between), 1 / rate, 0.0
        latency = protocol.ring + hop
        yield Candidate("send", protocol.name, latency, near, far, held, launching(paths), overlapped(paths))
