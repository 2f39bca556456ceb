"""Fractions that texts write as words, in eight languages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.standard import pattern

MOST = 50
"""Fractions of a text that are read."""
_WORDS: tuple[tuple[float, str], ...] = (
    (2 / 3, "(?:two|2) thirds|(?:zwei|2) drittel|(?:deux|2) tiers|(?:dos|2) tercios|(?:due|2) terzi|(?:twee|2) derden?|(?:dois|2) terços|dwie trzecie"),
    (3 / 4, "(?:three|3) quarters|(?:drei|3) viertel|(?:trois|3) quarts|(?:tres|3) cuartos|(?:tre|3) quarti|(?:drie|3) kwart|(?:três|3) quartos|trzy czwarte"),
    (2 / 5, "(?:two|2) fifths|(?:zwei|2) fünftel|(?:deux|2) cinquièmes|(?:dos|2) quintos|(?:due|2) quinti|(?:twee|2) vijfden?|(?:dois|2) quintos"),
    (3 / 5, "(?:three|3) fifths|(?:drei|3) fünftel|(?:trois|3) cinquièmes|(?:tres|3) quintos|(?:tre|3) quinti|(?:drie|3) vijfden?|(?:três|3) quintos"),
    (3 / 10, "(?:three|3) tenths|(?:drei|3) zehntel|(?:trois|3) dixièmes|(?:tres|3) décimos|(?:tre|3) decimi|(?:drie|3) tienden?|(?:três|3) décimos"),
    (1 / 2, "(?:a |one )?half|(?:die )?hälfte|(?:la )?moitié|(?:la )?mitad|(?:la )?metà|(?:de )?helft|hälften|połow[aęy]|(?:a )?metade"),
    (1 / 3, "(?:a|one) third|(?:ein|das) drittel|(?:un|le) tiers|un tercio|(?:una|la) tercera parte|(?:un|il) terzo|een derde|en tredjedel|jedn[aą] trzeci[aą]|um terço"),
    (1 / 4, "(?:a|one) quarter|(?:ein|das) viertel|(?:un|le) quart|un cuarto|(?:una|la) cuarta parte|(?:un|il) quarto|een kwart|en fjärdedel|jedn[aą] czwart[aą]|um quarto|a quarta parte"),
    (1 / 5, "(?:a|one) fifth|(?:ein|das) fünftel|(?:un|le) cinquième|(?:una|la) quinta parte|(?:un|il) quinto|een vijfde|jedn[aą] piąt[aą]|um quinto"),
    (1 / 10, "(?:a|one) tenth|(?:ein|das) zehntel|(?:un|le) dixième|(?:una|la) décima parte|(?:un|il) decimo|een tiende|jedn[aą] dziesiąt[aą]|um décimo"),
)  # fmt: skip
_FRACTION = pattern(rf"(?i)\b(?:{'|'.join(f'({words})' for _, words in _WORDS)})\b")


class WordFraction(NamedTuple):
    """A fraction, its place in a text, and its words."""

    value: float
    start: int
    end: int
    words: str


def fractions_in(text: str) -> Iterator[WordFraction]:
    """The fractions that a text writes as words.

    >>> [(round(each.value, 2), each.words) for each in fractions_in("Two thirds now, ein Viertel later, the rest never.")]
    [(0.67, 'Two thirds'), (0.25, 'ein Viertel')]
    >>> list(fractions_in("the third rack, quarterly"))
    []
    """
    for match in islice(_FRACTION.finditer(text), MOST):
        yield WordFraction(_WORDS[(match.lastindex or 1) - 1][0], match.start(), match.end(), match[0])
