"""Whether a figure is right: what a fact of the catalog amounts to when it is counted as the claim counts."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.prose.claims import Claim
from clusterspec.prose.known import SPARSE, KnownFigure
from clusterspec.prose.lexicon import Channel, FigureScope
from clusterspec.quantity import Direction, Sparsity
from clusterspec.units.slips import near

AGREES = 0.05
"""Published figures are rounded: the 63 GB/s of PCIe 5 are printed as 64, 12.5 as 12."""
ROUGHLY = 0.08
"""The same behind `about`, and of a bus, whose raw rate is printed as often as what its code leaves (128 for 121)."""
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
"""Half a node, a node, and the domains that are sold: sums that people print without saying so."""


def readings(claim: Claim, fact: KnownFigure) -> tuple[float, ...]:
    """What a fact amounts to, counted as the claim counts; both ways where it does not say."""
    if fact.unit == "FLOP/s":
        return {Sparsity.DENSE: (fact.value,), Sparsity.SPARSE: (fact.value * SPARSE,)}.get(
            claim.sparsity or Sparsity.DENSE, ()
        )
    if not fact.directed or claim.direction is Direction.ONE_WAY:
        return (fact.value,)
    if claim.direction is Direction.DUPLEX:
        return (2 * fact.value,)
    return (fact.value,) if fact.channel is Channel.NETWORK else (fact.value, 2 * fact.value)


def right(claim: Claim, facts: Iterable[KnownFigure]) -> bool:
    """Whether a figure agrees with one of some facts, in a reading that its words allow."""
    within = ROUGHLY if claim.about or claim.channel is Channel.HOST else AGREES
    value = claim.token.value / 8 if claim.token.unit == "T/s" else claim.token.value
    return any(
        near(value, reading * count, within)
        for fact in facts
        if in_scope(claim, fact)
        for reading in readings(claim, fact)
        for count in _counted_in(claim, fact)
    )


def _counted_in(claim: Claim, fact: KnownFigure) -> tuple[float, ...]:
    """How many times a fact may be in the claim's figure."""
    if fact.scope is FigureScope.LANE:
        return (1.0,)
    return (
        1.0,
        *(claim.counts if claim.scope is None else ()),
        *(_totals(claim) if fact.scope in (FigureScope.DEVICE, FigureScope.PORT) and not fact.minor else ()),
    )


def _totals(claim: Claim) -> tuple[float, ...]:
    """How many accelerators or ports a figure may be the sum of, where it does not say that it is of one.

    Eight of them in bytes are left out: there the unit is likelier to be the slip.
    """
    if claim.channel is Channel.SCALE_UP and claim.scope is None:
        return _DOMAINS
    if claim.channel is not Channel.NETWORK or claim.of_port or claim.scope is not None:
        return ()
    clouds = any(subject.family == "efa" for subject in claim.subjects)
    return tuple(map(float, range(3 - clouds, 33))) if claim.token.bits or clouds else (4.0, 16.0, 32.0)


def in_scope(claim: Claim, fact: KnownFigure) -> bool:
    """Whether a fact is of what the claim says, or the claim does not say."""
    if fact.trap or (fact.minor and claim.of_port and not claim.labelled(fact.value)):
        return False
    if claim.precision and fact.precision and claim.precision != fact.precision:
        return {claim.precision, fact.precision} == {"bf16", "fp16"}
    if fact.scope is FigureScope.LANE and fact.channel is Channel.NETWORK:
        return claim.scope is FigureScope.LANE or not claim.of_port
    return claim.scope is None or fact.scope in _SCOPES[claim.scope]
