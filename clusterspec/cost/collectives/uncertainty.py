"""How far off a collective may be, by where its figures come from."""

from __future__ import annotations

from clusterspec.cost.collectives.model import Paths, Way
from clusterspec.origin import Assumed, Measured, Origin

SENDING = {"measured": 0.04, "cited": 0.09, "assumed": 0.2}
"""Relative uncertainty of the time to send, by the origin of the share of the line that is reached."""
STARTING = 0.3
"""Of launching, latency and filling: they differ that much between versions and ways to start a job."""


def band(paths: Paths, way: Way, sending: float, total: float, least: float) -> tuple[float, float]:
    """Low and high seconds: the parts vary together, and nothing is faster than the wire."""
    spread = (total - sending) * STARTING + sending * SENDING[_kind(_origin(paths, way))]
    return min(total, max(least, total - spread)), max(total, total + spread)


def _origin(paths: Paths, way: Way) -> Origin:
    """Of the share that bounds the sending."""
    if paths.between and way.between >= way.inside:
        return paths.between.share.origin
    if way.algorithm.startswith("nvls") and paths.inside.reduction:
        return paths.inside.reduction.origin
    return paths.inside.ring.origin


def _kind(origin: Origin) -> str:
    if isinstance(origin, Measured):
        return "measured"
    return "assumed" if isinstance(origin, Assumed) else "cited"
