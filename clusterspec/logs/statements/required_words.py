"""Words that every match of a regular expression contains, so that a search can skip lines without them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

Words = frozenset[str]
"""Words: a matching text has at least one of them; none if nothing is known."""
UNKNOWN: Words = frozenset()
SHORTEST = 3
"""Smallest number of characters of a word that is worth a search."""
MOST = 40
"""Largest number of words that are searched in place of one expression."""


@cache
def required_words(pattern: re.Pattern[str]) -> Words:
    """Words; every match of a pattern has at least one of them; empty if none follow from it.

    >>> sorted(required_words(re.compile(r"(?:[Ll]ink|port) [0-9]+ is (?:down|DOWN)")))
    [' is ']
    >>> sorted(required_words(re.compile(r"([Ii]llegal (?:address|instruction)|misaligned)")))
    ['llegal ', 'misaligned']
    >>> sorted(required_words(re.compile(r"[a-z]+|x")))
    []
    """
    if pattern.flags & re.IGNORECASE:
        return UNKNOWN
    try:
        parsed = import_module("re._parser").parse(pattern.pattern, pattern.flags)
    except (ImportError, AttributeError):  # another release of Python: every line is searched
        return UNKNOWN
    return _words_of_sequence(parsed)


def first_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The first match of a pattern, for which a text is searched only if it has one of the words of every match: of a
    long text without them, this takes a small part of the time.

    >>> first_match(re.compile(r"^run (one|two)"), "run one")[1], first_match(re.compile(r"^run (one|two)"), "stop")
    ('one', None)
    """
    words = required_words(pattern)
    return pattern.search(text) if not words or any(word in text for word in words) else None


def _words_of_sequence(parts: Iterable[Any]) -> Words:
    """The words of consecutive parts: the words of the part whose words are longest."""
    return max(_candidates(parts), key=_selectivity_key, default=UNKNOWN)


def _selectivity_key(words: Words) -> tuple[int, int]:
    """The length of the shortest word of a set, then its negated size: the higher, the fewer lines match."""
    return min(map(len, words), default=0), -len(words)


def _candidates(parts: Iterable[Any]) -> Iterator[Words]:
    """The words of each part separately; consecutive letters form one word."""
    run: list[str] = []
    for kind, value in parts:
        if str(kind) == "LITERAL":
            run.append(chr(value))
            continue
        yield _as_words("".join(run))
        run = []
        yield _words_of_part(str(kind), value)
    yield _as_words("".join(run))


def _as_words(word: str) -> Words:
    return frozenset({word}) if len(word) >= SHORTEST else UNKNOWN


def _words_of_part(kind: str, value: Any) -> Words:
    """The words that a part requires: a group, a repetition of at least one, or alternatives that all require some."""
    if kind == "SUBPATTERN":
        _, flags, _, parts = value
        return UNKNOWN if flags & re.IGNORECASE else _words_of_sequence(parts)
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, _, parts = value
        return _words_of_sequence(parts) if least > 0 else UNKNOWN
    if kind == "BRANCH":
        branches = [_words_of_sequence(parts) for parts in value[1]]
        every = frozenset().union(*branches)
        return every if all(branches) and len(every) <= MOST else UNKNOWN
    return UNKNOWN
