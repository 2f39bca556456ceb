"""Which findings of a candidate are about its layout, and which errors keep it from running."""

from __future__ import annotations

import pytest

from clusterspec.analysis.searches.picks import Candidate, Picks
from clusterspec.analysis.searches.studied import StudyVariations
from clusterspec.finding import Confidence, Finding, Severity
from clusterspec.records import replace
from clusterspec.source import Position, Span
from clusterspec.studies import CheckedFile
from tests.designs import TRAINED, study_of

LAYOUT = [
    ("layout", "tp"),
    ("layout",),
    ("workload", "serving", "disaggregated", "prefill", "tp"),
    ("workload", "serving", "disaggregated"),
]
OTHER = [("workload", "serving"), ("workload", "serving", "targets"), ("cluster", "layout"), ("name",), ()]


def finding(rule: str, path: tuple[str, ...], severity: Severity = Severity.WARNING) -> Finding:
    span = Span("spec.yaml", Position(1, 1), Position(1, 2))
    return Finding(rule, severity, Confidence.CERTAIN, "said", "done", span, path)


def candidate(*found: Finding, machine: str = "", ignored: str = "") -> Candidate[int]:
    """A candidate with these findings, on a machine with an error of a rule: both are set before they are computed."""
    study = replace(study_of(TRAINED))
    vars(study)["checked"] = CheckedFile(study.input, found, {})
    studied = StudyVariations(study)
    vars(studied)["machine_errors"] = frozenset({machine})
    return Candidate.of(1, study, studied, frozenset({ignored}))


def test_findings_about_a_layout_are_those_of_its_section_and_of_separate_engines() -> None:
    about = [finding(f"about-{number}", path) for number, path in enumerate(LAYOUT)]
    other = [finding(f"other-{number}", path) for number, path in enumerate(OTHER)]
    found = candidate(*other, *about)
    assert (found.layout, found.other) == (tuple(about), tuple(other))
    assert found.finding_rules == tuple(each.rule for each in (*about, *other))
    assert (found.severity_counts, found.objection_counts) == ((0, len(LAYOUT), 0), (0, len(LAYOUT)))
    without = candidate(*other, *about, ignored="about-1")
    assert without.layout == (about[0], *about[2:]) and without.other == tuple(other)


@pytest.mark.parametrize(
    ("paths", "machine", "ignored", "refused"),
    [
        ([("layout", "tp")], "", "", True),
        ([("cluster", "nodes")], "", "", True),
        ([("layout", "tp")], "flaw", "", False),  # the machine has it without any layout
        ([("layout", "tp")], "", "flaw", False),
        ([("procurement", "term")], "", "", False),  # a purchase keeps no layout from running
        ([("procurement", "term"), ("layout", "tp")], "", "", True),
    ],
)
def test_an_error_refuses_a_candidate_unless_each_layout_of_the_machine_has_it(
    paths: list[tuple[str, ...]], machine: str, ignored: str, refused: bool
) -> None:
    found = [finding("flaw", path, Severity.ERROR) for path in paths]
    one = candidate(*found, machine=machine, ignored=ignored)
    assert bool(one.errors) is refused
    chosen: Picks[int] = Picks(3)
    chosen.add(one)
    assert (chosen.checked == [one], chosen.refused) == (not refused, {"flaw": 1} if refused else {})
    assert chosen.best_refused is (one if refused else None)
