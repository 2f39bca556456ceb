"""The engines that a serving search looks at are all those of a product, counted by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clusterspec.analysis.searches.serving_plans.pairs import engine_numbers, separated_plans
from clusterspec.analysis.searches.serving_plans.run import one_kind_reason
from clusterspec.analysis.searches.serving_plans.space import (
    RatedPlan,
    ServingJob,
    design_of_plan,
    engines,
    rated_plan,
    replicated_plans,
    serving_job,
)
from clusterspec.analysis.searches.studied import NO_PINS, Pins
from clusterspec.cluster.requests import Engines
from tests.analysis.test_serving_search import DENSE, EXPERT, study
from tests.effort import thorough


def job_of(described: dict[str, object], **changes: object) -> ServingJob:
    found = serving_job(study(described | changes).design)
    assert found is not None
    return found


def degrees(job: ServingJob, pins: Pins = NO_PINS) -> list[tuple[int, int, int, int]]:
    return [(each.tp, each.attention_dp, each.ep, each.pp) for each in engines(job, pins)]


def test_a_dense_model_has_every_width_and_number_of_stages_that_fit() -> None:
    """Two nodes of 8: tp 1, 2, 4, 8 and pp 1, 2, 4, 8 with at most 16 ranks are 13 engines."""
    expected = {(tp, 1, 1, pp) for tp in (1, 2, 4, 8) for pp in (1, 2, 4, 8) if tp * pp <= 16}
    found = degrees(job_of(DENSE))
    assert {*found} == expected and len(found) == len(expected) == 13


def test_a_model_with_experts_has_every_attention_dp_and_both_ways_to_place_experts() -> None:
    """Of 16 ranks, attention_dp is a power of two up to 16 / tp; experts are whole on ranks, or sharded over them."""
    expected = {
        (tp, attention, ep, 1)
        for tp in (1, 2, 4, 8)
        for attention in (1, 2, 4, 8, 16)
        for ep in (1, tp * attention)
        if tp * attention <= 16
    }
    found = degrees(job_of(EXPERT))
    assert {*found} == expected and len(found) == len(expected) == 27


def test_engines_of_72_ranks_have_attention_dp_with_factors_of_three() -> None:
    job = job_of(EXPERT, cluster={"platform": "gb200-nvl72", "nodes": 18}, layout={"framework": "sglang", "tp": 4})
    found = {attention for tp, attention, *_ in degrees(job, Pins({"tp": 1, "pp": 1}))}
    assert {1, 2, 3, 4, 8, 9, 12, 24, 36, 48, 72} & found == {1, 2, 4, 8, 12, 24, 36, 48, 72}  # whole nodes, or parts


def test_engines_leave_ranks_for_powers_of_two_times_three_or_nine() -> None:
    """Of 80 ranks in nodes of 8: divisors of 80, and 2^k, 3 · 2^k and 9 · 2^k, that fill nodes or divide one."""
    job = job_of(EXPERT, cluster={"platform": "dgx-h100", "nodes": 10}, layout={"framework": "sglang", "tp": 4})
    found = {attention for _, attention, *_ in degrees(job, Pins({"tp": 1, "pp": 1}))}
    assert found == {1, 2, 4, 8, 16, 40, 80} | {32, 64} | {24, 48} | {72}


@pytest.mark.parametrize(("key", "value", "index"), [("tp", 4, 0), ("attention_dp", 2, 1), ("ep", 8, 2), ("pp", 1, 3)])
def test_a_pinned_degree_is_kept_and_leaves_the_others(key: str, value: int, index: int) -> None:
    every, found = degrees(job_of(EXPERT)), degrees(job_of(EXPERT), Pins({key: value}))
    assert {each[index] for each in found} == {value}
    assert {*found} >= {each for each in every if each[index] == value}


def test_experts_are_cut_over_the_ranks_that_no_expert_parallelism_takes() -> None:
    for engine in engines(job_of(EXPERT)):
        assert engine.ep * engine.expert_tp == engine.tp * engine.attention_dp
        assert (256 + engine.redundant_experts) % engine.ep == 0
        assert engine.replicas == 1


@pytest.mark.parametrize(
    ("tp", "numbers"), [(8, [1, 2]), (4, [1, 2, 3, 4]), (2, [1, 2, 3, 4, 5, 6, 7, 8]), (1, [*range(1, 17)])]
)
def test_an_engine_is_replicated_up_to_the_ranks_of_the_job(tp: int, numbers: list[int]) -> None:
    plans = list(replicated_plans(job_of(DENSE), Engines(tp=tp)))
    assert [decode.replicas for _, decode in plans] == numbers
    assert {prefill for prefill, _ in plans} == {None}


def test_a_plan_takes_the_ranks_of_both_kinds_of_engines_and_the_nodes_that_hold_them() -> None:
    job = job_of(DENSE)
    alone = design_of_plan(job, (None, Engines(replicas=3, tp=2)), concurrency=40)
    assert alone.layout is not None and (alone.layout.ranks, alone.layout.nodes) == (6, 1)
    assert not alone.layout.separate_engines and alone.workload is not None and alone.workload.serving is not None
    load = alone.workload.serving
    assert (load.load, load.concurrency, load.prefill, load.decode, load.targets) == (
        "closed",
        40,
        None,
        None,
        (),
    )
    apart = design_of_plan(job, (Engines(replicas=1, tp=8), Engines(replicas=1, tp=2)))
    assert apart.layout is not None and (apart.layout.ranks, apart.layout.nodes) == (10, 2)
    assert apart.layout.separate_engines and apart.workload is not None and apart.workload.serving is not None
    assert apart.workload.serving.prefill == Engines(replicas=1, tp=8)
    assert apart.workload.serving.concurrency == job.load.concurrency


@pytest.mark.parametrize(
    ("most", "numbers"), [(0, []), (1, [1]), (2, [1, 2]), (7, [1, 2, 3, 4, 6, 7]), (13, [1, 2, 3, 4, 6, 8, 12, 13])]
)
def test_numbers_of_engines_are_powers_of_two_three_times_those_and_the_most(most: int, numbers: list[int]) -> None:
    assert engine_numbers(most) == numbers


@pytest.mark.parametrize(
    ("changes", "pins", "why"),
    [
        ({}, {}, ""),
        ({}, {"pools": "disaggregated"}, ""),
        ({}, {"pools": "aggregated"}, "`pools` is fixed, which leaves one kind of engine"),
        ({}, {"pools": "disaggregated", "tp": 4, "ep": 1}, ""),
        ({}, {"tp": 4, "ep": 1}, "`ep, tp` is fixed, which leaves one kind of engine"),
        (
            {"cluster": {"accelerator": "h100-sxm-80gb", "accelerators_per_node": 1, "nodes": 1}},
            {},
            "there is one rank",
        ),
    ],
)
def test_separate_engines_are_left_out_for_a_reason(
    changes: dict[str, object], pins: dict[str, object], why: str
) -> None:
    assert one_kind_reason(job_of(DENSE, **changes), Pins(pins)) == why


SMALL = DENSE | {"workload": DENSE["workload"] | {"model": "llama-3.1-8b"}}
Split = tuple[int, int, int, int]


def splits(
    targets: dict[str, str] | None,
) -> tuple[ServingJob, dict[Split, RatedPlan], Callable[..., RatedPlan | None]]:
    """Separate engines of tp 1 and 2 on 16 ranks: prefill tp, their number, decode tp, their number."""
    found = serving_job(study(SMALL, concurrency=256, targets=targets).design)
    assert found is not None
    job = found

    def rated(plan: tuple[Engines | None, Engines], requests: int | None = None) -> RatedPlan | None:
        return rated_plan(job, plan, 82e9, requests)  # 0.95 of 85.9 GB is the most

    ladders: dict[Engines, list[RatedPlan]] = {}
    for tp in (1, 2):
        tried = [rated((None, Engines(replicas=16 // tp, tp=tp)), each * 16 // tp) for each in (1, 4, 16)]
        ladders[Engines(tp=tp)] = [one for one in tried if one is not None]
    plans: dict[Split, RatedPlan] = {}
    for one in separated_plans(job, ladders, rated):
        prefill, decode = one.plan
        assert prefill is not None
        plans[prefill.tp, prefill.replicas, decode.tp, decode.replicas] = one
    return job, plans, rated


@thorough
def test_without_targets_separate_engines_take_every_split_of_the_ranks() -> None:
    """Of the prefill engines every number that leaves a decode engine, with decode engines on all other ranks."""
    _, plans, _ = splits(None)
    whole = {
        (prompts, count, answers, (16 - count * prompts) // answers)
        for prompts in (1, 2)
        for answers in (1, 2)
        for count in engine_numbers((16 - answers) // prompts)
    }
    assert {*plans} == whole


@thorough
def test_with_targets_separate_engines_are_the_fewest_that_meet_them() -> None:
    _, plans, rated = splits({"ttft": "300 ms", "tpot": "10 ms"})
    assert {one.meets for one in plans.values()} == {True, False}
    for (prompts, count, answers, decode), one in plans.items():
        most = (16 - decode * answers) // prompts
        if not one.meets:
            assert count == most, "not even with prefill engines on all other ranks"
        for fewer in engine_numbers(most):
            if fewer < count:
                less = rated((Engines(replicas=fewer, tp=prompts), Engines(replicas=decode, tp=answers)))
                assert less is None or not less.meets
