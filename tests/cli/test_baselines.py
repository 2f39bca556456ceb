"""Baselines: written when asked for, read only where they exist, and blind to lines, folders and catalogs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, Call
from tests.cli.test_written_files import FLAWED


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


def test_a_base_that_is_also_checked_reports_its_findings_once(call: Call) -> None:
    Path("base.yaml").write_text(FLAWED)
    for name in ("one", "two"):
        Path(f"{name}.yaml").write_text("clusterspec: 1\nextends: ./base.yaml\nname: other\n")
    every = [("base.yaml", "one.yaml", "two.yaml"), ("one.yaml", "two.yaml", "base.yaml"), ("one.yaml", "two.yaml")]
    for names in (*every, (".",)):
        findings = json.loads(call("check", *names, "--format", "json").out)["findings"]
        assert [finding["rule"] for finding in findings] == ["duplex-counted-as-one-way"]


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"findings": 3}', b"\xff", b"[" * 100_000])
def test_an_invalid_baseline_is_a_usage_error(data: bytes, call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    Path("known.json").write_bytes(data)
    done = call("check", "spec.yaml", "--baseline", "known.json")
    assert (done.status, len(done.error.splitlines())) == (2, 1)
