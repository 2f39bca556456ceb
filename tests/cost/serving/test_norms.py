"""The norms after all-reduces: separate kernels, in addition to the all-reduces of the software, where none fuses
both.
"""

from __future__ import annotations

import pytest

from clusterspec.catalog.entries import Accelerator, Kernels
from clusterspec.cost.serving.parts import launches
from clusterspec.cost.serving.rates import KernelRates
from clusterspec.cost.serving.step_times import decode_step
from tests.catalog.shipped import CATALOG
from tests.cost.serving.test_rates import rates
from tests.cost.serving.test_steps import engine, numbers

LLAMA, DEEPSEEK = "llama-3.1-70b", "deepseek-v3"
MEASURED = ("accelerator", "b200-sxm-180gb")


@pytest.mark.parametrize(
    ("software", "model", "platform", "layout", "apart"),
    [
        ("vllm, software: vllm 0.13", LLAMA, "dgx-b200", "tp: 8", True),
        ("vllm, software: vllm 0.13", DEEPSEEK, "dgx-b200", "tp: 8", True),
        ("vllm, software: vllm 0.17", LLAMA, "dgx-b200", "tp: 8", False),
        ("sglang, software: sglang 0.5.9", LLAMA, "dgx-b200", "tp: 8", True),
        ("sglang, software: sglang 0.5.9", DEEPSEEK, "dgx-b200", "tp: 8", False),  # fused by default on sm_100
        ("sglang, software: sglang 0.5.9", DEEPSEEK, "dgx-h200", "tp: 8", True),
        ("trt-llm", LLAMA, "dgx-b200", "tp: 8", False),
        ("trt-llm", LLAMA, "dgx-b200", "tp: 1", True),  # no all-reduce
    ],
)
def test_norms_are_kernels_of_their_own_where_the_release_does_not_fuse_them(
    software: str, model: str, platform: str, layout: str, apart: bool
) -> None:
    found = engine(model, layout, platform=platform, framework=software, precision="fp8")
    assert launches.separates_norms(found.layout, found.model, found.cluster.accelerator) is apart
    layers, latent = found.model.layers, model == DEEPSEEK
    small = numbers(decode_step(found, 8.0, 1000.0), "launch")["small"]
    assert small == (0 if latent else layers * (4 if apart else 2))


def test_all_reduces_are_those_of_the_software_where_they_were_measured_apart() -> None:
    """128 KB over eight ranks: of vLLM 9.4 us, of TensorRT-LLM between 6.1 at 32 KB and 7.9 at 256."""
    blackwell, hopper = rates("b200-sxm-180gb", "blackwell"), rates("h200-sxm-141gb", "hopper")
    size, line = 128 * 1024, 900e9
    fused = blackwell.all_reduce_seconds(8, size, line)
    assert fused is not None and 6.1e-6 < fused < 7.9e-6
    assert blackwell.all_reduce_seconds(8, size, line, "vllm") == pytest.approx(9.4e-6)
    assert blackwell.all_reduce_seconds(5, size, line, "vllm") == pytest.approx(9.4e-6)
    assert blackwell.all_reduce_seconds(8, size, line, "custom") == fused
    assert blackwell.all_reduce_seconds(16, size, line, "vllm") is None
    assert hopper.all_reduce_seconds(8, size, 450e9, "vllm") == hopper.all_reduce_seconds(8, size, 450e9)


def test_an_accelerator_of_another_vendor_has_no_all_reduces_of_a_software() -> None:
    chip, part, table = (CATALOG.get(*each) for each in (("accelerator", "mi355x"), MEASURED, ("kernels", "blackwell")))
    assert isinstance(chip, Accelerator) and isinstance(part, Accelerator) and isinstance(table, Kernels)
    found = KernelRates.of(chip, table, part)
    assert found is not None
    assert found.all_reduce_seconds(8, 64 * 1024, 500e9, "vllm") == found.all_reduce_seconds(8, 64 * 1024, 500e9)


@pytest.mark.parametrize(("layout", "kernels"), [("tp: 1", 4), ("tp: 2", 2)])
def test_linear_attention_beside_latent_attention_has_its_own_norms_and_elementwise_kernels(
    layout: str, kernels: int
) -> None:
    """20 of 27 layers of Kimi-Linear; the others have them in the kernels of latent attention."""
    found = engine("kimi-linear-48b-a3b", layout, platform="dgx-h200", framework="vllm, software: vllm 0.20")
    assert numbers(decode_step(found, 1.0, 1000.0), "launch")["small"] == 20 * kernels
