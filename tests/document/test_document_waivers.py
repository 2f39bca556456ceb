"""Laws of waivers: who is silenced, where, for how long, and what is said about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.document import Document, load, parse, to_finding, waivers
from clusterspec.finding import Finding, Problem
from clusterspec.source import Source
from tests.settings import TODAY


def document_of(text: str) -> Document:
    document, _ = parse(Source("t.yaml", text))
    assert document is not None
    return document


def after(text: str, *problems: Problem, skipped: tuple[str, ...] = ()) -> list[tuple[str, int]]:
    """Rule and line of every finding that is left."""
    document = document_of(text)
    found = [to_finding(problem, document, document.source) for problem in problems]
    return [(one.rule, one.span.start.line) for one in waivers.open_findings(found, document, TODAY, skipped)]


AT_A = Problem("shared-nic", ("a",), "")


@pytest.mark.parametrize(
    "text",
    [
        "a: 1  # clusterspec: ignore[shared-nic]: by design",
        "a: 1  # clusterspec: ignore[few-spines, shared-nic]: by design",
        "a: 1  # clusterspec: ignore[shared-nic] until 2026-11-20: by design",
        "# clusterspec: ignore[shared-nic]: by design\na: 1",
        "# clusterspec: ignore[shared-nic]: by design\n# as the vendor says\na: 1",
        "# clusterspec: ignore-file[shared-nic]: by design\n\na: 1",
        "a:  # clusterspec: ignore[shared-nic]: by design\n  1",
        "a:\n  1  # clusterspec: ignore[shared-nic]: by design",
    ],
)
def test_a_waiver_with_a_reason_silences_its_rule_where_it_stands(text: str) -> None:
    assert after(text, AT_A, skipped=("few-spines",)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1  # clusterspec: ignore[shared-nic]", "waiver-without-reason"),
        ("a: 1  # clusterspec: ignore[shared-nic]:  ", "waiver-without-reason"),
        ("a: 1  # clusterspec: ignore[shared-nic] until 2026-11-19: x", "expired-waiver"),
        ("a: 1  # clusterspec: ignore[shared-nic] until soon: x", "unreadable-waiver"),
        ("a: 1  # clusterspec: ignore[shared-nic] until 2026-13-01: x", "unreadable-waiver"),
        ("a: 1  # clusterspec: ignore shared-nic: x", "unreadable-waiver"),
        ("a: 1  # clusterspec: ignore[]: x", "unreadable-waiver"),
        ("a: 1  # clusterspec: ignore[few-spines]: x", "unused-waiver"),
        ("a: 1\nb: 2  # clusterspec: ignore[shared-nic]: x", "unused-waiver"),
        ("a: 1\n# clusterspec: ignore[shared-nic]: x", "unused-waiver"),
        ("a: 1\n# clusterspec: ignore-file[shared-nic]: x", "unreadable-waiver"),
    ],
)
def test_an_invalid_waiver_has_no_effect_and_is_a_finding(text: str, said: str) -> None:
    assert [rule for rule, _ in after(text, AT_A)] == ["shared-nic", said]


def test_comments_about_something_else_are_left_alone() -> None:
    assert after("a: 1  # clusterspec ignores this\nb: 'x # clusterspec: ignore[a]'") == []


def test_a_rule_that_did_not_run_leaves_no_unused_waiver() -> None:
    text = "a: 1  # clusterspec: ignore[shared-nic]: x"
    assert after(text, skipped=("shared-nic",)) == []
    assert after(text) == [("unused-waiver", 1)]


def test_a_waiver_in_a_base_applies_to_the_base_and_is_never_unused(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("a: 1  # clusterspec: ignore[shared-nic]: x\n")
    (tmp_path / "top.yaml").write_text("extends: base.yaml\nb: 1\n")
    (tmp_path / "over.yaml").write_text("extends: base.yaml\na: 2\n")
    for name, left in (("top", []), ("over", ["shared-nic"])):
        document, _ = load(str(tmp_path / f"{name}.yaml"))
        assert document is not None
        found = [to_finding(AT_A, document, document.source)]
        assert [finding.rule for finding in waivers.open_findings(found, document, TODAY)] == left


def test_a_waiver_for_a_whole_base_is_read_where_the_spec_replaces_every_key_of_it(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("# clusterspec: ignore-file[shared-nic]: x\na: 1\n")
    for name, keys in (("all", "a: 2"), ("none", "b: 2")):
        (tmp_path / f"{name}.yaml").write_text(f"extends: base.yaml\n{keys}\n")
        document, _ = load(str(tmp_path / f"{name}.yaml"))
        assert document is not None
        assert waivers.open_findings([], document, TODAY) == []


@given(st.text(st.sampled_from("ab[],: -#untilreasonclusterspec:ignore[a]:"), max_size=60), st.integers(0, 3))
def test_no_comment_makes_a_finding_of_another_rule_vanish(comment: str, line: int) -> None:
    lines = ["a: 1", "b: 2", "c: 3"]
    lines.insert(line, "# clusterspec: ignore" + comment)
    document = document_of("\n".join(lines))
    found = [to_finding(Problem("some-other-rule", ("b",), ""), document, document.source)]
    kept: list[Finding] = waivers.open_findings(found, document, TODAY)
    assert found[0] in kept
