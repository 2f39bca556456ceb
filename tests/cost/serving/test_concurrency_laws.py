"""Laws of closed loops over a grid of engines and layouts: more requests in flight, and drafts that none accepts."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from clusterspec.cluster.model import Design
from clusterspec.cost.estimate import estimate
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.parts import launches
from clusterspec.cost.serving.rates import KernelRates
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.cost.serving.times import serving_pools
from tests.cluster.resolving import clean
from tests.effort import sampled, thorough

PLAN = """
cluster: {{platform: dgx-h200, nodes: {nodes}}}
workload:
  kind: serve
  model: {model}
  precision: fp8
  parameter_precision: fp8
  serving: {{input_tokens: {input}, output_tokens: {output}, {load}}}
layout: {{framework: {layout}}}
"""
ENGINES = ("vllm", "vllm, software: vllm 0.10", "sglang", "sglang, software: sglang 0.5.9", "trt-llm")
LAYOUTS = ("tp: 8", "tp: 4, pp: 2", "tp: 1, attention_dp: 8, ep: 8")
SPLIT = "disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 1, tp: 8}}"
REQUESTS = (1, 2, 4, 16, 64, 128, 192, 256, 384, 512, 768)
LESS = 0.08
"""Beyond the tokens that graphs hold, and where a prompt no longer fits with all sequences, a step takes longer."""


def design(engine: str, layout: str, load: str, lengths: tuple[int, int], **changes: object) -> Design:
    keys: dict[str, object] = {"model": "qwen3-235b-a22b", "nodes": 1, "input": lengths[0], "output": lengths[1]}
    return clean(PLAN.format(layout=f"{engine}, {layout}", load=load, **keys | changes))


def times(engine: str, layout: str, load: str, lengths: tuple[int, int], **changes: object) -> ServingTimes:
    found = estimate(design(engine, layout, load, lengths, **changes)).serving
    assert found is not None
    return found


LENGTHS = ((128, 256), (1000, 200), (8000, 200), (8000, 1), (128, 1))


@pytest.mark.parametrize(("engine", "layout", "lengths"), sampled(product(ENGINES, LAYOUTS, LENGTHS), 12))
def test_more_requests_in_flight_never_lower_the_throughput(engine: str, layout: str, lengths: tuple[int, int]) -> None:
    """As long as the cache holds all of them. Qwen3-235B-A22B in 8 ranks lost 26 % from 256 to 384 requests."""
    for model in ("qwen3-235b-a22b", "gpt-oss-120b"):
        found = [times(engine, layout, f"concurrency: {number}", lengths, model=model) for number in REQUESTS]
        held = [each for each, number in zip(found, REQUESTS, strict=True) if number <= each.kv_capacity_sequences]
        assert len(held) > 5
        for few, many in pairwise(held):
            assert many.output_tokens_per_second >= few.output_tokens_per_second * (1 - LESS), many.offered


@thorough
@pytest.mark.parametrize(("engine", "layout", "lengths"), sampled(product(ENGINES, LAYOUTS, LENGTHS[:3]), 45))
def test_drafts_that_are_never_accepted_are_never_faster_on_any_engine(
    engine: str, layout: str, lengths: tuple[int, int]
) -> None:
    for number in (4, 32, 256):
        load = f"concurrency: {number}"
        plain = times(engine, layout, load, lengths)
        drafted = times(engine, layout, f"{load}, speculative: {{tokens: 3, acceptance: 0}}", lengths)
        if number <= drafted.kv_capacity_sequences:
            assert drafted.tpot >= plain.tpot * (1 - LESS)
            assert drafted.output_tokens_per_second <= plain.output_tokens_per_second * (1 + LESS / 6)


@thorough
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("output", [1, 2, 200])
def test_more_requests_on_separate_engines_never_lower_the_throughput(engine: str, output: int) -> None:
    found = [
        times(engine, "tp: 8", f"concurrency: {number}, {SPLIT}", (4000, output), nodes=2) for number in REQUESTS[:8]
    ]
    for few, many in pairwise(found):
        assert many.output_tokens_per_second >= few.output_tokens_per_second * (1 - LESS)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_request_waits_for_no_step_formed_ahead(engine: str) -> None:
    """Nothing runs when it comes: its prompt takes what the device or its launch takes."""
    alone = times(engine, "tp: 8", "concurrency: 1", (1000, 200))
    assert alone.wait == pytest.approx(0.0, abs=1e-4)
    pools = serving_pools(design(engine, "tp: 8", "concurrency: 1", (1000, 200)))
    assert pools is not None
    assert alone.prompt_time == pytest.approx(prompt_step(pools.prompts, 1000.0, 1000.0, 1.0).lasting_seconds, rel=1e-6)


@pytest.mark.parametrize("requests", [2, 4, 16])
def test_a_prompt_waits_for_the_step_that_its_engine_formed_before_it_came(
    requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """vLLM forms steps ahead since 0.14, and the first token comes one step of decoding later, with the same kernels.

    A step then waits 0.5 ms for the host in place of 0.7.
    """
    monkeypatch.setattr(KernelRates, "_releases", lambda *_: iter(()))
    monkeypatch.setattr(launches, "separates_norms", lambda layout, *_: layout.tp == 1)
    older, newer = (
        times(f"vllm, software: vllm {release}", "tp: 8", f"concurrency: {requests}", (8000, 1000))
        for release in ("0.13", "0.14")
    )
    step = newer.decode.total * (requests - 1) / requests
    assert newer.ttft - older.ttft == pytest.approx(step, rel=0.15)
    assert newer.tpot == pytest.approx(older.tpot - 0.2e-3, rel=0.01), "the device is slower than a long launch"
