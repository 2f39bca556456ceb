"""One file with the bytecode of many modules changes nothing but the time that a start takes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, ROOT

ENVIRONMENT = {
    key: value for key, value in os.environ.items() if key not in {"PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"}
}
WHERE = (
    "import clusterspec, sys; from clusterspec import bytecode; bytecode.use(clusterspec.__version__);"
    "import clusterspec.quantity as q; print({})"
)
FROM_THE_FILE = WHERE.format("type(q.__loader__).__module__ == 'clusterspec.bytecode'")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with a copy of the program and a spec."""
    for name in ("clusterspec", "catalog", "schemas"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "spec.yaml").write_text(BASE)
    return tmp_path


def run(folder: Path, *words: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, cwd=folder, env=ENVIRONMENT | environment, check=False
    )
    assert done.stderr == ""
    return done.stdout


def kept(folder: Path) -> list[Path]:
    return list((folder / "clusterspec" / "__pycache__").glob("modules*"))


def test_a_second_run_loads_modules_from_the_bytecode_file_with_the_same_output(copy: Path) -> None:
    check = ("-m", "clusterspec", "check", "spec.yaml")
    first = run(copy, *check)
    assert len(kept(copy)) == 1
    assert run(copy, "-c", FROM_THE_FILE) == "True\n"
    assert run(copy, *check) == first


def test_a_changed_module_is_imported_as_ever(copy: Path) -> None:
    run(copy, "-m", "clusterspec", "check", "spec.yaml")
    with (copy / "clusterspec" / "quantity.py").open("a", encoding="utf-8") as file:
        file.write("\nCHANGED = True\n")
    assert run(copy, "-c", WHERE.format("q.CHANGED")) == "True\n"
    assert run(copy, "-c", FROM_THE_FILE) == "False\n"


@pytest.mark.parametrize("keep", [0, 5, 30, 5_000, -1])
def test_a_damaged_bytecode_file_is_ignored(copy: Path, keep: int) -> None:
    check = ("-m", "clusterspec", "check", "spec.yaml")
    first = run(copy, *check)
    file = kept(copy)[0]
    file.write_bytes(file.read_bytes()[:keep])
    assert run(copy, "-c", FROM_THE_FILE) == "False\n"
    assert run(copy, *check) == first
    assert run(copy, "-c", FROM_THE_FILE) == "True\n", "the file is rewritten"


@pytest.mark.parametrize("at", [2, 9, 2_000, 300_000])
def test_a_file_with_one_damaged_byte_is_not_used(copy: Path, at: int) -> None:
    run(copy, "-m", "clusterspec", "check", "spec.yaml")
    whole = bytearray((file := kept(copy)[0]).read_bytes())
    whole[at] ^= 1
    file.write_bytes(whole)
    assert run(copy, "-c", FROM_THE_FILE) == "False\n"


def test_a_file_holds_for_one_folder_and_one_version(copy: Path, tmp_path: Path) -> None:
    run(copy, "-m", "clusterspec", "check", "spec.yaml")
    moved = tmp_path / "moved"
    shutil.copytree(copy / "clusterspec", moved / "clusterspec")
    assert run(moved, "-c", FROM_THE_FILE) == "False\n"
    start = copy / "clusterspec" / "__init__.py"
    start.write_text(start.read_text("utf-8").replace('__version__ = "', '__version__ = "9.'), encoding="utf-8")
    assert run(copy, "-c", FROM_THE_FILE) == "False\n"


def test_no_file_is_written_where_python_writes_no_bytecode(copy: Path) -> None:
    run(copy, "-m", "clusterspec", "check", "spec.yaml", PYTHONDONTWRITEBYTECODE="1")
    assert not (copy / "clusterspec" / "__pycache__").exists()
    run(copy, "-m", "clusterspec", "check", "spec.yaml", PYTHONPYCACHEPREFIX=str(copy / "elsewhere"))
    assert not (copy / "clusterspec" / "__pycache__").exists()


def test_modules_of_other_commands_are_added_to_the_bytecode_file(copy: Path) -> None:
    run(copy, "-m", "clusterspec", "check", "spec.yaml")
    before = kept(copy)[0].stat().st_size
    run(copy, "-m", "clusterspec", "estimate", "spec.yaml")
    assert kept(copy)[0].stat().st_size > before
    assert run(copy, "-c", FROM_THE_FILE) == "True\n"
