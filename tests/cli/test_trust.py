"""--trust: what a pull request brings along weakens nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clusterspec import resources
from tests.cli.conftest import BASE, ROOT, Call
from tests.cli.test_written_files import FLAWED
from tests.effort import telling

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
def test_a_waiver_added_by_the_branch_has_no_effect(options: tuple[str, ...], repository: Path, call: Call) -> None:
    Path("spec.yaml").write_text(WAIVED)
    assert rules(call, "spec.yaml") == []
    assert RULE in rules(call, "spec.yaml", *options)


def test_a_waiver_of_the_base_revision_applies_only_to_its_key(repository: Path, call: Call) -> None:
    assert rules(call, "waived.yaml", *BASE_OPTIONS) == []
    Path("waived.yaml").write_text("# moved\n" + WAIVED)
    assert rules(call, "waived.yaml", *BASE_OPTIONS) == []
    comment = f"# clusterspec: ignore[{RULE}]: as sold"
    moved = FLAWED.replace("# as sold", "").replace("nodes: 4", f"nodes: 4  {comment}")
    Path("waived.yaml").write_text(moved)
    assert RULE in rules(call, "waived.yaml", *BASE_OPTIONS)


@telling(1)
@pytest.mark.parametrize("options", [("--trust", "none"), BASE_OPTIONS])
@pytest.mark.parametrize("name", ["clusterspec.toml", "pyproject.toml"])
def test_a_configuration_changed_by_the_branch_has_no_effect(
    name: str, options: tuple[str, ...], repository: Path, call: Call
) -> None:
    table = "[tool.clusterspec]\n" if name == "pyproject.toml" else ""
    Path(name).write_text(f'{table}ignore = ["{RULE}"]\n')
    assert rules(call, "spec.yaml") == []
    assert RULE in rules(call, "spec.yaml", *options)


def test_configuration_and_baseline_are_read_from_the_base_revision(repository: Path, call: Call) -> None:
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
        (("--base-revision", "main"), "requires --trust base"),
        (("--trust", "base", "--base-revision", "absent"), "no revision absent here"),
        (("--trust", "base", "--base-revision", "--upload-pack=x"), ""),
        (("--trust", "base"), "no revision origin/HEAD"),
        ((*BASE_OPTIONS, "--baseline", "absent.json"), "does not exist in the base revision"),
    ],
)
def test_an_untrusted_base_is_a_usage_error(
    words: tuple[str, ...], said: str, repository: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_BASE_REF", raising=False)
    done = call("check", "spec.yaml", *words)
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)
    assert said in done.error


def test_git_runs_no_program_of_the_repository(repository: Path, call: Call) -> None:
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
    assert "not inside a Git repository" in done.error


FOLDERS = 'catalog = ["hardware"]\nrules = ["policy"]\n'
STRICT = 'rules:\n  - {name: few-nodes, assert: "cluster.nodes <= 2", message: too many nodes, severity: error}\n'
LAX = STRICT.replace("<= 2", "<= 99")
PART = "hardware/accelerators/h100-sxm-80gb.yaml"


@pytest.fixture
def company(repository: Path) -> Path:
    """The repository with a company's catalog and rules, committed."""
    Path("hardware/accelerators").mkdir(parents=True)
    Path("policy").mkdir()
    shipped = resources.catalog() / "accelerators" / "h100-sxm-80gb.yaml"
    Path(PART).write_text(shipped.read_text("utf-8"))
    Path("policy/rules.yaml").write_text(STRICT)
    Path("clusterspec.toml").write_text(FOLDERS)
    git("add", ".")
    git("commit", "-q", "-m", "company")
    return repository


def test_rules_of_a_company_are_those_of_the_base_revision(company: Path, call: Call) -> None:
    Path("policy/rules.yaml").write_text(LAX)
    assert "own/few-nodes" not in rules(call, "spec.yaml")
    assert "own/few-nodes" in rules(call, "spec.yaml", *BASE_OPTIONS)
    Path("policy/rules.yaml").unlink()
    assert "own/few-nodes" in rules(call, "spec.yaml", *BASE_OPTIONS)


@telling(1)
@pytest.mark.parametrize("options", [(), ("--catalog", "hardware")])
def test_catalogs_are_those_of_the_base_revision(options: tuple[str, ...], company: Path, call: Call) -> None:
    """A change of an entry that would excuse a spec counts for nothing, nor does a link in place of the folder."""
    if options:
        Path("clusterspec.toml").write_text('rules = ["policy"]\n')
        git("commit", "-q", "-a", "-m", "no catalog")
    assert RULE in rules(call, "spec.yaml", *options, *BASE_OPTIONS)
    Path(PART).write_text(Path(PART).read_text().replace("900 GB/s duplex", "1800 GB/s duplex"))
    assert RULE not in rules(call, "spec.yaml", *options)
    assert RULE in rules(call, "spec.yaml", *options, *BASE_OPTIONS)
    Path("hardware").rename("elsewhere")
    Path("hardware").symlink_to("elsewhere")
    assert RULE not in rules(call, "spec.yaml", *options)
    assert RULE in rules(call, "spec.yaml", *options, *BASE_OPTIONS)


def test_a_catalog_outside_of_the_repository_is_read_as_it_is(
    company: Path, call: Call, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "hardware"
    Path("hardware").rename(outside)
    entry = outside / "accelerators" / "h100-sxm-80gb.yaml"
    entry.write_text(entry.read_text().replace("900 GB/s duplex", "1800 GB/s duplex"))
    assert RULE not in rules(call, "spec.yaml", "--catalog", str(outside), *BASE_OPTIONS)


def test_a_folder_that_the_base_revision_does_not_have_is_one_clear_line(company: Path, call: Call) -> None:
    Path("new").mkdir()
    done = call("check", "spec.yaml", "--catalog", "new", *BASE_OPTIONS)
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)
    assert "the folder new holds no YAML in the base revision" in done.error


@pytest.mark.parametrize(("options", "found"), [((), False), (BASE_OPTIONS, True), (("--trust", "none"), True)])
def test_a_gitignore_added_by_the_branch_hides_no_spec(
    options: tuple[str, ...], found: bool, repository: Path, call: Call
) -> None:
    Path(".gitignore").write_text("*.yaml\n")
    assert (RULE in rules(call, ".", *options)) is found


def test_the_gitignore_of_the_base_revision_applies(repository: Path, call: Call) -> None:
    Path(".gitignore").write_text("spec.yaml\n")
    git("add", ".gitignore")
    git("commit", "-q", "-m", "two")
    Path(".gitignore").unlink()
    assert RULE not in rules(call, ".", *BASE_OPTIONS)


def test_copies_of_the_base_revision_are_removed(company: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    temporary = tmp_path_factory.mktemp("temporary")
    done = subprocess.run(
        [sys.executable, "-m", "clusterspec", "check", "spec.yaml", *BASE_OPTIONS],
        env=os.environ | {"TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert list(temporary.iterdir()) == []
