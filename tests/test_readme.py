"""The README shows what the program really says."""

from __future__ import annotations

import os
import re
from pathlib import Path

from clusterspec import pipeline
from clusterspec.report import findings_text
from tests.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
SPEC = re.compile(r"```yaml\n(# yaml-language-server.*?)```", re.DOTALL)
OUTPUT = re.compile(r"(\$ clusterspec check cluster\.yaml\n)(.*?)(```)", re.DOTALL)


def test_the_first_look_is_what_check_says() -> None:
    text = README.read_text("utf-8")
    spec, shown = SPEC.search(text), OUTPUT.search(text)
    assert spec
    assert shown
    one = pipeline.study_text(spec[1], SETTINGS, "cluster.yaml")
    said = findings_text.text(pipeline.check([one], SETTINGS))
    if os.environ.get("UPDATE_GOLDEN"):
        README.write_text(text[: shown.start(2)] + said + text[shown.end(2) :], "utf-8")
        return
    assert shown[2] == said, "run the tests with UPDATE_GOLDEN=1 and look at the README"


def test_every_page_it_names_is_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text("utf-8")):
        assert (ROOT / target).exists(), target


def test_every_target_it_names_is_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"^make (\w+)", README.read_text("utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
