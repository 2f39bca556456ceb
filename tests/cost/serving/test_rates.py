"""Rates of kernels: points of the tables, lines between them, and how other accelerators are scaled."""

from __future__ import annotations

from math import log

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator, Kernels
from clusterspec.cost.formulas.serving import rate_beyond_floor
from clusterspec.cost.serving.rates import KernelRates, interpolated_value, size_curves
from tests.effort import telling

CATALOG = Catalog.open()


def rates(chip: str, table: str) -> KernelRates:
    accelerator, kernels = CATALOG.get("accelerator", chip), CATALOG.get("kernels", table)
    assert isinstance(accelerator, Accelerator) and isinstance(kernels, Kernels)
    found = KernelRates.of(accelerator, kernels)
    assert found is not None
    return found


def test_tables_interpolate_logarithms_and_hold_their_end_values() -> None:
    curve = ((log(100), log(10_000)), (log(2.0), log(8.0)))
    assert interpolated_value(curve, 1_000) == pytest.approx(
        4.0
    )  # half way in logarithms: the geometric mean of 2 and 8
    assert interpolated_value(curve, 1) == pytest.approx(2.0)
    assert interpolated_value(curve, 1e9) == pytest.approx(8.0)


def test_a_table_has_the_points_of_the_entry() -> None:
    entry = CATALOG.get("kernels", "hopper")
    assert isinstance(entry, Kernels)
    found = size_curves(entry)
    assert interpolated_value(found["gemm.bf16"], 512) == pytest.approx(0.75)
    assert interpolated_value(found["all_reduce.8"], 256 * 1024) == pytest.approx(11e-6)
    assert interpolated_value(found["attention.decode"], 128 * 1024**2) == pytest.approx(0.63)


def test_products_of_many_rows_reach_the_measured_share_of_the_peak() -> None:
    found = rates("h100-sxm-80gb", "hopper")
    assert found.gemm_rate("bf16", 256, 989.4e12) == pytest.approx(0.51 * 989.4e12)
    assert found.gemm_rate("bf16", 2048, 989.4e12) == pytest.approx(0.694 * 989.4e12)  # 0.81 in short calls
    assert found.weight_read_rate("fp8") == pytest.approx(0.80 * 3350e9)


def test_a_gemm_of_more_rows_reads_its_weights_as_slowly_as_was_measured() -> None:
    """FP8 on H100: 0.97 at 64 rows and 0.82 at 96, half way in logarithms at 78.4 rows; few rows as the table says."""
    found = rates("h100-sxm-80gb", "hopper")
    few = found.weight_read_rate("fp8")
    assert [found.weight_read_rate("fp8", rows) / few for rows in (8, 64, 96)] == pytest.approx([1.0, 0.97, 0.82])
    assert found.weight_read_rate("fp8", (64 * 96) ** 0.5) / few == pytest.approx((0.97 * 0.82) ** 0.5)
    assert found.weight_read_rate("bf16", 64) == pytest.approx(0.98 * found.weight_read_rate("bf16"))


@pytest.mark.parametrize("rows", [256, 512, 1024, 2048, 4096, 8192])
@pytest.mark.parametrize("precision", ["bf16", "fp8"])
@pytest.mark.parametrize("table", ["hopper", "hopper-h200", "blackwell", "blackwell-ultra", "blackwell-rtx"])
def test_a_launch_and_a_gemm_beyond_its_floor_take_as_long_as_was_measured(
    table: str, precision: str, rows: int
) -> None:
    """Of the median matrix, of 2^25 weights: the floor of a kernel counts once."""
    entry = CATALOG.get("kernels", table)
    assert isinstance(entry, Kernels) and entry.accelerator is not None
    found = rates(entry.accelerator, table)
    peak, work = found.peaks[precision], 2.0 * rows * 2**25
    names = (f"gemm.{precision}.{rows}", f"gemm.{precision}.sustained")
    measured = work / (peak * min(entry.achievable[name].value for name in names if name in entry.achievable))
    beyond = found.dense_gemm_rate(precision, float(rows), peak)
    assert found.gemm_floor("bf16") + work / beyond == pytest.approx(measured, rel=1e-9)
    assert found.gemm_rate(precision, float(rows), peak) < beyond <= peak


def test_a_gemm_beyond_its_floor_is_no_faster_than_the_peak() -> None:
    assert rate_beyond_floor(4e9, 800e12, 4e-6, 1000e12) == 1000e12  # 5 us whole, 1 without the floor, 4 at the peak
    assert rate_beyond_floor(4e9, 400e12, 4e-6, 1000e12) == pytest.approx(4e9 / 6e-6)


def test_an_accelerator_without_a_table_is_scaled_by_its_best_product() -> None:
    # Gaudi 3: 0.741 of its peak at best, H100: 0.803
    found = rates("gaudi3", "hopper")
    assert found.scale == pytest.approx(0.741 / 0.803)
    assert found.gemm_rate("bf16", 2048, 1835e12) == pytest.approx(0.81 * 0.741 / 0.803 * 1835e12)
    assert found.weight_read_rate("bf16") == pytest.approx(0.86 * 0.741 / 0.803 * 3700e9)


def test_an_all_reduce_is_read_at_the_size_that_takes_as_long_on_the_links_measured() -> None:
    found = rates("h100-sxm-80gb", "hopper")
    assert found.all_reduce_seconds(8, 2048 * 1024, 450e9) == pytest.approx(19e-6)
    assert found.all_reduce_seconds(8, 1024 * 1024, 225e9) == pytest.approx(19e-6)
    assert found.all_reduce_seconds(5, 2048 * 1024, 450e9) == pytest.approx(
        19e-6
    )  # the next number of ranks that was measured
    assert found.all_reduce_seconds(16, 2048 * 1024, 450e9) is None
    assert found.all_reduce_seconds(8, 1e9, 450e9) is None


def test_a_slower_memory_reaches_the_share_of_a_longer_call() -> None:
    own, slow = rates("h100-sxm-80gb", "hopper"), rates("l40s", "hopper")
    # 32 MB on 864 GB/s take as long as 124 MB on 3,350 GB/s, which run at 0.62 and not at 0.40
    assert own.cache_read_rate(32 * 1024**2) == pytest.approx(0.40 * 3350e9)
    assert 0.60 * 864e9 < slow.cache_read_rate(32 * 1024**2) < 0.63 * 864e9


def _share_of_peak(entry: Kernels, key: str, value: float) -> float:
    """A figure as a share of a peak: that of experts is relative to GEMMs of as many rows, which it may exceed where
    their kernels exchange the tiles of rows and weights.
    """
    table, _, rows = key.rpartition(".")
    gemm = f"gemm.{table.removeprefix('experts.').removesuffix('_block')}"
    curve = size_curves(entry).get(gemm)
    if not table.startswith("experts.") or curve is None:
        return value
    return value * min(1.0, interpolated_value(curve, float(rows)))


@telling(2)
@pytest.mark.parametrize("name", CATALOG.ids("kernels"))
def test_no_measured_efficiency_exceeds_one(name: str) -> None:
    entry = CATALOG.get("kernels", name)
    assert isinstance(entry, Kernels)
    shares = {
        key: figure
        for key, figure in entry.achievable.items()
        if figure.unit == "1" and not key.endswith(".rows") and ".by_weights." not in key
    }
    efficiencies = {key: _share_of_peak(entry, key, figure.value) for key, figure in shares.items()}
    assert efficiencies and all(0 < share <= 1 for share in efficiencies.values())
    assert isinstance(CATALOG.get("accelerator", entry.accelerator), Accelerator)


@pytest.mark.parametrize("precision", ["fp4", "fp8"])
@pytest.mark.parametrize("name", ["blackwell", "blackwell-ultra", "blackwell-rtx"])
def test_larger_weights_of_few_bits_are_multiplied_faster_and_those_of_the_median_shape_as_measured(
    name: str, precision: str
) -> None:
    entry = CATALOG.get("kernels", name)
    assert isinstance(entry, Kernels) and entry.accelerator is not None
    found = rates(entry.accelerator, name)
    shares = [found.weights_share(precision, 2.0**power) for power in range(20, 32)]
    assert shares == sorted(shares) and shares[-2] == shares[-1]
    assert shares[0] < 0.66  # a million weights
    assert shares[5] == pytest.approx(1.0, abs=0.04)  # 2^25 weights
    peak = found.peaks[precision]
    assert found.gemm_rate(precision, 8192.0, peak) * shares[-1] < 0.9 * peak


def test_attention_has_the_table_of_the_software_for_the_precision_of_the_cache() -> None:
    found = rates("h100-sxm-80gb", "hopper")
    own = found.decode_table("trt-llm", "fp8")
    # 80 % of the bandwidth for 512 MB in 8 bits, 78 % in 16 bits; 6.2 us and 10 us at least
    assert found.cache_read_rate(512 * 1024**2, own) == pytest.approx(0.80 * 3350e9)
    assert found.cache_read_rate(512 * 1024**2) == pytest.approx(0.78 * 3350e9)
    assert (found.attention_floor(own), found.attention_floor()) == (6.2e-6, 10e-6)
    assert found.decode_table("trt-llm", "bf16") == found.decode_table("vllm", "fp8") == "attention.decode"


def test_latent_attention_reaches_its_share_of_the_peak_of_the_precision_of_the_cache() -> None:
    rate, figure = rates("h20-96gb", "hopper-h20").latent_rate("fp8")
    assert figure == "attention.latent.fp8"
    assert rate == pytest.approx(0.72 * 296e12, rel=1e-3)


def test_experts_have_the_rate_of_the_fused_kernels_of_their_software() -> None:
    found = rates("h200-sxm-141gb", "hopper-h200")
    assert found.experts_share("fp8", 64.0, "vllm") == pytest.approx(0.76)
    assert found.experts_share("fp8", 64.0, "sglang") == found.experts_share("fp8", 64.0, "vllm")
    assert found.experts_share("fp8", 64.0, "trt-llm") == pytest.approx(0.74)
    assert found.experts_share("fp8", 1e6, "vllm") == found.experts_share("fp8", 512.0, "vllm")
    assert found.experts_share("fp8", 128.0, "vllm") < found.experts_share("fp8", 16.0, "vllm")
    assert rates("l40s", "ada").experts_share("fp8", 64.0, "vllm") == 1.0  # not measured


@pytest.mark.parametrize("software", ["vllm", "trt-llm"])
@pytest.mark.parametrize("name", ["hopper", "hopper-h200", "blackwell", "blackwell-ultra"])
def test_fused_kernels_of_experts_are_never_faster_than_gemms_of_as_many_rows(name: str, software: str) -> None:
    entry = CATALOG.get("kernels", name)
    assert isinstance(entry, Kernels) and entry.accelerator is not None
    found = rates(entry.accelerator, name)
    for precision in ("bf16", "fp8", "fp4"):
        shares = [found.experts_share(precision, 2.0**power, software) for power in range(12)]
        assert all(0.4 < share <= 1 + 1e-12 for share in shares)


def test_experts_that_convert_their_weights_run_at_the_rate_of_their_software() -> None:
    """Points of the tables of gpt-oss and Kimi-K2: Triton kernels from vLLM 0.12 on, none measured before."""
    hopper, blackwell = rates("h100-sxm-80gb", "hopper"), rates("b200-sxm-180gb", "blackwell")
    assert hopper.widened_experts_share("mxfp4", 64.0, "vllm_2026", "vllm") == pytest.approx(0.37)
    assert hopper.widened_experts_share("fp4", 64.0, "sglang_2025", "sglang") == pytest.approx(0.37)
    assert hopper.widened_experts_share("mxfp4", 1024.0, "trt-llm_2025", "trt-llm") == pytest.approx(0.48)
    assert hopper.widened_experts_share("mxfp4", 64.0, "vllm_2025", "vllm") is None
    for software in ("vllm", "sglang"):
        assert hopper.widened_experts_share("int4", 128.0, software) == pytest.approx(0.45)
    assert blackwell.widened_experts_share("int4", 128.0, "vllm") == pytest.approx(0.23)
    assert blackwell.widened_experts_share("int4", 128.0, "sglang") == pytest.approx(0.72)
    assert rates("l40s", "ada").widened_experts_share("int4", 128.0, "vllm") is None


def test_experts_of_weights_in_blocks_have_rates_of_their_own_where_they_were_measured() -> None:
    found = rates("h100-sxm-80gb", "hopper")
    assert found.experts_share("fp8", 128.0, "trt-llm", blocks=True) == pytest.approx(0.41)
    assert found.experts_share("fp8", 128.0, "trt-llm") == pytest.approx(0.82)
    assert found.experts_share("fp8", 128.0, "vllm", blocks=True) == found.experts_share("fp8", 128.0, "vllm")


@pytest.mark.parametrize(
    ("software", "year", "share"),
    [
        ("vllm", 2025.0, 0.53),  # 0.14.0, the first release that was measured
        ("vllm", 2024.0, 0.53),  # older ones had no faster kernels
        ("vllm", 2026.0, 0.8),  # the table without a year
        ("sglang", 2025.0, 0.58),
        ("trt-llm", 2025.0, 0.69),
        ("trt-llm", 2026.0, 0.74),
        ("custom", 2025.0, 0.8),  # none of its releases was measured
    ],
)
def test_experts_run_the_kernels_of_the_first_measured_release_that_is_not_older(
    software: str, year: float, share: float
) -> None:
    found = rates("h100-sxm-80gb", "hopper")
    assert found.experts_share("bf16", 128.0, software, year=year, size=5e6) == pytest.approx(share, rel=0.06)


def test_releases_choose_kernels_on_accelerators_of_the_vendor_that_was_measured_alone() -> None:
    chip, entry, part = (
        CATALOG.get(kind, name)
        for kind, name in (("accelerator", "mi355x"), ("kernels", "blackwell"), ("accelerator", "b200-sxm-180gb"))
    )
    assert isinstance(chip, Accelerator) and isinstance(entry, Kernels) and isinstance(part, Accelerator)
    found = KernelRates.of(chip, entry, part)
    assert found is not None
    assert found.experts_share("bf16", 128.0, "vllm", year=2025) == found.experts_share("bf16", 128.0, "vllm")
    measured = rates("b200-sxm-180gb", "blackwell")
    assert measured.experts_share("bf16", 128.0, "vllm", year=2025) < measured.experts_share("bf16", 128.0, "vllm") / 2


def test_small_experts_are_multiplied_at_a_lower_rate_by_kernels_whose_sizes_were_measured() -> None:
    """CUTLASS with weights in 4 bits: shards of DeepSeek-V3 over eight ranks, whole experts, and all of one rank."""
    found = rates("b200-sxm-180gb", "blackwell")
    sizes = [1e6, 2e6, 5e6, 44e6, 125e6]
    shares = [found.experts_share("fp4", 128.0, "trt-llm", year=2025, size=size) for size in sizes]
    assert shares == sorted(shares) and shares[0] < 0.2 and shares[3] == pytest.approx(0.47 * 1.54)
    assert shares[-1] == 1.0  # no faster than a GEMM of as many rows
    assert len({found.experts_share("fp8", 128.0, "vllm", size=size) for size in sizes}) == 1  # not measured


def test_weights_in_blocks_have_kernels_of_a_release_only_where_those_were_measured() -> None:
    found = rates("h100-sxm-80gb", "hopper")
    without = found.experts_share("fp8", 128.0, "trt-llm", blocks=True)
    assert found.experts_share("fp8", 128.0, "trt-llm", blocks=True, year=2025, size=5e6) == without
    assert found.experts_share("fp8", 128.0, "trt-llm", year=2025, size=5e6) != without


def test_products_in_eight_bits_have_the_table_of_the_software_and_of_the_scales_of_the_weights() -> None:
    """H100, 4,096 rows: TensorRT-LLM with scales of tensors 0.62 of the peak, of blocks 0.51; all others 0.49."""
    found, peak = rates("h100-sxm-80gb", "hopper"), 1978.9e12
    shares = [
        found.gemm_rate("fp8", 4096.0, peak, software, blocks) / peak
        for software, blocks in (("trt-llm", False), ("trt-llm", True), ("vllm", False), ("vllm", True))
    ]
    assert shares == pytest.approx([0.62, 0.51, 0.49, 0.49])


def test_blocks_have_a_table_of_their_own_where_no_software_was_measured_apart() -> None:
    """AITER on MI355X, 4,096 rows: scales of rows 0.41 of the peak, of blocks 0.28, by any engine."""
    found, peak = rates("mi355x", "cdna4"), 5033e12
    shares = [found.gemm_rate("fp8", 4096.0, peak, software, True) / peak for software in ("vllm", "sglang", "")]
    assert shares == pytest.approx([0.28] * 3)
    assert found.gemm_rate("fp8", 4096.0, peak, "vllm") / peak == pytest.approx(0.41)


def test_a_mesh_of_four_reduces_over_the_links_that_it_has() -> None:
    """SGLang on four MI300X, 1 MiB in 22.9 us: three of seven links of 64 GB/s; two have one, which carries as much."""
    found = rates("mi300x", "cdna3")
    assert found.all_reduce_seconds(4, 2.0**20, 3 * 64e9) == pytest.approx(22.9e-6, rel=0.01)
    assert found.all_reduce_seconds(2, 2.0**20, 64e9) == pytest.approx(22.9e-6, rel=0.01)
    assert found.all_reduce_seconds(8, 2.0**20, 7 * 64e9) == pytest.approx(21e-6, rel=0.1)  # 1.5 MiB in 24 on MI355X


def test_blocks_without_a_table_of_the_software_have_the_general_one() -> None:
    """On B200 the general table is that of TensorRT-LLM's blocks, 0.55 at 4,096 rows; scales of tensors have 0.49."""
    found, peak = rates("b200-sxm-180gb", "blackwell"), 4500e12
    assert found.gemm_rate("fp8", 4096.0, peak, "trt-llm", blocks=True) / peak == pytest.approx(0.55)
    assert found.gemm_rate("fp8", 4096.0, peak, "trt-llm") / peak == pytest.approx(0.49)
