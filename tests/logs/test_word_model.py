"""Evidence of single words for causes: its formula by hand, its sources, and its share of right answers."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from clusterspec import resources
from clusterspec.analysis.cause_meanings import MEANINGS
from clusterspec.logs import word_model
from clusterspec.logs.cause_terms import words_of
from clusterspec.logs.report_sentences import reported_fault
from clusterspec.logs.word_model import AGAINST, FILE, SMOOTHED, evidence_for_causes, evidence_of_word
from clusterspec.logs.worded_causes import AHEAD, LEAST_EVIDENCE, likeliest_by_words, suspected_statements

ROWS = resources.catalog_table(FILE)


def test_the_evidence_of_a_word_is_the_logarithm_of_its_share_over_the_usual_one() -> None:
    counts = Counter({"bond": 6, "port": 4})
    assert SMOOTHED == 30
    assert word_model._evidence(counts, "bond", 0.1) == pytest.approx(math.log((6 + 3) / (10 + 30) / 0.1))
    assert word_model._evidence(counts, "nvlink", 0.4) == pytest.approx(AGAINST * math.log(12 / 40 / 0.4))


def test_each_word_counts_once_and_unknown_words_not_at_all() -> None:
    once = evidence_for_causes(["lacp bond"])
    again = evidence_for_causes(["bond and lacp", "zyzzyva lacp bond"])
    of_and = evidence_for_causes(["and"])
    assert once["bonded-ports"] > 0
    assert again["bonded-ports"] == pytest.approx(once["bonded-ports"] + of_and["bonded-ports"])
    assert set(evidence_for_causes(["zyzzyva"]).values()) == {0}


def test_reports_are_of_known_causes_and_each_is_written_once() -> None:
    assert {row["cause"] for row in ROWS} <= set(MEANINGS)
    assert len({row["report"] for row in ROWS}) == len(ROWS)
    assert [(row["cause"], row["report"]) for row in ROWS] == sorted((row["cause"], row["report"]) for row in ROWS)


def test_the_other_reports_and_the_terms_name_the_cause_of_most_reports() -> None:
    overall = word_model._overall()
    first = sum(_cause_without(row, overall) == row["cause"] for row in ROWS)
    assert first / len(ROWS) > 0.6


def _cause_without(row: dict[str, str], overall: Counter[str]) -> str:
    """The cause that the words of a report speak for most, if the report itself does not count."""
    words = set(words_of(row["report"]))
    number = overall.total() - len(words)
    scores = {}
    for cause, counts in word_model._counts().items():
        own = Counter(words) if cause == row["cause"] else Counter[str]()
        left = counts - own
        known = [word for word in words if overall[word] > 1]
        scores[cause] = sum(word_model._evidence(left, word, (overall[word] - 1) / number) for word in known)
    return max(scores, key=scores.__getitem__)


def test_a_cause_is_named_by_single_words_only_far_ahead_of_the_next_one() -> None:
    sentences = [(3, "The bond of our two ports is LACP, and one connection gets the rate of one port.")]
    found = likeliest_by_words(sentences)
    best, second = sorted(evidence_for_causes(line for _, line in sentences).values(), reverse=True)[:2]
    assert best >= LEAST_EVIDENCE and best >= AHEAD * second
    assert found is not None and found.cause == "bonded-ports" and {each.line for each in found.terms} == {3}
    assert all(evidence_of_word(each.term.text)["bonded-ports"] > 0 for each in found.terms)
    assert likeliest_by_words([(1, "It is what it is.")]) is None


@pytest.mark.parametrize(
    ("person", "document"),
    [
        ("On our second node the module does not load.", "The module does not load on nodes without a GPU."),
        ("We see that the daemon refuses all jobs.", "The daemon refuses jobs above the limit of a user."),
        ("My pods wait and wait for a third worker.", "A rank waits for all others in a barrier."),
    ],
)
def test_subtle_words_report_a_fault_only_of_a_person(person: str, document: str) -> None:
    assert reported_fault(person) is not None and reported_fault(document) is None


def test_no_single_word_counts_in_a_text_of_nobody() -> None:
    text = "It fails: the bond of two ports is LACP, and one connection gets the rate of one port."
    assert "suspected bonded-ports" not in [name for name, _, _ in suspected_statements("A bond fails over in LACP.")]
    assert likeliest_by_words([(1, text)]) is not None
