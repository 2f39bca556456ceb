"""Rates of products on cards whose limit of power is below that of the part whose kernels were measured."""

from __future__ import annotations

from math import log, sqrt

import pytest

from clusterspec.cost.compute.power_cap import limited_clock
from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.rates import KernelRates
from clusterspec.records import replace
from tests.cluster.resolving import clean

PLAN = """
cluster: {{accelerator: {}, accelerators_per_node: 1, nodes: 1}}
workload:
  kind: serve
  model: llama-3.1-8b
  precision: bf16
  serving: {{input_tokens: 1000, output_tokens: 100, concurrency: 1}}
layout: {{framework: vllm}}
"""


def clock_of(chip: str) -> float:
    cluster = clean(PLAN.format(chip)).cluster
    assert cluster is not None
    return limited_clock(cluster.accelerator, cluster.kernels_part)


def test_a_card_with_half_of_the_power_reaches_less_of_its_peak() -> None:
    """H100 PCIe: 350 W for 114 units, where SXM has 700 W for 132, 70 of them idle; its peak is 756.5 instead of 989.4
    TFLOP/s.
    """
    idle = 70 / 132
    by_power = sqrt((350 / 114 - idle) / (700 / 132 - idle))
    assert clock_of("h100-pcie-80gb") == pytest.approx(by_power * (989.4 / 132) / (756.5 / 114))


@pytest.mark.parametrize("chip", ["h100-sxm-80gb", "h200-nvl-141gb", "h800-sxm-80gb", "mi300x", "l4", "rtx-4090"])
def test_others_reach_the_measured_share(chip: str) -> None:
    """The measured part itself, cards whose peak is lowered as much as their power, and kernels of a contemporary."""
    assert clock_of(chip) == 1.0


def test_unknown_power_lowers_nothing_and_products_have_the_clock() -> None:
    design = clean(PLAN.format("h100-pcie-80gb"))
    cluster = design.cluster
    assert cluster is not None and design.workload is not None and design.layout is not None
    unknown = (replace(cluster.accelerator, power=None), replace(cluster.accelerator, compute_units=None))
    assert [limited_clock(one, cluster.kernels_part) for one in unknown] == [1.0, 1.0]
    engine = Engine.of(cluster, design.workload, design.layout, 1)
    free = Engine.of(replace(cluster, kernels_part=None), design.workload, design.layout, 1)
    assert engine is not None and free is not None
    assert engine.rates.clock == clock_of("h100-pcie-80gb") and free.rates.clock == 1.0


def rates_of(chip: str) -> KernelRates:
    cluster = clean(PLAN.format(chip)).cluster
    assert cluster is not None
    found = KernelRates.of(cluster.accelerator, cluster.kernels, cluster.kernels_part)
    assert found is not None
    return found


@pytest.mark.parametrize(("chip", "bandwidth"), [("l4", 300e9), ("rtx-4090", 1008e9), ("rtx-6000-ada", 960e9)])
def test_cards_of_a_measured_architecture_read_their_memory_as_measured(chip: str, bandwidth: float) -> None:
    """L40S reads weights at 0.81 of its bandwidth; how fast a card multiplies does not change that. A sixteenth of what
    L40S and L4 read are check bits, which RTX 4090 and RTX 6000 Ada do not keep in their memory."""
    found, data = rates_of(chip), 1.0 if chip == "l4" else 16 / 15
    assert found.table == "ada" and found.weight_read_rate("bf16") == pytest.approx(0.81 * data * bandwidth)


@pytest.mark.parametrize(("chip", "share"), [("gaudi3", 0.86 * 0.741 / 0.803)])
def test_cards_of_another_architecture_read_it_at_most_at_the_measured_share(chip: str, share: float) -> None:
    found = rates_of(chip)
    assert found.table == "hopper" and found.weight_read_rate("bf16") == pytest.approx(share * found.bandwidth)


def test_a_card_of_half_the_peak_has_the_share_of_more_rows() -> None:
    """RTX 5090 has 209.5 TFLOP/s for 1,792 GB/s, RTX PRO 6000 467.8 for 1,597: 128 rows are to the one what 320.7 are
    to the other. Between 256 (0.564 of the peak) and 512 rows (0.674), scaled by a best product of 1 over 0.853.
    """
    rows = 128 * (467.8 / 1597) / (209.5 / 1792)
    part = log(rows / 256) / log(2)
    share = 0.564 * (0.674 / 0.564) ** part / 0.853
    assert rates_of("rtx-5090").gemm_rate("bf16", 128.0, 209.5e12) == pytest.approx(share * 209.5e12)
    assert rates_of("rtx-pro-6000").gemm_rate("bf16", 128.0, 467.8e12) == pytest.approx(0.341 * 467.8e12)
