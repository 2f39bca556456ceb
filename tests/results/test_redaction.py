"""A tender shows what the allow-list names, and nothing of the rest of the spec."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec import analysis, document, studies
from clusterspec.results.redaction import ALLOWED, redact
from clusterspec.source import Source
from tests.effort import each
from tests.report.secrets import HOSTILE, SECRETS
from tests.settings import SETTINGS

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.yaml"))


def test_only_allowed_sections_remain() -> None:
    one = studies.study_text(HOSTILE, SETTINGS)
    assert one.document is not None
    assert set(redact(one.document.value, one.spec.broken)) <= set(ALLOWED)


def test_the_redacted_text_holds_no_secret() -> None:
    text = analysis.redacted_study(studies.study_text(HOSTILE, SETTINGS, "/home/alice/secret-name.yaml")).source.text
    assert [secret for secret in SECRETS if secret in text] == []
    assert "secret-name" not in text


@each("path", EXAMPLES)
def test_what_is_dumped_reads_back_as_the_same_value(path: Path) -> None:
    parsed, _ = document.parse(Source(path.name, path.read_text("utf-8")))
    assert parsed is not None
    again, problems = document.parse(Source("again.yaml", document.dump(parsed.value)))
    assert problems == []
    assert again is not None and again.value == parsed.value


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_tender_predicts_what_the_spec_predicts_without_measurements(path: Path) -> None:
    one = studies.study_text(path.read_text("utf-8"), SETTINGS, path.name, path.parent)
    if one.spec.measured:
        pytest.skip("measurements are not for suppliers")
    plan, shown = one.plan, analysis.redacted_study(one).plan
    assert (plan.step_time is None) == (shown.step_time is None)
    if plan.step_time is not None and shown.step_time is not None:
        assert shown.step_time.value == pytest.approx(plan.step_time.value, rel=1e-12)


def test_of_operation_and_procurement_only_demands_remain() -> None:
    kept = {"burn_in": "72 h"}
    buying = {"needed_by": "2027-06-01", "support": {"term": "5 years"}, "delivery": {"weeks": 20}}
    value = {
        "operations": {**kept, "checkpoint_interval": "1 h"},
        "procurement": {**buying, "delivery": {"weeks": 20, "milestones": ["x"]}, "budget": 1, "prices": {"node": 1}},
    }
    assert redact(value) == {"operations": kept, "procurement": buying}
    assert redact({"operations": {"checkpoint_interval": "1 h"}, "procurement": {"budget": 1}}) == {}


@pytest.mark.parametrize("value", [None, [], "text", {"cluster": "free text"}, {"cluster": ["a"], "name": {"a": "b"}}])
def test_what_is_no_spec_leaves_nothing(value: object) -> None:
    assert redact(value) == {}
