"""Prompts and tokens of engines in pipeline stages: the simulation by hand, and the formulas beside it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from clusterspec.analysis.simulation.ranks import AttentionRank, gaps_of_rounds
from clusterspec.analysis.simulation.run import simulated_load
from clusterspec.logs.traces import Arrival
from tests.analysis.test_simulation import parts, plan, simulated
from tests.effort import sampled

STAGES = 4
LARGE: dict[str, object] = {"model": "llama-3.1-70b", "per": STAGES, "framework": f"vllm, pp: {STAGES}"}


def test_a_pipeline_takes_the_prompts_of_one_budget_in_each_step_of_its_first_stage() -> None:
    """While one request decodes, four prompts come that each fill the 2,048 tokens of a step but for one. A batch with
    one of them passes four stages in T seconds, and the next follows it after T / 4, so their first tokens are T / 4
    apart. With one prompt in a round of R seconds of all batches they would be R + (T - R) / 4 apart.
    """
    study = plan("concurrency: 8, chunk_tokens: 2048", **LARGE)
    alone = simulated(study, [Arrival(0.0, 2047, 200)]).requests[0]
    round_of_one = (alone.ended - alone.first) / 199
    came = alone.first + 60.25 * round_of_one
    run = simulated(study, [Arrival(0.0, 2047, 200)] + [Arrival(came, 2047, 200)] * 4)
    firsts = [each.first for each in run.requests[1:]]
    apart = [after - before for before, after in pairwise(firsts)]
    passing = firsts[0] - max(came, run.requests[1].began)
    assert apart == pytest.approx([passing / STAGES] * 3, rel=0.03)
    assert max(apart) < (round_of_one + (passing - round_of_one) / STAGES) * 0.9


def test_a_prompt_lengthens_one_gap_of_each_sequence_of_a_pipeline() -> None:
    """Steps of 1 s on each of two stages are gaps of 2 s. A step of 5 s ends a gap of half of the sequences after 6 s,
    and the next step, of 1 s, one of the other half, also after 6 s.
    """
    rank = AttentionRank()
    assert list(gaps_of_rounds(rank, 1.0, 4, 2)) == [(2.0, 0.5), (2.0, 1.5)]
    assert list(gaps_of_rounds(rank, 5.0, 1, 2)) == [(6.0, 0.5)]
    assert list(gaps_of_rounds(rank, 1.0, 4, 2)) == [(6.0, 0.5), (2.0, 1.5)]


def test_every_token_after_the_first_ends_a_gap() -> None:
    run = simulated(plan("concurrency: 8, chunk_tokens: 2048", **LARGE), [Arrival(0.1 * i, 900, 50) for i in range(20)])
    assert sum(run.gaps.values()) == pytest.approx(20 * 49)
    whole = sum(each.ended - each.first for each in run.requests)
    assert sum(gap * count for gap, count in run.gaps.items()) == pytest.approx(whole, rel=0.03)


LOADS = [
    ("vllm", 4, "concurrency: 4", 1000),
    ("vllm", 4, "concurrency: 64", 1000),
    ("vllm", 4, "request_rate: 2", 1000),
    ("vllm", 4, "request_rate: 0.5", 8000),
    ("trt-llm", 4, "concurrency: 64", 1000),
    ("trt-llm", 2, "request_rate: 2", 1000),
    ("sglang", 4, "concurrency: 4", 8000),
    ("sglang", 4, "concurrency: 64", 1000),
    ("sglang", 2, "request_rate: 2", 1000),
]


@pytest.mark.parametrize("place", sampled(range(len(LOADS)), 3))
def test_the_formulas_and_the_simulation_of_a_pipeline_agree(place: int) -> None:
    framework, stages, load, prompt = LOADS[place]
    study = plan(f"{load}, chunk_tokens: 2048", **LARGE | {"framework": f"{framework}, pp: {stages}", "input": prompt})
    expected, found = parts(study)[1], simulated_load(study, seed=1, requests=600).latencies
    assert expected.ttft == pytest.approx(found["ttft"].p50, rel=0.08)
    assert expected.tpot == pytest.approx(found["tpot"].p50, rel=0.03)


@pytest.mark.parametrize("framework", ["vllm", "trt-llm"])
def test_more_requests_of_a_loop_never_wait_less_in_a_pipeline(framework: str) -> None:
    """From few requests on two stages to many; batches of some end while others are on the first stage."""
    waits = [
        parts(plan(f"concurrency: {many}", model="llama-3.1-8b", per=2, framework=f"{framework}, pp: 2", input=211))[
            1
        ].ttft_mean
        for many in (2, 8, 32, 128)
    ]
    assert waits == sorted(waits)


def test_short_answers_of_a_pipeline_wait_for_the_prompts_of_other_batches() -> None:
    """Four requests on two stages, of 4,000 tokens and 40 of answer: they wait for 0.13 s, where the rest of a step and
    the requests that end with one are 0.03 s.
    """
    study = plan(
        "concurrency: 4, chunk_tokens: 2048", **LARGE | {"per": 2, "framework": "vllm, pp: 2"}, input=4000, output=40
    )
    expected, found = parts(study)[1], simulated_load(study, seed=1, requests=400)
    waited = sum(each.first - each.arrival for each in found.counted) / len(found.counted)
    assert expected.ttft_mean == pytest.approx(waited, rel=0.08)
