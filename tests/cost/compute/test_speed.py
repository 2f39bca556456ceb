"""How fast kernels run: rooflines, tiles, power, and what is not known."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Design
from clusterspec.cost.compute import TILES, GemmShape, Kernel, Role, gemm_kernel
from clusterspec.cost.compute.attention import fixed_shares
from clusterspec.cost.compute.layer import SoftwareBehavior
from clusterspec.cost.compute.rates import Rates, Speed, rank_rates
from clusterspec.cost.formulas.power import capped_rate
from tests.cost.plans import design, spec

SPEED = Speed({"matmul_bf16": 1e15, "attention_forward": 5e14}, 2e12, 132, TILES, 50.0, 500.0, 0.8)


def reached(year: int = 2025, changed: dict[str, Any] | None = None, **workload: Any) -> Rates:
    cluster = {"platform": None, "accelerator": {"like": "h100-sxm-80gb", **changed}} if changed else {}
    found = rates_of(design(spec(cluster, workload=workload)), year)
    assert found is not None
    return found


def rates_of(whole: Design, year: int) -> Rates | None:
    assert whole.cluster and whole.workload and whole.layout and whole.layout.stack
    return rank_rates(whole.cluster, whole.workload, SoftwareBehavior.of(whole.layout.stack), year)


sizes = st.integers(1, 20_000)


@given(m=sizes, k=sizes, n=sizes)
def test_no_gemm_exceeds_the_compute_or_the_memory_rate(m: int, k: int, n: int) -> None:
    kernel = gemm_kernel("p", GemmShape(m, k, n), "bf16")
    took = SPEED.seconds(kernel)
    assert took * (1 + 1e-9) >= kernel.flops / 1e15
    assert took * (1 + 1e-9) >= kernel.traffic / 2e12


def test_products_of_unaligned_rows_have_a_highest_rate_of_their_own() -> None:
    """1e15 FLOP/s with aligned rows, at most 1e14 without; a product that is slower already does not change."""
    slow, whole = replace(SPEED, unaligned=1e14), GemmShape(16_896, 1e6, 16_896)
    kernels = [gemm_kernel("p", whole._replace(unaligned=each), "bf16") for each in (0.0, 1.0)]
    shares = [slow.achieved_share(each) for each in kernels]
    assert shares[0] > 0.9 and shares[1] == pytest.approx(0.1)
    assert [SPEED.achieved_share(each) for each in kernels] == [shares[0]] * 2
    narrow = gemm_kernel("p", GemmShape(16, 4096, 16, unaligned=1.0), "bf16")
    assert slow.achieved_share(narrow) == SPEED.achieved_share(narrow) < 0.1


@pytest.mark.parametrize(
    ("architecture", "units", "highest"),
    [("sm_90", 132, 132 * 0.9e12), ("sm_80", 108, 108 * 0.9e12), ("gfx942", 132, inf), ("", 132, inf)],
)
def test_kernels_of_unaligned_rows_are_known_of_cuda_alone(architecture: str, units: int, highest: float) -> None:
    """0.9e12 FLOP/s on each unit of an architecture for which CUDA kernels are built, whoever sells it."""
    whole = design(spec())
    assert whole.cluster is not None
    part = replace(whole.cluster.accelerator, architecture=architecture, compute_units=units, vendor="other")
    found = rates_of(replace(whole, cluster=replace(whole.cluster, accelerator=part)), 2025)
    assert found is not None and found.speed.unaligned == pytest.approx(highest)


@given(m=sizes, n=sizes)
def test_more_whole_tiles_never_lower_the_utilization(m: int, n: int) -> None:
    fill = SPEED.achieved_share(gemm_kernel("p", GemmShape(m, 4096, n), "bf16"))
    assert 0 < fill <= 1


def test_one_tile_more_than_fits_costs_a_wave() -> None:
    tiles = Speed({"matmul_bf16": 1e15}, 1e15, 100, ((128.0, 128.0, 1.0),), 0.0, 500.0)
    full = tiles.seconds(gemm_kernel("p", GemmShape(128 * 100, 4096, 128), "bf16"))
    more = tiles.seconds(gemm_kernel("p", GemmShape(128 * 101, 4096, 128), "bf16"))
    assert more == pytest.approx(2 * full)


@pytest.mark.parametrize(
    ("accelerator", "published", "units"),
    [("h100-sxm-80gb", 132, 132), ("h100-pcie-80gb", 114, 114), ("mi300x", 304, 1), ("mi355x", 256, 1)],
)
def test_rounds_of_tiles_cost_time_only_where_the_shares_of_the_peak_lack_it(
    accelerator: str, published: int, units: int
) -> None:
    whole = design(spec({"platform": None, "accelerator": accelerator}))
    assert whole.cluster
    assert whole.cluster.accelerator.compute_units == published
    rates = rates_of(whole, 2025)
    assert rates is not None
    assert (rates.speed.units, rates.speed.tiles) == (units, TILES if units > 1 else ())


def test_experts_run_at_their_own_rate() -> None:
    plain = gemm_kernel("p", GemmShape(4096, 4096, 4096), "bf16")
    assert plain.shape is not None
    experts = plain._replace(shape=plain.shape._replace(experts=True))
    assert SPEED.seconds(experts) == pytest.approx(SPEED.seconds(plain) / 0.8)


def test_short_sequences_do_not_fill_attention_kernels() -> None:
    def core(length: int) -> Kernel:
        return Kernel("core", 1e12, 0.0, "attention_forward", GemmShape(length, 128, length))

    assert SPEED.seconds(core(500)) > 1.8 * SPEED.seconds(core(50_000))


def test_a_lower_power_limit_slows_the_clock_by_its_cube_root() -> None:
    full, limited = reached(changed={"power": "700 W"}), reached(changed={"power": "350 W"})
    ratio = limited.speed.rates["matmul_bf16"] / full.speed.rates["matmul_bf16"]
    assert ratio == pytest.approx(0.5 ** (1 / 3))
    assert limited.speed.bandwidth == full.speed.bandwidth
    assert reached(changed={"power": "1000 W"}).speed.rates == full.speed.rates


@pytest.mark.parametrize(("precision", "reached"), [("bf16", 1267e12), ("fp8", 2535e12)])
def test_the_best_product_of_mi350x_is_that_of_the_same_chip_at_its_lower_power_limit(
    precision: str, reached: float
) -> None:
    """1,565 and 3,130 TFLOP/s at 1,400 W, times the root of (1,000 − 238) over (1,400 − 238), 0.810."""
    found = {}
    for accelerator in ("mi350x", "mi355x"):
        whole = design(spec({"platform": None, "accelerator": accelerator}))
        assert whole.cluster
        own = whole.cluster.accelerator
        found[accelerator] = own.achievable[f"matmul.{precision}"].value * own.peaks[precision].value
    assert found["mi350x"] == pytest.approx(found["mi355x"] * capped_rate(1000, 1400, 238), rel=5e-3)
    assert found["mi350x"] == pytest.approx(reached, rel=5e-3)


FLASH = ("flash", "flash-2")


def test_attention_kernels_are_those_of_the_year() -> None:
    old, new = reached(2023), reached(2025)
    assert old.speed.rates["attention_forward"] < new.speed.rates["attention_forward"]
    assert reached(2019).speed.rates == old.speed.rates
    older = reached(2026, attention="flash-2").speed.rates["attention_forward"]
    assert older == reached(2024).speed.rates["attention_forward"] < new.speed.rates["attention_forward"]
    megatron = {"framework": "megatron-core", "software_year": 2024}
    by_kernels = [rates_of(design(spec({}, layout=megatron, workload={"attention": each})), 2024) for each in FLASH]
    library, flash = (found.speed.rates["attention_forward"] for found in by_kernels if found)
    assert flash == older < library < new.speed.rates["attention_forward"], "cuDNN of 2024, unless flash-2 is asked for"
    b200 = {"platform": None, "accelerator": "b200-sxm-180gb"}
    found = rates_of(design(spec(b200, workload={"attention": "flash-2"})), 2026)
    assert found and found.speed.rates["attention_forward"] == pytest.approx(0.16 * 2250e12)


@pytest.mark.parametrize(
    ("framework", "model", "reached"),
    [("torchtitan", "gpt-oss-20b", 0.16), ("torchtitan", "qwen3-8b", 0.47), ("megatron-core", "gpt-oss-20b", 0.47)],
)
def test_pytorch_has_no_kernels_of_blackwell_for_attention_with_sinks(
    framework: str, model: str, reached: float
) -> None:
    """FlexAttention reaches on B200 what FlashAttention-2 does; Megatron Core has kernels with sinks."""
    b200 = {"platform": None, "accelerator": "b200-sxm-180gb"}
    software = {"framework": framework, "software_year": 2026, "tp": 1}
    found = rates_of(design(spec(b200, layout=software, workload={"model": model})), 2026)
    assert found and found.speed.rates["attention_forward"] == pytest.approx(reached * 2250e12, rel=0.01)


def test_pytorch_on_amd_runs_attention_kernels_of_its_own() -> None:
    """0.36 of the peak on long sequences, half of that on 3,200 tokens, and a third of the rate backward."""
    cluster = {"platform": "mi300x-ubb8", "nodes": 1}
    own, usual = (
        rates_of(design(spec(cluster, layout={"framework": "torchtitan", "tp": 1}, workload=workload)), 2025)
        for workload in ({}, {"attention": "flash-2"})
    )
    assert own and usual
    forward, backward = (own.speed.rates[f"attention_{name}"] for name in ("forward", "backward"))
    assert forward == pytest.approx(0.36 * 1307.4e12, rel=1e-3)
    assert backward == pytest.approx(0.33 * forward)
    assert own.speed.length_start == 3200 > usual.speed.length_start
    assert usual.speed.rates["attention_backward"] > 0.5 * usual.speed.rates["attention_forward"]


def test_eight_bits_are_faster_than_sixteen_and_need_both() -> None:
    speed = reached(precision="fp8").speed
    assert speed.rates["matmul_fp8"] > 1.5 * speed.rates["matmul_bf16"]


def test_a_part_without_the_precision_has_no_rates() -> None:
    a100 = {"platform": None, "accelerator": "a100-sxm-80gb"}
    assert rates_of(design(spec(a100, workload={"precision": "fp8"})), 2025) is None


def test_an_accelerator_without_figures_gets_the_usual_ones_and_says_so() -> None:
    whole = design(spec())
    assert whole.cluster is not None
    bare = replace(whole, cluster=replace(whole.cluster, accelerator=replace(whole.cluster.accelerator, achievable={})))
    found = rates_of(bare, 2025)
    assert found is not None
    assert {key for key, _, _ in found.assumptions} >= {"accelerator.matmul.bf16", "accelerator.memory"}
    assert reached().assumptions == ()


def test_two_ranks_share_an_accelerator() -> None:
    two = design(spec({"platform": None, "accelerator": "tpu-v7x", "accelerators_per_node": 4}))
    found = rates_of(two, 2026)
    assert found is not None
    assert two.cluster and two.cluster.accelerator.memory_bandwidth
    assert found.speed.bandwidth < two.cluster.accelerator.memory_bandwidth.value / 2


def attention(width: float, rate: str = "attention_forward", role: Role = Role.PLAIN) -> Kernel:
    """Attention of one sequence of 8,192 tokens, bound by its products."""
    return Kernel("a", 1e15, 1.0, rate, GemmShape(8192, width, 8192, 8), role=role)


def test_heads_of_half_the_width_wait_for_as_many_exponentials() -> None:
    """H100: exponentials take half the time of products at 128, so 1.5 parts at 128, and 1 + 1 = 2 for twice the heads
    of 64. Backward five products share one: 1.2, and 1.4.
    """
    speed = replace(SPEED, rates={"attention_forward": 1e15, "attention_backward": 1e15}, fixed=(1 / 3, 1 / 6))
    wide, narrow = speed.seconds(attention(128)), speed.seconds(attention(64))
    assert narrow == pytest.approx(wide * 2 / 1.5)
    back = [speed.seconds(attention(width, "attention_backward")) for width in (64, 128)]
    assert back[0] == pytest.approx(back[1] * 1.4 / 1.2)
    assert speed.seconds(attention(256)) == wide, "nothing is known of wider heads"
    assert speed.seconds(attention(64, role=Role.SCAN)) == 1.0, "a recurrence in chunks: no exponentials, no long sums"


@pytest.mark.parametrize(
    ("part", "forward", "backward"),
    [
        ("a100-sxm-80gb", 0.2, 1 / 11),  # 1/4, with the products at full rate
        ("h100-sxm-80gb", 1 / 3, 1 / 6),
        ("b200-sxm-180gb", 1 / 2, 2 / 7),
        ("b300-sxm-288gb", 1 / 3, 1 / 6),
        ("tpu-v5p", 1.0, 1.0),
    ],
)
def test_faster_products_leave_a_larger_share_to_exponentials(part: str, forward: float, backward: float) -> None:
    entry = Catalog.open().get("accelerator", part)
    assert isinstance(entry, Accelerator)
    assert fixed_shares(entry) == pytest.approx((forward, backward))


@pytest.mark.parametrize(
    ("bandwidth", "units", "reached"),
    [
        (2e12, 132, 1.26e12),  # 0.63 of 2 TB/s; 132 units would move 1.73
        (4e12, 132, 132 * 13.1e9),
        (8e12, 152, 152 * 13.1e9),  # not 1.7 times as fast as twice the bandwidth
        (8e12, 1, 0.63 * 8e12),  # units that are not known bound nothing
    ],
)
def test_a_recurrence_is_bound_by_memory_or_by_units(bandwidth: float, units: int, reached: float) -> None:
    """Five kernels that pass states through memory reach 0.63 of its bandwidth, and 13.1 GB/s in each unit."""
    scan = Kernel("s", 1.0, reached, "attention_forward", GemmShape(8192, 64, 128, 8), role=Role.SCAN)
    speed = replace(SPEED, bandwidth=bandwidth, units=units)
    assert speed.seconds(scan) == pytest.approx(1.0)
