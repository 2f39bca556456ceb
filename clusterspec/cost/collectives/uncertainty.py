"""The uncertainty range of a collective, by the origin of its figures."""

from __future__ import annotations

from clusterspec.cost.collectives.model import Candidate, Paths
from clusterspec.cost.constants import assumed
from clusterspec.origin import Assumed, Measured, Origin

GROUP = "uncertainty"
_COUNTED = "by judgment; docs/accuracy.md counts the measured collectives inside the range"
SENDING = {
    "measured": assumed(GROUP, "sending.measured", 0.04, f"of a share measured on the same machine, {_COUNTED}"),
    "cited": assumed(GROUP, "sending.cited", 0.09, f"of a share that an entry states for its kind, {_COUNTED}"),
    "assumed": assumed(GROUP, "sending.assumed", 0.2, f"of a share taken from other kinds of links, {_COUNTED}"),
}
"""Relative uncertainty of the sending time, by the origin of the achieved share of the line."""
STARTING = assumed(GROUP, "starting", 0.3, f"of launch time, latency and pipeline fill, {_COUNTED}")


def band(paths: Paths, candidate: Candidate, sending: float, total: float, least: float) -> tuple[float, float]:
    """Low and high seconds: the terms vary together, and the low end is at least the time at line rate."""
    spread = (total - sending) * STARTING.value + sending * SENDING[_kind(_origin(paths, candidate))].value
    return min(total, max(least, total - spread)), max(total, total + spread)


def _origin(paths: Paths, candidate: Candidate) -> Origin:
    """The origin of the share that limits the sending."""
    if paths.between and candidate.between >= candidate.inside:
        return paths.between.share.origin
    if candidate.algorithm.startswith("nvls") and paths.inside.reduction:
        return paths.inside.reduction.origin
    return paths.inside.ring.origin


def _kind(origin: Origin) -> str:
    if isinstance(origin, Measured):
        return "measured"
    return "assumed" if isinstance(origin, Assumed) else "cited"
