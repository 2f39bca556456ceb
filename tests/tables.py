"""Rows of parametrized tests that share no state run as one test: pytest takes 2 ms for each test in a process of its
own, on average more than such a row.

The law keeps its name, a failure names all rows that failed, and `pytest file::test[row]` still runs one row alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import signature
from itertools import groupby
from typing import Any

import pytest

MOST_FAULTS = 20
"""Failed rows of a table after which the others are not tried."""


def try_rows(test: Callable[..., None], rows: Iterable[tuple[object, Mapping[str, Any]]], fixtures: Any) -> None:
    """Call a test with each row: what names it, and its arguments.

    Raises the exception of the first row that fails, with those of the others as notes; if none fails, that of the
    first skipped row.
    """
    faults: list[BaseException] = []
    skipped: list[BaseException] = []
    for name, row in rows:
        try:
            test(**row, **fixtures)
        except pytest.skip.Exception as why:
            skipped.append(why)
        except (Exception, pytest.fail.Exception) as fault:
            fault.add_note(f"the row: {name}"[:2000])
            faults.append(fault)
            if len(faults) == MOST_FAULTS:
                break
    if faults:
        for other in faults[1:]:
            faults[0].add_note(f"also {other!r}, {other.__notes__[0]}"[:2000])
    for first in faults or skipped:
        raise first


def loop_over(
    test: Callable[..., None], names: Iterable[str], rows: Sequence[tuple[object, Mapping[str, Any]]]
) -> Callable[..., None]:
    """A test of all rows, with the parameters of a test except those with some ``names``."""

    def loop(**fixtures: Any) -> None:
        try_rows(test, rows, fixtures)

    loop.__name__, loop.__doc__, loop.__module__ = test.__name__, test.__doc__, test.__module__
    whole, given = signature(test), set(names)
    left = [value for name, value in whole.parameters.items() if name not in given]
    loop.__signature__ = whole.replace(parameters=left)  # type: ignore[attr-defined]
    loop.place_as = test  # type: ignore[attr-defined]  # the line that pytest shows
    return loop


def with_tables_as_tests(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The collected tests, those of one table as one test where its rows share no state."""
    return [item for _, rows in groupby(items, _table) for item in _tests_of(list(rows))]


def _table(item: pytest.Item) -> object:
    """The function of a test that may be a row of a table, else the test."""
    return (item.parent, item.function) if isinstance(item, pytest.Function) and is_free_row(item) else item


def _tests_of(rows: list[pytest.Item]) -> Iterator[pytest.Item]:
    first = rows[0]
    if len(rows) == 1 or not isinstance(first, pytest.Function):
        yield from rows
        return
    named = [(row.name, row.callspec.params) for row in rows if isinstance(row, pytest.Function)]
    loop = loop_over(first.function, named[0][1], named)
    whole = pytest.Function.from_parent(first.parent, name=first.originalname, callobj=loop)
    whole.extra_keyword_matches.update(name for name, _ in named)  # so that `-k` finds rows
    yield whole


def is_free_row(item: pytest.Function) -> bool:
    """Whether a test is a row of a table that leaves nothing behind: it has no marks or fixtures of its own."""
    if not hasattr(item, "callspec") or item.cls is not None or hasattr(item.function, "hypothesis"):
        return False
    given = item.callspec.params
    tables = list(item.iter_markers("parametrize"))
    named = {name.strip() for one in tables for name in _names(one.args[0])}
    if len(item.own_markers) != len(tables) or named != given.keys() or any("indirect" in one.kwargs for one in tables):
        return False
    return all(_is_shared(item, name) for name in item.fixturenames if name not in given)


def _names(given: str | Sequence[str]) -> Sequence[str]:
    return given.split(",") if isinstance(given, str) else given


def _is_shared(item: pytest.Function, name: str) -> bool:
    """Whether a fixture serves several tests."""
    known = item._fixtureinfo.name2fixturedefs.get(name)
    return known is not None and known[-1].scope != "function"
