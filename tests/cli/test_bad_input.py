"""Anything wrong in a spec ends as a finding with a place; anything wrong with the call as one clear line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, Call
from tests.effort import telling, thorough

FABRIC = """\
clusterspec: 1
name: fabric
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 4
  scale_out:
    technology: infiniband-ndr
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    planes: 1
"""

IN_A_SPEC = [
    (BASE.replace("nodes: 4", "nodes: 10**18"), "/cluster/nodes"),
    (BASE.replace("nodes: 4", "nodes: 1000000000000000000"), "/cluster/nodes"),
    (BASE.replace("nodes: 4", "nodes: 0"), "/cluster/nodes"),
    (BASE.replace("nodes: 4", "nodes: -4"), "/cluster/nodes"),
    (BASE.replace("nodes: 4", "nodes: 3.5"), "/cluster/nodes"),
    (BASE.replace("nodes: 4", "nodes: no"), "/cluster/nodes"),
    (BASE.replace("global_batch: 64", "global_batch: 0"), "/workload/global_batch"),
    (BASE.replace("global_batch: 64", "global_batch: 64\n  expected_mfu: 40 %"), "/workload/expected_mfu"),
    (BASE.replace("tp: 2", "order: [tp, tp, cp, ep, dp, pp]"), "/layout/order"),
    (BASE.replace("tp: 2", "order: [tp, cp]"), "/layout/order"),
    (BASE.replace("tp: 2", "tp: 2\n  tp: 4"), "/layout/tp"),
    (BASE.replace("tp: 2", "stage_layers: []"), "/layout/stage_layers"),
    (FABRIC.replace("planes: 1", "oversubscription: 0:1"), "/cluster/scale_out/oversubscription"),
    (FABRIC.replace("400 Gb/s", "0 Gb/s"), "/cluster/scale_out/nic_bandwidth"),
    (FABRIC.replace("400 Gb/s", "-400 Gb/s"), "/cluster/scale_out/nic_bandwidth"),
    (FABRIC.replace("400 Gb/s", "400"), "/cluster/scale_out/nic_bandwidth"),
    (FABRIC.replace("400 Gb/s", "400 gb/s"), "/cluster/scale_out/nic_bandwidth"),
    (BASE.replace("nodes: 4", "nodes: 4\n  scale_up: {topology: torus, shape: []}"), "/cluster/scale_up/shape"),
    (BASE.replace("nodes: 4", "nodes: 4\n  scale_up: {bandwidth: 900 GB/s}"), "/cluster/scale_up/bandwidth"),
]


@telling(2)
@pytest.mark.parametrize(("text", "path"), IN_A_SPEC)
def test_a_faulty_value_is_a_finding_at_its_key(text: str, path: str, call: Call) -> None:
    Path("spec.yaml").write_text(text)
    done = call("check", "spec.yaml", "--format", "json")
    errors = [finding for finding in json.loads(done.out)["findings"] if finding["severity"] == "error"]
    assert done.status == 1
    assert any(finding["path"].startswith(path) for finding in errors), errors
    lines = text.splitlines()
    for finding in errors:
        assert 1 <= finding["line"] <= len(lines)
        assert 1 <= finding["column"] <= len(lines[finding["line"] - 1]) + 1


@thorough
@pytest.mark.parametrize(("text", "_"), IN_A_SPEC)
@pytest.mark.parametrize(
    "words",
    [("estimate",), ("collective", "all-reduce", "--ranks", "8", "--size", "1 GiB"), ("bom",)],
    ids=lambda w: w[0],
)
def test_every_command_reports_what_it_can_of_an_invalid_spec(
    words: tuple[str, ...], text: str, _: str, call: Call
) -> None:
    Path("spec.yaml").write_text(text)
    done = call(words[0], "spec.yaml", *words[1:], "--format", "json")
    assert done.status == 1
    assert json.loads(done.out)["version"] == 1


NOT_QUITE = [
    FABRIC.replace("nodes: 4", "nodes: 1").replace("planes: 1", "tiers: 2"),
    FABRIC.replace("400 Gb/s", "800 Gb/s duplex").replace("planes: 1", "tiers: 2"),
    BASE.split("layout:")[0],
    BASE.split("workload:")[0] + "layout:\n  tp: 2\n",
    BASE.split("workload:")[0],
    "clusterspec: 1\n",
    "clusterspec: 1\nname: nothing\ncluster:\n",
]


@telling(2)
@pytest.mark.parametrize("text", NOT_QUITE)
@pytest.mark.parametrize("command", ["check", "estimate", "bom"])
def test_an_incomplete_spec_is_no_internal_error(command: str, text: str, call: Call) -> None:
    Path("spec.yaml").write_text(text)
    done = call(command, "spec.yaml", "--format", "json")
    assert done.status in (0, 1), done.error
    json.loads(done.out)


IN_THE_CALL = [
    ("check", "absent.yaml"),
    ("check", "spec.yaml", "--select", "no-such-rule"),
    ("check", "spec.yaml", "--format", "prose"),
    ("check", "spec.yaml", "--catalog", "absent"),
    ("check", "spec.yaml", "--config", "absent.toml"),
    ("check", "spec.yaml", "--today", "tomorrow"),
    ("check", "spec.yaml", "--output", "absent/out.txt"),
    ("check", "spec.yaml", "--jobs", "0"),
    ("estimate",),
    ("estimate", "absent.yaml"),
    ("estimate", "folder"),
    ("estimate", "spec.yaml", "--explain", "no such term"),
    ("collective", "spec.yaml", "all-reduce", "--ranks", "0", "--size", "1 GiB"),
    ("collective", "spec.yaml", "all-reduce", "--ranks", "8", "--size", "0"),
    ("collective", "spec.yaml", "all-reduce", "--ranks", "8", "--size", "0 GiB"),
    ("collective", "spec.yaml", "all-reduce", "--ranks", "8", "--size", "1 gb"),
    ("collective", "spec.yaml", "all-reduce", "--ranks", "8", "--size", "1e30 GB"),
    ("collective", "spec.yaml", "all-reduce", "--ranks", "8", "--size", "9" * 400),
    ("collective", "spec.yaml", "all-reduce", "--ranks", "9999", "--size", "1 GiB"),
    ("collective", "spec.yaml", "all-reduce", "--ranks", "8", "--size", "1 GiB", "--algorithm", "magic"),
    ("collective", "spec.yaml", "gossip", "--ranks", "8", "--size", "1 GiB"),
    ("report", "spec.yaml", "-o", "out.docx"),
    ("report", "spec.yaml", "-o", "out"),
    ("report", "spec.yaml", "-o", "folder.html"),
    ("report", "spec.yaml", "-o", "absent/out.html"),
    ("explain", "no-such-rule"),
    ("convert", "nine hundred"),
    ("catalog", "show", "no-such-entry"),
    ("catalog", "list", "no-such-kind"),
    ("import", "nothing", "absent"),
    ("no-such-command",),
]


@pytest.mark.parametrize("words", IN_THE_CALL, ids=" ".join)
def test_a_call_that_cannot_be_carried_out_is_one_clear_line(words: tuple[str, ...], call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    Path("folder").mkdir()
    Path("folder.html").mkdir()
    done = call(*words)
    assert done.status == 2, done
    assert done.out == ""
    assert "Traceback" not in done.error
    assert done.error.strip().splitlines()[-1].startswith("clusterspec")
    assert sorted(path.name for path in Path().iterdir()) == ["folder", "folder.html", "spec.yaml"]


def test_an_internal_error_is_one_line_and_status_three(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("spec.yaml").write_text(BASE)
    monkeypatch.setattr("clusterspec.analysis.check", lambda *_: 1 / 0)
    done = call("check", "spec.yaml")
    assert (done.status, done.out, len(done.error.splitlines())) == (3, "", 1)
    with pytest.raises(ZeroDivisionError):
        call("check", "spec.yaml", "--debug")


def test_standard_input_is_read_and_named(call: Call) -> None:
    done = call("check", "-", "--stdin-filename", "named.yaml", "--format", "concise", stdin=b"clusterspec: 2\n")
    assert done.status == 1
    assert done.out.startswith("named.yaml:1:")


def test_a_folder_is_searched_and_other_yaml_passed_over(call: Call) -> None:
    Path("specs").mkdir()
    Path("specs/one.yaml").write_text(BASE)
    Path("specs/other.yaml").write_text("kind: Deployment\n")
    done = call("check", "specs", "--format", "json")
    assert [read["file"] for read in json.loads(done.out)["inputs"]] == ["specs/one.yaml"]


def test_a_report_is_written_whole_or_not_at_all(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    Path("out.html").write_text("what stood here before")
    Path().chmod(0o555)
    try:
        done = call("report", "spec.yaml", "-o", "out.html", "--kind", "procurement")
    finally:
        Path().chmod(0o755)
    if done.status == 2:  # root may write anywhere
        assert Path("out.html").read_text() == "what stood here before"
    assert [path.name for path in Path().glob(".out*")] == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("clusterspec: 1\n", "missing-key"),
        ("clusterspec: 1\ncluster:\n", "missing-key"),
        ("clusterspec: 1\nextends: absent.yaml\n", "unresolved-extends"),
        ("clusterspec: 1\nextends: spec.yaml\nlayout: {tp: 2}\n", "unresolved-extends"),
        ("clusterspec: 1\nextends: 3\n", "wrong-type"),
        ("clusterspec: 1\ncluster: 3\n", "wrong-type"),
        ("clusterspec: 1\ncluster:\n  <<: {platform: dgx-h100}\n  nodes: 4\n", "unreadable-yaml"),
    ],
)
def test_one_error_is_one_finding(text: str, rule: str, call: Call) -> None:
    Path("spec.yaml").write_text(text)
    findings = json.loads(call("check", "spec.yaml", "--format", "json").out)["findings"]
    assert [finding["rule"] for finding in findings] == [rule]
