"""Bytes and launches of kernels that move tokens to experts and back, and what no measurement covers, by hand."""

from __future__ import annotations

import pytest

from clusterspec.cluster.model import MeasuredShare
from clusterspec.cost.collectives.evidence import unmeasured_part
from clusterspec.cost.compute import Role, Work, expert_layer, layer
from clusterspec.cost.layers import Chunk, FeedForward, logits_count
from clusterspec.cost.memory.states import step_activation_lines
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.source import Written
from tests.cost.compute.test_kernels import shard
from tests.cost.plans import MIXTRAL, design, plan, spec

EVEN = expert_layer.Routing(leaving=100.0, arriving=300.0, experts=4.0, imbalance=1.5)
"""100 copies leave; of each of three ranks of an expert as many arrive at four experts."""


def test_tokens_are_gathered_and_summed_as_often_as_they_are_copied() -> None:
    """Of each row twice its bytes are moved by a gather, and three times by a sum of rows."""
    share, _ = shard({"model": MIXTRAL}, tp=1, ep=2)
    row = share.width * share.model.expert_width
    found = expert_layer.indexed_permutation_work(share, EVEN, 2.0)
    for kernels in (found.forward, found.backward):
        gathers, sums = kernels
        assert (gathers.flops, sums.flops) == (0, 0)
        assert (gathers.traffic, sums.traffic) == pytest.approx((2 * 200 * row, 3 * 200 * row))
        assert (gathers.launches, sums.launches) == (4, 4) and (gathers.role, sums.role) == (Role.GATHER, Role.SCATTER)
    alone, _ = shard({"model": MIXTRAL}, tp=1, ep=1)
    both = expert_layer.indexed_permutation_work(alone, EVEN, 1.0).forward
    assert both[0].traffic == pytest.approx(2 * 2 * 300 * row)  # selected, and sorted
    assert expert_layer.indexed_permutation_work(share, EVEN, 0.0).forward == ()


def test_rows_are_written_to_their_places_and_their_gradients_summed() -> None:
    share, _ = shard({"model": MIXTRAL}, tp=1, ep=2)
    row = share.width * share.model.expert_width
    found = expert_layer.placement_work(share, EVEN, 2.0)
    (forward,), (backward,) = found.forward, found.backward
    assert (forward.flops, forward.traffic, forward.launches, forward.role) == (0.0, 2 * 600 * row, 2.0, Role.GATHER)
    assert (backward.flops, backward.traffic, backward.launches, backward.role) == (
        0.0,
        3 * 600 * row,
        2.0,
        Role.SCATTER,
    )
    for nothing in (
        expert_layer.placement_work(share, EVEN, 0.0),
        expert_layer.placement_work(replace(share, forwarded=True), EVEN, 2.0),
    ):
        assert nothing.forward == nothing.backward == ()


def test_kernels_of_scores_and_counts_cost_launches_and_no_traffic() -> None:
    share, software = shard({"model": MIXTRAL}, tp=1, ep=2, framework="megatron-core", software_year=2025)
    found = expert_layer.small_routing_work((29.0, 14.0))
    (forward,), (backward,) = found.forward, found.backward
    assert (forward.launches, backward.launches) == (29.0, 14.0)
    assert forward.flops == forward.traffic == backward.flops == backward.traffic == 0
    assert expert_layer.small_routing_work((0.0, 0.0)) == Work()
    assert software.small_kernels == (29.0, 14.0)
    without = replace(software, small_kernels=(0.0, 0.0))
    counted, plain = (
        sum(
            kernel.launches
            for work in layer.layer_parts(FeedForward.EXPERTS, share, each).values()
            for kernel in work.forward
        )
        for each in (software, without)
    )
    assert counted - plain == pytest.approx(29)


def test_tokens_are_permuted_before_the_exchange_and_sorted_after_it() -> None:
    """Rows are read once and their copies written; where a rank has several experts, what arrives is sorted."""
    share, _ = shard({"model": MIXTRAL}, tp=1, ep=2)
    row = share.width * share.model.expert_width
    (found,) = expert_layer.permutation_work(share, EVEN).forward
    leave = share.rows + 100
    assert found.traffic == pytest.approx(2 * row * (leave + 2 * 300 * 1.5)) and found.launches == 4
    (single,) = expert_layer.permutation_work(share, replace(EVEN, experts=1.0)).forward
    assert single.traffic == pytest.approx(2 * row * leave)
    apart, _ = shard({"model": MIXTRAL}, tp=1, ep=1)
    (alone,) = expert_layer.permutation_work(replace(apart, expert_tp=1), EVEN).forward
    assert alone.traffic == pytest.approx(2 * row * leave)


def test_a_measured_share_of_its_part_covers_a_tier() -> None:
    made = design(spec({"platform": "dgx-b300"})).cluster
    assert made is not None and unmeasured_part(made, "scale-out") and not unmeasured_part(made, "scale-up")
    rate = Figure(0.9, "1", Written("measured"))
    inside = MeasuredShare("all-reduce", "scale-up", "ring", 8, rate)
    network = replace(inside, tier="scale-out", part="network", ranks=16)
    assert unmeasured_part(replace(made, measured=(inside,)), "scale-out")
    assert unmeasured_part(replace(made, measured=(inside, network)), "scale-out") == ""
    gaudi = design(spec({"platform": "gaudi3-hls"})).cluster
    assert gaudi is not None and unmeasured_part(gaudi, "scale-up")
    assert unmeasured_part(replace(gaudi, measured=(inside,)), "scale-up") == ""
    assert unmeasured_part(replace(gaudi, measured=(network,)), "scale-up")


def test_a_stage_computes_logits_for_its_head_and_for_each_predicted_token() -> None:
    plain = Chunk(4, 4, 0, 0, 4, 0, first=False, last=False)
    last = replace(plain, last=True)
    for chunks, count in (
        ((plain,), 0.0),
        ((last,), 1.0),
        ((plain, last), 1.0),
        ((replace(last, predicted=2),), 3.0),
        ((plain, replace(plain, predicted=1)), 1.0),
        ((), 0.0),
    ):
        assert logits_count(chunks) == count, chunks


def test_a_step_of_a_chunk_keeps_its_input_its_output_and_the_widest_tensor() -> None:
    """Llama 3.1 8B over two ranks: 2 × 4,096 elements of each of 2,048 tokens, and 14,336 / 2 of the gate and the input
    of its network, wider than the 6,144 / 2 of queries, keys and values.
    """
    serving = {"input_tokens": 1000, "output_tokens": 100, "concurrency": 8, "chunk_tokens": 2048, "max_sequences": 16}
    found = plan(
        workload={"kind": "serve", "serving": serving, "sequence_length": None, "global_batch": None},
        layout={"framework": "vllm", "software_year": None, "micro_batch": None},
    )
    assert found.stored is not None
    job = found.stored.job
    assert job.layout.tp == 2
    steps = step_activation_lines(job)[0]
    width = (job.ffn_matrices - 1) * 14336 / 2
    assert steps.value == pytest.approx(2048 * (2 * 4096 + width) * 2) and job.ffn_matrices in (2, 3)
    assert job.workload.serving is not None
    whole = replace(job.workload, serving=replace(job.workload.serving, chunk_tokens=None))
    assert step_activation_lines(replace(job, workload=whole)) == ()
    many = replace(job.workload, serving=replace(job.workload.serving, sampled_sequences=64))
    sampling = step_activation_lines(replace(job, workload=many))[0]
    assert sampling.value == 64 * 128_256 * 36 > steps.value, "of 16 sequences less than a step, of 64 more"
