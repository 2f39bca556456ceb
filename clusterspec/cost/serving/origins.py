"""The origins of the numbers of a part that come from a table of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clusterspec.cost.serving.engine import Engine


def from_table(engine: Engine, **tables: str) -> dict[str, str]:
    """Origins of numbers: names of figures in the kernel table of an engine."""
    return {name: f"kernels/{engine.rates.table} {table}" for name, table in tables.items()}
