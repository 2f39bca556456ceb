"""Leaves of an explanation: a formula, its expression, and its inputs.

A leaf is created by calling the function that the engine called, and prints the expression registered for it. An
argument may itself be an expression over figures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from clusterspec.cost.expressions import EXPRESSIONS
from clusterspec.cost.term import Term
from clusterspec.origin import Computed
from clusterspec.quantity import Figure
from clusterspec.records import NamedTuple

Inputs = tuple[tuple[str, Figure], ...]


class Expanded(NamedTuple):
    """An argument computed from figures: its value, its expression, and the figures by name."""

    value: float
    expression: str
    inputs: Inputs


Argument = Figure | Expanded
Repeats = tuple[tuple[str, Figure], ...]


def leaf(
    name: str, function: Callable[..., float], arguments: Mapping[str, Argument], repeats: Repeats = (), unit: str = "s"
) -> Term:
    """The term of a formula: ``function`` of the arguments by name, multiplied by the ``repeats``."""
    value = function(**{key: argument.value for key, argument in arguments.items()})
    for _, times in repeats:
        value *= times.value
    inputs = [*repeats]
    expanded = []
    for key, argument in arguments.items():
        if isinstance(argument, Expanded):
            expanded.append((key, argument.expression))
            inputs += argument.inputs
        else:
            inputs.append((key, argument))
    text = written(function, tuple(expanded), tuple(key for key, _ in repeats))
    return Term(name, value, unit, text, tuple(dict(inputs).items()), source=source(function))


@cache
def written(function: Callable[..., float], expanded: tuple[tuple[str, str], ...], repeats: tuple[str, ...]) -> str:
    """The expression of a function with some parameters written out, multiplied by the repeats."""
    names = {key: f"({expression})" for key, expression in expanded}
    text = re.sub(r"[a-z_]\w*", lambda found: names.get(found[0], found[0]), EXPRESSIONS[function])
    return " * ".join([*repeats, f"({text})"]) if repeats else text


@cache
def source(function: Callable[..., float]) -> str:
    """The source that the docstring of a formula names; empty where it names none."""
    from inspect import getdoc

    found = re.search(r"Source: (.*?)(?:\n\n|\Z)", getdoc(function) or "", re.DOTALL)
    return " ".join(found[1].split()).rstrip(".") if found else ""


def computed(value: float, why: str, unit: str = "1") -> Figure:
    """A figure derived from others."""
    return Figure(value, unit, _derived(why))


@lru_cache(maxsize=1024)
def _derived(why: str) -> Computed:
    return Computed(why)


@lru_cache(maxsize=1024)
def identifier(text: str) -> str:
    """A name as an identifier of the printed grammar.

    >>> identifier("query, key, value: input gradient")
    'query_key_value_input_gradient'
    """
    return re.sub(r"\W+", "_", text).strip("_").lower()
