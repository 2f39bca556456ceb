"""Every efficiency that predictions rest on, from the catalog, with where it comes from."""

from __future__ import annotations

from tools.accuracy.cases import settings


def constants() -> str:
    """A table of all ``achievable`` figures of the catalog."""
    catalog = settings().catalog
    rows = ["| entry | constant | value | where from |", "|---|---|---|---|"]
    for kind in ("accelerator", "interconnect"):
        for name in catalog.ids(kind):
            entry = catalog.get(kind, name)
            for key, figure in sorted(getattr(entry, "achievable", {}).items()):
                unit = "" if figure.unit == "1" else f" {figure.unit}"
                rows.append(f"| {kind}/{name} | {key} | {figure.value:.4g}{unit} | {figure.origin} |")
    return "\n".join(rows) + "\n"
