"""Laws of the kernel figures: each is the arithmetic of its own reason, or the middle of what the catalog has."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.cost import compute as kernels
from clusterspec.cost.compute import attention, layer
from clusterspec.cost.formulas.compute import depth_fill

UNMEASURED = ("mi210", "mi250", "mi300a", "mi350p", "mi455x")
"""Accelerators of AMD of which no product is measured, with a peak in 16 bits."""
CATALOG = Catalog.open()
ACCELERATORS = [CATALOG.get("accelerator", name) for name in CATALOG.ids("accelerator")]


def known(fits: Callable[[str], bool]) -> list[float]:
    """The achievable figures of all accelerators whose name fits."""
    chips = [chip for chip in ACCELERATORS if isinstance(chip, Accelerator)]
    return [figure.value for chip in chips for name, figure in chip.achievable.items() if fits(name)]


def test_a_default_figure_is_the_median_of_the_catalog_within_a_tenth() -> None:
    middles = {
        "matmul": median(known(lambda name: name == "matmul.bf16")),
        "attention": median(known(lambda name: name.startswith("attention.y"))),
        "attention.backward": median(known(lambda name: name == "attention.backward")),
        "memory": median(known(lambda name: name == "memory")),
    }
    for name, middle in middles.items():
        assert kernels.USUAL[name] == pytest.approx(middle, rel=0.1), name


def test_the_default_training_efficiency_is_the_median_of_measured_parts() -> None:
    both = [
        chip.achievable["sustained.bf16"].value
        for chip in ACCELERATORS
        if isinstance(chip, Accelerator) and {"matmul.bf16", "sustained.bf16"} <= chip.achievable.keys()
    ]
    assert kernels.USUAL["sustained"] == pytest.approx(median(both), rel=0.1)


def test_parts_that_nobody_measured_have_the_median_of_their_kind() -> None:
    """By maker for AMD, by the size of the array for TPUs: 0.514, 0.551, 0.622 and 0.636 have 0.5865 in the middle."""
    chips = [chip for chip in ACCELERATORS if isinstance(chip, Accelerator)]
    best = {chip.id: chip.achievable["matmul.bf16"] for chip in chips if chip.vendor == "AMD" and _has_best(chip)}
    guessed = {name: figure.value for name, figure in best.items() if name in UNMEASURED}
    middle = median(figure.value for name, figure in best.items() if name not in UNMEASURED)
    assert guessed == dict.fromkeys(UNMEASURED, pytest.approx(middle, abs=0.01))
    arrays = {chip.id: chip.achievable["sustained.bf16"].value for chip in chips if chip.array == 128}
    assert arrays.pop("tpu-v3") == pytest.approx(median(arrays.values()), abs=0.01)


def _has_best(chip: Accelerator) -> bool:
    """Whether an accelerator has a figure for its best product in 16 bits."""
    return "matmul.bf16" in chip.achievable


def test_plain_attention_moves_its_scores_as_often_as_its_kernels_do() -> None:
    """Forward: softmax reads and writes (2), dropout too with half a mask (2.5). Backward: three, and 2.5."""
    assert attention.SCORE_PASSES == (2 + 2.5, 3 + 2.5)
    assert attention.COMPILED_SCORE_PASSES == (1 + 1, 2 + 1)  # a maximum and a sum are read; dropout moves nothing


def test_counted_figures_equal_their_counts() -> None:
    norm, addition = (1 + 1) + (2 + 1), (2 + 1) + (1 + 1)  # reads and writes, forward and backward
    assert norm + addition == kernels.NORM_PASSES
    # a norm reads it and an addition reads and writes it; backward a norm reads it and writes its gradient
    assert 2 * (1 + 2) == 2 * (2 + 1) == kernels.RESIDUAL_PASSES
    assert attention.FLASH_BACKWARD == attention.FLASH_BACKWARD_TRAFFIC == 5 / 2
    assert kernels.WEIGHT_SHARE == kernels.ALTERNATE == 1 / 2
    assert kernels.ROUTER_BYTES == 3 * 4  # softmax, choice and scatter in fp32
    assert layer.CAST == 4
    assert layer.LOSS == 12
    assert kernels.LOSS_FORWARD == 0.6


def test_a_product_as_deep_as_the_start_reaches_half_its_rate() -> None:
    assert (kernels.DEPTH_START, kernels.LENGTH_START) == (50, 500)
    assert depth_fill(kernels.DEPTH_START, kernels.DEPTH_START) == pytest.approx(0.5)


def test_smaller_tiles_read_their_operands_more_often_and_are_slower() -> None:
    """A tile of r × c reads r + c operands for r c products: 128 × 128 a third more than 256 × 128, 128 × 64 twice."""
    reads = [(rows + columns) / (rows * columns) for rows, columns, _ in kernels.TILES]
    assert [each / reads[0] for each in reads] == pytest.approx([1, 4 / 3, 2])
    assert [rate for *_, rate in kernels.TILES] == [1.0, 0.93, 0.8]
