"""Words that patterns require: a search by them finds what a search of every line by every pattern finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.logs.required_words import required_words
from clusterspec.logs.statement_search import line_statements, statement_patterns


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"(Too many open files)", {"Too many open files"}),
        (r"[Tt]oo many (?:open )?files", {"oo many "}),
        (r"(?:EI0009|EI0013)\)?:", {"EI00"}),
        (r"\b(?:link down|port error)\b", {"link down", "port error"}),
        (r"(?:link down|[0-9]+)", set()),  # a match without any word
        (r"(?:retry exceeded)+ of (?:peer){0,3}", {"retry exceeded"}),
        (r"(?:retry exceeded)*", set()),
        (r"(?i:link down) now", {" now"}),
        (r"(?:ab|cd)", set()),  # no word of three characters
    ],
)
def test_a_pattern_requires_its_longest_word_or_one_of_its_alternatives(pattern: str, words: set[str]) -> None:
    assert required_words(re.compile(pattern)) == words


def test_a_pattern_without_regard_to_case_requires_nothing() -> None:
    assert required_words(re.compile(r"link down", re.IGNORECASE)) == frozenset()


PATTERNS = statement_patterns()


@given(st.sampled_from(PATTERNS).flatmap(lambda each: st.tuples(st.just(each), st.from_regex(each[1]))))
def test_every_match_has_a_word_that_its_pattern_requires(drawn: tuple[tuple[str, re.Pattern[str]], str]) -> None:
    (_, pattern), text = drawn
    words = required_words(pattern)
    assert not words or any(word in text for word in words)


def test_nearly_all_patterns_require_a_word() -> None:
    assert [pattern.pattern for _, pattern in PATTERNS if not required_words(pattern)] == []


def test_lines_that_differ_by_digits_are_read_once_and_every_word_is_found_among_them() -> None:
    """Words with digits, too: 0xfab is of the same form as 0x000."""
    text = "\n".join(f"h:1:2 [{rank}] NCCL INFO comm 0x{rank:x}fab nranks 8 nNodes 2" for rank in range(8))
    assert [name for name, _, _ in line_statements(f"{text}\nEI0013: a\nEI0018: a\n")] == [
        *["group"] * 8,
        "unreachable",
    ]
