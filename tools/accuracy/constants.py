"""Every efficiency that predictions rest on, from the catalog, with where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import clusterspec.cost
from clusterspec.catalog.reader import Entry
from clusterspec.catalog.stacks import Stack
from clusterspec.cost import CONSTANTS
from clusterspec.cost.memory import GROUP, range_figures
from clusterspec.quantity import Figure
from tools.accuracy.cases import settings

KINDS = {
    "accelerator": "accelerators",
    "interconnect": "interconnects",
    "stack": "software stacks",
    "kernels": "kernel tables",
}
"""The kinds of entries with ``achievable`` figures."""
HEADS = ("| entry | constant | value | where from |", "|---|---|---|---|")


def constant_tables() -> str:
    """Tables of all ``achievable`` figures of the catalog, by kind of entry, and of those of the program."""
    tables = {f"Every constant of {name}": list(_rows_of_kind(kind)) for kind, name in KINDS.items()}
    for module in walk_packages(clusterspec.cost.__path__, "clusterspec.cost."):
        import_module(module.name)  # a module declares its constants when it is imported
    other: list[str] = []
    for group in sorted(CONSTANTS):
        other += [row(group, name, figure) for name, figure in CONSTANTS[group].items()]
        other += [row(group, name, figure) for name, figure in range_figures() if group == GROUP]
    tables["Every other constant"] = other
    return "\n\n".join("\n".join((f"## {title}\n", *HEADS, *rows)) for title, rows in tables.items()) + "\n"


def _rows_of_kind(kind: str) -> Iterator[str]:
    catalog = settings().catalog
    for name in catalog.ids(kind):
        entry = catalog.get(kind, name)
        for key, figure in sorted(getattr(entry, "achievable", {}).items()):
            yield row(f"{kind}/{name}", key, figure)
        yield from (row(f"{kind}/{name}", key, figure) for key, figure in _memory_figures(entry))


def _memory_figures(entry: Entry) -> list[tuple[str, Figure]]:
    """The figures of memory of a generation of software, with the ends of their ranges."""
    if not isinstance(entry, Stack):
        return []
    named = {"logits": entry.memory.logits, "context": entry.memory.context}
    named["fragmentation"] = entry.memory.fragmentation
    return [(f"memory.{name}", spread.figure) for name, spread in named.items() if spread is not None]


def row(entry: str, name: str, figure: Figure) -> str:
    unit = "" if figure.unit == "1" else f" {figure.unit}"
    return f"| {entry} | {name} | {figure.value:.4g}{unit} | {str(figure.origin).replace('|', '/')} |"
