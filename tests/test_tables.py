"""A table of rows is one test that tries, names and skips each row as a test of its own would be."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest

from tests.effort import each
from tests.tables import MOST_FAULTS, is_free_row, try_rows, with_tables_as_tests


def rows_to(last: int) -> list[tuple[object, dict[str, Any]]]:
    return [(f"row {number}", {"number": number}) for number in range(last)]


def test_every_row_is_tried_and_a_failure_names_each_that_failed() -> None:
    tried = []

    def test(number: int) -> None:
        tried.append(number)
        assert number % 2 == 0

    with pytest.raises(AssertionError) as failure:
        try_rows(test, rows_to(6), {})
    assert tried == [0, 1, 2, 3, 4, 5]
    notes = failure.value.__notes__
    assert notes[0] == "the row: row 1"
    assert [note.rpartition(": ")[2] for note in notes[1:]] == ["row 3", "row 5"]


def test_rows_after_many_failed_ones_are_not_tried() -> None:
    tried = []

    def test(number: int) -> None:
        tried.append(number)
        pytest.fail("as every row does")

    with pytest.raises(pytest.fail.Exception):
        try_rows(test, rows_to(2 * MOST_FAULTS), {})
    assert len(tried) == MOST_FAULTS


def test_a_skipped_row_is_told_once_the_others_are_tried_and_hides_no_failure() -> None:
    tried = []

    def test(number: int, last: int) -> None:
        tried.append(number)
        if number == 0:
            pytest.skip("the first")
        assert number < last

    with pytest.raises(pytest.skip.Exception, match="the first"):
        try_rows(test, rows_to(3), {"last": 3})
    assert tried == [0, 1, 2]
    with pytest.raises(AssertionError):
        try_rows(test, rows_to(3), {"last": 2})


def test_an_interrupt_ends_the_table() -> None:
    tried = []

    def test(number: int) -> None:
        tried.append(number)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        try_rows(test, rows_to(3), {})
    assert tried == [0]


def test_a_table_written_as_one_test_takes_the_fixtures_that_its_rows_share() -> None:
    tried = []

    @each("number, name", [(1, "one"), (2, "two")])
    def test(number: int, name: str, shared: str) -> None:
        tried.append((number, name, shared))

    test(shared="kept")
    assert tried == [(1, "one", "kept"), (2, "two", "kept")]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_numbers_below_four(number: int) -> None:
    assert number < 4


@pytest.mark.parametrize("number", [1, 2])
def test_rows_with_a_folder_of_their_own(number: int, tmp_path: object) -> None:
    assert tmp_path


@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.filterwarnings("default"))])
def test_rows_of_which_one_has_a_mark(number: int) -> None:
    assert number


def test_rows_without_state_are_one_test_and_others_stay_tests_of_their_own(request: pytest.FixtureRequest) -> None:
    """Of all tests that are collected in this run, those of this file among them."""
    names = [item.name for item in request.session.items if item.path == request.path]
    if len(names) < 9:
        pytest.skip("some tests of this file are not selected")
    assert "test_numbers_below_four" in names
    assert [name for name in names if "folder" in name] == [
        f"test_rows_with_a_folder_of_their_own[{n}]" for n in (1, 2)
    ]
    assert [name for name in names if "mark" in name] == [f"test_rows_of_which_one_has_a_mark[{n}]" for n in (1, "2")]
    free = [item for item in request.session.items if isinstance(item, pytest.Function) and is_free_row(item)]
    assert all(len(list(rows)) == 1 for _, rows in groupby(free, lambda item: (item.parent, item.function)))
    assert with_tables_as_tests(request.session.items) == request.session.items
