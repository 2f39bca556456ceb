"""The action's steps, completion scripts and release tools, carried out."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusterspec.cli.commands import COMMANDS
from tests.cli.conftest import BASE, ROOT, Call
from tests.cli.test_trust import git
from tests.cli.test_written_files import FLAWED
from tools.release import conda

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
PUBLISH: dict[str, Any] = yaml.safe_load((ROOT / "publish" / "action.yml").read_text("utf-8"))
RELEASE: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))
SITE: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / "site.yml").read_text("utf-8"))
IN_CI: dict[str, Any] = yaml.safe_load(
    (ROOT / "docs" / "ci.md").read_text("utf-8").split("```")[1].removeprefix("yaml")
)


@pytest.fixture
def job(call: Call) -> dict[str, str]:
    """A repository of a pull request, and the environment of the action's steps."""
    Path("bin").mkdir()
    program = Path("bin/clusterspec")
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m clusterspec "$@"\n')
    program.chmod(0o755)
    git("init", "-q", "-b", "main")
    Path("spec.yaml").write_text(BASE)
    git("add", "spec.yaml")
    git("commit", "-q", "-m", "one")
    base = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    Path("runner").mkdir()
    return os.environ | {
        "CLUSTERSPEC": str(program.resolve()),
        "RUNNER_TEMP": str(Path("runner").resolve()),
        "GITHUB_OUTPUT": str(Path("output").resolve()),
        "GITHUB_STEP_SUMMARY": str(Path("summary").resolve()),
        "BASE_SHA": base,
        "FOLDER": str(Path("runner/clusterspec-results").resolve()),
    }


def step(name: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    script = ROOT / "tools" / "action" / f"{name}.sh"
    return subprocess.run(
        ["bash", str(script)], env=environment, capture_output=True, text=True, check=False, timeout=100
    )


def difference(environment: dict[str, str]) -> str:
    """The design diff that the action leaves for the second job."""
    done = step("diff", environment)
    assert done.returncode == 0, done.stderr
    return Path("runner/clusterspec-results/clusterspec-diff.md").read_text("utf-8")


@pytest.mark.parametrize("trust", ["spec", "base", "none"])
def test_the_check_step_annotates_uploads_and_sums_up(trust: str, job: dict[str, str]) -> None:
    Path("spec.yaml").write_text(FLAWED)
    done = step("check", job | {"PATHS": "spec.yaml", "FAIL_ON": "error", "TRUST": trust})
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error title=clusterspec (duplex-counted-as-one-way),file=spec.yaml,line=7")
    assert Path("output").read_text() == f"sarif={Path('runner/clusterspec-results/clusterspec.sarif').resolve()}\n"
    assert "| error | `spec.yaml:7:16` |" in Path("summary").read_text()


def test_no_name_in_a_pull_request_reaches_the_shell(job: dict[str, str]) -> None:
    for name in (
        "$(touch caught).yaml",
        "`touch caught`.yaml",
        "a; touch caught;.yaml",
        "--output=caught.yaml",
        "x\ny.yaml",
    ):
        Path(name).write_text(FLAWED)
    git("add", "--", ".")
    git("commit", "-q", "-m", "two")
    for path in list(Path().glob("*.yaml")):
        path.write_text(BASE)
    step("check", job | {"PATHS": ". --output=caught", "TRUST": "spec"})
    step("diff", job)
    assert not [path.name for path in Path().iterdir() if path.name == "caught"]


def test_the_comment_step_shows_what_a_change_does(job: dict[str, str]) -> None:
    Path("spec.yaml").write_text(BASE.replace("nodes: 4", "nodes: 8"))
    said = difference(job)
    assert "| `cluster.nodes` | 4 | 8 |" in said
    assert "step time" in said


@pytest.mark.parametrize("name", ["check", "diff"])
@pytest.mark.parametrize("base", ["--upload-pack=touch caught", "main", "HEAD~1", "-h"])
def test_a_base_that_is_no_commit_reaches_no_git(name: str, base: str, job: dict[str, str]) -> None:
    done = step(name, job | {"BASE_SHA": base, "TRUST": "base"})
    assert (done.returncode, done.stdout) == (2, "") and "is not a commit" in done.stderr
    assert not Path("caught").exists()


def test_the_base_of_a_shallow_clone_is_fetched(job: dict[str, str]) -> None:
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    Path("spec.yaml").write_text(BASE.replace("nodes: 4", "nodes: 8"))
    git("commit", "-q", "-a", "-m", "two")
    here = Path.cwd()
    git("clone", "-q", "--depth=1", f"file://{here}", "shallow")
    os.chdir("shallow")
    said = step("diff", job)
    os.chdir(here)
    assert said.returncode == 0, said.stderr
    assert "| `cluster.nodes` | 4 | 8 |" in Path("runner/clusterspec-results/clusterspec-diff.md").read_text("utf-8")


def test_a_call_that_is_refused_uploads_nothing_of_an_earlier_one(job: dict[str, str]) -> None:
    Path("runner/clusterspec-results").mkdir()
    Path("runner/clusterspec-results/clusterspec.sarif").write_text("{}")
    Path("clusterspec.toml").write_text("surprise = 1\n")
    assert step("check", job | {"TRUST": "spec"}).returncode == 2
    assert not Path("output").exists()


def test_without_a_base_the_files_as_they_are_count(job: dict[str, str]) -> None:
    Path("clusterspec.toml").write_text('ignore = ["units"]\n')
    Path("spec.yaml").write_text(FLAWED)
    assert step("check", job | {"TRUST": "base", "BASE_SHA": ""}).returncode == 0
    assert step("check", job | {"TRUST": "base"}).returncode == 1


def test_the_action_runs_scripts_of_its_own_and_puts_no_input_into_a_shell() -> None:
    for one in [
        *ACTION["runs"]["steps"],
        *PUBLISH["runs"]["steps"],
        *steps_of(RELEASE),
        *steps_of(SITE),
        *steps_of(IN_CI),
    ]:
        assert "${{ inputs." not in one.get("run", "")
        assert "${{ github.event" not in one.get("run", "")


def steps_of(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for job in workflow["jobs"].values() for one in job["steps"]]


def test_every_action_of_others_is_named_by_its_commit() -> None:
    for one in [
        *ACTION["runs"]["steps"],
        *PUBLISH["runs"]["steps"],
        *steps_of(RELEASE),
        *steps_of(SITE),
        *steps_of(IN_CI),
    ]:
        name, _, version = one.get("uses", "").partition("@")
        if name and not name.startswith("clusterspec/clusterspec"):
            assert re.fullmatch("[0-9a-f]{40}", version), one


def test_a_job_that_may_write_installs_nothing_and_runs_no_program_of_a_pull_request() -> None:
    publishing = {"jobs": {"publish": {"permissions": {"pull-requests": "write"}, "steps": PUBLISH["runs"]["steps"]}}}
    for workflow in (RELEASE, SITE, IN_CI, publishing):
        assert workflow.get("permissions", {}) == {}
        for job in workflow["jobs"].values():
            if "write" not in job["permissions"].values():
                continue
            for one in job["steps"]:
                run = one.get("run", "").removeprefix('python3 -I -- "${{ github.action_path }}/')
                assert not re.search(r"pip|python|clusterspec/bin", run), one
                assert one.get("uses", "").split("@")[0] not in {"clusterspec/clusterspec", "actions/checkout"}, one


def test_packages_are_published_by_trust_and_the_site_from_what_was_built() -> None:
    pypi, deploy = RELEASE["jobs"]["pypi"], SITE["jobs"]["deploy"]
    assert pypi["permissions"] == {"id-token": "write"} and pypi["environment"]["name"] == "pypi"
    assert deploy["permissions"] == {"pages": "write", "id-token": "write"} and deploy["needs"] == "build"
    for workflow in ("release", "site"):
        assert "secrets." not in (ROOT / ".github" / "workflows" / f"{workflow}.yml").read_text("utf-8")
    ran = {one.get("run") for one in SITE["jobs"]["build"]["steps"]}
    assert ran >= {"make site", "make site-properdocs", "make first-check", "make browser"}
    assert deploy["if"] == "github.event_name != 'pull_request'"


def test_the_recipe_for_conda_follows_the_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert conda.main(tmp_path) == 1 and "make release" in capsys.readouterr().err
    (tmp_path / "clusterspec-9.8.7.tar.gz").write_bytes(b"")
    assert conda.main(tmp_path) == 0
    recipe = yaml.safe_load(capsys.readouterr().out)
    assert recipe["context"] == {"version": "9.8.7", "python_min": "3.11"}
    assert recipe["source"]["sha256"].startswith("e3b0c44298fc1c14")  # of no bytes
    assert {"pyyaml >=6.0.1", "tree_sitter >=0.25", "python >=${{ python_min }}"} <= {*recipe["requirements"]["run"]}
    assert recipe["build"]["python"]["entry_points"] == ["clusterspec = clusterspec.__main__:main"]


def test_what_is_installed_for_a_check_has_a_hash() -> None:
    commands = [
        *(one["run"] for one in [*ACTION["runs"]["steps"], *steps_of(RELEASE)] if "run" in one),
        (ROOT / "Containerfile").read_text("utf-8"),
        (ROOT / "tools" / "release" / "release.sh").read_text("utf-8"),
    ]
    for line in "\n".join(commands).splitlines():
        if re.search(r"\bpip\b.* (install|wheel)|\bpip (install|wheel)", line):
            assert "--require-hashes" in line or "--no-index" in line, line


def test_the_packages_state_the_license_of_each_part_and_hold_its_text() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["license"] == "Apache-2.0 AND OFL-1.1 AND CC-BY-4.0 AND MIT"
    texts = [(ROOT / name).read_text("utf-8") for name in project["license-files"]]
    for text, said in zip(
        texts, ("Apache License", "Attribution 4.0 International", "SIL OPEN FONT LICENSE", "MIT License"), strict=True
    ):
        assert said in text and len(text) > 4000


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_valid_and_names_every_command(shell: str, call: Call) -> None:
    done = call("completion", shell)
    assert done.status == 0
    assert all(name in done.out for name in COMMANDS)
    program = shutil.which(shell)
    if program is not None:
        checked = subprocess.run([program, "-n"], input=done.out, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr


def test_bash_completes_commands_options_and_files(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    script = call("completion", "bash").out

    def completed(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in words)
        asked = f'{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _clusterspec; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert completed("clusterspec", "che") == ["check"]
    assert "--fail-on" in completed("clusterspec", "check", "--f")
    assert completed("clusterspec", "check", "sp") == ["spec.yaml"]
    assert completed("clusterspec", "check", "--trust", "") == ["spec", "base", "none"]
    assert completed("clusterspec", "check", "--ignore", "few-sp") == ["few-spines"]
    assert "tight-memory" in completed("clusterspec", "explain", "tight")
    assert completed("clusterspec", "init", "--platform", "dgx-h10") == ["dgx-h100", "dgx-h100-superpod-nvls"]
    assert completed("clusterspec", "catalog", "li") == ["list"]
    assert completed("clusterspec", "catalog", "list", "--kind", "ac") == ["accelerator"]
    assert completed("clusterspec", "catalog", "show", "dgx-h10") == ["dgx-h100", "dgx-h100-superpod-nvls"]
    assert completed("clusterspec", "export", "nccl") == ["nccl-env"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes_commands_options_values_and_files(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    script = call("completion", "fish").out

    def completed(line: str) -> list[str]:
        asked = f"{script}\ncomplete -C '{line}'"
        done = subprocess.run(["fish", "--no-config", "-c", asked], capture_output=True, text=True, check=True)
        return [one.split("\t")[0] for one in done.stdout.splitlines()]

    assert completed("clusterspec che") == ["check"]
    assert "--fail-on" in completed("clusterspec check --f")
    assert completed("clusterspec check sp") == ["spec.yaml"]
    assert completed("clusterspec check --trust b") == ["base"]
    assert completed("clusterspec check --ignore few-sp") == ["few-spines"]
    assert completed("clusterspec catalog li") == ["list"]
    assert "--baseline" not in completed("clusterspec catalog check --")
    assert completed("clusterspec catalog new acc") == ["accelerator"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_offers_commands_and_values_from_the_first_call_on(call: Call) -> None:
    Path("functions").mkdir()
    Path("functions/_clusterspec").write_text(call("completion", "zsh").out)

    def offered(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in words)
        script = f"""
            fpath=($PWD/functions $fpath); autoload -Uz _clusterspec
            _describe() {{ print -rl -- "${{(P@)2}}" }}; _files() {{ print FILES }}
            compadd() {{ shift; print -rl -- "$@" }}
            words=({line}); CURRENT={len(words)}; _clusterspec
        """
        done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=True, timeout=60)
        return [one.split(":")[0] for one in done.stdout.splitlines()]

    assert {"check", "estimate"} <= {*offered("clusterspec", "che")}
    assert {"--fail-on", "FILES"} <= {*offered("clusterspec", "check", "")}
    assert offered("clusterspec", "check", "--trust", "") == ["spec", "base", "none"]
    assert "few-spines" in offered("clusterspec", "check", "--ignore", "few")


def test_the_lowest_versions_are_those_of_the_project() -> None:
    from tools.release.lowest import lowest

    pins = dict(one.split("==") for one in lowest())
    assert pins["pint"] == "0.24.4"
    assert {"PyYAML", "weasyprint", "jsonschema", "numpy", "pygls", "distributed", "openpyxl"} <= pins.keys()


def test_what_is_pinned_has_hashes() -> None:
    for name in ("dev", "run", "build"):
        text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
        pinned = [line for line in text.splitlines() if "==" in line and not line.lstrip().startswith("#")]
        assert len(pinned) >= 5
        assert all(line.endswith("\\") for line in pinned), "every pin is followed by its hashes"


def test_the_changelog_begins_with_the_version() -> None:
    from clusterspec import __version__
    from tools.release.contents import release_obstacles

    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert [why for why in release_obstacles(__version__, changelog) if "gives no date" not in why] == []
    assert release_obstacles("9.9.9", changelog)
    assert release_obstacles("1.0.0", "# C\n\n## 1.0.0 (2027-01-01)\n") == []
    assert release_obstacles("1.0.0", "# C\n\n## 1.0.0 (unreleased)\n") != []


def test_a_stray_file_of_a_package_is_known_by_whole_names() -> None:
    from tools.release.contents import is_stray

    assert not is_stray("clusterspec/rules/layout/tp_not_innermost.py")
    assert all(map(is_stray, ("out/report.html", "clusterspec/__pycache__/x.py", "a/b.pyc", ".venv/bin/python")))
