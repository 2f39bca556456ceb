"""Caches of conversations: an exact replay against the formulas, laws of LRU caches, and numbers worked out by hand."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from clusterspec import analysis
from clusterspec.analysis.simulation.caches import (
    CacheReplay,
    CacheSize,
    LruCache,
    cache_sizes,
    conversation_blocks,
    session_arrivals,
    with_hits,
    with_session_blocks,
)
from clusterspec.analysis.simulation.run import simulated_load
from clusterspec.cluster.requests import Session
from clusterspec.cost.serving.caches import occupied_tokens, retained_seconds, returning_share
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.logs.traces import Arrival, TraceFault, trace_arrivals
from clusterspec.studies import Study
from tests.analysis.jobs import study_of
from tests.effort import ALL_CASES, diagonal, sampled, thorough

PLAN = """
cluster: {{accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: {nodes}, host_memory: 2 TB}}
workload:
  kind: serve
  model: llama-3.1-70b
  serving: {{input_tokens: {input}, output_tokens: 400, {load}, session: {session}, cache_tiers: [{tiers}]}}
layout: {{framework: vllm, tp: 8}}
"""
SESSION = "{turns: 8, think_time: 2 min, growth: 600, shared_prefix: 1500}"
HOST, NVME = "{medium: host, capacity: 1 TB, read: 50 GB/s}", "{medium: nvme, capacity: 15 TB, read: 12 GB/s}"


def plan(tiers: str = HOST, load: str = "request_rate: 6", **more: object) -> Study:
    return study_of(PLAN.format(**({"nodes": 1, "input": 6000, "session": SESSION} | more), load=load, tiers=tiers))


def times(study: Study) -> ServingTimes:
    assert study.plan.serving is not None
    return study.plan.serving


def test_the_tokens_of_a_conversation_are_counted_by_hand() -> None:
    # 3 turns of 1,000, 1,600 and 2,200 tokens, of which 400 are shared, with answers of 100 tokens
    session = Session(3, 10.0, 600, 400, 1000.0)
    *_, (blocks, left) = conversation_blocks(7, session, 100)
    assert [size for _, size in blocks] == [400, 600, 100, 500, 100, 500] and sum(size for _, size in left) == 100
    # kept for ever: turns 2 and 3 repeat 600 + 100 and 1,200 + 100 own tokens, and all three the 400: 3,200 of 4,800
    assert returning_share(session, 100, 1.0, 1e6) == pytest.approx(3200 / 4800)
    # 3 turns and one conversation a second: 700 and 1,300 tokens for 10 s each, and 1,900 for the whole time
    assert occupied_tokens(session, 100, 3.0, 1e3) == pytest.approx(10 * 2000 + 1000 * 1900 + 400, rel=1e-6)
    kept = retained_seconds(session, 100, 3.0, 50_000)
    assert occupied_tokens(session, 100, 3.0, kept) == pytest.approx(50_000)


@thorough
@pytest.mark.parametrize(
    ("tokens", "think"), sampled(diagonal(4, [20_000.0, 100_000.0, 600_000.0, 4_000_000.0], [5.0, 60.0]), 2)
)
def test_the_formula_agrees_with_an_exact_replay(think: float, tokens: float) -> None:
    session, rate, running = Session(6, think, 500, 1000, 2500.0), 10.0, 3.0
    arrivals = session_arrivals(1, 10_000, session, 300, rate=rate, running=running)
    replay = CacheReplay(1, [("cache", 1, tokens, 0.0)])
    with_hits(arrivals[:5000], replay)
    found = with_hits(arrivals[5000:], replay)[1]["cache"]
    kept = retained_seconds(session, 300, rate, tokens, running)
    assert returning_share(session, 300, rate, kept, running=running) == pytest.approx(found, abs=0.03)


@thorough
def test_the_hits_of_a_trace_by_the_size_of_a_cache_agree_with_an_exact_replay() -> None:
    # a, b, a: the third request reads 10 of 30 tokens after one other, while the cache holds both others' blocks
    by_hand = cache_sizes([Arrival(0.0, 10, 1, blocks=((name, 10),)) for name in "aba"])
    assert by_hand == (CacheSize(20.0, 1 / 3, 2.0),)
    assert cache_sizes([Arrival(0.0, 10, 1, blocks=((name, 10),)) for name in "abc"]) == ()
    random, trace = Random(5), []
    for number in range(500):  # conversations, most of them short, at uneven times
        now, start = random.uniform(0.0, 1000.0), (("shared", 300), ((number, 0), random.randrange(100, 3000)))
        for turn in range(1 + int(random.paretovariate(0.8)) % 12):
            blocks = (*start, *(((number, before), 400) for before in range(1, turn + 1)))
            trace.append(Arrival(now, sum(size for _, size in blocks) + 1, 9, blocks=blocks))
            now += random.lognormvariate(3.0, 1.2)
    trace.sort(key=lambda each: each.time)
    sizes = cache_sizes(trace)
    for each in sizes:
        found = with_hits(trace, CacheReplay(1, [("cache", 1, each.tokens, 0.0)]))[1]["cache"]
        assert each.hit_rate == pytest.approx(found, abs=0.03)
    assert len(sizes) > 4 and list(sizes) == sorted(sizes) and sizes[-1].hit_rate > 0.4


@pytest.mark.parametrize("seed", range(3))
def test_a_larger_cache_never_has_less(seed: int) -> None:
    random = Random(seed)
    prompts = []
    for _ in range(400):  # paths in a tree of blocks of random sizes
        path: list[tuple[int, ...]] = [(random.randrange(3),)]
        for _ in range(random.randrange(6)):
            path.append((*path[-1], random.randrange(3)))
        prompts.append([(name, 10 + hash(name) % 50) for name in path])
    rates = []
    for capacity in (0, 100, 500, 1000, 3000, 10_000, 10**6):
        replay = CacheReplay(1, [("cache", 1, capacity, 0.0)])
        hits = [sum(replay.request(blocks, sum(size for _, size in blocks) + 1)[0]) for blocks in prompts]
        rates.append(sum(hits))
    assert rates == sorted(rates) and rates[0] == 0 < rates[-1]


def test_a_cache_drops_the_end_of_the_prefix_used_least_recently() -> None:
    cache = LruCache(30)
    cache.keep([("a", 10), ("b", 10)])
    cache.keep([("a", 10), ("c", 10)])
    assert list(cache.blocks) == ["b", "c", "a"]
    cache.keep([("d", 10)])
    assert list(cache.blocks) == ["c", "a", "d"] and cache.tokens == 30


def test_a_tier_below_is_read_for_what_the_tier_above_has_dropped() -> None:
    replay = CacheReplay(1, [("accelerator", 1, 20, 0.0), ("host", 1, 100, 0.5)])
    first, second = [("a", 10), ("b", 10)], [("c", 10), ("d", 10)]
    assert replay.request(first, 21)[0] == [0, 0]
    assert replay.request(second, 21)[0] == [0, 0]
    assert replay.request(first, 21)[0] == [0, 20]
    assert replay.request(first, 20)[0] == [19, 0]  # the last token is computed
    assert [replay.read_seconds([0, 20], 0, now) for now in (0.0, 4.0, 100.0)] == [10.0, 16.0, 10.0]


def test_requests_return_to_the_engine_that_has_their_conversation() -> None:
    replay = CacheReplay(2, [("accelerator", 2, 1000, 0.0)])
    engines = [replay.request([("shared", 10), (name, 90)], 101)[1] for name in ("a", "b", "b", "a", "b")]
    assert engines == [0, 1, 1, 0, 1]


def test_new_conversations_alternate_also_where_one_engine_computes_prompts_again() -> None:
    """Each cache has space for one of two conversations. Those of the first engine return, and are computed again."""
    replay = CacheReplay(2, [("accelerator", 2, 100, 0.0)])
    engines = [replay.request([(name, 100)], 101)[1] for name in ("a", "b", "c", "d", "a", "c", "e", "f")]
    assert engines == [0, 1, 0, 1, 0, 0, 0, 1]
    assert replay.given == [303, 303]


def test_more_memory_never_hurts_and_no_tier_has_what_another_has() -> None:
    found = [times(plan(f"{{medium: host, capacity: {size} GB, read: 50 GB/s}}")) for size in (100, 400, 1600, 2000)]
    for small, large in pairwise(found):
        assert small.prefix_hit <= large.prefix_hit + 1e-3
        assert small.output_tokens_per_second <= large.output_tokens_per_second * 1.001
    both = times(plan(f"{HOST}, {NVME}"))
    assert both.prefix_hit == pytest.approx(sum(use.hit for use in both.tiers), abs=1e-3)
    assert times(plan(f"{HOST}, {NVME.replace('12 GB', '120 GB')}")).ttft < both.ttft


@thorough
def test_the_simulation_has_the_hits_and_the_median_first_token_of_the_formulas() -> None:
    small = "{medium: host, capacity: 300 GB, read: 50 GB/s}"
    session = SESSION.replace("2 min", "30 s")
    # a conversation lasts 240 s: 1,500 requests, 250 s at 6 a second, have medians of 67 to 81 ms by their seed
    loads = [
        ("request_rate: 4", 1, 0.05),
        ("request_rate: 6", 1, 0.10),
        ("request_rate: 6.5", 1, None),  # requests that wait push the conversations out of the cache
        ("concurrency: 120", 2, None),
    ]
    for load, nodes, close in sampled(loads, 2):
        study = plan(small, load, nodes=nodes, session=session)
        found = simulated_load(study, requests=4000)
        for use in times(study).tiers:
            assert found.hit_rate[use.medium] == pytest.approx(use.hit, abs=0.03)
        if close is not None:  # of a later turn, which most requests are; 8 requests a second are too many
            assert times(study).ttft == pytest.approx(found.latencies["ttft"].p50, rel=close), load


@thorough
def test_the_sustained_rate_is_that_at_which_caches_still_hold_the_conversations() -> None:
    """With the hits of 2 requests a second the engine would complete 8, at which conversations push each other out."""
    slow, fast = (analysis.simulate(plan("", f"request_rate: {rate}"), requests=1800) for rate in (2, 8))
    assert slow.saturation is not None and fast.saturation is not None
    assert slow.saturation == pytest.approx(fast.saturation, rel=0.06)
    assert not slow.notes and any("exceeds" in note for note in fast.notes)
    if not ALL_CASES:
        return  # the two loads below and above are as many seconds again
    below, above = (
        analysis.simulate(plan("", f"request_rate: {part * slow.saturation}"), requests=2500) for part in (0.9, 1.15)
    )
    assert below.ttft.p50 < 1 and below.hit_rate["accelerator"] > 0.4
    assert above.request_rate < slow.saturation and above.hit_rate["accelerator"] < 0.3
    assert any("exceeds" in note for note in above.notes)


def test_impossible_sessions_are_named() -> None:
    for written, rule in (
        ("{turns: 30, think_time: 1 s, growth: 600}", "keys-disagree"),
        ("{turns: 2, growth: 600}", "missing-key"),
    ):
        study = plan(session=written)
        assert rule in {each.rule for each in study.findings}


MOONCAKE = [
    {"timestamp": 2000, "input_length": 1300, "output_length": 5, "hash_ids": [0, 1, 2]},
    {"timestamp": 3500, "input_length": 1024, "output_length": 7, "hash_ids": [0, 3]},
]


def test_the_traces_of_mooncake_and_servegen_are_read(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in MOONCAKE))
    found = trace_arrivals(file)
    assert [(each.time, each.prompt, each.output) for each in found] == [(0.0, 1300, 5), (1.5, 1024, 7)]
    assert found[0].blocks == ((0, 512), (1, 512), (2, 276))
    file.write_text('{"request_id": 0, "type": "text", "input_length": 61, "output_length": 2370, "duration": 14000}\n')
    assert trace_arrivals(file)[0][:3] == (0.0, 61, 2370)
    burst = tmp_path / "burst.csv"
    head = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    burst.write_text(f"{head}5,ChatGPT,472,18,490,log\n7,ChatGPT,9,0,9,log\n45,GPT-4,1087,230,1317,log\n")
    assert [each[:3] for each in trace_arrivals(burst)] == [(0.0, 472, 18), (40.0, 1087, 230)]
    client = tmp_path / "chunk-0-trace.csv"
    client.write_text("0,2.0,1.0,Gamma,1.0,0.5\n600,0,0,,0,0\n1200,1.0,2.0,Weibull,0.5,0.5\n")
    lengths = {"input_tokens": "{100: 0.25, 300: 0.75}", "output_tokens": "{10: 1.0}"}
    (tmp_path / "chunk-0-dataset.json").write_text(json.dumps({"0": lengths, "1200": lengths}))
    drawn = trace_arrivals(client)
    # 2 a second for 600 s, none, then a mean of 0.5 × Γ(3) = 1 s for 600 s; 250 tokens on average
    assert len(drawn) == pytest.approx(1800, rel=0.1) and {each.output for each in drawn} == {10}
    assert sum(each.prompt for each in drawn) / len(drawn) == pytest.approx(250, rel=0.05)
    assert not [each for each in drawn if 601 < each.time < 1199] and drawn == trace_arrivals(client)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"timestamp": 1}\n', "line 1: `output_length` is missing"),
        (json.dumps(MOONCAKE[0]) + "\n[1]\n", "line 2: this is not one JSON object"),
        ('{"input_length": "x", "output_length": 1}\n', "line 1: time"),
        ('{"input_length": 1e99, "output_length": 1}\n', "line 1: the time is finite"),
        ('{"input_length": 9, "output_length": 1, "hash_ids": [[]]}\n', "line 1: `hash_ids`"),
        ("{" + "[" * 100_000 + "\n", "line 1"),
        ("0,1,1,Gamma,0,1\n", "name ends with -trace.csv"),
    ],
)
def test_a_bad_row_is_named_by_its_line(text: str, named: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    file.write_text(text)
    with pytest.raises(TraceFault, match=named):
        trace_arrivals(file)


def test_a_prompt_repeats_the_last_one_of_its_session() -> None:
    rows = [Arrival(0.0, 100, 20, session="a"), Arrival(1.0, 150, 10, session="a"), Arrival(2.0, 90, 5, session="b")]
    first, second, other = with_session_blocks(rows)
    assert [size for _, size in second.blocks] == [100, 20, 30] and second.blocks[:2] == (*first.blocks, *first.left)
    assert [size for _, size in other.blocks] == [90]
