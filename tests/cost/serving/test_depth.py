"""Products of few tiles: what they take along their depth beyond reading their weights, worked out by hand."""

from __future__ import annotations

import pytest

from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.step_times import decode_step
from tests.cost.serving.test_rates import rates
from tests.cost.serving.test_steps import engine, numbers

DEEPSEEK, LLAMA = "deepseek-v3", "llama-3.1-70b"


def depth_of(found: Engine, sequences: float = 1.0) -> dict[str, float]:
    """The numbers of the part, or empty."""
    parts = decode_step(found, sequences, 1000.0).parts
    return next((part.numbers for part in parts if part.name == "depth"), {})


def test_a_product_takes_its_depth_where_its_weights_are_read_sooner() -> None:
    """DeepSeek-V3 on eight H200 in blocks of FP8, 1.1 ns an element: both compressions sum along 7,168, the queries
    along 1,536 elements. The output (2,048 along 14.7 million weights) and the networks of three dense layers are read
    for longer than that, and shared experts run together with the routed ones.
    """
    found = engine(DEEPSEEK, "tp: 8", platform="dgx-h200", framework="sglang", precision="fp8")
    dense = numbers(decode_step(found, 1.0, 1000.0), "dense")
    each = max(1 / dense["bandwidth"], 2 / dense["rate"])
    compressions = 7168 - 7168 * (1536 + 512 + 64) * each / 1.1e-9
    queries = 1536 - 1536 * 16 * (128 + 64) * each / 1.1e-9
    assert compressions > 3000 and queries > 300
    assert 2048 * 7168 * each / 1.1e-9 > 2048
    assert depth_of(found) == {"depth": pytest.approx(61 * (compressions + queries)), "along": pytest.approx(1.1e-9)}


@pytest.mark.parametrize(
    ("model", "precision", "framework", "along"),
    [
        (DEEPSEEK, "fp8", "sglang", 0.85e-9),  # in blocks
        (DEEPSEEK, "fp8", "trt-llm", 0.85e-9),
        (DEEPSEEK, "fp4", "trt-llm", 1.8e-9),  # its blocks have scales in 8 bits alone
        (LLAMA, "fp8", "vllm", 0.65e-9),
        (LLAMA, "fp8", "trt-llm", 0.26e-9),
        (LLAMA, "fp4", "vllm", 0.63e-9),
        (LLAMA, "fp4", "trt-llm", 1.8e-9),
        (LLAMA, "bf16", "vllm", 0.0),  # kernels in 16 bits divide the depth
    ],
)
def test_the_time_along_the_depth_is_that_of_the_kernels(
    model: str, precision: str, framework: str, along: float
) -> None:
    found = engine(model, "tp: 8", platform="dgx-b200", framework=framework, precision=precision)
    assert depth_of(found).get("along", 0.0) == pytest.approx(along)


def test_products_with_many_rows_take_no_more_than_their_operations() -> None:
    """One row, 64 and 4,096: the more rows compute for longer than the depth lasts, the less is left of it."""
    found = engine(DEEPSEEK, "tp: 8", platform="dgx-h200", framework="sglang", precision="fp8")
    depths = [depth_of(found, sequences).get("depth", 0.0) for sequences in (1.0, 64.0, 4096.0)]
    assert depths == sorted(depths, reverse=True) and depths[2] == 0


def test_two_micro_batches_take_the_depth_twice() -> None:
    layout = "tp: 1, attention_dp: 8, ep: 8{}"
    plain, turns = (
        engine(DEEPSEEK, layout.format(overlap), platform="dgx-h200", framework="sglang", precision="fp8")
        for overlap in ("", ", overlap: {ep: true}")
    )
    once, twice = depth_of(plain, 1.0).get("depth", 0.0), depth_of(turns, 2.0).get("depth", 0.0)
    assert twice == pytest.approx(2 * once)


def test_an_accelerator_without_measured_depths_has_none() -> None:
    assert rates("h200-sxm-141gb", "hopper-h200").depth_seconds("fp8", "vllm") == pytest.approx(0.75e-9)
    assert rates("h200-sxm-141gb", "hopper-h200").depth_seconds("fp8", "trt-llm", blocks=True) == pytest.approx(1.1e-9)
    assert rates("a100-sxm-80gb", "ampere").depth_seconds("fp8", "vllm") == 0


def test_a_release_with_untuned_kernels_takes_longer_along_the_depth() -> None:
    """MI300X in blocks of FP8: AITER's default parameters of 2025 take 128 us for 7,168 elements, tuned ones 3 ns an
    element. Scales of tensors were tuned before.
    """
    found = rates("mi300x", "cdna3")
    old, new = (found.depth_seconds("fp8", "sglang", blocks=True, year=year) for year in (2025, 2026))
    assert 4e-6 + 7168 * old == pytest.approx(128e-6, rel=0.03) and new == pytest.approx(3e-9)
    assert found.depth_seconds("fp8", "sglang", blocks=True, year=2024) == old  # the first release that was measured
    assert found.depth_seconds("fp8", "sglang", year=2025) == found.depth_seconds("fp8", "sglang")


def test_deepseek_on_mi300x_waits_for_its_depths_with_a_release_of_2025() -> None:
    """61 layers sum along 7,168 for both compressions, 1,536 for the queries and 2,048 for the output: 11 ms."""
    old, new = (
        depth_of(
            engine(
                DEEPSEEK,
                f"tp: 8, software: sglang {release}",
                platform="mi300x-ubb8",
                framework="sglang",
                precision="fp8",
            )
        )
        for release in ("0.5.7", "0.5.12")
    )
    assert old["depth"] * old["along"] == pytest.approx(61 * (7168 + 1536 + 2048) * 17e-9, rel=0.1)
    assert new["depth"] * new["along"] < 0.2 * old["depth"] * old["along"]
