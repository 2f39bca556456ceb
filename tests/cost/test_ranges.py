"""Formulas hold in the range that their docstrings state: ``Range: ranks >= 1, bandwidth > 0.``

A parameter that the line does not bound is at least zero.
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable
from importlib import import_module
from math import isfinite
from pathlib import Path
from random import Random

import clusterspec.cost.formulas as package
from tests.effort import each

LOW, HIGH = 0.0, 4096.0
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
Condition = tuple[str, str, str]


def conditions_of(function: Callable[..., float]) -> list[Condition]:
    """The comparisons of the line ``Range:``, each as a name, an operator, and a number or a name."""
    line = re.search(r"^Range: (.*)\.$", inspect.getdoc(function) or "", re.M)
    if line is None:
        return []
    parts = [re.fullmatch(r"(\w+) (>=|<=|>|<) ([\w.]+)", text) for text in line[1].split(", ")]
    assert all(parts), f"`{line[0]}` is not a list of comparisons"
    return [(part[1], part[2], part[3]) for part in parts if part]


def holds(condition: Condition, values: dict[str, float]) -> bool:
    name, comparison, bound = condition
    return COMPARISONS[comparison](values[name], values[bound] if bound in values else float(bound))


def drawn(parameters: list[str], conditions: list[Condition], random: Random) -> dict[str, float]:
    """Values within the range: numbers of bounds where they lie inside it, whole numbers, shares, and large numbers."""
    bounds = [float(bound) for _, _, bound in conditions if bound not in parameters]
    kinds: list[Callable[[], float]] = [
        lambda: random.choice([LOW, 1.0, *bounds]),
        random.random,
        lambda: float(random.randint(1, int(HIGH))),
    ]
    while True:
        values = {name: random.choice(kinds)() for name in parameters}
        for name, comparison, bound in conditions:
            if bound not in parameters and not holds((name, comparison, bound), values):
                values[name] = float(bound) + (random.random() if ">" in comparison else -random.random())
        if all(value >= 0 for value in values.values()) and all(holds(each, values) for each in conditions):
            return values


FOLDER = Path(next(iter(package.__path__)))
UNBOUNDED = {
    "power": "a base and an exponent of any size; columns and numbers share it",
    "value_where": "takes a condition, not a number",
    "stored_interleaved_passes": "stages are whole numbers, which a list of comparisons cannot say",
    "accelerator_draw": "its four shares of the time add up to at most 1, which a list of comparisons cannot say",
}
"""Functions that are not tried, with the reason."""
FORMULAS = [
    function
    for path in sorted(FOLDER.glob("[!_]*.py"))
    for module in [import_module(f"{package.__name__}.{path.stem}")]
    for name, function in vars(module).items()
    if inspect.isfunction(function)
    and function.__module__ == module.__name__
    and name[0] != "_"
    and name not in UNBOUNDED
]


def test_many_formulas_state_their_range() -> None:
    assert sum(bool(conditions_of(function)) for function in FORMULAS) >= 130


@each("function", FORMULAS)
def test_a_formula_is_finite_and_not_negative_in_its_range(function: Callable[..., float]) -> None:
    parameters, conditions = list(inspect.signature(function).parameters), conditions_of(function)
    assert {name for name, _, _ in conditions} <= set(parameters)
    random = Random(function.__name__)
    for _ in range(60):
        values = drawn(parameters, conditions, random)
        value = function(**values)
        assert isfinite(value) and value >= -1e-9, values
