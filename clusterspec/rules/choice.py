"""What a team chose to hear, and how gravely: applied last, to findings already in place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from clusterspec.config import Config
from clusterspec.finding import Confidence, Finding, Severity


def choose(findings: Iterable[Finding], config: Config) -> list[Finding]:
    """The findings of the rules that are wanted, at the severity that the team gave them.

    ``error`` and ``severity`` name rules; the profile ``strict`` raises every warning that rests on
    more than a rule of thumb.
    """
    return [graded(finding, config) for finding in findings if wanted(finding.rule, config)]


def wanted(rule: str, config: Config) -> bool:
    """Whether a rule is selected (all are, where none is named) and not ignored."""
    return rule not in config.ignore and (not config.select or rule in config.select)


def graded(finding: Finding, config: Config) -> Finding:
    """A finding at the severity that the configuration gives its rule."""
    severity = config.severity.get(finding.rule, finding.severity)
    strict = config.profile == "strict" and finding.confidence is not Confidence.HEURISTIC
    if finding.rule in config.error or (strict and severity is Severity.WARNING):
        severity = Severity.ERROR
    return finding if severity is finding.severity else replace(finding, severity=severity)
