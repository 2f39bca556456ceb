"""Choices of a key that a design may have: those that no rule rejects, whatever they cost."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.finding import Finding, Severity
from clusterspec.rules.pages import is_rule_name, module
from clusterspec.source import Path
from clusterspec.studies import Study, variation

MEMORY = "memory"
"""The group of rules on what fits: how much more memory a choice takes is told beside it."""


def choice_filter(study: Study) -> Callable[[str, str], bool]:
    """A function that returns whether a design may have a choice of a key that its spec leaves open.

    A plugin for the accelerators of another vendor, or a format in which nothing trains, is none that the design may
    have. What a choice costs in time or memory rejects none: only rules that are errors at any cost do.
    """

    def allows(key: str, choice: str) -> bool:
        if study.document is None:
            return True
        path = tuple(key.split("."))
        known = _rejecting_rules(study, path)
        return not _rejecting_rules(variation.rewritten_study(study, {path: choice}), path) - known

    return allows


def _rejecting_rules(study: Study, path: Path) -> frozenset[str]:
    """The rules that reject the value of a key whatever it costs."""
    return frozenset(each.rule for each in study.findings if each.path == path and _rejects(each))


def _rejects(found: Finding) -> bool:
    if found.severity is not Severity.ERROR or not is_rule_name(found.rule):
        return False
    usual = module(found.rule).RULE
    return bool(usual.severity is Severity.ERROR and usual.group != MEMORY)
