"""Facts of documentation that texts are compared with: the table `documented-facts.csv` of the catalog.

A row has a claim that the documentation refutes, as words that occur in one sentence. It has no numbers: a separate
rule judges statements that keys or arithmetic can decide.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from clusterspec import resources
from clusterspec.records import NamedTuple

FILE = "documented-facts.csv"
WORDS = "words-of-claims.csv"
"""The table of word lists that claims name in braces, such as `{guarantees}`, for words that many claims have in
common.
"""
EVERYWHERE = "@"
"""The mark of a group of words that may be anywhere in the text, not only in the sentence of the claim."""


class DocumentedFact(NamedTuple):
    """A claim, and the fact that refutes it.

    ``claim`` is groups of words, joined by ` & `. One word of each group stands in the sentence, or anywhere in the
    text for a group that begins with `EVERYWHERE`. The words of a group are divided by `|`; an asterisk stands for the
    rest of a word, `{guarantees}` for the words of that name in the table `WORDS`. ``negated`` is `yes` for a claim
    that something is not so, `either` where the words alone make the claim; a negation inside a word of the claim, such
    as `without draining`, denies nothing. ``unless`` has words with which the
    sentence says something else. ``where`` has conditions of the design, such as `vendor=nvidia|amd kind=serve`.
    ``fact`` is what the documentation at ``source`` says, ``severity`` the severity of the finding.
    """

    id: str
    severity: str
    claim: str
    negated: str
    unless: str
    where: str
    fact: str
    source: str

    @property
    def groups(self) -> list[str]:
        """The groups of words that occur in one sentence."""
        return [group for group in self.claim.split(" & ") if not group.startswith(EVERYWHERE)]

    @property
    def elsewhere(self) -> list[str]:
        """The groups of words that may occur anywhere in the text."""
        return [group[len(EVERYWHERE) :] for group in self.claim.split(" & ") if group.startswith(EVERYWHERE)]

    @property
    def conditions(self) -> list[tuple[str, list[str]]]:
        """The properties of a design and the values that they may have."""
        pairs = (condition.partition("=") for condition in self.where.split())
        return [(key, values.split("|")) for key, _, values in pairs]


@cache
def documented_facts() -> tuple[DocumentedFact, ...]:
    """All rows of the table, with the words of named lists in place of their names."""
    lists = {f"{{{row['name']}}}": row["words"] for row in resources.catalog_table(WORDS)}
    return tuple(
        DocumentedFact(**row | {column: _with_words(row[column], lists) for column in ("claim", "unless")})
        for row in resources.catalog_table(FILE)
    )


def _with_words(groups: str, lists: dict[str, str]) -> str:
    for name, words in lists.items() if "{" in groups else ():
        groups = groups.replace(name, words)
    return groups


def fact_reduced_to_text(fact: DocumentedFact, folded: str) -> DocumentedFact | None:
    """A fact reduced to the words whose letters occur in a lower-case text; None if a group has no such word.

    A pattern of a few words compiles in a tenth of the time of a pattern of all words of a group.
    """
    groups = []
    for group in fact.claim.split(" & "):
        mark = EVERYWHERE if group.startswith(EVERYWHERE) else ""
        words = _words_within(group[len(mark) :], folded)
        if not words:
            return None
        groups.append(mark + words)
    return fact._replace(claim=" & ".join(groups), unless=_words_within(fact.unless, folded))


def _words_within(group: str, folded: str) -> str:
    return "|".join([word for word in group.split("|") if word.rstrip("*") in folded])


@lru_cache(512)
def pattern_of_words(group: str) -> re.Pattern[str]:
    """A pattern for one word of a group in a lower-case text. A number matches only as a whole: `5 m` does not match in
    `2.5 m`.
    """
    words = "|".join(re.escape(word.rstrip("*")) + _end_of(word) for word in group.split("|"))
    return re.compile(rf"(?<!\w)(?<!\d[.,])(?:{words})(?!\w)")


def _end_of(word: str) -> str:
    """The pattern for what may follow a word: any letters if it ends with an asterisk, no decimals if it ends with a
    digit.
    """
    return r"\w*" if word.endswith("*") else r"(?![.,]\d)" if word[-1].isdigit() else ""
