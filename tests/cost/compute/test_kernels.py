"""What kernels a layer is made of: their operations are those of the model."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost import parameters
from clusterspec.cost.compute import (
    GemmShape,
    Kernel,
    Role,
    Shard,
    Work,
    accumulation_work,
    attention,
    cast_work,
    expert_launches,
    expert_layer,
    layer,
    less_fused_work,
    linear_work,
    scaled_kernel,
)
from clusterspec.cost.compute.biases import biased_expert_work, repeated_bias_work
from clusterspec.cost.compute.layer import SoftwareBehavior, layer_parts
from clusterspec.cost.compute.recomputed import recomputed_kernels
from clusterspec.cost.layers import FeedForward, Mixer
from clusterspec.cost.timing import update_bytes, update_traffic
from clusterspec.records import replace
from tests.cost.plans import design, spec


def shard(
    workload: dict[str, Any] | None = None, mixer: Mixer = Mixer.FULL, **layout: Any
) -> tuple[Shard, SoftwareBehavior]:
    found = design(spec(workload=workload or {}, layout=layout))
    assert found.workload and found.layout and found.layout.stack
    return Shard.of(found.workload, found.layout, mixer), SoftwareBehavior.of(found.layout.stack)


def products(kernels: tuple[Kernel, ...]) -> float:
    return sum(kernel.flops for kernel in kernels if kernel.rate.startswith("matmul"))


@pytest.mark.parametrize("tp", [1, 2, 8])
@pytest.mark.parametrize("model", ["llama-3.1-8b", "gpt3-175b", "llama-3.1-405b"])
def test_a_dense_layer_does_six_operations_for_each_weight_and_token(model: str, tp: int) -> None:
    share, software = shard({"model": model}, tp=tp)
    count = parameters.model_weights(share.model)
    work = sum(layer_parts(FeedForward.DENSE, share, software).values(), Work())
    weights = count.full.total + count.dense_ffn
    assert products(work.forward + work.backward) * tp == pytest.approx(6 * weights * share.tokens)
    assert products(work.backward) == pytest.approx(2 * products(work.forward))


@pytest.mark.parametrize(("model", "ep"), [("mixtral-8x7b", 8), ("mixtral-8x7b", 1), ("deepseek-v3", 32)])
def test_an_expert_layer_works_with_the_weights_that_tokens_visit(model: str, ep: int) -> None:
    share, software = shard({"model": model}, tp=1, ep=ep)
    count = parameters.model_weights(share.model)
    even = expert_layer.Routing.of(share, 0.0)
    visited = even.arriving * count.expert + (count.shared + count.router) * share.rows
    work = expert_layer.router_work(share) + expert_layer.expert_work(share, even)
    assert products(work.forward) == pytest.approx(2 * visited)
    assert even.arriving == pytest.approx(share.rows * share.model.experts_per_token)
    uneven = expert_layer.expert_work(share, expert_layer.Routing.of(share, 0.2))
    assert products(uneven.forward) >= products(expert_layer.expert_work(share, even).forward)
    assert software.stack.id


@pytest.mark.parametrize("ep", [1, 8, 64])
def test_rows_that_are_sent_once_to_each_rank_are_moved_less(ep: int) -> None:
    share, _ = shard({"model": "deepseek-v3"}, tp=1, ep=ep)
    even = expert_layer.Routing.of(share, 0.0)
    copied, sent = (expert_layer.permutation_work(replace(share, forwarded=how), even) for how in (False, True))
    row = 2 * share.rows * share.model.hidden
    ranks = ep * (1 - (1 - 1 / ep) ** share.model.experts_per_token)
    assert sent.forward[0].traffic == pytest.approx(2 * row * (ranks + share.model.experts_per_token))
    assert sent.forward[0].traffic <= copied.forward[0].traffic * (1 + 1e-12)


def test_rows_that_several_ranks_gather_are_sorted_by_expert() -> None:
    """Two ranks to an expert and eight experts each: 2 048 of 4 096 rows, two copies of each, 4 096 wide, 16 bits."""
    mixtral = {"model": "mixtral-8x7b", "sequence_length": 4096}
    share, _ = shard(mixtral, tp=2, ep=1, expert_tp=2, micro_batch=1, framework="megatron-core")
    moved = expert_layer.permutation_work(share, expert_layer.Routing.of(share, 0.0)).forward[0].traffic
    assert share.rows == 2048
    assert moved == 2 * 2 * 4096 * ((2048 + 2 * 2048) + 2 * 2 * 4096)


@pytest.mark.parametrize(
    ("precision", "dispatcher", "copies"),
    [("bf16", "all-to-all", 0), ("fp8", "all-to-all", 4), ("fp4", "all-to-all", 4), ("fp8", "hybrid", 0)],
)
def test_rows_of_narrow_experts_are_padded_after_all_to_all(precision: str, dispatcher: str, copies: int) -> None:
    share, _ = shard({"model": "deepseek-v3", "precision": precision}, tp=1, ep=8, dispatcher=dispatcher)
    even = expert_layer.Routing.of(share, 0.0)
    work = expert_layer.expert_work(share, even)
    padding = [kernel.traffic for kernel in work.forward if kernel.name == "padding of experts"]
    assert sum(padding) == pytest.approx(copies * 2 * even.arriving * share.model.hidden)


LAUNCHES = {
    "embedding": 2,  # the rows, and their scatter
    "last norm": 1,
    "loss": 4,  # maximum, sum, logarithm and gradient
    "expert choice": 3,  # scores, top-k and their weights
    "dispatch and combine": 4,  # permutation and sort, and the reverse of both
    "padding of experts": 2,  # of inputs and of outputs
    "activation": 1,
}


@pytest.mark.parametrize("dispatcher", ["all-to-all", "hybrid"])
def test_memory_bound_operations_have_the_same_launches_forward_and_backward(dispatcher: str) -> None:
    share, _ = shard({"model": "deepseek-v3", "precision": "fp8"}, tp=1, ep=8, dispatcher=dispatcher)
    even = expert_layer.Routing.of(share, 0.0)
    works = [layer.embedding_work(share), layer.head_work(share, 1.0, 1.0), expert_layer.router_work(share)]
    works += [expert_layer.permutation_work(share, even), expert_layer.expert_work(share, even)]
    for passes in zip(*((work.forward, work.backward) for work in works), strict=True):
        streams = [kernel for kernels in passes for kernel in kernels if not kernel.rate]
        found = {kernel.name.removeprefix("shared ").removeprefix("experts "): kernel.launches for kernel in streams}
        kept = LAUNCHES.keys() - ({"padding of experts"} if dispatcher == "hybrid" else set())
        assert {name: found[name] for name in kept} == {name: LAUNCHES[name] for name in kept}


@pytest.mark.parametrize(("precision", "each"), [("bf16", 1.0), ("fp8", 2.0), ("fp4", 2.0)])
def test_an_expert_in_a_narrow_precision_takes_more_launches(precision: str, each: float) -> None:
    """Rows are narrowed for the results and for the gradients of the inputs; gradients of weights use both."""
    grouped = linear_work("experts", GemmShape(64, 128, 256, 16.0, experts=True), precision)
    assert [expert_launches(kernel) for kernel in grouped.forward] == [16 * each]
    assert {kernel.role: expert_launches(kernel) for kernel in grouped.backward} == {
        Role.INPUT_GRADIENT: 16 * each,
        Role.WEIGHT_GRADIENT: 16,
    }
    assert expert_launches(linear_work("w", GemmShape(64, 128, 256, 16.0), precision).forward[0]) == 0


@pytest.mark.parametrize(("fused", "each"), [(False, 8.0), (True, 4.0)])
def test_rows_of_experts_are_converted_one_by_one_unless_their_products_are_fused(fused: bool, each: float) -> None:
    """16 experts of 64 rows: 128 numbers of a row before the product, and 256 of its gradient."""
    experts = linear_work("experts", GemmShape(64, 128, 256, 16.0, experts=True), "fp8")
    work = cast_work(experts, 4.0, fused)
    assert [kernel.traffic for kernel in work.forward] == [each * 16 * 64 * 128]
    assert [kernel.traffic for kernel in work.backward] == [each * 16 * 64 * 256]
    dense = cast_work(linear_work("w", GemmShape(64, 128, 256), "fp8"), 4.0, fused)
    assert [kernel.traffic for kernel in (*dense.forward, *dense.backward)] == [4 * 64 * 128, 4 * 64 * 256]


def test_a_layout_states_fused_experts_and_a_compiler_fuses_them() -> None:
    moe = {"model": "deepseek-v3", "precision": "fp8"}
    assert not shard(moe, tp=1, ep=8)[1].fused_experts
    stated = shard(moe, tp=1, ep=8, fused_experts=True)[1]
    assert stated.fused_experts
    assert stated.interval_expert == 0.0
    assert shard(moe, tp=1, ep=8, framework="maxtext")[1].fused_experts


def test_latent_attention_counts_its_own_weights() -> None:
    share, _ = shard({"model": "deepseek-v3"}, tp=1)
    count = parameters.model_weights(share.model)
    work = attention.attention_projections(share) + attention.output_projection(share)
    assert products(work.forward) == pytest.approx(2 * count.full.total * share.tokens)


def test_flash_kernels_move_the_elements_of_their_heads() -> None:
    """1,000 tokens of 16 heads, 2 bytes an element: 192 wide queries and keys, 128 wide values and outputs."""
    share = replace(shard({"model": "deepseek-v3"}, tp=1)[0], tokens=1000.0, heads=16, kv_heads=16)
    assert share.width == 2
    work = attention.flash_attention(share, 1e9)
    ((there,), (back,)) = work.forward, work.backward
    assert there.traffic == 2 * 1000 * (16 * (192 + 128 + 128) + 2 * 16 * 192) == 26_624_000
    assert (back.flops, back.traffic, back.launches) == (2.5e9, 66_560_000, 2)


def test_a_causal_flash_core_does_half_of_what_plain_kernels_do() -> None:
    flash, plain = (attention.attention_core(shard({"attention": how})[0], (4.5, 5.5)) for how in ("flash", "plain"))
    assert sum(k.flops for k in flash.forward) * 2 == pytest.approx(products(plain.forward))


@pytest.mark.parametrize(("tp", "sequences", "fused"), [(8, 1, True), (8, 2, True), (16, 1, False), (16, 2, True)])
def test_softmax_kernels_fuse_multiples_of_four_score_matrices(tp: int, sequences: int, fused: bool) -> None:
    """32 heads: on 16 ranks each has two, of which one sequence leaves two matrices, and two sequences four."""
    share = shard({"attention": "plain"}, tp=tp)[0]
    (softmax,) = (
        kernel
        for kernel in attention.attention_core(replace(share, sequences=sequences), (4.5, 5.5)).forward
        if kernel.name == "softmax and dropout"
    )
    elements = share.length**2 * sequences * share.heads
    assert softmax.launches == (3 if fused else 7)
    assert softmax.traffic == pytest.approx(2 * elements * (4.5 if fused else 20.5))


@pytest.mark.parametrize("tp", [8, 16])
def test_operations_that_run_one_by_one_are_counted_so_once(tp: int) -> None:
    share = shard({"attention": "plain"}, tp=tp, fused_kernels=False)[0]
    core = attention.attention_core(share, (4.5, 5.5))
    assert less_fused_work(core, 5.0).forward[-1] == core.forward[-1]
    assert core.forward[-1].traffic == pytest.approx(2 * share.length**2 * share.heads * 10)


@pytest.mark.parametrize(("tp", "ep", "copied"), [(2, 1, 2 * 2), (1, 1, 2), (1, 8, 1)])
def test_rows_are_gathered_and_summed_once_for_each_permutation(tp: int, ep: int, copied: int) -> None:
    """Without an exchange all ranks to an expert hold all of their tokens, and select them before they sort them."""
    mixtral = {"model": "mixtral-8x7b", "sequence_length": 4096}
    share, _ = shard(mixtral, tp=tp, ep=ep, expert_tp=tp, micro_batch=1, framework="megatron-core")
    routing = expert_layer.Routing.of(share, 0.0)
    assert expert_layer.indexed_permutation_work(share, routing, 0.0) == Work()
    gather, add = expert_layer.indexed_permutation_work(share, routing, 1.0).forward
    rows = 2 * share.rows * copied
    assert (gather.traffic, add.traffic) == (2 * 2 * 4096 * rows, 3 * 2 * 4096 * rows)


def test_biases_and_limits_of_experts_are_counted_operation_by_operation() -> None:
    """1 024 tokens to four of 32 experts, eight on each of four ranks: 4 096 rows, 2 880 wide, and two inputs of it."""
    oss = {"model": "gpt-oss-20b", "sequence_length": 1024}
    layout: dict[str, Any] = {"tp": 1, "ep": 4, "micro_batch": 1, "framework": "megatron-core", "software_year": 2026}
    share, software = shard(oss, **layout)
    numbers = 4096 * 2880
    work = biased_expert_work(share, 4096, 8, software.biases)
    assert [kernel.traffic for kernel in work.forward] == [8 * 2 * numbers, 28 * numbers]
    assert [kernel.traffic for kernel in work.backward] == [10 * 2 * numbers, 40 * numbers]
    assert [kernel.launches for kernel in (*work.forward, *work.backward)] == [3, 2 + 2 * 8, 3, 2 + 5 * 8]
    assert less_fused_work(work, 5.0) == work
    parts = layer.layer_parts(FeedForward.EXPERTS, share, software)
    again = recomputed_kernels(parts, ("activation",), "light")
    assert {kernel.name for kernel in again} == {"experts activation", "limited activation"}
    assert shard(oss, **layout, fused_kernels=True)[1].biases == 0
    assert biased_expert_work(share, 4096, 8, 0.0) == Work()
    plain = shard({"model": "qwen3-30b-a3b", "sequence_length": 1024}, **layout)[0]
    assert biased_expert_work(plain, 4096, 8, 1.0) == Work()


def test_repeated_biases_have_sums_into_few_rows_as_gradients() -> None:
    """torchtitan repeats the biases of 5 760 and of 2 880 numbers for each of 4 096 rows, eight experts to a rank."""
    oss = {"model": "gpt-oss-20b", "sequence_length": 1024}
    layout: dict[str, Any] = {"tp": 1, "ep": 4, "micro_batch": 1, "framework": "torchtitan", "software_year": 2026}
    share, software = shard(oss, **layout)
    assert (software.biases, software.repeated) == (0, 1)
    numbers = 4096 * (2 * 2880 + 2880)
    limits, repeats, added = repeated_bias_work(share, 4096, software.repeated).forward
    assert (limits.traffic, repeats.traffic, added.traffic) == (8 * 2 * 4096 * 2880, 2 * numbers, 6 * numbers)
    limits, sums = repeated_bias_work(share, 4096, software.repeated).backward
    assert (limits.traffic, sums.traffic) == (10 * 2 * 4096 * 2880, 6 * numbers)
    assert (repeats.role, sums.role) == (Role.GATHER, Role.SCATTER)
    assert repeated_bias_work(share, 4096, 0.0) == Work()
    assert shard(oss, **layout, fused_kernels=True)[1].repeated == 0
    plain = shard({"model": "qwen3-30b-a3b", "sequence_length": 1024}, **layout)[0]
    assert repeated_bias_work(plain, 4096, 1.0) == Work()


def test_rows_placed_one_number_at_a_time_have_sums_as_gradients() -> None:
    """torchtitan v0.2 writes 4 096 rows, eight copies of each, 2 048 wide, in 16 bits, twice to listed places."""
    qwen = {"model": "qwen3-30b-a3b", "sequence_length": 4096}
    share, software = shard(qwen, tp=1, ep=8, micro_batch=1, framework="torchtitan", software_year=2025)
    routing = expert_layer.Routing.of(share, 0.0)
    work = expert_layer.placement_work(share, routing, software.placements)
    copies = 4096 * 8 * 2048 * 2
    assert [kernel.traffic for kernel in work.forward] == [2 * 2 * copies]
    assert [kernel.traffic for kernel in work.backward] == [2 * 3 * copies]
    assert (work.forward[0].role, work.backward[0].role) == (Role.GATHER, Role.SCATTER)
    assert expert_layer.placement_work(replace(share, forwarded=True), routing, software.placements) == Work()
    assert shard(qwen, tp=1, ep=8, framework="torchtitan", software_year=2026)[1].placements == 0


def test_context_parallelism_divides_the_core() -> None:
    one, four = (attention.attention_core(shard(cp=cp, tp=1)[0], (4.5, 5.5)) for cp in (1, 4))
    assert one.forward[0].flops == pytest.approx(4 * four.forward[0].flops)


def test_a_window_bounds_the_core() -> None:
    windowed = {"model": {"base": "llama-3.1-8b", "attention_window": 1024}}
    narrow, wide = (
        attention.unmasked_pairs(shard(windowed, Mixer.WINDOW)[0]),
        attention.unmasked_pairs(shard(windowed)[0]),
    )
    assert narrow == 8192 * 1024 - 1024**2 / 2
    assert wide == 8192**2 / 2


def test_layers_kept_in_16_bits_do_not_speed_up() -> None:
    share, software = shard({"precision": "fp8"})
    rates = {
        kernel.rate for part in layer_parts(FeedForward.DENSE, share, software).values() for kernel in part.forward
    }
    assert rates == {"matmul_fp8", "attention_forward", ""}
    assert {k.rate for k in layer.head_work(share, 12.0, 8.0).forward} == {"matmul_bf16", ""}


def test_low_precision_gemms_cost_a_cast_of_each_input() -> None:
    wide = linear_work("w", GemmShape(10, 20, 30), "bf16")
    narrow = linear_work("w", GemmShape(10, 20, 30), "fp8")
    assert cast_work(wide, 4.0) == Work()
    assert [k.traffic for k in cast_work(narrow, 4.0).forward] == [4 * 10 * 20]
    assert [k.traffic for k in cast_work(narrow, 4.0).backward] == [4 * 10 * 30]


def test_each_weight_is_summed_once_a_micro_batch() -> None:
    assert [
        k.traffic for k in accumulation_work(linear_work("w", GemmShape(10, 20, 30, 2.0), "bf16"), 8.0).backward
    ] == [8 * 600 * 2]


@pytest.mark.parametrize(
    "how", ["core-attention", "alternate-products", "alternate-layers", "all-but-projections", "light"]
)
def test_selective_recomputation_runs_some_of_the_forward_pass_again(how: str) -> None:
    share, software = shard({"model": "mixtral-8x7b"}, tp=1)
    parts = layer_parts(FeedForward.EXPERTS, share, software)
    none, some, full = (recomputed_kernels(parts, recompute, how) for recompute in ("none", "selective", "full"))
    assert none == ()
    assert full == tuple(kernel for part in parts.values() for kernel in part.forward)

    def weight(kernels: tuple[Kernel, ...]) -> float:
        return sum(kernel.flops / 1e12 + kernel.traffic / 1e9 for kernel in kernels)

    assert 0 < weight(some) < weight(full)


def test_sharding_a_kernel_keeps_its_other_dimensions() -> None:
    kernel = linear_work("w", GemmShape(10, 20, 30), "bf16").forward[0]
    half = scaled_kernel(kernel, 0.5)
    assert (half.flops, half.traffic, half.shape) == (kernel.flops / 2, kernel.traffic / 2, kernel.shape)
    assert kernel.role is Role.PLAIN


def test_sequence_parallelism_divides_the_rows_between_products() -> None:
    share, _ = shard(tp=4)
    bare, _ = shard(tp=4, sequence_parallel=False)
    assert share.rows * 4 == share.tokens == bare.rows == bare.tokens


def test_adam_moves_its_states_both_ways() -> None:
    assert update_traffic("adam", "fp32", "fp32", "fp32", "bf16") == 4 * 4 + 2 * 4 + 2 * 4 + 2
    assert update_traffic("sgd", "none", "fp32", "bf16", "bf16") == 2 * 2 + 2 * 2


def test_adam_operation_by_operation_moves_three_times_as_much() -> None:
    """torch.optim.adamw, by count: decay p, p; first moment m, m, g; second v, v, then v, v, g; its root v, t; divided
    t, t; moved off zero t, t; step p, p, m, t. With the norm of the gradient g and its clipping g, g: 4 of weights, 3
    and 5 of moments, 6 of results, 5 of gradients.
    """
    narrow = update_traffic("adamw", "none", "bf16", "bf16", "bf16", fused=False)
    assert narrow == 2 * (4 + 3 + 5 + 6 + 5)
    assert update_traffic("adamw", "none", "bf16", "bf16", "bf16") == 2 * (2 + 2 + 2 + 2)
    wide = update_traffic("adam", "fp32", "fp32", "fp32", "bf16", fused=False)
    assert wide == 4 * (4 + 14 + 5) + 2, "and the weight in 16 bits is written"


def test_a_layout_states_an_unfused_optimizer() -> None:
    """A moment of 16 bits on one rank: 46 instead of 16 bytes for each weight; SGD has one operation either way."""
    for optimizer, factor in (("adam", 46 / 16), ("sgd", 1.0)):
        work: dict[str, Any] = {"optimizer": optimizer, "gradient_precision": "bf16"}
        states: dict[str, Any] = {"optimizer_states": {"master": "none", "moments": "bf16"}}
        of = [design(spec(workload=work, layout=states | more)) for more in ({}, {"fused_optimizer": False})]
        one, other = (update_bytes(each.workload, each.layout) for each in of if each.workload and each.layout)
        assert other == pytest.approx(factor * one)


def test_rows_gathered_behind_the_batch_are_copied_at_each_collective() -> None:
    """Two sequences of 1,024 tokens on two ranks, 4,096 wide in 16 bits: four copies a layer, each read and written."""
    torch: dict[str, Any] = {
        "framework": "torchtitan",
        "software_year": 2025,
        "tp": 2,
        "micro_batch": 2,
        "sequence_parallel": True,
    }
    work = {"model": "llama-3.1-8b", "sequence_length": 1024}
    share, software = shard(work, **torch)
    copies = layer_parts(FeedForward.DENSE, share, software)["copies"]
    (forward,), (backward,) = copies.forward, copies.backward
    assert forward.traffic == backward.traffic == 4 * 2 * (2 * 1024 * 4096) * 2
    assert forward.launches == 4
    for changed in ({"sequence_parallel": False}, {"overlap": {"tp": "full"}}, {"framework": "megatron-core"}):
        assert "copies" not in layer_parts(FeedForward.DENSE, *shard(work, **torch | changed)), changed
