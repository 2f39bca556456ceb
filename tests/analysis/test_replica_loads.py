"""Open loads on replicas of attention whose steps run together: the formulas beside the simulation."""

from __future__ import annotations

from math import exp

import pytest

from clusterspec.analysis.simulation.run import simulated_load
from clusterspec.cost.serving.waits.carried import share_beyond_graphs
from tests.analysis.test_simulation import parts, plan
from tests.designs import SERVED, changed, engines_of
from tests.effort import sampled, telling, thorough

REPLICAS: dict[str, object] = {"machine": "h200-sxm-141gb", "per": 8, "model": "qwen3-30b-a3b", "output": 300}
ALONE: dict[str, object] = {"machine": "a100-sxm-80gb", "per": 8, "input": 171, "output": 96}


def test_a_step_is_beyond_graphs_where_one_of_its_ranks_is() -> None:
    """Graphs of 512 tokens hold one prompt of 300 beside 100 sequences, not two. Of a step with prompts of a rank, 0.1
    on average, 1 - 0.1 e^-0.1 / (1 - e^-0.1) = 4.9 % have two or more.
    """
    pools = changed(engines_of(SERVED), {"load.input_tokens": 300})
    assert pools.decode.most_in_graphs == 512
    several = 1 - exp(-0.1) - 0.1 * exp(-0.1)
    one = several / (1 - exp(-0.1))
    assert share_beyond_graphs(pools, 0.1, 100.0) == pytest.approx(one) == pytest.approx(0.0492, abs=1e-4)
    eight = (1 - (1 - several) ** 8) / (1 - exp(-0.8))
    assert share_beyond_graphs(pools, 0.1, 100.0, 8) == pytest.approx(eight) == pytest.approx(0.0668, abs=1e-4)
    assert share_beyond_graphs(pools, 1e-6, 100.0, 8) == pytest.approx(0.0, abs=1e-5)
    assert share_beyond_graphs(pools, 0.1, 300.0, 8) == pytest.approx(1.0)


@pytest.mark.parametrize("prompt", sampled([60, 400, 2000], 2))
@pytest.mark.parametrize("rate", sampled([2, 20], 1))
def test_replicas_that_mix_prompts_with_decoding_take_what_their_simulation_says(prompt: int, rate: int) -> None:
    """Few tokens of prompts run in captured graphs, on eight replicas as on one."""
    study = plan(
        f"request_rate: {rate}, chunk_tokens: 8192",
        **REPLICAS | {"tp": 1, "framework": "vllm, attention_dp: 8, ep: 8", "input": prompt},
    )
    expected, found = parts(study)[1], simulated_load(study, seed=1, requests=800).latencies
    assert expected.ttft == pytest.approx(found["ttft"].p50, rel=0.08)
    assert expected.tpot == pytest.approx(found["tpot"].p50, rel=0.08)


def test_prompts_wait_for_no_step_formed_ahead_where_their_steps_outgrow_the_graphs() -> None:
    """42 prompts of 54 tokens share each step of two replicas with 500 sequences, more than the 512 tokens of graphs:
    the host launches these steps one after the other.
    """
    study = plan(
        "request_rate: 1160", **REPLICAS | {"tp": 4, "framework": "vllm, attention_dp: 2", "input": 54, "output": 26}
    )
    expected, found = parts(study)[1], simulated_load(study, seed=1, requests=5000).latencies
    assert expected.state.ahead == 0.0
    assert expected.ttft == pytest.approx(found["ttft"].p50, rel=0.05)


@telling(1)
@pytest.mark.parametrize("framework", ["vllm", "sglang"])
def test_a_request_of_a_light_load_finds_one_of_eight_engines_idle(framework: str) -> None:
    """Each of four requests in flight on eight engines went to the engine with the fewest: hardly any waits for a step,
    where a third would on an engine drawn at random.
    """
    study = plan("request_rate: 3.3", **ALONE | {"framework": framework})
    expected, found = parts(study)[1], simulated_load(study, seed=1, requests=600)
    waited = sum(each.first - each.arrival for each in found.counted) / len(found.counted)
    assert expected.ttft_mean == pytest.approx(waited, rel=0.06)
    assert expected.state.wait < 0.2 * expected.state.decode.total


SEPARATE: dict[str, object] = REPLICAS | {"tp": 1, "framework": "sglang, attention_dp: 8, ep: 8"}


@thorough
@pytest.mark.parametrize("prompt", sampled([300, 700, 2500], 2))
@pytest.mark.parametrize("rate", sampled([25, 12, 4], 1))
def test_replicas_that_run_prompts_or_decode_take_what_their_simulation_says(prompt: int, rate: int) -> None:
    """A prompt starts with the next step, however long its replica has not decoded; the median of few steps is above
    the mean.
    """
    study = plan(f"request_rate: {rate}", **SEPARATE | {"input": prompt, "output": 100})
    expected, found = parts(study)[1], simulated_load(study, seed=1, requests=1800)
    waited = sum(each.first - each.arrival for each in found.counted) / len(found.counted)
    assert expected.ttft_mean == pytest.approx(waited, rel=0.07)
    assert expected.tpot == pytest.approx(found.latencies["tpot"].p50, rel=0.09)


@thorough
def test_prompts_of_more_load_never_wait_less_on_replicas() -> None:
    """Prompts of one part of a step, of a whole one and of several, up to the rate at which the places are taken."""
    for prompt in (95, 1000, 5217):
        waits = []
        for rate in range(1, 40, 6):
            found = parts(plan(f"request_rate: {rate}", **SEPARATE | {"input": prompt, "output": 52}))[1]
            if not found.queue_grows:
                waits.append(found.ttft_mean)
        assert len(waits) > 3 and waits == sorted(waits)


@thorough
@pytest.mark.parametrize("interval", sampled([10, 30], 1))
@pytest.mark.parametrize("rate", sampled([40, 15, 5], 1))
def test_replicas_that_receive_at_intervals_take_what_their_simulation_says(interval: int, rate: int) -> None:
    """Most prompts come during steps with prompts, after each of which the engine receives again; the mean wait of
    those that come while all replicas decode is longer than the median.
    """
    changes = SEPARATE | {"input": 400, "output": 100}
    study = plan(f"request_rate: {rate}, receive_interval: {interval}", **changes)
    expected, found = parts(study)[1], simulated_load(study, seed=1, requests=2500)
    waited = sum(each.first - each.arrival for each in found.counted) / len(found.counted)
    assert expected.ttft_mean == pytest.approx(waited, rel=0.3)
    assert expected.tpot == pytest.approx(found.latencies["tpot"].p50, rel=0.12)
