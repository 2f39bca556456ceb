"""The verdict by area: what binds each part of the machine."""

from __future__ import annotations

from clusterspec.analysis.verdict import areas
from clusterspec.procurement.bill import Bill
from clusterspec.studies.study import study_text
from tests.settings import SETTINGS

TORUS = """\
clusterspec: 1
cluster: {platform: tpu-v5p, nodes: 512, scale_up: {shape: [16, 8, 16]}}
workload: {model: gpt3-175b, sequence_length: 2048, global_batch: 4096}
layout: {framework: maxtext, tp: 8, micro_batch: 1}
"""


def test_links_of_different_torus_axes_are_not_added() -> None:
    plan = study_text(TORUS, SETTINGS).plan
    (found,) = (area for area in areas(plan, Bill(), None) if area.area == "scale-up links")
    busy = [sum(row.seconds for row in plan.communication if row.axis == axis) for axis in ("tp", "dp_cp")]
    assert plan.step_seconds is not None and found.value is not None
    assert found.value == max(busy) < plan.step_seconds < sum(busy)
    assert found.state == "good"
