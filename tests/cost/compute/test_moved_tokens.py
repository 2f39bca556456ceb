"""Bytes and launches of kernels that move tokens to experts and back, and what no measurement covers, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.measured_shares import MeasuredShare
from clusterspec.cost.collectives.evidence import unmeasured_part
from clusterspec.cost.compute import Role, Work, expert_layer, layer
from clusterspec.cost.layers import Chunk, FeedForward, logits_count
from clusterspec.cost.memory.serving_states import step_activation_lines
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


def test_experts_that_run_one_after_another_copy_tokens_and_whole_gradients() -> None:
    """300 copies for four experts; of 1,000 tokens each expert's gradient is a tensor of zeros, and but for the first
    one an addition: 4 + 3 × 3 passes. Forward a gather (2), weights (2), a sum into rows (3) and zeros of all tokens.
    """
    share, _ = shard({"model": MIXTRAL}, tp=1, ep=1)
    share = replace(share, rows=1000.0)
    row = share.width * share.model.expert_width
    found = expert_layer.looped_expert_work(share, EVEN, 1.0)
    moved = [{kernel.name: kernel.traffic / row for kernel in kernels} for kernels in (found.forward, found.backward)]
    assert moved[0] == pytest.approx({"token gathers": 600, "token sums": 900, "weights of tokens": 600 + 1000})
    assert moved[1] == pytest.approx({"token gathers": 600, "token sums": 900, "gradients of all tokens": 1200 + 13000})
    assert [sum(kernel.launches for kernel in kernels) for kernels in (found.forward, found.backward)] == [40, 56]
    roles = {kernel.name: kernel.role for kernel in found.forward}
    assert (roles["token gathers"], roles["token sums"]) == (Role.GATHER, Role.SCATTER)
    assert expert_layer.looped_expert_work(share, EVEN, 0.0) == Work()


@pytest.mark.parametrize(
    ("layout", "looped"),
    [
        ({"framework": "fsdp", "software_year": 2024}, True),
        ({"framework": "fsdp", "software_year": 2026}, False),  # release 5 of transformers can group experts
        ({"framework": "fsdp", "software_year": 2024, "ep": 2}, False),  # an exchange divides tokens by expert
        ({"framework": "deepspeed", "software_year": 2024}, True),
        ({"framework": "megatron-core", "software_year": 2024}, False),
    ],
)
def test_experts_of_transformers_run_one_after_another(layout: dict[str, Any], looped: bool) -> None:
    share, software = shard({"model": MIXTRAL}, **{"tp": 1, "ep": 1, **layout})
    parts = layer.layer_parts(FeedForward.EXPERTS, share, software)
    names = {kernel.name for kernel in parts["dispatch"].forward if kernel.traffic}
    assert ("weights of tokens" in names) is looped
    assert ("dispatch and combine" in names) is not looped


def test_experts_with_adapters_are_trained_ones_with_uneven_loads() -> None:
    share, software = shard({"model": MIXTRAL}, tp=1, ep=4)
    tuned, _ = shard({"model": MIXTRAL, "trainable": {"method": "lora"}}, tp=1, ep=4)
    even, uneven = (expert_layer.Routing.of(each, software.unevenness) for each in (share, tuned))
    assert uneven.imbalance == expert_layer.Routing.of(share, expert_layer.TRAINED_SPREAD).imbalance > even.imbalance
    assert expert_layer.Routing.of(tuned, 2.0) == expert_layer.Routing.of(share, 2.0)  # a wider spread stays


@pytest.mark.parametrize(
    ("layout", "seconds"),
    [
        ({"software_year": 2025, "fused_kernels": False}, 336e-6),
        ({"software_year": 2026, "fused_kernels": False}, 25e-6),
        ({"software_year": 2025, "fused_kernels": True}, 0.0),  # a compiler removes the dispatch
        ({"software_year": 2025}, 0.0),
        ({"software_year": 2025, "fused_kernels": False, "tp": 1}, 0.0),
    ],
)
def test_operations_on_sharded_tensors_take_the_host_longer(layout: dict[str, Any], seconds: float) -> None:
    """Llama 3.1 8B has seven matrices in a layer, four operations each forward and eight backward."""
    share, software = shard({"model": "llama-3.1-8b"}, **{"framework": "torchtitan", "tp": 4, **layout})
    parts = layer.layer_parts(FeedForward.DENSE, share, software)
    if not seconds:
        assert "sharded tensors" not in parts
        return
    (forward,), (backward,) = parts["sharded tensors"].forward, parts["sharded tensors"].backward
    assert forward.launches * software.interval == pytest.approx(7 * 4 * seconds)
    assert backward.launches * software.interval == pytest.approx(7 * 8 * seconds)
    assert forward.traffic == backward.traffic == 0


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
