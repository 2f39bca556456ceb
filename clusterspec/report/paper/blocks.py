"""What a page is made of. A section is a title and blocks; templates lay them out and compute nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from clusterspec.finding import Finding

Align = Literal["left", "right"]
Tone = Literal["good", "fair", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column."""

    label: str
    align: Align = "left"


@dataclass(frozen=True, slots=True)
class Table:
    """Cells as text, ready to print; a cell may hold several lines."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    emphasis: tuple[int, ...] = ()
    """Rows that are sums."""
    kind: str = "table"


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing made here (SVG, trusted) and what it shows in words."""

    svg: str
    caption: str
    kind: str = "picture"


@dataclass(frozen=True, slots=True)
class Card:
    """One number to see first."""

    label: str
    value: str
    note: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Cards:
    """A row of cards."""

    cards: tuple[Card, ...]
    kind: str = "cards"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding with the line it points at."""

    finding: Finding
    place: str
    line: str


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings, the gravest first."""

    shown: tuple[Shown, ...]
    kind: str = "findings"


Block = Table | Picture | Cards | Text | Findings


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a report; ``key`` is its anchor."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reader in a hurry takes away."""

    word: str
    tone: Tone
    sentence: str


@dataclass(frozen=True, slots=True)
class Paper:
    """A whole report, ready to be laid out."""

    title: str
    kind: str
    subtitle: str
    description: str
    verdict: Verdict
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    colophon: str
    signatories: tuple[str, ...] = field(default=())
