"""Plans of a serving search by hand: how a spec states them, which is first, and which the front keeps."""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any

import pytest

from clusterspec.analysis.searches.serving import _idle_accelerator_count, _pools_of, engine_section, section_of
from clusterspec.analysis.searches.serving_plans.run import LONG_WAIT, _is_saturated
from clusterspec.analysis.searches.serving_plans.separation import (
    HALVINGS,
    REACH,
    STEP,
    _is_separation_better,
    _load_with_prompt_length,
    best_of_kinds,
    nearest_crossing,
)
from clusterspec.analysis.searches.serving_plans.space import (
    Plan,
    RatedPlan,
    ServingJob,
    _is_sustained,
    distinct_plans,
    own_plan,
    pareto_front,
    ranked_plans,
    rated_plan,
    serving_job,
)
from clusterspec.cluster.requests import Engines, Lengths
from clusterspec.cost.serving.latency import Stretched
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.records import replace
from tests.analysis.test_serving_search import DENSE, EXPERT, study
from tests.effort import each


@cache
def dense() -> ServingJob:
    """Two nodes of eight ranks; the plan of the spec is an engine of tp 8 on each."""
    found = serving_job(study(DENSE).design)
    assert found is not None
    return found


@cache
def rated() -> RatedPlan:
    found = rated_plan(dense(), own_plan(dense()), inf)
    assert found is not None
    return found


def planned(plan: Plan, **times: Any) -> RatedPlan:
    """The rated plan of the spec with other engines and other times."""
    return replace(rated(), plan=plan, times=replace(rated().times, **times))


@each(
    ("engine", "machine", "section"),
    [
        (Engines(replicas=2, tp=8), None, {"tp": 8}),
        (Engines(replicas=1, tp=8), None, {"tp": 8, "nodes": 1}),
        (Engines(replicas=1, tp=8), 1, {"tp": 8}),
        (Engines(replicas=3, tp=4), None, {"tp": 4, "dp": 3}),  # 12 ranks leave four of two nodes idle
        (Engines(replicas=1, tp=4), None, {"tp": 4, "dp": 1, "nodes": 1}),
        (Engines(replicas=16), None, {"tp": 1}),
        (Engines(replicas=2, tp=2, attention_dp=2, ep=4, pp=2), None, {"tp": 2, "attention_dp": 2, "ep": 4, "pp": 2}),
        (Engines(replicas=1, tp=1, attention_dp=16, ep=16), None, {"tp": 1, "attention_dp": 16, "ep": 16}),
    ],
)
def test_a_section_states_the_degrees_of_an_engine_and_the_nodes_and_replicas_that_do_not_follow(
    engine: Engines, machine: int | None, section: dict[str, int]
) -> None:
    assert section_of(dense(), planned((None, engine)), machine) == (section, None)


def test_separate_engines_are_stated_with_the_nodes_of_this_machine() -> None:
    """Eight and four ranks are two nodes of the two; a prefill engine on another pool takes none of them."""
    prefill, decode = Engines(replicas=2, tp=4), Engines(replicas=1, tp=4, ep=2)
    sides = {"prefill": {"replicas": 2, "tp": 4}, "decode": {"replicas": 1, "tp": 4, "ep": 2}}
    assert section_of(dense(), planned((prefill, decode))) == ({}, sides)
    away = replace(prefill, pool="other")
    found, pools = section_of(dense(), planned((away, decode)))
    assert found == {"nodes": 1}
    assert pools == {**sides, "prefill": {"pool": "other", "replicas": 2, "tp": 4}}
    assert engine_section(Engines()) == {"replicas": 1, "tp": 1}
    assert engine_section(Engines(attention_dp=2, pp=2)) == {"replicas": 1, "tp": 1, "attention_dp": 2, "pp": 2}
    assert _pools_of(dense()) is None
    both = replace(dense(), load=replace(dense().load, prefill=prefill, decode=decode))
    assert _pools_of(both) == sides and own_plan(both) == (prefill, decode)
    assert _pools_of(replace(dense(), load=replace(dense().load, prefill=prefill))) is None


def test_accelerators_are_idle_on_the_nodes_that_a_plan_uses() -> None:
    design = dense().design
    assert design.layout is not None and design.cluster is not None
    for ranks, idle in ((16, 0), (8, 0), (12, 4), (9, 7), (1, 7)):
        layout = replace(design.layout, ranks=ranks)
        assert _idle_accelerator_count(replace(design, layout=layout)) == idle, ranks
    assert _idle_accelerator_count(replace(design, layout=None)) == 0


ONE, TWO = Engines(replicas=1, tp=8), Engines(replicas=2, tp=8)


def test_objectives_put_the_least_first() -> None:
    """Two plans: of 8 accelerators at 100 tokens a second and 10 ms a token, and of 16 at 240 and 8 ms."""
    small = planned((None, ONE), accelerators=8.0, output_tokens_per_second=100.0, tpot=0.01, ttft=0.1)
    large = planned((None, TWO), accelerators=16.0, output_tokens_per_second=240.0, tpot=0.008, ttft=0.2)
    small, large = replace(small, memory=50e9), replace(large, memory=60e9)
    first = {
        "accelerators": small,
        "cost": large,  # 240 tokens a second for the price of the same machine, not 100
        "tokens_per_accelerator": large,
        "tokens_per_user": large,
        "memory": small,
        "ttft": small,
        "tpot": large,
        "output_tokens_per_second": large,
        "output_tokens_per_second_per_accelerator": large,
        "headroom": small,
        "fits": small,
    }
    for objective, best in first.items():
        for plans in ([small, large], [large, small]):
            assert ranked_plans(plans, objective)[0] is best, objective
    assert (small.per_user, small.per_accelerator) == pytest.approx((100.0, 12.5))
    fewer = planned((None, ONE), accelerators=8.0, output_tokens_per_second=240.0, tpot=0.01, ttft=0.1)
    assert ranked_plans([large, fewer], "cost")[0] is fewer, "at an equal rate the others draw no power"
    lighter = replace(small, memory=40e9)
    assert ranked_plans([small, lighter], "ttft") == [lighter, small]


def test_a_front_keeps_plans_that_no_other_exceeds_for_a_user_and_for_an_accelerator() -> None:
    def one(user: float, accelerator: float) -> RatedPlan:
        return planned((None, ONE), accelerators=8.0, output_tokens_per_second=8 * accelerator, tpot=1 / user)

    fast, slow, worse, tie, equal = one(100, 10), one(50, 30), one(60, 8), one(40, 30), one(100, 9)
    assert pareto_front([slow, worse, fast, tie, equal]) == [fast, slow]
    # 99.5 and 10.05 are half a percent from 100 and 10; 98.5, or 10.2, are more than one
    near, slower, more = one(99.5, 10.05), one(98.5, 10.06), one(99.6, 10.2)
    assert distinct_plans([fast, near, slow]) == [fast, slow]
    assert distinct_plans([fast, slower]) == [fast, slower] and distinct_plans([fast, more]) == [fast, more]
    early = replace(near, times=replace(near.times, ttft=near.times.ttft / 2))
    assert distinct_plans([fast, early, slow]) == [early, slow]
    assert distinct_plans([]) == []


def test_the_best_of_each_kind_meets_the_targets_or_misses_them_least() -> None:
    meets, fails = replace(rated(), meets=True, excess=1.0), replace(rated(), meets=False, excess=3.0)
    closer = replace(fails, excess=2.0)
    apart = replace(fails, plan=(ONE, ONE), excess=5.0)
    assert best_of_kinds([fails, meets, apart], "tpot") == (meets, apart)
    assert best_of_kinds([fails, closer], "tpot") == (closer, None)
    slow = replace(meets, times=replace(meets.times, tpot=2 * meets.times.tpot))
    assert best_of_kinds([slow, meets], "tpot").together is meets


def test_a_plan_is_saturated_where_its_cache_is_full_or_requests_queue_for_long() -> None:
    free = {"offered": 10.0, "kv_capacity_sequences": 10.0, "wait": 0.0, "ttft": 1.0, "request_latency": 3.0}
    for changes, full in (
        ({}, False),
        ({"offered": 10.1}, True),
        ({"wait": LONG_WAIT * 2.0}, False),
        ({"wait": LONG_WAIT * 2.01}, True),
    ):
        assert _is_saturated(planned((None, ONE), **(free | changes))) is full, changes


@each(
    ("offered", "served", "rate", "sustained"),
    [
        (110.0, 1.0, None, True),  # a tenth more than the cache holds
        (110.1, 1.0, None, False),
        (50.0, 2.0, 2.0, True),
        (50.0, 1.9999, 2.0, False),  # a queue that grows without end, however slowly
        (110.1, 2.0, 2.0, False),
    ],
)
def test_a_load_is_sustained_by_the_cache_and_by_the_rate(
    offered: float, served: float, rate: float | None, sustained: bool
) -> None:
    job, pools = dense(), bare_pools(dense().design)
    assert pools is not None
    asked = pools._replace(load=replace(job.load, request_rate=rate))
    open_ = Stretched(lambda _, __: rated().times, asked) if rate else None
    full = replace(rated().times, kv_capacity_sequences=100.0, state=rated().times.state._replace(capacity=served))
    assert _is_sustained(job, replace(full, offered=offered, stretched=open_)) is sustained
    offline = replace(job, load=replace(job.load, load="offline", request_rate=None))
    assert _is_sustained(offline, replace(full, offered=offered, stretched=None))


def test_prompts_of_another_mean_keep_the_form_of_their_distribution() -> None:
    load = replace(dense().load, input_tokens=1000, input_lengths=Lengths(1000, 4000, 8000))
    longer = _load_with_prompt_length(load, 2500)
    assert (longer.input_tokens, longer.input_lengths) == (2500, Lengths(2500, 10_000, 20_000))
    shorter = _load_with_prompt_length(replace(load, input_lengths=Lengths(1000, 1100, None)), 500)
    assert (shorter.input_tokens, shorter.input_lengths) == (500, Lengths(500, 550, None))
    bare = _load_with_prompt_length(replace(load, input_lengths=None), 300)
    assert (bare.input_tokens, bare.input_lengths) == (300, None)


def test_separation_is_better_where_it_serves_more_and_unknown_where_nothing_serves() -> None:
    assert [_is_separation_better(*both) for both in ((1.0, 2.0), (2.0, 1.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0))] == [
        *(True, False, False, True, None),
    ]


def test_a_break_even_is_the_middle_of_a_sixteenth_of_a_step_of_four() -> None:
    """From 1,000 to 4,000 four halvings leave 4^(12 / 16) to 4^(13 / 16), which hold 3; below, 4^(-4 / 16) and less."""
    assert (REACH, STEP, 2**HALVINGS) == (64, 4, 16)
    tried: list[float] = []

    def above(value: float) -> bool:
        tried.append(value)
        return value > 3000

    found = nearest_crossing("x", 1000.0, above, 1.0, 1e6)
    assert found.value == pytest.approx(1000 * 4 ** (12.5 / 16))
    assert (found.present, found.low, found.high, found.better_above) == (1000.0, 1000.0 / 64, 4000.0, True)
    # the present value, three steps down to a 64th, one step up, and four halvings
    assert len(tried) == 1 + 3 + 1 + 4
    found = nearest_crossing("x", 1000.0, lambda value: value > 700, 1.0, 1e6)
    assert found.value == pytest.approx(1000 * 4 ** (-4.5 / 16)) and found.better_above
    assert (found.low, found.high) == (250.0, 1000.0)


def test_experts_of_an_engine_are_those_of_its_layout() -> None:
    job = serving_job(study(EXPERT | {"layout": {"framework": "sglang", "tp": 4, "attention_dp": 2, "ep": 8}}).design)
    assert job is not None
    prefill, engine = own_plan(job)
    assert prefill is None
    assert (engine.replicas, engine.tp, engine.attention_dp, engine.ep, engine.pp) == (2, 4, 2, 8, 1)
    assert (
        engine.ranks == 8
        and job.ranks == 16
        and (job.ranks_left_for_prefill(4), job.ranks_left_for_decode(4)) == (12, 12)
    )
    away = replace(job, prefill_ranks=8)
    assert (away.ranks_left_for_prefill(4), away.ranks_left_for_decode(4)) == (8, 16)
