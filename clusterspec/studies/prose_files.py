"""Running text as a file that is checked: findings about the quantities in it."""

from __future__ import annotations

from datetime import date

from clusterspec import rules
from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster
from clusterspec.document import to_finding
from clusterspec.finding import Finding, Problem
from clusterspec.prose import text_problems
from clusterspec.records import replace
from clusterspec.results import Input
from clusterspec.source import Source
from clusterspec.standard import recent
from clusterspec.studies import CheckedFile, Settings

_CHECKED_ELSEWHERE = frozenset({"arithmetic-does-not-close", "percentage-off-count", "measurement-without-metric"})
"""Rules on running text that check the description of a spec on their own, with its comments."""


def described_figures(description: str, cluster: Cluster, settings: Settings) -> list[Problem]:
    """The problems with part figures in a description. Sentences that name no part are read as being about the
    cluster's nodes.
    """
    named = cluster.platform.id if cluster.platform is not None else cluster.accelerator.id
    text = f"The nodes are {named}. {' '.join(description.split())}\n"
    found = _problems_of_text(text, settings.catalog, settings.today)
    return [replace(each, path=("description",), span=None) for each in found if each.rule not in _CHECKED_ELSEWHERE]


@recent(2)  # every variation of a design has the description of the design
def _problems_of_text(text: str, catalog: Catalog, today: date | None) -> tuple[Problem, ...]:
    return tuple(text_problems(Source("description", text), catalog, today))


def checked_prose(source: Source, data: bytes, settings: Settings) -> CheckedFile:
    """The findings about the quantities of running text."""
    problems = text_problems(source, settings.catalog, settings.today)
    findings = [to_finding(problem, None, source) for problem in rules.bounded_problems(problems)]
    selected = tuple(sorted(rules.configured_findings(findings, settings.config), key=Finding.place_and_rule))
    return CheckedFile(Input(source.name, data), selected, {source.name: source})
