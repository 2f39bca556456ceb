"""Every efficiency that predictions rest on, from the catalog, with where it comes from."""

from __future__ import annotations

import clusterspec.cost.estimate
import clusterspec.cost.measured
import clusterspec.cost.serving.constants  # noqa: F401  (modules declare their constants when they are imported)
from clusterspec.catalog.models import Entry
from clusterspec.catalog.stacks import Stack
from clusterspec.cost.constants import CONSTANTS
from clusterspec.cost.memory.job import GROUP, range_figures
from clusterspec.quantity import Figure
from tools.accuracy.cases import settings


def constants() -> str:
    """A table of all ``achievable`` figures of the catalog."""
    catalog = settings().catalog
    rows = ["| entry | constant | value | where from |", "|---|---|---|---|"]
    for kind in ("accelerator", "interconnect", "stack", "kernels"):
        for name in catalog.ids(kind):
            entry = catalog.get(kind, name)
            for key, figure in sorted(getattr(entry, "achievable", {}).items()):
                rows.append(row(f"{kind}/{name}", key, figure))
            rows += [row(f"{kind}/{name}", key, figure) for key, figure in _of_memory(entry)]
    for group in sorted(CONSTANTS):
        rows += [row(group, name, figure) for name, figure in CONSTANTS[group].items()]
        rows += [row(group, name, figure) for name, figure in range_figures() if group == GROUP]
    return "\n".join(rows) + "\n"


def _of_memory(entry: Entry) -> list[tuple[str, Figure]]:
    """The figures of memory of a generation of software, with the ends of their ranges."""
    if not isinstance(entry, Stack):
        return []
    named = {"logits": entry.memory.logits, "context": entry.memory.context}
    named["fragmentation"] = entry.memory.fragmentation
    return [(f"memory.{name}", spread.figure) for name, spread in named.items() if spread is not None]


def row(entry: str, name: str, figure: Figure) -> str:
    unit = "" if figure.unit == "1" else f" {figure.unit}"
    return f"| {entry} | {name} | {figure.value:.4g}{unit} | {str(figure.origin).replace('|', '/')} |"
