"""What a team chose: which rules count, and how gravely. Applied last, to findings in place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from clusterspec.config import Config
from clusterspec.finding import Confidence, Finding, Severity


def choose(findings: Iterable[Finding], config: Config) -> list[Finding]:
    """The findings of the chosen rules, with the chosen severities."""
    return [
        replace(finding, severity=severity(finding, config))
        for finding in findings
        if (not config.select or finding.rule in config.select) and finding.rule not in config.ignore
    ]


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
