"""The pages on fleets and machines: their specs are sound, their commands are understood, and what they list exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from clusterspec.analysis.fleets.search import OBJECTIVES
from clusterspec.analysis.searches.candidates import Limits, candidate_machine, candidate_of_platform, read_prices
from clusterspec.cli import run
from clusterspec.cli.commands import parser
from clusterspec.finding import Severity
from clusterspec.procurement.bill import bill
from clusterspec.procurement.cost import cost
from clusterspec.results.machine_search import BEST
from clusterspec.studies import study_text, variation
from tests.effort import telling
from tests.settings import SETTINGS

DOCS = Path(__file__).resolve().parents[1] / "docs"
FLEET, MACHINES = ((DOCS / name).read_text("utf-8") for name in ("fleet.md", "machines.md"))
COMMANDS = re.findall(r"^clusterspec ([^#\n]*[^#\s])", FLEET + MACHINES, re.MULTILINE)


def blocks(page: str) -> list[str]:
    return re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)


def test_the_specs_of_the_pages_have_no_errors() -> None:
    for text in blocks(FLEET):
        one = study_text(text, SETTINGS)
        assert one.fleet is not None and len(one.fleet.jobs) >= 2
        assert not [finding.message for finding in one.findings if finding.severity is Severity.ERROR]


def test_the_prices_of_the_page_hold_for_its_machines(tmp_path: Path) -> None:
    text, prices = blocks(MACHINES)
    (tmp_path / "prices.yaml").write_text(prices)
    work, listed = study_text(text, SETTINGS), read_prices(tmp_path / "prices.yaml")
    for name in listed.machines:
        one = variation.rewritten_study(
            work, candidate_machine(work, candidate_of_platform(name, work), 4, "", listed).changes
        )
        total = cost(one.design, None, bill(one.design))
        assert total is not None and total.total is not None and total.total.value > 4 * 250_000
    assert Limits().within is None


def test_the_commands_of_the_pages_are_understood() -> None:
    assert len(COMMANDS) >= 10
    for command in COMMANDS:
        words = shlex.split(command)
        assert callable(parser(words).parse_args(words).run), command


def test_every_objective_and_every_best_machine_is_on_the_pages() -> None:
    table = FLEET[FLEET.index("| objective |") :]
    assert set(re.findall(r"^\| `(\w+)`", table[: table.index("\n\n")], re.MULTILINE)) == set(OBJECTIVES)
    assert all(f"`{name}`" in MACHINES or name in MACHINES for name in BEST)


@telling(2)
@pytest.mark.parametrize(
    "command", [line for line in COMMANDS if line.split()[0] in {"check", "estimate", "bom", "cost"}]
)
def test_a_command_of_the_pages_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fleet.yaml").write_text(blocks(FLEET)[0], "utf-8")
    assert run(shlex.split(command)) == 0
