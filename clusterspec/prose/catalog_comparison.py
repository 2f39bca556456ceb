"""Comparison of claims with the catalog: a claim is correct, has a likely error, or is not reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.prose.bandwidth_errors import LikelyError, bandwidth_errors
from clusterspec.prose.claims import Claim
from clusterspec.prose.known_figures import KnownFigure, KnownFigures
from clusterspec.prose.lexicon import Channel, FigureScope
from clusterspec.prose.part_errors import part_errors
from clusterspec.prose.peak_errors import peak_errors
from clusterspec.prose.possible_values import agrees
from clusterspec.prose.text_problem import TextProblem
from clusterspec.quantity import Direction
from clusterspec.units import display, display_bits, plain

_ORDER = (
    FigureScope.DEVICE,
    FigureScope.PORT,
    FigureScope.PAIR,
    FigureScope.LINK,
    FigureScope.LANE,
    FigureScope.NODE,
    FigureScope.SUM,
)


def check_claim(claim: Claim, known: KnownFigures) -> Iterator[TextProblem]:
    """The problem with a claim that a known error explains, naming all errors that fit."""
    errors = _likely_errors(claim, known)
    if errors:
        causes = ", or ".join(dict.fromkeys(error.cause for error in errors))
        figure, times = _expected(claim, errors[0].fact)
        written = f"{claim.token.written}{f' {claim.direction}' if claim.direction else ''}"
        message = f"{written} is {times} the {figure} of {errors[0].fact.owner}: it looks like {causes}"
        yield TextProblem(errors[0].rule, claim.token, message, f"write `{figure}`, or name what the figure measures")


def _expected(claim: Claim, fact: KnownFigure) -> tuple[str, str]:
    """The catalog figure in the direction of a claim, and the ratio of the claim to it, both as text."""
    value = fact.value * (2 if claim.direction is Direction.DUPLEX else 1)
    shown = display_bits(value) if fact.unit == "B/s" and claim.token.bits else display(value, fact.unit)
    ratio = claim.token.value / (8 if claim.token.unit == "T/s" else 1) / value
    times = f"{plain(ratio)} times" if ratio >= 1 else f"1/{plain(1 / ratio)} of"
    if fact.directed:
        return f"{shown} {claim.direction or Direction.ONE_WAY}", times
    return (f"{shown} dense" if fact.unit == "FLOP/s" else shown), times


def _likely_errors(claim: Claim, known: KnownFigures) -> tuple[LikelyError, ...]:
    """The errors that explain a wrong claim, likeliest first."""
    facts = tuple(fact for subject in claim.subjects for fact in _comparable(claim, known.of(subject)))
    if (
        not facts
        or not claim.token.value
        or _is_sum(claim)
        or (claim.names_no_part and claim.channel is Channel.NETWORK)
    ):
        return ()
    if agrees(claim, facts) or any(agrees(claim, _comparable(claim, known.of(other))) for other in claim.others):
        return ()
    if claim.channel is Channel.NETWORK:  # the generation of a port is not inferred from another part of the text
        named = (subject for subject in claim.subjects if not subject.inferred)
        facts = tuple(fact for subject in named for fact in _comparable(claim, known.of(subject)))
    facts = tuple(sorted(facts, key=lambda fact: _ORDER.index(fact.scope)))
    if claim.token.unit == "FLOP/s":
        errors = tuple(peak_errors(claim, facts))
    else:
        errors = (*bandwidth_errors(claim, facts, known), *part_errors(claim, facts, known))
    return tuple({error.rule: error for error in reversed(errors)}.values())[::-1]


def _is_sum(claim: Claim) -> bool:
    """Whether a claim is a sum over parts; such claims are compared only for the NICs of a known node, and for power."""
    node = any(subject.kind == "platform" for subject in claim.subjects)
    of_node = claim.scope is FigureScope.NODE and claim.channel is Channel.NETWORK and node
    return claim.scope in (FigureScope.NODE, FigureScope.SUM) and not of_node and claim.channel is not Channel.POWER


def _comparable(claim: Claim, facts: Iterable[KnownFigure]) -> tuple[KnownFigure, ...]:
    """The catalog figures with the unit and channel of a claim."""
    unit = "B/s" if claim.token.unit == "T/s" else claim.token.unit
    return tuple(fact for fact in facts if fact.unit == unit and claim.channel in (None, fact.channel))
