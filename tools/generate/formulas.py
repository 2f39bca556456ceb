"""The formula reference, from the docstrings of the formulas."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import clusterspec.cost.formulas as package

HEAD = """# Formulas

<!-- Made from `clusterspec/cost/formulas` by `make docs`. -->

Each formula is one function: the equation, its
source and an example that the tests run. SI units throughout; bandwidths are bytes per second in one
direction. Those that neither the estimate nor a rule calls stand for numbers worked by hand
(`tests/cost/worked_examples.toml`).
"""


def page() -> str:
    return "\n".join([HEAD, *(part for module in modules() for part in section(module))])


def modules() -> Iterator[ModuleType]:
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda one: one.name):
        yield importlib.import_module(f"{package.__name__}.{found.name}")


def section(module: ModuleType) -> Iterator[str]:
    yield f"## {module.__name__.rsplit('.', 1)[-1].replace('_', ' ').capitalize()}\n"
    yield inspect.cleandoc(module.__doc__ or "") + "\n"
    for name, function in inspect.getmembers(module, inspect.isfunction):
        if function.__module__ == module.__name__ and not name.startswith("_"):
            yield f"### `{name}{signature(function)}`\n"
            yield docstring(function) + "\n"


def signature(function: object) -> str:
    assert callable(function)
    names = inspect.signature(function).parameters
    return f"({', '.join(names)})"


def docstring(function: object) -> str:
    """The docstring with its doctest set as code."""
    lines = inspect.cleandoc(function.__doc__ or "").splitlines()
    out: list[str] = []
    inside = False
    for line in lines:
        if line.startswith(">>>") and not inside:
            out.append("```python")
            inside = True
        elif inside and not line.strip():
            out.append("```")
            inside = False
        out.append(line)
    return "\n".join([*out, "```"] if inside else out)
