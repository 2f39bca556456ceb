"""The simulation of serving plans: laws of queues, agreement with the formulas, and requests that are never lost."""

from __future__ import annotations

import json
from itertools import pairwise
from math import isclose
from pathlib import Path
from random import Random

import pytest

from clusterspec import analysis
from clusterspec.analysis.simulation.arrivals import drawn_lengths, drawn_times, with_partial_outputs
from clusterspec.analysis.simulation.outcomes import _gaps_at, percentiles
from clusterspec.analysis.simulation.plans import Simulation, plan_timing
from clusterspec.analysis.simulation.ranks import AttentionRank, Request, put_in_shortest_queues
from clusterspec.analysis.simulation.run import _report_notes, simulated_load
from clusterspec.analysis.simulation.steps import Curve, StepTables
from clusterspec.analysis.simulation.traffic import SimulationFault, Traffic, plan_traffic
from clusterspec.cluster.requests import Lengths
from clusterspec.cost.serving.engine import Decoding
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.cost.serving.pools import Pools, cache_handoff
from clusterspec.cost.serving.runs import FiniteRun, OpenRun
from clusterspec.cost.serving.steady import state_without_wait
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.cost.serving.times import serving_pools, serving_times
from clusterspec.logs.traces import Arrival, TraceFault, trace_arrivals
from clusterspec.records import replace
from clusterspec.results.simulation import SimulatedTarget
from clusterspec.studies import Study
from tests.analysis.jobs import study_of
from tests.effort import ALL_CASES, sampled, telling, thorough

PLAN = """
cluster: {{accelerator: {machine}, accelerators_per_node: {per}, nodes: {nodes}}}
workload:
  kind: serve
  model: {model}
  precision: fp8
  parameter_precision: fp8
  serving: {{input_tokens: {input}, output_tokens: {output}, {load}}}
layout: {{framework: {framework}, tp: {tp}}}
"""


def plan(load: str, **changes: object) -> Study:
    base: dict[str, object] = {"machine": "h100-sxm-80gb", "per": 1, "nodes": 1, "model": "llama-3.1-8b", "tp": 1}
    return study_of(PLAN.format(**(base | {"input": 1000, "output": 200, "framework": "vllm", "load": load} | changes)))


def parts(study: Study) -> tuple[Pools, ServingTimes]:
    pools, found = serving_pools(study.design), serving_times(study.design)
    assert pools is not None and found is not None
    return pools, found


def simulated(study: Study, arrivals: list[Arrival], in_flight: int | None = None) -> Simulation:
    pools, found = parts(study)
    sent = cache_handoff(pools, found.prompt_time, found.prefill.steps)
    run = Simulation(plan_timing(pools, pools.tokens, sent), arrivals, in_flight)
    run.run()
    for rank in (rank for engine in (*run.decode, *run.prefill) for rank in engine.ranks):
        assert (rank.used, rank.context) == pytest.approx((0, 0), abs=1e-3), "every token that was held is given back"
        assert not (rank.count or rank.waiting or rank.prompts or rank.decoding)
    return run


def drawn_arrivals(seed: int, count: int, rate: float, cv: float, lengths: tuple[int, int]) -> list[Arrival]:
    return [Arrival(time, *lengths) for time in drawn_times(seed, count, rate, cv)]


def mean_wait(run: Simulation) -> float:
    return sum(each.first - each.arrival for each in run.requests) / len(run.requests)


def varied(count: int, prompt: int, output: int, seed: int = 1) -> list[Arrival]:
    """Requests at once whose lengths vary by a fifth."""
    random = Random(seed)
    return [
        Arrival(0.0, round(prompt * random.uniform(0.8, 1.2)), round(output * random.uniform(0.8, 1.2)))
        for _ in range(count)
    ]


def varied_answers(count: int, flight: int, study: Study) -> list[Arrival]:
    """Requests of a closed loop without a beginning, whose answers vary by a fifth."""
    load = parts(study)[0].load
    found = varied(count, load.input_tokens, load.output_tokens)
    return with_partial_outputs([each._replace(prompt=load.input_tokens) for each in found], flight, 1)


def test_a_short_last_chunk_does_not_pass_a_pipeline_before_the_chunks_before_it() -> None:
    """With a sequence that decodes, 8,000 tokens take two chunks: 7,999 and one."""
    study = plan("concurrency: 2, chunk_tokens: 8000", framework="vllm, pp: 4", per=4, input=8000)
    alone = simulated(study, [Arrival(0.0, 8000, 200)]).requests[0]
    beside = simulated(study, [Arrival(0.0, 8000, 200), Arrival(alone.first * 1.5, 8000, 200)]).requests[1]
    second = 32 * 88e-6 + 0.7e-3 + 2 * 3e-6  # from graphs but for attention; scheduled, and sampled for both
    assert beside.launched == pytest.approx(alone.launched + second)
    assert beside.first - beside.arrival >= alone.first


EXPERTS = {"machine": "h200-sxm-141gb", "per": 8, "model": "deepseek-v3", "framework": "sglang", "tp": 8}
INDEXED = {"machine": "h200-sxm-141gb", "per": 8, "model": "deepseek-v3.2", "tp": 8, "input": 6000}
APART = "disaggregated: {prefill: {replicas: 1, tp: 1}, decode: {replicas: 1, tp: 1}}"
PLANS: dict[str, tuple[str, dict[str, object]]] = {
    "one": ("", {}),
    "tensor parallel": ("", {"tp": 4, "per": 4, "model": "llama-3.1-70b"}),
    "pipeline": ("", {"tp": 2, "per": 4, "framework": "vllm, pp: 2", "model": "llama-3.1-70b"}),
    "chunks": (", chunk_tokens: 256", {}),
    "drafts": (", speculative: {tokens: 3, acceptance: 0.5, method: ngram}", {}),
    "cached prefix": (", prefix_hit: 0.5", {}),
    "experts": ("", EXPERTS),
    "attention replicas": (
        ", chunk_tokens: 8192",
        EXPERTS | {"tp": 1, "framework": "sglang, attention_dp: 8, ep: 8"},
    ),
    "apart": (f", {APART}", {"per": 2}),
    "window": ("", {"model": "gpt-oss-20b", "input": 20000}),
    "heads that read a key apart": ("", {"machine": "a100-sxm-80gb", "model": "qwen3-8b"}),
    "index": ("", INDEXED),
    "index, short prompts dense": ("", INDEXED | {"framework": "sglang", "input": 1000}),
}


@telling(2)
@pytest.mark.parametrize("name", PLANS)
def test_a_request_alone_takes_as_long_as_the_formulas_say(name: str) -> None:
    more, changes = PLANS[name]
    study = plan(f"concurrency: 1{more}", **changes | {"output": 26})  # few tokens: no time of the prompt hides in them
    pools, expected = parts(study)
    run = simulated(study, [Arrival(0.0, pools.load.input_tokens, pools.load.output_tokens)] * 3, 1)
    request = run.requests[1]
    first = request.first - request.arrival
    each = (request.ended - request.first) / 25
    decode = expected.decode.total / expected.tokens_per_step
    assert each == pytest.approx(decode, rel=0.02)
    # separate decode engines start after half a step in the mean, which a request alone does not wait for
    assert first == pytest.approx(expected.ttft - 0.5 * expected.started, rel=0.02)


WIDE = EXPERTS | {"tp": 1, "nodes": 4, "framework": "sglang, attention_dp: 32, ep: 32", "input": 2000, "output": 400}
POOL = "{{replicas: {}, attention_dp: 32, ep: 32}}"
BOTH = f", disaggregated: {{prefill: {POOL.format(1)}, decode: {POOL.format(1)}}}"
ENGINES = PLANS | {
    "wide": (", chunk_tokens: 8192", WIDE),
    "wide, apart": (f", chunk_tokens: 8192{BOTH}", WIDE | {"nodes": 8, "framework": "sglang"}),
}
LOADS = {"light": 0.03, "middle": 0.2, "heavy": 0.6}
"""Requests in flight over those that the engines run at once."""
MOST = 640
FILLING = 4
"""Rounds of a loop in which the queue of separate prefill engines fills: all requests decode at first."""
TOLERANCE = {"tpot": 0.12, "rate": 0.12, "ttft": 0.2}
COARSE = {
    ("window", "ttft"): 0.6,  # of 20,000 tokens and a short answer: a small difference of two long times
    ("pipeline", "ttft"): 0.4,  # prompts that share a step pass all stages together
}


@pytest.mark.parametrize("name", sampled(ENGINES, 6))
def test_the_formulas_and_the_simulation_agree_at_every_load(name: str) -> None:
    more, changes = ENGINES[name]
    most = parts(plan(f"concurrency: 1{more}", **changes))[0]
    for share in sampled(list(LOADS.values()), 2):
        flight = max(1, min(MOST, int(most.limit * most.decode.attention_ranks * share)))
        study = plan(f"concurrency: {flight}{more}", **changes)
        pools, expected = parts(study)
        if pools.has_prefill_engines and expected.prompt_load > 0.9:
            continue  # a queue that hardly ever empties has no steady state within a short run
        first = flight * (FILLING if pools.has_prefill_engines else 1)
        count = first + max(400, 2 * flight)
        arrivals = with_partial_outputs(varied(count, pools.load.input_tokens, pools.load.output_tokens), flight, 1)
        run = simulated(study, arrivals, flight)
        ends = sorted(each.ended for each in run.requests)
        last = count - flight
        assert last > first
        counted = run.requests[first:last]
        found = {
            "tpot": percentiles([(each.ended - each.first) / (each.output - 1) for each in counted]).p50,
            "ttft": percentiles([each.first - each.arrival for each in counted]).p50,
            "rate": (last - first) * pools.load.output_tokens / (ends[last] - ends[first]),
        }
        said = {"tpot": expected.tpot, "ttft": expected.ttft, "rate": expected.output_tokens_per_second}
        for quantity, tolerance in TOLERANCE.items():
            within = COARSE.get((name, quantity), tolerance)
            assert found[quantity] == pytest.approx(said[quantity], rel=within), (share, flight, quantity)


@thorough
@pytest.mark.parametrize("flight", sampled([32, 96, 200], 4))
def test_the_cache_that_a_step_reads_is_that_of_the_answers_in_flight(flight: int) -> None:
    """A longer answer is in flight for longer: half of the mean length would be steps 20 to 45 % too short."""
    study = plan(f"concurrency: {flight}", input=200, output="{mean: 1500, p99: 7500}")
    pools, expected = parts(study)
    load, count = pools.load, 30 * flight
    lengths = drawn_lengths("a", count, load.output_tokens, load.output_lengths)
    arrivals = with_partial_outputs([Arrival(0.0, load.input_tokens, each) for each in lengths], flight, 1)
    counted = simulated(study, arrivals, flight).requests[flight:-flight]
    gaps = [(each.ended - each.first) / (each.output - 1) for each in counted if each.output > 50]
    assert percentiles(gaps).p50 == pytest.approx(expected.tpot, rel=0.06)


SHORT: dict[str, object] = {"input": 170, "output": 12, "model": "gpt-oss-20b"}
SHARED: dict[str, tuple[str, dict[str, object], float]] = {
    "prompts go first, and others come in their steps": (
        "request_rate: 60",
        {"framework": "sglang", "input": 400, "output": 14},
        0.12,
    ),
    "prompts of a step read experts once": ("request_rate: 90", SHORT, 0.15),
    "an engine of prompts fills its steps": (f"concurrency: 110, {APART}", SHORT | {"per": 2}, 0.06),
    "the next prompt fills the rest of a chunk": (
        f"concurrency: 100, chunk_tokens: 8192, {APART}",
        {"per": 2, "input": 5600, "output": 50},
        0.15,
    ),
    "a run ends before its requests are as many as in a steady state": (
        "request_rate: 95, requests: 200",
        {"machine": "h100-pcie-80gb", "input": 206, "output": 202},
        0.13,  # steps of 64 to 192 rows in fp8 lengthen faster than their rows, and their number varies
    ),
    "replicas do not decode in steps with prompts of their own": (
        "concurrency: 256",
        EXPERTS | {"tp": 1, "framework": "sglang, attention_dp: 8, ep: 8"},
        0.08,
    ),
    "few of them either": (
        "concurrency: 128",
        EXPERTS | {"tp": 1, "framework": "sglang, attention_dp: 8, ep: 8", "output": 400},
        0.05,
    ),
    "nor twice as many": (
        "concurrency: 512",
        EXPERTS | {"tp": 1, "framework": "sglang, attention_dp: 8, ep: 8"},
        0.12,
    ),
    "nor in those of any replica with drafts": (
        "concurrency: 256, speculative: {tokens: 1, acceptance: 0.8}",
        EXPERTS | {"tp": 1, "framework": "sglang, attention_dp: 8, ep: 8"},
        0.12,
    ),
    "nor where each of them fills the budget of a replica": (
        "concurrency: 256, speculative: {tokens: 3, acceptance: 0}",
        EXPERTS | {"tp": 1, "framework": "sglang, attention_dp: 8, ep: 8", "input": 1010},
        0.12,
    ),
    "prompts of a run come faster than full steps compute them": (
        "request_rate: 140, requests: 300",
        {"framework": "sglang", "machine": "a100-sxm-80gb", "input": 256, "output": 345},
        0.17,
    ),
}


@thorough
@pytest.mark.parametrize("name", sampled(SHARED, 12))
def test_prompts_that_share_steps_take_what_their_simulation_says(name: str) -> None:
    load, changes, within = SHARED[name]
    study = plan(load, **changes)
    pools, expected = parts(study)
    flight = pools.load.concurrency
    counted: list[Request] = []
    growing = isinstance(expected.run, OpenRun) and expected.run.lag > 0  # waits vary with the times of all arrivals
    for seed in range(1, 5 if growing else 2):
        traffic = plan_traffic(pools.load, seed, pools.load.requests or 800, None, expected.offered)
        if flight is not None:
            traffic = traffic._replace(arrivals=varied_answers(6 * flight, flight, study), warm_up=flight)
        requests = simulated(study, traffic.arrivals, traffic.in_flight).requests[traffic.warm_up :]
        counted += requests[: len(requests) - (flight or 0)]  # the last of a loop meet fewer and fewer others
    token = percentiles([(each.ended - each.first) / (each.output - 1) for each in counted]).p50
    waits = [each.first - each.arrival for each in counted]
    first, said = percentiles(waits).p50, expected.ttft
    if flight is not None:  # a prompt waits for a few whole steps: the median is that of one number of them
        first, said = sum(waits) / len(waits), expected.ttft_mean
    assert expected.tpot == pytest.approx(token, rel=within)
    assert said == pytest.approx(first, rel=within)


@pytest.mark.parametrize(("requests", "places"), sampled([(200, 64), (400, 64), (200, 32), (600, 72)], 4))
def test_requests_of_a_run_wait_for_places(requests: int, places: int) -> None:
    """One every 18 ms, at even intervals: of drawn runs the mean wait varies with the time that their arrivals take."""
    study = plan(
        f"request_rate: 55, requests: {requests}, max_sequences: {places}, arrivals: {{process: gamma, cv: 0.1}}",
        machine="h100-sxm-80gb",
        input=206,
        output=202,
    )
    _, expected = parts(study)
    run = simulated(study, [Arrival(place / 55, 206, 202) for place in range(requests)])
    token = percentiles([(each.ended - each.first) / (each.output - 1) for each in run.requests]).p50
    assert isinstance(expected.run, OpenRun) and expected.run.mean < expected.run._replace(sooner=0.0).mean
    assert expected.tpot == pytest.approx(token, rel=0.05)
    assert expected.ttft_mean == pytest.approx(mean_wait(run), rel=0.08)


FORMED: list[tuple[str, dict[str, object], float]] = [
    (
        "concurrency: 40",
        {"model": "qwen3-32b", "machine": "h200-sxm-141gb", "input": 3000, "output": 150, "tp": 2},
        0.06,
    ),
    ("concurrency: 128", {"machine": "a100-sxm-80gb", "framework": "trt-llm", "input": 600, "output": 100}, 0.08),
    ("concurrency: 40", {"model": "mistral-7b", "framework": "sglang", "input": 300, "output": 60}, 0.09),
    ("request_rate: 87", {"model": "mistral-7b", "framework": "sglang", "input": 300, "output": 60}, 0.08),
]


@thorough
@pytest.mark.parametrize("place", sampled(range(len(FORMED)), 4))
def test_a_prompt_waits_for_the_step_that_was_formed_before_it_came(place: int) -> None:
    """In a loop it comes once the step after that of its predecessor's end runs, and the one after that is formed."""
    load, changes, within = FORMED[place]
    study = plan(load, **{"per": changes.get("tp", 1)} | changes)
    pools, expected = parts(study)
    flight, (prompt, output) = pools.load.concurrency, (pools.load.input_tokens, pools.load.output_tokens)
    if flight:
        arrivals = with_partial_outputs(varied(1500 + 2 * flight, prompt, output), flight, 1)
    else:
        arrivals = plan_traffic(pools.load, 1, 3000, None, expected.offered).arrivals
    found = simulated(study, arrivals, flight).requests[2 * (flight or 200) : -(flight or 200)]
    assert expected.ttft_mean == pytest.approx(
        sum(each.first - each.arrival for each in found) / len(found), rel=within
    )


@thorough
@pytest.mark.parametrize("rate", sampled([30, 44], 2))
def test_replicas_of_a_prefill_engine_wait_for_the_one_with_several_prompts(rate: int) -> None:
    """A router counts the prompts of the running step, too: at half load some of 32 replicas have two in a step."""
    more, changes = ENGINES["wide, apart"]
    study = plan(f"request_rate: {rate}{more}", **changes)
    pools, expected = parts(study)
    arrivals = plan_traffic(pools.load, 1, 4000, None, expected.offered).arrivals
    waits = [each.first - each.arrival for each in simulated(study, arrivals).requests[1500:-800]]
    assert expected.ttft_mean == pytest.approx(sum(waits) / len(waits), rel=0.2)
    assert expected.ttft == pytest.approx(percentiles(waits).p50, rel=0.2)


@pytest.mark.parametrize(("share", "within"), sampled([(0.6, 0.05), (0.3, 0.05), (0.85, 0.25)], 4))
def test_prompts_fetched_together_wait_for_a_step_with_the_places_of_all_replicas(share: float, within: float) -> None:
    """At 60 % of the highest rate some twenty prompts come during a step, which 32 replicas take at once."""
    more, changes = ENGINES["wide, apart"]
    changes = changes | {"framework": "trt-llm"}
    idle, _ = parts(plan(f"request_rate: 1{more}", **changes))
    rate = share * state_without_wait(idle, idle.limit).rate
    study = plan(f"request_rate: {rate:.3f}{more}", **changes)
    pools, expected = parts(study)
    arrivals = plan_traffic(pools.load, 1, 3000, None, expected.offered).arrivals
    waits = [each.first - each.arrival for each in simulated(study, arrivals).requests[1000:-600]]
    assert expected.ttft_mean == pytest.approx(sum(waits) / len(waits), rel=within)


def test_only_prompts_of_separate_replicas_are_fetched_together() -> None:
    apart, changes = ENGINES["wide, apart"]
    beside, near = ENGINES["wide"]
    assert parts(plan(f"request_rate: 1{apart}", **changes | {"framework": "trt-llm"}))[0].shares_prompts_by_step
    assert not parts(plan(f"request_rate: 1{apart}", **changes))[0].shares_prompts_by_step
    single = near | {"framework": "trt-llm, attention_dp: 32, ep: 32"}
    assert not parts(plan(f"request_rate: 1{beside}", **single))[0].shares_prompts_by_step


def test_fetched_prompts_go_to_the_ranks_that_have_the_fewest_then() -> None:
    """Two ranks ended their prompts, the third has one left: four fetched ones make it two, two and one."""
    ranks = [AttentionRank() for _ in range(3)]
    ranks[2].requests = 1
    fetched = [Request(index, 0.0, 1000, 2) for index in range(4)]
    put_in_shortest_queues(fetched, ranks)
    assert [len(rank.waiting) for rank in ranks] == [2, 2, 0] and not fetched
    assert [rank.requests for rank in ranks] == [2, 2, 1]


@thorough
def test_equal_requests_of_a_closed_loop_do_not_stay_in_step() -> None:
    # 16 attention replicas wait for every prompt of each other: a third of the time where the prompts come in waves
    study = plan(
        "concurrency: 480, chunk_tokens: 8192", **WIDE | {"nodes": 2, "framework": "sglang, attention_dp: 16, ep: 16"}
    )
    pools, expected = parts(study)
    traffic = plan_traffic(pools.load, 0, 1440, None)
    assert traffic.warm_up == traffic.in_flight == 480
    for arrivals, agrees in ((traffic.arrivals, True), ([Arrival(0.0, 2000, 400)] * 1440, False)):
        counted = simulated(study, arrivals, 480).requests[480:960]
        found = percentiles([(each.ended - each.first) / (each.output - 1) for each in counted]).p50
        assert (found == pytest.approx(expected.tpot, rel=0.2)) == agrees


@thorough
def test_caches_queue_on_the_link_of_the_engine_that_receives_them() -> None:
    # four engines send to one: 1,000 tokens of 131,072 bytes at 0.8 × 1 GB/s are 0.164 s a prompt, 6.1 a second
    apart = "disaggregated: {{prefill: {{replicas: 4}}, decode: {{replicas: 1}}, transfer: {{bandwidth: {} GB/s}}}}"
    found = {}
    for speed in (1, 2, 50):
        study = plan(f"load: open, request_rate: 10, {apart.format(speed)}", per=5, output=20)
        run = simulated(study, drawn_arrivals(3, 400, 10.0, 1.0, (1000, 20)))
        firsts = sorted(each.first for each in run.requests)
        found[speed] = (len(firsts) - 1) / (firsts[-1] - firsts[0]), mean_wait(run)
    assert found[1][0] == pytest.approx(0.8e9 / 131_072_000, rel=0.02)
    assert found[1][1] > 5 > found[2][1] > found[50][1]
    # 82 ms each at 2 GB/s, 82 % of the link: M/D/1 waits 0.82 / (2 × 0.18) × 82 ms, and the transfer is 79 ms longer
    assert found[2][1] - found[50][1] == pytest.approx(0.82 / 0.36 * 0.082 + 0.079, rel=0.15)


@pytest.mark.parametrize(
    ("software", "prompt", "output", "count"), [("vllm", 128, 4, 1000), ("sglang", 4000, 200, 600)]
)
def test_runs_that_start_at_once_agree_with_their_simulation(
    software: str, prompt: int, output: int, count: int
) -> None:
    # steps full of short prompts, and waves of prompts in steps of their own, each of which fills the cache
    load = f"concurrency: {count}, requests: {count}"
    study = plan(load, input=prompt, output=output, framework=software, machine="h100-sxm-80gb")
    _, expected = parts(study)
    run = simulated(study, [Arrival(0.0, prompt, output)] * count, count)
    first = percentiles([each.first - each.arrival for each in run.requests]).p50
    token = percentiles([(each.ended - each.first) / (output - 1) for each in run.requests]).p50
    assert expected.ttft == pytest.approx(first, rel=0.15)
    assert expected.tpot == pytest.approx(token, rel=0.15)
    assert expected.output_tokens_per_second == pytest.approx(count * output / run.ended, rel=0.2)


AT_ONCE: list[dict[str, object]] = [
    {},
    {"framework": "sglang"},
    {"framework": "trt-llm", "output": 8},  # most requests end before the last prompts begin
    {"layout": "pp: 2"},
    {"model": "qwen3-30b-a3b", "layout": "attention_dp: 4, ep: 4"},
    {"count": 40},
    {"framework": "trt-llm", "count": 300, "places": 100},  # the median request is in the second of three sets
    {"framework": "trt-llm", "count": 190, "places": 100},  # and here at the end of the first
]


@telling(2)
@pytest.mark.parametrize("load", ["load: offline", "concurrency: 9999"])
@pytest.mark.parametrize("changes", AT_ONCE)
def test_prompts_of_requests_that_are_sent_at_once_count_once(load: str, changes: dict[str, object]) -> None:
    """None replaces a finished request: each prompt delays only the requests before it, which decode already. Each
    request waits from the start of the run.
    """
    given = {"count": 200, "places": 8192, "output": 200, "framework": "vllm", "model": "llama-3.1-8b"}
    given = {**given, "layout": "ep: 1", **changes}
    count, places, output = (int(str(given[name])) for name in ("count", "places", "output"))
    if count > places and load != "load: offline":
        return  # requests of a loop are unlike, and do not wait in sets
    text = f"""
cluster: {{accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 1}}
workload:
  kind: serve
  model: {given["model"]}
  precision: fp8
  serving: {{input_tokens: 600, output_tokens: {output}, {load}, requests: {count}, max_sequences: {places}}}
layout: {{framework: {given["framework"]}, tp: 1, {given["layout"]}, dp: 1}}
"""
    study = study_of(text)
    pools, expected = parts(study)
    run = simulated(study, [Arrival(0.0, 600, output)] * count, count)
    first = percentiles([each.first - each.arrival for each in run.requests])
    token = percentiles([(each.ended - each.first) / (output - 1) for each in run.requests])
    assert pools.sent_at_once and pools.in_one_wave == (count <= places)
    assert expected.ttft == pytest.approx(first.p50, rel=0.16)  # few steps of prompts on each rank
    assert expected.tpot == pytest.approx(token.p50, rel=0.08)
    if pools.in_one_wave:
        assert latency_at(expected, pools.load, "tpot", 99) == pytest.approx(token.p99, rel=0.15)
        assert expected.prefill_share <= 1
    rate = pytest.approx(count * output / run.ended, rel=0.06 if pools.in_one_wave else 0.12)
    assert expected.output_tokens_per_second == rate


@telling(1)
@pytest.mark.parametrize("software", ["vllm", "sglang"])
@pytest.mark.parametrize(("prompt", "count"), [(22, 4), (22, 64), (200, 4)])
def test_equal_requests_of_a_run_stay_in_the_steps_in_which_they_came(software: str, prompt: int, count: int) -> None:
    """The first finds the engine idle and has a step of its own; SGLang compiles kernels before the first prompts of
    the run alone, a sixth of all."""
    load, output = f"concurrency: {count}, requests: {6 * count}", 100
    study = plan(load, input=prompt, output=f"{{mean: {output}, p99: {output}}}", framework=software)
    pools, expected = parts(study)
    assert pools.in_groups if software == "vllm" else pools.in_waves
    run = simulated(study, [Arrival(0.0, prompt, output)] * (6 * count), count)
    waits = [each.first - each.arrival for each in run.requests]
    assert expected.ttft == pytest.approx(percentiles(waits).p50, rel=0.18)
    assert expected.ttft_mean == pytest.approx(sum(waits) / len(waits), rel=0.1)


FIRST = (
    ("vllm", 1000, 8),
    ("vllm", 8000, 8),
    ("vllm", 1000, 32),
    ("vllm", 1000, 128),
    ("trt-llm", 1000, 32),
    ("sglang", 1000, 64),
    ("sglang", 4000, 64),
)


@telling(2)
@pytest.mark.parametrize(("software", "prompt", "count"), FIRST)
def test_the_requests_that_start_a_run_wait_for_all_prompts_of_their_step(
    software: str, prompt: int, count: int
) -> None:
    # eight prompts of 1,000 tokens or two of 4,000 share a step, and SGLang compiles kernels first
    study = plan(f"concurrency: {count}, requests: {10 * count}", input=prompt, framework=software)
    arrivals = [each._replace(prompt=prompt) for each in varied(10 * count, prompt, 200)]
    first = simulated(study, arrivals, count).requests[:count]
    found = sum(each.first - each.arrival for each in first) / count
    pools, expected = parts(study)
    run = expected.run
    assert isinstance(run, FiniteRun) and run.together == 8000 // prompt
    shares = sum(share for share, _, _ in run.starting)
    wait = sum(share * (low + high) / 2 for share, low, high in run.starting) / shares
    assert wait + expected.prompt_time + pools.outside == pytest.approx(found, rel=0.06)
    assert (run.cold == 0.8) == (software == "sglang")


def test_kernels_compile_before_the_first_prompts_of_a_run_alone() -> None:
    """With the software and the accelerator for which the catalog states it, and no more with every request."""
    loads = {"run": "concurrency: 8, requests: 80", "loop": "concurrency: 8", "open": "load: open, request_rate: 2"}
    found = {name: parts(plan(load, framework="sglang"))[1] for name, load in loads.items()}
    assert [name for name, times in found.items() if times.compiled_first] == ["run"]
    assert parts(plan(loads["run"], framework="sglang", machine="b200-sxm-180gb"))[1].compiled_first is None
    study, late = plan(loads["run"], framework="sglang"), parts(plan(loads["run"]))[1]
    assert late.compiled_first is None
    key = "stack/sglang-2026 serving.cold.sm_90"
    assert [name for name, *_ in study.plan.assumptions if "cold" in name] == [key]
    assert not [name for name, *_ in plan(loads["run"]).plan.assumptions if "cold" in name]


@thorough
def test_prompts_wait_where_decoding_takes_most_of_each_chunk() -> None:
    # 256 tokens a step: s sequences leave 256 - s, and s / 199 prompts of 1,000 tokens begin
    study = plan("concurrency: 128, chunk_tokens: 256")
    pools, expected = parts(study)
    assert pools.limit == pytest.approx(256 / (1 + 1000 / 199))
    run = simulated(study, varied(1000, 1000, 200), 128)
    counted = run.requests[250:]
    first = percentiles([each.first - each.arrival for each in counted]).p50
    assert first == pytest.approx(expected.ttft, rel=0.1) and expected.ttft > 10 * expected.prompt_time


@thorough
@pytest.mark.parametrize("load", sampled([0.85, 0.3, 0.6], 1))
def test_prompts_alone_wait_as_in_a_queue_with_one_server(load: float) -> None:
    # M/G/1: two lengths of whole chunks, so that no two prompts share a step; Pollaczek-Khinchine
    study = plan("load: open, request_rate: 1, chunk_tokens: 2048", output=1)
    run = simulated(study, [Arrival(1e6 * place, length, 1) for place, length in enumerate((2048, 8192))])
    short, long = (each.first - each.arrival - run.timing.request for each in run.requests)
    mean, square = (short + long) / 2, (short**2 + long**2) / 2
    random = Random(3)
    times = drawn_arrivals(5, 15_000 if ALL_CASES else 8_000, load / mean, 1.0, (1, 1))
    run = simulated(study, [Arrival(each.time, random.choice((2048, 8192)), 1) for each in times])
    served = {2048: short + run.timing.request, 8192: long + run.timing.request}
    waits = [each.first - each.arrival - served[each.prompt] for each in run.requests]
    expected = load / mean * square / (2 * (1 - load))
    assert sum(waits) / len(waits) == pytest.approx(expected, rel=0.1)


@thorough
@pytest.mark.parametrize("name", sampled(["one", "chunks", "attention replicas", "drafts", "apart"], 6))
def test_more_load_never_shortens_a_wait(name: str) -> None:
    more, changes = PLANS[name]
    study = plan(f"load: open, request_rate: 1{more}", **changes)
    highest = 1.2 * parts(study)[1].output_tokens_per_second / 200
    length = parts(study)[0].load.input_tokens
    waits = [
        mean_wait(simulated(study, drawn_arrivals(1, 600, highest * share, 1.0, (length, 200))))
        for share in sampled((0.2, 1.0, 3.0, 10.0, 50.0), 12)
    ]
    assert all(after >= before * 0.99 for before, after in pairwise(waits))


@thorough
def test_a_request_that_an_engine_receives_late_waits_as_the_formula_says() -> None:
    """After every 20 steps, and at once where nothing runs: in a closed loop and at a rate."""
    late = "receive_interval: 20"
    first, second = Arrival(0.0, 1000, 200), Arrival(0.05, 1000, 200)
    study = plan(f"load: open, request_rate: 1, {late}", framework="sglang")
    early, waited = simulated(study, [first, second]).requests
    step = (early.ended - early.first - (waited.first - waited.began)) / 199
    assert early.began == early.arrival + simulated(study, [first]).timing.request
    assert (waited.began - early.first) / step == pytest.approx(20.0, abs=0.5), "after the 20th step"
    for load, in_flight, times in (
        (f"load: closed, concurrency: 64, {late}", 64, [0.0] * 3_000),
        (f"load: open, request_rate: 20, {late}", None, drawn_times(3, 6_000, 20.0, 1.0)),
    ):
        study = plan(load, framework="sglang")
        random = Random(4)
        arrivals = [Arrival(time, 1000, random.randrange(100, 301)) for time in times]
        ran = simulated(study, arrivals, in_flight).requests[500:]
        mean = sum(each.first - each.arrival for each in ran) / len(ran)
        assert mean == pytest.approx(parts(study)[1].ttft_mean, rel=0.13)


def test_held_prompts_start_with_those_of_all_replicas_or_after_the_limit() -> None:
    """At once where a replica decodes nothing; with eight that decode, the eighth of further prompts releases all.

    Times are those of the formula.
    """
    machine = EXPERTS | {"tp": 1, "framework": "trt-llm, attention_dp: 8, ep: 8"}
    study = plan("load: open, request_rate: 4, hold_steps: 50, chunk_tokens: 8192", **machine)
    first = [Arrival(0.0, 1000, 400) for _ in range(8)]
    later = [Arrival(2.0 + 0.01 * place, 1000, 400) for place in range(8)]
    released = simulated(study, first + later).requests[8:]
    assert max(each.began for each in released) == min(each.began for each in released)
    assert released[-1].began - released[-1].arrival < 0.15
    waited = simulated(study, first + later[:7]).requests[8:]
    step = (waited[0].began - waited[0].arrival) / 50
    assert 0.004 < step < 0.02, "seven of eight wait until the limit"
    assert simulated(study, first[:7] + later[:1]).requests[-1].began - 2.0 < 0.15
    loads = (
        ("load: open, request_rate: 8", None, drawn_times(3, 3_000, 8.0, 1.0)),
        ("load: closed, concurrency: 128", 128, [0.0] * 3_000),
    )
    for load, in_flight, times in sampled(loads, 4):
        study = plan(f"{load}, hold_steps: 9, chunk_tokens: 8192", **machine)
        random = Random(4)
        arrivals = [Arrival(time, 1000, random.randrange(100, 301)) for time in times]
        ran = simulated(study, arrivals, in_flight).requests[500:]
        found = parts(study)[1]
        assert sum(each.first - each.arrival for each in ran) / len(ran) == pytest.approx(found.ttft_mean, rel=0.15)
        each = sum((each.ended - each.first) / (each.output - 1) for each in ran) / len(ran)
        assert each == pytest.approx(found.tpot_mean, rel=0.1)


def test_a_prompt_of_separate_engines_starts_once_the_decode_engine_has_received_it() -> None:
    """With one that decodes, after the 20th step; a cache joins after any. Both loads as the formula says."""
    split = "receive_interval: {}, disaggregated: {{prefill: {{tp: 1}}, decode: {{tp: 1}}}}"
    machine = {"framework": "sglang", "per": 2}
    study = plan(f"load: open, request_rate: 1, {split.format(20)}", **machine)
    first, second = Arrival(0.0, 1000, 200), Arrival(0.2, 1000, 200)
    early, waited = simulated(study, [first, second]).requests
    alone = simulated(study, [first]).requests[0]
    assert (early.began, early.first) == (alone.began, alone.first), "an idle engine receives it at once"
    step = (alone.ended - alone.first) / 199
    steps = (waited.began - early.first) / step
    assert steps == pytest.approx(20 * round(steps / 20), abs=0.3)
    assert waited.first - waited.began - (alone.first - alone.began) < 1.1 * step
    loads = (
        ("load: closed, concurrency: 32", 32),
        ("load: closed, concurrency: 64", 64),
        ("load: open, request_rate: 8", None),
    )
    for load, in_flight in sampled(loads, 4):
        means = []
        for every in (1, 40):
            study = plan(f"{load}, {split.format(every)}", **machine)
            times = [0.0] * 2_000 if in_flight else drawn_times(3, 2_000, 8.0, 1.0)
            random = Random(4)
            arrivals = [Arrival(time, 1000, random.randrange(100, 301)) for time in times]
            ran = simulated(study, arrivals, in_flight).requests[300:]
            means.append((sum(each.first - each.arrival for each in ran) / len(ran), parts(study)[1].ttft_mean))
        (plain, plain_formula), (late, late_formula) = means
        assert late - plain == pytest.approx(late_formula - plain_formula, rel=0.2)


@thorough
def test_bursts_wait_longer_than_a_poisson_process_of_the_same_rate() -> None:
    study = plan("load: open, request_rate: 20")
    calm, bursts = (mean_wait(simulated(study, drawn_arrivals(2, 3000, 20.0, cv, (1000, 200)))) for cv in (1.0, 4.0))
    assert bursts > 1.2 * calm


def test_all_requests_that_an_open_load_keeps_in_flight_come_before_the_first_that_counts() -> None:
    load = parts(plan("load: open, request_rate: 50"))[0].load
    for flight, warm_up, last, count in ((0.0, 500, 0, 5_000), (2_000.0, 4_000, 2_000, 10_000), (40.5, 500, 41, 5_000)):
        found = plan_traffic(load, 0, None, None, flight)
        assert (found.warm_up, found.cool_down, len(found.arrivals)) == (warm_up, last, count)
    few = plan_traffic(load, 0, 600, None, 2_000.0)
    assert (few.warm_up, few.cool_down) == (300, 150)


def test_requests_that_count_end_while_others_still_come() -> None:
    """Steps without prompts, after the last arrival, are shorter: a request that runs in them is no steady state."""
    study = plan("load: open, request_rate: 1.9", machine="b200-sxm-180gb", input=8000, output=2000)
    pools, found = parts(study)
    traffic = plan_traffic(pools.load, 0, 400, None, found.offered)
    run = simulated(study, traffic.arrivals)
    last = traffic.arrivals[-1].time
    assert sum(each.ended > last for each in run.requests[traffic.warm_up :]) > 40
    assert not any(each.ended > last for each in traffic.counted_requests(run.requests)[:-10])


@telling(1)
@pytest.mark.parametrize("cv", [0.5, 1.0, 3.0])
def test_drawn_times_have_their_rate_and_their_variation(cv: float) -> None:
    times = drawn_times(7, 40_000, 5.0, cv)
    gaps = [after - before for before, after in pairwise(times)]
    mean = sum(gaps) / len(gaps)
    assert mean == pytest.approx(0.2, rel=0.05)
    assert sum((gap - mean) ** 2 for gap in gaps) / len(gaps) == pytest.approx((cv * mean) ** 2, rel=0.1)


@telling(1)
@pytest.mark.parametrize(("mean", "p99"), [(2000, 2000), (2000, 3000), (500, 4000), (100, 1400)])
def test_drawn_lengths_have_their_mean_their_percentile_and_their_maximum(mean: int, p99: int) -> None:
    found = sorted(drawn_lengths("a", 60_000, mean, Lengths(mean, p99, None)))
    assert sum(found) / len(found) == pytest.approx(mean, rel=0.08)
    assert found[int(0.99 * len(found))] == pytest.approx(p99, rel=0.08)
    assert max(drawn_lengths("a", 10_000, mean, Lengths(mean, p99, p99))) <= p99
    assert drawn_lengths("a", 3, mean, None) == [mean] * 3


@thorough
def test_prompts_that_come_in_bursts_and_differ_wait_as_the_formula_says() -> None:
    # with a variation of 2 three more arrive with each on average, before or after it, and all wait 1 / (1 - 0.6)
    text = "load: open, request_rate: {rate}, chunk_tokens: 2048"
    service = parts(plan(text.format(rate=1), input=2048, output=1))[1].prompt_time
    calm, *bursts, rough = (
        plan(text.format(rate=0.6 / service) + more, input=lengths, output=1)
        for lengths, more in (
            (2048, ""),
            (2048, ", arrivals: {process: gamma, cv: 2}"),
            (2048, ", arrivals: {process: gamma, cv: 4}"),
            ("{mean: 2048, p99: 8192}", ", arrivals: {process: gamma, cv: 2}"),
        )
    )
    for each in bursts:
        found, load = simulated_load(each, requests=8_000).latencies["ttft"], parts(each)[0].load
        for share, said in ((90, found.p90), (99, found.p99)):
            assert 0.7 * said < latency_at(parts(each)[1], load, "ttft", share) < 1.7 * said, share
    assert parts(calm)[1].wait < 0.25 * parts(bursts[0])[1].wait < 0.25 * parts(rough)[1].wait
    assert simulated_load(rough, requests=8_000).latencies["ttft"].p90 > found.p50


def test_a_trace_of_a_spec_lies_in_its_folder(tmp_path: Path) -> None:
    study = plan("load: open, request_rate: 1, arrivals: {trace: trace.csv}")
    (tmp_path / "trace.csv").write_text("time,input_tokens,output_tokens\n0,5,6\n1,7,8\n")
    here = replace(study, folder=tmp_path)
    assert analysis.simulate(here).requests == 2
    (tmp_path / "inside").mkdir()
    with pytest.raises(TraceFault, match="no such file"):
        analysis.simulate(replace(study, folder=tmp_path / "inside"))
    for name in ("../trace.csv", str(tmp_path / "trace.csv")):
        outside = plan(f"load: open, request_rate: 1, arrivals: {{trace: {name}}}")
        with pytest.raises(TraceFault, match="outside the folder"):
            analysis.simulate(replace(outside, folder=tmp_path / "inside"))


@pytest.mark.parametrize(
    "load",
    [
        "concurrency: 8, arrivals: {process: gamma, cv: 2}",
        "request_rate: 1, arrivals: {process: poisson, cv: 2}",
        "request_rate: 1, chunk_tokens: 10, input_tokens: {mean: 100, p99: 50}",
        "request_rate: 1, input_tokens: {mean: 100, p99: 1500}",
        "request_rate: 1, input_tokens: {mean: 100, p99: 500, max: 400}",
    ],
)
def test_keys_of_the_load_that_disagree_are_errors(load: str) -> None:
    own = "input_tokens: " in load
    text = PLAN.replace("input_tokens: {input}, ", "") if own else PLAN
    base = {"machine": "h100-sxm-80gb", "per": 1, "nodes": 1, "model": "llama-3.1-8b", "tp": 1}
    study = study_of(text.format(**base, input=1000, output=200, framework="vllm", load=load))
    assert [finding.rule for finding in study.findings if finding.rule == "keys-disagree"] == ["keys-disagree"]
    assert study.plan.serving is not None


@thorough
def test_more_engines_never_wait_longer() -> None:
    arrivals = drawn_arrivals(4, 1500, 40.0, 1.0, (1000, 200))
    waits = [mean_wait(simulated(plan("load: open, request_rate: 40", per=per), arrivals)) for per in (1, 2, 4)]
    assert waits == sorted(waits, reverse=True)


@pytest.mark.parametrize("framework", ["vllm", "trt-llm"])
def test_a_cache_that_overflows_loses_no_request_and_no_token(framework: str) -> None:
    # eight requests fit: with their output, or until they grow
    study = plan("load: offline, memory_fraction: 0.2", framework=framework, output=4000)
    pools, _ = parts(study)
    timing = plan_timing(pools, 9000.0, None)
    run = Simulation(timing, [Arrival(0.0, 1000, 4000)] * 60)
    run.run()
    assert (run.preemption_count > 0) == (framework == "vllm")
    assert all(each.ended > each.first >= each.admitted >= 0 for each in run.requests)
    for engine in run.decode:
        assert engine.requests == 0
        for rank in engine.ranks:
            assert not rank.waiting and not rank.prompts and not rank.decoding and not rank.order
            assert isclose(rank.used, 0, abs_tol=1e-3) and isclose(rank.context, 0, abs_tol=1e-3)


def test_an_engine_that_reserves_its_own_output_starts_a_request_once_that_fits() -> None:
    """3,200 tokens hold three prompts of 1,000, but no output of 500 in addition to the third; two end with 3,000."""
    admitted = {}
    for framework in ("vllm", "sglang"):
        pools, _ = parts(plan("load: offline", framework=framework, output=500))
        run = Simulation(plan_timing(pools, 3200.0, None), [Arrival(0.0, 1000, 500)] * 3)
        run.run()
        admitted[framework] = [each.admitted for each in run.requests]
        ended = min(each.ended for each in run.requests)
        assert (admitted[framework][2] < ended) == (framework == "vllm")
    assert admitted["sglang"][1] < admitted["sglang"][2]


@thorough
@pytest.mark.parametrize(("prompt", "output"), sampled([(1000, 1000), (300, 1500), (200, 600)], 4))
def test_a_full_cache_computes_again_what_the_formulas_say(prompt: int, output: int) -> None:
    """Three times as many requests as fit: without the tokens that are computed again they would end 7 to 14 % faster
    than simulated."""
    keys: dict[str, object] = {"input": prompt, "output": output}
    flight = 3 * int(parts(plan("concurrency: 400, memory_fraction: 0.25", **keys))[0].limit)
    study = plan(f"concurrency: {flight}, memory_fraction: 0.25", **keys)
    _, expected = parts(study)
    run = simulated(study, varied(6 * flight, prompt, output), flight)
    ended = sorted(each.ended for each in run.requests)
    rate = 3 * flight / (ended[4 * flight] - ended[flight])
    assert run.preemption_count > 0.5 * len(run.requests)
    assert flight / expected.request_latency == pytest.approx(rate, rel=0.05)
    assert expected.state.rate > 1.07 * rate


def test_a_cache_holds_all_tokens_of_its_requests_in_steps_with_and_without_prompts() -> None:
    """A request that gains a token where no space is left preempts the youngest one first."""
    keys: dict[str, object] = {"input": 1000, "output": 500}
    pools, _ = parts(plan("concurrency: 400, memory_fraction: 0.25", **keys))
    run = Simulation(plan_timing(pools, pools.tokens, None), varied(600, 1000, 500), 3 * int(pools.limit))
    (engine,) = run.decode
    ends, mixed = engine.end, []

    def checked_end(now: float) -> list[Request]:
        ended = ends(now)
        mixed.append(engine.mixed)
        assert all(rank.used <= engine.limits.tokens for rank in engine.ranks)
        return ended

    engine.end = checked_end  # type: ignore[method-assign]
    run.run()
    assert run.preemption_count > 50 and {*mixed} == {True, False}


@thorough
def test_a_loop_and_a_rate_that_fill_the_cache_have_one_throughput() -> None:
    """Simulated and by formula: both run the same requests, and the rest wait."""
    keys: dict[str, object] = {"input": 1000, "output": 500}
    flight = 3 * int(parts(plan("concurrency: 400, memory_fraction: 0.25", **keys))[0].limit)
    rates, tokens = [], []
    for load, count in ((f"concurrency: {flight}", flight), ("load: open, request_rate: 100", None)):
        study = plan(f"{load}, memory_fraction: 0.25", **keys)
        run = simulated(study, drawn_arrivals(1, 12 * flight, 100.0, 1.0, (1000, 500)), count)
        ended = sorted(each.ended for each in run.requests)
        rates.append(6 * flight / (ended[9 * flight] - ended[3 * flight]))
        tokens.append(parts(study)[1].output_tokens_per_second)
    assert rates[0] == pytest.approx(rates[1], rel=0.02)
    assert tokens[0] == pytest.approx(tokens[1], rel=0.01)
    assert tokens == pytest.approx([500 * rate for rate in rates], rel=0.05)


def test_a_larger_cache_is_never_slower() -> None:
    pools, _ = parts(plan("load: offline", output=2000))
    ends = []
    for tokens in (10_000.0, 40_000.0, 400_000.0):
        run = Simulation(plan_timing(pools, tokens, None), varied(120, 1000, 2000))
        run.run()
        ends.append(run.ended)
    assert ends == sorted(ends, reverse=True)


@thorough
@pytest.mark.parametrize("sequences", sampled([1, 3, 40, 700], 8))
@pytest.mark.parametrize("name", PLANS)
def test_tabulated_steps_are_those_of_the_engine(name: str, sequences: int) -> None:
    more, changes = PLANS[name]
    engine = parts(plan(f"concurrency: 32, load: static{more}", **changes))[0].decode
    tables = StepTables.of(engine)
    for context in (150.0, 5000.0):
        exact = decode_step(engine, max(1.0, sequences / tables.stages), context, tables.drafted).total
        assert tables.decode_seconds(sequences, context, sequences) == pytest.approx(exact, rel=0.02)
        chunk = 900.0
        beside = Decoding(max(1.0, sequences / tables.stages), context, tables.drafted)
        mixed = prompt_step(engine, chunk, chunk, float(tables.ranks), beside)
        attending = tables.attention_seconds(0.0, chunk) / mixed.steps
        found = tables.mixed_seconds((sequences, context), (chunk / mixed.steps, attending, 1), float(tables.ranks))
        assert found == pytest.approx(mixed.total / mixed.steps, rel=0.08)


def test_a_curve_is_exact_at_its_points_and_linear_beyond_them() -> None:
    curve = Curve.of(lambda size: 3 * size + 1, 1.0, 100.0)
    assert [curve(size) for size in (1.0, 7.5, 100.0, 1e6)] == pytest.approx([4, 23.5, 301, 3e6 + 1])


def test_the_same_seed_gives_the_same_bytes_and_another_does_not() -> None:
    study = plan("load: open, request_rate: 20, targets: {ttft: 100 ms, tpot: 20 ms}")
    texts = [json.dumps(analysis.simulate(study, seed=seed, requests=400).to_json()) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


@thorough
def test_the_report_has_the_fields_of_its_interface() -> None:
    report = analysis.simulate(
        plan("load: open, request_rate: 20, prefix_hit: 0.3, targets: {tpot: 9 ms}"), requests=500
    )
    found = report.to_json()
    for name in ("ttft", "tpot", "itl", "end_to_end"):
        assert 0 < found[name]["p50"] <= found[name]["p90"] <= found[name]["p99"]
    assert 0 < found["goodput"] < 1 and found["hit_rate"] == {"accelerator": 0.3}
    assert found["requests"] == 500 and found["seed"] == 0
    assert found["queue"][0]["time"] == 0 and found["queue"][-1] == {
        "time": found["queue"][-1]["time"],
        "waiting": 0,
        "running": 0,
    }
    assert report.saturation is not None and report.saturation > 20


@thorough
def test_a_plan_sustains_what_its_closed_loop_completes() -> None:
    text = """cluster: {platform: dgx-b200, nodes: 1}
workload:
  kind: serve
  model: deepseek-r1
  parameter_precision: nvfp4
  precision: fp4
  serving: {input_tokens: 1024, output_tokens: 2048, concurrency: 1024, max_sequences: 128}
layout: {framework: trt-llm, attention_dp: 8, ep: 8}
"""
    report = analysis.simulate(study_of(text), requests=6000 if ALL_CASES else 3000)
    assert report.saturation is not None and report.saturation >= report.request_rate


def test_no_load_beyond_the_saturation_is_served_faster() -> None:
    report = analysis.simulate(plan("load: open, request_rate: 500", output=50), requests=4000)
    assert report.saturation is not None and report.request_rate <= report.saturation * 1.05
    assert any("exceeds" in note for note in report.notes)


@thorough
def test_a_load_above_the_capacity_is_simulated_on_the_full_plan() -> None:
    """More requests a second decode no faster, and leave the plan no sooner, than those that fill it."""
    text = "load: open, max_sequences: 64, targets: {ttft: {p50: 3 s}, tpot: {p50: 1 s}}, request_rate: "
    times = parts(plan(f"{text}1000", output=50))[1]
    capacity = times.state.rate
    runs = {part: analysis.simulate(plan(f"{text}{part * capacity:.4g}", output=50)) for part in (0.9, 1.1, 1.3, 4.0)}
    below = runs.pop(0.9)
    assert below.tpot is not None and not below.queue_grows and all(each.is_met for each in below.targets)
    for part, found in runs.items():
        assert found.queue_grows and found.saturation is not None and found.tpot is not None, part
        assert (found.requests, found.warm_up, found.cool_down) == (below.requests, below.warm_up, found.cool_down)
        assert found.tpot.p50 >= 0.99 * below.tpot.p50 and found.ttft.p50 > below.ttft.p50, part
        assert found.request_rate == pytest.approx(found.saturation, rel=0.03), part
        assert found.output_tokens_per_second == pytest.approx(50 * found.saturation, rel=0.03), part
        met = {each.quantity: each.is_met for each in found.targets}
        assert met == {"ttft": False, "tpot": True}, part
    assert runs[4.0].ttft.p50 > runs[1.3].ttft.p50


def test_a_target_is_missed_in_a_queue_that_grows_however_short_the_run_is() -> None:
    kept = SimulatedTarget("ttft", 50.0, 2.0, 1.5)
    assert kept.is_met and not kept._replace(queue_grows=True).is_met
    assert not kept._replace(value=2.1).is_met and kept._replace(value=None, queue_grows=True).is_met


def test_what_cannot_be_simulated_is_refused_with_the_reason() -> None:
    with pytest.raises(SimulationFault, match="no serving plan"):
        analysis.simulate(study_of("cluster: {platform: dgx-h100, nodes: 1}"))
    with pytest.raises(SimulationFault, match="static batch"):
        analysis.simulate(plan("concurrency: 8, load: static"))
    with pytest.raises(SimulationFault, match="chunks of prompts"):
        analysis.simulate(plan("concurrency: 8, chunk_tokens: 1", input=20_000))
    with pytest.raises(SimulationFault, match="does not fit in the cache"):
        analysis.simulate(plan("concurrency: 8", output=1_000_000_000))
    with pytest.raises(SimulationFault, match="`request_rate` is missing"):
        analysis.simulate(plan("load: open"))
    with pytest.raises(SimulationFault, match="more than the 1,000,000"):
        analysis.simulate(plan("concurrency: 8"), requests=1_000_001)


HEAD = "time,input_tokens,output_tokens,session\n"


def test_a_trace_is_read_by_the_names_of_its_columns(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text("session,output_tokens,time,input_tokens\na,20,7.5,100\n\nb,10,5,300\n")
    assert trace_arrivals(file) == [Arrival(0.0, 300, 10, session="b"), Arrival(2.5, 100, 20, session="a")]
    report = analysis.simulate(plan("load: open, request_rate: 1"), trace=file)
    assert report.requests == 2 and report.load == "trace trace.csv"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column time"),
        ("time,input_tokens\n1,2\n", "no column output_tokens"),
        (HEAD, "no requests"),
        (HEAD + "1,2,3,a\n1,x,3,a\n", "line 3"),
        (HEAD + "1,2\n", "line 2"),
        (HEAD + "nan,2,3,a\n", "line 2"),
        (HEAD + "1,0,3,a\n", "at least one token"),
        (HEAD + "1,2.5,3,a\n", "whole numbers"),
        (HEAD + "1,1e99,3,a\n", "line 2"),
        (b"\xff\xfe\x00", "UTF-8"),
    ],
)
def test_a_bad_trace_is_refused_with_its_line(tmp_path: Path, text: str | bytes, said: str) -> None:
    file = tmp_path / "trace.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TraceFault, match=said):
        trace_arrivals(file)
    with pytest.raises(TraceFault, match="no such file"):
        trace_arrivals(tmp_path / "absent.csv")
    with pytest.raises(TraceFault, match="ordinary"):
        trace_arrivals(tmp_path)


ALIKE, APART_BY_ONE = [Arrival(0.0, 10, 4)] * 4, [Arrival(0.0, 10 + number, 4) for number in range(4)]
RATE_OF_TWO = "request_rate: 2"
NOTES: list[tuple[str, list[Arrival], int | None, int, float | None, int, str]] = [
    # load, requests, in flight, those that do not count, what the plan sustains, lost caches, and the note
    ("concurrency: 2", ALIKE, 2, 0, None, 0, "equally long"),
    ("concurrency: 2", APART_BY_ONE, 2, 0, None, 0, ""),
    (RATE_OF_TWO, ALIKE, None, 1, None, 0, ""),
    ("concurrency: 5", APART_BY_ONE, 5, 0, None, 0, "fewer requests"),
    ("concurrency: 4", APART_BY_ONE, 4, 0, None, 0, ""),
    ("concurrency: 4", APART_BY_ONE, 4, 0, 1.0, 3, "3 times"),
    (RATE_OF_TWO, APART_BY_ONE, None, 1, 1.9, 0, "queue grows"),
    (RATE_OF_TWO, APART_BY_ONE, None, 1, 2.0, 0, ""),
    (RATE_OF_TWO, APART_BY_ONE, None, 0, 1.9, 0, ""),
]


@pytest.mark.parametrize(("load", "requests", "flight", "warm", "sustained", "lost", "words"), NOTES)
def test_a_reader_is_told_what_distorts_the_figures(
    load: str, requests: list[Arrival], flight: int | None, warm: int, sustained: float | None, lost: int, words: str
) -> None:
    pools, _ = parts(plan(load))
    notes = list(_report_notes(pools, Traffic(requests, flight, warm, load), sustained, lost))
    assert len(notes) == bool(words) and words in " ".join(notes)


@pytest.mark.parametrize(("warm", "full", "words"), [(3, 3, ""), (3, 4, "`--requests 8` is enough"), (0, 4, "")])
def test_a_run_that_ends_while_the_plan_fills_names_the_requests_that_are_enough(
    warm: int, full: int, words: str
) -> None:
    """Two counted requests for each one after which the plan is full; a run of a stated number counts whole."""
    pools, _ = parts(plan(RATE_OF_TWO))
    [*notes] = _report_notes(pools, Traffic(APART_BY_ONE, None, warm, RATE_OF_TWO, full_after=full), None, 0)
    assert len(notes) == bool(words) and words in " ".join(notes)


PLACES = {  # load, changes, how far mean and 99th percentile of the first token may be from those of the simulation
    "no request waits": ("request_rate: 4, max_sequences: 16", {}, 0.1, 0.35),
    "a few wait": ("request_rate: 8, max_sequences: 16", {}, 0.2, 0.25),
    "half of them wait": ("request_rate: 10, max_sequences: 16", {}, 0.25, 0.3),
    "long prompts": ("request_rate: 1.5, max_sequences: 8", {"input": 8000, "output": 256}, 0.2, 0.3),
}


@thorough
@pytest.mark.parametrize("name", sampled(PLACES, 4))
def test_requests_wait_for_places_though_their_mean_number_leaves_some_free(name: str) -> None:
    """Of 16 places 13.7 are taken on average at ten requests a second: at random times all are taken."""
    load, changes, mean, tail = PLACES[name]
    study = plan(load, **changes)
    pools, expected = parts(study)
    firsts: list[float] = []
    for seed in range(2):
        traffic = plan_traffic(pools.load, seed, 5_000, None, expected.offered)
        counted = traffic.counted_requests(simulated(study, traffic.arrivals).requests)
        firsts += [one.first - one.arrival for one in counted]
    assert expected.ttft_mean == pytest.approx(sum(firsts) / len(firsts), rel=mean)
    assert latency_at(expected, pools.load, "ttft", 99) == pytest.approx(percentiles(firsts).p99, rel=tail)


@thorough
@pytest.mark.parametrize(("apart", "changes"), sampled([(f", {APART}", {"per": 2}), ("", {})], 4))
def test_a_load_above_the_capacity_has_one_throughput_and_a_queue_that_grows(
    apart: str, changes: dict[str, object]
) -> None:
    """What it completes is what the plan sustains, and all that came before and did not start waits."""
    study = plan(f"request_rate: 100{apart}", **changes)
    found = analysis.simulate(study, requests=4000)
    assert found.queue_grows and found.saturation == found.request_rate
    assert found.output_tokens_per_second == pytest.approx(200 * found.request_rate, rel=0.02)
    assert found.output_tokens_per_second == pytest.approx(parts(study)[1].output_tokens_per_second, rel=0.06)
    assert found.queue_share > 0.9
    last = found.requests / 100
    waiting = [point.waiting for point in found.queue if point.time < 0.95 * last]
    assert waiting[-1] == pytest.approx(0.95 * (found.requests - found.request_rate * last), rel=0.2)
    assert all(after > before - 30 for before, after in pairwise(waiting))


@thorough
def test_a_short_loop_of_more_requests_than_fit_has_the_rate_of_a_long_one() -> None:
    """Two rounds and ten: requests that wait at the start have whole answers, and the last ones do not count."""
    flight = 3 * int(parts(plan("concurrency: 400, memory_fraction: 0.25"))[0].limit)
    study = plan(f"concurrency: {flight}, memory_fraction: 0.25")
    few, many = (analysis.simulate(study, requests=rounds * flight) for rounds in (2, 10))
    assert any("`--requests" in note for note in few.notes) and not any("`--requests" in note for note in many.notes)
    assert few.request_rate == pytest.approx(many.request_rate, rel=0.03)
    for one in (few, many):
        assert one.saturation == pytest.approx(one.request_rate, rel=0.03)
        assert one.output_tokens_per_second == pytest.approx(200 * one.request_rate, rel=0.02)


@thorough
def test_progress_is_told_as_requests_end() -> None:
    told: list[tuple[int, int]] = []
    simulated_load(plan("request_rate: 20"), requests=1000, progress=lambda done, total: told.append((done, total)))
    assert told == [(250, 1000), (500, 1000), (750, 1000), (1000, 1000)]


@thorough
@pytest.mark.parametrize(("rate", "cv"), sampled([(20, 2), (20, 4), (5, 4)], 4))
def test_the_longest_gaps_of_bursts_are_those_of_steps_with_many_prompts(rate: int, cv: int) -> None:
    """Prompts that come together share few long steps. Taken as coming at random, the 98th percentile of the gaps had a
    prompt where simulated steps have none, or a fourth of the simulated length.
    """
    study = plan(f"request_rate: {rate}, arrivals: {{process: gamma, cv: {cv}}}")
    run = simulated_load(study, requests=6000).run
    pools, expected = parts(study)
    for percentile in (95, 98, 99):
        (simulated_gap,) = _gaps_at(run.gaps, (percentile / 100,))
        assert 0.5 < latency_at(expected, pools.load, "itl", percentile) / simulated_gap < 2.2, percentile
