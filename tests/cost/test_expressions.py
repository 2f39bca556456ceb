"""A formula and its printed expression are the same arithmetic, on numbers and on columns."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import cast

import numpy
import numpy.typing
import pytest

import clusterspec.cost.formulas as package
from clusterspec.cost.formulas import EXPRESSIONS
from clusterspec.cost.formulas.compute import larger, positive_part, smaller
from tests.cost.expressions import evaluate
from tests.effort import each, examples, telling

for found in pkgutil.iter_modules(package.__path__):
    importlib.import_module(f"{package.__name__}.{found.name}")
FORMULAS = {cast(Callable[..., float], function): text for function, text in EXPRESSIONS.items()}
RANDOM = numpy.random.default_rng(5)


def rows_of(columns: int) -> numpy.typing.NDArray[numpy.float64]:
    """Rows of whole numbers; those of one row differ from each other."""
    return numpy.array([RANDOM.choice(62, columns, replace=False) + 2.0 for _ in range(examples(50))])


@telling(2)
@each("function", FORMULAS)
def test_an_expression_gives_what_its_formula_gives(function: Callable[..., float]) -> None:
    names = list(inspect.signature(function).parameters)
    for row in rows_of(len(names)).tolist():
        given = dict(zip(names, row, strict=True))
        assert function(**given) == pytest.approx(evaluate(FORMULAS[function], given), rel=1e-12, abs=1e-12)


@each("function", FORMULAS)
def test_a_column_gives_what_its_numbers_give(function: Callable[..., float]) -> None:
    names = list(inspect.signature(function).parameters)
    rows = rows_of(len(names))
    whole = function(**{name: rows[:, index] for index, name in enumerate(names)})
    each = [function(**dict(zip(names, row, strict=True))) for row in rows.tolist()]
    assert numpy.asarray(whole).tolist() == pytest.approx(each, rel=1e-14, abs=1e-14)


def test_the_smaller_of_two_is_exact_however_far_apart_they_are() -> None:
    """(a + b - |a - b|) / 2 would lose 1 next to 1e17."""
    assert smaller(1e17, 1.0) == 1.0
    assert larger(1e-17, 1.0) == 1.0
    assert smaller(numpy.array([1e17, 2.0]), 1.5).tolist() == [1.5, 1.5]  # type: ignore[arg-type, attr-defined]
    assert positive_part(numpy.array([-3.0, 1e-300])).tolist() == [0.0, 1e-300]  # type: ignore[arg-type, attr-defined]


def test_columns_may_stand_on_either_side() -> None:
    column = numpy.array([1.0, 4.0])
    assert larger(2.0, column).tolist() == [2.0, 4.0]  # type: ignore[arg-type, attr-defined]
    assert larger(column, 2.0).tolist() == [2.0, 4.0]  # type: ignore[arg-type, attr-defined]
