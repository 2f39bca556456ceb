"""What a page is made of. A section is a title and blocks; templates lay them out and compute nothing.

A ``field`` is the path of a value in the JSON document of the report: every number on a page carries one.
"""

from __future__ import annotations

from typing import Literal

from clusterspec.finding import Finding
from clusterspec.records import dataclass, field

Align = Literal["left", "right"]
Tone = Literal["good", "fair", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column; ``key`` is the JSON field of its cells below that of the row."""

    label: str
    align: Align = "left"
    key: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of cells, ready to print; ``field`` is its place in the JSON document. The cells of a ``bare`` row
    have no fields of their own, unless ``fields`` names them one by one.
    """

    cells: tuple[str, ...]
    field: str
    tone: Tone = "plain"
    total: bool = False
    bare: bool = False
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table; ``field`` is that of the whole. With ``code`` the last cell is a command."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    field: str
    caption: str = ""
    code: bool = False
    kind: str = "table"


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing made here (SVG, trusted) with a caption; ``script`` names the part of the script that makes it live,
    ``data`` the JSON that this part reads.
    """

    svg: str
    caption: str
    field: str
    script: str = ""
    data: str = ""
    kind: str = "picture"


@dataclass(frozen=True, slots=True)
class Card:
    """One number to see first."""

    label: str
    value: str
    note: str
    field: str
    tone: Tone = "plain"


@dataclass(frozen=True, slots=True)
class Cards:
    """A row of cards."""

    cards: tuple[Card, ...]
    kind: str = "cards"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; ``field`` where it holds numbers."""

    text: str
    field: str = ""
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section."""

    text: str
    kind: str = "heading"


@dataclass(frozen=True, slots=True)
class Code:
    """Text as written."""

    text: str
    field: str
    kind: str = "code"


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding with the line it points at."""

    finding: Finding
    place: str
    line: str
    field: str


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings under the group of their rules."""

    shown: tuple[Shown, ...]
    kind: str = "findings"


Block = Table | Picture | Cards | Text | Heading | Code | Findings


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a report; ``key`` is its anchor. An appendix is smaller, and starts a page."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""
    appendix: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a reader in a hurry takes away."""

    word: str
    tone: Tone
    reasons: tuple[str, ...]
    not_judged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the title page."""

    name: str
    value: str
    field: str


@dataclass(frozen=True, slots=True)
class Paper:
    """A whole report, ready to be laid out."""

    title: str
    kind: str
    subtitle: str
    description: str
    judgement: Judgement
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]
    colophon: str
    tool: str
    created: str
    author: str
    digest: str
    draft: bool = False
    signatories: tuple[str, ...] = field(default=())
    signed: tuple[Fact, ...] = field(default=())
    """What a signature stands for."""
    attachments: tuple[tuple[str, str, str], ...] = field(default=())
    """Name, content and description of the files that a PDF carries."""
