"""Each command does what the contract says, and says it the same way twice."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path

import pytest

from clusterspec import resources
from clusterspec.cli.commands import COMMANDS, TITLES, documented_commands, parser
from tests.cli.conftest import BASE, Call
from tests.effort import sampled, telling, thorough

CONTRACT = {
    "check",
    "estimate",
    "collective",
    "search",
    "bom",
    "report",
    "diff",
    "explain",
    "catalog",
    "convert",
    "import",
    "export",
    "init",
    "schema",
}


def test_every_command_of_the_contract_exists() -> None:
    assert {*COMMANDS} >= CONTRACT


def test_the_help_lists_every_command(call: Call) -> None:
    listed = call("--help").out
    assert all(re.search(rf"^    {name}\s", listed, re.MULTILINE) for name in COMMANDS)
    assert {name for name, _ in documented_commands(parser())} == set(COMMANDS)


def test_each_command_stands_once_in_the_help_below_what_it_is_for() -> None:
    assert sorted(name for names in TITLES.values() for name in names.split()) == sorted(COMMANDS)


@telling(2)
@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_begins_with_a_call_that_works(name: str) -> None:
    one = dict(documented_commands(parser()))[name]
    help_ = one.format_help()
    usage = help_.split("\n\n")[0].splitlines()
    assert usage[0].startswith(f"usage: clusterspec {name} [OPTION ...]")
    assert len(usage) <= 3, "what a call needs is told at a glance"
    calls = [line.removeprefix("example: clusterspec ") for line in usage if line.startswith("example: ")]
    assert calls or name in {"lsp", "schema"}  # take nothing
    for call in calls:
        assert parser().parse_args(shlex.split(call)).command == name
    assert help_.index("\noptions:") < help_.index("\neverywhere:") < help_.index("\nExit status: 0")


def test_the_first_help_begins_with_the_commands(call: Call) -> None:
    help_ = call("--help").out
    assert help_.index("\ncommands:") < help_.index("\noptions:") < help_.index("\neverywhere:")


def test_the_parser_of_one_command_is_the_parser_of_all() -> None:
    for name, one in documented_commands(parser()):
        assert dict(documented_commands(parser([name])))[name].format_help() == one.format_help()


def test_the_starting_spec_checks_clean(call: Call) -> None:
    Path("cluster.yaml").write_text(call("init").out)
    done = call("check", "cluster.yaml", "--fail-on", "note")
    assert done.status == 0, done.out


def test_the_schema_is_printed_as_shipped(call: Call) -> None:
    assert call("schema").out == (resources.schemas() / "editor.schema.json").read_text("utf-8")
    assert call("schema", "--annotated").out == (resources.schemas() / "spec.schema.json").read_text("utf-8")


@pytest.mark.parametrize("command", ["estimate", "bom", "check"])
def test_json_begins_as_the_contract_says(command: str, call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    document = json.loads(call(command, "spec.yaml", "--format", "json").out)
    assert list(document)[:3] == ["version", "tool", "input"]
    assert document["version"] == 1
    assert set(document["tool"]) == {"version", "catalog"}
    assert document["input"]["file"] == "spec.yaml"
    assert len(document["input"]["sha256"]) == 64


ESTIMATE = {
    *("cluster", "layout", "parameters", "active_parameters", "step_time", "tokens_per_second_per_accelerator"),
    *("model_flops_per_accelerator", "mfu", "hfu", "mfu_convention", "time_to_train", "fits", "range", "memory"),
    *("communication", "terms", "assumptions"),
}


def test_an_estimate_has_every_field(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    document = json.loads(call("estimate", "spec.yaml", "--format", "json").out)
    assert set(document) >= ESTIMATE
    assert set(document["memory"]) == {"total", "weights", "gradients", "optimizer", "activations", "other", "capacity"}
    assert document["step_time"] > 0
    assert 0 < document["mfu"] < 1
    assert document["fits"] is (document["memory"]["total"] <= document["memory"]["capacity"])
    low, high = document["range"]["step_time"]
    assert low <= document["step_time"] <= high


def test_a_spec_without_workload_has_null_for_unknown_fields(call: Call) -> None:
    Path("spec.yaml").write_text(BASE.split("workload:")[0])
    document = json.loads(call("estimate", "spec.yaml", "--format", "json").out)
    assert set(document) >= ESTIMATE
    assert document["step_time"] is None
    assert document["cluster"]["accelerators"] == 32


@thorough
def test_every_term_can_be_explained(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    document = json.loads(call("estimate", "spec.yaml", "--format", "json").out)

    def names(terms: list[dict[str, object]]) -> set[str]:
        return {str(t["name"]) for t in terms} | {n for t in terms for n in names(t["parts"])}  # type: ignore[arg-type]

    known = sorted(names(document["terms"]))
    for name in sampled(known, len(known) // 2):
        done = call("estimate", "spec.yaml", "--explain", name)
        assert done.status == 0
        assert done.out.startswith(name)


def test_parts_of_a_sum_add_up(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    document = json.loads(call("estimate", "spec.yaml", "--format", "json").out)
    step = next(term for term in document["terms"] if term["unit"] == "s")
    assert sum(part["value"] for part in step["parts"]) == pytest.approx(step["value"])


def test_a_collective_in_three_formats_is_the_same_table(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    words = ("collective", "spec.yaml", "all-reduce", "--ranks", "16", "--size", "1 MiB", "--size", "1 GiB")
    rows = json.loads(call(*words, "--format", "json").out)["rows"]
    table = list(csv.DictReader(io.StringIO(call(*words, "--format", "csv").out)))
    assert [float(row["size"]) for row in table] == [row["size"] for row in rows] == [2**20, 2**30]
    assert [float(row["seconds"]) for row in table] == [row["seconds"] for row in rows]
    assert all(row["busbw"] == pytest.approx(row["algbw"] * 2 * 15 / 16) for row in rows)
    assert all(row["busbw"] <= row["ceiling_busbw"] for row in rows)


def test_quantities_are_read_in_every_way(call: Call) -> None:
    done = call("convert", "900 GB/s duplex", "--format", "json")
    values = {(row["label"], row["text"]) for row in json.loads(done.out)["readings"]}
    assert ("per direction", "450 GB/s") in values
    assert ("duplex", "7200 Gb/s") in values


def test_the_library_gives_the_same_results_as_the_commands(call: Call) -> None:
    import clusterspec

    Path("spec.yaml").write_text(BASE)
    said = json.loads(call("estimate", "spec.yaml", "--format", "json").out)
    assert clusterspec.estimate("spec.yaml").to_json()["step_time"] == said["step_time"]
    assert (
        clusterspec.check("spec.yaml").to_json()["findings"]
        == json.loads(call("check", "spec.yaml", "--format", "json").out)["findings"]
    )


@thorough
@pytest.mark.parametrize("kind", sampled(["design", "procurement"], 4))
def test_reports_are_written(kind: str, call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    done = call("report", "spec.yaml", "-o", "out.html", "--kind", kind)
    assert done.status in (0, 1), done.error
    assert Path("out.html").read_bytes().startswith(b"<!doctype html>")


@thorough
def test_a_report_is_written_as_json_with_the_designs_that_it_is_compared_with(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    Path("other.yaml").write_text(BASE.replace("tp: 2", "tp: 4"))
    done = call("report", "spec.yaml", "-o", "out.json", "--kind", "procurement", "--against", "other.yaml")
    assert done.status == 0, done.error
    document = json.loads(Path("out.json").read_text())
    assert list(document)[:3] == ["version", "tool", "input"]
    assert document["estimate"]["layout"]["tp"] == 2
    assert [one["estimate"]["layout"]["tp"] for one in document["against"]] == [4]


@thorough
def test_the_same_report_has_the_same_content(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    for name in ("one.html", "two.html"):
        call("report", "spec.yaml", "-o", name, "--kind", "procurement")
    assert Path("one.html").read_bytes() == Path("two.html").read_bytes()


def test_nothing_in_a_report_comes_from_outside(call: Call) -> None:
    Path("spec.yaml").write_text(BASE.replace("name: base", 'name: "<script>alert(1)</script><img src=http://x.y/z>"'))
    Path("plain.yaml").write_text(BASE)
    call("report", "spec.yaml", "-o", "out.html", "--kind", "procurement")
    page = Path("out.html").read_text("utf-8")
    scripts = re.findall(r"<script[^>]*>", page)
    assert not [tag for tag in scripts if "src" in tag.lower()]  # the page's own, and nothing from outside
    assert "<script>alert" not in page and "alert(1)</script>" not in page
    call("report", "plain.yaml", "-o", "plain.html", "--kind", "procurement")
    assert len(scripts) == len(re.findall(r"<script[^>]*>", Path("plain.html").read_text("utf-8")))
    assert "<img" not in page
    assert "&lt;script&gt;" in page
