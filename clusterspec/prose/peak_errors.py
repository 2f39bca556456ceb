"""Likely errors of a wrong peak: sparse for dense, another precision, more than the part's maximum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.prose.bandwidth_errors import TOLERANCE, LikelyError
from clusterspec.prose.claims import Claim
from clusterspec.prose.known_figures import SPARSE, KnownFigure
from clusterspec.prose.lexicon import FigureScope
from clusterspec.prose.possible_values import in_scope, possible_values
from clusterspec.quantity import Sparsity
from clusterspec.units.common_errors import MEANT, PREFIX, PREFIX_STEP, near
from clusterspec.units.common_errors import SPARSE as SPARSE_PEAK

PRECISION_TOLERANCE = 0.01
"""Relative tolerance to the peak of another precision; small, since measured rates come close by chance."""
MAX_SPARSE_GAIN = 4.0
"""Maximum gain of other sparsity patterns (4:16 on Trainium2) over the dense peak."""
MAX_EXCESS = 1.2
"""Ratio to the sparse peak above which a figure cannot be of the part."""


def peak_errors(claim: Claim, facts: Sequence[KnownFigure]) -> Iterator[LikelyError]:
    """The likely errors: a sparse peak, a peak of another precision, or more than the part's maximum."""
    value = claim.token.value
    own = [fact for fact in facts if in_scope(claim, fact)]
    for fact in own:
        if (
            near(value, SPARSE * fact.value, TOLERANCE)
            and claim.sparsity is not Sparsity.SPARSE
            and _may_be_dense(claim)
        ):
            yield LikelyError(SPARSE_PEAK, fact, MEANT[SPARSE_PEAK])
        elif claim.precision and not claim.measured and near(value, fact.value / PREFIX_STEP, PRECISION_TOLERANCE):
            yield LikelyError(PREFIX, fact, MEANT[PREFIX])
    if claim.precision and own and not _is_explained(claim, own):
        for fact in facts:
            if fact not in own and any(
                near(value, reading, PRECISION_TOLERANCE) for reading in possible_values(claim, fact)
            ):
                yield LikelyError("peak-of-other-precision", fact, f"the {fact.precision} peak")
    highest = max((fact for fact in own), key=lambda fact: fact.value, default=None)
    gain = MAX_SPARSE_GAIN if claim.sparsity is Sparsity.SPARSE else SPARSE
    if highest is not None and value > MAX_EXCESS * gain * highest.value * max(_multiplicities(claim, facts)):
        yield LikelyError("peak-off-catalog", highest, "more than the peak of the part, dense or sparse")


def _is_explained(claim: Claim, own: Sequence[KnownFigure]) -> bool:
    """Whether a figure may be the sparse peak of the stated precision, or a measured rate below its peak."""
    value = claim.token.value
    sparse = claim.sparse_near and any(near(value, SPARSE * fact.value, TOLERANCE) for fact in own)
    return sparse or (claim.measured and value < max(fact.value for fact in own))


def _may_be_dense(claim: Claim) -> bool:
    """Whether a peak is called dense, or the sentence does not mention sparsity."""
    return claim.sparsity is Sparsity.DENSE or not claim.sparse_near


def _multiplicities(claim: Claim, facts: Sequence[KnownFigure]) -> tuple[float, ...]:
    """The counts of parts over which a claim may be a sum: the counts of its sentence, without those within a node."""
    node = any(fact.scope is FigureScope.NODE for fact in facts)
    return (1.0, *(count for count in claim.counts if not (node and count <= 16)))
