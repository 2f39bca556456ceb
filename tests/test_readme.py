"""The README shows what the program really says; `tools.generate` writes its output and its figure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clusterspec import analysis
from tests.settings import SETTINGS
from tools.generate.figures import corrected, outputs

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"


@pytest.mark.parametrize("command", list(outputs()))
def test_a_command_prints_what_is_shown(command: str) -> None:
    assert f"$ clusterspec {command}\n{outputs()[command]}```" in README.read_text("utf-8"), "run `make docs`"


def test_the_corrected_spec_has_no_findings() -> None:
    assert analysis.check([corrected()], SETTINGS).findings == ()


def test_every_page_it_names_is_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text("utf-8")):
        assert (ROOT / target).exists(), target


def test_every_target_it_names_is_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"^make (\w+)", README.read_text("utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
