"""Elements of report pages: sections of blocks, which templates lay out without computing anything.

A ``field`` is the path of a value in the JSON document of the report; every number on a page has one.
"""

from __future__ import annotations

from typing import Literal

from clusterspec.finding import Finding
from clusterspec.records import dataclass, field

HALF = 78
"""Characters on half the width of a wide page."""
TEXT = 40
"""Characters per line to which a cell can be wrapped."""
GAP = 3
Align = Literal["left", "right"]
Tone = Literal["good", "fair", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column header; ``key`` is the JSON field of its cells relative to that of the row."""

    label: str
    align: Align = "left"
    key: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of formatted cells; ``field`` is its path in the JSON document. The cells of a ``bare`` row have no fields
    of their own, unless ``fields`` lists them. ``depth`` indents the first cell.
    """

    cells: tuple[str, ...]
    field: str
    tone: Tone = "plain"
    total: bool = False
    bare: bool = False
    fields: tuple[str, ...] = ()
    depth: int = 0


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table; ``field`` is that of the whole. With ``code`` the last cell is a command."""

    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    field: str
    caption: str = ""
    code: bool = False
    kind: str = "table"

    @property
    def narrow(self) -> bool:
        """Whether the table is readable on half the width of a page."""
        columns = zip(*(row.cells for row in self.rows), strict=True)
        return sum(min(TEXT, max(map(len, cells))) + GAP for cells in columns) <= HALF


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing (trusted SVG) with a caption; ``script`` names the script part that makes it interactive, ``data`` is
    the JSON for that.
    """

    svg: str
    caption: str
    field: str
    script: str = ""
    data: str = ""
    kind: str = "picture"


@dataclass(frozen=True, slots=True)
class Card:
    """A headline figure."""

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
    """A paragraph; ``field`` if it has numbers."""

    text: str
    field: str = ""
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading inside a section."""

    text: str
    kind: str = "heading"


@dataclass(frozen=True, slots=True)
class Bullets:
    """A titled list of texts, each with its field."""

    title: str
    items: tuple[tuple[str, str], ...]
    kind: str = "bullets"


@dataclass(frozen=True, slots=True)
class Code:
    """Text as written."""

    text: str
    field: str
    kind: str = "code"


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding with its source line."""

    finding: Finding
    place: str
    line: str
    field: str


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings, grouped by rule."""

    shown: tuple[Shown, ...]
    kind: str = "findings"


Block = PaperTable | Picture | Cards | Text | Heading | Bullets | Code | Findings


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a report; ``key`` is its anchor. An appendix is smaller, and starts a page."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""
    appendix: bool = False


@dataclass(frozen=True, slots=True)
class VerdictBlock:
    """The verdict with reasons and parts not judged."""

    word: str
    tone: Tone
    reasons: tuple[str, ...]
    not_judged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TitleFact:
    """A line of the title page."""

    name: str
    value: str
    field: str


@dataclass(frozen=True, slots=True)
class Paper:
    """A complete report, ready for layout."""

    title: str
    kind: str
    subtitle: str
    description: str
    verdict_block: VerdictBlock
    facts: tuple[TitleFact, ...]
    sections: tuple[Section, ...]
    colophon: str
    tool: str
    created: str
    author: str
    digest: str
    draft: bool = False
    signatories: tuple[str, ...] = field(default=())
    signed: tuple[TitleFact, ...] = field(default=())
    """The data confirmed by a signature."""
    attachments: tuple[tuple[str, str, str], ...] = field(default=())
    """Name, content and description of the files that a PDF carries."""
