"""Likely errors of a wrong bandwidth: bits for bytes, both directions for one, a link for an accelerator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.prose.claims import Claim
from clusterspec.prose.known_figures import KnownFigure, KnownFigures
from clusterspec.prose.lexicon import Channel, FigureScope
from clusterspec.prose.possible_values import ROUGH_TOLERANCE, in_scope, possible_values
from clusterspec.quantity import Direction
from clusterspec.records import dataclass
from clusterspec.units.common_errors import BITS, MEANT, PREFIX, PREFIX_STEP, SCOPE, SINGLE, SUMMED, meant_by_bits, near

TOLERANCE = 0.04
"""Relative tolerance between a corrected figure and the catalog's."""


@dataclass(frozen=True, slots=True)
class LikelyError:
    """A likely error: the rule that reports it, the catalog figure, and the cause."""

    rule: str
    fact: KnownFigure
    cause: str
    """A noun phrase that follows `it looks like`."""


def bandwidth_errors(claim: Claim, facts: Sequence[KnownFigure], known: KnownFigures) -> Iterator[LikelyError]:
    """The likely errors of a bandwidth, ordered: unit, direction, scope, generation."""
    if claim.token.unit == "T/s":
        yield from _generations(claim, facts, known)
        return
    fitting = [fact for fact in facts if in_scope(claim, fact)]
    for fact in fitting:
        yield from _units(claim, fact)
    for fact in fitting:
        yield from _directions(claim, fact)
    if claim.names_no_part:
        return
    yield from _scopes(claim, facts)
    yield from _generations(claim, facts, known)


def _units(claim: Claim, fact: KnownFigure) -> Iterator[LikelyError]:
    """Bits for bytes, or a prefix one step off; only for claims with a known channel."""
    token = claim.token
    if claim.channel is None:
        return
    tolerance = ROUGH_TOLERANCE if fact.unit == "B" else TOLERANCE  # an 80 GB part reports 85.5e9 bytes
    other = token.value * 8 if token.bits else token.value / 8
    of_node = claim.subjects[0].kind in ("accelerator", "platform") and fact.channel is Channel.NETWORK
    of_machine = claim.subjects[0].kind == "platform" and fact.scope is FigureScope.NODE
    of_node = of_node and claim.scope is not FigureScope.PORT and not of_machine
    whole = fact.scope in (FigureScope.DEVICE, FigureScope.PORT, FigureScope.NODE) or claim.scope is fact.scope
    identified = whole and fact.scope is not FigureScope.LANE and (token.bits or not (of_node or fact.unit == "B"))
    if identified and any(near(other, reading, tolerance) for reading in possible_values(claim, fact)):
        yield LikelyError(BITS, fact, meant_by_bits(token.symbol, token.bits))
    identified = (fact.unit != "B" or claim.specified) and fact.scope in (
        FigureScope.DEVICE,
        FigureScope.PORT,
        FigureScope.NODE,
    )
    if identified and any(
        near(token.value * step, reading, TOLERANCE)
        for step in (PREFIX_STEP, 1 / PREFIX_STEP)
        for reading in possible_values(claim, fact)
    ):
        yield LikelyError(PREFIX, fact, MEANT[PREFIX])


def _directions(claim: Claim, fact: KnownFigure) -> Iterator[LikelyError]:
    value, line_rate = claim.token.value, fact.channel is Channel.NETWORK
    if not fact.directed or fact.reduced_rate:
        return
    summed, single = near(value, 2 * fact.value, TOLERANCE), near(value, fact.value, TOLERANCE)
    if summed and claim.direction is Direction.ONE_WAY:
        yield LikelyError(SUMMED, fact, MEANT[SUMMED])
    elif single and claim.direction is Direction.DUPLEX and not (line_rate and claim.token.bits):
        yield LikelyError(SINGLE, fact, MEANT[SINGLE])  # `400 Gb/s full duplex` is 400 each way
    elif summed and claim.direction is None and line_rate and _is_single(claim, fact):
        rule = "nic-rate-off-technology" if claim.token.bits else SUMMED
        yield LikelyError(rule, fact, f"{MEANT[SUMMED]}, or two ports counted as one")


def _is_single(claim: Claim, fact: KnownFigure) -> bool:
    """Whether a claim is of one port of a technology or adapter, or of a node, named in its sentence."""
    of_node = claim.scope is FigureScope.NODE and fact.scope is FigureScope.NODE
    subject = claim.subjects[0]
    named = bool(subject.ids) and not subject.inferred and subject.kind in ("interconnect", "nic")
    of_port = not claim.doubled and named
    return not claim.subject_elsewhere and (of_node or of_port)


def _scopes(claim: Claim, facts: Sequence[KnownFigure]) -> Iterator[LikelyError]:
    """The figure of another scope: of a link for a lane, of an accelerator for a link, of a lane for a NIC."""
    own = next((fact for fact in facts if in_scope(claim, fact) and not fact.reduced_rate), None)
    for fact in facts if claim.channel is not None and own is not None else ():
        if own is None or in_scope(claim, fact) or not _matches(claim, fact):
            continue
        if fact.scope is FigureScope.LANE and fact.channel is Channel.NETWORK:
            yield LikelyError("lanes-counted-as-nics", own, "the rate of one lane of a port")
        elif fact.reduced_rate:
            yield LikelyError(
                "nic-rate-off-technology", own, "a port with half its lanes, or one of the generation before"
            )
        elif fact.misprint or (claim.scope is not None and fact.what and fact.scope is not claim.scope):
            yield LikelyError(SCOPE, own, f"the figure of {fact.what}")


def _matches(claim: Claim, fact: KnownFigure) -> bool:
    return any(near(claim.token.value, reading, TOLERANCE) for reading in possible_values(claim, fact))


def _generations(claim: Claim, facts: Sequence[KnownFigure], known: KnownFigures) -> Iterator[LikelyError]:
    """The figure of another generation of the same family."""
    subject = next((each for each in claim.subjects if each.kind == "interconnect" and each.ids), None)
    lane = claim.token.unit == "T/s"
    scopes = (FigureScope.LANE,) if lane else (claim.scope or FigureScope.DEVICE, FigureScope.PORT)
    own = next((fact for fact in facts if fact.scope in scopes), None)
    if subject is None or own is None or claim.subject_elsewhere:
        return
    if own.channel is Channel.NETWORK and subject.inferred:
        return
    value = claim.token.value / (8 if lane else 1)
    share = subject.lanes / 16 if subject.lanes and not lane else 1
    for id_, others in known.siblings(subject):
        fitting = (
            fact for fact in others if fact.scope in scopes and fact.channel is own.channel and not fact.reduced_rate
        )
        if any(near(value, reading * share, TOLERANCE) for fact in fitting for reading in possible_values(claim, fact)):
            rule = "nic-rate-off-technology" if own.channel is Channel.NETWORK else "label-contradicts-rate"
            yield LikelyError(rule, own, f"the figure of {id_}")
