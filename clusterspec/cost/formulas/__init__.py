"""The formulas of the cost: one function each, with its source and its printed expression, on floats or arrays."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.standard import Protocol, cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ParamSpec, overload

    P = ParamSpec("P")
else:
    P = None

    def overload(signature):
        """A signature that only a type checker reads."""
        return signature


class Column(Protocol):
    """A column of numbers: one for each of many layouts."""

    def __add__(self, other: float | Column, /) -> Column: ...
    def __radd__(self, other: float | Column, /) -> Column: ...
    def __sub__(self, other: float | Column, /) -> Column: ...
    def __rsub__(self, other: float | Column, /) -> Column: ...
    def __mul__(self, other: float | Column, /) -> Column: ...
    def __rmul__(self, other: float | Column, /) -> Column: ...
    def __truediv__(self, other: float | Column, /) -> Column: ...
    def __rtruediv__(self, other: float | Column, /) -> Column: ...
    def __gt__(self, other: float | Column, /) -> Column: ...
    def any(self) -> bool: ...
    def __array_namespace__(self) -> Library: ...


class Library(Protocol):
    """The functions of an array library that formulas use."""

    def maximum(self, first: float | Column, second: float | Column, /) -> Column: ...
    def minimum(self, first: float | Column, second: float | Column, /) -> Column: ...
    def expm1(self, value: float | Column, /) -> Column: ...
    def where(self, condition: object, yes: float | Column, no: float | Column, /) -> Column: ...


class Formula(Protocol[P]):
    """A function of numbers; it returns a column if an argument is a column."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> float: ...
    @overload
    def __call__(self, *args: float | Column, **kwargs: float | Column) -> Column: ...  # noqa: F811


EXPRESSIONS: dict[object, str] = {}
"""The expression of each formula, over the names of its parameters.

Printed terms use this grammar: arithmetic, min, max, ceil, floor, log2, sqrt, expm1 (exp(x) - 1) and sum. A test
evaluates every expression against its function.
"""


def formula(expression: str = "") -> Callable[[Callable[P, float]], Formula[P]]:
    """Decorator of formula functions: the function accepts columns and is printed as ``expression``.

    A formula without an expression cannot be the formula of a term.
    """

    def registered(function: Callable[P, float]) -> Formula[P]:
        if expression:
            EXPRESSIONS[function] = expression
        return cast("Formula[P]", function)

    return registered


def array_library(*values: object) -> Library:
    """The array library of the first column among some values."""
    return next(cast(Column, value).__array_namespace__() for value in values if hasattr(value, "__array_namespace__"))
