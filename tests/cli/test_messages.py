"""A message names the mistake and what to write instead, for common words and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, Call
from tests.effort import telling

PARTS = """\
clusterspec: 1
name: parts
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 4
  scale_up: {interconnect: nvlink-9}
"""


def findings(text: str, call: Call) -> list[dict[str, str]]:
    Path("spec.yaml").write_text(text)
    found: list[dict[str, str]] = json.loads(call("check", "spec.yaml", "--format", "json").out)["findings"]
    return found


@pytest.mark.parametrize(
    ("old", "new", "help_"),
    [
        ("tp: 2", "tensor_parallel: 2", "did you mean `tp`?"),
        ("tp: 2", "tensor_model_parallel_size: 2", "did you mean `tp`?"),
        ("tp: 2", "tp: 2\n  pipeline-parallel-size: 1", "did you mean `pp`?"),
        ("tp: 2", "tp: 2\n  micro_batch_size: 1", "did you mean `micro_batch`?"),
        ("sequence_length: 8192", "seq_len: 8192", "did you mean `sequence_length`?"),
        ("global_batch: 64", "batch_size: 64", "did you mean `global_batch`?"),
        ("global_batch: 64", "global_batch: 64\n  dtype: bf16", "did you mean `precision`?"),
        ("nodes: 4", "num_nodes: 4", "did you mean `nodes`?"),
        ("nodes: 4", "nodes: 4\n  gpus_per_node: 8", "did you mean `accelerators_per_node`?"),
        ("name: base", "name: base\ntensor_parallel: 8", "write `tp` in `layout`"),
        ("nodes: 4", "nodes: 4\n  scale_out: {fabric: infiniband-ndr}", "did you mean `technology`?"),
    ],
)
def test_keys_of_other_programs_suggest_the_key_of_the_format(old: str, new: str, help_: str, call: Call) -> None:
    (finding,) = [one for one in findings(BASE.replace(old, new), call) if one["severity"] == "error"]
    assert (finding["rule"], finding["help"]) == ("unknown-key", help_)


def test_an_unknown_interconnect_names_that_of_the_accelerator(call: Call) -> None:
    (finding,) = [one for one in findings(PARTS, call) if one["severity"] == "error"]
    assert finding["rule"] == "unknown-catalog-id"
    assert finding["help"].startswith("h100-sxm-80gb has `nvlink-4`; nearest: ")


def test_a_wrong_choice_lists_the_choices(call: Call) -> None:
    (finding,) = [one for one in findings(BASE.replace("tp: 2", "schedule: 1f2b"), call) if one["severity"] == "error"]
    assert finding["help"].endswith("The choices are `1f1b`, `interleaved`, `gpipe`, `zero-bubble` or `dualpipe`")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n", "a Kubernetes manifest (kind `Deployment`)"),
        ("apiVersion: v2\nname: x\nversion: 1.0.0\n", "a Helm chart"),
        ("name: x\nservices: {web: {image: x}}\n", "a Docker Compose file"),
        ("name: x\non: push\njobs: {}\n", "a GitHub Actions workflow"),
    ],
)
def test_a_file_of_another_program_is_recognized(text: str, what: str, call: Call) -> None:
    (finding,) = findings(text, call)
    assert finding["rule"] == "unsupported-spec-version"
    assert finding["message"] == f"this is {what}, not a spec: the top level has no `clusterspec: 1`"


@pytest.mark.parametrize(
    ("old", "new", "rule", "said"),
    [
        ("tp: 2\n", "tp: 2\nprocurement: {currency: US$}\n", "wrong-type", "write `currency: USD`"),
        ("tp: 2\n", "tp: 2\nprocurement: {as_of: 1.11.2026}\n", "wrong-type", "a date as YYYY-MM-DD"),
        ("  nodes: 4", "    nodes: 4", "unreadable-yaml", "indented deeper than the key above it"),
        (
            "nodes: 4",
            "nodes: 4\n  scale_out: {mtu: 4096, technology: infiniband, nic_bandwidth: 300 Gb/s}",
            "unknown-catalog-id",
            "infiniband-hdr",
        ),
        ("nodes: 4", "nodes: 4\n  scale_out: {nic_bandwidth: 400}", "missing-unit", "write `400 Gb/s` or"),
    ],
)
def test_an_error_message_names_the_remedy(old: str, new: str, rule: str, said: str, call: Call) -> None:
    found = [one for one in findings(BASE.replace(old, new), call) if one["rule"] == rule]
    assert len(found) == 1
    assert said in found[0]["message"] + found[0]["help"]


@telling(1)
@pytest.mark.parametrize("key", ["Clusterspec", "CLUSTERSPEC", "clusterSpec", "cluster-spec"])
def test_a_spec_whose_first_key_is_misspelled_is_checked(key: str, call: Call) -> None:
    Path("specs").mkdir()
    Path("specs/spec.yaml").write_text(BASE.replace("clusterspec:", f"{key}:"))
    done = call("check", "specs", "--format", "json")
    assert [(one["rule"], one["help"]) for one in json.loads(done.out)["findings"]] == [
        ("unknown-key", "did you mean `clusterspec`?")
    ]
    assert call("check", "specs", "--fix").status == 0
    assert Path("specs/spec.yaml").read_text() == BASE


def test_a_workload_of_an_unreadable_kind_lacks_no_key(call: Call) -> None:
    text = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\nworkload: {kind: inference, model: llama-3-8b}\n"
    assert {one["rule"] for one in findings(text, call)} == {"unknown-choice"}


UNREADABLE = [("nodes: 4", "nodes: 4 nodes"), ("sequence_length: 8192", "sequence_length: 8k"), ("nodes: 4", "n: 4")]
BESIDE = [
    ("bandwidth: 900 GB/s unidirectional", "duplex-counted-as-one-way"),
    ("interconnect: nvlink-5", "interconnect-not-of-accelerator"),
    ("interconnect: nvlink-55", "unknown-catalog-id"),
]


@telling(2)
@pytest.mark.parametrize(("old", "new"), UNREADABLE)
@pytest.mark.parametrize(("line", "rule"), BESIDE)
def test_one_unreadable_key_does_not_hide_the_finding_next_to_it(
    line: str, rule: str, old: str, new: str, call: Call
) -> None:
    flawed = BASE.replace("platform: dgx-h100", f"platform: dgx-h100\n  scale_up: {{{line}}}")
    alone = {one["rule"] for one in findings(flawed, call)}
    both = {one["rule"] for one in findings(flawed.replace(old, new), call)}
    assert rule in alone & both


@pytest.mark.parametrize("column", [1, 40, 95, 120, 400])
@pytest.mark.parametrize("width", [40, 100])
def test_the_mark_is_under_the_reported_part(column: int, width: int, call: Call) -> None:
    from clusterspec.finding import Severity
    from clusterspec.report import TextStyle
    from clusterspec.report.findings_text import frame_lines
    from clusterspec.source import Position, Source, Span

    line = "." * (column - 1) + "WRONG" + "." * 300
    span = Span("x", Position(1, column), Position(1, column + 5))
    *_, excerpt, mark = frame_lines(span, Severity.ERROR, {"x": Source("x", line)}, TextStyle(width=width))
    assert "".join(a for a, b in zip(excerpt, mark, strict=False) if b == "^") == "WRONG"
    assert len(excerpt) <= width


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('select = ["Shared Nic"]', "did you mean shared-nic?"),
        ('select = ["zzzzzz"]', "`clusterspec explain` lists the rules"),
        ("thresholds = {shared-nic = 2}", "shared-nic has no threshold; rules with a threshold are "),
        ('fial-on = "warning"', "did you mean fail-on?"),
        ('severity = {shared-nic = "warn"}', "did you mean warning?"),
    ],
)
def test_configuration_errors_name_the_remedy(text: str, said: str, call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    Path("clusterspec.toml").write_text(text)
    done = call("check", "spec.yaml")
    assert (done.status, done.out) == (2, "")
    assert said in done.error


@pytest.mark.parametrize(
    ("words", "offer"),
    [
        (("chek", "spec.yaml"), "unknown command 'chek'; did you mean check?"),
        (("check", "spec.yaml", "--formatt", "json"), "unknown option --formatt; did you mean --format?"),
        (("check", "spec.yaml", "--fail-on", "warnings"), "did you mean warning?"),
        (("collective", "spec.yaml", "allreduce"), "did you mean all-reduce?"),
        (("explain", "tp-crosses"), "did you mean tp-crosses-scale-up-domain"),
        (("import", "maxtxt", "run.yml"), "did you mean maxtext?"),
    ],
)
def test_a_misspelled_word_of_a_call_is_answered_with_the_nearest(
    words: tuple[str, ...], offer: str, call: Call
) -> None:
    result = call(*words)
    assert result.status == 2
    assert offer in result.error


def test_a_second_document_is_one_finding_and_hides_no_key(call: Call) -> None:
    """The keys below the mark are not missing: they are not read."""
    text = b"clusterspec: 1\nname: x\n---\ncluster: {platform: dgx-h100, nodes: 4}\n"
    done = call("check", "-", "--format", "concise", stdin=text)
    assert done.status == 1 and len(done.out.splitlines()) == 1 and "a second document begins here" in done.out


def test_an_unknown_unit_is_answered_with_the_example_of_its_key(call: Call) -> None:
    text = b"clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4}\nprocurement: {term: 4 Jahre}\n"
    done = call("check", "-", "--select", "unreadable-quantity", stdin=text)
    assert "write a time such as `4 years`" in done.out


def test_a_report_with_two_files_is_refused_before_it_writes_one(call: Call) -> None:
    Path("x.yaml").write_text("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4}\n", "utf-8")
    done = call("report", "x.yaml", "-o", "a.html", "-o", "b.json")
    assert done.status == 2 and "given twice" in done.error and not list(Path().glob("[ab].*"))
