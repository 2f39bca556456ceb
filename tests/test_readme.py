"""The README shows what the program really says."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from clusterspec import pipeline
from clusterspec.report import estimate_text, findings_text
from tests.settings import SETTINGS
from tools.generate.figures import README_SPEC, corrected

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"


def check() -> str:
    one = pipeline.study_text(README_SPEC, SETTINGS, "cluster.yaml")
    return findings_text.text(pipeline.check([one], SETTINGS))


def estimate() -> str:
    shown = estimate_text.text(pipeline.estimate(corrected()), influences=())
    return "".join(shown.splitlines(keepends=True)[:19])


@pytest.mark.parametrize(
    ("command", "said"), [("check cluster.yaml", check), ("estimate cluster.yaml | head -n 19", estimate)]
)
def test_a_command_prints_what_is_shown(command: str, said: object) -> None:
    assert callable(said)
    text = README.read_text("utf-8")
    shown = re.search(rf"(\$ clusterspec {re.escape(command)}\n)(.*?)(```)", text, re.DOTALL)
    assert shown
    if os.environ.get("UPDATE_GOLDEN"):
        README.write_text(text[: shown.start(2)] + said() + text[shown.end(2) :], "utf-8")
        return
    assert shown[2] == said(), "run the tests with UPDATE_GOLDEN=1 and look at the README"


def test_the_corrected_spec_has_no_findings() -> None:
    assert pipeline.check([corrected()], SETTINGS).findings == ()


def test_every_page_it_names_is_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text("utf-8")):
        assert (ROOT / target).exists(), target


def test_every_target_it_names_is_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"^make (\w+)", README.read_text("utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
