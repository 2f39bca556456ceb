"""The tokens of conversations in a cache, and the share of their prompts that it still has, worked out by hand."""

from __future__ import annotations

from math import log

import pytest

from clusterspec.cluster.requests import Session
from clusterspec.cost.estimate import estimate
from clusterspec.cost.serving.caches import (
    DAY,
    LONGEST,
    WORKING,
    TurnPrompt,
    occupied_tokens,
    retained_seconds,
    returning_share,
    tiers_with_stated_hits,
    turn_prompts,
)
from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.cost.serving.times import serving_pools
from clusterspec.cost.serving.varied_prompts import _median_of_parts
from clusterspec.records import replace
from tests.cluster.resolving import clean

NEVER = 1e12
"""Seconds from an answer to the next turn, of users who do not come back within any retention."""
OCCUPIED = [  # session, output, rate, retention, time of a running request; the tokens kept
    # each request leaves 100 + 50 tokens for 10 s, two a second
    (Session(1, 0.0, 0, 0, 100.0), 50.0, 2.0, 10.0, 0.0, 2 * 150 * 10),
    # a session a second, whose prompts have 100 and 120 tokens; both stay for 10 s
    (Session(2, NEVER, 20, 0, 100.0), 50.0, 2.0, 10.0, 0.0, (150 + 170) * 10),
    # the second turn begins at once and renews the first, which stays while its request runs for 4 s
    (Session(2, 0.0, 20, 0, 100.0), 50.0, 2.0, 10.0, 4.0, 150 * 4 + 170 * 10),
    # a retention below the time of a request
    (Session(2, 0.0, 20, 0, 100.0), 50.0, 2.0, 3.0, 4.0, (150 + 170) * 3),
    # three turns: 150, 170 and 190 tokens
    (Session(3, NEVER, 20, 0, 100.0), 50.0, 3.0, 10.0, 0.0, (150 + 170 + 190) * 10),
    # the 30 tokens that all share are there once
    (Session(2, NEVER, 20, 30, 100.0), 50.0, 2.0, 10.0, 0.0, (120 + 140) * 10 + 30),
]
RETURNED = [  # session, output, retention, time of a running request; returned tokens of 2 prompts of 140 on average
    (Session(2, 0.0, 80, 0, 100.0), 50.0, 10.0, 0.0, 150),
    # an answer of 100 tokens, of which the second prompt of 180 has room for 80
    (Session(2, 0.0, 80, 0, 100.0), 100.0, 10.0, 0.0, 180),
    # half of the users return within the retention, or within what is left of it after the answer
    (Session(2, 10.0, 80, 0, 100.0), 50.0, 10 * log(2), 0.0, 75),
    (Session(2, 10.0, 80, 0, 100.0), 50.0, 4 + 10 * log(2), 4.0, 75),
    (Session(2, 10.0, 80, 0, 100.0), 50.0, 4.0, 4.0, 0),
    # 30 tokens of both prompts are shared, and 70 + 50 of the first return in the second
    (Session(2, 0.0, 80, 30, 100.0), 50.0, 10.0, 0.0, 2 * 30 + 120),
]


def test_a_cache_keeps_the_tokens_of_its_requests() -> None:
    for session, output, rate, retention, running, tokens in OCCUPIED:
        found = occupied_tokens(session, output, rate, retention, running)
        assert found == pytest.approx(tokens, rel=1e-6), session
        kept = retained_seconds(session, output, rate, tokens, running)
        assert kept == pytest.approx(retention, rel=1e-5), session
    session, *_ = OCCUPIED[0]
    assert retained_seconds(session, 50.0, 2.0, 0.0) == 0.0
    assert retained_seconds(session, 50.0, 0.0, 100.0) == retained_seconds(session, 50.0, 1.0, 1e30) == LONGEST


def test_what_returns_is_counted_over_all_prompts() -> None:
    for session, output, retention, running, tokens in RETURNED:
        found = returning_share(session, output, 100.0, retention, running=running)
        assert found == pytest.approx(tokens / 280), (session, output, retention)
    shared = Session(1, 0.0, 0, 100, 100.0)
    assert returning_share(shared, 50.0, 1.0, log(2)) == pytest.approx(0.5), (
        "a prefix dropped before half of the requests"
    )
    assert returning_share(shared, 50.0, 1.0, 0.0, in_use=log(4)) == pytest.approx(0.75)


SERVED = """
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 2, host_memory: 2 TB}
workload:
  kind: serve
  model: llama-3.1-70b
  serving: {input_tokens: 6000, output_tokens: 400, request_rate: 4, session: {turns: 8, think_time: 2 min,
            growth: 600, shared_prefix: 1500}, cache_tiers: [%s]}
layout: {framework: vllm, tp: %d}
"""
TIERS = (
    "{medium: host, capacity: 600 GB, read: 50 GB/s}",
    "{medium: nvme, capacity: 9 TB, read: 12 GB/s, scope: %s}",
)
TOKEN = 80 * 2 * 8 * 128 * 2
"""Bytes of a token of Llama 3.1 70B: 80 layers with keys and values of 8 heads of 128 elements of two bytes."""


def test_the_prompts_of_turns_compute_what_no_cache_has() -> None:
    """Prompts of 100, 150 and 200 tokens, of which all share 40; an answer has 30 of the 50 that each turn adds."""
    served = clean(SERVED % (", ".join(TIERS) % "node", 8)).workload
    assert served is not None and served.serving is not None
    load = replace(served.serving, input_tokens=150, output_tokens=30, session=Session(3, 10.0, 50, 40, 100.0))
    # all is found: 60 new tokens, then 20 in each turn; the hits are 40 + 130 + 180 of 450 tokens
    first, found, missed = turn_prompts(replace(load, prefix_hit=350 / 450))
    assert first == TurnPrompt(60.0, 100.0, 1 / 3)
    assert (*found, missed.share) == pytest.approx((20.0, 175.0, 2 / 3, 0.0))
    # a fourth of the later turns finds its tokens, with what all share: 120 and (90 + 140) / 4 tokens
    shares = [each.share for each in turn_prompts(replace(load, prefix_hit=177.5 / 450))]
    assert shares == pytest.approx([1 / 3, 1 / 6, 1 / 2])
    assert [each.fresh for each in turn_prompts(load)] == [100.0, 60.0, 175.0]


def test_with_stated_hits_each_tier_is_written_every_new_token() -> None:
    """Four requests a second of 6,000 × 0.6 new and 400 output tokens, over two nodes."""
    text = SERVED % (", ".join(TIERS) % "node", 8)
    session = text[text.index("session:") : text.index("}", text.index("session:")) + 1]
    pools = serving_pools(clean(text.replace(session, "prefix_hit: 0.4")))
    assert pools is not None
    _, host, disk = tiers_with_stated_hits(pools, 4.0)
    assert [each.written for each in (host, disk)] == pytest.approx([2 * (3600 + 400) * TOKEN] * 2)


def test_the_slowest_first_tokens_of_sessions_are_those_of_first_turns() -> None:
    """One request in eight is a first turn, which computes its whole prompt: beyond the percentile 87.5."""
    plan = estimate(clean(SERVED % (", ".join(TIERS) % "node", 8)))
    times, load = plan.serving, plan.design.workload and plan.design.workload.serving
    assert times is not None and load
    prompts, shares = zip(*times.turns, strict=True)
    assert sum(shares) == pytest.approx(1.0) and max(prompts) > 1.5 * times.typical_prompt
    first = times.ttft + times.median_gap + times.prompt_time * (max(prompts) - times.typical_prompt)
    low, high = (latency_at(times, load, "ttft", percentile) for percentile in (80, 95))
    assert low < first - times.wait <= high


@pytest.mark.parametrize(("tp", "scope", "units"), [(8, "engine", 2), (4, "engine", 4), (8, "plan", 1), (4, "node", 2)])
def test_a_tier_reads_what_it_has_and_writes_what_no_tier_has(tp: int, scope: str, units: int) -> None:
    """Four requests a second over the units of a tier: 16 accelerators in engines of ``tp``, nodes of eight."""
    plan = estimate(clean(SERVED % (", ".join(TIERS) % scope, tp)))
    load = plan.design.workload and plan.design.workload.serving
    assert plan.serving is not None and load and load.session is not None
    own, host, disk = plan.serving.tiers
    assert (own.units, host.units, disk.units) == (16 / tp, 2, units)
    assert (own.tier, own.overwrites_per_day, own.load, own.busy) == (None, None, 0.0, 0.0)
    above = 0.0
    for each in (own, host, disk):
        rate = 4 / each.units
        assert each.token_bytes == pytest.approx(TOKEN) and each.hit == pytest.approx(max(0.0, each.within - above))
        above = max(above, each.within)
        assert each.read == pytest.approx(rate * each.hit * 6000 * TOKEN)
        assert each.written == pytest.approx(rate * (6000 * (1 - each.within) + 400) * TOKEN)
        if each.tier is not None:
            assert each.tokens == pytest.approx(each.tier.capacity / TOKEN)
            assert each.busy == pytest.approx(each.read / each.tier.read)
            seconds = each.hit * 6000 * TOKEN / each.tier.read
            assert each.load == pytest.approx(seconds / (1 - each.busy))
            assert each.overwrites_per_day == pytest.approx(each.written * DAY / each.tier.capacity)
    assert sum(each.hit for each in (own, host, disk)) == pytest.approx(plan.serving.prefix_hit, abs=1e-3)
    # a tier keeps what it has room for, and its working set is what the requests of three think times leave
    idle = occupied_tokens(load.session, 400.0, 4 / own.units, WORKING * 120.0)
    assert own.working_set == pytest.approx(idle * TOKEN)
    assert own.retention == pytest.approx(retained_seconds(load.session, 400.0, 4 / own.units, own.tokens))
    assert own.within < host.within < disk.within


@pytest.mark.parametrize(
    ("shares", "median"),
    [
        ([0.4995, 0.5005], 2.0),
        ([0.5005, 0.4995], 1.0),
        ([0.5, 0.5], 1.5),
        ([0.1] * 10, 5.5),  # half of ten times 0.1, though the sums are rounded
        ([0.2, 0.2999, 0.2001, 0.3], 3.0),
        ([1.0], 1.0),
    ],
)
def test_the_median_of_parts_is_the_value_that_halves_their_shares(shares: list[float], median: float) -> None:
    assert _median_of_parts(tuple((place + 1.0, share) for place, share in enumerate(shares))) == median
