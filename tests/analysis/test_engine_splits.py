"""The search of separate prefill and decode engines finds what a count of all their kinds and numbers finds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import inf
from typing import Any

import pytest

from clusterspec.analysis.searches.layouts import search
from clusterspec.analysis.searches.serving_plans.run import search as run_search
from clusterspec.analysis.searches.serving_plans.space import (
    RatedPlan,
    ServingJob,
    engines,
    ranked_plans,
    rated_plan,
    serving_job,
)
from clusterspec.analysis.searches.studied import Pins, SearchOptions
from clusterspec.records import replace
from tests.analysis.test_serving_search import DENSE, EXPERT, study
from tests.effort import ALL_CASES, sampled, thorough

APART = Pins({"pools": "disaggregated"})
CLOSE = 0.01
"""The best plan that a search finds has at most this much less of the objective than the best of all."""
NO_TARGETS: dict[str, Any] = {"targets": None}
TARGETS: dict[str, Any] = {"targets": {"ttft": "1 s", "tpot": "20 ms"}}
DEEP: dict[str, Any] = {"targets": {"ttft": "3 s", "tpot": "50 ms"}, "output_tokens": 1000, "input_tokens": 3000}


def described(base: dict[str, Any], model: str, nodes: int, framework: str = "vllm") -> dict[str, Any]:
    return base | {
        "cluster": {"platform": "dgx-h200" if base is EXPERT else "dgx-h100", "nodes": nodes},
        "workload": base["workload"] | {"model": model},
        "layout": {"framework": framework, "tp": 8},
    }


SMALL = described(DENSE, "llama-3.1-8b", 1)
MIDDLE = described(DENSE, "llama-3.1-70b", 2)
SPARSE = described(EXPERT, "qwen3-30b-a3b", 1, "sglang")
LARGE = described(EXPERT, "deepseek-v3", 3, "sglang")
CASES = [
    (SMALL, NO_TARGETS | {"concurrency": 64, "input_tokens": 4000, "output_tokens": 300}, "tokens_per_accelerator"),
    (SMALL, TARGETS | {"concurrency": None, "request_rate": 12}, "accelerators"),
    (LARGE, DEEP | {"concurrency": 600}, "accelerators"),
    *(
        (
            (MIDDLE, NO_TARGETS | {"concurrency": 64, "input_tokens": 4000}, "tokens_per_accelerator"),
            (MIDDLE, TARGETS | {"concurrency": None, "request_rate": 4}, "accelerators"),
            (SPARSE, NO_TARGETS | {"concurrency": 600, "input_tokens": 3000}, "tokens_per_accelerator"),
            (SPARSE, TARGETS | {"concurrency": 300}, "accelerators"),
        )
        if ALL_CASES
        else ()
    ),
]


def job_of(described: dict[str, Any], **serving: object) -> ServingJob:
    found = serving_job(study(described, **serving).design)
    assert found is not None
    return found


def all_plans(job: ServingJob, most: float) -> Iterator[RatedPlan]:
    """Every pair of engines without stages that fit in memory, in every number that the ranks allow."""
    kinds = [each for each in engines(job, Pins({"pp": 1})) if rated_plan(job, (None, each), most, each.attention_dp)]
    for prompts, answers in product(kinds, kinds):
        for count in range(1, (job.ranks - answers.ranks) // prompts.ranks + 1):
            for other in range(1, (job.ranks - count * prompts.ranks) // answers.ranks + 1):
                one = rated_plan(job, (replace(prompts, replicas=count), replace(answers, replicas=other)), most)
                if one is not None and one.meets:
                    yield one


@thorough
@pytest.mark.parametrize(("base", "serving", "objective"), CASES)
def test_no_kinds_and_numbers_of_separate_engines_are_better_than_those_found(
    base: dict[str, Any], serving: dict[str, Any], objective: str
) -> None:
    job = job_of(base, **serving)
    assert job.cluster.accelerator.memory is not None
    most = job.cluster.accelerator.memory.value
    found = run_search(job, APART, most, objective=objective, top=1, with_front=False).best[0]
    best = ranked_plans(all_plans(job, most), objective)[0]
    if objective == "accelerators":
        assert found.times.accelerators <= best.times.accelerators  # engines of several stages may need fewer
    else:
        assert found.per_accelerator >= (1 - CLOSE) * best.per_accelerator


@pytest.mark.parametrize(
    "load", sampled([{"concurrency": 64}, {"concurrency": None, "requests": 512, "load": "offline"}], 4)
)
def test_fixed_degrees_of_separate_engines_are_those_of_both_sides(load: dict[str, Any]) -> None:
    """An estimate has the plan of the spec, so that the search that fixes its split and its degrees has it, too."""
    sides = {side: {"replicas": 2, "tp": 2} for side in ("prefill", "decode")}
    one = study(SMALL, targets=None, disaggregated=sides, **load)
    assert one.plan.serving is not None and one.plan.fits
    job = job_of(SMALL, targets=None, disaggregated=sides, **load)
    choices: list[dict[str, object]] = [{}, {"tp": 2}]
    for degrees in choices:
        pins = Pins({**APART.values, **degrees})
        found = run_search(job, pins, inf, objective="tokens_per_accelerator", top=99, with_front=False).best
        assert (job.load.prefill, job.load.decode) in {each.plan for each in found}
        assert all(each.plan[0] is not None for each in found)
        assert found[0].per_accelerator >= one.plan.serving.per_accelerator
        if degrees:
            assert {engine.tp for each in found for engine in each.plan if engine is not None} == {2}
    report = search(one, SearchOptions({"pools": "disaggregated", "tp": 2}, top=1))
    assert report.layouts[0].serving is not None and report.layouts[0].serving["disaggregated"]["decode"]["tp"] == 2


def test_a_plan_of_the_spec_with_other_degrees_or_of_the_other_kind_is_left_out() -> None:
    sides = {side: {"replicas": 1, "tp": 4} for side in ("prefill", "decode")}
    job = job_of(SMALL, targets=None, disaggregated=sides)
    kinds: list[tuple[dict[str, object], bool]] = [
        ({}, True),
        ({"pools": "disaggregated"}, True),
        ({"pools": "aggregated"}, False),
    ]
    for pins, kept in kinds:
        found = run_search(job, Pins(pins), inf, objective="tokens_per_accelerator", top=99, with_front=False)
        assert ((job.load.prefill, job.load.decode) in {one.plan for one in found.best}) is kept
    found = run_search(job, Pins({**APART.values, "tp": 2}), inf, objective="memory", top=99, with_front=False)
    assert {engine.tp for one in found.best for engine in one.plan if engine is not None} == {2}
