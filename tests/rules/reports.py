"""What the rules of one group report of a spec, so that a table can hold flaws and their near misses."""

from __future__ import annotations

from clusterspec.rules.index import RULES
from clusterspec.source import dotted_path

from .conftest import Check

Reported = list[tuple[str, str, str]]
"""Rule, key path and severity."""


def reported(check: Check, group: str, text: str) -> Reported:
    """The findings of a group on the keys of a spec given without its first line."""
    findings = check(f"clusterspec: 1\n{text}")
    return [(it.rule, dotted_path(it.path), str(it.severity)) for it in findings if of(it.rule) == group]


def one(rule: str, key: str, severity: str = "warning") -> Reported:
    """One finding, and no other."""
    return [(rule, key, severity)]


def of(rule: str) -> str:
    """The group of a rule."""
    return RULES[rule][0] if rule in RULES else ""
