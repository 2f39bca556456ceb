"""How much the words of sentences speak for each cause: those of its terms and of example reports, by their rarity.

Terms (`cause_terms`) need all of their words in a clause; people often use some of them, in another order or sentence.
A word that few causes have speaks more for each of them. The sum is divided by the root of the length of the vector of
the cause, so that a cause with many example reports is not ahead for their number (Salton and Buckley, 1988, "Term-
weighting approaches in automatic text retrieval", with the inverse frequency among causes instead of documents).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from clusterspec import resources
from clusterspec.logs.reports.cause_terms import terms, words_of

FILE = "cause-reports.csv"
LEAST_RARITY = 0.1
"""What is added to the rarity of a word, so that one that all causes have still counts."""
OF_QUERY = 0.5
"""The power of the rarity of a word of the sentences: lower than 1, so that one rare word does not decide."""
OF_LENGTH = 0.5
"""The power of the length of the vector of a cause by which its evidence is divided."""


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
def _rarities() -> Mapping[str, float]:
    """The rarity of each word: the logarithm of the number of causes divided by that of causes that have it."""
    having = Counter(word for counts in _counts().values() for word in counts)
    return {word: math.log(len(_counts()) / number) + LEAST_RARITY for word, number in having.items()}


@cache
def _vectors() -> Mapping[str, Mapping[str, float]]:
    """The evidence of each word for each cause that has it."""
    return {cause: _vector(counts, _rarities()) for cause, counts in _counts().items()}


def _vector(counts: Mapping[str, int], rarities: Mapping[str, float]) -> dict[str, float]:
    """The evidence of each word for a cause with these words, by the words' rarities."""
    weights = {word: (1 + math.log(number)) * rarities[word] for word, number in counts.items()}
    length = math.sqrt(sum(weight**2 for weight in weights.values()))
    return {word: weight * rarities[word] ** OF_QUERY / length**OF_LENGTH for word, weight in weights.items()}


@cache
def evidence_of_word(word: str) -> Mapping[str, float]:
    """The evidence of a word for each cause that has it; empty for an unknown word."""
    return {cause: vector[word] for cause, vector in _vectors().items() if word in vector}


def evidence_for_causes(sentences: Iterable[str]) -> dict[str, float]:
    """The evidence of the words of some sentences for each cause, each word counted once."""
    found = dict.fromkeys(_counts(), 0.0)
    for word in sorted({word for each in sentences for word in words_of(each)}):
        for cause, evidence in evidence_of_word(word).items():
            found[cause] += evidence
    return found
