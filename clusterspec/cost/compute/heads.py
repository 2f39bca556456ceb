"""The rate of attention where heads are narrower, or sequences shorter, than those that it was measured with."""

from __future__ import annotations

from clusterspec.catalog.entries import Accelerator
from clusterspec.cost import assumed_figure
from clusterspec.cost.compute.kernels import KERNELS, LENGTH_START
from clusterspec.cost.formulas.compute import fixed_share, head_fill, smaller

WIDTH = assumed_figure(
    KERNELS,
    "attention.width",
    128.0,
    "head dimension at which the rates of attention of the catalog hold; wider heads count as this wide",
).value
EXPONENTIALS = assumed_figure(
    KERNELS,
    "attention.exponentials",
    0.5,
    "time of the exponentials of attention over that of its products, forward, at that head dimension, for accelerators"
    " without a figure: as on H100 and Blackwell Ultra (FlashAttention-3, arXiv 2407.08608, section 3.1)",
).value
BACKWARD_EXPONENTIALS = assumed_figure(
    KERNELS,
    "attention.exponentials.backward",
    0.4,
    "exponentials for each product in the backward pass of attention over those in the forward pass: one for five"
    " products, where the forward pass has two (FlashAttention-2, arXiv 2307.08691, algorithm 2)",
).value


def attention_length(accelerator: Accelerator) -> float:
    """The sequence length in tokens at which attention kernels reach half of their long-sequence rate: as measured on
    the accelerator, else the usual one.
    """
    measured = accelerator.achievable.get("attention.length")
    return LENGTH_START if measured is None else measured.value


def fixed_shares(accelerator: Accelerator) -> tuple[float, float]:
    """The share of attention's time at the usual head dimension that narrower heads do not shorten, forward and
    backward: that of its exponentials; all of it on a systolic array, whose columns narrow heads do not fill.
    """
    if accelerator.array:
        return 1.0, 1.0
    stated = accelerator.achievable.get("attention.exponentials")
    each = EXPONENTIALS if stated is None else stated.value
    return fixed_share(each, 1.0), fixed_share(each, BACKWARD_EXPONENTIALS)


def width_share(width: float, fixed: float) -> float:
    """The rate at a head dimension over that at the usual one, of a pass with this ``fixed`` share."""
    return head_fill(smaller(1.0, width / WIDTH), fixed)
