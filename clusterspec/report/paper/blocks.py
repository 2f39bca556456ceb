"""Elements of report pages, the font with its missing characters, and JSON for interactive figures."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Literal

from clusterspec import resources
from clusterspec.finding import Finding
from clusterspec.records import dataclass, field, replace

# The font of reports, and characters that it lacks

FACES = (
    ("Inter-Regular.woff2", "Inter", 400),
    ("Inter-SemiBold.woff2", "Inter", 600),
    ("JetBrainsMono-Regular.woff2", "JetBrains Mono", 400),
)
"""Inter 4.0 and, for code, JetBrains Mono 2.242 (both SIL Open Font License 1.1, `templates/fonts/LICENSE.txt`), cut to
Latin, Greek, Cyrillic and signs."""
RANGES = (
    *((0x09, 0x0D), (0x20, 0x7E), (0xA0, 0x17F), (0x192, 0x192), (0x218, 0x21B), (0x2C6, 0x2DD), (0x384, 0x3CE)),
    *((0x400, 0x45F), (0x490, 0x491), (0x1E80, 0x1E85), (0x1E9E, 0x1E9E), (0x2000, 0x206F)),
)
"""What both faces draw without asking the file."""
_TAGS = re.compile(r"<style[^<]*</style>|<[^<>]*>", re.DOTALL)
MOST_NAMED = 8
Ranges = tuple[tuple[int, int], ...]
"""Characters as first and last code."""


@cache
def font_faces() -> str:
    """CSS with both font faces embedded."""
    folder = resources.templates() / "fonts"
    rules = []
    for name, family, weight in FACES:
        data = base64.b64encode((folder / name).read_bytes()).decode()
        source = f"url(data:font/woff2;base64,{data}) format('woff2')"
        rules.append(f"@font-face{{font-family:'{family}';font-weight:{weight};src:{source}}}")
    return "".join(rules)


@cache
def _font_characters() -> frozenset[int]:
    """The code points of the regular face."""
    from fontTools.ttLib import TTFont

    with TTFont(resources.templates() / "fonts" / FACES[0][0]) as font:
        return frozenset(font.getBestCmap())


def drawable_page(page: str, others: Ranges | None = None) -> tuple[str, str]:
    """The page with characters that no font has replaced by their code, and a sentence that states this, empty if
    there are none. Characters that the font of reports lacks are drawn with other fonts; ``others`` are the
    ranges of those, by default what the fonts of the system have.
    """
    foreign = {
        char
        for char in set(_TAGS.sub("", page))
        if not _is_plain_character(ord(char)) and ord(char) not in _font_characters()
    }
    ranges = _system_ranges() if others is None and foreign else others or ()
    unknown = {char for char in foreign if not any(first <= ord(char) <= last for first, last in ranges)}
    if not unknown:
        return page, ""
    swapped = {ord(char): f"[U+{ord(char):04X}]" for char in unknown}
    named = ", ".join(f"U+{ord(char):04X}" for char in sorted(unknown)[:MOST_NAMED])
    more = f" and {len(unknown) - MOST_NAMED} more" if len(unknown) > MOST_NAMED else ""
    alt = (
        f"No font on the machine that made this document has {named}{more}; the code of each character is printed "
        "instead. The packages fonts-noto-core and fonts-noto-cjk of Debian have most characters."
    )
    return page.translate(swapped), alt


@cache
def _system_ranges() -> Ranges:
    """The characters that fonts of the system have, as first and last code; none without fontconfig's `fc-list`.

    Pango, which draws the text of a PDF, takes other fonts from fontconfig.
    """
    program = shutil.which("fc-list")
    if program is None:
        return ()
    try:
        done = subprocess.run([program, ":", "charset"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ()
    found = {each for line in done.stdout.splitlines() for each in line.partition("charset=")[2].split()}
    ends = (each.partition("-") for each in found if each.replace("-", "").isalnum())
    return tuple(sorted((int(first, 16), int(last or first, 16)) for first, _, last in ends))


def _is_plain_character(code: int) -> bool:
    return any(low <= code <= high for low, high in RANGES)


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
SHORT = 14
"""Rows of a table that is printed beside another block."""
UNBROKEN = 8
UNBROKEN_TEXT = 900
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
    def short(self) -> bool:
        """Whether the table stays on one printed page."""
        return len(self.rows) <= UNBROKEN and sum(len(cell) for row in self.rows for cell in row.cells) <= UNBROKEN_TEXT

    @property
    def slim(self) -> bool:
        """Whether the table is short, and readable on half the width of a printed page."""
        return len(self.rows) <= SHORT and self._width(SLIM_TEXT) <= SLIM

    @property
    def narrow(self) -> bool:
        """Whether the table is readable on half the width of a page."""
        return self._width(TEXT) <= HALF

    def _width(self, most: int) -> int:
        """Characters on a line, if cells are wrapped to ``most``."""
        columns = zip(*((column.label for column in self.columns), *(row.cells for row in self.rows)), strict=False)
        heads = [min(len(column.label), most // 2) for column in self.columns]
        wide = [min(most, max(map(len, cells[1:]), default=0)) for cells in columns]
        return sum(max(pair) + GAP for pair in zip(heads, wide, strict=True))


@dataclass(frozen=True)
class Picture:
    """A drawing (trusted SVG) with a caption; ``script`` names the script part that makes it interactive, ``data`` is
    the JSON for that. A ``wide`` one takes the width of the page.
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
class Shown:
    """A finding with its source line."""

    finding: Finding
    row: int
    line: str
    field: str


@dataclass(frozen=True)
class Findings:
    """Findings in the order of their rules."""

    shown: tuple[Shown, ...]
    kind: str = "findings"

    @property
    def groups(self) -> list[tuple[Shown, ...]]:
        """The findings of one severity and rule that have one remedy, together."""
        key = attrgetter("finding.severity", "finding.rule", "finding.help")
        return [tuple(group) for _, group in groupby(self.shown, key)]


def place_text(group: Sequence[Shown]) -> str:
    """The lines of some findings: `line 5`, or `lines 5, 8`."""
    rows = list(dict.fromkeys(shown.row for shown in group))
    return f"line{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows))}"


@dataclass(frozen=True)
class StoryStep:
    """A sentence with its JSON field and the section that shows it."""

    text: str
    field: str
    section: str


@dataclass(frozen=True)
class Story:
    """Numbered sentences, each a link to its figure."""

    steps: tuple[StoryStep, ...]
    kind: str = "story"


@dataclass(frozen=True)
class Terms:
    """Terms with their meanings, each with its JSON field, in two columns."""

    rows: tuple[tuple[str, str, str], ...]
    kind: str = "terms"


Block = PaperTable | Picture | Cards | Text | Heading | Bullets | Code | Findings | Story | Terms


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
    """The blocks in order; two in succession that both fit on half the width of a printed page are together, and a
    paragraph beside the picture before it. ``fits_half`` says so of the words of a short table.
    """
    rows: list[tuple[Block, ...]] = []
    waiting = False
    for block in map(without_empty_columns, blocks):
        half = _takes_half(block, fits_half) or (
            waiting and isinstance(block, Text) and isinstance(rows[-1][0], Picture)
        )
        if half and waiting:
            rows[-1] = (*rows[-1], block)
            waiting = False
        else:
            rows.append((block,))
            waiting = half
    return rows


def _takes_half(block: Block, fits_half: Callable[[PaperTable], bool]) -> bool:
    if isinstance(block, PaperTable):
        return block.slim and fits_half(block)
    return isinstance(block, Story) or (isinstance(block, Picture) and not block.wide)


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
    """The verdict with reasons and parts not judged."""

    word: str
    tone: Tone
    reasons: tuple[str, ...]
    not_judged: tuple[str, ...]


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
