"""The clause of a figure of a text, whether it is one of this plan, and the figures of neighboring sentences together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_quantities import (
    SECOND,
    TextQuantity,
    is_own,
    plain_sentences,
    sentence_quantities,
)
from clusterspec.rules.knowledge.text_units import NUMBERS, SPELLED_TENS, TENS, TIME_WORDS
from clusterspec.standard import pattern

MOST_SENTENCES, MOST_BREAKS = 400, 200
"""Sentences of a text, and ends of clauses of one, that are read."""
_BREAK = pattern(
    r"[,;:()|–—]\s|\s[(|–—]|[)]|\s-\s|\b(?:but|while|whereas|although|aber|während|mais|tandis que|pero)\b"
)
_OTHER_PLAN = pattern(
    r"(?i)\b(?:old|older|former|formerly|previous(?:ly)?|earlier|pilot|ablations?|proxy|draft|instead of|another|other cluster|used to|"
    r"competitor\w*|predecessor|last year\w*|alte[nrms]?|frühere?[nrms]?|vorige[nrms]?|bisher\w*|ancien(?:ne)?s?|précédente?s?|antes|anterior)\b"
)
"""Words of another plan: one before this one, a smaller one, or a rejected one."""
_HYPOTHETICAL = pattern(
    r"(?i)\b(?:would|could|might|if|unless|hypothetical\w*|suppos\w+|in theory|würden?|könnten?|wenn|falls|serait|seraient|pourrait|aurait|podría|sería|si)\b"
)
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
    """The sentences with quantities of a text one by one, then those that follow each other, up to ``most`` together.
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
                yield _joined(parts[start : start + size])


def _joined(parts: Sequence[tuple[str, tuple[TextQuantity, ...]]]) -> Window:
    text, found = "", []
    for sentence, quantities in parts:
        text += ". " if text else ""
        found += [each._replace(start=each.start + len(text), end=each.end + len(text)) for each in quantities]
        text += sentence
    return Window(text, tuple(found), len(parts))


def clause_at(sentence: str, start: int, end: int) -> str:
    """The clause with a part of a sentence, between commas, brackets, cells and conjunctions; with the one before where it has
    no other words.

    >>> clause_at("The run takes 8 days, while the old one took 9 days.", 14, 20)
    'The run takes 8 days'
    >>> clause_at("| run | 8 days | old run | 9 days |", 8, 14)
    'run | 8 days'
    """
    first, before, last = 0, 0, len(sentence)
    for each in islice(_BREAK.finditer(sentence), MOST_BREAKS):
        if each.end() <= start:
            if sentence[first : each.start()].strip(" |"):
                before = first
            first = each.end()
        elif each.start() >= end:
            last = each.start()
            break
    is_alone = sentence[first:last].strip(" .|") == sentence[start:end].strip(" .")
    return sentence[before if is_alone else first : last].strip()


def is_certain(sentence: str, quantity: TextQuantity) -> bool:
    """Whether a figure is one of this plan: none that it replaces, and in no clause about another plan, or one of a condition.

    >>> from clusterspec.rules.knowledge.text_quantities import sentence_quantities
    >>> ((text, figures),) = sentence_quantities("The pilot had 4 nodes, this run has 16 nodes")
    >>> [is_certain(text, each) for each in figures]
    [False, True]
    """
    return is_own(sentence, quantity) and is_real(sentence, quantity)


def is_real(sentence: str, quantity: TextQuantity) -> bool:
    """Whether a figure is in no clause about another plan, or one of a condition: `less than 2 %` is real, and no own figure."""
    clause = clause_at(sentence, quantity.start, quantity.end)
    return not is_of_other_plan(clause) and not is_hypothetical(clause)


def is_of_other_plan(clause: str) -> bool:
    """Whether a clause is about another plan: one before this one, a smaller one, or a rejected one.

    >>> is_of_other_plan("the pilot had 4 nodes"), is_of_other_plan("this run has 16 nodes")
    (True, False)
    """
    return _OTHER_PLAN.search(clause) is not None


def is_hypothetical(clause: str) -> bool:
    """Whether a clause is about a condition: `would`, `if`."""
    return _HYPOTHETICAL.search(clause) is not None


def are_links(between: str, words: frozenset[str]) -> bool:
    """Whether what is between two figures has no other words than some.

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
    for match in islice(_LONG_TIME.finditer(sentence), MOST_BREAKS):
        word = match[1].lower()
        spelled = NUMBERS.get(word) or TENS.get(word) or SPELLED_TENS.get(word) or 0
        number = float(word.replace(",", ".") if word[0].isdigit() else spelled)
        if number:
            seconds = TIME_WORDS[match[2].lower()]
            yield TextQuantity(number * seconds, SECOND, match.start(), match.end(), match[0], 0.5 * seconds)
