"""Drawings of links: the rates of tiers as areas, and the path between two accelerators hop by hop, with the drawings
that its live figure shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from clusterspec.report.charts.links import AreaPlate, DrawnHop, path_chart, pyramid_chart
from clusterspec.report.paper.blocks import Picture, embedded_json
from clusterspec.results.machine import PathClass, PathHop, Pod, Tier
from clusterspec.units import display, plain

TIER_TINTS = {
    "on-chip": "forward",
    "memory": "memory",
    "scale-up": "scale-up",
    "peer": "scale-up",
    "host": "other",
    "scale-out": "scale-out",
    "level": "scale-out",
}
"""The color of a tier by its kind."""


def areas_picture(tiers: tuple[Tier, ...]) -> Picture | None:
    """The line rates of an accelerator as plates, whose areas are to scale."""
    shown = [tier for tier in tiers if tier.line_rate]
    if len(shown) < 2:
        return None
    most = max(tier.line_rate for tier in shown)
    plates = [
        AreaPlate(
            tier.name,
            tier.line_rate,
            display(tier.line_rate, "B/s"),
            TIER_TINTS[tier.kind],
            _share_of_fastest_text(tier, most),
        )
        for tier in shown
    ]
    alt = "; ".join(f"{plate.label}: {plate.value_text}" for plate in plates)
    caption = "What an accelerator can move in the same time: areas to scale, each way, memory reads and writes"
    return Picture(pyramid_chart(plates, alt), caption, "tiers")


def _share_of_fastest_text(tier: Tier, most: float) -> str:
    """The bandwidth of a tier as a share of the fastest tier."""
    return f"1 / {plain(most / tier.line_rate, 2)} of the fastest" if tier.line_rate < most else ""


def path_picture(pod: Pod | None) -> Picture | None:
    """The path of a message between the farthest accelerators; None if no two are connected.

    The live figure has the path of every class of pairs, and for pairs on two rails also the path over a rail's
    accelerator.
    """
    if pod is None or not pod.classes or pod.nodes * pod.accelerators_per_node < 2:
        return None
    number = max(n for n in range(len(pod.classes)) if not n or pod.classes[n - 1].nodes < pod.nodes)
    far = pod.classes[number]
    data = {**pod.to_json(), "walks": [_class_walks(pod, one) for one in pod.classes]}
    until = f": {display(far.latency, 's')}" if far.latency else ""
    caption = f"A short message between two accelerators in {far.name}{until}"
    return Picture(_drawn_path(far.hops), caption, f"pod.classes[{number}]", "pod", embedded_json(data))


def _class_walks(pod: Pod, path_class: PathClass) -> list[dict[str, Any]]:
    """The drawing of a class of pairs, and a second one for pairs on different rails if the path leaves the domain."""
    ways = [path_class.hops]
    inside = pod.classes[0]
    if pod.rails > 1 and pod.domain > 1 and path_class is not inside and "NIC" in path_class.parts:
        relay = PathHop("accelerator on B's rail", None, "", inside.bandwidth, inside.shared)
        ways.append((path_class.hops[0], relay, *path_class.hops[1:]))
    return [{"svg": _drawn_path(hops), "steps": _step_texts(hops)} for hops in ways]


def _step_texts(hops: Sequence[PathHop]) -> list[str]:
    """The texts shown while a packet is at each hop."""
    return [f"{hop.part}: {_elapsed_text(hops, number)}" for number, hop in enumerate(hops)]


def _elapsed_text(hops: Sequence[PathHop], number: int) -> str:
    """The time up to a hop as text. From the first hop with an unknown time on, it is a lower bound."""
    known = list(accumulate(hop.seconds or 0.0 for hop in hops))
    least = any(hop.seconds is None for hop in hops[: number + 1])
    bound = "≥ " if least and known[number] else ""
    return f"{bound}{display(known[number], 's')}" if known[-1] else "not known"


def _drawn_path(hops: Sequence[PathHop]) -> str:
    """The hops as a drawing. The narrowest link is marked where another one is wider."""
    rates = [hop.shared for hop in hops if hop.shared]
    least = min(rates, default=0.0)
    mark = next((n for n, hop in enumerate(hops) if hop.shared == least), 0) if max(rates, default=0.0) > least else 0
    drawn = [
        DrawnHop(
            label=hop.part,
            seconds=hop.seconds,
            added="not known" if hop.seconds is None else f"+{display(hop.seconds, 's')}" if hop.seconds else "",
            so_far=_elapsed_text(hops, number),
            remark=hop.why,
            rate=hop.shared,
            rate_text=_rate_text(hop),
            narrowest=bool(mark) and number == mark,
        )
        for number, hop in enumerate(hops)
    ]
    alt = "; ".join(f"{number} {step}" for number, step in enumerate(_step_texts(hops), 1))
    return path_chart(drawn, f"{alt}; narrowest link {display(least, 'B/s')} each way" if least else alt)


def _rate_text(hop: PathHop) -> str:
    """The rate of the link into a hop, or its rate while all accelerators send if that is lower."""
    if hop.rate is None or hop.shared is None:
        return ""
    if hop.shared >= hop.rate:
        return f"{display(hop.rate, 'B/s')} each way"
    return f"{display(hop.shared, 'B/s')} if all send"
