"""Checks of running text: its quantities are compared with the catalog and with each other.

text → blocks → tokens → sentences and tables → claims → likely errors → problems

Every step is linear in the length of the text. An unusual figure alone is not reported: a problem needs a figure that
is wrong under every interpretation its words allow, and a known error that explains it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from clusterspec.catalog import Catalog
from clusterspec.finding import Problem
from clusterspec.prose import (
    arithmetic,
    blocks,
    catalog_comparison,
    claims,
    collectives,
    counts,
    document,
    table_claims,
    tier_comparison,
)
from clusterspec.prose import collectives as bisections
from clusterspec.prose import counts as machine_counts
from clusterspec.prose import table_claims as table_consistency
from clusterspec.prose.document import ProseText
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.tokenize import TextProblem
from clusterspec.source import Source

__all__ = ["text_problems"]


def text_problems(source: Source, catalog: Catalog, today: date | None = None) -> list[Problem]:
    """The problems with the quantities of a text, in order of position, each with its span.

    A figure has at most one problem. Waivers with an `until` date expire on ``today``; without it none expires.
    """
    text = ProseText(source.text, catalog)
    first: dict[tuple[int, int], TextProblem] = {}
    for problem in (*_sentence_problems(text), *_table_problems(text), *_text_problems(text)):
        first.setdefault((problem.start.line, problem.start.column), problem)
    problems = [first[place].problem(source.name) for place in sorted(first)]
    return list(blocks.unwaived_problems(problems, source.text, source.name, today))


def _sentence_problems(text: ProseText) -> Iterator[TextProblem]:
    for sentence in text.sentences:
        if sentence.counts or any(token.value for token in sentence.words):
            for claim in claims.sentence_claims(sentence, text):
                yield from catalog_comparison.claim_problems(claim, text.known)
            yield from _consistency_problems(sentence, text)


def _consistency_problems(sentence: Sentence, text: ProseText) -> Iterator[TextProblem]:
    yield from arithmetic.arithmetic_mismatches(sentence)
    yield from tier_comparison.wrong_ratios(sentence, text)
    yield from bisections.wrong_bisections(sentence, text)
    yield from collectives.wrong_volumes(sentence)
    yield from collectives.wrong_times(sentence, text)
    yield from counts.wrong_counts(sentence, text)
    yield from machine_counts.miscounted_machines(sentence, text)


def _table_problems(text: ProseText) -> Iterator[TextProblem]:
    for block in text.tables:
        table = document.parse_table(block, text.names)
        for _, claim in table_claims.claims_of_table(table, text):
            yield from catalog_comparison.claim_problems(claim, text.known)
        yield from table_consistency.inconsistent_cells(table)
        yield from table_claims.mixed_direction_problems(table, text)


def _text_problems(text: ProseText) -> Iterator[TextProblem]:
    yield from tier_comparison.figures_of_unlike_directions(text)
    yield from collectives.unnamed_metrics(text)
    for line in text.lines:
        yield from counts.ambiguous_rates(line)
    for one, other in zip(text.sentences[:1] + text.sentences, text.sentences, strict=False):
        yield from counts.misnamed_units(one, other)
