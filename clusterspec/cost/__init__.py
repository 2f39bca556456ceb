"""The cost model: time and memory of a design, in numbers and explained term by term.

Numeric constants that no catalog entry holds have a reason or a source: a module declares them by `assumed_figure` or
`cited_figure` of this one, and docs/constants.md lists all of them.
"""

from __future__ import annotations

from clusterspec.quantity import Figure
from clusterspec.source import Assumed, Cited, Origin

CONSTANTS: dict[str, dict[str, Figure]] = {}
"""Constants by group and by name."""


def assumed_figure(group: str, name: str, value: float, why: str, unit: str = "1") -> Figure:
    """A figure that no source states, with the reason for it."""
    return _registered_figure(group, name, value, unit, Assumed(f"{group}.{name}", why))


def cited_figure(group: str, name: str, value: float, origin: Cited, unit: str = "1") -> Figure:
    """A figure that a source states."""
    return _registered_figure(group, name, value, unit, origin)


def _registered_figure(group: str, name: str, value: float, unit: str, origin: Origin) -> Figure:
    figures = CONSTANTS.setdefault(group, {})
    assert name not in figures, f"{group}.{name} is declared twice"
    figures[name] = Figure(value, unit, origin)
    return figures[name]
