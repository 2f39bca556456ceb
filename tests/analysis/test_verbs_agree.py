"""What `estimate`, `solve` and `search` compute by formulas agrees with `simulate`, which follows single requests."""

from __future__ import annotations

import json
from statistics import fmean
from typing import Any

import pytest

from clusterspec.analysis.levers.boundaries import solve
from clusterspec.analysis.simulation.outcomes import first_token_seconds
from clusterspec.analysis.simulation.run import simulated_load
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.records import NamedTuple
from clusterspec.studies import study_text
from tests.analysis.jobs import study_of
from tests.effort import diagonal, sampled, telling, thorough
from tests.settings import SETTINGS

NODE: dict[str, Any] = {"platform": "dgx-h100", "nodes": 1}
SGLANG_EXPERTS: dict[str, Any] = {"model": "qwen3-30b-a3b", "framework": "sglang", "cluster": NODE}


DENSE: dict[str, Any] = {"model": "llama-3.1-8b", "framework": "vllm", "cluster": NODE}
LOADS = {"concurrency": 64, "request_rate": 6}


class Simulated(NamedTuple):
    """Means of the requests of a simulation: seconds to the first token and per token, and output tokens a second."""

    ttft: float
    tpot: float
    rate: float


def estimated(serving: dict[str, Any], layout: dict[str, Any], **base: Any) -> ServingTimes:
    found = study_text(spec_text(serving, layout, **base), SETTINGS).plan.serving
    assert found is not None
    return found


def simulated(serving: dict[str, Any], layout: dict[str, Any], requests: int | None = None, **base: Any) -> Simulated:
    load = simulated_load(study_text(spec_text(serving, layout, **base), SETTINGS), requests=requests)
    _, tokens, seconds = load.steady_output
    first = fmean(first_token_seconds(each) for each in load.counted)
    return Simulated(first, load.latencies["tpot"].p50, tokens / seconds)


def both(
    serving: dict[str, Any], layout: dict[str, Any], requests: int | None = None, **base: Any
) -> tuple[ServingTimes, Simulated]:
    return estimated(serving, layout, **base), simulated(serving, layout, requests, **base)


def spec_text(
    serving: dict[str, Any], layout: dict[str, Any], *, model: str, framework: str, cluster: dict[str, Any]
) -> str:
    workload = {"kind": "serve", "model": model, "precision": "bf16", "parameter_precision": "bf16", "serving": serving}
    whole = {"clusterspec": 1, "cluster": cluster, "workload": workload, "layout": {"framework": framework, **layout}}
    return json.dumps(whole)


FIRST_TOKENS_APART = {1: 0.03, 2: 0.06, 8: 0.15}
"""Limits of the difference of first tokens by the number of attention replicas. That of eight is the limit for all
loops (CONTRIBUTING.md): the formulas find waits of prompts for the fullest of eight shorter than they are.
"""


@thorough
@pytest.mark.parametrize(("replicas", "load"), diagonal(3, [1, 2, 8], ["concurrency", "request_rate"]))
def test_rarer_receptions_shorten_tokens_with_every_number_of_attention_replicas(replicas: int, load: str) -> None:
    """Prompts that are received together share a step, in which replicas wait for the fullest: fewer steps have any."""
    layout = {"tp": 8 // replicas, "attention_dp": replicas, "ep": 8}
    times = {
        interval: both(
            {load: LOADS[load], "input_tokens": 1000, "output_tokens": 400, "receive_interval": interval},
            layout,
            **SGLANG_EXPERTS,
        )
        for interval in (1, 50)
    }
    (short, quick), (long, slow) = times[1], times[50]
    assert long.tpot < 0.96 * short.tpot and slow.tpot < 0.98 * quick.tpot
    assert long.ttft > 2 * short.ttft and slow.ttft > 2 * quick.ttft
    assert long.tpot_mean == pytest.approx(slow.tpot, rel=0.065)
    assert long.ttft_mean == pytest.approx(slow.ttft, rel=FIRST_TOKENS_APART[replicas])


@pytest.mark.parametrize(
    ("model", "tp", "concurrency"), sampled([("qwen3-next-80b-a3b", 8, 900), ("nemotron-nano-9b-v2", 8, 1400)], 2)
)
def test_recurrent_states_in_a_pool_of_their_own_limit_simulated_engines_too(
    model: str, tp: int, concurrency: int
) -> None:
    """SGLang: fewer states than keys and values of requests fit, so that requests wait although tokens have space."""
    serving = {"input_tokens": 1000, "output_tokens": 200, "concurrency": concurrency}
    formulas, followed = both(
        serving, {"tp": tp}, requests=2 * concurrency, model=model, framework="sglang", cluster=NODE
    )
    assert formulas.kv_capacity_sequences < 0.8 * concurrency
    assert formulas.kv_capacity_tokens > 1200 * concurrency
    assert formulas.ttft > 2 * formulas.prompt_time
    assert followed.ttft == pytest.approx(formulas.ttft_mean, rel=0.05)
    assert followed.tpot == pytest.approx(formulas.tpot_mean, rel=0.05)
    assert followed.rate == pytest.approx(formulas.output_tokens_per_second, rel=0.05)


SESSION = {"turns": 8, "think_time": "20 s", "growth": 1500}


@thorough
@pytest.mark.parametrize(
    ("tp", "load", "value", "framework"),
    sampled([(8, "concurrency", 16, "vllm"), (1, "request_rate", 18, "vllm"), (8, "concurrency", 24, "sglang")], 4),
)
def test_turns_of_conversations_wait_as_estimated(tp: int, load: str, value: int, framework: str) -> None:
    """Their answers differ in length as those of other requests do, so that they do not all come at one time, and a
    turn goes to the engine that has the turns before it, not to the one with the fewest requests.
    """
    serving = {"input_tokens": 8000, "output_tokens": 300, load: value, "session": SESSION}
    formulas, followed = both(serving, {"tp": tp}, model="llama-3.1-8b", framework=framework, cluster=NODE)
    assert followed.ttft == pytest.approx(formulas.ttft_mean, rel=0.15)
    assert followed.tpot == pytest.approx(formulas.tpot_mean, rel=0.08)
    assert followed.rate == pytest.approx(formulas.output_tokens_per_second, rel=0.03)


@thorough
def test_engines_keep_equal_numbers_of_conversations_in_a_long_run() -> None:
    """Caches are full, and conversations follow them: if one engine got more, it would find less and wait longer."""
    serving = {"input_tokens": 8000, "output_tokens": 300, "request_rate": 18, "session": SESSION}
    formulas, followed = both(serving, {"tp": 1}, 16_000, model="llama-3.1-8b", framework="vllm", cluster=NODE)
    assert followed.ttft == pytest.approx(formulas.ttft_mean, rel=0.15)


def test_stated_lengths_of_answers_hold_in_conversations() -> None:
    serving = {"input_tokens": 3000, "output_tokens": {"mean": 300, "p99": 1500}, "concurrency": 8}
    serving |= {"session": {"turns": 2, "think_time": "9 s", "growth": 400}}
    text = spec_text(serving, {"tp": 8}, **DENSE)
    outputs = [each.output for each in simulated_load(study_text(text, SETTINGS), requests=2000).run.requests]
    assert fmean(outputs) == pytest.approx(300, rel=0.1)
    assert sorted(outputs)[-20] == pytest.approx(1500, rel=0.25)  # 1 in 100 of 2,000


@pytest.mark.parametrize(("p99", "rate"), sampled([(30000, 10), (15000, 16)], 1))
def test_a_tenth_and_a_hundredth_of_the_requests_wait_behind_long_prompts(p99: int, rate: int) -> None:
    """Prompts of drawn lengths: the longest run for most of the time, so that others wait behind them."""
    lengths = {"mean": 4000, "p99": p99}
    text = spec_text({"input_tokens": lengths, "output_tokens": 200, "request_rate": rate}, {"tp": 4}, **DENSE)
    one = study_text(text, SETTINGS)
    assert one.plan.serving is not None and one.design.workload is not None and one.design.workload.serving is not None
    followed = simulated_load(one, requests=8000).latencies["ttft"]
    load = one.design.workload.serving
    found = {share: latency_at(one.plan.serving, load, "ttft", share) for share in (90, 99)}
    assert found[90] == pytest.approx(followed.p90, rel=0.2)
    assert found[99] == pytest.approx(followed.p99, rel=0.25)


@telling(1)
@pytest.mark.parametrize("concurrency", [1, 4, 8])
def test_requests_with_an_engine_of_their_own_wait_for_no_other(concurrency: int) -> None:
    """8 engines of one accelerator: a request goes where none is, in the formulas as in the simulation."""
    serving = {"input_tokens": 4000, "output_tokens": 200, "concurrency": concurrency}
    formulas, followed = both(serving, {"tp": 1}, requests=300, **DENSE)
    assert formulas.wait == 0.0
    assert formulas.ttft_mean == pytest.approx(followed.ttft, rel=0.01)
    shared = estimated(serving | {"concurrency": 16}, {"tp": 1}, **DENSE)
    assert shared.wait > 0.0


REINFORCED = """
cluster: {platform: dgx-h100, nodes: 24}
workload:
  kind: rl
  model: qwen3-30b-a3b
  sequence_length: 4096
  rl:
    algorithm: grpo
    prompts_per_step: 64
    samples_per_prompt: 32
    input_tokens: 110
    output_tokens: {mean: 3206, max: 3986}
    minibatches: 4
    max_staleness: 8
    placement: split
    rollout: {nodes: 8, framework: vllm, tp: 2, memory_fraction: 0.8}
    weight_sync: {method: nccl, precision: bf16}
layout: {framework: megatron-core, nodes: 16, tp: 1, ep: 8, expert_tp: 1}
"""


def test_solve_reaches_what_the_estimate_of_the_design_reaches() -> None:
    """The design takes 48 s a step and fits as predicted, but not at the upper end of its memory range. Sequences short
    enough to fit there are shorter than the samples, which is an error: the answer is among those that may fit.
    """
    study = study_of(REINFORCED)
    assert study.plan.fits and not study.plan.surely_fits
    report = solve(study, "sequence_length", "rl_step_time<=60s")
    assert report.value is not None and report.value >= 4096 and report.unsure
    assert report.value not in report.errors
