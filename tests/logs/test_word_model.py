"""Evidence of single words for causes: its formula by hand, its sources, and its share of right answers."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from clusterspec import resources
from clusterspec.analysis.diagnosis.cause_meanings import MEANINGS
from clusterspec.logs.reports import word_model
from clusterspec.logs.reports.cause_terms import words_of
from clusterspec.logs.reports.report_sentences import reported_fault
from clusterspec.logs.reports.word_model import FILE, LEAST_RARITY, evidence_for_causes, evidence_of_word
from clusterspec.logs.reports.worded_causes import (
    BACKGROUND,
    LEAST,
    PER_EVIDENCE,
    likeliest_causes,
    suspected_statements,
)
from tests.effort import thorough

ROWS = resources.catalog_table(FILE)


def test_the_evidence_of_a_word_is_its_weight_by_the_root_of_its_rarity_and_of_the_length() -> None:
    # weights (1 + ln 1) 4 = 4 and (1 + ln 1) 3 = 3, so the length is 5; 4 x sqrt(4) / sqrt(5) and 3 x sqrt(3) / sqrt(5)
    vector = word_model._vector({"bond": 1, "port": 1}, {"bond": 4.0, "port": 3.0})
    assert vector == pytest.approx({"bond": 8 / math.sqrt(5), "port": 3 * math.sqrt(3) / math.sqrt(5)})
    # a word of two terms weighs 1 + ln 2 times as much, and is the whole vector: x / sqrt(x) = sqrt(x)
    assert word_model._vector({"bond": 2}, {"bond": 1.0})["bond"] == pytest.approx(math.sqrt(1 + math.log(2)))


def test_a_word_is_as_rare_as_few_causes_have_it() -> None:
    having = sum("lacp" in counts for counts in word_model._counts().values())
    assert having >= 1
    rarity = math.log(len(word_model._counts()) / having) + LEAST_RARITY
    assert word_model._rarities()["lacp"] == pytest.approx(rarity)
    assert word_model._rarities()["lacp"] > word_model._rarities()["node"]


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


@thorough
def test_the_other_reports_and_the_terms_name_the_cause_of_most_reports() -> None:
    first = sum(_cause_without(row) == row["cause"] for row in ROWS)
    assert first / len(ROWS) > 0.7


def _cause_without(row: dict[str, str]) -> str:
    """The cause that the words of a report speak for most, if the report itself does not count."""
    words = set(words_of(row["report"]))
    rarities = word_model._rarities()
    own = Counter(word_model._counts()[row["cause"]]) - Counter(words)
    vectors = {**word_model._vectors(), row["cause"]: word_model._vector(own, rarities)}
    scores = {cause: sum(vector.get(word, 0.0) for word in words) for cause, vector in vectors.items()}
    return max(scores, key=scores.__getitem__)


def test_single_words_name_a_cause_above_what_any_report_has_of_it() -> None:
    sentences = [(3, "The bond of our two ports is LACP, and one connection gets the rate of one port.")]
    first, *others = likeliest_causes("", sentences)
    best = max(evidence_for_causes(line for _, line in sentences).values())
    assert first.cause == "bonded-ports" and {each.line for each in first.terms} == {3}
    assert first.score == pytest.approx(PER_EVIDENCE * best - BACKGROUND, abs=1e-3) and first.score >= LEAST
    assert all(each.score <= first.score for each in others)
    assert all(evidence_of_word(each.term.text)["bonded-ports"] > 0 for each in first.terms)
    assert likeliest_causes("", [(1, "It is what it is.")]) == []


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
    assert likeliest_causes("", [(1, text)])
