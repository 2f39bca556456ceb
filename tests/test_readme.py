"""The README shows what the program really says; `tools.generate` writes its output and its figure."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from clusterspec import analysis
from clusterspec.cli.commands import parser
from tests.effort import telling
from tests.settings import SETTINGS
from tools.generate.figures import outputs, study_of_corrected_spec

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"


@telling(2)
@pytest.mark.parametrize("command", list(outputs()))
def test_a_command_prints_what_is_shown(command: str) -> None:
    assert f"$ clusterspec {command}\n{outputs()[command]}```" in README.read_text("utf-8"), "run `make docs`"


def test_the_corrected_spec_has_no_findings() -> None:
    assert analysis.check([study_of_corrected_spec()], SETTINGS).findings == ()


def test_every_page_it_names_is_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text("utf-8")):
        assert (ROOT / target).exists(), target


def test_every_target_it_names_is_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"^make (\w+)", README.read_text("utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_command_of_the_common_tasks_is_understood() -> None:
    """And none of their calls leaves out a spec or names an option that does not exist."""
    text = (ROOT / "docs" / "tasks.md").read_text("utf-8")
    blocks = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    commands = re.findall(r"^clusterspec ([^>\n]+)", blocks, re.MULTILINE)
    assert len(commands) >= 25
    for words in map(shlex.split, commands):
        assert callable(parser(words).parse_args(words).run), words
