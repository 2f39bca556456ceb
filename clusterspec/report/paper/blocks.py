"""Elements of report pages, and JSON for interactive figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Literal

from clusterspec.finding import Finding, Severity
from clusterspec.records import dataclass, field, replace

# JSON embedded in a page, for interactive figures


def embedded_json(value: object) -> str:
    """JSON that cannot end its enclosing element: `<`, `>` and `&` are escaped.

    >>> embedded_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False, default=str)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# Elements of report pages: sections of blocks, which templates lay out without computing anything

HALF = 78
"""Characters on half the width of a wide page."""
TEXT = 40
"""Characters per line to which a cell can be wrapped."""
SLIM = 70
"""Characters on half the width of a printed page."""
SLIM_TEXT = 34
SHORT = 8
"""Maximum number of rows of a table that is printed next to another block."""
AFTER_PICTURE = 14
"""Maximum number of rows of a table that is printed next to a preceding picture."""
UNBROKEN = 4
UNBROKEN_TEXT = 450
"""Rows and characters of a table that is not divided between pages."""
GAP = 3
Align = Literal["left", "right"]
Tone = Literal["good", "fair", "bad", "plain"]


@dataclass(frozen=True)
class TableColumn:
    """A column header. ``key`` is the JSON field of its cells, relative to the field of the row."""

    label: str
    align: Align = "left"
    key: str = ""


@dataclass(frozen=True)
class TableRow:
    """A row of formatted cells; ``field`` is its path in the JSON document. The cells of a ``bare`` row have no fields
    of their own, unless ``fields`` lists them. ``depth`` indents the first cell; ``best`` are the cells to set bold.
    """

    cells: tuple[str, ...]
    field: str
    tone: Tone = "plain"
    total: bool = False
    bare: bool = False
    fields: tuple[str, ...] = ()
    depth: int = 0
    best: frozenset[int] = frozenset()


@dataclass(frozen=True)
class PaperTable:
    """A table. ``field`` is its JSON field. With ``code`` the last cell of a row is a command; empty cells of a
    ``form`` are filled in by hand.
    """

    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    field: str
    caption: str = ""
    code: bool = False
    form: bool = False
    kind: str = "table"

    @property
    def stays_on_page(self) -> bool:
        """Whether the table stays on one printed page."""
        return len(self.rows) <= UNBROKEN and sum(len(cell) for row in self.rows for cell in row.cells) <= UNBROKEN_TEXT

    @property
    def fits_half_page(self) -> bool:
        """Whether the table is short, and readable on half the width of a printed page."""
        return len(self.rows) <= SHORT and self.fits_half_printed_width

    @property
    def fits_half_printed_width(self) -> bool:
        """Whether the table is readable on half the width of a printed page."""
        return self._characters_wide(SLIM_TEXT) <= SLIM

    @property
    def fits_half_width(self) -> bool:
        """Whether the table is readable on half the width of a page."""
        return self._characters_wide(TEXT) <= HALF

    def _characters_wide(self, most: int) -> int:
        """Characters on a line, if cells are wrapped to ``most``."""
        columns = zip(*((column.label for column in self.columns), *(row.cells for row in self.rows)), strict=False)
        heads = [min(len(column.label), most // 2) for column in self.columns]
        wide = [min(most, max(map(len, cells[1:]), default=0)) for cells in columns]
        return sum(max(pair) + GAP for pair in zip(heads, wide, strict=True))


@dataclass(frozen=True)
class Picture:
    """A drawing (trusted SVG) with a caption.

    ``script`` names the script that makes it interactive, ``data`` is the script's JSON input. A ``wide`` drawing takes
    the width of the page.
    """

    svg: str
    caption: str
    field: str
    script: str = ""
    data: str = ""
    wide: bool = False
    kind: str = "picture"


@dataclass(frozen=True)
class Card:
    """A headline figure."""

    label: str
    value: str
    note: str
    field: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Cards:
    """A row of cards."""

    cards: tuple[Card, ...]
    kind: str = "cards"


@dataclass(frozen=True)
class Text:
    """A paragraph; ``field`` if it has numbers."""

    text: str
    field: str = ""
    kind: str = "text"


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str
    kind: str = "heading"


@dataclass(frozen=True)
class Bullets:
    """A titled list of texts, each with its field."""

    title: str
    items: tuple[tuple[str, str], ...]
    kind: str = "bullets"


@dataclass(frozen=True)
class Code:
    """Preformatted text."""

    text: str
    field: str
    kind: str = "code"


@dataclass(frozen=True)
class LocatedFinding:
    """A finding with its source line."""

    finding: Finding
    row: int
    line: str
    field: str


@dataclass(frozen=True)
class Findings:
    """Findings in the order of their rules; ``named`` adds the names of the rules."""

    shown: tuple[LocatedFinding, ...]
    named: bool = True
    kind: str = "findings"

    @property
    def severe(self) -> list[tuple[LocatedFinding, ...]]:
        """The groups of errors and warnings."""
        return [group for group in self.groups if group[0].finding.severity is not Severity.NOTE]

    @property
    def notes(self) -> list[tuple[LocatedFinding, ...]]:
        """The groups of notes."""
        return [group for group in self.groups if group[0].finding.severity is Severity.NOTE]

    @property
    def groups(self) -> list[tuple[LocatedFinding, ...]]:
        """The findings, grouped by severity, rule and remedy."""
        key = attrgetter("finding.severity", "finding.rule", "finding.help")
        return [tuple(group) for _, group in groupby(self.shown, key)]


def place_text(group: Sequence[LocatedFinding]) -> str:
    """The lines of the findings as text, with the job or pool of a fleet: `line 5`, or `pool a, job b · lines 5, 8`."""
    rows = list(dict.fromkeys(shown.row for shown in group))
    lines = f"line{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows))}"
    paths = (shown.finding.path for shown in group)
    owners = dict.fromkeys(f"{PARTS[path[0]]} {path[1]}" for path in paths if path[1:] and path[0] in PARTS)
    return " · ".join(each for each in (", ".join(owners), lines) if each)


PARTS: Mapping[str | int, str] = {"jobs": "job", "pools": "pool"}
"""The keys above the parts of a fleet, and the name of one part."""


@dataclass(frozen=True)
class StoryStep:
    """A sentence with its JSON field and the section that shows it."""

    text: str
    field: str
    section: str


@dataclass(frozen=True)
class NumberedSentences:
    """Numbered sentences, each a link to its figure."""

    steps: tuple[StoryStep, ...]
    start: int = 1
    """The number of the first sentence: others follow at the width of the page, and are divided between pages."""
    kind: str = "story"


@dataclass(frozen=True)
class Terms:
    """Terms with their meanings, each with its JSON field, in two columns."""

    rows: tuple[tuple[str, str, str], ...]
    kind: str = "terms"


Block = PaperTable | Picture | Cards | Text | Heading | Bullets | Code | Findings | NumberedSentences | Terms


EMPTY = frozenset({"", "–"})


def without_empty_columns(block: Block) -> Block:
    """A table without the columns in which no row has a value; other blocks, and forms, are unchanged."""
    if not isinstance(block, PaperTable) or block.form:
        return block
    kept = [at for at in range(len(block.columns)) if not at or any(row.cells[at] not in EMPTY for row in block.rows)]
    if len(kept) == len(block.columns):
        return block
    rows = tuple(
        replace(
            row,
            cells=tuple(row.cells[at] for at in kept),
            fields=tuple(row.fields[at] for at in kept) if row.fields else (),
            best=frozenset(place for place, at in enumerate(kept) if at in row.best),
        )
        for row in block.rows
    )
    return replace(block, columns=tuple(block.columns[at] for at in kept), rows=rows)


def paired_blocks(
    blocks: Sequence[Block], fits_half: Callable[[PaperTable], bool] = lambda _: True
) -> list[tuple[Block, ...]]:
    """The blocks in order, in rows of one or two.

    Two successive blocks share a row if each fits half the width of a printed page. A paragraph or a longer table also
    shares a row with a preceding picture. ``fits_half`` tells whether the words of a short table fit.
    """
    rows: list[tuple[Block, ...]] = []
    waiting = False
    for block in map(without_empty_columns, blocks):
        after_picture = waiting and isinstance(rows[-1][0], Picture)
        half = _takes_half(block, fits_half, AFTER_PICTURE if after_picture else SHORT) or (
            after_picture and isinstance(block, Text)
        )
        if half and waiting:
            rows[-1] = (*rows[-1], block)
            waiting = False
        else:
            rows.append((block,))
            waiting = half
    return rows


def _takes_half(block: Block, fits_half: Callable[[PaperTable], bool], rows: int) -> bool:
    if isinstance(block, PaperTable):
        return len(block.rows) <= rows and block.fits_half_printed_width and fits_half(block)
    return (isinstance(block, NumberedSentences) and block.start == 1) or (
        isinstance(block, Picture) and not block.wide
    )


@dataclass(frozen=True)
class Section:
    """A titled part of a report; ``key`` is its anchor. An appendix is smaller, and starts a page."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""
    appendix: bool = False


@dataclass(frozen=True)
class VerdictBlock:
    """The verdict with its reasons and the parts that were not judged. ``partial`` states what a sum on the
    page omits.
    """

    word: str
    tone: Tone
    reasons: tuple[str, ...]
    not_judged: tuple[str, ...]
    partial: str = ""


@dataclass(frozen=True)
class TitleFact:
    """A line of the title page."""

    name: str
    value: str
    field: str


@dataclass(frozen=True)
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
