"""Every efficiency that predictions rest on, from the catalog, with where it comes from."""

from __future__ import annotations

from clusterspec.cost.collectives.stack import FITTED
from clusterspec.cost.compute.fixed import FIXED
from clusterspec.quantity import Figure
from tools.accuracy.cases import settings


def constants() -> str:
    """A table of all ``achievable`` figures of the catalog."""
    catalog = settings().catalog
    rows = ["| entry | constant | value | where from |", "|---|---|---|---|"]
    for kind in ("accelerator", "interconnect", "stack"):
        for name in catalog.ids(kind):
            entry = catalog.get(kind, name)
            for key, figure in sorted(getattr(entry, "achievable", {}).items()):
                rows.append(row(f"{kind}/{name}", key, figure))
    rows += [row("collectives", name, figure) for name, figure in FITTED.items()]
    rows += [row("everywhere", name, figure) for name, figure in FIXED.items()]
    return "\n".join(rows) + "\n"


def row(entry: str, name: str, figure: Figure) -> str:
    unit = "" if figure.unit == "1" else f" {figure.unit}"
    return f"| {entry} | {name} | {figure.value:.4g}{unit} | {str(figure.origin).replace('|', '/')} |"
