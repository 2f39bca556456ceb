"""Tables of words with their meanings, and the places of a sentence that have them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from clusterspec.records import NamedTuple
from clusterspec.standard import pattern

_WORD = pattern(r"[^\W_]+(?:['’-][^\W_]+)*['’]?")
SHORTEST_STEM = 2
MOST_WORDS = 200
"""Words of a sentence that are read."""


class Mention(NamedTuple):
    """A place of a sentence that has a meaning."""

    meaning: str
    start: int
    end: int


class Lexicon:
    """The meanings of words, of beginnings and ends of words, and of phrases. Its rows are split when it is first used."""

    def __init__(self, rows: Sequence[tuple[str, str]]) -> None:
        self._rows = rows
        self._phrases: Mapping[str, Sequence[tuple[Sequence[str], str]]] = {}

    @property
    def _by_first_word(self) -> Mapping[str, Sequence[tuple[Sequence[str], str]]]:
        """The other words of each phrase with its meaning, by its first word."""
        if not self._phrases:
            found: dict[str, list[tuple[Sequence[str], str]]] = defaultdict(list)
            for meaning, words in self._rows:
                for each in words.split():
                    first, *others = each.split("_")
                    found[first].append((others, meaning))
            self._phrases = found
        return self._phrases

    def mentions(self, sentence: str) -> list[Mention]:
        """The meanings that a sentence mentions, in its order.

        >>> rows = [("limit", "no_more_than höchst*"), ("room", "*raum")]
        >>> [(each.meaning, each.start) for each in Lexicon(rows).mentions("Der Serverraum gibt höchstens 3, no more than 4.")]
        [('room', 4), ('limit', 20), ('limit', 33)]
        """
        words = [
            (match[0].casefold().removesuffix("'s").removesuffix("’s").rstrip("'’"), match.start(), match.end())
            for match in _WORD.finditer(sentence)
        ]
        words = words[:MOST_WORDS]
        plain = [each[0] for each in words]
        found = [
            (len(others), Mention(meaning, start, words[at + len(others)][2]))
            for at, (word, start, _) in enumerate(words)
            for others, meaning in self._rows_of(word)
            if _is_followed(plain, at + 1, others)
        ]
        phrases = [(size, each) for size, each in found if size]
        return [
            each for size, each in found if not any(one > size and _is_part(each, phrase) for one, phrase in phrases)
        ]

    def meanings(self, sentence: str) -> set[str]:
        """The meanings that a sentence mentions."""
        return {each.meaning for each in self.mentions(sentence)}

    def _rows_of(self, word: str) -> Iterable[tuple[Sequence[str], str]]:
        """The rest of each phrase that begins with a word, and its meaning."""
        found = self._by_first_word
        elided = word.rpartition("'")[2] if "'" in word else ""
        for part in (
            word,
            *(word.split("-") if "-" in word else ()),
            *((elided,) if len(elided) >= SHORTEST_STEM else ()),
        ):
            for form in _forms_of(part):
                if form in found:
                    yield from found[form]


def _forms_of(word: str) -> Iterable[str]:
    """A word, and the beginnings and ends by which a table may name it."""
    yield word
    for size in range(SHORTEST_STEM, len(word) + 1):
        yield f"{word[:size]}*"
    for at in range(1, len(word) - SHORTEST_STEM):
        yield f"*{word[at:]}"


def _is_followed(words: Sequence[str], at: int, others: Sequence[str]) -> bool:
    """Whether other words follow at an index."""
    if not others:
        return True
    if at + len(others) > len(words):
        return False
    return all(_is_word(word, other) for word, other in zip(words[at:], others, strict=False))


def _is_word(word: str, written: str) -> bool:
    return word.startswith(written[:-1]) if written.endswith("*") else word == written


def _is_part(one: Mention, other: Mention) -> bool:
    """Whether a word is a part of a phrase with another meaning: `later` of `no later than`."""
    return one.meaning != other.meaning and other.start <= one.start and one.end <= other.end
