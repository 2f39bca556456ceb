"""Sentences: their tokens, their subjects, and the quantity that each phrase qualifies."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from clusterspec.prose.blocks import BlockKind
from clusterspec.prose.lexicon import (
    COUNTED,
    Channel,
    FigureScope,
    Hint,
    Meaning,
    PhraseMatch,
    PrecisionName,
    phrase_matches,
)
from clusterspec.prose.subjects import Mention, NameIndex, Subject, is_only_compared
from clusterspec.prose.tokenize import Token, TokenKind
from clusterspec.quantity import Direction, Sparsity
from clusterspec.records import dataclass, field

_M = TypeVar("_M", Direction, Sparsity, PrecisionName, Channel)
_ABBREVIATED = frozenset(("e", "g", "i", "vs", "approx", "cf", "al", "no", "fig", "ca", "resp", "incl"))
PAUSES = frozenset((",", ";", ":", "and", "or", "while", "whereas", "but", "—", "–", "|", "+", "→", "vs", "versus"))
_STOPS = frozenset((";", "—", "–", "|", "while", "whereas", "but"))
NUMERALS = {
    word: n
    for n, word in enumerate(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 2
    )
}
NUMERALS |= {"sixteen": 16, "eighteen": 18}
MAX_WORDS = 250
"""Maximum tokens of a sentence; a longer one is split, which keeps the work linear."""
MAX_DISTANCE = 7
"""Maximum weighted distance, in tokens, between a phrase and the quantity it qualifies."""
_DISTANCE_OF = {**dict.fromkeys(PAUSES, 3), ";": MAX_DISTANCE, ")": 2, "(": 0, "-": 0, "~": 0}
"""Weights of the tokens between a phrase and a quantity: three for a comma or `and`, more for a semicolon, two for a
closing bracket; one by default.
"""
MAX_SUM_DISTANCE = 4
"""Maximum distance of a phrase (`per GPU`) that sets the scope of a total."""
_SCOPE_OF_KIND = {"accelerator": FigureScope.DEVICE, "platform": FigureScope.NODE}
_PORT_LIKE = (FigureScope.LANE, FigureScope.LINK, FigureScope.PORT)
_DIRECTIONS = ("direction", "way", "dir")
MAX_QUOTED = 9
"""Maximum tokens from a quantity to the words of its direction that a message quotes whole."""
LONGEST_QUOTED = 80
"""Maximum characters of these."""
HEDGE_REACH = 2
"""Maximum distance before a quantity of a word that qualifies or negates it."""


@dataclass(frozen=True)
class CountedNoun:
    """A count and its noun: `18 links`, `8x 400 Gb/s`, `8 GPUs`; ``at`` is the index of the number."""

    at: int
    value: float
    noun: FigureScope | None


@dataclass
class Sentence:
    """A sequence of tokens that is interpreted on its own.

    ``meanings`` maps the index of each quantity to its meanings and their distance in tokens. ``before`` holds the
    subjects named before the sentence, nearest first: in the previous sentence, the lead-in, the heading.
    """

    words: Sequence[Token]
    kind: BlockKind
    named: tuple[Mention, ...] = ()
    phrases: tuple[PhraseMatch, ...] = ()
    before: tuple[Subject, ...] = ()
    meanings: dict[int, dict[Meaning, int]] = field(default_factory=dict)

    @classmethod
    def from_words(cls, words: Sequence[Token], kind: BlockKind, names: NameIndex) -> Sentence:
        named = tuple(names.find(words))
        phrases = [
            each
            for each in phrase_matches(words)
            if not (isinstance(each.meaning, Channel) and is_only_compared(words, each.start, each.end))
        ]
        sentence = cls(words, kind, named, tuple(sorted((*phrases, *_scopes_of_parts(words, named)), key=_start_of)))
        sentence.meanings = _assign_meanings(sentence)
        return sentence

    @cached_property
    def quantities(self) -> tuple[int, ...]:
        """The indices of the tokens that are quantities; the size in a name (`A100 80GB`) is not one."""
        inside = {at for each in self.named for at in range(each.start, each.end) if self.words[at].unit == "B"}
        return tuple(
            at
            for at, token in enumerate(self.words)
            if token.kind is TokenKind.QUANTITY and (at not in inside or token.bits)
        )

    @cached_property
    def counts(self) -> tuple[CountedNoun, ...]:
        """The counts of the sentence; a number within a name (`PCIe 5 x16`) is not one."""
        inside = {at for each in self.named for at in range(each.start, each.end)}
        adapters = {each.start for each in self.named if each.subject.kind == "nic"}
        return tuple(count for count in _counted_nouns(self.words, adapters) if count.at not in inside)

    def has(self, *meanings: Meaning) -> bool:
        """Whether the sentence has a phrase with one of the given meanings."""
        return any(phrase.meaning in meanings for phrase in self.phrases)

    def has_meaning(self, at: int, meaning: Meaning) -> bool:
        """Whether a phrase gives a meaning to the quantity at an index."""
        return meaning in self.meanings.get(at, ())

    def sole_meaning(self, at: int, kind: type[_M]) -> _M | None:
        """The meaning of a type that the nearest phrase gives to a quantity; None if there is none or two disagree."""
        found = {
            meaning: distance for meaning, distance in self.meanings.get(at, {}).items() if isinstance(meaning, kind)
        }
        nearest = [meaning for meaning, distance in found.items() if distance == min(found.values())]
        return nearest[0] if len(nearest) == 1 else None

    def scope(self, at: int) -> FigureScope | None:
        """The scope of a quantity; a more specific scope overrides a sum (`total bandwidth per GPU`)."""
        scopes = {
            meaning: distance
            for meaning, distance in self.meanings.get(at, {}).items()
            if isinstance(meaning, FigureScope)
        }
        special = {scope: distance for scope, distance in scopes.items() if scope is not FigureScope.SUM}
        if FigureScope.SUM in scopes:
            special = {scope: distance for scope, distance in special.items() if distance <= MAX_SUM_DISTANCE}
        return min(special or scopes, key=lambda scope: scopes[scope]) if scopes else None

    def words_of_direction(self, at: int, direction: Direction) -> str:
        """A quantity with the nearest words that state its direction, as written: `900 GB/s in each direction`."""
        found = [phrase for phrase in self.phrases if phrase.meaning is direction]
        nearest = min(found, key=lambda phrase: max(phrase.start - at, at - phrase.end), default=None)
        if nearest is None:
            return self.words[at].written
        start, end = min(at, nearest.start), max(at + 1, nearest.end)
        words = self.text(start, end)
        if end - start <= MAX_QUOTED and len(words) <= LONGEST_QUOTED:
            return words
        return f"{self.words[at].written} ({self.text(nearest.start, nearest.end)})"

    def words_between(self, start: int, end: int) -> Iterable[str]:
        """The words between two tokens, in lower case."""
        return (token.text.lower() for token in self.words[start:end])

    def text(self, start: int, end: int) -> str:
        """The text of a token range."""
        return "".join((" " if t.gap and at else "") + t.text for at, t in enumerate(self.words[start:end]))


def split_sentences(words: Sequence[Token], kind: BlockKind, names: NameIndex) -> Iterator[Sentence]:
    """The sentences of a block."""
    start = 0
    for at, token in enumerate(words):
        if at - start >= MAX_WORDS or (token.text in (".", "!", "?") and _ends_sentence(words, at)):
            yield Sentence.from_words(words[start : at + 1], kind, names)
            start = at + 1
    if start < len(words):
        yield Sentence.from_words(words[start:], kind, names)


def _scopes_of_parts(words: Sequence[Token], named: Sequence[Mention]) -> Iterator[PhraseMatch]:
    """Scopes given by part names: `per H100`, `each DGX H100`, `each MI300X link`."""
    for each in named:
        noun = words[each.end].text.lower() if each.end < len(words) else ""
        scope = COUNTED.get(noun, _SCOPE_OF_KIND.get(each.subject.kind))
        if scope is not None and each.start and words[each.start - 1].text.lower() in ("each", "every", "per"):
            yield PhraseMatch(each.start - 1, each.end, scope)


def _start_of(phrase: PhraseMatch) -> int:
    return phrase.start


def _ends_sentence(words: Sequence[Token], at: int) -> bool:
    """Whether a full stop ends a sentence: a space and a capital follow, and no abbreviation precedes."""
    if at + 1 == len(words):
        return True
    follows = words[at + 1]
    if not (follows.gap or follows.line != words[at].line):
        return False
    before = words[at - 1].text.lower() if at else ""
    return before not in _ABBREVIATED and (follows.text[:1].isupper() or follows.kind is not TokenKind.WORD)


def _assign_meanings(sentence: Sentence) -> dict[int, dict[Meaning, int]]:
    """The meanings of each quantity. Each meaning has the distance of the nearest phrase that gives it."""
    meanings: dict[int, dict[Meaning, int]] = {at: {} for at in sentence.quantities}
    for phrase in sentence.phrases if meanings else ():
        for at, distance in _qualified_quantities(sentence, phrase):
            meanings[at][phrase.meaning] = min(distance, meanings[at].get(phrase.meaning, distance))
    for count in sentence.counts if meanings else ():
        _set_scope_of_each(sentence, count, meanings)
        if (at := multiplied_index(sentence.words, count)) in meanings and count.noun in _PORT_LIKE:
            meanings[at][count.noun] = -1
    for at, found in meanings.items():
        if (noun := _adjacent_noun(sentence, at)) is not None:
            found[noun] = -1
    return meanings


def multiplied_index(words: Sequence[Token], count: CountedNoun) -> int:
    """The index of the token that a count multiplies: 400 Gb/s in `8 x 400 Gb/s`, `eight 400 Gb/s NICs` and `8 ports x
    400 Gb/s`.
    """
    noun = COUNTED.get(words[count.at + 1].text.lower()) in _PORT_LIKE
    if noun and count.at + 2 < len(words) and words[count.at + 2].text in ("x", "×", "@"):
        return count.at + 3
    return count.at + 1 + (words[count.at + 1].kind is TokenKind.TIMES)


def _adjacent_noun(sentence: Sentence, at: int) -> FigureScope | None:
    """The noun adjacent to a quantity: `200 Gb/s ports`, `ports of 200 Gb/s`, `links at 50 GB/s`."""
    words = [word.text.lower() for word in sentence.words[max(0, at - 2) : at + 2]]
    if at + 1 < len(sentence.words) and COUNTED.get(words[-1]) in _PORT_LIKE:
        return COUNTED[words[-1]]
    if at >= 2 and words[1] in ("of", "at", "with") and COUNTED.get(words[0]) in _PORT_LIKE:
        return COUNTED[words[0]]
    return None


def _qualified_quantities(sentence: Sentence, phrase: PhraseMatch) -> Iterator[tuple[int, int]]:
    """The quantity that a phrase qualifies and its distance: the nearest within reach, the preceding one on a tie."""
    if (
        isinstance(phrase.meaning, FigureScope)
        and phrase.start
        and sentence.words[phrase.start - 1].kind is TokenKind.NUMBER
    ):
        return  # in `8 per node` the phrase qualifies the count
    left = max((at for at in sentence.quantities if at < phrase.start), default=None)
    right = min((at for at in sentence.quantities if at >= phrase.end), default=None)
    if phrase.meaning in (Hint.ABOUT, Hint.BOUND, Hint.DENIED):
        if right is not None and right - phrase.end < HEDGE_REACH + (phrase.meaning is Hint.DENIED) * 2:
            yield right, right - phrase.end
        return
    before = _phrase_distance(sentence, left + 1, phrase.start) if left is not None else MAX_DISTANCE + 1
    after = _phrase_distance(sentence, phrase.end, right) if right is not None else MAX_DISTANCE + 1
    if min(before, after) > MAX_DISTANCE:
        return
    if left is not None and before <= after:
        yield left, before
    elif right is not None:
        yield right, after


def _phrase_distance(sentence: Sentence, start: int, end: int) -> int:
    """The weighted number of tokens between a quantity and a phrase."""
    return sum(_DISTANCE_OF.get(word, 1) for word in sentence.words_between(start, end))


def _set_scope_of_each(sentence: Sentence, count: CountedNoun, meanings: dict[int, dict[Meaning, int]]) -> None:
    """Set the scope of a quantity given `each`: `18 lanes at 50 GB/s each`."""
    if count.noun is None or count.value < 2:
        return
    after = next((at for at in sentence.quantities if at > count.at), None)
    if (
        after is None
        or after - count.at > 2 * MAX_DISTANCE
        or any(word in _STOPS for word in sentence.words_between(count.at, after))
    ):
        return
    tail = list(sentence.words_between(after + 1, after + 5))
    inner = list(sentence.words_between(count.at, after))
    apiece = any(
        word == "each" and following not in _DIRECTIONS
        for word, following in zip(tail[:3], [*tail[1:], ""], strict=False)
    )
    if apiece or "each" in inner:
        meanings[after][count.noun] = 0


def _counted_nouns(words: Sequence[Token], adapters: Container[int]) -> Iterator[CountedNoun]:
    """Numbers before a multiplication sign, before the name of an adapter, or one to three words before a noun of the
    lexicon.
    """
    for at, token in enumerate(words[:-1]):
        value = token.value if token.kind is TokenKind.NUMBER else NUMERALS.get(token.text.lower(), 0)
        if value < 1 or (at and words[at - 1].text.lower() == "any"):
            continue  # `between any two GPUs` counts nothing
        times = words[at + 1].kind is TokenKind.TIMES
        noun = _noun_scope(words, at + 1 + times) or (FigureScope.PORT if at + 1 + times in adapters else None)
        if times or noun is not None:
            yield CountedNoun(at, value, noun)


def _noun_scope(words: Sequence[Token], at: int) -> FigureScope | None:
    """The scope of the first countable noun within four words, before any number or punctuation."""
    for before, token in zip(words[at - 1 :], words[at : at + 5], strict=False):
        if token.kind is TokenKind.WORD:
            scope = COUNTED.get(token.text.lower())
            if scope is not None and before.text.lower() != "infinity":  # `seven Infinity Fabric links`
                return scope
        elif (token.kind is TokenKind.SIGN and token.text not in ("-", "/", ".")) or (
            token.kind is TokenKind.NUMBER and token.value >= 12
        ):
            return None
    return None
