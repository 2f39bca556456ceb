"""The time of a collective as a sum that can show its parts: launching, latency, sending, filling."""

from __future__ import annotations

from clusterspec.cost.collectives import stack
from clusterspec.cost.collectives.model import LAUNCH, Candidate, Paths
from clusterspec.cost.formulas.alpha_beta import overlapped, pipelined
from clusterspec.cost.term import Term
from clusterspec.origin import Computed
from clusterspec.quantity import Figure

Inputs = tuple[tuple[str, Figure], ...]


def seconds(way: Candidate) -> float:
    """Seconds of one way to do it, launching included."""
    if way.overlapped:
        return way.launch + float(overlapped(way.latency, way.sending))
    return way.launch + float(pipelined(way.latency, way.sending, way.held))


def parts_of(paths: Paths, way: Candidate, least: float) -> tuple[Term, ...]:
    """The parts; they add up to the time, and to no less than ``least``, what the wire needs."""
    total = seconds(way)
    sending = way.sending + max(0.0, least - total)
    launch: Inputs = (("start", stack.LAUNCH), ("each rank", stack.LAUNCH_PER_RANK))
    return (
        Term(LAUNCH, way.launch, "s", "start + (ranks − 1) × each rank, on one node", launch),
        Term("latency", way.latency, "s", "base + hops × hop", _latencies(paths)),
        Term("sending", sending, "s", "the longer of inside and between", _sendings(paths, way)),
        _filling(way, total - way.launch - way.latency - way.sending),
    )


def term_of(name: str, paths: Paths, size: float, parts: tuple[Term, ...], band: tuple[float, float]) -> Term:
    """The sum of the parts, with what went into them and its band."""
    return Term(
        name=name,
        value=sum(part.value for part in parts),
        unit="s",
        formula=" + ".join(part.name for part in parts),
        inputs=_inputs(paths, size),
        parts=parts,
        low=band[0],
        high=band[1],
    )


def _filling(way: Candidate, filling: float) -> Term:
    """What filling the pipeline adds, or what latency beside the sending saves."""
    if way.overlapped:
        alongside = (("latency", Figure(way.latency, "s", Computed("latency of all hops"))),)
        return Term("overlap", filling, "s", "− latency × sending / (latency + sending)", alongside)
    held = (("held", Figure(way.held, "s", Computed("chunks of a full pipeline / rate"))), ("channels", stack.CHANNELS))
    return Term("filling", filling, "s", "sending × held / (sending + held)", held)


def _latencies(paths: Paths) -> Inputs:
    hop = Figure(stack.SIMPLE.ring_hops[paths.inside.hops], "s", stack.PROTOCOL_ORIGIN)
    return (("hop", hop), *((("crossing adds", paths.between.latency),) if paths.between else ()))


def _sendings(paths: Paths, way: Candidate) -> Inputs:
    inside = Figure(way.inside, "s", Computed("bytes of a rank / (line × share)"))
    between = Figure(way.between, "s", Computed("bytes of an island / (line × share)"))
    return (("inside", inside), *((("between", between),) if paths.between else ()))


def _inputs(paths: Paths, size: float) -> Inputs:
    asked = Computed("as asked for")
    inside: Inputs = (
        ("size", Figure(size, "B", asked)),
        ("ranks", Figure(paths.ranks, "1", asked)),
        ("line inside", paths.inside.line),
        ("share inside", paths.inside.reduction or paths.inside.ring),
    )
    if paths.between is None:
        return inside
    islands = Figure(paths.islands, "1", Computed("domains or nodes of the group"))
    return (*inside, ("islands", islands), ("line between", paths.between.line), ("share between", paths.between.share))
