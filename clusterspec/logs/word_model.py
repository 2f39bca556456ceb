"""How much the words of sentences speak for each cause: the words of its terms and of example reports against those of
all causes.

Terms (`cause_terms`) need all of their words in a clause; people often use some of them, in another order or sentence.
The evidence of a word for a cause is the logarithm of its share among the words of the cause over its share among those
of all causes, smoothed for few words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from clusterspec import resources
from clusterspec.logs.cause_terms import terms, words_of

FILE = "cause-reports.csv"
SMOOTHED = 30.0
"""Words of all causes that are counted with those of each cause, in their usual shares."""
AGAINST = 0.1
"""The share of the evidence of a word against a cause: the absence of a word in short examples says little."""


@cache
def _counts() -> Mapping[str, Counter[str]]:
    """The words of each cause, each counted once for each term and each example report that has it."""
    found: dict[str, Counter[str]] = {}
    for term in terms():
        found.setdefault(term.cause, Counter()).update(term.words)
    for row in resources.catalog_table(FILE):
        found.setdefault(row["cause"], Counter()).update(set(words_of(row["report"])))
    return found


@cache
def _overall() -> Counter[str]:
    """The words of all causes together."""
    found = Counter[str]()
    for each in _counts().values():
        found.update(each)
    return found


@cache
def evidence_of_word(word: str) -> Mapping[str, float]:
    """The evidence of a word for each cause, positive for and negative against it; empty for an unknown word."""
    usual = _overall()[word] / _overall().total()
    return {cause: _evidence(counts, word, usual) for cause, counts in _counts().items()} if usual else {}


def _evidence(counts: Counter[str], word: str, usual: float) -> float:
    """The evidence of a word for a cause with some words; ``usual`` is the share of the word among all words."""
    share = (counts[word] + SMOOTHED * usual) / (counts.total() + SMOOTHED)
    found = math.log(share / usual)
    return found if found > 0 else AGAINST * found


def evidence_for_causes(sentences: Iterable[str]) -> dict[str, float]:
    """The evidence of the words of some sentences for each cause, each word counted once."""
    words = {word for each in sentences for word in words_of(each)}
    known = [found for word in sorted(words) if (found := evidence_of_word(word))]
    return {cause: sum(each[cause] for each in known) for cause in _counts()}
