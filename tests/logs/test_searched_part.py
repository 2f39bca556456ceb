"""How much of a long log is searched, with limits of a few characters: worked out line by line."""

from __future__ import annotations

import pytest

from clusterspec.logs import text_lines
from clusterspec.logs.text_lines import lines_of, searched_part, shown_line, shown_part
from tests.effort import each


@pytest.fixture
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten characters at each end, and between them 12 that differ, eight that repeat, and 14 of errors."""
    for name, most in (("AT_EACH_END", 10), ("MOST_DIFFERENT", 12), ("MOST_ALIKE", 8), ("MOST_OF_ERRORS", 14)):
        monkeypatch.setattr(text_lines, name, most)


HEAD, TAIL = "begin 0123\n", "\nlast 45678"


@pytest.mark.usefixtures("short_limits")
def test_a_log_is_searched_at_its_ends_and_in_the_lines_between_that_differ() -> None:
    cases = [
        # up to 10 + 10 + 12 characters, all of it
        ("x" * 32, "x" * 32, 0),
        # two lines of seven and six characters begin within the limit of 12, and the next does not
        ("uvwxyz1\nuvwxyz\nopqrst\nuuuuuu", "uvwxyz1\nuvwxyz\n\n", 2),
        # the same but for digits is alike: seven of the eight characters that may repeat
        ("uvwxyz1\nuvwxyz2\nuvwxyz3\nuvwxyz4", "uvwxyz1\nuvwxyz2\n\n", 0),
        # behind the limit those with a word of an error, 14 characters of them; others are counted
        ("uvwxyz1\nuvwxyz\nfailed s\nfailed\nopq\nkilled u", "uvwxyz1\nuvwxyz\nfailed s\nfailed\n\n", 2),
        ("uvwxyz1\nuvwxyz\n\nopq\nfailed s\nkilled\nopq", "uvwxyz1\nuvwxyz\n\n\nfailed s\nkilled\n", 2),
    ]
    for between, kept, left_out in cases:
        text = between if between == kept else f"{HEAD}{between}{TAIL}"
        found, missed = searched_part(text)
        assert (found, missed) == (kept if between == kept else f"{HEAD}{kept}{TAIL}", left_out), between
        assert found.count("\n") == text.count("\n"), "lines keep their numbers"


@pytest.mark.usefixtures("short_limits")
def test_a_long_line_at_an_end_is_searched_whole() -> None:
    assert searched_part("y" * 33) == ("y" * 33, 0)
    assert searched_part(f"{'y' * 20}\nopqrst\n{'z' * 20}") == (f"{'y' * 20}\nopqrst\n{'z' * 20}", 0)


@each(
    "line, shown",
    [
        ("a" * 160, "a" * 160),
        ("a" * 161, "a" * 160 + "…"),
        ("a" * 159 + "  b", "a" * 159 + "…"),
    ],
)
def test_a_shown_line_is_cut_behind_160_characters(line: str, shown: str) -> None:
    assert shown_line(line) == shown


def test_a_shown_part_has_a_sign_at_an_end_within_a_word() -> None:
    line = "ab cd ef"
    assert [shown_part(line, *ends) for ends in ((0, 2), (0, 1), (1, 2), (3, 5), (3, 4), (2, 6), (4, 8))] == [
        "ab",
        "a…",
        "…b",
        "cd",
        "c…",
        "cd",
        "…d ef",
    ]


def test_lines_are_listed_in_parts_without_a_line_feed_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_lines, "AT_ONCE", 3)
    for text in ("", "\n", "ab", "ab\n", "ab\ncd", "abcdef\ng\n\nhi\n", "a\nb\nc\nd\ne", "\n\n\n\n\n"):
        assert [*lines_of(text)] == text.split("\n"), text
