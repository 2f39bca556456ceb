"""A table of rows is one test that tries, names and skips each row as a test of its own would be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.effort import ALL_CASES, each, telling
from tests.tables import MOST_FAULTS, table_as_test, try_rows


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


def test_two_telling_rows_of_five_are_the_first_and_the_third() -> None:
    tried = []

    @telling(2)
    @each("number", range(5))
    def test(number: int) -> None:
        tried.append(number)

    test()
    assert tried == ([0, 1, 2, 3, 4] if ALL_CASES else [0, 2])


def test_one_telling_row_of_each_parametrization_is_left() -> None:
    @telling(1)
    @pytest.mark.parametrize("letter", "ab")
    @pytest.mark.parametrize(("number", "name"), [(1, "one"), (2, "two")])
    def rows(number: int, name: str, letter: str) -> None: ...

    left = {mark.args[0]: list(mark.args[1]) for mark in rows.pytestmark}  # type: ignore[attr-defined]
    all_rows = {("number", "name"): [(1, "one"), (2, "two")], "letter": ["a", "b"]}
    assert left == (all_rows if ALL_CASES else {("number", "name"): [(1, "one")], "letter": ["a"]})


@pytest.mark.parametrize("number", [1, 2, 3])
def test_numbers_below_four(number: int) -> None:
    assert number < 4


@pytest.mark.parametrize("number", [1, 2])
def test_rows_with_a_folder_of_their_own(number: int, tmp_path: object) -> None:
    assert tmp_path


@pytest.mark.parametrize("number", [1, pytest.param(2, marks=pytest.mark.filterwarnings("default"))])
def test_rows_of_which_one_has_a_mark(number: int) -> None:
    assert number


@pytest.mark.parametrize("letter", dict.fromkeys("ab").keys(), ids=str.upper)
@pytest.mark.parametrize(("number", "name"), [(1, "one"), pytest.param(2, "two", id="second")])
def test_rows_of_two_tables(number: int, name: str, letter: str) -> None:
    assert (number, name, letter) in product_of_both()


def product_of_both() -> list[tuple[int, str, str]]:
    return [(number, name, letter) for number, name in ((1, "one"), (2, "two")) for letter in "ab"]


def test_a_table_has_each_row_of_the_product_of_its_parametrizations(request: pytest.FixtureRequest) -> None:
    tried: list[tuple[int, str, str]] = []

    def test_rows(number: int, name: str, letter: str) -> None:
        tried.append((number, name, letter))

    test_rows.pytestmark = test_rows_of_two_tables.pytestmark  # type: ignore[attr-defined]
    module = request.node.getparent(pytest.Module)
    whole = table_as_test(module, "test_rows", test_rows)
    if whole is None:
        pytest.skip("rows are selected by name")
    whole.obj()
    assert tried == product_of_both()


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
