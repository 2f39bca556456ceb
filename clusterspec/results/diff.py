"""Differences between two designs: keys, figures with their ranges, findings."""

from __future__ import annotations

from math import isfinite
from typing import Any

from clusterspec.finding import Finding
from clusterspec.records import dataclass
from clusterspec.results import Input, Json, Tool, finding_json, head
from clusterspec.source import Path, pointer


@dataclass(frozen=True, slots=True)
class Change:
    """A changed key; a value is None if the spec lacks the key."""

    path: Path
    old: Any
    new: Any

    def to_json(self) -> Json:
        return {"path": pointer(self.path), "old": finite(self.old), "new": finite(self.new)}


def finite(value: Any) -> Any:
    """A value of a spec with NaN and infinities as their YAML text, since JSON has no such numbers."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return f".{value}" if value > 0 else "-.inf" if value < 0 else ".nan"
    return value


@dataclass(frozen=True, slots=True)
class Effect:
    """A figure of both designs, in SI units; None if it could not be computed.

    ``within_band`` means that the ranges of the figures overlap, so that the difference is not significant. It is None
    for figures without a range.
    """

    name: str
    unit: str
    old: float | None
    new: float | None
    within_band: bool | None = None

    def to_json(self) -> Json:
        return {"name": self.name, "unit": self.unit, "old": self.old, "new": self.new, "within_band": self.within_band}


@dataclass(frozen=True, slots=True)
class DiffReport:
    """The difference of two designs. ``unchecked`` are findings of the old one that the new one lacks because their
    section, or what their rule needs, is gone."""

    tool: Tool
    old: Input
    new: Input
    changes: tuple[Change, ...]
    effects: tuple[Effect, ...]
    found: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    unchecked: tuple[Finding, ...] = ()
    caution: str = ""
    """Why figures of the two designs are not comparable; empty if they are."""

    def to_json(self) -> Json:
        return head(self.tool, self.new) | {
            "against": self.old.to_json(),
            "changes": [one.to_json() for one in self.changes],
            "effects": [one.to_json() for one in self.effects],
            "caution": self.caution or None,
            "findings": {
                "new": [finding_json(one) for one in self.found],
                "fixed": [finding_json(one) for one in self.fixed],
                "unchecked": [finding_json(one) for one in self.unchecked],
            },
        }


PRICE = "price of what is priced"
SHARE = "share"
"""The unit of a figure that is a part of one."""
