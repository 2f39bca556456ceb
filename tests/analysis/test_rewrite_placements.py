"""The text of a spec with the placement of reinforcement learning that a search found."""

from __future__ import annotations

from functools import cache

import pytest

from clusterspec import analysis
from clusterspec.analysis.rewrite import text_with_best
from clusterspec.analysis.searches.studied import SearchOptions
from clusterspec.records import replace
from clusterspec.results.search import RlSplit, SearchReport
from clusterspec.studies import Study, study_text
from tests.effort import thorough
from tests.settings import SETTINGS

WORK = """workload:
  kind: rl
  model: qwen2.5-7b
  rl:
    prompts_per_step: 128
    samples_per_prompt: 16
    input_tokens: 512
    output_tokens: {mean: 2500, p99: 10000, max: 16384}
    minibatches: 4
    placement: split
    rollout: {nodes: 6, tp: 1}   # too many
    weight_sync: {method: nccl}
layout: {framework: megatron-core, tp: 2, recompute: full}
"""
ALONE = f"clusterspec: 1\nname: a\ncluster: {{platform: dgx-h100, nodes: 8}}\n{WORK}"
FLEET = "clusterspec: 1\nname: f\npools:\n  p: {platform: dgx-h100, nodes: 12}\njobs:\n  tuning:\n"
FLEET += "    pool: p\n    nodes: 8\n"
FLEET += "".join(f"    {line}\n" for line in WORK.splitlines())


def read(text: str) -> Study:
    return study_text(text, SETTINGS)


def job_of(whole: Study) -> Study:
    return whole.fleet.jobs["tuning"] if whole.fleet is not None else whole


@cache
def searched(text: str) -> SearchReport:
    """The best placement of the job of a spec."""
    return analysis.search(job_of(read(text)), SearchOptions(top=1))


@thorough
@pytest.mark.parametrize("text", [ALONE, FLEET], ids=["alone", "fleet"])
def test_the_written_placement_is_the_fastest_that_the_search_shows(text: str) -> None:
    whole = read(text)
    study = job_of(whole)
    report = searched(text)
    fastest, before = report.splits[0], study.plan.rl
    assert before is not None and fastest.step_time < before.step
    written = text_with_best(whole, study, report)
    after = job_of(read(written)).plan.rl
    assert after is not None
    assert after.step == pytest.approx(fastest.step_time, rel=1e-6)
    assert (after.rl.trainer_nodes, after.rl.rollout_nodes) == (fastest.trainer_nodes, fastest.rollout_nodes)
    assert after.rl.trainer_nodes + after.rl.rollout_nodes == 8
    assert "# too many" in written


def test_placements_of_a_job_have_its_nodes_and_degrees_that_divide_the_heads() -> None:
    """Eight of the pool's twelve nodes; 28 heads divide over 1, 2 and 4 ranks, not over 8."""
    report = searched(FLEET)
    assert {each.trainer_nodes + each.rollout_nodes for each in report.splits} == {8}
    assert {each.rollout_tp for each in report.splits} <= {1, 2, 4}


@pytest.mark.parametrize("text", [ALONE, FLEET], ids=["alone", "fleet"])
def test_a_placement_of_another_kind_leaves_its_own_way_to_send_weights(text: str) -> None:
    """Colocated engines take no nodes from the trainer, and no collective carries the weights."""
    whole = read(text)
    study = job_of(whole)
    report = searched(text)
    shared = RlSplit("colocated", 8, 0, 2, 0, 1e-6, 1.0, {})
    after = job_of(read(text_with_best(whole, study, replace(report, splits=(shared,)))))
    rl = after.design.workload.rl if after.design.workload else None
    assert rl is not None and (rl.placement, rl.trainer_nodes, rl.rollout_nodes) == ("colocated", 8, 0)
    assert not after.failures and after.plan.rl is not None


def test_a_spec_whose_step_is_as_short_stays_as_it_is() -> None:
    whole = read(ALONE)
    report = searched(ALONE)
    own = whole.plan.rl
    assert own is not None
    slower = replace(report.splits[0], step_time=own.step)
    assert text_with_best(whole, whole, replace(report, splits=(slower,))) == ALONE
