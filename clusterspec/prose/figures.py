"""Figures held against the catalog: each is right in some reading, or reads like a slip, or is left alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.prose.claims import Claim
from clusterspec.prose.known import KnownFigure, KnownFigures
from clusterspec.prose.lexicon import Channel, FigureScope
from clusterspec.prose.peaks import peaks
from clusterspec.prose.readings import right
from clusterspec.prose.slips import ProseSlip, bandwidths
from clusterspec.prose.told import Told
from clusterspec.quantity import Direction
from clusterspec.units import plain, say, say_bits

_ORDER = (
    FigureScope.DEVICE,
    FigureScope.PORT,
    FigureScope.PAIR,
    FigureScope.LINK,
    FigureScope.LANE,
    FigureScope.NODE,
    FigureScope.SUM,
)


def judge(claim: Claim, known: KnownFigures) -> Iterator[Told]:
    """The finding on a figure that a slip explains, with every reading that fits; none on one that is right or unusual."""
    slips = _explained(claim, known)
    if slips:
        meant = ", or ".join(dict.fromkeys(slip.meant for slip in slips))
        figure, times = _right_figure(claim, slips[0].fact)
        written = f"{claim.token.written}{f' {claim.direction}' if claim.direction else ''}"
        message = f"{written} is {times} the {figure} of {slips[0].fact.whose}: it reads like {meant}"
        yield Told(slips[0].rule, claim.token, message, f"write `{figure}`, or say what else it is")


def _right_figure(claim: Claim, fact: KnownFigure) -> tuple[str, str]:
    """The figure that is held against a claim, counted as the claim counts, and how many times it the claim is."""
    value = fact.value * (2 if claim.direction is Direction.DUPLEX else 1)
    shown = say_bits(value) if fact.unit == "B/s" and claim.token.bits else say(value, fact.unit)
    ratio = claim.token.value / (8 if claim.token.unit == "T/s" else 1) / value
    times = f"{plain(ratio)} times" if ratio >= 1 else f"1/{plain(1 / ratio)} of"
    if fact.directed:
        return f"{shown} {claim.direction or Direction.ONE_WAY}", times
    return (f"{shown} dense" if fact.unit == "FLOP/s" else shown), times


def _explained(claim: Claim, known: KnownFigures) -> tuple[ProseSlip, ...]:
    """The slips that explain a figure, the likeliest first."""
    facts = tuple(fact for subject in claim.subjects for fact in _fitting(claim, known.of(subject)))
    if not facts or not claim.token.value or _is_sum(claim) or (claim.far and claim.channel is Channel.NETWORK):
        return ()
    if right(claim, facts) or any(right(claim, _fitting(claim, known.of(other))) for other in claim.others):
        return ()
    facts = tuple(sorted(facts, key=lambda fact: _ORDER.index(fact.scope)))
    slips = tuple(peaks(claim, facts) if claim.token.unit == "FLOP/s" else bandwidths(claim, facts, known))
    return tuple({slip.rule: slip for slip in reversed(slips)}.values())[::-1]


def _is_sum(claim: Claim) -> bool:
    """Whether a figure is of several parts; only the NICs of a known node can be held against such a one."""
    node = any(subject.kind == "platform" for subject in claim.subjects)
    of_node = claim.scope is FigureScope.NODE and claim.channel is Channel.NETWORK and node
    return claim.scope in (FigureScope.NODE, FigureScope.SUM) and not of_node and claim.channel is not Channel.POWER


def _fitting(claim: Claim, facts: Iterable[KnownFigure]) -> tuple[KnownFigure, ...]:
    """The facts of the claim's unit and channel."""
    unit = "B/s" if claim.token.unit == "T/s" else claim.token.unit
    return tuple(fact for fact in facts if fact.unit == unit and claim.channel in (None, fact.channel))
