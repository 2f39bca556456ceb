"""Requests that SGLang starts: prompt, own output and a share of the output of others have to fit in the free cache."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.analysis.simulation.ranks import AttentionRank, Request, kept_space, note_retraction
from clusterspec.cost.serving.admission import kept_share, started_sequences
from clusterspec.studies import study_text
from tests.analysis.test_verbs_agree import NODE, both, estimated, spec_text
from tests.settings import SETTINGS

FULL: dict[str, Any] = {"model": "llama-3.1-70b", "framework": "sglang", "cluster": NODE}


def loop(requests: int, inputs: int = 4000, outputs: int = 1000) -> dict[str, Any]:
    return {"input_tokens": inputs, "output_tokens": outputs, "memory_fraction": 0.75, "concurrency": requests}


def test_a_request_starts_where_its_output_fits_beside_a_share_of_that_of_others() -> None:
    """22,500 tokens less 2,000 of the next request, over 1,000 + 500 + 0.098 · 500 of each of the others."""
    found = started_sequences(_load(1000, 1000), 22500.0, kept_share(1).least)
    assert found == pytest.approx(1 + 20500 / 1549)


def test_one_request_starts_in_every_cache() -> None:
    assert started_sequences(_load(1000, 1000), 1500.0, kept_share(1).least) == 1.0


def test_the_space_of_others_falls_with_every_step_and_holds_all_of_a_prompts_output() -> None:
    """Two sequences that end at steps 100 and 300 lack 400 tokens at step 0, and 200 at step 100. A prompt has 50."""
    own, rank = kept_share(1), AttentionRank(0.7)
    rank.count, rank.ends = 2, 400
    assert kept_space(rank, own, 1.0) == pytest.approx(280)
    rank.step = 100
    assert kept_space(rank, own, 1.0) == pytest.approx((0.7 - 100 * (0.7 - 0.098) / 600) * 200)
    rank.prompts.append(Request(0, 0.0, 10, 50))
    assert kept_space(rank, own, 1.0) == pytest.approx((0.7 - 100 * (0.7 - 0.098) / 600) * 200 + 50)
    assert kept_space(rank, None, 1.0) == 0.0


def test_a_retraction_keeps_more_space_for_the_sequences_that_go_on() -> None:
    """Of 400 tokens of output two sequences have 200: with 20 more each, 240 of 401 are the share that is kept."""
    rank = AttentionRank(0.7)
    rank.order = {1: Request(1, 0.0, 10, 100), 2: Request(2, 0.0, 10, 300)}
    rank.count, rank.ends, rank.step = 2, 400, 100
    note_retraction(rank, kept_share(1), 1.0)
    assert rank.share == pytest.approx(240 / 401)
    assert rank.shared == 100


def test_full_caches_have_one_throughput_by_formula_and_simulation() -> None:
    found, counted = both(loop(60, 16000), {"tp": 4, "dp": 1, "nodes": 1}, 150, **FULL)
    assert found.output_tokens_per_second == pytest.approx(counted.rate, rel=0.05)


def test_requests_that_lose_their_place_lengthen_the_mean_time_per_token_alone() -> None:
    found = estimated(loop(200, 500, 4000), {"tp": 4, "dp": 1, "nodes": 1}, **FULL)
    assert found.tpot_mean > 1.05 * found.tpot
    assert not found.preempted


def _load(inputs: int, outputs: int) -> Any:
    serving = {"input_tokens": inputs, "output_tokens": {"mean": outputs, "p99": outputs}, "concurrency": 1}
    workload = study_text(spec_text(serving, {"tp": 4}, **FULL), SETTINGS).design.workload
    assert workload is not None
    return workload.serving
