"""--trust: what a pull request brings along weakens nothing."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, Call
from tests.cli.test_written_files import FLAWED

RULE = "duplex-counted-as-one-way"
WAIVED = FLAWED.replace("# as sold", f"# clusterspec: ignore[{RULE}]: as sold")


def git(*words: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


@pytest.fixture
def repository(call: Call) -> Path:
    """A repository whose only commit holds a flawed spec without a waiver."""
    git("init", "-q", "-b", "main")
    Path("spec.yaml").write_text(FLAWED)
    Path("waived.yaml").write_text(WAIVED)
    git("add", ".")
    git("commit", "-q", "-m", "one")
    return Path.cwd()


def rules(call: Call, *words: str) -> list[str]:
    done = call("check", *words, "--format", "json")
    assert done.status in (0, 1), done.error
    return [finding["rule"] for finding in json.loads(done.out)["findings"]]


BASE_OPTIONS = ("--trust", "base", "--base-revision", "main")


@pytest.mark.parametrize("options", [("--trust", "none"), BASE_OPTIONS])
def test_a_new_waiver_counts_for_nothing(options: tuple[str, ...], repository: Path, call: Call) -> None:
    Path("spec.yaml").write_text(WAIVED)
    assert rules(call, "spec.yaml") == []
    assert RULE in rules(call, "spec.yaml", *options)


def test_a_waiver_of_the_base_revision_counts_on_its_key_alone(repository: Path, call: Call) -> None:
    assert rules(call, "waived.yaml", *BASE_OPTIONS) == []
    Path("waived.yaml").write_text("# moved\n" + WAIVED)
    assert rules(call, "waived.yaml", *BASE_OPTIONS) == []
    comment = f"# clusterspec: ignore[{RULE}]: as sold"
    moved = FLAWED.replace("# as sold", "").replace("nodes: 4", f"nodes: 4  {comment}")
    Path("waived.yaml").write_text(moved)
    assert RULE in rules(call, "waived.yaml", *BASE_OPTIONS)


@pytest.mark.parametrize("options", [("--trust", "none"), BASE_OPTIONS])
@pytest.mark.parametrize("name", ["clusterspec.toml", "pyproject.toml"])
def test_a_new_configuration_counts_for_nothing(
    name: str, options: tuple[str, ...], repository: Path, call: Call
) -> None:
    table = "[tool.clusterspec]\n" if name == "pyproject.toml" else ""
    Path(name).write_text(f'{table}ignore = ["{RULE}"]\n')
    assert rules(call, "spec.yaml") == []
    assert RULE in rules(call, "spec.yaml", *options)


def test_the_configuration_and_the_baseline_of_the_base_revision_count(repository: Path, call: Call) -> None:
    Path("clusterspec.toml").write_text('error = ["undeclared-network"]\n')
    call("check", "spec.yaml", "--write-baseline", "known.json")
    git("add", ".")
    git("commit", "-q", "-m", "two")
    Path("clusterspec.toml").write_text("")
    Path("known.json").write_text('{"version": 1, "findings": []}')
    assert rules(call, "spec.yaml", *BASE_OPTIONS, "--baseline", "known.json") == []
    Path("new.yaml").write_text(FLAWED)
    call("check", "new.yaml", "--write-baseline", "known.json")
    assert RULE in rules(call, "new.yaml", *BASE_OPTIONS, "--baseline", "known.json")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--trust", "none", "--config", "clusterspec.toml"), "--config contradicts --trust none"),
        (("--trust", "none", "--baseline", "known.json"), "--baseline contradicts --trust none"),
        (("--trust", "base", "--config", "clusterspec.toml"), "--config contradicts --trust base"),
        (("--base-revision", "main"), "goes with --trust base"),
        (("--trust", "base", "--base-revision", "absent"), "no revision absent here"),
        (("--trust", "base", "--base-revision", "--upload-pack=x"), ""),
        (("--trust", "base"), "no revision origin/HEAD"),
        ((*BASE_OPTIONS, "--baseline", "absent.json"), "does not exist in the base revision"),
    ],
)
def test_what_cannot_be_trusted_is_one_clear_line(
    words: tuple[str, ...], said: str, repository: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_BASE_REF", raising=False)
    done = call("check", "spec.yaml", *words)
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)
    assert said in done.error


def test_git_runs_nothing_that_a_repository_brings_along(repository: Path, call: Call) -> None:
    bait = repository / "bait.sh"
    bait.write_text("#!/bin/sh\ntouch caught\nexit 1\n")
    bait.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "core.sshCommand",
        "diff.bait.textconv",
        "core.editor",
    ):
        git("config", key, str(bait))
    git("config", "core.hooksPath", str(repository))
    Path(".gitattributes").write_text("* diff=bait\n")
    assert rules(call, "waived.yaml", *BASE_OPTIONS) == []
    assert not Path("caught").exists()


def test_a_spec_outside_of_a_repository_has_no_base(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    done = call("check", "spec.yaml", "--trust", "base")
    assert done.status == 2
    assert "not in a git repository" in done.error
