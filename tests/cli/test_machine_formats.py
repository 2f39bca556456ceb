"""SARIF, JSON, GitLab and JUnit: valid, with paths from the root of the repository, and with what was waived."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from clusterspec import resources
from tests.cli.conftest import BASE, Call
from tests.cli.test_written_files import FLAWED
from tests.effort import telling, thorough

RULE = "duplex-counted-as-one-way"
WAIVED = FLAWED.replace("# as sold", f"# clusterspec: ignore[{RULE}]: as sold")
TEXTS = [BASE, FLAWED, WAIVED, "a: [", "", BASE.replace("tp: 2", "tp: 2\n  tp: 4"), BASE.replace("nodes", "nodse")]


def sarif(call: Call, *words: str) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(call("check", *words, "--format", "sarif").out)["runs"][0]
    return run


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_json_is_what_its_schema_says(text: str, call: Call) -> None:
    schema = json.loads((resources.schemas() / "check.schema.json").read_text())
    Path("spec.yaml").write_text(text)
    call("check", "spec.yaml", "--write-baseline", "known.json")
    for words in ((), ("--baseline", "known.json")):
        document = json.loads(call("check", "spec.yaml", "--format", "json", *words).out)
        jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)


@thorough
def test_paths_begin_at_the_repository_from_any_folder(call: Call) -> None:
    Path(".git").mkdir()
    Path("a/b").mkdir(parents=True)
    Path("a/b/spec.yaml").write_text(FLAWED)
    for folder, name in ((".", "a/b/spec.yaml"), ("a", "b/spec.yaml"), ("b", "spec.yaml"), (".", "../b/spec.yaml")):
        os.chdir(folder)
        place = sarif(call, name)["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
        assert place == {"uri": "a/b/spec.yaml", "uriBaseId": "ROOTPATH"}
        (gitlab,) = json.loads(call("check", name, "--format", "gitlab").out)
        assert gitlab["location"]["path"] == "a/b/spec.yaml"
        assert ",file=a/b/spec.yaml," in call("check", name, "--format", "github").out


def test_sarif_holds_the_page_of_each_rule_and_its_usual_severity(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED.replace("nodes: 4", "nodes: 4\n  accelerators: 31"))
    run = sarif(call, "spec.yaml")
    for rule in run["tool"]["driver"]["rules"]:
        assert rule["help"]["markdown"].startswith(f"# {rule['id']}\n")
        assert rule["fullDescription"]["text"] != rule["shortDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}
    results = {result["ruleId"]: result for result in run["results"]}
    related = results["accelerators-miscounted"]["relatedLocations"]
    assert [one["physicalLocation"]["region"]["startLine"] for one in related] == [5]


def test_sarif_holds_what_is_waived_with_the_reason(call: Call) -> None:
    Path("spec.yaml").write_text(WAIVED)
    (result,) = sarif(call, "spec.yaml")["results"]
    assert result["ruleId"] == RULE
    assert result["suppressions"] == [{"kind": "inSource", "status": "accepted", "justification": "as sold"}]


@pytest.mark.parametrize(("fail_on", "failures"), [("error", 1), ("warning", 2), ("note", 2)])
def test_junit_fails_as_the_exit_status_does(fail_on: str, failures: int, call: Call) -> None:
    Path("spec.yaml").write_text(
        FLAWED + "  pp: 3\n" + "procurement: {currency: USD, prices: {node: 1}, utilization: 1.0}\n"
    )
    done = call("check", "spec.yaml", "--select", f"{RULE},full-utilization-assumed", "--format", "junit",
                "--fail-on", fail_on)  # fmt: skip
    suite = ElementTree.fromstring(done.out)[0]
    assert int(suite.attrib["failures"]) == failures == len(suite.findall("testcase/failure"))


def test_junit_holds_what_its_schema_requires(call: Call) -> None:
    """The elements, their order and attributes of JUnit.xsd (github.com/windyroad/JUnit-Schema)."""
    Path("spec.yaml").write_text(FLAWED + "procurement: {currency: USD, prices: {node: 1}, delivery: {weeks: 16}}\n")
    done = call("check", "spec.yaml", "--format", "junit", "--today", "2026-03-01")
    root = ElementTree.fromstring(done.out)
    (suite,) = root
    assert (root.tag, root.attrib, suite.tag) == ("testsuites", {}, "testsuite")
    counts = {"tests", "failures", "errors", "time", "id"}
    assert suite.attrib.keys() == {*counts, "name", "package", "timestamp", "hostname"}
    assert suite.attrib["timestamp"] == "2026-03-01T00:00:00"
    assert all(float(suite.attrib[name]) >= 0 for name in counts)
    tags = [one.tag for one in suite]
    assert tags == ["properties", *["testcase"] * (len(tags) - 3), "system-out", "system-err"]
    passing = []
    for case in suite.findall("testcase"):
        assert case.attrib.keys() == {"classname", "name", "time"}
        assert [one.tag for one in case] in ([], ["failure"])
        passing += [] if len(case) else [case.attrib["name"].split()[0]]
    said = (suite.findtext("system-out") or "").splitlines()
    assert passing
    assert [line.split("[")[1].split("]")[0] for line in said] == passing


@telling(1)
@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("  # clusterspec: ignore[shared-nic]: idle", ""),
        ("  # clusterspec: ignore[shared-nic, few-spines]: idle", ""),
        (f"  # clusterspec: ignore[shared-nic, {RULE}]: idle", f"  # clusterspec: ignore[{RULE}]: idle"),
    ],
)
def test_a_waiver_that_matches_nothing_is_removed_by_fix(comment: str, left: str, call: Call) -> None:
    text = FLAWED.replace("  # as sold", comment)
    Path("spec.yaml").write_text(text)
    done = call("check", "spec.yaml", "--fix", "--select", "unused-waiver")
    assert Path("spec.yaml").read_text() == FLAWED.replace("  # as sold", left)
    assert "fixed unused-waiver" in done.error


def test_a_waiver_alone_on_its_line_is_removed_with_the_line(call: Call) -> None:
    Path("spec.yaml").write_text(BASE.replace("  nodes: 4", "  # clusterspec: ignore[shared-nic]: idle\n  nodes: 4"))
    call("check", "spec.yaml", "--fix")
    assert Path("spec.yaml").read_text() == BASE


def test_a_waiver_of_a_rule_that_does_not_exist_is_a_finding(call: Call) -> None:
    Path("spec.yaml").write_text(BASE.replace("nodes: 4", "nodes: 4  # clusterspec: ignore[shared-nik]: x"))
    (finding,) = json.loads(call("check", "spec.yaml", "--format", "json").out)["findings"]
    assert (finding["rule"], finding["severity"]) == ("unreadable-waiver", "warning")
    assert finding["message"] == "no rule is called `shared-nik`; it waives nothing"
    assert finding["help"] == "did you mean `shared-nic`?"


def test_only_a_name_like_that_of_a_rule_is_offered_another(call: Call) -> None:
    Path("spec.yaml").write_text(BASE.replace("nodes: 4", "nodes: 4  # clusterspec: ignore[zzzz, tight-memry]: x"))
    findings = json.loads(call("check", "spec.yaml", "--format", "json").out)["findings"]
    assert [one["help"] for one in findings] == [
        "`clusterspec explain` lists the rules",
        "did you mean `tight-memory`?",
    ]


@thorough
def test_waivers_beyond_the_limit_are_not_read(call: Call) -> None:
    Path("spec.yaml").write_text(BASE + "".join(f"# clusterspec: ignore[few-spines]: {n}\n" for n in range(2000)))
    findings = json.loads(call("check", "spec.yaml", "--format", "json").out)["findings"]
    assert [one["line"] for one in findings if one["rule"] == "unreadable-waiver"] == [512]
    assert len(findings) == 101


def test_no_two_findings_of_gitlab_share_a_fingerprint(call: Call) -> None:
    Path("spec.yaml").write_text("clusterspec: 1\ncluster: {" + "nodes: 1, " * 5 + "platform: dgx-h100}\n")
    report = json.loads(call("check", "spec.yaml", "--format", "gitlab").out)
    marks = [one["fingerprint"] for one in report]
    assert len(marks) == len({*marks}) > 3
    baseline = json.loads(call("check", "spec.yaml", "--format", "sarif").out)["runs"][0]["results"]
    assert marks[0] in baseline[0]["partialFingerprints"].values()
