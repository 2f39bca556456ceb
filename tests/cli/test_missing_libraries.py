"""Where a library that few commands need is missing, one line says what to install, and all else works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clusterspec.report import paper
from tests.cli.conftest import BASE, ROOT, Call, skip_without_pdf
from tests.effort import telling, thorough

HIDDEN = """
import sys
from importlib.abc import MetaPathFinder

class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent())
"""
WITHOUT_PANGO = """
import cffi

def nowhere(*_):
    raise OSError("cannot load library 'libpango-1.0-0'")

cffi.FFI.dlopen = nowhere
"""
KIND = ("--kind", "procurement")
IMPORT = "\nfrom clusterspec.cli import run"
RUN = f"{IMPORT}\nsys.exit(run(sys.argv[1:]))\n"


def run_without(missing: str, *words: str, run: str = RUN) -> subprocess.CompletedProcess[str]:
    preparation = WITHOUT_PANGO if missing == "pango" else HIDDEN.replace("{hidden}", repr({*missing.split()}))
    return subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{preparation}{run}", *words],
        capture_output=True,
        text=True,
        check=False,
    )


@telling(1)
@pytest.mark.parametrize(
    ("missing", "target", "said"),
    [
        ("jinja2", "out.html", "pip install Jinja2"),
        ("weasyprint", "out.pdf", "pip install weasyprint"),
        ("pango", "out.pdf", "apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"),
    ],
)
def test_a_missing_library_is_one_line(missing: str, target: str, said: str, tmp_path: Path) -> None:
    if missing == "pango":
        skip_without_pdf()
    (tmp_path / "spec.yaml").write_text(BASE)
    done = run_without(missing, "report", str(tmp_path / "spec.yaml"), "-o", str(tmp_path / target), *KIND)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done
    assert said in done.stderr
    assert not (tmp_path / target).exists()


@pytest.mark.parametrize("spec", ["dgx-h100-pod", "lab-fleet"])
def test_a_missing_library_is_told_before_anything_is_computed(
    spec: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for computed in ("full_report.report", "fleets.results.fleet_report"):
        monkeypatch.setattr(f"clusterspec.analysis.{computed}", lambda *_, **__: 1 / 0)
    done = call("report", str(ROOT / "examples" / f"{spec}.yaml"), "-o", "out.html")
    assert done.status == 2 and paper.INSTALL_HTML in done.error


def test_an_assignment_of_a_fleet_needs_the_solver_before_it_searches(tmp_path: Path) -> None:
    done = run_without("scipy", "search", str(ROOT / "examples" / "lab-fleet.yaml"), "--fleet")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done
    assert "pip install 'clusterspec[fleet]'" in done.stderr


def test_a_parquet_file_needs_pyarrow_and_other_exports_do_not(tmp_path: Path) -> None:
    target = tmp_path / "catalog.parquet"
    done = run_without("pyarrow", "catalog", "export", "nics", "--parquet", str(target))
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done
    assert "pip install 'clusterspec[parquet]'" in done.stderr
    assert not target.exists()
    assert run_without("pyarrow", "catalog", "export", "nics").returncode == 0


@pytest.mark.parametrize("missing", ["tree_sitter", "tree_sitter_bash"])
def test_a_launch_script_needs_the_parser_of_shell_scripts(missing: str, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("vllm serve x/Llama-3.1-8B --tensor-parallel-size 2\n")
    done = run_without(missing, "import", "vllm", str(tmp_path / "run.sh"))
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done
    assert "pip install tree-sitter tree-sitter-bash" in done.stderr


@thorough
def test_a_search_without_numpy_finds_the_same_digits(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(BASE.replace("nodes: 4", "nodes: 1"))
    call = ("search", str(tmp_path / "spec.yaml"), "--format", "json", "--set", "pp=1", "--set", "cp=1")
    without, with_ = run_without("numpy", *call), run_without("nothing", *call)
    assert (without.returncode, without.stderr) == (0, "")
    assert without.stdout == with_.stdout


def test_libraries_are_required_only_by_their_commands(tmp_path: Path) -> None:
    """Three commands in one process, which each end well."""
    (tmp_path / "spec.yaml").write_text(BASE)
    each = "\nassert [run([command, *sys.argv[1:]]) for command in ('check', 'estimate', 'bom')] == [0, 0, 0]\n"
    done = run_without("jinja2 weasyprint pint numpy", str(tmp_path / "spec.yaml"), run=f"{IMPORT}{each}")
    assert (done.returncode, done.stderr) == (0, "")
