"""Kernels that pass over activations, fused layers of experts, and the memory of sampling, worked out by hand."""

from __future__ import annotations

from functools import cache

import pytest

from clusterspec.cost.estimate import estimate
from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.expert_parts import UNMEASURED
from clusterspec.cost.serving.passes import converting_gemms, passes_per_step
from clusterspec.cost.serving.plan_engines import cache_capacity
from tests.cluster.resolving import clean
from tests.cost.serving.test_steps import numbers
from tests.effort import each

PLAN = """
cluster: {{{cluster}, nodes: 2}}
workload:
  kind: serve
  model: {model}
  precision: {precision}
  parameter_precision: {precision}
  serving: {{input_tokens: 1000, output_tokens: 200, concurrency: 8{more}}}
layout: {{{layout}}}
"""
B200, H200 = "platform: dgx-b200", "platform: dgx-h200"
RTX = "accelerator: rtx-pro-6000, accelerators_per_node: 8"
MI300X = "accelerator: mi300x, accelerators_per_node: 8"


@cache
def engine(
    model: str,
    precision: str = "bf16",
    cluster: str = B200,
    layout: str = "framework: sglang, tp: 8, dp: 1",
    more: str = "",
) -> Engine:
    text = PLAN.format(model=model, precision=precision, cluster=cluster, layout=layout, more=more)
    design = clean(text)
    assert design.cluster and design.workload and design.layout
    found = Engine.of(design.cluster, design.workload, design.layout, design.layout.dp)
    assert found is not None
    return found


@each(
    ("model", "precision", "cluster", "passes"),
    [
        ("llama-3.1-70b", "bf16", B200, 80 * (2 + 2 + 1)),  # two norms, positions and cache, activation
        ("llama-3.1-70b", "fp8", B200, 80 * (2 + 2 + 1)),  # GEMMs were measured with the conversion of their inputs
        ("llama-3.1-70b", "fp8", RTX, 80 * (2 + 2 + 1 + 1)),  # elsewhere the output of attention is converted apart
        ("qwen3-235b-a22b", "bf16", B200, 94 * (2 + 3)),  # norms of queries and keys; activations of experts are fused
        (
            "deepseek-v3",
            "fp8",
            B200,
            61 * (2 + 3 + 3) + 3 * (1 + 2),
        ),  # blocks: three inputs of a mixer, two of a network
        ("deepseek-v3", "fp8", MI300X, 61 * (2 + 3) + 3),  # converted within norms
        ("deepseek-v4-flash", "fp8", B200, 43 * (2 + 3 + 11 + 3)),  # four residual streams
    ],
)
def test_a_step_has_the_passes_of_its_layers(model: str, precision: str, cluster: str, passes: int) -> None:
    assert passes_per_step(engine(model, precision, cluster)) == passes


def test_linear_attention_has_passes_of_its_own() -> None:
    """48 layers with experts, 36 of them with linear attention: convolution, gates and gated norm; 12 with heads."""
    one = engine("qwen3-next-80b-a3b")
    assert passes_per_step(one) == 48 * 2 + 36 * 3 + 12 * (2 + bool(one.model.block and one.model.block.qk_norm))


def test_passes_take_their_floor_and_the_time_of_their_bytes() -> None:
    one = engine("llama-3.1-70b")
    for tokens in (1.0, 64.0):
        found = numbers(one.decode(tokens, 1000.0), "activations")
        assert (found["calls"], found["floor"]) == (400, 2.2e-6)
        part = next(part for part in one.decode(tokens, 1000.0).parts if part.name == "activations")
        assert part.seconds == pytest.approx(400 * 2.2e-6 + found["bytes_read"] / found["bandwidth"])


def test_the_host_launches_passes_with_gemms_where_no_graphs_are_captured() -> None:
    eager = engine("qwen3-235b-a22b", more=", captured_graphs: false")
    assert passes_per_step(eager) == 0.0
    assert numbers(eager.decode(1.0, 1000.0), "experts")["layers"] == 0.0


FLOORS = [
    ("qwen3-235b-a22b", "bf16", "sglang, software_year: 2025", 30.5, 0.75),
    ("qwen3-235b-a22b", "bf16", "sglang", 14.9, 0.95),
    ("qwen3-235b-a22b", "bf16", "vllm", 24.7, 0.78),
    ("deepseek-v3", "fp8", "sglang, software_year: 2025", 36.4, 0.66),
    ("deepseek-v3", "fp8", "trt-llm, software_year: 2025", 20.1, 0.85),
]


@each(("model", "precision", "framework", "floor", "read"), FLOORS)
def test_fused_experts_take_the_floor_of_their_software(
    model: str, precision: str, framework: str, floor: float, read: float
) -> None:
    one = engine(model, precision, layout=f"framework: {framework}, tp: 8, dp: 1")
    step = one.decode(1.0, 1000.0)
    found = numbers(step, "experts")
    assert found["layers"] == one.model.moe_layers
    assert found["floor"] == pytest.approx(floor * 1e-6)
    assert found["bandwidth"] == pytest.approx(read * one.rates.bandwidth)
    part = next(part for part in step.parts if part.name == "experts")
    reading = found["bytes_read"] / found["bandwidth"]
    assert part.seconds == pytest.approx(found["layers"] * floor * 1e-6 + max(reading, found["flops"] / found["rate"]))


def test_attention_replicas_run_other_kernels_of_experts() -> None:
    one = engine("deepseek-v3", "fp8", layout="framework: trt-llm, attention_dp: 8, ep: 8, dp: 1")
    assert numbers(one.decode(1.0, 1000.0), "experts")["floor"] == pytest.approx(44.6e-6)


def test_experts_that_were_not_measured_take_the_time_of_small_gemms() -> None:
    for one in (
        engine("deepseek-v3", "fp8", MI300X),
        engine("deepseek-v3", "fp8", layout="framework: custom, tp: 8, dp: 1"),
    ):
        assert numbers(one.decode(1.0, 1000.0), "experts")["floor"] == UNMEASURED * one.rates.gemm_floor("bf16")


@each(
    ("model", "precision", "cluster", "converting", "floor"),
    [
        ("llama-3.1-70b", "fp8", B200, 80 * 4, 6.5),  # two GEMMs of attention and two of the network
        ("llama-3.1-70b", "fp4", B200, 80 * 4, 5.6),
        ("deepseek-v3", "fp8", H200, 61 * 3 + 3 * 2, 5.3),  # not those of absorbed matrices and of routers
        ("deepseek-v3", "fp4", B200, 3 * 2, 5.6),  # attention stays in 16 bits beside weights in 4
    ],
)
def test_gemms_of_narrow_formats_convert_their_inputs(
    model: str, precision: str, cluster: str, converting: int, floor: float
) -> None:
    one = engine(model, precision, cluster)
    assert converting_gemms(one) == pytest.approx((converting, floor * 1e-6))
    plain, launches = one.rates.gemm_floor("bf16"), one.launches
    found = numbers(one.decode(1.0, 1000.0), "launch")
    whole = converting * floor * 1e-6 + (launches - converting) * plain
    assert found["launches"] * found["each"] == pytest.approx(whole)


def test_gemms_of_sixteen_bits_and_of_unmeasured_software_take_their_floor_alone() -> None:
    for one in (engine("llama-3.1-70b"), engine("llama-3.1-70b", "fp8", layout="framework: custom, tp: 8, dp: 1")):
        assert converting_gemms(one) is None
        assert numbers(one.decode(1.0, 1000.0), "launch")["each"] == one.rates.gemm_floor("bf16")


def test_shared_experts_launch_nothing_beside_the_routed_ones() -> None:
    """61 layers of five GEMMs, three dense networks of two, and 58 routers."""
    assert engine("deepseek-v3", "fp8").launches == 61 * 5 + 3 * 2 + 58


H100 = "accelerator: h100-sxm-80gb, accelerators_per_node: 8"


@each(("more", "sequences"), [("", 1024), (", max_sequences: 512", 512)])
def test_vllm_keeps_memory_free_for_sampling(more: str, sequences: int) -> None:
    """36 B for each of 201,088 entries of the vocabulary and each sequence, and 0.7 GB of the context."""
    one = engine("gpt-oss-20b", cluster=H100, layout="framework: vllm, tp: 1, dp: 1", more=more)
    load = one.workload.serving
    assert load is not None
    left = 0.9 * 80 * 2**30 - one.weight_bytes - 36 * 201088 * sequences - 0.7e9
    each = one.reserved_bytes(1100.0)
    assert cache_capacity(one, load)[1] == pytest.approx(left / each, rel=0.02)


def test_the_memory_of_sampling_is_listed_where_it_exceeds_the_activations_of_a_step() -> None:
    text = PLAN.format(
        model="gpt-oss-20b", precision="bf16", cluster=H100, layout="framework: vllm, tp: 1, dp: 1", more=""
    )
    memory = estimate(clean(text)).memory
    assert memory is not None and memory.other is not None
    names = {part.name: part.value for part in memory.other.parts}
    assert names["sampling"] == 36 * 201088 * 1024
    assert "step activations" not in names
