"""Studies: a spec resolved as far as possible, with findings, waivers and plan, and the single way to vary it."""

from __future__ import annotations

from clusterspec import rules
from clusterspec.document import to_finding
from clusterspec.finding import Finding
from clusterspec.results import Input
from clusterspec.source import Source
from clusterspec.studies.study import Checked, Settings, Study, as_written, study, study_file, study_text

__all__ = [
    "Checked",
    "Settings",
    "Study",
    "as_written",
    "checked_prose",
    "study",
    "study_file",
    "study_text",
]


def checked_prose(source: Source, data: bytes, settings: Settings) -> Checked:
    """The findings about the quantities of running text."""
    from clusterspec.prose import check_text

    problems = check_text(source, settings.catalog, settings.today)
    findings = [to_finding(problem, None, source) for problem in rules.bounded_problems(problems)]
    selected = tuple(sorted(rules.choose(findings, settings.config), key=Finding.place_and_rule))
    return Checked(Input(source.name, data), selected, {source.name: source})
