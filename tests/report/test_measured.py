"""What was measured is told wherever an estimate is told."""

from __future__ import annotations

import pytest

from clusterspec import analysis
from clusterspec.report import TextStyle, estimate_text
from clusterspec.report.paper import appendix
from clusterspec.studies import Study, study_text
from tests.effort import thorough
from tests.settings import SETTINGS

SPEC = """\
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {tp: 2}
"""
MEASURED = "measured: [{collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 180 GB/s}]\n"


def study(text: str) -> Study:
    return study_text(text, SETTINGS)


@thorough
def test_an_estimate_names_each_measurement_and_what_it_replaces() -> None:
    report = analysis.estimate(study(SPEC + MEASURED))
    text = estimate_text.estimate_as_text(report, TextStyle(width=160))
    assert "Measured, in place of the catalog's efficiencies" in text
    assert "180 GB/s of all-reduce on 16 ranks, 8 GiB (measured[0])" in text
    (told,) = report.to_json()["measured"]
    assert (told["collective"], told["part"], told["ranks"]) == ("all-reduce", "network", 16)
    section = appendix.measurements_section(analysis.report(study(SPEC + MEASURED), "procurement", live=False))
    assert section is not None and section.title == "Measurements"


def test_an_estimate_says_by_how_much_the_measurements_moved_it() -> None:
    usual, slow = (analysis.estimate(study(text)) for text in (SPEC, SPEC + MEASURED))
    told = slow.to_json()
    assert told["unmeasured_step_time"] == pytest.approx(usual.to_json()["step_time"])
    assert usual.to_json()["unmeasured_step_time"] is None
    assert (
        f"step time +{100 * (told['step_time'] / told['unmeasured_step_time'] - 1):.2g} %"
        in estimate_text.estimate_as_text(slow)
    )


@thorough
def test_nothing_is_printed_without_measurements() -> None:
    report = analysis.estimate(study(SPEC))
    assert "Measured" not in estimate_text.estimate_as_text(report)
    assert report.to_json()["measured"] == []
    assert appendix.measurements_section(analysis.report(study(SPEC), "procurement", live=False)) is None


def test_a_slow_network_lengthens_the_step() -> None:
    usual, slow = (analysis.estimate(study(text)).plan.step_time for text in (SPEC, SPEC + MEASURED))
    assert usual is not None and slow is not None and slow.value > usual.value


@pytest.mark.parametrize("name", ["all-reduce", "all-to-all"])
def test_collectives_are_timed_as_measured(name: str) -> None:
    usual, slow = (analysis.collective(study(text), name, 16, [8 * 2.0**30]) for text in (SPEC, SPEC + MEASURED))
    assert slow.rows[0].busbw < 0.7 * usual.rows[0].busbw
