"""What a peak that is wrong reads like: sparse for dense, another precision, more than the part can do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.prose.claims import Claim
from clusterspec.prose.known import SPARSE, KnownFigure
from clusterspec.prose.lexicon import FigureScope
from clusterspec.prose.readings import in_scope, readings
from clusterspec.prose.slips import CLOSE, ProseSlip
from clusterspec.quantity import Sparsity
from clusterspec.units.slips import MEANT, near
from clusterspec.units.slips import SPARSE as SPARSE_PEAK

PRINTED = 0.01
"""How near a peak must come to another precision's: measured ones come near by chance."""
SPAREST = 4.0
"""What sparsity of another pattern (4:16 of Trainium2) may gain, where a peak is called sparse."""
BEYOND = 1.2
"""A peak this far above the sparse one is no figure of the part."""


def peaks(claim: Claim, facts: Sequence[KnownFigure]) -> Iterator[ProseSlip]:
    """A sparse peak, a peak of another precision, or more than the part can do."""
    value = claim.token.value
    own = [fact for fact in facts if in_scope(claim, fact)]
    for fact in own:
        if near(value, SPARSE * fact.value, CLOSE) and claim.sparsity is not Sparsity.SPARSE and _says_dense(claim):
            yield ProseSlip(SPARSE_PEAK, fact, MEANT[SPARSE_PEAK])
    if claim.precision and own:
        for fact in facts:
            if fact not in own and any(near(value, reading, PRINTED) for reading in readings(claim, fact)):
                yield ProseSlip("peak-of-other-precision", fact, f"the {fact.precision} peak")
    highest = max((fact for fact in own), key=lambda fact: fact.value, default=None)
    gain = SPAREST if claim.sparsity is Sparsity.SPARSE else SPARSE
    if highest is not None and value > BEYOND * gain * highest.value * max(_counted(claim, facts)):
        yield ProseSlip("peak-off-catalog", highest, "more than the part can do, sparse or not")


def _says_dense(claim: Claim) -> bool:
    """Whether a peak is called dense, or stands without a word on sparsity near it."""
    return claim.sparsity is Sparsity.DENSE or not claim.sparse_near


def _counted(claim: Claim, facts: Sequence[KnownFigure]) -> tuple[float, ...]:
    """How many parts the text may speak of: what it counts, save the accelerators that a node's figures hold already."""
    node = any(fact.scope is FigureScope.NODE for fact in facts)
    return (1.0, *(count for count in claim.counts if not (node and count <= 16)))
