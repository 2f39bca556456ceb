"""The page on serving: its spec is valid, its commands run, and the figures that it names are printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from clusterspec.analysis.searches.serving_plans.space import OBJECTIVES
from clusterspec.cli import run
from clusterspec.cli.commands import parser
from clusterspec.finding import Severity
from clusterspec.studies import study_text
from tests.effort import ALL_CASES, each, sampled
from tests.settings import SETTINGS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "serving.md"
TEXT = PAGE.read_text("utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = re.findall(r"^\$ clusterspec (.*)$", TEXT, re.MULTILINE)


def test_the_spec_of_the_page_is_estimated_without_an_error() -> None:
    one = study_text(BLOCKS[0], SETTINGS)
    assert one.plan.serving is not None
    assert not [finding for finding in one.findings if finding.severity is Severity.ERROR]


def test_the_engines_of_the_page_resolve() -> None:
    pools = "".join(f"    {line}\n" for line in BLOCKS[1].splitlines())
    one = study_text(BLOCKS[0].replace("    targets:", pools + "    targets:"), SETTINGS)
    assert one.design.workload is not None and one.design.workload.serving is not None
    assert one.design.workload.serving.prefill is not None and one.plan.serving is not None


@each("command", COMMANDS)
def test_a_command_of_the_page_is_understood(command: str) -> None:
    words = shlex.split(command)
    assert callable(parser(words).parse_args(words).run)


@pytest.mark.parametrize(
    "command", sampled([line for line in COMMANDS if ALL_CASES or not line.startswith("solve")], 6)
)
def test_a_command_of_the_page_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("serving.yaml").write_text(BLOCKS[0], "utf-8")
    if command.startswith("report"):
        pytest.importorskip("jinja2")
    assert run(shlex.split(command)) == 0


def test_every_objective_of_the_page_is_one_of_the_search() -> None:
    table = TEXT[TEXT.index("| objective |") :]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == set(OBJECTIVES)
