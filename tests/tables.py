"""Rows of parametrized tests that share no state run as one test: pytest takes 2 ms for each test in a process of its
own, on average more than such a row.

The law keeps its name, a failure names all rows that failed, and `pytest file::test[row]` still runs one row alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from inspect import isfunction, signature
from itertools import product
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
    loop.table = (test, given, rows)  # type: ignore[attr-defined]  # for `tests.effort.telling`
    loop.place_as = test  # type: ignore[attr-defined]  # the line that pytest shows
    return loop


def table_as_test(collector: pytest.Collector, name: str, test: object) -> pytest.Function | None:
    """One test of all rows of a parametrized function, made before pytest makes an item of each row, which takes longer
    than most rows do.

    None where rows stay tests of their own: rows that leave something behind (they have marks, or fixtures that each
    test gets anew), and those that the command line selects by name (``-k``, ``file::test[row]``).
    """
    if not (isinstance(collector, pytest.Module) and isfunction(test) and collector.istestfunction(test, name)):
        return None
    marks = getattr(test, "pytestmark", [])
    if hasattr(test, "hypothesis") or not marks or _has_selected_rows(collector.config):
        return None
    columns = [_column(mark) for mark in marks]
    given = {key for column in columns if column for _, row in column for key in row}
    rows = [_joined_row(parts) for parts in product(*(column or [] for column in columns))]
    if len(rows) < 2:
        return None
    whole = pytest.Function.from_parent(collector, name=name, callobj=loop_over(test, given, rows))
    return whole if all(_is_shared(whole, fixture) for fixture in whole.fixturenames) else None


def _has_selected_rows(config: pytest.Config) -> bool:
    return bool(config.option.keyword) or any("[" in word for word in config.args)


def _column(mark: pytest.Mark) -> list[tuple[object, dict[str, Any]]] | None:
    """The values of one parametrization, each with what names it; None where they are more than values."""
    if mark.name != "parametrize" or len(mark.args) != 2 or not mark.kwargs.keys() <= {"ids"}:
        return None
    names, values = mark.args
    if not isinstance(values, Collection):  # an iterator can be read once, by pytest
        return None
    keys = [key.strip() for key in names.split(",") if key.strip()] if isinstance(names, str) else list(names)
    found: list[tuple[object, dict[str, Any]]] = []
    for value in values:
        label, row = None, value if len(keys) > 1 else (value,)
        if isinstance(value, type(pytest.param())):
            if value.marks:
                return None
            label, row = value.id, value.values
        if len(row) != len(keys):
            return None
        given = dict(zip(keys, row, strict=True))
        found.append((label or given, given))  # as a text once it fails: of all rows this takes half a second
    return found


def _joined_row(parts: Sequence[tuple[object, Mapping[str, Any]]]) -> tuple[object, dict[str, Any]]:
    labels = [label for label, _ in parts]
    return labels[0] if len(labels) == 1 else labels, {key: value for _, row in parts for key, value in row.items()}


def _is_shared(item: pytest.Function, name: str) -> bool:
    """Whether a fixture serves several tests."""
    known = item._fixtureinfo.name2fixturedefs.get(name)
    return known is not None and known[-1].scope != "function"
