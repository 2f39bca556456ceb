"""Passages of texts: the sentences that are read together, with small numbers in digits."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.rules.readers.tokens import Token, tokens_of
from clusterspec.rules.readers.units import NUMBERS, SPELLED_TENS, word_set
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

MOST_PASSAGES = 200
"""Largest number of sentences of a text that are read together with their neighbors."""
LONGEST_PASSAGE = 600
"""Largest number of characters of sentences that are read together."""
_NO_NUMBERS = word_set("one ein eine einem einen un une una due once dos sei")
"""Numbers as words that are articles, or words of another language."""
_SMALL = {word: str(number) for word, number in (NUMBERS | SPELLED_TENS).items() if word not in _NO_NUMBERS}
_COMPOUND = pattern(
    r"(?i)\b(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-(one|two|three|four|five|six|seven|eight|nine)\b"
)
_HALF_HOUR = pattern(
    r"(?i)\b(?:(?P<every>every|each|jede|alle|toutes les|cada|ogni|elk) (?:half[ -](?:an )?hour|halbe Stunde|halben Stunden|demi-heures?|media hora|mezz'ora|half uur))\b"
)
_WORD = pattern(r"(?<![\w-])[^\W\d_]{2,9}(?=[ -][^\W_]|[,.;:]|$)")
_WORD_APART = pattern(r"(?<![\w-])[^\W\d_]{2,9}(?=[ -](?!\d{3}(?![\d.,]))[^\W_]|[,.;:]|$)")
"""A word that is not before three digits, with which its number would be one of thousands."""


def with_numerals(text: str, *, apart: bool = False) -> str:
    """A text with small numbers in digits; articles, which are also a one, stay. With ``apart``, spaces before three
    digits stay, too.

    >>> with_numerals("Vier Laufwerke, two of the eight racks; one node, deux, elf")
    '4 Laufwerke, 2 of the 8 racks; one node, 2, 11'
    >>> with_numerals("We save every half hour, guardamos cada media hora")
    'We save every 30 minutes, guardamos cada 30 minutes'
    >>> with_numerals("thirty-two nodes, forty GPUs"), with_numerals("eight 400G ports", apart=True)
    ('32 nodes, 40 GPUs', 'eight 400G ports')
    """
    text = _HALF_HOUR.sub(lambda match: f"{match['every']} 30 minutes", text)
    text = _COMPOUND.sub(lambda match: str(SPELLED_TENS[match[1].lower()] + NUMBERS[match[2].lower()]), text)
    return (_WORD_APART if apart else _WORD).sub(lambda match: _SMALL.get(match[0].lower(), match[0]), text)


def passages_of(text: str, most: int = 2) -> Iterator[str]:
    """The sentences of a text, then each two, up to ``most``, that follow each other in the description or in one comment: figures
    that belong together may stand in several. Small numbers are in digits.

    >>> list(passages_of("Five nodes. Each has eight GPUs. # Fine."))
    ['5 nodes', 'Each has 8 GPUs', '5 nodes. Each has 8 GPUs', 'Fine.']
    """
    for remark in with_numerals(" ".join(text.split())).split("# "):
        found = [each for each in islice(sentences_of(remark), MOST_PASSAGES) if each]
        for size in range(1, most + 1):
            for start in range(len(found) - size + 1):
                passage = ". ".join(found[start : start + size])
                if len(passage) <= LONGEST_PASSAGE:
                    yield passage


def measures_in(text: str) -> list[Token]:
    """The numbers of a text that have a unit: money, watts, times, bytes or shares.

    >>> [(each.values, each.unit) for each in measures_in("je 3,84 TB, 0,60 USD, 8 racks, 75 %")]
    [((3.84,), 'TB'), ((0.6,), 'USD'), ((75.0,), '%')]
    """
    return [each for each in tokens_of(text) if each.kind == "number" and each.unit and each.values]
