"""Data that a text moves within some hours of each day: `240 TB between 22:00 and 06:00 each night`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from clusterspec.quantity import HOUR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.dimensions import figures_of
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

MOST_SENTENCES = 200
LEAST = 1e12
"""Bytes from which data need a window."""
_SIZE = frozenset({("B", 1)})
_CLOCK = r"(\d{1,2})(?::(\d\d))? ?(?:h|uhr|heures?|o'clock|hrs)?"
_BETWEEN = pattern(
    rf"(?i)\b(?:between|from|entre|de|von|zwischen|tra le|dalle|tussen|van) (?:the |las? |les )?{_CLOCK} ?(?:and|to|until|till|et|à|und|bis|y|a|e|alle|en|tot)(?: the| las?)? {_CLOCK}(?![\d.,])(?! ?[a-z]?[tgm]b)"
)
_WINDOW = pattern(
    r"(?i)\b(?:window|zeitfenster|fenêtre|ventana|finestra|venster)(?: of| von| de| di| van)? (\d{1,2}) (?:hours?|h|stunden|heures|horas|ore|uur)\b|\b(\d{1,2})[- ]hours? window\b"
)
_DAILY = pattern(
    r"(?i)\b(?:every|each|per|a) (?:night|day)\b|\bnightly\b|\bdaily\b|\bjede (?:nacht)\b|\bjeden tag\b|\bnächtlich\w*|\bchaque (?:nuit|jour)\b|\bpar (?:nuit|jour)\b|\bcada (?:noche|día)\b|\bogni (?:notte|giorno)\b|\belke (?:nacht|dag)\b"
)
_STORED = pattern(
    r"(?i)\b(?:stor(?:e|age|ed)|file ?system|written|writes?|ingest\w*|speicher\w*|geschrieben|stockage|dépos\w*|écri\w*|almac\w*|escrib\w*|archivi\w*|scriv\w*|opslag)\b"
)
_LINKED = pattern(
    r"(?i)\b(?:(?:moved|copied|sent|transferred|mirrored) (?:\w+ ){0,2}?(?:from|to|over)|(?:kopiert|übertragen|verschoben)|(?:copiée?s?|transférée?s?)|(?:copiad|trasladad|enviad)[oa]s?|copiat[eio]|links?|line|sites?|rooms?|pools?|halls?|leitung|verbindung|liaison|sites|enlace|sedes?|collegamento|verbinding)\b"
)


class DailyCopy(NamedTuple):
    """Bytes that are moved within some seconds of each day, by a text, and the words for both."""

    size: float
    seconds: float
    words: str

    @property
    def rate(self) -> float:
        """The rate that the copy needs, in bytes per second in one direction."""
        return self.size / self.seconds


def copies_to_store(text: str) -> Iterator[DailyCopy]:
    """The data that a text writes to a storage system within a window of each day.

    >>> text = "Each night, between 22:00 and 6:00, the station writes 240 TB of pictures to the store."
    >>> [(each.size, each.seconds / 3600, each.words) for each in copies_to_store(text)]
    [(240000000000000.0, 8.0, '240 TB in 8 h')]
    """
    return (copy for copy, sentence in _daily_copies(text) if _STORED.search(sentence) is not None)


def copies_over_links(text: str) -> Iterator[DailyCopy]:
    """The data that a text sends from one site to the other within a window of each day.

    >>> text = "Every night 54 TB are moved over the link in one window of 6 hours."
    >>> [each.rate for each in copies_over_links(text)]
    [2500000000.0]
    """
    return (copy for copy, sentence in _daily_copies(text) if _LINKED.search(sentence) is not None)


def _daily_copies(text: str) -> Iterator[tuple[DailyCopy, str]]:
    """The only size of data near each daily window, and the sentences with both."""
    sentences = [*islice(sentences_of(with_numerals(" ".join(text.split()))), MOST_SENTENCES)]
    for sentence, after in pairwise([*sentences, ""]):
        hours = _hours_of_window(sentence)
        if not hours or _DAILY.search(sentence) is None or words_of_another(sentence):
            continue
        sizes = [
            each
            for part in (sentence, after)
            for each in figures_of(part)
            if each.powers == _SIZE and each.value >= LEAST
        ]
        if sizes:
            largest = max(sizes, key=lambda each: each.value)  # `4.5 TB each, together 54 TB`
            yield DailyCopy(largest.value, hours * HOUR, f"{largest.words} in {hours:g} h"), f"{sentence}. {after}"


def _hours_of_window(sentence: str) -> float:
    """The hours of the only window of a sentence; 0 without one."""
    found = {float(match[1] or match[2]) for match in _WINDOW.finditer(sentence)}
    found |= {_hours_between(match) for match in _BETWEEN.finditer(sentence)}
    return found.pop() if len(found) == 1 else 0.0


def _hours_between(match: re.Match[str]) -> float:
    """The hours from one time of a clock to the next time that it shows the other."""
    start, end = (int(match[number]) + int(match[number + 1] or 0) / 60 for number in (1, 3))
    return (end - start) % 24 or 24.0
