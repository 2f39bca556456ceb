"""The values that a claim may state for a catalog figure, and the likely errors behind a wrong bandwidth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clusterspec.prose.claims import Claim
from clusterspec.prose.known_figures import SPARSE, KnownFigure, KnownFigures
from clusterspec.prose.lexicon import Channel, FigureScope
from clusterspec.quantity import Direction, Sparsity
from clusterspec.records import dataclass
from clusterspec.units.display import (
    BITS,
    MEANT,
    PREFIX,
    PREFIX_STEP,
    SCOPE,
    SINGLE,
    SUMMED,
    agrees_within,
    text_with_bits_swapped,
)

# Possible values of a catalog figure under the direction, scope, sparsity and counts of a claim

TOLERANCE = 0.05
"""Relative rounding of published figures: the 63 GB/s of PCIe 5 are printed as 64, 12.5 as 12."""
EXACT = 0.002
"""Relative difference up to which a power is a thousand times that of a part: a hall of a thousand accelerators draws
about as many kilowatts as one draws watts.
"""
ROUGH_TOLERANCE = 0.08
"""The tolerance after `about`, and for host buses, which are often quoted at the raw rate before encoding (128 for
121).
"""
_SCOPES: dict[FigureScope, frozenset[FigureScope]] = {
    FigureScope.LANE: frozenset((FigureScope.LANE,)),
    FigureScope.LINK: frozenset((FigureScope.LINK, FigureScope.PORT)),
    FigureScope.PORT: frozenset((FigureScope.PORT,)),
    FigureScope.PAIR: frozenset((FigureScope.PAIR, FigureScope.DEVICE, FigureScope.LINK)),
    FigureScope.DEVICE: frozenset((FigureScope.DEVICE, FigureScope.PORT)),
    FigureScope.NODE: frozenset((FigureScope.NODE,)),
    FigureScope.SUM: frozenset((FigureScope.NODE, FigureScope.SUM)),
}
_DOMAINS = (4.0, 8.0, 16.0, 32.0, 36.0, 72.0)
"""Accelerators of half a node, a node and common scale-up domains: sums often published without their count."""


def possible_values(claim: Claim, fact: KnownFigure) -> tuple[float, ...]:
    """The values of a catalog figure in the direction or sparsity of a claim; all of them if it states none."""
    if fact.unit == "FLOP/s":
        return {Sparsity.DENSE: (fact.value,), Sparsity.SPARSE: (fact.value * SPARSE,)}.get(
            claim.sparsity or Sparsity.DENSE, ()
        )
    if not fact.directed or claim.direction is Direction.ONE_WAY or claim.token.unit == "T/s":
        return (fact.value,)  # transfers of a lane are counted in one direction
    if claim.direction is Direction.DUPLEX:
        return (2 * fact.value,)
    return (fact.value,) if fact.channel is Channel.NETWORK else (fact.value, 2 * fact.value)


def agrees_with_catalog(claim: Claim, facts: Iterable[KnownFigure]) -> bool:
    """Whether a claim, under a reading that its words allow, agrees with a catalog figure."""
    within = ROUGH_TOLERANCE if claim.approximate or claim.channel is Channel.HOST else TOLERANCE
    value = claim.token.value / 8 if claim.token.unit == "T/s" else claim.token.value
    return any(
        agrees_within(value, reading * count, within)
        for fact in facts
        if is_in_scope(claim, fact)
        for reading in possible_values(claim, fact)
        for count in _part_counts(claim, fact)
    )


def _part_counts(claim: Claim, fact: KnownFigure) -> tuple[float, ...]:
    """The counts of parts over which a claim may be a sum."""
    if fact.scope is FigureScope.LANE:
        return (1.0,)
    return (
        1.0,
        *(claim.counts if claim.scope is None else ()),
        *(
            _possible_counts(claim)
            if fact.scope in (FigureScope.DEVICE, FigureScope.PORT) and not fact.reduced_rate
            else ()
        ),
    )


def _possible_counts(claim: Claim) -> tuple[float, ...]:
    """The numbers of accelerators or ports that a claim without a scope may sum over.

    Eight in bytes is excluded: there a wrong unit is likelier.
    """
    if claim.channel is Channel.SCALE_UP and claim.scope is None:
        return _DOMAINS
    if claim.channel is not Channel.NETWORK or claim.of_port or claim.scope is not None:
        return ()
    clouds = any(subject.family == "efa" for subject in claim.subjects)
    return tuple(map(float, range(3 - clouds, 33))) if claim.token.bits or clouds else (4.0, 16.0, 32.0)


def is_in_scope(claim: Claim, fact: KnownFigure) -> bool:
    """Whether a catalog figure has the scope and precision that the claim states, if any."""
    if fact.misprint or (fact.reduced_rate and claim.of_port and not claim.is_in_name(fact.value)):
        return False
    if claim.precision and fact.precision and claim.precision != fact.precision:
        return {claim.precision, fact.precision} == {"bf16", "fp16"}
    if fact.scope is FigureScope.LANE and fact.channel is Channel.NETWORK:
        return claim.scope is FigureScope.LANE or not claim.of_port
    return claim.scope is None or fact.scope in _SCOPES[claim.scope]


# Likely errors of a wrong bandwidth: bits for bytes, both directions for one, a link for an accelerator

BANDWIDTH_TOLERANCE = 0.04
"""Relative tolerance between a corrected figure and the catalog's."""


@dataclass(frozen=True)
class LikelyError:
    """A likely error: the rule that reports it, the catalog figure, and the cause."""

    rule: str
    fact: KnownFigure
    cause: str
    """A noun phrase that follows `it looks like`."""


def bandwidth_errors(claim: Claim, facts: Sequence[KnownFigure], figures: KnownFigures) -> Iterator[LikelyError]:
    """The likely errors of a bandwidth, ordered: unit, direction, scope, generation."""
    if claim.token.unit == "T/s":
        yield from _generation_errors(claim, facts, figures)
        return
    fitting = [fact for fact in facts if is_in_scope(claim, fact)]
    for fact in fitting:
        yield from _unit_errors(claim, fact)
    for fact in fitting:
        yield from _direction_errors(claim, fact)
    if claim.names_no_part:
        return
    yield from _scope_errors(claim, facts)
    yield from _generation_errors(claim, facts, figures)


def _unit_errors(claim: Claim, fact: KnownFigure) -> Iterator[LikelyError]:
    """The likely errors of unit: bits for bytes, or a prefix one step off. Only for claims with a known channel."""
    token = claim.token
    if claim.channel is None:
        return
    tolerance = ROUGH_TOLERANCE if fact.unit == "B" else BANDWIDTH_TOLERANCE  # an 80 GB part reports 85.5e9 bytes
    other = token.value * 8 if token.bits else token.value / 8
    of_node = claim.subjects[0].kind in ("accelerator", "platform") and fact.channel is Channel.NETWORK
    of_machine = claim.subjects[0].kind == "platform" and fact.scope is FigureScope.NODE
    of_node = of_node and claim.scope is not FigureScope.PORT and not of_machine
    whole = fact.scope in (FigureScope.DEVICE, FigureScope.PORT, FigureScope.NODE) or claim.scope is fact.scope
    identified = whole and fact.scope is not FigureScope.LANE and (token.bits or not (of_node or fact.unit == "B"))
    of_data = fact.unit in {"B", "B/s"}
    if (
        of_data
        and identified
        and any(agrees_within(other, reading, tolerance) for reading in possible_values(claim, fact))
    ):
        yield LikelyError(BITS, fact, text_with_bits_swapped(token.symbol, token.bits))
    identified = (fact.unit != "B" or claim.specified) and fact.scope in (
        FigureScope.DEVICE,
        FigureScope.PORT,
        FigureScope.NODE,
    )
    if fact.channel is Channel.POWER:
        if claim.subject_elsewhere:
            return  # the power of a hall
        tolerance = EXACT
    if identified and any(
        agrees_within(token.value * step, reading, tolerance)
        for step in (PREFIX_STEP, 1 / PREFIX_STEP)
        for reading in possible_values(claim, fact)
    ):
        yield LikelyError(PREFIX, fact, MEANT[PREFIX])


def _direction_errors(claim: Claim, fact: KnownFigure) -> Iterator[LikelyError]:
    value, line_rate = claim.token.value, fact.channel is Channel.NETWORK
    if not fact.directed or fact.reduced_rate:
        return
    summed, single = (
        agrees_within(value, 2 * fact.value, BANDWIDTH_TOLERANCE),
        agrees_within(value, fact.value, BANDWIDTH_TOLERANCE),
    )
    if summed and claim.direction is Direction.ONE_WAY:
        yield LikelyError(SUMMED, fact, MEANT[SUMMED])
    elif single and claim.direction is Direction.DUPLEX and not (line_rate and claim.token.bits):
        yield LikelyError(SINGLE, fact, MEANT[SINGLE])  # `400 Gb/s full duplex` is 400 each way
    elif summed and claim.direction is None and line_rate and _is_of_one_part(claim, fact):
        rule = "nic-rate-off-technology" if claim.token.bits else SUMMED
        yield LikelyError(rule, fact, f"{MEANT[SUMMED]}, or two ports counted as one")


def _is_of_one_part(claim: Claim, fact: KnownFigure) -> bool:
    """Whether a claim describes one port, adapter or node named in its sentence."""
    of_node = claim.scope is FigureScope.NODE and fact.scope is FigureScope.NODE
    subject = claim.subjects[0]
    named = bool(subject.ids) and not subject.inferred and subject.kind in ("interconnect", "nic")
    of_port = not claim.doubled and named
    return not claim.subject_elsewhere and (of_node or of_port)


def _scope_errors(claim: Claim, facts: Sequence[KnownFigure]) -> Iterator[LikelyError]:
    """The figure of another scope: a link for a lane, an accelerator for a link, a lane for a NIC."""
    own = next((fact for fact in facts if is_in_scope(claim, fact) and not fact.reduced_rate), None)
    for fact in facts if claim.channel is not None and own is not None else ():
        if own is None or is_in_scope(claim, fact) or not _is_allowed_value(claim, fact):
            continue
        if fact.scope is FigureScope.LANE and fact.channel is Channel.NETWORK:
            yield LikelyError("lanes-counted-as-nics", own, "the rate of one lane of a port")
        elif fact.reduced_rate:
            yield LikelyError(
                "nic-rate-off-technology", own, "a port with half its lanes, or of the previous generation"
            )
        elif fact.misprint or (claim.scope is not None and fact.what and fact.scope is not claim.scope):
            yield LikelyError(SCOPE, own, f"the figure of {fact.what}")


def _is_allowed_value(claim: Claim, fact: KnownFigure) -> bool:
    return any(
        agrees_within(claim.token.value, reading, BANDWIDTH_TOLERANCE) for reading in possible_values(claim, fact)
    )


def _generation_errors(claim: Claim, facts: Sequence[KnownFigure], figures: KnownFigures) -> Iterator[LikelyError]:
    """The figure of another generation of one family."""
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
    for id_, others in figures.siblings(subject):
        fitting = (
            fact for fact in others if fact.scope in scopes and fact.channel is own.channel and not fact.reduced_rate
        )
        if any(
            agrees_within(value, reading * share, BANDWIDTH_TOLERANCE)
            for fact in fitting
            for reading in possible_values(claim, fact)
        ):
            rule = "nic-rate-off-technology" if own.channel is Channel.NETWORK else "label-contradicts-rate"
            yield LikelyError(rule, own, f"the figure of {id_}")
