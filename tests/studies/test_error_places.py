"""The errors of a study, which searches ask for many layouts without the remedies of the findings."""

from __future__ import annotations

from itertools import product

from clusterspec.finding import Severity
from clusterspec.rules.index import RULES
from clusterspec.rules.pages import page
from clusterspec.source import Path
from clusterspec.studies import Study, study_text
from clusterspec.studies.variation import rewritten_study
from tests.analysis.jobs import JOBS
from tests.effort import each, sampled, telling
from tests.settings import SETTINGS

REMEDIED = (
    "dp-reduction-exposed",
    "ep-crosses-scale-up-domain",
    "global-batch-indivisible",
    "microbatches-indivisible-by-pp",
    "tp-communication-exposed",
    "world-size-mismatch",
)
"""Rules whose remedies are estimates or searches of their own."""


def assert_same_errors(one: Study, same: Study) -> None:
    """The errors are those of the whole findings of the same study."""
    whole = {(found.rule, found.path) for found in same.findings if found.severity is Severity.ERROR}
    assert one.error_places == whole, one.document
    assert "checked" not in vars(one)


def test_an_example_has_the_errors_of_its_whole_check() -> None:
    for name in (*REMEDIED, *sampled(sorted(RULES), 30)):
        for example in (*page(name).fires, *page(name).silent):
            one, same = (study_text(example.text, SETTINGS) for _ in range(2))
            if one.fleet is None:
                assert_same_errors(one, same)


@telling(2)
@each("job", JOBS)
def test_a_variation_has_the_errors_of_its_whole_check(job: str) -> None:
    study = study_text(JOBS[job], SETTINGS)
    for tp, ep, nodes in sampled(product((1, 2, 8, 16), (1, 4, 16), (1, 3, 8)), 20):
        changes: dict[Path, object] = {("layout", "tp"): tp, ("layout", "ep"): ep, ("cluster", "nodes"): nodes}
        assert_same_errors(*(rewritten_study(study, changes) for _ in range(2)))
