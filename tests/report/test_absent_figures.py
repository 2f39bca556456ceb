"""The text of an estimate without each figure that a plan may lack."""

from __future__ import annotations

import pytest

from clusterspec.records import replace
from clusterspec.report.estimate_text import estimate_as_text
from tests.absences import records_without
from tests.designs import REINFORCED, SERVED, TRAINED
from tests.report.plain_results import estimate_of


@pytest.mark.parametrize("text", [TRAINED, SERVED, REINFORCED])
def test_an_estimate_is_written_without_each_figure(text: str) -> None:
    """The first line names the design, its machine and its model, as long as they are known."""
    report = estimate_of(text)
    first = estimate_as_text(report).splitlines()[0]
    assert first.startswith("test: ") and "H100" in first
    for path, less in records_without(report.plan, 0):
        assert estimate_as_text(replace(report, plan=less)).splitlines()[0] == first, path


def test_an_estimate_is_written_of_a_machine_and_a_layout_without_each_field() -> None:
    report = estimate_of(SERVED)
    for part in ("cluster", "layout"):
        for path, record in records_without(getattr(report.design, part), 0):
            design = replace(report.design, **{part: record})
            written = estimate_as_text(replace(report, plan=replace(report.plan, design=design)))
            assert written.startswith("test: "), f"{part}.{path}"
