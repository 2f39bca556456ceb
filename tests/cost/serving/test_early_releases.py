"""What early releases of engines lacked for models with latent attention: fused kernels, captured graphs, and exchanges
of single copies of tokens.
"""

from __future__ import annotations

import pytest

from clusterspec.cost.serving.step_times import decode_step, prompt_step
from tests.cost.serving.test_steps import engine, numbers

DEEPSEEK, LLAMA = "deepseek-v3", "llama-3.1-70b"
DENSE, EXPERTS = 3, 58
"""Layers of DeepSeek-V3."""


@pytest.mark.parametrize(
    ("software", "platform", "attention", "experts"),
    [
        ("sglang, software: sglang 0.4.1", "dgx-h200", 38, 12),
        ("sglang, software: sglang 0.4.3", "dgx-h200", 38, 12),
        ("sglang, software: sglang 0.4.3", "mi300x-ubb8", 22, 12),  # weights are converted, not queries
        ("sglang, software: sglang 0.4.4", "dgx-h200", 0, 0),
        ("sglang, software: sglang 0.5", "dgx-h200", 0, 0),
        ("sglang, software: sglang 0.5.7", "mi300x-ubb8", 16, 0),  # positions in PyTorch, and weights converted
        ("sglang, software: sglang 0.5.12", "mi300x-ubb8", 16, 0),
        ("sglang, software: sglang 0.5.12", "dgx-b200", 0, 0),
        ("vllm, software: vllm 0.7.3", "dgx-h200", 18, 12),
        ("vllm, software: vllm 0.8", "dgx-h200", 0, 0),
    ],
)
def test_kernels_that_later_releases_fuse_are_counted_in_each_layer(
    software: str, platform: str, attention: int, experts: int
) -> None:
    found = engine(DEEPSEEK, "tp: 8", platform=platform, framework=software)
    launch = numbers(decode_step(found, 8.0, 1000.0), "launch")
    assert launch["small"] == attention * (DENSE + EXPERTS) + experts * EXPERTS
    assert launch["small_kernel"] == (6e-6 if platform == "mi300x-ubb8" else 2e-6)


@pytest.mark.parametrize(
    ("software", "model", "stated", "captured"),
    [
        ("trt-llm, software: trt-llm 0.17.0", DEEPSEEK, "", False),
        ("trt-llm, software: trt-llm 0.21", DEEPSEEK, "", False),
        ("trt-llm, software: trt-llm 0.17.0", DEEPSEEK, ", captured_graphs: true", True),
        ("trt-llm, software: trt-llm 0.17.0", LLAMA, "", True),  # a compiled engine
        ("trt-llm, software: trt-llm 1.0", DEEPSEEK, "", True),
        ("trt-llm, software: trt-llm 1.0", DEEPSEEK, ", captured_graphs: false", False),
        ("vllm, software: vllm 0.7.3", DEEPSEEK, "", True),
    ],
)
def test_models_that_run_on_pytorch_before_its_default_graphs_are_launched_kernel_by_kernel(
    software: str, model: str, stated: str, captured: bool
) -> None:
    """13 counted kernels of a layer, at 60 us with those around each, are 0.8 ms."""
    found = engine(model, "tp: 8", stated, platform="dgx-h200", framework=software)
    step = decode_step(found, 1.0, 1000.0)
    assert ("host_launch" in {part.name for part in step.parts}) is not captured
    assert (numbers(step, "launch")["fused"] > 0) is (model == DEEPSEEK)
    if not captured:
        launch = numbers(step, "host_launch")
        each = 60e-6 if "0." in software else 0.16e-3
        assert launch["each"] == each and launch["launches"] == 5 * 61 + 2 * 61 + 6 * 58
        assert launch["launches"] * 60e-6 / 61 == pytest.approx(0.76e-3, rel=0.01)


def test_slices_of_all_experts_gather_every_token_and_scatter_the_sums() -> None:
    """Eight replicas with 64 tokens each: a rank receives 7/8 of 512 tokens and sends as much back, in 16 bits."""
    sliced = engine(DEEPSEEK, "tp: 1, attention_dp: 8, ep: 1", platform="dgx-h200")
    whole = engine(DEEPSEEK, "tp: 1, attention_dp: 8, ep: 8", platform="dgx-h200")
    found, copies = (numbers(decode_step(each, 64.0, 1000.0), "expert_exchange") for each in (sliced, whole))
    assert (found["tokens"], found["copies"], found["bytes_each"]) == (512, 7 / 8, 4)
    assert (copies["copies"], copies["bytes_each"]) == (8, 3) and copies["tokens"] >= 64
    seconds = [prompt_step(sliced, tokens, tokens, 8.0).total for tokens in (1.0, 256.0, 257.0, 4096.0)]
    assert seconds == sorted(seconds)
    alone = numbers(prompt_step(sliced, 64.0, 64.0, 1.0), "expert_exchange")
    assert alone["tokens"] == 64  # the other replicas have none
