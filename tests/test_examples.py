"""The examples are real machines that ran: each is judged as an expert would, and none is called impossible."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec import analysis, studies
from clusterspec.cost.serving.latency import serving_range
from clusterspec.finding import Severity
from clusterspec.report import findings_text
from tests.effort import each
from tests.golden import assert_golden
from tests.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))


def study(path: Path) -> studies.Study:
    return studies.study_text(path.read_text("utf-8"), SETTINGS, path.name, path.parent)


def test_there_are_enough_of_them() -> None:
    assert len(EXAMPLES) >= 6


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_what_ran_is_not_called_impossible(path: Path) -> None:
    one = study(path)
    assert not [finding for finding in one.findings if finding.severity is Severity.ERROR]
    for part in one.fleet.jobs.values() if one.fleet else [one]:
        assert part.plan.memory is not None
        assert part.plan.memory.fits is not False


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_what_is_said_of_it(path: Path) -> None:
    one = study(path)
    report = analysis.check([one], one.settings)
    assert_golden(Path(__file__).with_name("examples") / f"{path.stem}.txt", findings_text.findings_as_text(report))


@each("path", EXAMPLES)
def test_it_names_its_sources(path: Path) -> None:
    comments = [line for line in path.read_text("utf-8").splitlines() if line.startswith("#")]
    assert any("https://" in line or "arXiv" in line for line in comments)


def test_each_exhibit_says_where_it_is_from_and_what_is_assumed() -> None:
    """`test_generated` reads what the program says of them: docs/gallery.md."""
    exhibits = sorted((ROOT / "examples" / "gallery").glob("*.yaml"))
    assert len(exhibits) >= 25
    for path in exhibits:
        head = path.read_text("utf-8").split("clusterspec: 1")[0]
        assert "https://" in head or "arXiv" in head or "leonardo.yaml" in head, path.name
        assert "read" in head or "recalled" in head or "ours" in head, path.name


def test_the_published_mfu_of_llama_3_is_met() -> None:
    plan = study(ROOT / "examples" / "llama-3-405b.yaml").plan
    assert plan.mfu == pytest.approx(0.41, rel=0.15), "table 4 of the paper: 41 %"


def test_the_published_step_of_bloom_lies_in_the_band() -> None:
    plan = study(ROOT / "examples" / "bloom-176b.yaml").plan
    assert plan.step_time_range is not None
    low, high = plan.step_time_range
    assert low <= 105 <= high, "about 105 s an iteration, as the authors' account of the training says"


def test_the_published_serving_of_deepseek_lies_in_the_band() -> None:
    found = study(ROOT / "examples" / "deepseek-v3-serving.yaml").plan.serving
    assert found is not None
    low, high = serving_range(found, "tpot")
    assert low <= 1 / 21 <= high, "20 to 22 output tokens a second of a user"
    slow, fast = serving_range(found, "output_tokens_per_second")
    assert slow <= 18 * 14_800 <= fast, "14.8k output tokens a second of each of the 18 nodes that decode"
