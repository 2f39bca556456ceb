"""Peaks that a vendor does not publish: not the same as precisions that a part lacks."""

from __future__ import annotations

import pytest

from clusterspec.catalog.entries import Accelerator
from clusterspec.finding import Finding
from clusterspec.studies import study_text
from tests.catalog.shipped import CATALOG
from tests.settings import SETTINGS

SPEC = """\
clusterspec: 1
cluster: {{accelerator: {accelerator}, accelerators_per_node: 8, nodes: 4, scale_up: {{bandwidth: 2.4 TB/s duplex}}}}
workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, precision: {precision}{more}}}
"""


def found(accelerator: str, precision: str, more: str = "") -> list[Finding]:
    text = SPEC.format(accelerator=accelerator, precision=precision, more=more)
    return [one for one in study_text(text, SETTINGS).findings if one.rule == "precision-unsupported"]


@pytest.mark.parametrize("accelerator", ["tpu-8t", "mi440x"])
def test_an_unpublished_peak_is_reported(accelerator: str) -> None:
    (finding,) = found(accelerator, "bf16")
    assert (finding.severity, finding.help) == ("note", "state `workload.peak_flops`")
    assert "published" in finding.message
    assert found(accelerator, "bf16", ", peak_flops: 3 PFLOP/s dense") == []


def test_a_precision_that_a_part_lacks_is_an_error() -> None:
    (finding,) = found("a100-sxm-80gb", "fp8")
    assert finding.severity == "error"


def test_a_peak_is_published_or_not() -> None:
    for id_ in CATALOG.ids("accelerator"):
        entry = CATALOG.accelerator(id_)
        assert isinstance(entry, Accelerator)
        assert not {*entry.unpublished_peaks} & {*entry.peaks}, id_
        assert entry.peaks or entry.unpublished_peaks, id_
