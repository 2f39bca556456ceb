"""Estimates of designs without each field that they may lack."""

from __future__ import annotations

import pytest

from clusterspec.cost.estimate import estimate
from clusterspec.cost.interruptions import plan_interruptions
from clusterspec.cost.storage import storage_use
from clusterspec.records import replace
from tests.absences import DEPTH, records_without
from tests.designs import APART, REINFORCED, SERVED, TRAINED, changed, study_of

STORED = TRAINED.replace(
    "nodes: 2}", "nodes: 2, networks: {storage: {bandwidth: 40 GB/s, read: 80 GB/s, slots: 2, metadata_rate: 100}}}"
).replace("global_batch: 32}", "global_batch: 32, tokens: 1T, token_width: 2 B}") + (
    "operations: {checkpoint: {interval: 1 h, keep: 3}, restart_time: 5 min}\n"
)


def test_storage_and_interruptions_are_told_without_each_key() -> None:
    study = study_of(STORED.replace(", token_width: 2 B", ""))
    assert storage_use(study.plan) is not None
    told: dict[str, bool] = {}
    for path, spec in records_without(study.design.spec, DEPTH):
        if path == "broken":
            continue
        plan = replace(study.plan, design=replace(study.design, spec=spec))
        found, kept = storage_use(plan), plan_interruptions(plan)
        told[path] = found is not None and found.checkpoint is not None
        assert kept is None or 0 <= kept.share <= 1, path
    assert told["operations"] and told["cluster.networks.storage.slots"] and told["cluster.networks.storage.read"]
    assert not told["cluster.networks"] and not told["cluster.networks.storage.bandwidth"]


@pytest.mark.parametrize("text", [TRAINED, SERVED, APART, REINFORCED])
def test_a_design_is_estimated_without_each_field(text: str) -> None:
    """A time is positive where it is known; without a machine, a workload or a layout there is none."""
    whole = study_of(text).design
    for part in ("cluster", "workload", "layout"):
        for path, less in records_without(getattr(whole, part), 0):
            plan = estimate(replace(whole, **{part: less}))
            assert plan.step_seconds is None or plan.step_seconds > 0, path
            assert plan.memory is None or plan.memory.total.value > 0, path
        assert estimate(changed(whole, {part: None})).step_seconds is None
