"""The memory of the stages has the fullest one of the estimate, and falls with the micro-batches in flight."""

from __future__ import annotations

import pytest

from clusterspec import studies
from clusterspec.analysis.full_report import stage_memory
from clusterspec.analysis.searches.fitting import fitting_machine, longest_sequence
from clusterspec.studies import variation
from tests.analysis.jobs import study_of
from tests.analysis.test_verdict import RUNS
from tests.settings import SETTINGS


@pytest.mark.parametrize("pp", [2, 4, 8, 20])
def test_the_fullest_stage_is_that_of_the_estimate(pp: int) -> None:
    plan = studies.study_text(RUNS.replace("pp: 2", f"pp: {pp}").replace("nodes: 64", "nodes: 80"), SETTINGS).plan
    assert plan.memory is not None
    found = stage_memory(plan)
    assert max(stage.total for stage in found) == pytest.approx(plan.memory.total.value, rel=1e-9)
    assert found[0].stage == 1
    assert found[-1].stage == pp


def test_under_1f1b_the_second_stage_holds_one_micro_batch_fewer_than_the_first() -> None:
    plan = studies.study_text(RUNS.replace("pp: 2", "pp: 4"), SETTINGS).plan
    stages = stage_memory(plan)
    # 80 layers in 4 stages of 20; the stages in the middle have 3 and 2 micro-batches in flight
    each = stages[1].activations - stages[2].activations
    assert each > 0
    assert stages[1].weights == pytest.approx(stages[2].weights)


def test_one_stage_has_no_table() -> None:
    assert stage_memory(studies.study_text(RUNS.replace("pp: 2", "pp: 1"), SETTINGS).plan) == ()


def test_the_longest_sequence_fits_and_the_next_one_does_not() -> None:
    study = studies.study_text(RUNS, SETTINGS)
    found = longest_sequence(study.plan)
    assert found is not None and not found.reached
    for tokens, fits in ((found.tokens, True), (found.tokens + found.step, False)):
        other = variation.varied_study(study, {("workload", "sequence_length"): tokens})
        assert other.plan.fits is fits


FULL = """
cluster:
  {accelerator: l40s, accelerators_per_node: 2, nodes: %d,
   scale_out: {technology: infiniband-ndr, nics_per_node: 1}}
workload: {model: llama-3.1-8b, sequence_length: 2048, global_batch: 8}
layout: {framework: megatron-core, tp: 1%s}
"""


def test_a_job_fits_on_the_smallest_multiple_of_its_machine_that_holds_its_states() -> None:
    """18 bytes for each of 8.03 B parameters are 145 GB: more than two accelerators of 48 GB have, and four have it."""
    (found,) = fitting_machine(study_of(FULL % (1, "")), lambda nodes: {("cluster", "nodes"): nodes})
    cluster = found.study.design.cluster
    assert cluster is not None and cluster.nodes == 2
    assert found.study.plan.surely_fits and not found.study.errors
    assert found.study.design.layout is not None and found.study.design.layout.ranks == 4


def test_a_job_that_fits_or_is_unknown_needs_no_other_machine() -> None:
    fits = study_of(FULL.replace("l40s", "h200-sxm-141gb") % (2, ", sharding: zero3, recompute: full"))
    assert fits.plan.surely_fits
    bare = study_of("cluster: {platform: dgx-h100, nodes: 1}\n")
    for one in (fits, bare):
        assert not list(fitting_machine(one, lambda nodes: {("cluster", "nodes"): nodes}))
