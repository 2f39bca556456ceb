"""What a bandwidth that is wrong reads like: bits for bytes, both directions for one, a link for an accelerator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.prose.claims import Claim
from clusterspec.prose.known import KnownFigure, KnownFigures
from clusterspec.prose.lexicon import Channel, FigureScope
from clusterspec.prose.readings import ROUGHLY, in_scope, readings
from clusterspec.quantity import Direction
from clusterspec.records import dataclass
from clusterspec.units.slips import BITS, MEANT, PREFIX, PREFIX_STEP, SCOPE, SINGLE, SUMMED, meant_by_bits, near

CLOSE = 0.04
"""How near a slip must come to the figure that explains it."""


@dataclass(frozen=True, slots=True)
class ProseSlip:
    """What a figure reads like: the rule that tells of it, the part's own figure, and what the claim would be instead."""

    rule: str
    fact: KnownFigure
    meant: str
    """In words that follow `it reads like`."""


def bandwidths(claim: Claim, facts: Sequence[KnownFigure], known: KnownFigures) -> Iterator[ProseSlip]:
    """The unit that was written decides first, then the direction, then the scope, then the name."""
    if claim.token.unit == "T/s":
        yield from _generations(claim, facts, known)
        return
    fitting = [fact for fact in facts if in_scope(claim, fact)]
    for fact in fitting:
        yield from _units(claim, fact)
    for fact in fitting:
        yield from _directions(claim, fact)
    if claim.far:
        return
    yield from _scopes(claim, facts)
    yield from _generations(claim, facts, known)


def _units(claim: Claim, fact: KnownFigure) -> Iterator[ProseSlip]:
    """Bits for bytes, or a prefix one step off; only where the text says which of a part's figures it refers to."""
    token = claim.token
    if claim.channel is None:
        return
    within = ROUGHLY if fact.unit == "B" else CLOSE  # an 80 GB part reports 85.5e9 bytes
    other = token.value * 8 if token.bits else token.value / 8
    of_node = claim.subjects[0].kind in ("accelerator", "platform") and fact.channel is Channel.NETWORK
    whole = fact.scope in (FigureScope.DEVICE, FigureScope.PORT, FigureScope.NODE) or claim.scope is fact.scope
    told = whole and fact.scope is not FigureScope.LANE and (token.bits or not (of_node or fact.unit == "B"))
    if told and any(near(other, reading, within) for reading in readings(claim, fact)):
        yield ProseSlip(BITS, fact, meant_by_bits(token.symbol, token.bits))
    told = fact.unit != "B" and fact.scope in (FigureScope.DEVICE, FigureScope.PORT, FigureScope.NODE)
    if told and any(
        near(token.value * step, reading, CLOSE)
        for step in (PREFIX_STEP, 1 / PREFIX_STEP)
        for reading in readings(claim, fact)
    ):
        yield ProseSlip(PREFIX, fact, MEANT[PREFIX])


def _directions(claim: Claim, fact: KnownFigure) -> Iterator[ProseSlip]:
    value, line_rate = claim.token.value, fact.channel is Channel.NETWORK
    if not fact.directed or fact.minor:
        return
    summed, single = near(value, 2 * fact.value, CLOSE), near(value, fact.value, CLOSE)
    if summed and claim.direction is Direction.ONE_WAY:
        yield ProseSlip(SUMMED, fact, MEANT[SUMMED])
    elif single and claim.direction is Direction.DUPLEX and not (line_rate and claim.token.bits):
        yield ProseSlip(SINGLE, fact, MEANT[SINGLE])  # `400 Gb/s full duplex` is 400 each way
    elif summed and claim.direction is None and line_rate and _is_single(claim, fact):
        rule = "nic-rate-off-technology" if claim.token.bits else SUMMED
        yield ProseSlip(rule, fact, f"{MEANT[SUMMED]}, or two ports counted as one")


def _is_single(claim: Claim, fact: KnownFigure) -> bool:
    """Whether a figure is of one port of a technology or an adapter that its sentence names, or of a node that it names."""
    of_node = claim.scope is FigureScope.NODE and fact.scope is FigureScope.NODE
    of_port = not claim.twofold and claim.subjects[0].kind in ("interconnect", "nic")
    return not claim.remote and (of_node or of_port)


def _scopes(claim: Claim, facts: Sequence[KnownFigure]) -> Iterator[ProseSlip]:
    """The figure of a link given for a lane, of an accelerator for a link, of a lane for a NIC."""
    own = next((fact for fact in facts if in_scope(claim, fact) and not fact.minor), None)
    for fact in facts if claim.channel is not None and own is not None else ():
        if own is None or in_scope(claim, fact) or not _matches(claim, fact):
            continue
        if fact.scope is FigureScope.LANE and fact.channel is Channel.NETWORK:
            yield ProseSlip("lanes-counted-as-nics", own, "the rate of one lane of a port")
        elif fact.minor:
            yield ProseSlip(
                "nic-rate-off-technology", own, "a port with half its lanes, or one of the generation before"
            )
        elif fact.trap or (claim.scope is not None and fact.what and fact.scope is not claim.scope):
            yield ProseSlip(SCOPE, own, f"the figure of {fact.what}")


def _matches(claim: Claim, fact: KnownFigure) -> bool:
    return any(near(claim.token.value, reading, CLOSE) for reading in readings(claim, fact))


def _generations(claim: Claim, facts: Sequence[KnownFigure], known: KnownFigures) -> Iterator[ProseSlip]:
    """The figure of another generation of the same family."""
    subject = next((each for each in claim.subjects if each.kind == "interconnect" and each.ids), None)
    lane = claim.token.unit == "T/s"
    scopes = (FigureScope.LANE,) if lane else (claim.scope or FigureScope.DEVICE, FigureScope.PORT)
    own = next((fact for fact in facts if fact.scope in scopes), None)
    if subject is None or own is None or claim.remote:
        return
    value = claim.token.value / (8 if lane else 1)
    share = subject.lanes / 16 if subject.lanes and not lane else 1
    for id_, others in known.siblings(subject):
        fitting = (fact for fact in others if fact.scope in scopes and fact.channel is own.channel and not fact.minor)
        if any(near(value, reading * share, CLOSE) for fact in fitting for reading in readings(claim, fact)):
            rule = "nic-rate-off-technology" if own.channel is Channel.NETWORK else "label-contradicts-rate"
            yield ProseSlip(rule, own, f"the figure of {id_}")
