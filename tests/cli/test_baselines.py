"""Baselines: written when asked for, read only where they exist, and blind to lines, folders and catalogs."""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, Call
from tests.cli.test_written_files import FLAWED
from tests.effort import thorough


def marks(call: Call, *words: str) -> dict[str, str]:
    """The fingerprint of each rule's finding, which SARIF and GitLab print alike."""
    sarif = json.loads(call("check", *words, "--format", "sarif").out)["runs"][0]["results"]
    gitlab = json.loads(call("check", *words, "--format", "gitlab").out)
    found = {one["ruleId"]: one["partialFingerprints"]["clusterspec/v1"] for one in sarif}
    assert found == {one["check_name"]: one["fingerprint"] for one in gitlab}
    return found


def test_an_absent_baseline_is_a_usage_error(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    done = call("check", "spec.yaml", "--baseline", "known.json")
    assert (done.status, done.out) == (2, "")
    assert "known.json: does not exist" in done.error
    assert not Path("known.json").exists()


def test_a_baseline_hides_known_findings_and_shows_new_ones(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    assert call("check", "spec.yaml", "--write-baseline", "known.json").status == 0
    done = call("check", "spec.yaml", "--baseline", "known.json")
    assert done.status == 0
    assert "The baseline hides 1 finding." in done.out
    Path("spec.yaml").write_text("\n" + FLAWED.replace("tp: 2", "tp: 3"))
    done = call("check", "spec.yaml", "--baseline", "known.json", "--format", "concise")
    assert done.status == 1
    assert "duplex-counted-as-one-way" not in done.out
    assert "hides 1 finding" in done.error


def test_hidden_findings_are_counted_in_json(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    call("check", "spec.yaml", "--write-baseline", "known.json")
    document = json.loads(call("check", "spec.yaml", "--baseline", "known.json", "--format", "json").out)
    assert document["summary"] == {"error": 0, "warning": 0, "note": 0, "hidden": 1}
    assert document["baseline"] == {"hidden": 1, "stale": []}


def test_a_stale_baseline_entry_is_reported(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    call("check", "spec.yaml", "--write-baseline", "known.json")
    Path("spec.yaml").write_text(BASE)
    done = call("check", "spec.yaml", "--baseline", "known.json")
    assert "The baseline holds duplex-counted-as-one-way in spec.yaml, which no finding matches" in done.out
    Path("other.yaml").write_text(BASE)
    assert "nothing any more" not in call("check", "other.yaml", "--baseline", "known.json").out


@thorough
def test_a_fingerprint_does_not_depend_on_lines_and_folders(call: Call) -> None:
    Path("a/b").mkdir(parents=True)
    Path("a/clusterspec.toml").touch()
    Path("a/b/spec.yaml").write_text(FLAWED)
    here = marks(call, "a/b/spec.yaml")
    assert here
    Path("a/b/spec.yaml").write_text("# a comment\n\n" + FLAWED)
    assert marks(call, "a/b/spec.yaml") == here
    os.chdir("a/b")
    assert marks(call, "spec.yaml") == here
    assert marks(call, str(Path("spec.yaml").resolve())) == here
    os.chdir("../..")
    Path("a").rename("elsewhere")
    assert marks(call, "elsewhere/b/spec.yaml") == here
    Path("elsewhere/b/spec.yaml").rename("elsewhere/b/renamed.yaml")
    assert not {*marks(call, "elsewhere/b/renamed.yaml").values()} & {*here.values()}


def test_a_fingerprint_depends_on_the_value_and_not_on_other_keys(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    here = marks(call, "spec.yaml")
    Path("spec.yaml").write_text(re.sub(r"tp: 2", "tp: 2\n  pp: 1", FLAWED))
    assert marks(call, "spec.yaml") == here
    Path("spec.yaml").write_text(FLAWED.replace("900 GB/s uni", "901 GB/s uni"))
    assert not {*marks(call, "spec.yaml").values()} & {*here.values()}


DERIVED = "clusterspec: 1\nextends: ./base.yaml\nname: other\n"
COMBINED = "clusterspec: 1\nextends: ./base.yaml\ncluster: {nodes: 3}\n"
"""With 24 accelerators, the tp of `TOO_WIDE` no longer fits; the base alone has 32."""
TOO_WIDE = BASE.replace("batch: 64", "batch: 96").replace("tp: 2", "tp: 2\n  dp: 16")


def places(call: Call, *words: str) -> list[tuple[str, str, int]]:
    findings = json.loads(call("check", *words, "--format", "json").out)["findings"]
    return [(one["file"], one["rule"], one["line"]) for one in findings]


@thorough
def test_a_fault_of_a_base_is_reported_at_the_base_where_it_is_checked_else_in_each_spec(call: Call) -> None:
    Path("base.yaml").write_text(FLAWED)
    for name in ("one", "two"):
        Path(f"{name}.yaml").write_text(DERIVED)
    for names in (("base.yaml", "one.yaml", "two.yaml"), ("one.yaml", "two.yaml", "base.yaml"), (".",)):
        [(file, rule, line)] = places(call, *names)
        assert (Path(file).name, rule, line) == ("base.yaml", "duplex-counted-as-one-way", 7)
    assert places(call, "one.yaml", "two.yaml") == [
        ("one.yaml", "duplex-counted-as-one-way", 2),
        ("two.yaml", "duplex-counted-as-one-way", 2),
    ]


@thorough
def test_a_fault_of_a_combination_is_reported_in_each_derived_spec(call: Call) -> None:
    """Thirty derived specs break what the base fulfills: thirty findings, and the 31st spec is not in the baseline."""
    Path("base.yaml").write_text(TOO_WIDE)
    for number in range(30):
        Path(f"{number:02}.yaml").write_text(COMBINED)
    found = places(call, ".")
    assert found == [(f"{number:02}.yaml", "world-size-mismatch", 2) for number in range(30)]
    done = call("check", ".", "--format", "junit")
    assert done.out.count("<failure") == 30 and 'classname="base.yaml" name="check"' in done.out
    finding = json.loads(call("check", "00.yaml", "--format", "json").out)["findings"][0]
    assert finding["related"][0]["file"] == "base.yaml" and finding["path"] == "/layout/dp"
    assert call("check", ".", "--write-baseline", "known.json").status == 0
    assert call("check", ".", "--baseline", "known.json").status == 0
    Path("31.yaml").write_text(COMBINED)
    assert call("check", ".", "--baseline", "known.json").status == 1
    assert places(call, ".", "--baseline", "known.json") == [("31.yaml", "world-size-mismatch", 2)]


@thorough
@pytest.mark.parametrize("derived", [DERIVED, COMBINED], ids=["inherited", "combined"])
def test_the_verdict_of_a_derived_spec_does_not_depend_on_what_else_is_checked(derived: str, call: Call) -> None:
    """Alone, with its base, with a sibling and in its folder, its JUnit case fails, with a baseline or without."""
    Path("base.yaml").write_text(FLAWED if derived == DERIVED else TOO_WIDE)
    Path("one.yaml").write_text(derived)
    Path("two.yaml").write_text("clusterspec: 1\nextends: base.yaml\ncluster: {scale_up: null}\n")
    for words in (("one.yaml",), ("one.yaml", "base.yaml"), ("two.yaml", "one.yaml"), (".",)):
        assert call("check", *words).status == 1
        cases = call("check", *words, "--format", "junit").out.split("<testcase")
        own = [case for case in cases if 'one.yaml"' in case.split(">")[0]]
        assert own and all("<failure" in case for case in own), words
    call("check", ".", "--write-baseline", "known.json")
    for words in (("one.yaml",), ("one.yaml", "base.yaml"), ("two.yaml", "one.yaml"), (".",)):
        done = call("check", *words, "--baseline", "known.json")
        assert (done.status, "<failure" in done.out, "no finding matches" in done.out) == (0, False, False), words


def test_an_accepted_fault_of_a_base_does_not_hide_that_of_a_combination(call: Call) -> None:
    """The same rule at the same key: 16 × 2 ranks on 24 accelerators in the base, on 8 in the derived spec."""
    Path("base.yaml").write_text(TOO_WIDE.replace("nodes: 4", "nodes: 3"))
    Path("one.yaml").write_text(DERIVED)
    call("check", ".", "--write-baseline", "known.json")
    Path("two.yaml").write_text(COMBINED.replace("nodes: 3", "nodes: 1"))
    for words in (("two.yaml",), ("two.yaml", "base.yaml"), (".",)):
        assert call("check", *words, "--baseline", "known.json").status == 1, words
    assert call("check", "one.yaml", "--baseline", "known.json").status == 0


def test_an_old_baseline_still_hides_what_it_hid(call: Call) -> None:
    """A baseline of version 1 has one entry for a fault that two specs combine, under the name of the base."""
    Path("base.yaml").write_text(TOO_WIDE)
    for name in ("one", "two"):
        Path(f"{name}.yaml").write_text(COMBINED)
    old = "\0".join(("world-size-mismatch", "base.yaml", "/layout/dp", "16"))
    entry = {"fingerprint": sha256(old.encode()).hexdigest(), "rule": "world-size-mismatch", "file": "base.yaml"}
    for version, status in (({"version": 1}, 0), ({}, 0), ({"version": 2}, 1)):
        Path("known.json").write_text(json.dumps({**version, "findings": [entry]}))
        for words in ((".",), ("one.yaml",), ("one.yaml", "two.yaml")):
            assert call("check", *words, "--baseline", "known.json").status == status


def test_a_baseline_of_the_whole_project_does_not_advise_to_shrink_it(call: Call) -> None:
    for name in ("base", "other"):
        Path(f"{name}.yaml").write_text(FLAWED)
    Path("one.yaml").write_text(DERIVED + "cluster: {scale_up: null}\n")
    call("check", ".", "--write-baseline", "known.json")
    assert call("check", "one.yaml", "--baseline", "known.json").out.endswith("The baseline hides 0 findings.\n")
    Path("base.yaml").write_text(BASE)
    assert "in base.yaml, which no finding matches" in call("check", "base.yaml", "--baseline", "known.json").out


def test_a_baseline_that_names_no_rule_is_refused(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    call("check", "spec.yaml", "--write-baseline", "known.json")
    Path("known.json").write_text(Path("known.json").read_text().replace("one-way", "one-wya"))
    done = call("check", "spec.yaml", "--baseline", "known.json")
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)
    assert "did you mean duplex-counted-as-one-way?" in done.error


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'{"findings": 3}', b"\xff", b"[" * 100_000, b'{"version": 3, "findings": []}']
)
def test_an_invalid_baseline_is_a_usage_error(data: bytes, call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    Path("known.json").write_bytes(data)
    done = call("check", "spec.yaml", "--baseline", "known.json")
    assert (done.status, len(done.error.splitlines())) == (2, 1)
