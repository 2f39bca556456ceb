"""Sentences: their words, the subjects they name, and which word refers to which quantity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from clusterspec.prose.lexicon import COUNTED, Channel, FigureScope, Hint, Mark, Meaning, Precision, marks
from clusterspec.prose.names import Named, Names, Subject
from clusterspec.prose.scan import Sort, Token
from clusterspec.prose.text import BlockKind
from clusterspec.quantity import Direction, Sparsity
from clusterspec.records import dataclass, field

_M = TypeVar("_M", Direction, Sparsity, Precision, Channel)
_ABBREVIATED = frozenset(("e", "g", "i", "vs", "approx", "cf", "al", "no", "fig", "ca", "resp", "incl"))
_PAUSES = frozenset((",", ";", ":", "and", "or", "while", "whereas", "but", "—", "–", "|", "+", "→", "vs", "versus"))
_STOPS = frozenset((";", "—", "–", "|", "while", "whereas", "but"))
_NUMERALS = {
    word: n
    for n, word in enumerate(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 2
    )
}
_NUMERALS |= {"sixteen": 16, "eighteen": 18}
LONGEST = 250
"""Words of a sentence: a longer one is cut, so that no text costs more than its length."""
REACH = 7
"""How far, in tokens, a word may stand from the quantity that it speaks of."""
_COSTS = {**dict.fromkeys(_PAUSES, 3), ")": 2, "(": 0, "-": 0, "~": 0}
"""What a word between them counts as: a comma or an `and` as three, the end of a bracket as two."""
NEAR_SUM = 4
"""How far off `per GPU` may stand to say what a total is the total for."""
_SCOPE_OF_KIND = {"accelerator": FigureScope.DEVICE, "platform": FigureScope.NODE}
_BESIDE = (FigureScope.LANE, FigureScope.LINK, FigureScope.PORT)
BESIDE = 2
"""How far before a quantity a word may stand that weakens or denies it."""


@dataclass(frozen=True, slots=True)
class CountedNoun:
    """A number of things: `18 links`, `8x 400 Gb/s`, `8 GPUs`."""

    at: int
    value: float
    noun: FigureScope | None


@dataclass
class Sentence:
    """A stretch of text that is read on its own.

    ``said`` are the meanings that words give to each quantity, by its token, with their distance; ``before`` the subjects of what stands
    before the sentence, nearest first: the sentence before, the words that lead in, the heading.
    """

    words: Sequence[Token]
    kind: BlockKind
    named: tuple[Named, ...] = ()
    marks: tuple[Mark, ...] = ()
    before: tuple[Subject, ...] = ()
    said: dict[int, dict[Meaning, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, words: Sequence[Token], kind: BlockKind, names: Names) -> Sentence:
        named = tuple(names.find(words))
        sentence = cls(words, kind, named, tuple(sorted((*marks(words), *_each_part(words, named)), key=_place)))
        sentence.said = _bound(sentence)
        return sentence

    @cached_property
    def quantities(self) -> tuple[int, ...]:
        """The tokens that are quantities."""
        return tuple(at for at, token in enumerate(self.words) if token.sort is Sort.QUANTITY)

    @cached_property
    def counts(self) -> tuple[CountedNoun, ...]:
        """What the sentence counts; the number of a name (`PCIe 5 x16`) is no count."""
        named = {at for each in self.named for at in range(each.start, each.end)}
        return tuple(count for count in _counts(self.words) if count.at not in named)

    def has(self, *meanings: Meaning) -> bool:
        """Whether one of these is anywhere in the sentence."""
        return any(mark.meaning in meanings for mark in self.marks)

    def says(self, at: int, meaning: Meaning) -> bool:
        """Whether a word gives this meaning to a quantity."""
        return meaning in self.said.get(at, ())

    def only(self, at: int, kind: type[_M]) -> _M | None:
        """The meaning of a kind that the nearest word gives to a quantity; None without one, and where two disagree."""
        found = {meaning: distance for meaning, distance in self.said.get(at, {}).items() if isinstance(meaning, kind)}
        nearest = [meaning for meaning, distance in found.items() if distance == min(found.values())]
        return nearest[0] if len(nearest) == 1 else None

    def scope(self, at: int) -> FigureScope | None:
        """What a quantity is of; a sum gives way to what it is the sum for (`total bandwidth per GPU`)."""
        scopes = {
            meaning: distance for meaning, distance in self.said.get(at, {}).items() if isinstance(meaning, FigureScope)
        }
        special = {scope: distance for scope, distance in scopes.items() if scope is not FigureScope.SUM}
        if FigureScope.SUM in scopes:
            special = {scope: distance for scope, distance in special.items() if distance <= NEAR_SUM}
        return min(special or scopes, key=lambda scope: scopes[scope]) if scopes else None

    def between(self, start: int, end: int) -> Iterable[str]:
        """The words between two tokens, in lower case."""
        return (token.text.lower() for token in self.words[start:end])

    def text(self, start: int, end: int) -> str:
        """Some tokens as they were written."""
        return "".join((" " if t.gap and at else "") + t.text for at, t in enumerate(self.words[start:end]))


def split(words: Sequence[Token], kind: BlockKind, names: Names) -> Iterator[Sentence]:
    """The sentences of a block."""
    start = 0
    for at, token in enumerate(words):
        if at - start >= LONGEST or (token.text in (".", "!", "?") and _ends(words, at)):
            yield Sentence.of(words[start : at + 1], kind, names)
            start = at + 1
    if start < len(words):
        yield Sentence.of(words[start:], kind, names)


def _each_part(words: Sequence[Token], named: Sequence[Named]) -> Iterator[Mark]:
    """`per H100`, `each DGX H100`, `each MI300X link`: a figure beside it is of one accelerator, one node, one link."""
    for each in named:
        noun = words[each.end].text.lower() if each.end < len(words) else ""
        scope = COUNTED.get(noun, _SCOPE_OF_KIND.get(each.subject.kind))
        if scope is not None and each.start and words[each.start - 1].text.lower() in ("each", "every", "per"):
            yield Mark(each.start - 1, each.end, scope)


def _place(mark: Mark) -> int:
    return mark.start


def _ends(words: Sequence[Token], at: int) -> bool:
    """Whether a full stop ends a sentence: a gap and a capital follow, and no abbreviation goes before."""
    if at + 1 == len(words):
        return True
    follows = words[at + 1]
    if not (follows.gap or follows.line != words[at].line):
        return False
    before = words[at - 1].text.lower() if at else ""
    return before not in _ABBREVIATED and (follows.text[:1].isupper() or follows.sort is not Sort.WORD)


def _bound(sentence: Sentence) -> dict[int, dict[Meaning, int]]:
    """Gives each word that says how a figure counts to the quantity that it refers to."""
    said: dict[int, dict[Meaning, int]] = {at: {} for at in sentence.quantities}
    for mark in sentence.marks if said else ():
        for at, distance in _spoken_of(sentence, mark):
            said[at][mark.meaning] = min(distance, said[at].get(mark.meaning, distance))
    for count in sentence.counts if said else ():
        _each_of(sentence, count, said)
    for at, meanings in said.items():
        if (noun := _noun_beside(sentence, at)) is not None:
            meanings[noun] = -1
    return said


def _noun_beside(sentence: Sentence, at: int) -> FigureScope | None:
    """The thing that a quantity is of, right beside it: `200 Gb/s ports`, `ports of 200 Gb/s`, `links at 50 GB/s`."""
    words = [word.text.lower() for word in sentence.words[max(0, at - 2) : at + 2]]
    if at + 1 < len(sentence.words) and COUNTED.get(words[-1]) in _BESIDE:
        return COUNTED[words[-1]]
    if at >= 2 and words[1] in ("of", "at", "with") and COUNTED.get(words[0]) in _BESIDE:
        return COUNTED[words[0]]
    return None


def _spoken_of(sentence: Sentence, mark: Mark) -> Iterator[tuple[int, int]]:
    """The quantity that a mark refers to, and how far off: the nearest one in reach, the one before it first."""
    if isinstance(mark.meaning, FigureScope) and mark.start and sentence.words[mark.start - 1].sort is Sort.NUMBER:
        return  # `8 per node` says of the eight what they are per
    left = max((at for at in sentence.quantities if at < mark.start), default=None)
    right = min((at for at in sentence.quantities if at >= mark.end), default=None)
    if mark.meaning in (Hint.ABOUT, Hint.BOUND, Hint.DENIED):
        if right is not None and right - mark.end < BESIDE + (mark.meaning is Hint.DENIED) * 2:
            yield right, right - mark.end
        return
    before = _distance(sentence, left + 1, mark.start) if left is not None else REACH + 1
    after = _distance(sentence, mark.end, right) if right is not None else REACH + 1
    if min(before, after) > REACH:
        return
    if left is not None and before <= after:
        yield left, before
    elif right is not None:
        yield right, after


def _distance(sentence: Sentence, start: int, end: int) -> int:
    """Tokens between a quantity and a word, pauses counted more."""
    return sum(_COSTS.get(word, 1) for word in sentence.between(start, end))


def _each_of(sentence: Sentence, count: CountedNoun, said: dict[int, dict[Meaning, int]]) -> None:
    """`18 lanes at 50 GB/s each`: the quantity is of one of the things counted."""
    if count.noun is None or count.value < 2:
        return
    after = next((at for at in sentence.quantities if at > count.at), None)
    if (
        after is None
        or after - count.at > 2 * REACH
        or any(word in _STOPS for word in sentence.between(count.at, after))
    ):
        return
    tail = list(sentence.between(after + 1, after + 4))
    inner = list(sentence.between(count.at, after))
    if "each" in tail or "each" in inner:
        said[after][count.noun] = 0


def _counts(words: Sequence[Token]) -> Iterator[CountedNoun]:
    """Numbers that count things: before a multiplication sign, or before a noun that is one to three words on."""
    for at, token in enumerate(words[:-1]):
        value = token.value if token.sort is Sort.NUMBER else _NUMERALS.get(token.text.lower(), 0)
        if value < 1:
            continue
        times = words[at + 1].sort is Sort.TIMES
        noun = _noun(words, at + 1 + times)
        if times or noun is not None:
            yield CountedNoun(at, value, noun)


def _noun(words: Sequence[Token], at: int) -> FigureScope | None:
    """What is counted: the first noun of the list within four words, before any number or pause."""
    for token in words[at : at + 5]:
        if token.sort is Sort.WORD:
            if (scope := COUNTED.get(token.text.lower())) is not None:
                return scope
        elif (token.sort is Sort.SIGN and token.text not in ("-", "/", ".")) or (
            token.sort is Sort.NUMBER and token.value >= 12
        ):
            return None
    return None
