"""The layers of ARCHITECTURE.md, and the rules for names and output, as tests."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted((ROOT / "clusterspec").rglob("*.py"))
FORBIDDEN = {"bw", "cfg", "ctx", "utils", "helpers", "common", "misc"}


def test_layers_import_lower_layers_only() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--config", "pyproject.toml", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_command_line_prints_and_exits(module: Path) -> None:
    if "cli" in module.parts or module.name == "__main__.py":
        return
    calls = {
        ast.unparse(node.func) for node in ast.walk(ast.parse(module.read_text("utf-8"))) if isinstance(node, ast.Call)
    }
    assert not calls & {"print", "exit", "quit", "sys.exit", "os._exit"}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_are_whole_words(module: Path) -> None:
    tree = ast.parse(module.read_text("utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert not {name.lower() for name in names} & FORBIDDEN
    assert module.stem not in FORBIDDEN | {"core"}


def test_check_never_loads_what_only_reports_need() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", PROBE, str(ROOT / "examples" / "dgx-h100-pod.yaml")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not {"pint", "numpy", "jinja2", "weasyprint"} & set(loaded)


PROBE = """
import contextlib, io, sys
from clusterspec.cli import run
with contextlib.redirect_stdout(io.StringIO()):
    run(["check", sys.argv[1]])
print(*sorted(name for name in sys.modules if "." not in name))
"""
