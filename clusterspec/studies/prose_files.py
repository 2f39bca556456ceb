"""Running text as a file that is checked: findings about the quantities in it."""

from __future__ import annotations

from clusterspec import rules
from clusterspec.document import to_finding
from clusterspec.finding import Finding
from clusterspec.prose import check_text
from clusterspec.results import Input
from clusterspec.source import Source
from clusterspec.studies import Checked, Settings


def checked_prose(source: Source, data: bytes, settings: Settings) -> Checked:
    """The findings about the quantities of running text."""
    problems = check_text(source, settings.catalog, settings.today)
    findings = [to_finding(problem, None, source) for problem in rules.bounded_problems(problems)]
    selected = tuple(sorted(rules.configured_findings(findings, settings.config), key=Finding.place_and_rule))
    return Checked(Input(source.name, data), selected, {source.name: source})
