"""The messages of the catalog that a text may contain, and those that a line contains, found in a time that hardly
depends on the size of the catalog.

A text is cut into its words once. A text can contain a message only if it has each of the message's inner words, so set
lookups exclude nearly all messages; only the rest are searched for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from clusterspec.logs.statements.catalogued_messages import Message, listed_messages
from clusterspec.logs.text_lines import shown_part, with_digits_as_zero
from clusterspec.records import NamedTuple

_WORD = re.compile(r"\w{3,60}")
_FIELD = re.compile(r"\{[a-z_][\w.]{2,60}\}")
"""A field of a formatted string: the text is source code, not what a program prints."""
FEW = 100
"""Maximum number of entries that are searched for separately."""
WIDEST_GAP = 120
"""Characters that may stand where the words of a message have an asterisk."""
AFTER = 80
"""Characters after the words of a message that are shown."""
_MAY_BE_ERROR = ("rror", "xception", "ERROR", "FATAL", "atal", "Exit", "Failure", "Interrupt", "[E ", "CRITICAL")
"""Words: a line that shows an exception has at least one of them."""
_OUTLIVED = ("WARN", "Warning:", "INFO", "DEBUG")
"""Words of lines after which a program continues."""


class Entry(NamedTuple):
    """A message: its text split at the asterisks (``parts``), the longest part, and the words that every text with the
    message contains in full, as written (``whole``) and with zeros in place of digits (``inner``).
    """

    message: Message
    parts: tuple[str, ...]
    longest: str
    whole: frozenset[str]
    inner: frozenset[str]


@cache
def entries() -> tuple[Entry, ...]:
    """The messages of the catalog, prepared for a search."""
    return tuple(map(_entry, listed_messages()))


def _entry(message: Message) -> Entry:
    parts = tuple(part for part in message.words.split("*") if part)
    whole = frozenset(word for part in parts for word in _whole_words(part))
    if _is_name(parts):
        whole = frozenset(parts)
    return Entry(message, parts, max(parts, key=len), whole, frozenset(with_digits_as_zero(word) for word in whole))


def _is_name(parts: tuple[str, ...]) -> bool:
    """Whether a message is one word, such as the name of a status; a line contains it as a whole word.

    >>> _is_name(("NVML_ERROR_IN_USE",)), _is_name(("in use",))
    (True, False)
    """
    return len(parts) == 1 and _WORD.fullmatch(parts[0]) is not None


def _whole_words(part: str) -> Iterator[str]:
    """The words of a part that no neighboring text can continue.

    >>> list(_whole_words("rank must be even, not"))
    ['must', 'even']
    """
    for match in _WORD.finditer(part):
        if match.start() > 0 and match.end() < len(part):
            yield match[0]


def possible_entries(parts_of_forms: Iterable[str]) -> tuple[int, ...]:
    """The places of the entries that a text may contain, given the parts of its different lines with zeros in place of
    digits and of the letters a to f.

    Where more than `FEW` are left by their words, none of them is searched for in the text.
    """
    found: set[int] = set()
    for forms in parts_of_forms:
        words = set(_WORD.findall(forms))
        known = _places_by_inner_word()
        listed = (place for word in (known.keys() & words) | {""} for place in known[word])
        left = [place for place in listed if entries()[place].inner <= words and place not in found]
        few = len(left) <= FEW
        found |= {place for place in left if not few or with_digits_as_zero(entries()[place].longest) in forms}
    return tuple(sorted(found))


@cache
def _places_by_inner_word() -> dict[str, tuple[int, ...]]:
    """Every entry by the rarest of its inner words; by an empty word if it has none."""
    counts = Counter(word for each in entries() for word in each.inner)
    found: dict[str, list[int]] = {"": []}
    for place, each in enumerate(entries()):
        found.setdefault(min(each.inner, key=lambda word: (counts[word], word), default=""), []).append(place)
    return {word: tuple(places) for word, places in found.items()}


def places_by_word(places: Iterable[int]) -> dict[str, tuple[int, ...]]:
    """Entries by the rarest of their words in the catalog."""
    found: dict[str, list[int]] = {}
    for place in places:
        words = entries()[place].whole
        if words:
            found.setdefault(min(words, key=lambda word: (_messages_with()[word], word)), []).append(place)
    return {word: tuple(those) for word, those in found.items()}


@cache
def _messages_with() -> Counter[str]:
    """The number of catalogued messages with each word, by word."""
    return Counter(word for each in entries() for word in each.whole)


def entries_of_line(line: str, by_word: dict[str, tuple[int, ...]]) -> list[int]:
    """The indices of the entries that have a word of a line."""
    return [place for word in set(_WORD.findall(line)) for place in by_word.get(word, ())]


def statement_of_entry(entry: Entry, line: str) -> tuple[str, str] | None:
    """The statement that a line makes with a message, and its text; None if the message is not in it.

    A Python exception is a statement only on a line that reports an error. On a line after which the program may
    continue, it weighs as little as a message that may have the cause. A line of source code that would print the
    message, as a report of a fault quotes it, states nothing (thread: NVIDIA/Megatron-LM issue 1530).
    """
    if _is_name(entry.parts) and entry.parts[0] not in _WORD.findall(line):
        return None
    text = _text_with(entry.parts, line)
    if text is None or (_FIELD.search(text) and not any(map(_FIELD.search, entry.parts))):
        return None
    if not entry.message.raised or any(word in line for word in _MAY_BE_ERROR):
        return entry.message.statement, text
    if any(word in line for word in _OUTLIVED):
        return None
    return entry.message.weakest_statement, text


def _text_with(parts: tuple[str, ...], line: str) -> str | None:
    """The text of a message in a line and what follows it; None if a part is missing or too far from the one before.

    Each part is searched once after each position of the first part, so the time is linear in the length of the line.

    >>> _text_with(("rank ", " differs"), "a rank 3 differs.")
    'rank 3 differs.'
    """
    first, *others = parts
    start = line.find(first)
    while start >= 0:
        end = start + len(first)
        for part in others:
            at = line.find(part, end, end + WIDEST_GAP + len(part))
            if at < 0:
                break
            end = at + len(part)
        else:
            return shown_part(line, start, end + AFTER)
        start = line.find(first, start + len(first))
    return None
