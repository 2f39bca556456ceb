"""The configuration: groups, overrides, exclusions, pinned versions, and what `clusterspec config` shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clusterspec import __version__
from clusterspec.catalog import Catalog
from clusterspec.config import schema
from tests.cli.conftest import BASE, ROOT, Call
from tests.cli.test_written_files import FLAWED
from tests.effort import sampled, telling

RULE = "duplex-counted-as-one-way"


def rules(call: Call, *words: str) -> list[str]:
    found = json.loads(call("check", *words, "--format", "json").out)["findings"]
    return [finding["rule"] for finding in found]


def files(call: Call, *words: str) -> list[str]:
    return [row["file"] for row in json.loads(call("check", *words, "--format", "json").out)["inputs"]]


@telling(2)
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [RULE]),
        ('select = ["layout"]', []),
        ('select = ["units"]', [RULE]),
        ('ignore = ["units"]', []),
        ('[[overrides]]\npaths = ["legacy/"]\nignore = ["units"]', []),
        ('[[overrides]]\npaths = ["*.yaml"]\nignore = ["units"]', []),
        ('[[overrides]]\npaths = ["other/"]\nignore = ["units"]', [RULE]),
        ('[[overrides]]\npaths = ["/spec.yaml"]\nignore = ["units"]', [RULE]),
    ],
)
def test_groups_and_overrides_choose_rules(text: str, found: list[str], call: Call) -> None:
    Path("legacy").mkdir()
    Path("legacy/spec.yaml").write_text(FLAWED)
    Path("clusterspec.toml").write_text(text)
    assert rules(call, "legacy/spec.yaml") == found


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ('severity = {units = "note"}', "note"),
        (f'severity = {{units = "note", {RULE} = "warning"}}', "warning"),
        ('severity = {units = "note"}\n[[overrides]]\npaths = ["*"]\nseverity = {units = "warning"}', "warning"),
        ('severity = {units = "note"}\nerror = ["units"]', "error"),
    ],
)
def test_a_rule_decides_over_its_group_and_an_override_over_the_rest(text: str, severity: str, call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    Path("clusterspec.toml").write_text(text)
    (finding,) = json.loads(call("check", "spec.yaml", "--format", "json").out)["findings"]
    assert finding["severity"] == severity


@telling(2)
@pytest.mark.parametrize(
    ("configuration", "ignored", "found"),
    [
        ("", "", ["specs/a.yaml", "specs/b.yaml", "specs/old/c.yaml"]),
        ('exclude = ["old/"]', "", ["specs/a.yaml", "specs/b.yaml"]),
        ('exclude = ["b.yaml", "old"]', "", ["specs/a.yaml"]),
        ("", "old/\n", ["specs/a.yaml", "specs/b.yaml"]),
        ("", "*.yaml\n!b.yaml\n", ["specs/b.yaml", "specs/old/c.yaml"]),
        ("respect-gitignore = false", "old/\n", ["specs/a.yaml", "specs/b.yaml", "specs/old/c.yaml"]),
    ],
)
def test_excluded_files_are_not_checked(configuration: str, ignored: str, found: list[str], call: Call) -> None:
    for name in ("a.yaml", "b.yaml", "old/c.yaml"):
        place = Path("specs") / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(BASE)
    Path(".git").mkdir()
    Path(".gitignore").write_text(ignored)
    if "!b" in ignored:
        Path("specs/old/.gitignore").write_text("!c.yaml\n")
    Path("clusterspec.toml").write_text(configuration)
    assert sorted(files(call, "specs")) == found
    assert files(call, "specs/a.yaml", "specs/b.yaml") == ["specs/a.yaml", "specs/b.yaml"]


@telling(2)
@pytest.mark.parametrize(
    ("configuration", "found"),
    [
        ("", []),
        ('text = ["docs/**/*.md"]', ["docs/PLAN.md", "docs/deep/more.md"]),
        ('text = ["docs/*.md"]', ["docs/PLAN.md"]),
        ('text = ["*.txt", "!readme.txt"]', ["docs/deep/notes.txt"]),
        ('text = ["docs/"]', ["docs/PLAN.md", "docs/deep/more.md", "docs/deep/notes.txt"]),
        ('text = ["*"]\nexclude = ["docs/deep/"]', ["docs/PLAN.md", "readme.txt"]),
        ('text = ["*.py", "out.md", ".hidden/*.md"]', []),
    ],
)
def test_included_texts_are_checked_with_their_folder(configuration: str, found: list[str], call: Call) -> None:
    Path(".git").mkdir()
    Path("clusterspec.toml").write_text(configuration)
    for name in ("docs/PLAN.md", "docs/deep/more.md", "docs/deep/notes.txt", "readme.txt", "code.py", ".hidden/a.md"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("NVLink 4 at 900 GB/s unidirectional.\n")
    Path("out.md").symlink_to("/etc/hostname")
    assert sorted(files(call, ".")) == found
    assert sorted(files(call, "--only-specs", "docs/PLAN.md", "readme.txt")) == [
        name for name in found if "deep" not in name
    ]
    assert files(call, "readme.txt") == ["readme.txt"]


def test_an_included_text_that_is_too_long_leaves_the_others(call: Call) -> None:
    Path("clusterspec.toml").write_text('text = ["*.md"]')
    Path("long.md").write_text("a" * (2 * 1024 * 1024 + 1))
    Path("plan.md").write_text("NVLink 4 at 900 GB/s unidirectional.\n")
    assert sorted(files(call, ".")) == ["long.md", "plan.md"]


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        (f'required-version = "{__version__}"', 0, ""),
        ('required-version = ">=0.0, <99"', 0, ""),
        ('required-version = "99.0"', 2, f"required-version is 99.0, but this is clusterspec {__version__}"),
        ('required-version = ">=99"', 2, "required-version is >=99"),
        ('required-version = "newest"', 2, "'newest' is not a version"),
        (f'catalog-version = "{Catalog.open().version}"', 0, ""),
        ('catalog-version = "1999-01-01-0"', 2, "catalog-version is 1999-01-01-0, but the catalog here is "),
    ],
)
def test_program_and_catalog_can_be_pinned(text: str, status: int, said: str, call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    Path("clusterspec.toml").write_text(text)
    for words in (("check", "spec.yaml"), ("estimate", "spec.yaml")):
        done = call(*words)
        assert done.status == status
        assert said in done.error


def test_config_shows_what_holds_for_a_file_and_from_where(call: Call) -> None:
    Path("legacy").mkdir()
    Path("legacy/spec.yaml").write_text(BASE)
    Path("clusterspec.toml").write_text(
        'fail-on = "warning"\nignore = ["few-spines"]\n[[overrides]]\npaths = ["legacy/"]\nignore = ["units"]\n'
    )
    done = call("config", "legacy/spec.yaml", "--format", "json")
    keys = json.loads(done.out)["keys"]
    assert {*keys} == {*schema()["properties"]} - {"overrides"}
    assert keys["fail-on"] == {"value": "warning", "origin": str(Path("clusterspec.toml").resolve())}
    assert keys["ignore"]["value"] == ["few-spines", "units"]
    assert keys["ignore"]["origin"].endswith("clusterspec.toml, overrides")
    assert keys["profile"] == {"value": "default", "origin": "default"}
    shown = call("config").out
    assert "fail-on" in shown
    assert '["few-spines"]' in shown
    assert call("config", "absent").status == 2


def test_every_example_of_the_schema_is_a_configuration() -> None:
    from clusterspec.config import check

    for key, node in schema()["properties"].items():
        for example in node["examples"]:
            check({key: example}, schema())
        if "default" in node:
            check({key: node["default"]}, schema())


def test_several_formats_go_each_to_their_file(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    done = call("check", "spec.yaml", "--format", "sarif", "--output", "out.sarif", "--format", "text")
    assert done.status == 1
    assert RULE in done.out
    assert json.loads(Path("out.sarif").read_text())["version"] == "2.1.0"
    done = call("check", "spec.yaml", "--format", "json", "--output", "a", "--format", "junit", "--output", "b")
    assert done.out == ""
    assert json.loads(Path("a").read_text())["version"] == 1
    assert Path("b").read_text().startswith("<?xml")
    call("check", "spec.yaml", "--output", "c.sarif", "--output", "c.xml")
    assert json.loads(Path("c.sarif").read_text())["version"] == "2.1.0"
    assert Path("c.xml").read_text().startswith("<?xml")
    for words in (("--format", "json", "--format", "text"), ("--output", "a", "--output", "b")):
        assert call("check", "spec.yaml", *words).status == 2


def test_github_actions_gets_annotations_by_itself(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("spec.yaml").write_text(FLAWED)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert call("check", "spec.yaml").out.startswith("::error title=clusterspec")
    assert call("check", "spec.yaml", "--format", "text").out.startswith("error[")


def in_ci(program: str, words: str) -> subprocess.CompletedProcess[str]:
    """A shell line of a CI job; standard output is a pipe, as runners have it."""
    environment = {key: value for key, value in os.environ.items() if key not in {"GITHUB_ACTIONS", "GITLAB_CI"}}
    line = f'"{sys.executable}" -m clusterspec check spec.yaml {words}'
    return subprocess.run(
        ["sh", "-c", line],
        env=environment | {program: "true", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("program", "words", "log", "file"),
    sampled(
        [
            ("GITLAB_CI", "--output report", "error[", "gitlab"),
            ("GITLAB_CI", "--output report.json", "error[", "gitlab"),
            ("GITLAB_CI", "> report", "", "gitlab"),
            ("GITLAB_CI", "--output report.xml", "error[", "junit"),
            ("GITLAB_CI", "| cat", "error[", ""),
            ("GITHUB_ACTIONS", "--output report.json", "::error ", "json"),
            ("GITHUB_ACTIONS", "--output report", "::error ", "sarif"),
            ("GITHUB_ACTIONS", "> report", "", "github"),
            ("OTHER", "--output report.sarif", "", "sarif"),
            ("OTHER", "--output report", "", "text"),
            ("OTHER", "> report", "", "text"),
        ],
        11,
    ),
)
def test_a_ci_service_gets_its_formats_by_itself(program: str, words: str, log: str, file: str, call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    done = in_ci(program, words)
    assert done.stdout.startswith(log) if log else done.stdout == ""
    text = next((path.read_text() for path in Path().glob("report*")), "")
    first = {"gitlab": "[", "junit": "<?xml", "github": "::error", "sarif": "{", "json": "{", "text": "error[", "": ""}
    assert text.startswith(first[file])
    if file in {"sarif", "json"}:
        assert ("runs" in json.loads(text)) is (file == "sarif")
    if file == "gitlab":
        assert json.loads(text)[0]["check_name"] == RULE


def test_quiet_prints_findings_alone_and_statistics_count_them(call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    Path("clean.yaml").write_text(BASE)
    assert call("check", "clean.yaml", "-q").out == ""
    assert "1 error in" not in call("check", "spec.yaml", "-q").out
    counted = call("check", "spec.yaml", "--statistics").out
    assert f"       1  error     {RULE}\n" in counted
    assert call("check", "clean.yaml", "-v").error.startswith("clusterspec: clean.yaml: no configuration, catalog 20")
