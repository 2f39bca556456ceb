"""Layouts that a search finds for jobs of a fleet, in the fleet's file: figures hold there, and other lines stay."""

from __future__ import annotations

import json
from difflib import ndiff

import pytest
import yaml

from clusterspec.analysis.fleets import search as fleet_search
from clusterspec.analysis.fleets.options import Place, _billed_cost, run_time_lower_bound
from clusterspec.analysis.rewrite import text_with_assignment, text_with_job_row
from clusterspec.analysis.searches.layouts import search
from clusterspec.analysis.searches.studied import SearchOptions
from clusterspec.results.fleet_search import Assignment, JobOption
from clusterspec.results.search import LayoutRow
from clusterspec.studies import Study, study_text
from clusterspec.studies.fleet import FleetStudy
from tests.effort import sampled, thorough
from tests.settings import SETTINGS

FLEET = """\
# two machines
clusterspec: 1
name: lab
pools:
  train: {platform: dgx-h100, nodes: 4}   # the old ones
  serve: {platform: dgx-h200, nodes: 4}
pool_links: [{between: [train, serve], fabric: shared}]
jobs:
  tune:   # ours
    pool: train
    nodes: 2
    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128, tokens: 5B}
    layout:
      framework: megatron-core
      tp: 8   # safe
  bare:
    pool: train
    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128, tokens: 5B}
  chat:
    pool: serve
    nodes: 2
    workload:
      kind: serve
      model: llama-3.1-8b
      serving: {input_tokens: 2000, output_tokens: 200, concurrency: 64}  # a guess
    layout: {framework: vllm, tp: 8}
  apart:
    pool: train
    nodes_of: tune
    share: 0
    workload:
      kind: serve
      model: llama-3.1-70b
      serving:
        input_tokens: 4000
        output_tokens: 500
        concurrency: 256
        disaggregated:
          prefill: {replicas: 4, tp: 2}   # on train
          decode: {pool: serve, replicas: 2, tp: 8}
    layout: {framework: vllm}
"""
APART = FLEET[: FLEET.index("  tune:")] + FLEET[FLEET.index("  apart:") :].replace(
    "    nodes_of: tune\n    share: 0\n", ""
)


def fleet(text: str) -> tuple[Study, FleetStudy]:
    whole = study_text(text, SETTINGS, "lab.yaml")
    assert whole.fleet is not None
    return whole, whole.fleet


def best_row(job: Study, **pins: object) -> LayoutRow:
    return search(job, SearchOptions(pins, top=1, best_only=True)).layouts[0]


def lines_changed(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that are gone and those that are new, in their order."""
    rows = list(ndiff(before.splitlines(), after.splitlines()))
    return [row[2:].strip() for row in rows if row[0] == "-"], [row[2:].strip() for row in rows if row[0] == "+"]


@thorough
@pytest.mark.parametrize("name", sampled(["tune", "bare", "chat"], 4))
def test_a_job_of_the_written_file_has_the_figures_of_the_layout_found(name: str) -> None:
    whole, parts = fleet(FLEET[: FLEET.index("  apart:")])
    row = best_row(parts.jobs[name])
    text = text_with_job_row(whole, parts.jobs[name], row)
    written, again = fleet(text)
    plan = again.jobs[name].plan
    assert plan.step_seconds == row.step_time and plan.memory_bytes == row.memory
    if row.serving is not None:
        assert plan.serving is not None and plan.serving.tpot == row.serving["tpot"]
    gone, new = lines_changed(whole.source.text, text)
    assert len(gone) <= 2 and len(new) <= 6, (gone, new)
    assert all(comment in text for comment in ("# two machines", "# the old ones", "# ours", "# a guess"))
    for other in {"tune", "bare", "chat"} - {name}:
        assert again.jobs[other].design.layout == parts.jobs[other].design.layout, other
    assert not [found for found in written.findings if found.severity.value == "error"]


def test_a_key_of_a_layout_stays_on_its_line_with_its_comment() -> None:
    """The best tp of 8B on two nodes is below 8: the line of tp changes, and keys that are new stand below it."""
    whole, parts = fleet(FLEET)
    row = best_row(parts.jobs["tune"])
    assert row.layout["tp"] != 8
    text = text_with_job_row(whole, parts.jobs["tune"], row)
    gone, new = lines_changed(FLEET, text)
    assert gone == ["tp: 8   # safe"] and new[0] == f"tp: {row.layout['tp']}   # safe"
    assert "nodes" not in {line.split(":")[0] for line in new}, "the job states its nodes"


@thorough
def test_fewer_nodes_of_engines_are_those_of_the_job() -> None:
    """One engine of tp 1 holds the load: a node in place of two."""
    whole, parts = fleet(FLEET)
    row = best_row(parts.jobs["chat"])
    assert row.layout["nodes"] == 1
    text = text_with_job_row(whole, parts.jobs["chat"], row)
    assert fleet(text)[1].fleet.jobs["chat"].nodes == 1
    assert "nodes: 1" in lines_changed(FLEET, text)[1]


def test_engines_on_two_pools_stay_there_and_keep_the_comments_of_their_lines() -> None:
    whole, parts = fleet(APART)
    row = best_row(parts.jobs["apart"], pools="disaggregated")
    text = text_with_job_row(whole, parts.jobs["apart"], row)
    gone, new = lines_changed(APART, text)
    assert [line.split(":")[0] for line in gone] == [line.split(":")[0] for line in new] == ["prefill", "decode"]
    assert new[0].endswith("# on train") and "pool: serve" in new[1]
    plan = fleet(text)[1].jobs["apart"].plan
    assert row.serving is not None and plan.serving is not None
    assert (plan.serving.ttft, plan.serving.tpot) == (row.serving["ttft"], row.serving["tpot"])


def test_prefill_engines_on_another_pool_take_the_nodes_they_need() -> None:
    """Five engines of two ranks need two nodes of their pool, although one decode engine is on one node of its own."""
    text = APART.replace("{replicas: 4, tp: 2}", "{replicas: 5, tp: 2}").replace(
        "replicas: 2, tp: 8", "replicas: 1, tp: 4"
    )
    _, parts = fleet(text)
    assert parts.jobs["apart"].has_figures and parts.jobs["apart"].plan.serving is not None
    assert parts.fleet.job_node_count("train", "apart") == 2 and parts.fleet.job_node_count("serve", "apart") == 1


GRPO = """\
  grpo:
    pool: train
    workload:
      kind: rl
      model: qwen2.5-7b
      tokens: 5B
      rl: {prompts_per_step: 64, samples_per_prompt: 16, input_tokens: 512,
        output_tokens: {mean: 2000, p99: 8000, max: 8192},
        placement: colocated, rollout: {framework: vllm, tp: 1, memory_fraction: 0.6}}  # first try
    layout: {framework: megatron-core, tp: 2, recompute: full}
"""


@thorough
def test_an_assignment_is_written_with_pools_nodes_layouts_and_placements() -> None:
    text = FLEET[: FLEET.index("  bare:")] + FLEET[FLEET.index("  chat:") : FLEET.index("  apart:")] + GRPO
    whole, _ = fleet(text)
    goal = fleet_search.Goal(top=1, nodes=(2,))
    found = fleet_search.fleet_search(whole, goal)
    (best,) = found.assignments
    written, again = fleet(text_with_assignment(whole, best))
    for name, option in best.jobs.items():
        job = again.fleet.jobs[name]
        assert (job.spec.pool, job.nodes) == (option.pool, option.nodes), name
        plan = again.jobs[name].plan
        step = plan.rl.step if plan.rl else plan.step_seconds
        assert step == (pytest.approx(option.step_time) if option.step_time else option.step_time), name
        if option.serving is not None:
            assert plan.serving is not None and plan.serving.tpot == pytest.approx(option.serving["tpot"])
    comments = ("# two machines", "# the old ones", "# ours", "# safe", "# a guess", "# first try")
    assert all(comment in written.source.text for comment in comments)
    kept = JobOption("tune", "train", 2)
    assert text_with_assignment(whole, Assignment({"tune": kept}, 0.0, 0.0)) == text, "without a layout"


@pytest.mark.parametrize(
    ("rl", "trainer"),
    [(None, 3), ({"placement": "split", "max_staleness": 1, "rollout": {"framework": "vllm", "nodes": 1, "tp": 1}}, 2)],
)
def test_the_layout_of_a_job_has_the_nodes_that_rollout_leaves(rl: dict[str, object] | None, trainer: int) -> None:
    """Three nodes, of which rollout takes one; the layout states its nodes if it did."""
    stated = FLEET.replace("tp: 8   # safe", "tp: 8\n      nodes: 2")
    for text, nodes in ((FLEET, None), (stated, trainer)):
        option = JobOption("tune", "serve", 3, {"framework": "megatron-core", "tp": 4}, rl=rl)
        found = yaml.safe_load(text_with_assignment(fleet(text)[0], Assignment({"tune": option}, 0.0, 0.0)))
        job = found["jobs"]["tune"]
        assert (job["pool"], job["nodes"], job["layout"].get("nodes"), job["layout"]["tp"]) == ("serve", 3, nodes, 4)
        assert found["jobs"]["chat"] == yaml.safe_load(text)["jobs"]["chat"]


def test_an_assignment_writes_separate_engines_or_removes_them() -> None:
    engines = {"prefill": {"replicas": 1, "tp": 4}, "decode": {"replicas": 1, "tp": 4}}
    separate = FLEET.replace("concurrency: 64}", f"concurrency: 64, disaggregated: {json.dumps(engines)}}}")
    layout = {"framework": "vllm", "tp": 4}
    for text, wanted in ((FLEET, engines), (FLEET, None), (separate, engines), (separate, None)):
        option = JobOption("chat", "serve", 2, layout, disaggregated=wanted, serving={"tpot": 0.01})
        apart = JobOption("apart", "train", 2, layout, disaggregated=None, serving={"tpot": 0.01})
        found = text_with_assignment(fleet(text)[0], Assignment({"chat": option, "apart": apart}, 0.0, 0.0))
        jobs = yaml.safe_load(found)["jobs"]
        assert jobs["chat"]["workload"]["serving"].get("disaggregated") == wanted
        assert jobs["chat"]["workload"]["serving"]["concurrency"] == 64 and jobs["chat"]["layout"] == layout
        assert jobs["apart"] == yaml.safe_load(text)["jobs"]["apart"], "engines on several pools stay as written"
    assert "# a guess" in found


def test_no_run_is_shorter_than_its_products_at_peak() -> None:
    """Three passes of two operations for each weight in a matrix and token: 7,504,658,432 weights in matrices of
    Llama 3.1 8B, 7,070,619,136 of Qwen2.5 7B, and 5 B tokens on 32 accelerators.
    """
    _, parts = fleet(FLEET + GRPO)
    peak = parts.job_study("train", "tune", 4).design.workload
    assert peak is not None and peak.peak is not None
    each = 5e9 * 6 / (32 * peak.peak.value)
    found = {
        name: run_time_lower_bound(parts, Place((name,), "train", 4), name)
        for name in ("tune", "grpo", "chat", "apart")
    }
    assert found["tune"] == pytest.approx(7_504_658_432 * each)
    assert found["grpo"] == pytest.approx(7_070_619_136 * each, rel=0.01)
    assert found["chat"] == found["apart"] == 0.0
    _, twice = fleet(FLEET + GRPO.replace("samples_per_prompt: 16", "samples_per_prompt: 16, epochs: 2"))
    assert run_time_lower_bound(twice, Place(("grpo",), "train", 4), "grpo") == pytest.approx(2 * found["grpo"])
    assert run_time_lower_bound(parts, Place(("tune",), "train", 2), "tune") == pytest.approx(2 * found["tune"])
    assert _billed_cost(None, parts.jobs["tune"], 4.0) is None
