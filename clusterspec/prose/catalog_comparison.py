"""Comparison of claims with the catalog: correct, a likely error of memory or peak, or not reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from clusterspec.prose.claims import Claim
from clusterspec.prose.known_figures import SPARSE, KnownFigure, KnownFigures
from clusterspec.prose.lexicon import Channel, FigureScope
from clusterspec.prose.possible_values import (
    BANDWIDTH_TOLERANCE,
    ROUGH_TOLERANCE,
    LikelyError,
    agrees_with_catalog,
    bandwidth_errors,
    is_in_scope,
    possible_values,
)
from clusterspec.prose.tokenize import TextProblem
from clusterspec.quantity import Direction, Sparsity
from clusterspec.units import UnitFault, display, display_bits, plain, read
from clusterspec.units.display import MEANT, PREFIX, PREFIX_STEP, agrees_within
from clusterspec.units.display import SPARSE as SPARSE_PEAK

# Likely errors of a memory size or memory bandwidth: the figure of another accelerator of the vendor

TOLERANCE = 0.012
"""Relative tolerance to the figure of another accelerator: 2.0 TB/s for 2,039 GB/s is not one."""
GIBI_OVER_GIGA = 1.024**3
"""An `80 GB` part may have 80 GiB."""


def part_errors(claim: Claim, facts: Sequence[KnownFigure], figures: KnownFigures) -> Iterator[LikelyError]:
    """A figure of another accelerator stated for the named one: `H200 has 80 GB of HBM3e`."""
    channel = Channel.CAPACITY if claim.token.unit == "B" else claim.channel
    subject = claim.subjects[0]
    whole = claim.scope in (None, FigureScope.DEVICE) and not claim.subject_elsewhere
    if not claim.specified or not whole or claim.measured or channel not in (Channel.CAPACITY, Channel.MEMORY):
        return
    own = [fact for fact in facts if fact.channel is channel and fact.scope is FigureScope.DEVICE]
    if not own or any(agrees_within(claim.token.value, fact.value, ROUGH_TOLERANCE) for fact in own):
        return
    for id_, others in figures.figures_of_vendor(subject):
        if any(_agrees_with_catalog(claim, fact) for fact in others if fact.channel is channel):
            commonest = max(
                own,
                key=lambda fact: (sum(agrees_within(fact.value, one.value, TOLERANCE) for one in own), fact.value),
            )
            yield LikelyError("label-contradicts-rate", commonest, f"the figure of {id_}")
            return


def _agrees_with_catalog(claim: Claim, fact: KnownFigure) -> bool:
    value = claim.token.value
    readings = (value, value * GIBI_OVER_GIGA) if fact.unit == "B" else (value,)
    return any(agrees_within(reading, fact.value, TOLERANCE) for reading in readings)


# Likely errors of a wrong peak: sparse for dense, another precision, more than the part's maximum

PRECISION_TOLERANCE = 0.01
"""Relative tolerance to the peak of another precision; small, since measured rates come close by chance."""
MAX_SPARSE_GAIN = 4.0
"""Maximum gain of other sparsity patterns (4:16 on Trainium2) over the dense peak."""
MAX_COUNTS = 12
"""Counts of a sentence whose products are formed."""
MAX_EXCESS = 1.2
"""Ratio to the sparse peak above which a figure cannot be of the part."""
MOST_PARTS = 4
"""Ratio to the dense peak above which a figure of a sentence that names no part is the one of several parts."""


def peak_errors(claim: Claim, facts: Sequence[KnownFigure]) -> Iterator[LikelyError]:
    """The likely errors: a sparse peak, a peak of another precision, or more than the part's maximum."""
    value = claim.token.value
    own = [fact for fact in facts if is_in_scope(claim, fact)]
    for fact in own:
        if (
            agrees_within(value, SPARSE * fact.value, BANDWIDTH_TOLERANCE)
            and claim.sparsity is not Sparsity.SPARSE
            and _may_be_dense(claim)
        ):
            yield LikelyError(SPARSE_PEAK, fact, MEANT[SPARSE_PEAK])
        elif (
            claim.precision
            and not claim.measured
            and agrees_within(value, fact.value / PREFIX_STEP, PRECISION_TOLERANCE)
        ):
            yield LikelyError(PREFIX, fact, MEANT[PREFIX])
    if claim.precision and own and not _is_explained(claim, own):
        for fact in facts:
            if fact not in own and any(
                agrees_within(value, reading, PRECISION_TOLERANCE) for reading in possible_values(claim, fact)
            ):
                of_part = next((each for each in own if each.owner == fact.owner), own[0])
                yield LikelyError("peak-of-other-precision", of_part, f"the {fact.precision} peak")
    highest = max((fact for fact in own), key=lambda fact: fact.value, default=None)
    gain = MAX_SPARSE_GAIN if claim.sparsity is Sparsity.SPARSE else SPARSE
    of_several = claim.subject_elsewhere and claim.scope is not FigureScope.DEVICE
    if highest is not None and of_several and value > MOST_PARTS * highest.value:
        return  # the peak of a machine whose size another sentence states
    if highest is not None and value > MAX_EXCESS * gain * highest.value * max(_part_counts(claim, facts)):
        yield LikelyError("peak-off-catalog", highest, "more than the peak of the part, dense or sparse")


def _is_explained(claim: Claim, figures: Sequence[KnownFigure]) -> bool:
    """Whether a figure may be the sparse peak of the stated precision, or a measured rate below its peak."""
    value = claim.token.value
    sparse = claim.sparse_near and any(
        agrees_within(value, SPARSE * fact.value, BANDWIDTH_TOLERANCE) for fact in figures
    )
    return sparse or (claim.measured and value < max(fact.value for fact in figures))


def _may_be_dense(claim: Claim) -> bool:
    """Whether a peak is called dense, or the sentence does not mention sparsity."""
    return claim.sparsity is Sparsity.DENSE or not claim.sparse_near


def _part_counts(claim: Claim, facts: Sequence[KnownFigure]) -> tuple[float, ...]:
    """The counts of parts over which a claim may be a sum: counts of its sentence that are not within a node, and
    products of two counts as in `32 hosts of 8 chips`.
    """
    node = any(fact.scope is FigureScope.NODE for fact in facts)
    products = (one * other for one, other in combinations(claim.counts[:MAX_COUNTS], 2))
    return (1.0, *(count for count in claim.counts if not (node and count <= 16)), *products)


_ORDER = (
    FigureScope.DEVICE,
    FigureScope.PORT,
    FigureScope.PAIR,
    FigureScope.LINK,
    FigureScope.LANE,
    FigureScope.NODE,
    FigureScope.SUM,
)


def claim_problems(claim: Claim, figures: KnownFigures) -> Iterator[TextProblem]:
    """A problem if a common error explains the figure of a claim; it names all errors that fit."""
    errors = _likely_errors(claim, figures)
    if errors:
        causes = ", or ".join(dict.fromkeys(error.cause for error in errors))
        figure, times = _expected_figure(claim, errors[0].fact)
        written = claim.written or f"{claim.token.written}{f' ({claim.direction})' if claim.direction else ''}"
        message = f"{written} is {times} the {figure} of {errors[0].fact.owner}: it looks like {causes}"
        yield TextProblem(errors[0].rule, claim.token, message, f"write `{figure}`, or name what the figure measures")


def _expected_figure(claim: Claim, fact: KnownFigure) -> tuple[str, str]:
    """The catalog figure in the direction of a claim, and the ratio of the claim to it, both as text."""
    value = fact.value * (2 if claim.direction is Direction.DUPLEX else 1)
    shown = display_bits(value) if fact.unit == "B/s" and claim.token.bits else display(value, fact.unit)
    if printed := _printed_value(fact):
        value, shown = printed, fact.printed
    ratio = claim.token.value / (8 if claim.token.unit == "T/s" else 1) / value
    times = f"{plain(ratio)} times" if ratio >= 1 else f"1/{plain(1 / ratio)} of"
    if fact.directed:
        return f"{shown} {claim.direction or Direction.ONE_WAY}", times
    return (f"{shown} dense" if fact.unit == "FLOP/s" else shown), times


def _printed_value(fact: KnownFigure) -> float:
    """The printed memory size of an entry, in bytes; 0 if the entry has none or it is not a size."""
    try:
        return read(fact.printed, "bytes").value if fact.printed else 0.0
    except UnitFault:
        return 0.0


def _likely_errors(claim: Claim, figures: KnownFigures) -> tuple[LikelyError, ...]:
    """The errors that explain a wrong claim, likeliest first."""
    facts = tuple(
        fact for subject in claim.subjects for fact in _comparable_figures(claim, figures.figures_of(subject))
    )
    if (
        not facts
        or not claim.token.value
        or _is_sum(claim)
        or (claim.names_no_part and claim.channel is Channel.NETWORK)
    ):
        return ()
    if agrees_with_catalog(claim, facts) or any(
        agrees_with_catalog(claim, _comparable_figures(claim, figures.figures_of(other))) for other in claim.others
    ):
        return ()
    if claim.channel is Channel.NETWORK:  # the generation of a port is not inferred from another part of the text
        named = (subject for subject in claim.subjects if not subject.inferred)
        facts = tuple(fact for subject in named for fact in _comparable_figures(claim, figures.figures_of(subject)))
    facts = tuple(sorted(facts, key=lambda fact: _ORDER.index(fact.scope)))
    if claim.token.unit == "FLOP/s":
        errors = tuple(peak_errors(claim, facts))
    else:
        errors = (*bandwidth_errors(claim, facts, figures), *part_errors(claim, facts, figures))
    return tuple({error.rule: error for error in reversed(errors)}.values())[::-1]


def _is_sum(claim: Claim) -> bool:
    """Whether a claim is a sum over parts; such claims are compared only for power, and of a known node for its NICs and
    its peaks.
    """
    node = any(subject.kind == "platform" for subject in claim.subjects)
    summed = claim.channel is Channel.NETWORK or (claim.token.unit == "FLOP/s" and bool(claim.precision))
    of_node = claim.scope is FigureScope.NODE and summed and node
    return claim.scope in (FigureScope.NODE, FigureScope.SUM) and not of_node and claim.channel is not Channel.POWER


def _comparable_figures(claim: Claim, facts: Iterable[KnownFigure]) -> tuple[KnownFigure, ...]:
    """The catalog figures with the unit and channel of a claim."""
    unit = "B/s" if claim.token.unit == "T/s" else claim.token.unit
    return tuple(fact for fact in facts if fact.unit == unit and claim.channel in (None, fact.channel))
