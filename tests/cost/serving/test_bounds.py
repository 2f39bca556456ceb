"""Bounds of serving plans against numbers worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cluster.requests import Serving
from clusterspec.cost.serving.bounds import (
    compute_bound_tokens,
    least_prompt_time,
    least_token_time,
    token_weight_bytes,
)
from clusterspec.cost.serving.handoff import request_bytes, side_transfers, slower_transfer
from clusterspec.studies import Settings, Study, study_text

H100 = 3.35e12


def studied(model: str, layout: str, more: str = "", nodes: int = 1) -> Study:
    text = (
        f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: {nodes}}}\n"
        f"workload: {{kind: serve, model: {model}, "
        f"serving: {{input_tokens: 1000, output_tokens: 200, concurrency: 1{more}}}}}\n"
        f"layout: {{{layout}}}\n"
    )
    return study_text(text, Settings.from_folder(Path.cwd()))


def parts(one: Study) -> tuple[Cluster, Workload, Layout, Serving]:
    design = one.design
    assert design.cluster and design.workload and design.layout and design.workload.serving
    return design.cluster, design.workload, design.layout, design.workload.serving


def test_an_output_token_reads_all_weights_but_the_embedding_and_the_cache_of_its_request() -> None:
    cluster, workload, layout, load = parts(studied("llama-3.1-8b", "tp: 1"))
    # 8.03 G weights without the 128,256 × 4,096 of the embedding, two bytes each.
    weights = (8.030e9 - 128256 * 4096) * 2
    assert token_weight_bytes(workload, layout) == pytest.approx(weights, rel=1e-3)
    # 32 layers × 2 × 8 heads × 128 × 2 B are 131,072 B a token; 1,100 tokens on average.
    assert request_bytes(workload, layout, 1100) == pytest.approx(131072 * 1100)
    assert least_token_time(cluster, workload, layout, load) == pytest.approx(
        (weights + 131072 * 1100) / H100, rel=1e-3
    )


def test_accepted_drafts_divide_the_bound_of_a_token() -> None:
    plain = least_token_time(*parts(studied("llama-3.1-8b", "tp: 1")))
    drafted = least_token_time(*parts(studied("llama-3.1-8b", "tp: 1", ", speculative: {tokens: 2, acceptance: 0.5}")))
    assert plain is not None and drafted == pytest.approx(plain / 2)


def test_a_token_reads_only_the_experts_that_it_chooses() -> None:
    _, workload, layout, _ = parts(studied("mixtral-8x7b", "tp: 8"))
    # 12.9 G active weights, 0.13 G of them embedding, in two bytes over eight ranks; every rank has norms and routers.
    assert token_weight_bytes(workload, layout) == pytest.approx((12.88e9 - 32000 * 4096) * 2 / 8, rel=2e-3)


def test_a_prompt_takes_two_operations_a_weight_and_token() -> None:
    cluster, workload, layout, load = parts(studied("llama-3.1-8b", "tp: 2"))
    weights = 8.030e9 - 2 * 128256 * 4096
    assert least_prompt_time(cluster, workload, layout, load) == pytest.approx(
        2 * weights * 1000 / 2 / 989.5e12, rel=2e-3
    )
    hit = parts(studied("llama-3.1-8b", "tp: 2", ", prefix_hit: 0.75"))
    assert least_prompt_time(*hit) == pytest.approx(2 * weights * 250 / 2 / 989.5e12, rel=2e-3)


def test_a_step_is_bound_by_arithmetic_from_the_ridge_on() -> None:
    cluster, workload, *_ = parts(studied("llama-3.1-8b", "tp: 1"))
    # 989.5 TFLOP/s over 3.35 TB/s, two operations for the two bytes of a weight.
    assert compute_bound_tokens(cluster, workload) == pytest.approx(989.5e12 / H100, rel=1e-3)


def test_ranks_send_their_parts_of_a_cache_over_their_own_nics() -> None:
    pools = "disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 1, tp: 8}}"
    cluster, workload, layout, _ = parts(studied("llama-3.1-70b", "framework: vllm", f", {pools}", nodes=2))
    # 327,680 B a token over eight ranks, each with 50 GB/s, of which 80 % are used.
    sides = side_transfers(cluster, workload, (layout, layout), 8192)
    assert sides is not None and slower_transfer(sides).seconds == pytest.approx(327680 * 8192 / 8 / (50e9 * 0.8))
