"""Many files: each is checked as it would be alone, in order, and none hides another."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from clusterspec.cli import files
from clusterspec.cluster.variation import design_of_spec
from clusterspec.results import NOTHING_CHECKED
from clusterspec.spec.model import Spec
from tests.cli.conftest import BASE, Call
from tests.effort import thorough

FLAWED = BASE.replace("tp: 2", "tp: 3")


def test_several_processes_give_the_same_output_as_one(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WORTHWHILE", 4)
    for number in range(20):
        Path(f"{number:02}.yaml").write_text(FLAWED if number % 3 else BASE)
    one, several = (call("check", ".", "--format", "json", "--jobs", jobs) for jobs in ("1", "3"))
    assert (one.status, one.error) == (several.status, several.error) == (1, "")
    assert one.out == several.out
    assert [row["file"] for row in json.loads(one.out)["inputs"]] == [f"{number:02}.yaml" for number in range(20)]


def test_a_usage_error_in_a_worker_process_is_one_line(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "WORTHWHILE", 2)
    for number in range(8):
        Path(f"{number}.yaml").write_text(BASE)
    Path("clusterspec.toml").write_text('catalog = ["absent"]\n')
    done = call("check", ".", "--jobs", "2")
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)


def crash(*_: object) -> None:
    raise ZeroDivisionError("nothing to divide by")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_rule_that_crashes_hides_no_other_finding(jobs: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from clusterspec.rules.pages import module

    monkeypatch.setattr(files, "WORTHWHILE", 1)
    monkeypatch.setattr(module("unusual-value"), "check", crash)
    for name in ("one.yaml", "two.yaml"):
        Path(name).write_text(FLAWED)
    done = call("check", ".", "--format", "concise", "--jobs", jobs)
    assert done.status == 3
    assert "one.yaml" in done.out
    assert "two.yaml" in done.out
    assert done.error.startswith("clusterspec: internal error (one.yaml: RulesFailedError: rule unusual")
    assert len(done.error.splitlines()) == 1


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit", "github", "markdown"])
@pytest.mark.parametrize("files", [{}, {"one.yaml": BASE}], ids=["nothing checked", "internal error"])
def test_no_format_calls_a_run_clean_that_checked_nothing_or_not_everything(
    files: dict[str, str], form: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clusterspec.rules.pages import module

    monkeypatch.setattr(module("unusual-value"), "check", crash)
    for name, text in files.items():
        Path(name).write_text(text)
    done = call("check", ".", "--format", form)
    assert done.status == (3 if files else 0)
    assert ("internal error prevented a part of the check" if files else NOTHING_CHECKED[:14]) in done.out
    assert "All clear" not in done.out and "nothing found" not in done.out
    if form == "sarif":
        invocation = json.loads(done.out)["runs"][0]["invocations"][0]
        assert invocation["executionSuccessful"] == (not files) and len(invocation["toolExecutionNotifications"]) == 1
    if form == "json":
        assert len(json.loads(done.out)["notes"]) == 1
    if form == "junit":
        assert f'tests="{len(files)}" failures="0" errors="{len(files)}"' in done.out


@pytest.mark.parametrize("words", [("--format", "concise"), ("--format", "gitlab"), ("--format", "json"), ("-q",)])
def test_a_run_that_checked_nothing_says_so_on_standard_error(words: tuple[str, ...], call: Call) -> None:
    done = call("check", ".", *words)
    assert (done.status, done.error) == (0, f"clusterspec: {NOTHING_CHECKED}\n")
    Path("one.yaml").write_text(BASE)
    assert call("check", ".", *words).error == ""


@pytest.mark.parametrize("words", [("estimate",), ("bom",), ("collective", "all-reduce", "--ranks", "8")], ids=str)
def test_a_crashing_rule_does_not_prevent_other_output(
    words: tuple[str, ...], call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clusterspec.rules.pages import module

    Path("spec.yaml").write_text(BASE)
    command = (words[0], "spec.yaml", *words[1:], "--format", "json")
    before = call(*command)
    monkeypatch.setattr(module("unusual-value"), "check", crash)
    after = call(*command)
    assert (before.status, after.status) == (0, 3)
    assert json.loads(after.out) == json.loads(before.out)


PARTS = [
    ("clusterspec.analysis.levers.survival.survival", "survival"),
    ("clusterspec.analysis.full_report.roofline", "roofline"),
    ("clusterspec.analysis.full_report.layout_grid", "layouts"),
    ("clusterspec.analysis.paths.pod_topology", "pod"),
    ("clusterspec.analysis.full_report.stage_memory", "stage memory"),
    ("clusterspec.analysis.machine.machine", "machine"),
    ("clusterspec.analysis.areas.verdict_areas", "areas"),
    ("clusterspec.analysis.full_report.reliability", "reliability"),
    ("clusterspec.analysis.levers.influence.largest_influence", "influence of "),
    ("clusterspec.procurement.cost.cost", "cost"),
    ("clusterspec.analysis.levers.effects.sensitivity", "sensitivity"),
]
"""Functions of parts of a report, and the names of the parts."""


def test_every_part_is_a_function() -> None:
    assert all(callable(resolve_name(function)) for function, _ in PARTS)


@thorough
@pytest.mark.parametrize("failing", [PARTS[:1], PARTS], ids=["the first", "all"])
def test_a_part_that_fails_is_named_and_the_report_is_written_without_it(
    failing: list[tuple[str, str]], call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("spec.yaml").write_text(BASE)
    for function, _ in failing:
        monkeypatch.setattr(function, crash)
    done = call("report", "spec.yaml", "-o", "out.html")
    assert done.status == 3
    wrote, failed = done.error.splitlines()
    assert wrote == "wrote out.html"
    assert failed.startswith("clusterspec: internal error (")
    assert any(f"internal error ({part}" in failed for _, part in failing)
    others = re.search(r"and (\d+) more", failed)
    assert (int(others[1]) if others else 0) + 1 >= len(failing)
    assert Path("out.html").read_text().rstrip().endswith("</html>")


def test_an_influence_that_fails_hides_neither_the_estimate_nor_the_findings(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("spec.yaml").write_text(BASE)
    whole = call("estimate", "spec.yaml").out
    monkeypatch.setattr("clusterspec.analysis.levers.influence.largest_influence", crash)
    done = call("estimate", "spec.yaml")
    assert done.status == 3
    assert [line for line in whole.splitlines() if line not in done.out] != whole.splitlines()
    assert whole.split("Step time")[0].strip() in done.out
    assert done.error.count("\n") == 1


def test_rules_on_a_spec_that_lacks_a_number_survive_a_crash_of_one(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clusterspec.rules.pages import module

    Path("spec.yaml").write_text(BASE.replace("nodes: ", "node: ").replace("pp: 2", "pp: 2, tp: 3"))
    before = call("check", "spec.yaml", "--format", "concise")
    monkeypatch.setattr(module("unusual-value"), "check", crash)
    after = call("check", "spec.yaml", "--format", "concise")
    assert (before.status, after.status) == (1, 3)
    assert after.out == before.out != ""


def test_an_internal_error_on_one_file_does_not_hide_other_files(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def choosy(spec: Spec, *others: Any) -> object:
        if "one" in spec.file:
            crash()
        return design_of_spec(spec, *others)

    monkeypatch.setattr(sys.modules["clusterspec.studies"], "design_of_spec", choosy)
    for name in ("one.yaml", "two.yaml"):
        Path(name).write_text(FLAWED)
    done = call("check", ".", "--format", "concise")
    assert done.status == 3
    assert "two.yaml" in done.out
    assert "one.yaml" in done.error


def test_the_library_raises_when_a_rule_crashes(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    import clusterspec
    from clusterspec.rules import RulesFailedError
    from clusterspec.rules.pages import module

    Path("spec.yaml").write_text(BASE)
    monkeypatch.setattr(module("unusual-value"), "check", crash)
    with pytest.raises(RulesFailedError):
        clusterspec.check("spec.yaml")
    assert call("check", "spec.yaml").status == 3


OTHER = {
    "deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {labels: {clusterspec: yes}}\n",
    "several.yaml": "kind: Service\n---\nkind: Ingress\n",
    "template.yaml": "replicas: {{ .Values.replicas }}\n",
    "empty.yaml": "",
}


def test_only_specs_are_checked_where_a_hook_names_every_file(call: Call) -> None:
    for name, text in OTHER.items():
        Path(name).write_text(text)
    done = call("check", "--only-specs", *OTHER, "--format", "concise")
    assert (done.status, done.out) == (0, "")
    assert done.error == f"clusterspec: {NOTHING_CHECKED}\n"
    Path("good.yaml").write_text(BASE)
    Path("bad.yaml").write_text(FLAWED)
    done = call("check", "--only-specs", *OTHER, "good.yaml", "bad.yaml", "--format", "json")
    assert done.status == 1
    assert [row["file"] for row in json.loads(done.out)["inputs"]] == ["good.yaml", "bad.yaml"]


@pytest.mark.parametrize("name", OTHER)
def test_a_file_named_explicitly_is_not_passed_over(name: str, call: Call) -> None:
    Path(name).write_text(OTHER[name])
    assert call("check", name).status == 1


def test_unreadable_files_of_a_folder_are_reported(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from clusterspec.document import files as spec_files
    from clusterspec.document import read_bytes

    def denied(name: str) -> bytes:
        if "secret" in name:
            raise PermissionError(13, "Permission denied", name)
        return read(name)

    read = read_bytes
    monkeypatch.setattr(spec_files, "read_bytes", denied)  # the tests may run as root, whom nothing is denied
    Path("specs").mkdir()
    Path("specs/open.yaml").write_text(BASE)
    Path("specs/secret.yaml").write_text(BASE)
    done = call("check", "specs", "--format", "json")
    document = json.loads(done.out)
    assert done.status == 1
    assert [row["file"] for row in document["inputs"]] == ["specs/secret.yaml", "specs/open.yaml"]
    assert [(row["file"], row["rule"], row["message"]) for row in document["findings"]] == [
        ("specs/secret.yaml", "unreadable-yaml", "the file cannot be read: permission denied")
    ]


def test_an_unreadable_folder_is_reported(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    Path("specs").mkdir()
    monkeypatch.setattr("os.scandir", denied)
    done = call("check", "specs")
    assert (done.status, done.error) == (2, "clusterspec: specs: Permission denied\n")


def test_a_folder_with_comments_in_another_file_is_searched_at_once(call: Call) -> None:
    """Each comment that ends in CR LF once doubled the time to find that a file is no spec."""
    Path("other.yaml").write_bytes(b"# a comment\r\n" * 2_000 + b"cluster-specs: 1\r\n")
    Path("spec.yaml").write_bytes(b"# a comment\r\n" * 2_000 + BASE.replace("\n", "\r\n").encode())
    done = call("check", ".", "--format", "json")
    assert [row["file"] for row in json.loads(done.out)["inputs"]] == ["spec.yaml"]
