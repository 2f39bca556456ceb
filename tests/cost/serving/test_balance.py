"""Uneven experts: the load of the fullest rank, copies, placement, and what they do to a plan."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from clusterspec.cluster.requests import ExpertLoad
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.parts.balance import placed_experts, slots_hit, token_shares
from clusterspec.cost.serving.times import serving_times
from clusterspec.studies import Settings, Study, study_text

SPEC = """\
clusterspec: 1
cluster: {{platform: dgx-h200, nodes: 4}}
workload:
  kind: serve
  model: deepseek-v3
  precision: fp8
  parameter_precision: fp8
  serving: {{input_tokens: 2000, output_tokens: 1000, concurrency: 1024, {load}}}
layout: {{framework: sglang, attention_dp: 32, ep: 32}}
"""


def study(load: str) -> Study:
    return study_text(SPEC.format(load=load), Settings.from_folder(Path.cwd()))


def times(load: str) -> ServingTimes:
    found = serving_times(study(load).design)
    assert found is not None
    return found


def test_a_token_selects_an_expert_at_most_once() -> None:
    # 3 : 1 of two choices among three would be 1.2 times each token for the first; the others share the second choice
    assert token_shares(ExpertLoad(counts=(6.0, 2.0, 2.0)), 3, 2) == pytest.approx((1.0, 0.5, 0.5))
    for alpha in (0.0, 0.5, 1.2, 5.0):
        shares = token_shares(ExpertLoad(alpha=alpha), 256, 8)
        assert sum(shares) == pytest.approx(8)
        assert max(shares) <= 1
        assert list(shares) == sorted(shares, reverse=True)
    assert set(token_shares(ExpertLoad(), 256, 8)) == {8 / 256}


def test_copies_halve_the_busiest_experts_and_slots_fill_the_emptiest_rank() -> None:
    # loads 8 4 2 2 on two ranks: 12 against 4 in their order, a mean of 8; by load 8 + 2 against 4 + 2; with two copies
    # 4 4 4 2 2 and a fourth of 4: 8 against 8
    counts = ExpertLoad(counts=(8.0, 4.0, 2.0, 2.0))
    assert placed_experts(counts, 4, 1, 2, 0).fullest == pytest.approx(12 / 8)
    assert placed_experts(counts._replace(balanced=True), 4, 1, 2, 0).fullest == pytest.approx(10 / 8)
    assert placed_experts(counts, 4, 1, 2, 2).fullest == pytest.approx(1.0)
    assert sorted(placed_experts(counts, 4, 1, 2, 2).slots) == pytest.approx([0.125, 0.125, 0.125, 0.125, 0.25, 0.25])
    assert placed_experts(ExpertLoad(ratio=1.7), 4, 1, 2, 0).fullest == 1.7
    # two tokens reach an expert of half of them with 3/4, one of a quarter with 7/16
    assert slots_hit((0.5, 0.25), 2) == pytest.approx(3 / 4 + 7 / 16)


def test_a_power_law_gives_what_was_counted_on_32_ranks_and_after_balancing_on_36() -> None:
    """DeepSeek-R1, mean of all layers: 2.56 times the mean on 32 ranks; 1.12 on 36 with 32 copies, few tokens included.

    TensorRT-LLM, examples/wide_ep/ep_load_balancer/README.md, commit 2a595f81.
    """
    load = ExpertLoad(alpha=0.63)
    assert placed_experts(load, 256, 8, 32, 0).fullest == pytest.approx(2.56, rel=0.05)
    assert placed_experts(load, 256, 8, 36, 32).fullest == pytest.approx(1.0, abs=0.12)


def test_a_steeper_law_is_never_more_even_and_copies_never_less() -> None:
    for ranks in (8, 32, 64):
        listed = [
            placed_experts(ExpertLoad(alpha=alpha), 256, 8, ranks, 0).fullest for alpha in (0, 0.2, 0.5, 0.9, 1.4)
        ]
        assert listed == sorted(listed)
        assert listed[0] == pytest.approx(1.0)
        load = ExpertLoad(alpha=0.7, balanced=True)
        fuller = [placed_experts(load, 256, 8, ranks, copies * ranks).fullest for copies in (0, 1, 2, 4)]
        assert all(more <= less * 1.02 for less, more in pairwise(fuller))
        assert (
            placed_experts(load, 256, 8, ranks, 0).fullest
            <= placed_experts(load._replace(balanced=False), 256, 8, ranks, 0).fullest
        )


def test_uneven_experts_slow_a_plan_and_copies_cost_cache() -> None:
    even, uneven = times("expert_load: even"), times("expert_load: {law: power, alpha: 0.6}")
    copies = times("expert_load: {law: power, alpha: 0.6}, redundant_experts: 32")
    assert even.decode.total < uneven.decode.total
    assert copies.decode.total < 0.95 * uneven.decode.total
    assert copies.kv_capacity_tokens < uneven.kv_capacity_tokens
    assert uneven.experts and copies.experts and even.experts
    assert even.experts.fullest == 1
    assert uneven.experts.fullest == uneven.experts.listed > uneven.experts.balanced > copies.experts.fullest
    # one copy a rank: 3 x 7168 x 2048 bytes in 58 layers; moving all nine experts of a rank sends nine times that
    assert copies.experts.copy_bytes == pytest.approx(3 * 7168 * 2048 * 58)
    assert copies.experts.moved == pytest.approx(9 * copies.experts.copy_bytes)
    stated = times("expert_load: {max_over_mean: 2.5}")
    assert stated.decode.total > uneven.decode.total
    assert times("").experts is None


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ("expert_load: {alpha: 1, max_over_mean: 2}", "keep one of them"),
        ("expert_load: {counts: [1, 2]}", "2 experts"),
        ("expert_load: {law: power}", "exponent"),
    ],
)
def test_a_load_that_is_not_one_is_an_error(load: str, words: str) -> None:
    found = [each for each in study(load).problems if "expert_load" in each.path]
    assert len(found) == 1
    assert words in f"{found[0].message} {found[0].help}"
