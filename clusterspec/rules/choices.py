"""What a team chose: which rules count, and how gravely. Applied last, to findings in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

from clusterspec.config import Config
from clusterspec.finding import ALWAYS_REPORTED, Confidence, Finding, Problem, Severity
from clusterspec.records import replace


def choose(findings: Iterable[Finding], config: Config) -> list[Finding]:
    """The findings of the chosen rules, with the chosen severities; those that nothing silences as they are."""
    return [
        finding if finding.rule in ALWAYS_REPORTED else replace(finding, severity=severity(finding, config))
        for finding in findings
        if finding.rule in ALWAYS_REPORTED or chosen(finding.rule, config)
    ]


def chosen(rule: str, config: Config) -> bool:
    """Whether a team wants to hear of a rule."""
    return (not config.select or rule in config.select) and rule not in config.ignore


def severity(finding: Finding, config: Config) -> Severity:
    """What a rule is raised or lowered to by name, else by the profile, else its own.

    ``strict`` makes an error of every warning that does not rest on a rule of thumb alone.
    """
    if finding.rule in config.error:
        return Severity.ERROR
    if finding.rule in config.severity:
        return config.severity[finding.rule]
    gate = config.profile == "strict" and finding.confidence is not Confidence.HEURISTIC
    return Severity.ERROR if gate and finding.severity is Severity.WARNING else finding.severity


MOST = 100
"""Problems of one rule in one file that are reported one by one; the last of them counts the others."""


Told = TypeVar("Told", Problem, Finding)


def bounded(problems: Iterable[Told]) -> list[Told]:
    """The problems or findings, of each rule no more than `MOST`, so that no text makes a report without end."""
    kept: dict[str, list[Told]] = {}
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
