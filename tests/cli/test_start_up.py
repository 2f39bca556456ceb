"""A command loads what it needs: what people wait for is mostly imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT
from tests.logs.printed import run
from tools.benchmark.specs import CLEAN

PROBE = """
import contextlib, io, sys
sys.path.insert(0, sys.argv[1])
from clusterspec.cli import run
with contextlib.redirect_stdout(io.StringIO()):
    for command in " ".join(sys.argv[2:]).split(" ; "):
        assert run(command.split(" ")) == 0, command
print(*sorted(sys.modules))
"""
JUDGING = {f"clusterspec.{package}" for package in ("analysis", "studies", "rules", "cost", "cluster", "spec")}
OF_DISTRIBUTION = {"sitecustomize", "usercustomize"}
"""Modules that an installation of Python loads at its start, whatever it runs: Debian's has the first."""
LIBRARIES = {"jsonschema", "jinja2", "weasyprint", "numpy"}


def loaded(*words: str, parts: int = 2) -> set[str]:
    """The modules that commands load, ``;`` between them, by the first parts of their names."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(ROOT), *words], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {".".join(name.split(".")[:parts]) for name in done.stdout.split()} - OF_DISTRIBUTION


LOOKUPS = (
    "catalog list",
    "catalog show h100-sxm-80gb",
    "catalog search nvlink",
    "catalog diff h100-sxm-80gb h200-sxm-141gb",
    "init",
    "schema",
)


def test_lookup_commands_do_not_load_rules() -> None:
    """All in one process: what one of them loads, all have."""
    names = loaded(" ; ".join(LOOKUPS))
    assert "clusterspec.catalog" in names
    assert not names & (JUDGING | LIBRARIES | {"pint"})


def test_convert_does_not_load_rules() -> None:
    assert not loaded("convert 900GB/s") & JUDGING


MOST_MODULES = 201
"""Modules of a clean check, the standard library's among them; raise it with a reason."""
MOST_OUTSIDE_RULES = 90
"""Modules of the program among them that hold no rule."""


def test_a_check_of_a_machine_alone_loads_no_model_of_costs(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n")
    costs = {name for name in loaded("check", str(spec), parts=9) if name.startswith("clusterspec.cost.")}
    assert costs == {"clusterspec.cost.plan"}


def test_a_clean_check_loads_few_modules(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(CLEAN)
    names = loaded("check", str(spec), parts=9)
    assert len(names) <= MOST_MODULES
    unused = {"yaml", "jsonschema", "dataclasses", "inspect", "typing"}
    assert not [name for name in names if name.split(".")[0] in unused]
    assert not [name for name in names if name.startswith("clusterspec.rules.layout.")], "rules that report nothing"
    assert not [name for name in names if "fleet" in name], "the spec has one cluster"
    own = {name for name in names if name.startswith("clusterspec")}
    assert len([name for name in own if not name.startswith("clusterspec.rules")]) <= MOST_OUTSIDE_RULES


def test_an_estimate_as_json_loads_no_writer_of_texts() -> None:
    names = loaded("estimate", "examples/dgx-h100-pod.yaml", "--format", "json", parts=3)
    assert not names & {"hashlib", "html", "typing"}
    assert not names & {"clusterspec.report.estimate_text", "clusterspec.report.assumption_rows"}


SERVING = ("examples/trn2-serving.yaml", "examples/deepseek-v3-serving.yaml", "examples/gallery/kimi-k2-h200.yaml")


def test_a_serving_plan_loads_no_slow_module_of_the_standard_library() -> None:
    """`typing` takes a twentieth of a check, `statistics` with fractions and decimal numbers a tenth."""
    names = loaded(" ; ".join(f"{command} {spec}" for command in ("check", "estimate") for spec in SERVING))
    assert "clusterspec.cost" in names
    slow = {"typing", "statistics", "dataclasses", "inspect", "ast", "hashlib", "html", "subprocess"}
    assert not names & slow


def test_the_estimate_of_a_training_plan_loads_nothing_of_serving_money_or_logs() -> None:
    names = loaded("estimate", "examples/dgx-h100-pod.yaml", parts=3)
    assert not names & {"inspect", "ast", "dataclasses", "typing"}
    unused = {"clusterspec.cost.serving", "clusterspec.procurement", "clusterspec.exchange", "clusterspec.logs"}
    assert not unused & {".".join(name.split(".")[:parts]) for name in names for parts in (2, 3)}


def test_a_report_loads_no_reader_of_logs_and_no_cause_of_slow_runs(tmp_path: Path) -> None:
    names = loaded("report", "examples/gallery/six-rtx-3090.yaml", "-o", str(tmp_path / "report.json"), parts=4)
    unused = {
        "clusterspec.analysis.diagnosis.collectives",
        "clusterspec.analysis.diagnosis.causes",
        "clusterspec.logs.benchmarks.benchmark",
    }
    assert not names & unused
    assert "clusterspec.analysis.acceptance_tests" in names


def test_a_measurement_loads_no_pattern_of_lines_that_tell_why_runs_stop(tmp_path: Path) -> None:
    """A stated one loads no reader of logs, a log only that of nccl-tests: a thousand patterns take as long as a check
    of the rest.
    """
    stated = loaded("estimate", "examples/mi300x-pair.yaml", parts=4)
    assert {name for name in stated if name.startswith("clusterspec.logs.benchmarks.")} <= {
        "clusterspec.logs.benchmarks.nccl_rows"
    }
    assert not {name for name in stated if name.startswith(("clusterspec.logs.statements", "clusterspec.logs.reports"))}
    (tmp_path / "run.log").write_text(run().text())
    spec = tmp_path / "spec.yaml"
    spec.write_text(CLEAN + "measured:\n  - log: run.log\n")
    named = loaded("estimate", str(spec), parts=4)
    assert "clusterspec.logs.benchmarks.nccl" in named
    unused = {"benchmarks.readers", "statements.statement_search", "statements.failure_lines"}
    assert not named & {f"clusterspec.logs.{name}" for name in unused}


def test_check_does_not_load_report_or_conversion_libraries() -> None:
    found = loaded(" ; ".join(f"{command} examples/dgx-h100-pod.yaml" for command in ("check", "estimate", "bom")))
    assert not found & {"jinja2", "weasyprint", "numpy", "pint"}
    assert "concurrent.futures" not in found


AT_THE_END = """
import atexit, sys
atexit.register(print, "the end")
from clusterspec.__main__ import main
sys.argv = ["clusterspec", "schema"]
main()
"""


def test_exit_handlers_run() -> None:
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "the end"


@pytest.mark.parametrize("words", [("schema",), ("--version",), ("--help",)], ids=" ".join)
def test_all_output_reaches_a_pipe(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clusterspec", *words], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.endswith("\n")
