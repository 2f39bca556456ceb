"""The host's time for calls of modules with a matrix, beyond the launches of their kernels, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.compute import Kernel
from clusterspec.cost.compute.layer import SoftwareBehavior, layer_parts
from clusterspec.cost.layers import FeedForward
from clusterspec.records import replace
from tests.cost.compute.test_kernels import shard

DENSE, EXPERTS = FeedForward.DENSE, FeedForward.EXPERTS
LORA = {"method": "lora", "rank": 16, "modules": ["attention", "ffn"]}


def call_time(network: FeedForward, workload: dict[str, Any], **layout: Any) -> tuple[float, float]:
    """Microseconds that calls of modules add to the launches of a layer, forward and backward."""
    share, software = shard(workload, tp=1, **layout)

    def launches(behavior: SoftwareBehavior) -> tuple[float, float]:
        works = layer_parts(network, share, behavior).values()
        return sum(map(_launches, (w.forward for w in works))), sum(map(_launches, (w.backward for w in works)))

    pairs = zip(launches(software), launches(replace(software, module=0.0)), strict=True)
    there, back = (1e6 * software.interval * (called - bare) for called, bare in pairs)
    return there, back


def _launches(kernels: tuple[Kernel, ...]) -> float:
    return sum(kernel.launches for kernel in kernels)


@pytest.mark.parametrize(
    ("network", "workload", "modules"),
    [
        (DENSE, {}, 4),  # queries, keys and values; output; gate and up; down
        (EXPERTS, {"model": "mixtral-8x7b"}, 4),  # attention as before, two grouped products, and no router
        (EXPERTS, {"model": "deepseek-v3"}, 9),  # five of latent attention, two grouped products, two of shared experts
        (DENSE, {"trainable": LORA}, 4),  # adapters are no modules of the library
    ],
)
def test_each_module_is_called_once_in_either_pass(
    network: FeedForward, workload: dict[str, Any], modules: int
) -> None:
    """A call takes 115 us instead of the 45 us of its first kernel: 280 us for a dense layer."""
    found = call_time(network, workload, software_year=2025, ep=8 if network is EXPERTS else 1)
    assert found == pytest.approx((70 * modules, 70 * modules))


def test_modules_before_they_were_optimized_take_longer() -> None:
    assert call_time(DENSE, {}, software_year=2024) == pytest.approx((4 * 95, 4 * 95))


@pytest.mark.parametrize(("framework", "year"), [("megatron-core", 2023), ("torchtitan", 2025), ("llm-c", 2024)])
def test_calls_take_no_longer_than_kernels_where_nothing_was_measured(framework: str, year: int) -> None:
    assert call_time(DENSE, {}, framework=framework, software_year=year) == (0, 0)
