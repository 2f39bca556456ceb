"""Activations have one width, in memory and on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from clusterspec.cost.plan import Plan
from tests.cost.plans import plan


def sent(axis: str, **sections: object) -> float:
    found = plan(**sections)  # type: ignore[arg-type]
    return sum(row.bytes for row in found.communication if row.axis == axis)


@pytest.mark.parametrize(
    ("axis", "layout"),
    [("tp", {"tp": 4}), ("cp", {"tp": 1, "cp": 4}), ("pp", {"tp": 1, "pp": 4}), ("ep", {"tp": 1, "ep": 8})],
)
def test_wide_activations_take_twice_the_bytes_on_the_wire(axis: str, layout: dict[str, int]) -> None:
    model = {"model": "mixtral-8x7b"} if axis == "ep" else {}
    narrow, wide, eight = (
        sent(axis, workload={**model, "precision": name}, layout=layout) for name in ("bf16", "tf32", "fp8")
    )
    assert wide == pytest.approx(2 * narrow)
    assert eight == pytest.approx(narrow)  # fp8 narrows the operands of products, not what travels between them


AUTOCAST: dict[str, Any] = {"parameter_precision": "fp32", "gradient_precision": "fp32"}
"""A model in fp32 whose products automatic casting runs in 16 bits."""
ONE: dict[str, object] = {
    "model": {"layers": 8, "hidden": 1024, "heads": 16, "kv_heads": 8, "ffn_hidden": 4096, "vocab": 32000},
    "sequence_length": 2048,
    "global_batch": 32,
}
ALONE = {"framework": "custom", "software_year": 2025, "fused_kernels": True, "tp": 1, "micro_batch": 2}


def of_one(layout: Mapping[str, object] | None = None, /, **work: object) -> Plan:
    return plan({"nodes": 1}, workload={**ONE, **work}, layout={**ALONE, "sharding": "none", **(layout or {})})


def kernels(found: Plan, ending: str) -> list[list[float]]:
    """Bytes moved by the kernels of a dense layer whose names end so, forward and backward."""
    assert found.step is not None
    (layer,) = (part for part, _ in found.step.parts if part.name == "dense_layer")
    passes = (layer.forward, layer.backward)
    return [[kernel.traffic for kernel, _ in one.kernels if kernel.name.endswith(ending)] for one in passes]


def test_norms_move_the_residual_stream_in_its_own_precision() -> None:
    """Of ten passes over 4,096 rows of 1,024 numbers six are of the residual stream: 20 and 32 bytes a number, over
    0.67 of fused kernels.
    """
    narrow, wide = (of_one(residual_precision=name) for name in ("bf16", "fp32"))
    for found, each in ((narrow, 10 * 2), (wide, 6 * 4 + 4 * 2)):
        moved = 4096 * 1024 * each / 0.67
        assert kernels(found, "norms and residuals") == [[pytest.approx(moved)], [pytest.approx(moved)]]
    assert kernels(of_one(), "norms and residuals") == kernels(narrow, "norms and residuals")


@pytest.mark.parametrize("order", [("none", "fsdp"), ("fsdp", "none")])
def test_weights_are_copied_by_sharding_in_whatever_order_layouts_are_estimated(order: tuple[str, str]) -> None:
    """Replicas copy queries, keys and values, 1,024 × 2,048 numbers, in 6 bytes each; full sharding copies shards."""
    length = {("none", "fsdp"): 1024, ("fsdp", "none"): 4096}[order]
    found = {name: of_one({"sharding": name}, **AUTOCAST, sequence_length=length) for name in order}
    copies = {name: kernels(each, "copy of weights")[0] for name, each in found.items()}
    assert copies["fsdp"] == []
    assert copies["none"][0] == 6 * 1024 * 2048


@pytest.mark.parametrize(
    ("framework", "sharding", "stated", "width"),
    [
        ("fsdp", "none", {}, 4),
        ("fsdp", "none", {"residual_precision": "bf16"}, 2),
        ("fsdp", "zero2", {}, 2),
        ("torchtitan", "none", {}, 4),
        ("megatron-core", "none", {}, 2),
        ("custom", "none", {}, 2),
    ],
)
def test_replicas_under_automatic_casting_keep_the_residual_stream_in_fp32(
    framework: str, sharding: str, stated: dict[str, str], width: int
) -> None:
    """Automatic casting narrows the operands of products alone: an embedding in fp32 and sums with it stay in fp32. Of
    ten passes over 4,096 rows of 1,024 numbers six are of this stream.
    """
    found = of_one({"framework": framework, "sharding": sharding}, **AUTOCAST, **stated)
    moved = 4096 * 1024 * (6 * width + 4 * 2) / 0.67
    assert kernels(found, "norms and residuals") == [[pytest.approx(moved)], [pytest.approx(moved)]]


def test_norms_that_run_operation_by_operation_are_in_fp32_in_any_case() -> None:
    """Two additions read and write two more bytes of each of 4,096 rows of 1,024 numbers; backward they read them."""
    gated = {"layers": 8, "hidden": 1024, "heads": 16, "ffn_hidden": 4096, "vocab": 32000, "gated_ffn": True}
    eager = {"fused_kernels": False}
    narrow, wide = (of_one(eager, model=gated, residual_precision=name) for name in ("bf16", "fp32"))
    assert kernels(narrow, "norms and residuals") == kernels(wide, "norms and residuals")
    assert kernels(narrow, "wide additions") == [[], []]
    assert kernels(wide, "wide additions") == [[2 * 2 * 2 * 4096 * 1024], [2 * 2 * 4096 * 1024]]


def test_weights_in_fp32_are_copied_for_narrower_products() -> None:
    """Queries, keys and values 1,024 × 2,048, their output 1,024 × 1,024, and two matrices of 1,024 × 4,096: each is
    read in four bytes and written in two; its gradient is written and read in four more before it is summed.
    """
    weights = [1024 * 2048, 1024 * 1024, 1024 * 4096, 1024 * 4096]
    cast = of_one(**AUTOCAST)
    assert sorted(kernels(cast, "copy of weights")[0]) == sorted(6 * one for one in weights)
    assert sorted(kernels(cast, "widened")[1]) == sorted(8 * one for one in weights)
    sharded = {"framework": "fsdp", "software_year": 2026, "sharding": "fsdp"}
    for other in (of_one(), of_one(parameter_precision="bf16"), of_one(sharded, **AUTOCAST)):
        assert kernels(other, "copy of weights") == kernels(other, "widened") == [[], []]


def test_copies_of_weights_stay_until_the_backward_pass() -> None:
    """Two bytes for each weight of the eight layers, without norms, and of the head; the embedding is looked up."""
    found = {name: of_one(**work).memory for name, work in (("cast", AUTOCAST), ("narrow", {}))}
    sizes = {name: {part.name: part.value for part in use.weights.parts} for name, use in found.items() if use}
    matrices = 8 * (1024 * 2048 + 1024 * 1024 + 2 * 1024 * 4096) + 1024 * 32000
    assert sizes["cast"]["weights_in_16_bits"] == 2 * matrices
    assert "weights_in_16_bits" not in sizes["narrow"]


def test_recomputed_layers_keep_their_inputs_in_the_precision_of_the_residual_stream() -> None:
    """4,096 rows of 1,024 numbers for each of eight layers, in two bytes or in four."""
    full: dict[str, object] = {"recompute": "full"}
    for name, width in (("bf16", 2), ("fp32", 4)):
        use = of_one(full, residual_precision=name).memory
        assert use is not None
        sizes = {part.name: part.value for part in use.activations.parts}
        assert sizes["layer_inputs"] == 8 * 4096 * 1024 * width


def test_stages_send_the_residual_stream_in_its_own_precision() -> None:
    narrow, wide = (
        sent("pp", workload={"residual_precision": name}, layout={"tp": 1, "pp": 4}) for name in ("bf16", "fp32")
    )
    assert wide == pytest.approx(2 * narrow)
