"""Likely errors of a memory size or memory bandwidth: the figure of another accelerator of the vendor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.prose.bandwidth_errors import LikelyError
from clusterspec.prose.claims import Claim
from clusterspec.prose.known_figures import KnownFigure, KnownFigures
from clusterspec.prose.lexicon import Channel, FigureScope
from clusterspec.prose.possible_values import ROUGH_TOLERANCE
from clusterspec.units.common_errors import near

TOLERANCE = 0.012
"""Relative tolerance to the figure of another accelerator: 2.0 TB/s for 2,039 GB/s is not one."""
GIBI_OVER_GIGA = 1.024**3
"""An `80 GB` part may have 80 GiB."""


def part_errors(claim: Claim, facts: Sequence[KnownFigure], known: KnownFigures) -> Iterator[LikelyError]:
    """The figure of another accelerator, for a figure stated as a property of the named one: `H200 has 80 GB of HBM3e`."""
    channel = Channel.CAPACITY if claim.token.unit == "B" else claim.channel
    subject = claim.subjects[0]
    whole = claim.scope in (None, FigureScope.DEVICE) and not claim.subject_elsewhere
    if not claim.specified or not whole or claim.measured or channel not in (Channel.CAPACITY, Channel.MEMORY):
        return
    own = [fact for fact in facts if fact.channel is channel and fact.scope is FigureScope.DEVICE]
    if not own or any(near(claim.token.value, fact.value, ROUGH_TOLERANCE) for fact in own):
        return
    for id_, others in known.of_vendor(subject):
        if any(_is_same(claim, fact) for fact in others if fact.channel is channel):
            yield LikelyError("label-contradicts-rate", own[0], f"the figure of {id_}")
            return


def _is_same(claim: Claim, fact: KnownFigure) -> bool:
    value = claim.token.value
    readings = (value, value * GIBI_OVER_GIGA) if fact.unit == "B" else (value,)
    return any(near(reading, fact.value, TOLERANCE) for reading in readings)
