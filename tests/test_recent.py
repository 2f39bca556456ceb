"""Recent results of functions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from clusterspec.standard import Recent, cached_property, recent
from tests.effort import thorough


def test_equal_arguments_are_computed_once() -> None:
    calls: list[object] = []

    @recent(2)
    def size(names: dict[str, int]) -> int:
        calls.append(names)
        return len(names)

    assert [size({"a": 1}), size({"a": 1}), size({"b": 1, "c": 1})] == [1, 1, 2]
    assert calls == [{"a": 1}, {"b": 1, "c": 1}]


class Counted:
    """What counts how often it is compared with another object."""

    compared = 0

    def __init__(self, value: int) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return isinstance(other, Counted) and other.value == self.value

    def __hash__(self) -> int:
        return self.value


def test_an_equal_object_is_compared_once_and_keeps_its_place_and_result() -> None:
    calls: list[int] = []

    @recent(2)
    def number(given: Counted) -> list[int]:
        calls.append(given.value)
        return [given.value]

    first, equal, other = Counted(1), Counted(1), Counted(2)
    made = number(first)
    assert number(other) == [2]
    before = Counted.compared
    assert number(equal) is made
    asked = Counted.compared - before
    assert [number(equal) is made for _ in range(5)] == [True] * 5
    assert Counted.compared - before == asked + 5, "only the later one, which differs, is compared again"
    assert number(Counted(3)) == [3]
    number(first)
    assert calls == [1, 2, 3, 1], "the oldest is dropped first, whatever was asked last"


def test_the_oldest_result_is_dropped() -> None:
    calls: list[int] = []

    @recent(2)
    def same(value: int) -> int:
        calls.append(value)
        return value

    assert [same(value) for value in (1, 2, 1, 3, 2, 1)] == [1, 2, 1, 3, 2, 1]
    assert calls == [1, 2, 3, 1]


def test_named_arguments_tell_calls_apart() -> None:
    @recent(4)
    def scaled(value: int, times: int = 2) -> int:
        return value * times

    assert [scaled(3), scaled(3, times=5), scaled(3, 7), scaled(3)] == [6, 15, 21, 6]


def test_an_exception_is_not_kept() -> None:
    faults = [ValueError("once")]

    @recent(2)
    def fragile() -> str:
        if faults:
            raise faults.pop()
        return "done"

    with pytest.raises(ValueError, match="once"):
        fragile()
    assert fragile() == "done"


def test_the_latest_values_come_first() -> None:
    known: Recent[int] = Recent(3)
    for value in (1, 2, 3, 4):
        assert known.keep(value) == value
    assert list(known) == [4, 3, 2]


def test_threads_share_a_cache_without_a_wrong_result() -> None:
    """Each thread asks for other values, in a cache that drops values all the time."""

    @recent(4)
    def square(value: list[int]) -> int:
        return value[0] ** 2

    def squares(first: int) -> list[int]:
        return [square([number % 7]) for number in range(first, first + 2000)]

    with ThreadPoolExecutor(4) as pool:
        for first, found in zip(range(8), pool.map(squares, range(8)), strict=True):
            assert found == [(number % 7) ** 2 for number in range(first, first + 2000)]


@thorough
def test_designs_estimated_in_threads_have_the_figures_of_one() -> None:
    from clusterspec.studies import study_text
    from tests.cli.conftest import BASE
    from tests.settings import SETTINGS

    texts = [BASE.replace("nodes: 4", f"nodes: {nodes}") for nodes in (1, 2, 4, 8, 16)] * 4

    def seconds(text: str) -> float | None:
        step = study_text(text, SETTINGS).plan.step_time
        return step.value if step is not None else None

    expected = [seconds(text) for text in texts]
    assert None not in expected
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(seconds, texts)) == expected


class Squared:
    """A number whose square is computed on first access."""

    def __init__(self, number: int) -> None:
        self.number, self.computed = number, 0

    @cached_property
    def square(self) -> int:
        """The square."""
        self.computed += 1
        return self.number**2


def test_a_property_is_computed_once_for_each_object() -> None:
    one, other = Squared(3), Squared(4)
    assert [one.square, one.square, other.square] == [9, 9, 16]
    assert (one.computed, other.computed, vars(one)["square"]) == (1, 1, 9)
    assert Squared.square.__doc__ == "The square."
