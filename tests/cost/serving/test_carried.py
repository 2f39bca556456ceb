"""What prompts add to the decode steps of their engine, worked out by hand."""

from __future__ import annotations

from math import exp, factorial
from random import Random

import pytest

from clusterspec.cost.formulas.queues import share_of_fuller_steps
from clusterspec.cost.serving.engine import Decoding
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.cost.serving.waits.carried import carried_prefill, share_of_steps_with_arrivals
from tests.cluster.resolving import clean

ONE = """
cluster: {{platform: dgx-h200, nodes: 1}}
workload:
  kind: serve
  model: {model}
  precision: fp8
  serving: {{input_tokens: {input}, output_tokens: 1001, concurrency: 64}}
layout: {{framework: {framework}, tp: {tp}}}
"""


def carried(sequences: float, **changes: object) -> tuple[Pools, float, float]:
    """Engines with ``sequences`` that decode, the seconds of such a step, and those that a prompt adds."""
    keys: dict[str, object] = {"model": "qwen3-30b-a3b", "input": 100, "framework": "trt-llm", "tp": 4}
    pools = bare_pools(clean(ONE.format(**keys | changes)))
    assert pools is not None
    context = pools.load.input_tokens + 500.0
    decode = decode_step(pools.decode, sequences, context)
    prefill = prompt_step(pools.prompts, float(pools.load.input_tokens), float(pools.load.input_tokens), 1.0)
    found = carried_prefill(pools, (sequences, context), 1.0, (decode, prefill), full=False)
    return pools, decode.total, found


def drawn_share(rate: float, plain: float, longer: float, engines: int) -> tuple[float, float]:
    """The share of steps with prompts of an engine that gets every so manieth request, and the prompts of a step."""
    random, now, came, steps, with_prompts, prompts = Random(5), 0.0, 0.0, 60_000, 0, 0
    for _ in range(steps):
        arrived = 0
        while came <= now:
            arrived += 1
            came += sum(random.expovariate(rate * engines) for _ in range(engines))
        now += longer if arrived else plain
        with_prompts += arrived > 0
        prompts += arrived
    return with_prompts / steps, prompts / steps


@pytest.mark.parametrize(("rate", "engines", "near"), [(5.0, 1, 0.03), (30.0, 1, 0.03), (5.0, 4, 0.1), (30.0, 4, 0.1)])
def test_more_prompts_come_in_longer_steps_so_that_fewer_steps_hold_any(rate: float, engines: int, near: float) -> None:
    """Steps of 5 and 45 ms: with 30 prompts a second, an even number in each step would say half more steps."""
    share, prompts = drawn_share(rate, 0.005, 0.045, engines)
    assert share_of_steps_with_arrivals((prompts, 0.005), engines, lambda _: 0.04) == pytest.approx(share, rel=near)
    if engines == 1:
        assert 1 - exp(-prompts) > 1.02 * share


def release(software: str) -> str:
    """The keys of a layout that runs a release."""
    return f"{software.partition(' ')[0]}, software: {software}"


@pytest.mark.parametrize("sequences", [1.0, 20.0])
@pytest.mark.parametrize(("software", "each"), [("trt-llm 0.21", 36.0), ("vllm 0.13", 88.0)])
def test_a_step_with_prompts_lasts_as_long_as_its_host_launches_it(
    software: str, each: float, sequences: float
) -> None:
    """No graph holds it: 48 layers of eight kernels, 36 us each of a compiled engine, 88 us of compiled code. The same
    thread schedules the step, 0.7 ms, and samples for each sequence and for the prompt, 3 us.

    Of a thousand steps a sequence has a prompt in one; the share 1 − exp(−sequences / 1000) has prompts of any.
    """
    pools, step, found = carried(
        sequences, framework=f"{software.split(maxsplit=1)[0]}, software: {software}", input=520, tp=8
    )
    assert not pools.decode.runs_ahead
    floor = pools.decode.launches * each * 1e-6
    assert floor == pytest.approx(48 * 8 * each * 1e-6, rel=0.01)
    prompts = sequences / 1000
    share = 1 - exp(-prompts)
    floor += 0.7e-3 + (sequences + prompts / share) * 3e-6
    assert found == pytest.approx(share / prompts * (floor - step), rel=1e-6)


@pytest.mark.parametrize("software", ["trt-llm 1.2", "vllm 0.14"])
@pytest.mark.parametrize("sequences", [1.0, 100.0, 800.0])
def test_the_launch_of_a_step_with_prompts_begins_while_the_step_before_it_runs(
    software: str, sequences: float
) -> None:
    """By as much as steps without prompts are before it; vLLM since 0.14 launches so, and not before."""
    pools, step, found = carried(
        sequences, framework=f"{software.split(maxsplit=1)[0]}, software: {software}", input=1000
    )
    assert pools.decode.runs_ahead
    prompts = sequences / 1000
    share = 1 - exp(-prompts)
    prompt = prompt_step(pools.prompts, 1000.0 * prompts / share, 1000.0, 1.0, Decoding(sequences, 1500.0, 1.0))
    launched = pools.decode.launches * (0.088e-3 if "vllm" in software else 0.16e-3)
    launched += 0.7e-3 + (sequences + prompts / share) * 3e-6  # scheduling and sampling
    slack = (1 - share) * step + share * max(0.0, prompt.total - launched)
    longer = max(prompt.device - decode_step(pools.decode, sequences, 1500.0).device, launched - step - slack)
    assert found == pytest.approx(share / prompts * longer, rel=1e-3)


@pytest.mark.parametrize("without", ["pp: 2", "pp: 1, software: vllm 0.13"])
def test_pipelines_and_older_releases_launch_a_step_after_the_one_before(without: str) -> None:
    assert not carried(8.0, framework=f"vllm, {without}")[0].decode.runs_ahead


def test_a_step_of_more_tokens_than_graphs_hold_is_launched_kernel_by_kernel() -> None:
    """Graphs of vLLM hold 512 tokens: four prompts of 100 with 100 sequences, but not five."""
    for sequences, fitting in ((100.0, 4), (300.0, 2)):
        pools, _, found = carried(sequences, framework="vllm, software: vllm 0.13")
        assert pools.decode.most_in_graphs == 512
        prompts = sequences / 1000
        some = 1 - exp(-prompts)
        more = 1 - sum(exp(-prompts) * prompts**each / factorial(each) for each in range(fitting + 1))
        beyond = pools.decode.launches * 0.088e-3 + 0.7e-3 + sequences * 3e-6
        assert share_of_fuller_steps(prompts, fitting) == pytest.approx(more / some)
        least = more / prompts * (beyond - decode_step(pools.decode, sequences, 600.0).total)
        assert least < found < least + 0.02  # and what the device takes for the prompts of all steps


def test_prompts_that_the_device_takes_longer_for_than_the_host_add_their_own_time() -> None:
    """Of 8,000 tokens on a dense model: the launches of 80 layers are short against them."""
    pools, _, found = carried(16.0, model="llama-3.1-70b", input=8000)
    steps = prompt_step(pools.decode, 8000.0, 8000.0, 1.0)
    assert steps.floor < 0.3 * steps.device
    assert found == pytest.approx(steps.device, rel=0.05)
