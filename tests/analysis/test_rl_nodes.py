"""Nodes of reinforcement learning: those of all roles, divided between trainer and rollout as is fastest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clusterspec import studies
from clusterspec.analysis.expectations import expected_verdict
from clusterspec.analysis.levers.boundaries import solve
from clusterspec.analysis.levers.conditions import METRICS, parse
from clusterspec.analysis.levers.effects import sensitivity
from clusterspec.analysis.levers.keys import lever_of
from clusterspec.analysis.searches.rl_splits import (
    _engines_fit,
    keys_of_nodes,
    nodes_by_role,
    rl_splits,
    splits_of_nodes,
)
from clusterspec.analysis.searches.studied import StudyVariations
from clusterspec.analysis.searches.sweeps import _row_as_written
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import Changes, design_with_keys
from clusterspec.cost.estimate import legal_estimate
from clusterspec.cost.reinforcement.memory import RlMemory
from clusterspec.records import replace
from clusterspec.report.solve_text import solve_as_text
from clusterspec.studies import Study
from clusterspec.studies.variation import varied_study
from clusterspec.units import display, percent
from tests.analysis.jobs import study_of
from tests.designs import REINFORCED, changed, plan_of
from tests.effort import thorough

WORK = """
  kind: rl
  model: qwen2.5-7b
  tokens: 20B
  rl:
    prompts_per_step: 128
    samples_per_prompt: 16
    input_tokens: 512
    output_tokens: {mean: 2500, p99: 10000, max: 16384}
    minibatches: 4
    max_staleness: 1
    placement: split
"""
LAYOUT = "{framework: megatron-core, tp: 2, recompute: full%s}\n"
ALONE = "cluster: {platform: dgx-h100, nodes: 8}\nworkload:" + WORK
ROLLOUT = "    rollout: {framework: vllm, tp: 4%s}\n"
SPLIT = ALONE + ROLLOUT % ", nodes: 4" + "layout: " + LAYOUT
FLEET = (
    "pools:\n  train: {platform: dgx-h100, nodes: 8}\n  gen: {platform: dgx-h200, nodes: 8}\n"
    "pool_links: [{between: [train, gen], fabric: shared}]\njobs:\n  grpo:\n    pool: train\n    nodes: 4\n"
    "    workload:"
    + (WORK + ROLLOUT % ", pool: gen, nodes: 4").replace("\n", "\n    ")
    + "\n    layout: "
    + LAYOUT % ""
)


def job_of_fleet() -> Study:
    text = "clusterspec: 1\nname: test\n" + FLEET
    whole = studies.study_text(text, studies.Settings.from_folder(Path(__file__).parent))
    assert whole.fleet is not None
    return whole.fleet.jobs["grpo"]


def step_of(design: Design, nodes: int, rollout: int) -> float | None:
    keys: Changes = {
        ("cluster", "nodes"): nodes,
        ("layout", "nodes"): None,
        ("workload", "rl", "rollout", "nodes"): rollout,
    }
    plan = legal_estimate(design_with_keys(design, keys))
    return plan.rl.step if plan.rl is not None and plan.fits and plan.step is not None else None


@thorough
def test_each_number_of_nodes_is_divided_as_is_fastest_and_the_fewest_that_hold_are_found() -> None:
    """By brute force: every division of 2 to 9 nodes, each estimated as a spec of its own."""
    one = study_of(SPLIT % "")
    fastest: dict[int, float] = {}
    for nodes in range(2, 10):
        steps = [step for own in range(1, nodes) if (step := step_of(one.design, nodes, own)) is not None]
        fastest[nodes] = min(steps)
    assert len({*fastest.values()}) > 4
    limit = (fastest[4] + fastest[5]) / 2
    fewest = min(nodes for nodes, step in fastest.items() if step <= limit)
    found = solve(one, "nodes", f"rl_step_time<={limit} s")
    assert found.value == fewest == 5
    for value, metric, _ in found.probes:
        assert metric is None or metric == pytest.approx(fastest[int(value)]), value
        assert value < 2 or sum(found.roles[value].values()) == value


@thorough
def test_nodes_are_those_of_all_roles_whether_or_not_the_trainer_states_its_own() -> None:
    """The same 8 nodes, with those of the trainer written and with those that rollout leaves it."""
    stated, left = study_of(SPLIT % ", nodes: 4"), study_of(SPLIT % "")
    condition = "rl_step_time<=130 s"
    answers = [solve(each, "nodes", condition) for each in (stated, left)]
    assert answers[0].present == answers[1].present == 8
    assert answers[0].probes == answers[1].probes
    assert answers[0].roles == answers[1].roles
    text = solve_as_text(answers[0]).replace("\n", " ")
    assert "Of these, " in text and "in the spec 4 for the trainer, 4 for rollout" in text


@thorough
def test_rollout_on_another_pool_counts_and_the_pools_are_named() -> None:
    one = job_of_fleet()
    found = solve(one, "nodes", "elapsed<=9d")
    assert found.present == 8 and found.value is not None and found.value < 8
    roles = found.roles[found.value]
    assert set(roles) == {"trainer", "rollout"} and sum(roles.values()) == found.value
    assert found.role_pools == {"trainer": "train", "rollout": "gen"}
    assert "for rollout on gen" in solve_as_text(found).replace("\n", " ")
    assert found.layout["nodes"] == roles["trainer"]


def test_engines_on_another_pool_have_placements_of_their_own() -> None:
    """The trainer keeps its 4 nodes; rollout takes 1 to 4 of the other pool, and is never colocated."""
    splits = rl_splits(job_of_fleet().design)
    assert {each.rollout_nodes for each in splits} == {1, 2, 3, 4}
    assert {(each.trainer_nodes, each.placement) for each in splits} == {(4, "split")}
    steps = [each.step_time for each in splits]
    assert steps == sorted(steps)


@thorough
def test_the_best_layout_at_each_number_is_no_slower_than_that_of_the_spec() -> None:
    one = study_of(SPLIT % "")
    condition = "rl_step_time<=110 s"
    fixed, best = (solve(one, "nodes", condition, best_layout=each) for each in (False, True))
    assert best.value is not None and best.rollout_tp is not None
    assert fixed.value is None or best.value <= fixed.value
    own = {value: metric for value, metric, _ in fixed.probes}
    pairs = [(metric, own[value]) for value, metric, _ in best.probes if value in own]
    assert len(pairs) > 3
    assert all(mine is None or (metric is not None and metric <= mine * 1.0001) for metric, mine in pairs)


def test_engines_on_the_nodes_of_the_trainer_leave_nothing_to_divide() -> None:
    colocated = ALONE.replace("split", "colocated").replace("max_staleness: 1", "max_staleness: 0")
    text = colocated + ROLLOUT % "" + "layout: " + LAYOUT % ""
    found = solve(study_of(text), "nodes", "rl_step_time<=10 min")
    assert found.present == 8 and found.value is not None
    assert all(roles == {"trainer": value} for value, roles in found.roles.items())
    assert "Of these" not in solve_as_text(found)


def test_another_number_of_nodes_keeps_the_ratio_of_the_roles_and_the_nodes_of_other_models() -> None:
    """Twelve nodes: one of the reward model stays; of the other eleven, 2 / 6 go to rollout: 3.67, so 4."""
    reward = "    reward: {model: qwen2.5-7b, nodes: 1}\n"
    text = ALONE.replace("nodes: 8", "nodes: 9") + ROLLOUT % ", nodes: 2" + reward + "layout: " + LAYOUT % ", nodes: 4"
    design = study_of(text).design
    lever = lever_of("nodes", design)
    assert lever.value(design) == 7
    changes = lever.changes(12)
    assert changes["workload", "rl", "rollout", "nodes"] == 4 and changes["layout", "nodes"] == 7
    assert changes["cluster", "nodes"] == 12, "the machine has 9"
    assert ("cluster", "nodes") not in lever.changes(8)
    assert nodes_by_role(design_with_keys(design, keys_of_nodes(design, 12, 4))) == {
        "trainer": 7,
        "rollout": 4,
        "reward": 1,
    }


def test_the_pool_of_rollout_grows_where_a_division_needs_more_of_its_nodes() -> None:
    """Of 30 nodes, the pool of rollout has 8: 26 of it are built, not refused."""
    one = job_of_fleet()
    changes = keys_of_nodes(one.design, 30, 26)
    assert changes["pools", "gen", "nodes"] == 26 and ("cluster", "nodes") not in changes
    assert ("pools", "gen", "nodes") not in keys_of_nodes(one.design, 12, 8)
    assert not {each.rule for each in varied_study(one, changes).errors} & {"world-size-mismatch"}
    bare = {key: value for key, value in changes.items() if key[0] != "pools"}
    assert {each.rule for each in varied_study(one, bare).errors} & {"world-size-mismatch"}, "without the growth"


@thorough
def test_the_division_of_the_spec_is_among_those_of_as_many_nodes() -> None:
    """Of 40 nodes 24 for rollout, which is no sixteenth: the step of the spec is never missed by its own nodes."""
    text = SPLIT.replace("nodes: 8", "nodes: 40").replace("prompts_per_step: 128", "prompts_per_step: 256")
    one = study_of(text.replace("nodes: 4}", "nodes: 24}") % "")
    assert one.plan.rl is not None
    divided = [(each.trainer_nodes, each.rollout_nodes) for each in splits_of_nodes(one.design, 40, {}, degrees=False)]
    assert (16, 24) in divided
    assert {trainer for trainer, _ in divided} >= {8, 16, 32}
    found = solve(one, "nodes", f"rl_step_time<={1.001 * one.plan.rl.step} s")
    assert found.value is not None and found.value <= 40


@pytest.mark.parametrize(
    ("changes", "fit"),
    [
        # 0.9 of 80 GB x 0.85 / 2 ranks are 30.6 GB for the weights of one of two stages
        ({}, True),
        ({"weights": 61.2e9}, False),
        ({"weights": 61.1e9}, True),
        ({"accelerators": 33}, False),
        ({"capacity": 70e9, "fullest": 70e9}, True),
        ({"capacity": 70e9, "fullest": 70.1e9}, False),
        ({"capacity": None, "fullest": 99e9}, True),
        ({"memory": None}, False),
        ({"load": None}, False),
    ],
)
def test_engines_fit_with_their_cache_and_the_trainer(changes: dict[str, Any], fit: bool) -> None:
    given = {"weights": 50e9, "accelerators": 32, "capacity": 80e9, "fullest": 1.0, "memory": 80e9, "load": 0.85}
    given |= changes
    times = plan_of(REINFORCED).rl
    assert times is not None
    engine = times.rollout.engine
    serving, memory = engine.workload.serving, engine.cluster.accelerator.memory
    assert serving is not None and memory is not None
    held = given["memory"] and given["memory"] * engine.weight_bytes / given["weights"]
    parts = {
        "workload.serving": given["load"] and replace(serving, memory_fraction=given["load"]),
        "cluster.accelerator.memory": held and replace(memory, value=held),
        "cluster.ranks_per_accelerator": 2,
        "layout.pp": 2,
    }
    rollout = changed(times.rollout, {f"engine.{name}": value for name, value in parts.items()})
    shared = RlMemory(0.0, given["fullest"], 0.0, 0.0, given["capacity"], 0.0)
    of_all = 32 / given["accelerators"] * rollout.accelerators
    times = replace(times, rollout=rollout, accelerators=of_all, memory=shared)
    assert _engines_fit(times) is fit
    if "fullest" not in changes:
        assert _engines_fit(replace(times, memory=None)) is fit


def test_every_verb_judges_the_step_of_all_roles() -> None:
    """The trainer waits for the longest samples: an update of 5 s is less than a tenth of the step."""
    one = study_of(SPLIT % "")
    rl = one.plan.rl
    assert rl is not None and one.plan.step_seconds is not None
    assert rl.step > 10 * one.plan.step_seconds
    figures = {"step_time": rl.step, "mfu": rl.mfu, "rl_step_time": rl.step}
    figures["tokens_per_second_per_accelerator"] = rl.tokens_per_second_per_accelerator
    assert {name: METRICS[name][1](one.plan) for name in figures} == figures
    row = _row_as_written(one, StudyVariations(one))
    assert (row.step_time, row.mfu) == (rl.step, rl.mfu)
    found = sensitivity(one)
    assert found.step_time == rl.step
    faster = next(each for each in found.levers if (each.key, each.after) == ("recompute", "none"))
    assert faster.step_time == pytest.approx(rl.step) and faster.effect == pytest.approx(0.0)


def test_a_slower_step_of_all_roles_is_a_slowdown() -> None:
    one = study_of(SPLIT % "")
    assert one.plan.rl is not None
    waits = varied_study(one, {("workload", "rl", "max_staleness"): 0})
    assert waits.plan.rl is not None and waits.plan.step_seconds == one.plan.step_seconds
    slower = parse("slowdown<=1%", one.plan.whole_step.seconds).value(waits.plan)
    assert slower == pytest.approx(waits.plan.rl.step / one.plan.rl.step - 1)
    assert slower is not None and slower > 0.2
    told = expected_verdict("slowdown<=1%")(waits, one)
    assert told.startswith(f"it is {percent(slower)}: a step takes {display(waits.plan.rl.step, 's', 4)}, and ")
