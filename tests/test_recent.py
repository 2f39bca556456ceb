"""Recent results of functions."""

from __future__ import annotations

import pytest

from clusterspec.recent import recent


def test_equal_arguments_are_computed_once() -> None:
    calls: list[object] = []

    @recent(2)
    def size(names: dict[str, int]) -> int:
        calls.append(names)
        return len(names)

    assert [size({"a": 1}), size({"a": 1}), size({"b": 1, "c": 1})] == [1, 1, 2]
    assert calls == [{"a": 1}, {"b": 1, "c": 1}]


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
