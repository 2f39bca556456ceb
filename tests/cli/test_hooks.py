"""The hooks of pre-commit, carried out as it carries them out: every YAML file that changed, named explicitly."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import BASE, ROOT, Call
from tests.cli.test_written_files import FLAWED, MENDED
from tests.effort import telling

HOOKS: dict[str, dict[str, Any]] = {
    hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
}
UNRELATED = {
    "deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {labels: {clusterspec: here}}\n",
    "services.yml": "kind: Service\n---\nkind: Ingress\n",
    "values.yaml": "replicas: {{ .Values.replicas }}\n",
    "empty.yaml": "",
    "pyproject.yaml": "- clusterspec: 1\n",
}


def carried_out(call: Call, hook: str) -> tuple[int, str]:
    program, *words = shlex.split(HOOKS[hook]["entry"])
    assert program == "clusterspec"
    done = call(*words, *sorted(path.name for path in Path().iterdir()))
    return done.status, done.out


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for name, text in (UNRELATED | {"good.yaml": BASE}).items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("hook", ["clusterspec", "clusterspec-fix"])
def test_the_hook_checks_only_specs_among_yaml_files(hook: str, repository: Path, call: Call) -> None:
    assert HOOKS[hook]["types"] == ["yaml"]
    assert carried_out(call, hook) == (0, "")


def test_a_flaw_fails_the_hook_with_a_line_for_each_finding(repository: Path, call: Call) -> None:
    Path("bad.yaml").write_text(FLAWED)
    status, out = carried_out(call, "clusterspec")
    assert status == 1
    assert [line.split(" ")[0] for line in out.splitlines()] == ["bad.yaml:7:16:"]
    assert Path("bad.yaml").read_text() == FLAWED


@telling(2)
@pytest.mark.parametrize("hook", HOOKS)
def test_a_file_name_that_looks_like_an_option_is_a_file(hook: str, repository: Path, call: Call) -> None:
    Path("bad.yaml").write_text(FLAWED)
    Path("--write-baseline=known.yaml").write_text(BASE)
    Path("--output=victim.yml").write_text(BASE)
    Path("--fail-on=nothing.yaml").write_text(BASE)
    before = {path.name for path in Path().iterdir()}
    status, _ = carried_out(call, hook)
    assert status == (0 if hook == "clusterspec-fix" else 1)
    assert {path.name for path in Path().iterdir()} == before


def test_the_hook_for_text_finds_a_wrong_figure(call: Call) -> None:
    Path("notes.md").write_text("An H100 SXM has 900 GB/s per direction over NVLink.\n")
    status, out = carried_out(call, "clusterspec-prose")
    assert (status, out.startswith("notes.md:1:")) == (1, True)


def test_the_fixing_hook_changes_only_files_with_findings(repository: Path, call: Call) -> None:
    Path("bad.yaml").write_text(FLAWED)
    assert carried_out(call, "clusterspec-fix") == (0, "")
    assert Path("bad.yaml").read_text() == MENDED
    assert {name: Path(name).read_text() for name in UNRELATED} == UNRELATED
