"""Slips in running text: the quantities of a document held against the catalog and against each other.

text → blocks → tokens → sentences and tables → claims → slips → problems

Everything is a closed reader, linear in the length of the text. A claim that is merely unusual stays silent: a finding
needs a figure that is wrong in every reading which its words allow, and a slip that explains it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from clusterspec.catalog import Catalog
from clusterspec.finding import Problem
from clusterspec.prose import (
    arithmetic,
    bisections,
    claims,
    collectives,
    counts,
    figures,
    laws,
    rows,
    tables,
    tiers,
    waived,
)
from clusterspec.prose.document import ProseText
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.told import Told
from clusterspec.source import Source

__all__ = ["judge"]


def judge(source: Source, catalog: Catalog, today: date | None = None) -> list[Problem]:
    """What is wrong with the quantities of a text, in order of place; every problem has a span.

    One wrong figure is one problem. ``today`` ends waivers that say `until`; without it none has ended.
    """
    text = ProseText(source.text, catalog)
    first: dict[tuple[int, int], Told] = {}
    for told in (*_of_sentences(text), *_of_tables(text), *_of_text(text)):
        first.setdefault((told.start.line, told.start.column), told)
    problems = [first[place].problem(source.name) for place in sorted(first)]
    return list(waived.apply(problems, source.text, source.name, today))


def _of_sentences(text: ProseText) -> Iterator[Told]:
    for sentence in text.sentences:
        if any(token.value for token in sentence.words):
            for claim in claims.claims(sentence, text):
                yield from figures.judge(claim, text.known)
            yield from _of_sentence(sentence, text)


def _of_sentence(sentence: Sentence, text: ProseText) -> Iterator[Told]:
    yield from arithmetic.mismatches(sentence)
    yield from tiers.ratios(sentence, text)
    yield from bisections.bisections(sentence, text)
    yield from collectives.volumes(sentence)
    yield from collectives.times(sentence, text)
    yield from counts.miscounted(sentence, text)


def _of_tables(text: ProseText) -> Iterator[Told]:
    for written in text.tables:
        table = tables.table(written, text.names)
        for _, claim in rows.claims(table, text):
            yield from figures.judge(claim, text.known)
        yield from laws.broken(table)
        yield from rows.mixed(table, text)


def _of_text(text: ProseText) -> Iterator[Told]:
    yield from tiers.side_by_side(text)
    yield from collectives.metrics(text)
    for line in text.lines:
        yield from counts.misspelt(line)
    for one, other in zip(text.sentences[:1] + text.sentences, text.sentences, strict=False):
        yield from counts.named_units(one, other)
