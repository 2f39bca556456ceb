"""A parsed text: sentences, tables with the meanings of their headers, and the catalog parts it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from clusterspec.catalog import Catalog
from clusterspec.prose.blocks import BlockKind, ProseLine, TextBlock, text_blocks
from clusterspec.prose.known_figures import KnownFigures
from clusterspec.prose.lexicon import COUNTED, Channel, FigureScope, Meaning, PrecisionName, phrase_matches
from clusterspec.prose.sentence import Sentence, split_sentences
from clusterspec.prose.subjects import UNKNOWN, NameIndex, Subject
from clusterspec.prose.tokenize import Token, TokenKind, token_with_unit, tokens, unit_in_heading
from clusterspec.quantity import Direction, Sparsity
from clusterspec.records import dataclass, replace

# A parsed text: its sentences and tables, and the catalog parts it names


@dataclass(frozen=True)
class TableBlock:
    """The block of a table with the sentences and the heading before it."""

    block: TextBlock
    before: tuple[Sentence, ...]
    heading: tuple[Subject, ...] = ()


class ProseText:
    """A text parsed once, with the index of names and the catalog figures it is compared with."""

    def __init__(self, text: str, catalog: Catalog) -> None:
        self.names = NameIndex(catalog)
        self.known = KnownFigures(catalog)
        self.sentences: list[Sentence] = []
        self.tables: list[TableBlock] = []
        self.lines: list[ProseLine] = []
        self._read(text)

    def _read(self, text: str) -> None:
        heading: tuple[Subject, ...] = ()
        lead: tuple[Sentence, ...] = ()
        for block in text_blocks(text):
            self.lines += block.lines
            if block.kind is BlockKind.TABLE:
                self.tables.append(TableBlock(block, lead, heading))
                continue
            sentences = self._block_sentences(block, heading, lead)
            if block.kind is BlockKind.HEADING:
                heading, lead = _named_subjects(sentences), ()
            elif block.kind is BlockKind.PROSE:
                lead = sentences
            self.sentences += sentences

    def _block_sentences(
        self, block: TextBlock, heading: tuple[Subject, ...], lead: Sequence[Sentence]
    ) -> tuple[Sentence, ...]:
        """The sentences of a block, each with the subjects named before it."""
        sentences: list[Sentence] = []
        before = heading
        if block.kind is BlockKind.ITEM and lead and lead[-1].words[-1].text == ":":
            before = _named_subjects(lead[-1:]) or heading
        for sentence in split_sentences(tokens(block.lines), block.kind, self.names):
            sentence.before = before
            before = tuple(named.subject for named in sentence.named) or before
            sentences.append(sentence)
        return tuple(sentences)

    @cached_property
    def families(self) -> dict[str, tuple[str, ...]]:
        """The named interconnect entries by family; without any, the interconnects of named accelerators."""
        found: dict[str, dict[str, None]] = {}
        for subject in self.subjects:
            found.setdefault(subject.family, {}).update(dict.fromkeys(subject.ids))
        implied: dict[str, dict[str, None]] = {}
        for subject in self.subjects:
            for id_ in self.known.interconnects(subject)[:1]:
                implied.setdefault(id_.partition("-")[0], {})[id_] = None
        return {family: tuple(found.get(family) or ids) for family, ids in (found | implied).items()}

    @cached_property
    def subjects(self) -> tuple[Subject, ...]:
        """The parts that the text names, without duplicates."""
        of_tables = (named.subject for table in self.tables for named in self.names.find(tokens(table.block.lines)))
        of_sentences = (named.subject for sentence in self.sentences for named in sentence.named)
        return tuple(dict.fromkeys((*of_sentences, *of_tables)))

    def stated_rates(self, near: Sequence[Subject]) -> frozenset[float]:
        """The bandwidths of the parts that the text names, where nearby subjects imply generations; in B/s one way."""
        implied = (self.subject_with_generation(each, near) for each in self.parts if not each.ids)
        return self._rates_of_entries.union(*(self._rate_values(each) for each in implied))

    @cached_property
    def parts(self) -> tuple[Subject, ...]:
        """The subjects without synonyms: a text may write one part in any number of ways (`NDR10`, `NDR11`, …)."""
        return tuple(
            {(each.channel, each.kind, each.ids, each.family, each.lanes): each for each in self.subjects}.values()
        )

    @cached_property
    def _rates_of_entries(self) -> frozenset[float]:
        return frozenset(rate for subject in self.parts if subject.ids for rate in self._rate_values(subject))

    def _rate_values(self, subject: Subject) -> frozenset[float]:
        return frozenset(fact.value for fact in self.known.figures_of(subject) if fact.unit == "B/s")

    def subject_with_generation(self, subject: Subject, near: Sequence[Subject]) -> Subject:
        """A subject with the generation implied by nearby subjects, else by the whole text, else unchanged."""
        if subject.ids or subject.family in ("ethernet", UNKNOWN):
            return subject
        same = [id_ for other in near for id_ in self._implied_entries(other, subject.family)]
        ids = tuple(dict.fromkeys(same)) or self.families.get(subject.family, ())
        return _subject_with_ids(subject, ids)

    def _implied_entries(self, other: Subject, family: str) -> tuple[str, ...]:
        """The entries of a family that another subject implies: its own, or an accelerator's interconnect."""
        if other.family == family:
            return other.ids
        if other.kind in ("accelerator", "platform"):
            return tuple(id_ for id_ in self.known.interconnects(other)[:1] if id_.partition("-")[0] == family)
        return ()


def _subject_with_ids(subject: Subject, ids: tuple[str, ...]) -> Subject:
    return Subject(subject.name, subject.family, subject.kind, subject.channel, ids, subject.label, subject.lanes, True)


def _named_subjects(sentences: Sequence[Sentence]) -> tuple[Subject, ...]:
    return tuple(named.subject for sentence in sentences for named in sentence.named)


# Parsing of tables: cells with the meanings given by their column header, row label and lead-in

_M = TypeVar("_M", Direction, Sparsity, PrecisionName, FigureScope, Channel)
_RULE = re.compile(r"[\s|:=-]+")
MAX_ROWS = 500
"""Maximum rows of a table that are checked; a longer table is a log."""
MAX_COLUMNS = 40
MAX_SUBJECT_DISTANCE = 4
"""Maximum words between the figure of a cell and its subject; later words are a remark."""
_FILLERS = frozenset(("x", "up", "to"))


@dataclass(frozen=True)
class TableCell:
    """A cell: its tokens, the subjects it names, and its figure (None if it has none or several)."""

    row: int
    column: int
    words: tuple[Token, ...]
    subjects: tuple[Subject, ...]
    meanings: frozenset[Meaning]
    figure: Token | None
    factor: float = 1.0
    """The multiplier of the figure: 8 in `8x400`."""


@dataclass(frozen=True)
class Header:
    """A column header, row label or lead-in: its text, subjects, meanings and countable nouns."""

    text: str
    subjects: tuple[Subject, ...]
    meanings: frozenset[Meaning]
    nouns: frozenset[FigureScope]

    @cached_property
    def unit(self) -> str:
        return unit_in_heading(self.text)


NO_HEADER = Header("", (), frozenset(), frozenset())


@dataclass(frozen=True)
class ProseTable:
    """A parsed table; ``lead_in`` is the last sentence before it."""

    headers: tuple[Header, ...]
    labels: tuple[Header, ...]
    lead_in: Header
    cells: tuple[tuple[TableCell, ...], ...]

    def head(self, column: int) -> Header:
        return self.headers[column] if column < len(self.headers) else NO_HEADER

    def figures(self) -> Iterator[TableCell]:
        """The cells that hold one figure with a unit."""
        return (cell for row in self.cells for cell in row if cell.figure is not None and cell.figure.unit)

    def column(self, number: int) -> list[TableCell]:
        return [row[number] for row in self.cells if number < len(row)]


def parse_table(block: TableBlock, names: NameIndex) -> ProseTable:
    """A table block parsed with its headers and lead-in."""
    rows = [_split_row(line) for line in block.block.lines[:MAX_ROWS]]
    rule = next((at for at, line in enumerate(block.block.lines[:6]) if _RULE.fullmatch(line.text)), 0)
    columns = max((len(row) for row in rows), default=0)
    above = rows[:rule] if rule else rows[:1]
    headers = tuple(_parse_header([row[at] for row in above if at < len(row)], names) for at in range(columns))
    lead_in = _lead_in_header(block)
    body = [
        row
        for row in rows[rule + 1 if rule else 1 :]
        if row and not _RULE.fullmatch("|".join(c.text for c in row) + "|")
    ]
    labels = tuple(_parse_header(row[:1], names) for row in body)
    cells = tuple(
        tuple(
            _parse_cell(at, column, part, (headers[column], labels[at], lead_in), names)
            for column, part in enumerate(row)
        )
        for at, row in enumerate(body)
    )
    return ProseTable(headers, labels, lead_in, cells)


def _split_row(line: ProseLine) -> list[ProseLine]:
    """The cells of a row."""
    parts, at = [], 0
    for piece in line.text.rstrip().removesuffix("|").split("|", MAX_COLUMNS)[:MAX_COLUMNS]:
        parts.append(ProseLine(line.number, piece, at))
        at += len(piece) + 1
    return parts[1:] if parts and not parts[0].text.strip() else parts


def _parse_header(parts: Sequence[ProseLine], names: NameIndex) -> Header:
    words = tokens(parts)
    found = tuple(named.subject for named in names.find(words))
    nouns = frozenset(scope for token in words if (scope := COUNTED.get(token.text.lower())) is not None)
    text = " ".join(part.text.strip() for part in parts)
    return Header(text, found, frozenset(phrase.meaning for phrase in phrase_matches(words)), nouns)


def _lead_in_header(block: TableBlock) -> Header:
    """The lead-in of a table: the sentence right before it, with the channel of the heading if that names none."""
    sentence = block.before[-1] if block.before and _is_adjacent(block) else None
    meanings = {phrase.meaning for phrase in sentence.phrases} if sentence else set()
    if not any(isinstance(meaning, Channel) for meaning in meanings):
        meanings |= {subject.channel for subject in block.heading if subject.channel is not None}
    text = " ".join(token.text for token in sentence.words) if sentence else ""
    return Header(text, (), frozenset(meanings), frozenset())


def _is_adjacent(block: TableBlock) -> bool:
    """Whether the last sentence before a table is within three lines of it."""
    return block.block.lines[0].number - block.before[-1].words[-1].line <= 3


def _parse_cell(
    row: int, column: int, part: ProseLine, headers: tuple[Header, Header, Header], names: NameIndex
) -> TableCell:
    words = tokens([part])
    named = list(names.find(words))
    in_names = {at for each in named for at in range(each.start, each.end)}
    figures = [
        at
        for at, word in enumerate(words)
        if word.kind in (TokenKind.QUANTITY, TokenKind.NUMBER) and at not in in_names
    ]
    last = figures[-1] if figures else len(words)
    found = tuple(each.subject for each in named if each.start <= last + MAX_SUBJECT_DISTANCE)
    cell = TableCell(
        row, column, tuple(words), found, frozenset(phrase.meaning for phrase in phrase_matches(words)), None
    )
    if any(
        word.kind is TokenKind.WORD and at not in in_names and word.text not in _FILLERS
        for at, word in enumerate(words)
    ):
        headers = (NO_HEADER, NO_HEADER, NO_HEADER)  # a number within text does not take the header's unit
    if len(figures) == 2 and any(token.kind is TokenKind.TIMES for token in words):
        return replace(
            cell, figure=_token_with_heading_unit(words[figures[1]], column, headers), factor=words[figures[0]].value
        )
    return (
        replace(cell, figure=_token_with_heading_unit(words[figures[0]], column, headers))
        if len(figures) == 1
        else cell
    )


def _token_with_heading_unit(token: Token, column: int, headers: tuple[Header, Header, Header]) -> Token:
    """A figure with its own unit, else the unit of its column header, row label or lead-in."""
    column_header, label, lead_in = headers if column else (NO_HEADER, NO_HEADER, NO_HEADER)
    unit = (
        column_header.unit
        or label.unit
        or ("" if column_header.nouns & {FigureScope.LANE, FigureScope.LINK, FigureScope.PORT} else lead_in.unit)
    )
    return token_with_unit(token, unit) if token.kind is TokenKind.NUMBER and unit else token


def sole_meaning(kind: type[_M], *headers: frozenset[Meaning]) -> _M | None:
    """The meaning of a type in the first set that has any; None if that set has several."""
    for meanings in headers:
        found = [meaning for meaning in meanings if isinstance(meaning, kind)]
        if found:
            return found[0] if len(found) == 1 else None
    return None
