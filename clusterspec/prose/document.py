"""A parsed text: its sentences and tables, and the catalog parts it names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from clusterspec.catalog import Catalog
from clusterspec.prose.blocks import BlockKind, ProseLine, TextBlock, blocks
from clusterspec.prose.known_figures import KnownFigures
from clusterspec.prose.sentence import Sentence, split
from clusterspec.prose.subjects import UNKNOWN, NameIndex, Subject
from clusterspec.prose.tokenize import tokens
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
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
        for block in blocks(text):
            self.lines += block.lines
            if block.kind is BlockKind.TABLE:
                self.tables.append(TableBlock(block, lead, heading))
                continue
            sentences = self._sentences(block, heading, lead)
            if block.kind is BlockKind.HEADING:
                heading, lead = _subjects(sentences), ()
            elif block.kind is BlockKind.PROSE:
                lead = sentences
            self.sentences += sentences

    def _sentences(
        self, block: TextBlock, heading: tuple[Subject, ...], lead: Sequence[Sentence]
    ) -> tuple[Sentence, ...]:
        """The sentences of a block, each with the subjects named before it."""
        sentences: list[Sentence] = []
        before = heading
        if block.kind is BlockKind.ITEM and lead and lead[-1].words[-1].text == ":":
            before = _subjects(lead[-1:]) or heading
        for sentence in split(tokens(block.lines), block.kind, self.names):
            sentence.before = before
            before = tuple(named.subject for named in sentence.named) or before
            sentences.append(sentence)
        return tuple(sentences)

    @cached_property
    def families(self) -> dict[str, tuple[str, ...]]:
        """The interconnect entries that the text names, by family; else those of the accelerators it names."""
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

    def with_generation(self, subject: Subject, near: Sequence[Subject]) -> Subject:
        """A subject with the generation implied by nearby subjects, else by the whole text, else unchanged."""
        if subject.ids or subject.family in ("ethernet", UNKNOWN):
            return subject
        same = [id_ for other in near for id_ in self._entries(other, subject.family)]
        ids = tuple(dict.fromkeys(same)) or self.families.get(subject.family, ())
        return _with(subject, ids)

    def _entries(self, other: Subject, family: str) -> tuple[str, ...]:
        """The entries of a family that another subject implies: its own, or an accelerator's interconnect."""
        if other.family == family:
            return other.ids
        if other.kind in ("accelerator", "platform"):
            return tuple(id_ for id_ in self.known.interconnects(other)[:1] if id_.partition("-")[0] == family)
        return ()


def _with(subject: Subject, ids: tuple[str, ...]) -> Subject:
    return Subject(subject.name, subject.family, subject.kind, subject.channel, ids, subject.label, subject.lanes, True)


def _subjects(sentences: Sequence[Sentence]) -> tuple[Subject, ...]:
    return tuple(named.subject for sentence in sentences for named in sentence.named)
