"""Times per output token of open loads by hand: the sequences that decode with a request, and the prompts before it."""

from __future__ import annotations

from itertools import accumulate

import pytest

from clusterspec.cost.formulas.queues import prompts_left_behind
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.quantiles import decoded_tokens
from clusterspec.cost.serving.step_times import decode_step
from clusterspec.cost.serving.times import serving_pools, serving_times
from clusterspec.cost.serving.waits.delays import own_sequence
from clusterspec.cost.serving.waits.shares import mean_token_seconds, prompt_shares, runs_prompts_first
from tests.cluster.resolving import clean
from tests.cost.serving.test_serving_laws import BASE, MACHINE, PLAN
from tests.cost.serving.test_serving_laws import times as times_of
from tests.cost.serving.test_steady import with_load
from tests.effort import telling

DEEPSEEK = {"model": "deepseek-v3", "framework": "trt-llm", "input": 4000, "output": 100, "memory": 141}


def design(**changes: object) -> str:
    whole = BASE | {"bandwidth": 3350, "memory": 80} | changes
    return PLAN.format(machine=MACHINE.format(bandwidth=whole.pop("bandwidth"), memory=whole.pop("memory")), **whole)


def pools_of(**changes: object) -> Pools:
    found = serving_pools(clean(design(**changes)))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("changes", "own"),
    [
        ({"load": "load: open, request_rate: 1"}, 1.0),
        ({"load": "load: open, request_rate: 1", "tp": 2}, 5 / 8),  # four engines: (4 + 1) / 2 · 4
        ({"load": "load: open, request_rate: 1", "output": 1}, 0.0),
        ({"load": "concurrency: 64"}, 0.0),  # as many as are stated
        ({"load": "load: open, request_rate: 1", "tp": "1, attention_dp: 8, ep: 8", "model": "deepseek-v3"}, 1 / 8),
    ],
)
def test_a_request_of_an_open_load_decodes_with_itself(changes: dict[str, object], own: float) -> None:
    assert own_sequence(pools_of(**changes)) == pytest.approx(own)


@telling(1)
@pytest.mark.parametrize("rate", [0.02, 0.1, 0.2])
def test_sequences_that_decode_together_slow_each_other_as_if_they_shared_a_processor(rate: float) -> None:
    """Answers of 4,000 tokens after 32,000 that the cache holds: n in flight with the probability of a product of the
    times per token with 1 to n, λ G s(1) · λ G s(2) / 2 ···, whose mean over λ G is the time per token (Cohen, 1979).
    """
    load = f"load: open, request_rate: {rate}, prefix_hit: 0.9999"
    one = pools_of(input=32000, output=4000, load=load)
    found = serving_times(clean(design(input=32000, output=4000, load=load)))
    assert found is not None
    context = 32000 + decoded_tokens(one.load)
    seconds = [decode_step(one.decode, float(number), context).total for number in range(1, 200)]
    weights = [
        1.0,
        *accumulate(
            (rate * one.load.gaps * each / number for number, each in enumerate(seconds, 1)),
            lambda before, each: before * each,
        ),
    ]
    flight = sum(number * weight for number, weight in enumerate(weights)) / sum(weights)
    assert found.tpot_mean == pytest.approx(flight / (rate * one.load.gaps), rel=0.02)
    assert found.tpot_mean > 1.01 * seconds[0]


def test_more_load_never_brings_the_first_token_sooner_where_chunks_fill_steps() -> None:
    """A step with few sequences has room for them and a chunk: it is one step, not one and the rest of another."""
    load = "load: open, chunk_tokens: 2048, request_rate: {}"
    found = [times_of(load=load.format(rate), **DEEPSEEK).ttft for rate in (0.5, 1, 1.5, 2, 2.5, 3)]
    assert found == sorted(found) and found[3] < 2 * found[0]


@pytest.mark.parametrize(
    ("load", "framework", "first"),
    [
        ("load: open, request_rate: 1", "sglang", True),
        ("load: open, request_rate: 1", "vllm", False),  # decodes in the same steps
        ("load: open, request_rate: 1, requests: 100", "sglang", False),  # no steady state
        ("load: open, request_rate: 1, receive_interval: 30", "sglang", False),  # others wait for the next reception
        ("concurrency: 64", "sglang", False),
    ],
)
def test_prompts_that_came_before_run_before_a_request_decodes(load: str, framework: str, first: bool) -> None:
    one = pools_of(load=load, framework=framework)
    assert runs_prompts_first(one) is first


def test_a_request_waits_for_the_prompts_that_its_own_leaves_behind() -> None:
    """Of 8,000 tokens, each a full step of 8,192: those of the share of the time that prompts take, and of a queue."""
    load = "load: open, chunk_tokens: 8192, request_rate: {}"
    for rate in (0.5, 1.5):
        one = pools_of(input=8000, output=100, framework="sglang", load=load.format(rate))
        found = serving_times(clean(design(input=8000, output=100, framework="sglang", load=load.format(rate))))
        assert found is not None
        now = found.state
        busy = rate * now.carried
        left = prompts_left_behind(min(1.0, rate * now.prompt), busy, 1.0)
        later = left * now.carried / (1 - busy) / one.load.gaps
        assert found.tpot_mean == pytest.approx(now.tpot + later, rel=1e-6)
        assert found.tpot < found.tpot_mean, "half of the requests meet fewer prompts than the mean"
        assert mean_token_seconds(now, prompt_shares(one, now), one) == pytest.approx(found.tpot_mean, rel=1e-6)
        alone = with_load(one, output_tokens=1)
        assert not runs_prompts_first(alone)
