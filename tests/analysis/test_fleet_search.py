"""Assignments of jobs to pools: equal to trying all of them, and never beyond what pools have or targets allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import isclose
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterspec import load, studies
from clusterspec.analysis.fleets import options as fleet_options
from clusterspec.analysis.fleets.assignment import Option, best_assignments
from clusterspec.analysis.fleets.options import without_search
from clusterspec.analysis.fleets.results import fleet_report
from clusterspec.analysis.fleets.search import (
    Goal,
    Place,
    fleet_search,
    objective_of,
    options_at,
    options_of_sizes,
    places_by_size,
    places_of_jobs,
)
from clusterspec.analysis.searches.layouts import Evaluations, search, searches_of_studies
from clusterspec.analysis.searches.rl_splits import _keys_of_placements, keys_of_split, rl_splits
from clusterspec.analysis.searches.studied import SearchOptions, with_a_layout
from clusterspec.report.fleet_search_text import options_csv
from clusterspec.results.fleet_search import JobOption
from clusterspec.studies import variation
from tests.cli.conftest import Call
from tests.effort import examples, sampled, thorough
from tests.settings import SETTINGS
from tests.studies.test_fleets import study

POOLS = {"p": 5, "q": 3}
OPTIONS = st.lists(
    st.builds(
        Option, st.sampled_from("abcd"), st.sampled_from([*POOLS]), st.integers(1, 5), st.integers(0, 1000).map(float)
    ),
    min_size=1,
    max_size=12,
)


def tried(options: list[Option]) -> list[tuple[float, int]]:
    """The value and the nodes of every assignment, least first."""
    items = dict.fromkeys(one.item for one in options)
    found = []
    for chosen in product(*([one for one in options if one.item == item] for item in items)):
        taken = {pool: sum(one.nodes for one in chosen if one.pool == pool) for pool in POOLS}
        if all(taken[pool] <= most for pool, most in POOLS.items()):
            found.append((sum(one.value for one in chosen), sum(one.nodes for one in chosen)))
    return sorted(found)


@settings(max_examples=examples(15), deadline=None)
@given(OPTIONS)
def test_assignments_equal_those_of_trying_all(options: list[Option]) -> None:
    wanted = tried(options)
    found = list(best_assignments(options, POOLS, top=3, seconds=60.0))
    assert len(found) == min(3, len(wanted))
    for assignment, (value, _) in zip(found, wanted, strict=False):
        assert isclose(assignment.value, value, rel_tol=1e-9, abs_tol=1e-6)
        assert assignment.gap == 0
    if found:
        nodes = sum(options[index].nodes for index in found[0].options)
        assert nodes == wanted[0][1], "of equal assignments, one with the fewest nodes"


WORK = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64, tokens: 1B}"
FLEET = f"""clusterspec: 1
name: small
pools:
  big: {{platform: dgx-b200, nodes: 2}}
  old: {{platform: dgx-h100, nodes: 2}}
procurement: {{currency: USD, as_of: 2026-11-01, term: 4 years, prices: {{node: 300000}}}}
jobs:
  long: {{pool: old, nodes: 1, {WORK.replace("1B", "4B")}, layout: {{framework: megatron-core, tp: 2}}}}
  short: {{pool: big, nodes: 1, share: 0.5, {WORK}, layout: {{framework: megatron-core, tp: 2}}}}
  turn: {{pool: big, nodes_of: short, share: 0.5, {WORK}, layout: {{framework: megatron-core, tp: 2}}}}
  chat:
    pool: old
    nodes: 1
    workload: {{kind: serve, model: llama-3.1-8b, serving: {{input_tokens: 500, output_tokens: 100, concurrency: 8}}}}
    layout: {{framework: vllm, tp: 1}}
"""


def test_the_best_assignment_of_a_fleet_is_that_of_trying_all() -> None:
    one = study(FLEET)
    some = [(group, options_of_sizes(one, Goal(), group)) for group in places_by_size(places_of_jobs(one, Goal()))]
    rows = {place: options for group, found in some for place, options in zip(group, found, strict=True)}

    def known(groups: Sequence[Sequence[Place]]) -> list[list[Sequence[JobOption]]]:
        return [[rows[place] for place in group] for group in groups]

    chosen: dict[str, list[tuple[Place, float | None]]] = {}
    for place, options in rows.items():
        if all(option.is_usable for option in options):
            chosen.setdefault(" ".join(place.jobs), []).append((place, objective_of(options, "time")))
    nodes = {place: max(option.nodes for option in options) for place, options in rows.items()}
    sums = [
        sum(value or 0.0 for _, value in picked)
        for picked in product(*chosen.values())
        if all(sum(nodes[place] for place, _ in picked if place.pool == pool) <= 2 for pool in ("big", "old"))
    ]
    priced = fleet_search(one, Goal("cost"), known)
    assert priced.unit == "USD"
    costs = {name: option.cost for name, option in priced.assignments[0].jobs.items()}
    assert isclose(priced.assignments[0].objective, sum(cost or 0.0 for cost in costs.values()))
    assert sum(line.split(",")[-4] == "True" for line in options_csv(priced).splitlines()) == len(costs) == 4
    made = fleet_search(one, Goal(), known).to_json()
    best = made["assignments"][0]
    assert isclose(best["objective"], min(sums), rel_tol=1e-12)
    assert best["gap"] == 0
    assert best["jobs"]["short"]["nodes"] == best["jobs"]["turn"]["nodes"], "they take turns"
    assert best["objective"] <= made["present"]["objective"]
    assert {*best["jobs"]} == {"long", "short", "turn", "chat"}
    assert made["unit"] == "s"
    for place, options in rows.items():
        for option, before in zip(options, without_search(one, place), strict=True):
            least = before.least or 0.0
            assert option.serving is not None or 0 < least < (option.elapsed or 0.0), "a bound is below the time"
    for objective in sampled(("cost", "time"), 1):
        few, every = (fleet_search(one, Goal(objective, top=4, every=every), known) for every in (False, True))
        assert [each.objective for each in few.assignments] == [each.objective for each in every.assignments], objective
    assert_stores_are_waited_for(known, chosen, nodes)


def assert_stores_are_waited_for(
    known: Callable[[Sequence[Sequence[Place]]], list[list[Sequence[JobOption]]]],
    chosen: dict[str, list[tuple[Place, float | None]]],
    nodes: dict[Place, int],
) -> None:
    """Each set of jobs saves 14 x 8,030,261,248 bytes a minute, 1.874 GB/s: two of them on one store of 2 GB/s take
    1.874 times as long.
    """
    stores = FLEET.replace("nodes: 2}", "nodes: 2, networks: {storage: {bandwidth: 2 GB/s}}}")
    saving = study(stores + "operations: {checkpoint: {interval: 60 s, mode: asynchronous}}\n")
    wait = 2 * 8_030_261_248 * 14 / 60 / 2e9
    sums = []
    for picked in product(*chosen.values()):
        pools = [place.pool for place, _ in picked if place.jobs != ("chat",)]
        if all(sum(nodes[place] for place, _ in picked if place.pool == pool) <= 2 for pool in ("big", "old")):
            sums.append(sum(value or 0.0 for _, value in picked) * (wait if len({*pools}) < len(pools) else 1.0))
    found = fleet_search(saving, Goal(top=len(sums)), known)
    assert [each.objective for each in found.assignments] == pytest.approx(sorted(sums), rel=1e-6)
    assert any(option.store_wait > 1.8 for each in found.assignments for option in each.jobs.values())


def test_sizes_searched_together_give_what_each_gives_alone() -> None:
    """With experts, orders of axes and a partial leaf: the same layouts, times and memory."""
    experts = FLEET.replace("llama-3.1-8b, sequence_length: 8192", "mixtral-8x7b, sequence_length: 4096")
    whole = study(experts.replace("dgx-b200, nodes: 2", "dgx-b200, nodes: 40"))
    assert whole.fleet is not None
    some = [whole.fleet.job_study("big", "short", nodes) for nodes in (2, 3, 40)]
    options = SearchOptions({"tp": 2, "recompute": "none", "sharding": "zero1"}, "step_time", 1)
    known: Evaluations = []
    for one, together in zip(some, searches_of_studies(some, options), strict=True):
        (alone,), (later,) = searches_of_studies([one], options), searches_of_studies([one], options, known)
        assert together is not None and alone is not None and later is not None
        assert together[1] == alone[1] == later[1]
    assert len(known) == 1


@thorough
def test_a_target_that_cannot_be_met_is_said_with_its_figures(call: Call) -> None:
    Path("x.yaml").write_text(FLEET[: FLEET.index("  short")])
    done = call("search", "x.yaml", "--fleet", "--nodes", "1", "--within", "long=1 s", "--jobs", "1")
    assert done.status == 1
    assert "No assignment: long: run " in done.out
    assert "> 1 s at best, with 1 node of big" in done.out
    one_node = FLEET[: FLEET.index("  short")] + FLEET[FLEET.index("  chat") :]
    Path("x.yaml").write_text(
        one_node.replace("  big: {platform: dgx-b200, nodes: 2}\n", "").replace("nodes: 2}", "nodes: 1}")
    )
    done = call("search", "x.yaml", "--fleet", "--jobs", "1")
    assert "not all together on 1 node: they need at least long 1, chat 1 nodes" in " ".join(done.out.split())


def test_a_search_without_a_fabric_does_not_blame_the_memory(call: Call) -> None:
    Path("x.yaml").write_text(
        f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: 2, fabric: roce}}\n{WORK}\nlayout: {{tp: 2}}\n"
    )
    done = call("search", "x.yaml", "--set", "tp=2", "--set", "recompute=none")
    assert "no layout has a step time" in " ".join(done.out.split())


REFUSED = {
    ("--fleet", "--grid", "tp,pp"): "--grid cannot be combined with --fleet",
    ("--fleet", "--objective", "memory"): "does not rank a fleet; take one of time, cost, energy",
    ("--fleet", "--within", "other=1d"): "no job is called 'other'; there are long, short, turn, chat",
    ("--fleet", "--within", "soon"): "--within soon",
    ("--nodes", "1", "--job", "long"): "--nodes cannot be combined with a search for layouts",
}


def test_a_wrong_call_is_one_line(call: Call) -> None:
    Path("x.yaml").write_text(FLEET)
    Path("one.yaml").write_text("clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n")
    Path("endless.yaml").write_text(FLEET.replace(", tokens: 1B", ""))
    calls = {("x.yaml", *words): message for words, message in REFUSED.items()}
    calls["one.yaml", "--fleet"] = "describes one cluster: `--fleet` takes a spec with pools and jobs"
    calls["endless.yaml", "--fleet"] = "state `workload.tokens` of short, turn"
    for words, message in calls.items():
        done = call("search", *words)
        assert (done.status, done.error.count("\n")) == (2, 1), (words, done)
        assert message in done.error, words


RL_FLEET = """
clusterspec: 1
pools:
  post: {platform: dgx-h200, nodes: 3}
jobs:
  rl:
    pool: post
    workload:
      kind: rl
      model: qwen2.5-7b
      tokens: 20B
      rl:
        prompts_per_step: 8
        samples_per_prompt: 2
        input_tokens: 512
        output_tokens: {mean: 2500, max: 8192}
        max_staleness: 1
        rollout: {nodes: 1, tp: 1}
    layout: {framework: megatron-core, tp: 2, recompute: full}
"""


SLOW_TRAINER = RL_FLEET.replace("mean: 2500, max: 8192", "mean: 2500, max: 16384").replace(
    "prompts_per_step: 8", "prompts_per_step: 64"
)


@thorough
@pytest.mark.parametrize("layout", sampled(["tp: 8, pp: 2, recompute: full", "tp: 2, recompute: full"], 1))
def test_placement_and_layout_of_a_job_are_the_best_together(layout: str) -> None:
    """No placement with its own best layout is faster than what is found, whatever the layout of the spec: also one
    that cannot run (tp 8 does not divide 28 heads).
    """
    whole = study(SLOW_TRAINER.replace("tp: 2, recompute: full", layout))
    assert whole.fleet is not None
    (found,) = options_at(whole, Goal(), Place(("rl",), "post", 2))
    base = study(SLOW_TRAINER).fleet
    assert base is not None and found.step_time is not None
    plain, wanted = base.job_study("post", "rl", 2), SearchOptions(objective="step_time", top=1, best_only=True)
    steps = []
    for split in rl_splits(plain.design, 2)[::2]:
        other = with_a_layout(variation.rewritten_study(plain, keys_of_split(split)))
        report = search(other, wanted)
        if report.refused_by:  # rollout in turns with a trainer on other nodes leaves one of them idle
            assert split.max_staleness == 0 and not report.layouts
            continue
        (row,) = report.layouts
        rl = variation.rewritten_study(other, {("layout",): row.layout}).plan.rl
        assert rl is not None
        steps.append(rl.step)
    assert len(steps) >= 3
    assert found.step_time <= min(steps) * (1 + 1e-9)


def test_roles_of_reinforcement_learning_stay_on_the_nodes_of_their_job() -> None:
    """On every size the placement is the fastest of all with at most so many nodes, and the time that of the step."""
    whole = study(RL_FLEET)
    assert whole.fleet is not None
    own = {1: set[int](), 2: {1}, 12: {1, 2, 3, 4, 6, 8, 9}, 16: {1, 2, 4, 5, 8, 11, 12}}  # and 1, as written
    work = whole.fleet.job_study("post", "rl", 2).design.workload
    assert work is not None and work.rl is not None
    for nodes, counts in own.items():
        names = ("placement", "staleness", "nodes", "tp")
        keys = [
            dict(zip(names, each.values(), strict=False)) for each in _keys_of_placements(work.rl, nodes, (1, 2, 4, 8))
        ]
        assert {(each["nodes"], each["staleness"]) for each in keys if each["placement"] == "split"} == {
            (count, staleness) for count in counts for staleness in (0, 1)
        }
        assert [each["tp"] for each in keys if each["placement"] == "colocated"] == [1, 2, 4, 8]
    splits = {nodes: rl_splits(whole.fleet.job_study("post", "rl", nodes).design, nodes) for nodes in (1, 2)}
    for nodes, tried in splits.items():
        assert {each.trainer_nodes + each.rollout_nodes for each in tried} == {nodes}
    (found,) = options_at(whole, Goal(), Place(("rl",), "post", 2))
    assert found.rl is not None and found.step_time is not None
    assert found.step_time <= splits[2][0].step_time * (1 + 1e-9)
    assert found.elapsed == pytest.approx(20e9 / (8 * 2 * 3012) * found.step_time)


@thorough
def test_a_serving_plan_costs_what_the_table_of_the_fleet_bills() -> None:
    """One node with its energy, although the plan uses one of its eight accelerators."""
    text = """clusterspec: 1
pools:
  a: {platform: dgx-h100, nodes: 2, prices: {node: 250000}}
  b: {platform: dgx-a100, nodes: 4, prices: {node: 120000}}
jobs:
  x:
    pool: a
    nodes: 1
    workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64, tokens: 20B}
    layout: {framework: megatron-core}
  y:
    pool: b
    nodes: 1
    workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1500, output_tokens: 300, concurrency: 16}}
    layout: {framework: vllm, tp: 1, dp: 1}
procurement: {currency: USD, as_of: 2026-11-01, term: 4 years, electricity: 0.1, pue: 1.3}
"""
    design = load(text)
    serving = design.search_fleet(objective="cost").assignments[0].jobs["y"]
    job = fleet_report(design.study, "cost").to_json()["jobs"]["y"]
    assert (serving.pool, serving.nodes) == ("b", 1)
    assert serving.cost == pytest.approx(job["billed"])


@pytest.mark.parametrize(
    ("used", "most", "nodes"), [(1, 36, 18), (18, 36, 18), (19, 36, 36), (19, 30, 30), (5, 12, 12), (None, 36, 36)]
)
def test_a_serving_job_takes_whole_domains_of_the_nodes_offered(used: int | None, most: int, nodes: int) -> None:
    """A rack of GB200 has 18 nodes; where fewer are offered, all of them."""
    racks = studies.study_text("cluster: {platform: gb200-nvl72, nodes: 36}\n", SETTINGS).design.cluster
    assert racks is not None
    assert fleet_options._nodes_used(used, racks, most) == nodes
