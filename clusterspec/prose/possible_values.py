"""Possible values of a catalog figure under the direction, scope, sparsity and counts of a claim."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.prose.claims import Claim
from clusterspec.prose.known_figures import SPARSE, KnownFigure
from clusterspec.prose.lexicon import Channel, FigureScope
from clusterspec.quantity import Direction, Sparsity
from clusterspec.units.common_errors import near

TOLERANCE = 0.05
"""Relative rounding of published figures: the 63 GB/s of PCIe 5 are printed as 64, 12.5 as 12."""
ROUGH_TOLERANCE = 0.08
"""The same after `about`, and for host buses, often quoted by their raw rate before encoding (128 for 121)."""
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
    if not fact.directed or claim.direction is Direction.ONE_WAY:
        return (fact.value,)
    if claim.direction is Direction.DUPLEX:
        return (2 * fact.value,)
    return (fact.value,) if fact.channel is Channel.NETWORK else (fact.value, 2 * fact.value)


def agrees(claim: Claim, facts: Iterable[KnownFigure]) -> bool:
    """Whether a claim agrees with one of some catalog figures under an interpretation that its words allow."""
    within = ROUGH_TOLERANCE if claim.approximate or claim.channel is Channel.HOST else TOLERANCE
    value = claim.token.value / 8 if claim.token.unit == "T/s" else claim.token.value
    return any(
        near(value, reading * count, within)
        for fact in facts
        if in_scope(claim, fact)
        for reading in possible_values(claim, fact)
        for count in _multiplicities(claim, fact)
    )


def _multiplicities(claim: Claim, fact: KnownFigure) -> tuple[float, ...]:
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


def in_scope(claim: Claim, fact: KnownFigure) -> bool:
    """Whether a catalog figure has the scope and precision that the claim states, if it states them."""
    if fact.misprint or (fact.reduced_rate and claim.of_port and not claim.is_in_name(fact.value)):
        return False
    if claim.precision and fact.precision and claim.precision != fact.precision:
        return {claim.precision, fact.precision} == {"bf16", "fp16"}
    if fact.scope is FigureScope.LANE and fact.channel is Channel.NETWORK:
        return claim.scope is FigureScope.LANE or not claim.of_port
    return claim.scope is None or fact.scope in _SCOPES[claim.scope]
