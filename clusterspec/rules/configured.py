"""Applies the configuration of a team to findings: selected rules and severities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from clusterspec.config import Config
from clusterspec.finding import ALWAYS_REPORTED, Confidence, Finding, Problem, Severity
from clusterspec.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Reported = TypeVar("Reported", Problem, Finding)


def configured_findings(findings: Iterable[Finding], config: Config) -> list[Finding]:
    """The findings of the selected rules with the configured severities. Findings that are always reported stay
    unchanged.
    """
    return [
        finding if finding.rule in ALWAYS_REPORTED else replace(finding, severity=severity(finding, config))
        for finding in findings
        if finding.rule in ALWAYS_REPORTED or is_chosen(finding.rule, config)
    ]


def is_chosen(rule: str, config: Config) -> bool:
    """Whether the configuration selects a rule."""
    return (not config.select or rule in config.select) and rule not in config.ignore


def severity(finding: Finding, config: Config) -> Severity:
    """The severity of a finding: configured for its rule, else set by the profile, else its own.

    ``strict`` makes every warning an error unless it rests only on a rule of thumb.
    """
    if finding.rule in config.error:
        return Severity.ERROR
    if finding.rule in config.severity:
        return config.severity[finding.rule]
    gate = config.profile == "strict" and finding.confidence is not Confidence.HEURISTIC
    return Severity.ERROR if gate and finding.severity is Severity.WARNING else finding.severity


MOST = 100
"""Maximum number of problems of one rule in one file reported individually; the last of them counts the rest."""


def bounded_problems(problems: Iterable[Reported]) -> list[Reported]:
    """The problems or findings, at most `MOST` of each rule, so that no input gives an unbounded report."""
    kept: dict[str, list[Reported]] = {}
    beyond: Counter[str] = Counter()
    for problem in problems:
        of_rule = kept.setdefault(problem.rule, [])
        if len(of_rule) < MOST:
            of_rule.append(problem)
        else:
            beyond[problem.rule] += 1
    for rule, number in beyond.items():
        last = kept[rule][-1]
        more = f"{last.message}; {number:,} more of this rule in this file are counted, not printed"
        kept[rule][-1] = replace(last, message=more)
    return [problem for of_rule in kept.values() for problem in of_rule]
