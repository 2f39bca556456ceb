"""What the rules of one group say of a spec, so that a table can hold flaws beside their near misses."""

from __future__ import annotations

from clusterspec.rules.index import RULES
from clusterspec.source import dotted

from .conftest import Check

Said = list[tuple[str, str, str]]
"""Rule, key path and severity."""


def said(check: Check, group: str, text: str) -> Said:
    """The findings of a group on the keys of a spec given without its first line."""
    findings = check(f"clusterspec: 1\n{text}")
    return [(one.rule, dotted(one.path), str(one.severity)) for one in findings if of(one.rule) == group]


def told(rule: str, key: str, severity: str = "warning") -> Said:
    """One finding, and no other."""
    return [(rule, key, severity)]


def of(rule: str) -> str:
    """The group of a rule."""
    return RULES[rule][0] if rule in RULES else ""
