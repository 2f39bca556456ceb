"""Warnings of communication libraries that name their cause by themselves: the table `messages.csv` of the catalog.

A row has words of a warning, the cause that it tells, how much it tells, and the line of the library's source that
prints it. Words stand for the whole warning; an asterisk between them is text that differs.
"""

from __future__ import annotations

import csv
import re
from functools import cache

from clusterspec import resources
from clusterspec.records import NamedTuple

FILE = "messages.csv"
WEIGHTS = ("states", "shows", "may")
"""How much a message tells of its cause, the most first."""
MESSAGE = "message "
"""What the names of these statements begin with; the cause and a word of `WEIGHTS` follow."""
_GAP = ".{0,120}?"


class Message(NamedTuple):
    """Words of a warning, its cause, how much it tells of it, and the address of the line that prints it."""

    library: str
    words: str
    cause: str
    weight: str
    source: str

    @property
    def statement(self) -> str:
        return f"{MESSAGE}{self.cause} {self.weight}"

    def pattern(self) -> re.Pattern[str]:
        """The pattern of the warning, with up to 80 characters after its words.

        >>> Message("nccl", "rank * differs", "ranks-diverge", "states", "").pattern().search("rank 3 differs.")[1]
        'rank 3 differs.'
        """
        return re.compile(f"({_GAP.join(map(re.escape, self.words.split('*')))}.{{0,80}})")


@cache
def messages() -> tuple[Message, ...]:
    """The messages of the catalog."""
    with (resources.catalog() / FILE).open(encoding="utf-8", newline="") as file:
        return tuple(Message(**row) for row in csv.DictReader(file))


@cache
def message_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The statement and the pattern of each message."""
    return tuple((each.statement, each.pattern()) for each in messages())
