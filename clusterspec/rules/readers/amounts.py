"""Amounts of texts in English, German, French and Spanish, and the role that the words of its clause give to each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from clusterspec.quantity import DAY, HOUR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at, clause_bounds, is_former, is_hypothetical
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.quantities import is_separate_number, pieces_of
from clusterspec.rules.readers.units import (
    HALVES,
    LETTERS,
    MINUTE,
    NUMBERS,
    SCALE_WORDS,
    SPELLED_TENS,
    TIME_WORDS,
    word_set,
)
from clusterspec.rules.readers.written_numbers import readings_of
from clusterspec.standard import pattern

MOST_AMOUNTS = 200
"""Largest number of amounts that are read in a text; a hostile text may have a million."""
TIME, BYTES, RATE, SHARE, LENGTH, COUNT = "s", "B", "B/s", "%", "m", ""
_TENS = {
    word: number
    for number, words in (
        (13, "dreizehn treize trece"), (14, "vierzehn quatorze catorce"), (15, "fünfzehn quinze quince"),
        (16, "sechzehn seize"), (18, "achtzehn"), (20, "zwanzig vingt veinte"), (24, "vierundzwanzig"),
        (30, "dreißig dreissig trente treinta"), (40, "vierzig quarante cuarenta"), (50, "fünfzig cinquante cincuenta"),
        (60, "sechzig soixante sesenta"), (90, "neunzig noventa"),
    )
    for word in words.split()
}  # fmt: skip
NUMERALS = {**NUMBERS, **SPELLED_TENS, **_TENS, "dozen": 12, "dutzend": 12, "einer": 1}
"""Numbers as words, in lower case."""
_ARTICLES = word_set("a an ein eine einem einen einer un une una")
_HALF = word_set("half halbe halben halber halbes demi media medio")
_BEFORE_ONE = word_set(
    "in within inside after for than about takes take lasts last needs every once of is only just under over least most "
    "is ist beträgt umfasst d est covers spans keeps ahead nach binnen innerhalb dauert alle etwa rund en dans après dure chaque cada"
)
"""Words after which an article before a unit of time is the number one."""
_ADJECTIVES = (("sekünd", 1.0), ("minütig", MINUTE), ("stündig", HOUR), ("tägig", DAY))
_SECONDS = {**TIME_WORDS, "d": DAY, "mn": MINUTE, "minuten": MINUTE, "sec": 1.0}
_PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_LONG_PREFIXES = {"kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12, "téra": 1e12, "peta": 1e15, "péta": 1e15}
_BYTES = {
    **{f"{prefix}{unit}": value for prefix, value in _PREFIXES.items() for unit in ("B", "o") if prefix},
    **{f"{prefix}iB": 1024.0**power for power, prefix in enumerate("KMGTP", 1)},
    **{f"{name}{unit}": value for name, value in _LONG_PREFIXES.items() for unit in ("byte", "bytes", "octet", "octets")},
    **{f"{prefix.lower()}b": value for prefix, value in _PREFIXES.items() if prefix},
    **dict.fromkeys(("byte", "bytes", "Byte", "Bytes", "octets"), 1.0),
}  # fmt: skip
_BITS = {f"{prefix}{unit}": value for prefix, value in _PREFIXES.items() for unit in ("b", "bit", "bits") if prefix}
_PER_SECOND = {
    f"{prefix}{unit}": value / 8 for prefix, value in _PREFIXES.items() for unit in ("bps", "bitps") if prefix
}
_PER_SECOND |= {f"{prefix}Bps": value for prefix, value in _PREFIXES.items() if prefix}
_METERS = dict.fromkeys(("m", "meter", "meters", "metre", "metres", "metern", "mètre", "mètres", "metros"), 1.0)
_METERS |= {"km": 1e3, "ft": 0.3048, "feet": 0.3048}
_PER = word_set("/ per a an each every pro je par por")
_PERCENTS = (("%",), ("percent",), ("per", "cent"), ("prozent",), ("pour", "cent"), ("por", "ciento"))
_FOREIGN = word_set(
    "der die das und ab auf von mit bei ist le la les et du au sur est el los las y con es en para pour"
)
"""Words of texts in which a point before three digits separates thousands."""


class Amount(NamedTuple):
    """A number of a text in SI: bytes, seconds, meters, bytes per second, a ratio, or a count with the words after it."""

    value: float
    kind: str
    start: int
    end: int
    written: str
    words: tuple[str, ...] = ()
    """The first words after a count, in lower case."""


@lru_cache(32)
def amounts_in(text: str) -> Sequence[Amount]:
    """The amounts of a text, in order.

    >>> [(each.value, each.kind) for each in amounts_in("two-minute notice, 1.4 TB at 80 Gbit/s, after half an hour")]
    [(120.0, 's'), (1400000000000.0, 'B'), (10000000000.0, 'B/s'), (1800.0, 's')]
    >>> [(each.value, each.kind) for each in amounts_in("ab 1.400 KB, sechs Replikate, 2,5 Go, 4 Prozent")]
    [(1400000.0, 'B'), (6.0, ''), (2500000000.0, 'B'), (0.04, '%')]
    """
    return tuple(_Amounts(text[:MOST_CHARACTERS]).amounts())


class _Amounts:
    """The tokens of a text, from which amounts are read. Methods take the index of a token, and return the index after
    the tokens that they read.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces = [each for each in pieces_of(text) if each.text != "-"]
        self.foreign = not _FOREIGN.isdisjoint(text.lower().split())

    def lower(self, at: int) -> str:
        return self.pieces[at].text.lower() if 0 <= at < len(self.pieces) else ""

    def amounts(self) -> list[Amount]:
        """The amounts, with `2 h 30 min` as one."""
        found: list[Amount] = []
        for each in islice(self._single_amounts(), MOST_AMOUNTS):
            last = found[-1] if found else each
            joined = last.kind == each.kind == TIME and self.text[last.end : each.start] == " "
            if joined and each.value < last.value:
                words = self.text[last.start : each.end]
                found[-1] = Amount(last.value + each.value, TIME, last.start, each.end, words, each.words)
            else:
                found.append(each)
        return found

    def _single_amounts(self) -> Iterator[Amount]:
        at = 0
        while at < len(self.pieces):
            piece = self.pieces[at]
            if piece.kind == "number" and is_separate_number(self.text, piece, "_/:'-"):
                number, behind = self._number(piece.text), at + 1
            else:
                number, behind = self._spelled(at) if piece.kind == "word" else (0.0, at)
            found = self._amount(number, at, behind) if behind > at else None
            at = max(at + 1, behind)
            if found is not None:
                yield found
                while at < len(self.pieces) and self.pieces[at].start < found.end:
                    at += 1

    def _number(self, digits: str) -> float:
        readings = readings_of(digits)
        return float(readings[-1] if "." in digits and not self.foreign else readings[0])

    def _spelled(self, at: int) -> tuple[float, int]:
        """The number in words at an index; the index itself without one."""
        word = self.lower(at)
        if word in _HALF or (word in _ARTICLES and self.lower(at + 1) in _HALF):
            at += word not in _HALF
            return 0.5, at + 1 + (self.lower(at + 1) in _ARTICLES)
        if word in ("quarter", "quarters") and self.lower(at + 1) == "of" and self.lower(at + 2) in _ARTICLES:
            return 0.75 if self.lower(at - 1) == "three" else 0.25, at + 3
        if word in _ARTICLES:
            one = self._is_time(at + 1) and (at == 0 or self.lower(at - 1) in _BEFORE_ONE)
            return (1.0, at + 1) if one else (0.0, at)
        if word not in NUMERALS:
            return 0.0, at
        ones = NUMBERS.get(self.lower(at + 1), 10) if NUMERALS[word] % 10 == 0 and NUMERALS[word] >= 20 else 10
        number, behind = NUMERALS[word] + (ones if ones < 10 else 0.0), at + 1 + (ones < 10)
        half, end = self._added_half(behind)
        return number + half, end if half else behind

    def _added_half(self, at: int) -> tuple[float, int]:
        words = HALVES.get(self.lower(at), ())
        found = words and all(self.lower(at + 1 + index).startswith(each) for index, each in enumerate(words))
        return (0.5, at + 1 + len(words)) if found else (0.0, at)

    def _is_time(self, at: int) -> bool:
        return self.lower(at) in _SECONDS and len(self.lower(at)) > 2

    def _amount(self, number: float, first: int, at: int) -> Amount | None:
        value, kind, behind = self._measured(at)
        if kind == TIME:
            half, end = self._added_half(behind)
            number, behind = number + half, end if half else behind
        if not kind:
            value, behind = self._scale(at)
        start, end = self.pieces[first].start, self.pieces[behind - 1].end
        following = [each.text.lower() for each in self.pieces[behind : behind + 4]]
        return Amount(number * value, kind, start, end, self.text[start:end], tuple(following))

    def _scale(self, at: int) -> tuple[float, int]:
        if at >= len(self.pieces) or self.text[self.pieces[at - 1].end : self.pieces[at].start] not in ("", " "):
            return 1.0, at
        scale = LETTERS.get(self.pieces[at].text) or SCALE_WORDS.get(self.lower(at), 0.0)
        return (scale, at + 1) if scale else (1.0, at)

    def _measured(self, at: int) -> tuple[float, str, int]:
        """The value of the unit at an index, its kind, and the index after it."""
        gap = self.text[self.pieces[at - 1].end : self.pieces[at].start] if at < len(self.pieces) else "."
        if gap not in ("", " ", "-", "\u202f", "\u00a0"):
            return 1.0, COUNT, at
        for words in _PERCENTS:
            if all(self.lower(at + index) == word for index, word in enumerate(words)):
                return 0.01, SHARE, at + len(words)
        return self._unit(self.pieces[at].text, at)

    def _unit(self, word: str, at: int) -> tuple[float, str, int]:
        folded = word.lower()
        size = _BYTES.get(word) or _BYTES.get(folded if len(word) > 3 else "", 0.0) or _BITS.get(word, 0.0) / 8
        if size:
            return self._size_or_rate(size, at + 1)
        value, kind = _PER_SECOND.get(word, 0.0), RATE
        if not value:
            value, kind = self._seconds(word, folded), TIME
        if not value:
            value, kind = _METERS.get(folded, 0.0) if word != "M" else 0.0, LENGTH
        return (value, kind, at + 1) if value else (1.0, COUNT, at)

    def _seconds(self, word: str, folded: str) -> float:
        if len(word) < 3 and not word.islower():
            return 0.0
        adjective = next((value for start, value in _ADJECTIVES if folded.startswith(start)), 0.0)
        return _SECONDS.get(folded, 0.0) or adjective

    def _size_or_rate(self, size: float, at: int) -> tuple[float, str, int]:
        seconds = self._seconds(self.pieces[at + 1].text, self.lower(at + 1)) if at + 1 < len(self.pieces) else 0.0
        return (size / seconds, RATE, at + 2) if seconds and self.lower(at) in _PER else (size, BYTES, at)


_JOINT = pattern(r"\b(?:and|und|et|y)\b")


def gap_to(cue: re.Pattern[str], text: str, amount: Amount) -> int:
    """Characters between an amount and the nearest match of a cue in its part of a clause; a large number without one."""
    start, end = clause_bounds(text, amount.start, amount.end)
    start = max((each.end() for each in _JOINT.finditer(text, start, amount.start)), default=start)
    joint = _JOINT.search(text, amount.end, end)
    end = joint.start() if joint is not None else end
    found = (max(each.start() - amount.end, amount.start - each.end(), 0) for each in cue.finditer(text, start, end))
    return min(found, default=len(text) + MOST_CHARACTERS)


_IN_PLACE_OF = pattern(
    r"(?i)\b(?:instead of|rather than|not|(?<!more )(?<!longer )than|statt|anstatt|nicht|au lieu de?)(?: (?:the|its|a))?(?: default(?: of)?)?(?: about| only)? ?$"
)


_FROM = pattern(r"(?i)\b(?:from|von|de)(?: (?:the|its|a))?(?: default(?: of)?)?(?: about| only)? ?$")
_TO = pattern(r"(?i) ?(?:to|auf|à|a) \d")
_NO = pattern(r"(?i)\b(?:no|not|none|never|cannot|any|every|keine?|nicht)\b")


def is_of_plan(text: str, amount: Amount) -> bool:
    """Whether the clause of an amount states it of this plan: no former value, and no hypothesis.

    >>> [is_of_plan(text, amounts_in(text)[0]) for text in ("the limit is 4 h", "the limit was 4 h", "raised from 10 min to 40")]
    [True, False, False]
    """
    clause = clause_at(text, amount.start, amount.end)
    before = text[max(0, amount.start - 40) : amount.start]
    if _FROM.search(before) is not None and _TO.match(text, amount.end) is not None:
        return False
    if before.lower().rstrip().endswith(("more than", "longer than")) and _NO.search(clause) is None:
        return False
    return not (is_hypothetical(clause) or is_former(clause)) and _IN_PLACE_OF.search(before) is None


def amounts_of(text: str, amounts: Sequence[Amount], own: re.Pattern[str], *others: re.Pattern[str]) -> list[Amount]:
    """The amounts of a role: in their clause, a cue of this role is nearer than a cue of another role. If there are
    none and the text has a cue of the role, the only amount of the text without a role.

    >>> text = "ECN marks from 80 KB on, PFC pauses at 40 KB"
    >>> [each.written for each in amounts_of(text, amounts_in(text), re.compile("PFC"), re.compile("ECN"))]
    ['40 KB']
    """
    gaps = [
        (each, gap_to(own, text, each), min((gap_to(cue, text, each) for cue in others), default=MOST_CHARACTERS))
        for each in amounts
    ]
    found = [each for each, gap, other in gaps if gap < min(other, MOST_CHARACTERS)]
    if found or own.search(text) is None:
        return found
    open_ = [each for each, gap, other in gaps if gap >= MOST_CHARACTERS and other >= MOST_CHARACTERS]
    known = len(amounts) > 1 or all(cue.search(text) is None for cue in others)
    return open_ if len(open_) == 1 and known else []
