"""Words that patterns require: a search by them finds what a search of every line by every pattern finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.logs.statements.required_words import first_match, required_words
from clusterspec.logs.statements.statement_search import line_statements, required_words_in, statement_patterns
from clusterspec.logs.text_lines import with_digits_as_zero


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


WORDS = sorted({word for _, pattern in PATTERNS for word in required_words(pattern)})
PARTS = st.tuples(st.sampled_from(WORDS), st.integers(0, 3), st.integers(0, 3), st.sampled_from(["", " ", "\n", "x"]))


@given(st.lists(PARTS, max_size=12))
def test_words_found_by_their_triples_are_those_that_a_text_holds(drawn: list[tuple[str, int, int, str]]) -> None:
    """Words whole or without their first or last characters, which share triples with the whole ones."""
    forms = with_digits_as_zero("".join(f"{word[start : len(word) - end]}{by}" for word, start, end, by in drawn))
    found = required_words_in(forms)
    assert found.issuperset(word for word in WORDS if with_digits_as_zero(word) in forms)
    assert all(with_digits_as_zero(word) in forms for word in found)


def test_a_word_of_which_a_text_holds_all_triples_apart_is_not_found() -> None:
    for word in WORDS:
        form = with_digits_as_zero(word)
        apart = "|".join(form[start : start + 3] for start in range(len(form) - 2))
        assert word in required_words_in(f"a {form} b") and word in required_words_in(form)
        assert len(form) == 3 or word not in required_words_in(apart)
    assert required_words_in("") == required_words_in("xy") == set()


@pytest.mark.parametrize("text", ["", "run one", "run two\nrun one", "stop", "a run", "RUN ONE", "#!/bin/sh\nrun one"])
@pytest.mark.parametrize("pattern", [r"^run (?:one|two)", r"(?i)run one", r"\A#!", r"o|stop", r"run.{0,9}\none"])
def test_a_first_match_is_that_of_a_search(pattern: str, text: str) -> None:
    compiled = re.compile(pattern, re.MULTILINE)
    found, searched = first_match(compiled, text), compiled.search(text)
    assert (found and found.span()) == (searched and searched.span())
