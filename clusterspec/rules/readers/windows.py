"""The figures of neighboring sentences of a text together, and whether a figure belongs to this plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at, is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.quantities import (
    SECOND,
    TextQuantity,
    is_own,
    plain_sentences,
    sentence_quantities,
)
from clusterspec.rules.readers.units import NUMBERS, SPELLED_TENS, TENS, TIME_WORDS
from clusterspec.rules.readers.written_numbers import MOST_MATCHES
from clusterspec.standard import pattern

MOST_SENTENCES = 400
"""Largest number of sentences of a text that are read."""
_LONG_TIME = pattern(
    r"(?i)(?<![\w.,/-])(\d{1,3}(?:[.,]\d{1,2})?|[^\W\d_]{2,16})[ -](months?|monate?n?|mois|meses|years?|jahre?n?|ans?|años?)\b"
)


class Window(NamedTuple):
    """One sentence, or some that follow each other, with the quantities of all."""

    text: str
    quantities: tuple[TextQuantity, ...]
    sentences: int

    def sentence_of(self, quantity: TextQuantity) -> str:
        """The sentence with a quantity."""
        before, behind = self.text[: quantity.start], self.text[quantity.start :]
        return before[before.rfind(". ") + 2 if ". " in before else 0 :] + behind.partition(". ")[0]


def windows(
    text: str, most: int = 2, extra: Callable[[str], Iterable[TextQuantity]] = lambda _: ()
) -> Iterator[Window]:
    """The sentences with quantities of a text, first single, then runs of up to ``most`` consecutive sentences.
    ``extra`` reads further quantities of a sentence.

    >>> [(each.text, len(each.quantities)) for each in windows("A save takes 45 s. It comes every 10 min.")]
    [('A save takes 45 s', 1), ('It comes every 10 min.', 1), ('A save takes 45 s. It comes every 10 min.', 2)]
    """
    read = dict(sentence_quantities(text))
    parts = [
        (sentence, tuple(sorted((*read.get(sentence, ()), *extra(sentence)), key=lambda each: each.start)))
        for sentence in islice(plain_sentences(text), MOST_SENTENCES)
    ]
    for size in range(1, most + 1):
        for start in range(len(parts) - size + 1):
            if any(quantities for _, quantities in parts[start : start + size]):
                yield _joined_window(parts[start : start + size])


def _joined_window(parts: Sequence[tuple[str, tuple[TextQuantity, ...]]]) -> Window:
    text, found = "", []
    for sentence, quantities in parts:
        text += ". " if text else ""
        found += [each._replace(start=each.start + len(text), end=each.end + len(text)) for each in quantities]
        text += sentence
    return Window(text, tuple(found), len(parts))


def is_certain(sentence: str, quantity: TextQuantity) -> bool:
    """Whether a figure belongs to this plan: it is not replaced, and its clause is neither about another plan nor a
    condition.

    >>> from clusterspec.rules.readers.quantities import sentence_quantities
    >>> ((text, figures),) = sentence_quantities("The pilot had 4 nodes, this run has 16 nodes")
    >>> [is_certain(text, each) for each in figures]
    [False, True]
    """
    return is_own(sentence, quantity) and is_real(sentence, quantity)


def is_real(sentence: str, quantity: TextQuantity) -> bool:
    """Whether a figure is in no clause about another plan, or one of a condition: `less than 2 %` is real, and no own figure."""
    clause = clause_at(sentence, quantity.start, quantity.end)
    return not is_of_other_plan(clause) and not is_hypothetical(clause)


def are_links(between: str, words: frozenset[str]) -> bool:
    """Whether only certain words stand between two figures.

    >>> are_links(" (about ", frozenset({"about"})), are_links(", of which ", frozenset({"about"}))
    (True, False)
    """
    return len(between) <= 60 and words.issuperset(between.lower().translate(_SIGNS).split())


_SIGNS = str.maketrans(dict.fromkeys(",;:()[]|=≈~.–—-'’", " "))


def long_times(sentence: str) -> Iterator[TextQuantity]:
    """The months and years of a sentence.

    >>> [(each.words, each.value / 86400) for each in long_times("for three months or 2 years")]
    [('three months', 91.3125), ('2 years', 730.5)]
    """
    for match in islice(_LONG_TIME.finditer(sentence), MOST_MATCHES):
        word = match[1].lower()
        spelled = NUMBERS.get(word) or TENS.get(word) or SPELLED_TENS.get(word) or 0
        number = float(word.replace(",", ".") if word[0].isdigit() else spelled)
        if number:
            seconds = TIME_WORDS[match[2].lower()]
            yield TextQuantity(number * seconds, SECOND, match.start(), match.end(), match[0], 0.5 * seconds)
