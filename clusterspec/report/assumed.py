"""Assumptions as shown by writers of estimates."""

from __future__ import annotations

from typing import Any

from clusterspec.cluster.model import Assumption
from clusterspec.cost.plan import Plan
from clusterspec.quantity import Bandwidth, Figure, Quantity
from clusterspec.units import display


def groups(plan: Plan) -> tuple[tuple[Assumption, ...], tuple[Assumption, ...]]:
    """The assumptions for absent keys of the spec, and the constants of machines and software without a source."""
    assumed_keys = {key for key, _, _ in plan.design.assumptions}
    open_ = tuple(each for each in plan.assumptions if each[0] in assumed_keys)
    return open_, tuple(each for each in plan.assumptions if each[0] not in assumed_keys)


def value_text(value: Any) -> str:
    """The text of a value with its unit.

    >>> value_text(True), value_text(("tp", "dp")), value_text(None)
    ('yes', 'tp, dp', 'none')
    """
    if isinstance(value, Figure):
        return display(value.value, value.unit, 4) + (" each way" if isinstance(value, Bandwidth) else "")
    if isinstance(value, Quantity):
        return value.written
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(value_text(one) for one in value)
    if isinstance(value, float):
        return display(value, "1", 4)
    return "none" if value is None else str(value)
