"""Number formats and the size of a run: flaws and their near misses."""

from __future__ import annotations

import pytest

from .conftest import Check
from .reports import Reported, one, reported


def trained(
    keys: str, layout: str = "tp: 1", nodes: int = 64, model: str = "llama-3.1-8b", platform: str = "dgx-h100"
) -> str:
    """A run on eight accelerators a node; 8.03 billion parameters unless the model says otherwise. Activations are
    computed again, so that nothing is advised on memory.
    """
    return (
        f"cluster: {{platform: {platform}, nodes: {nodes}}}\n"
        f"workload: {{model: {model}, sequence_length: 8192, {keys}}}\n"
        f"layout: {{{layout}, recompute: full}}\n"
    )


def states(master: str, moments: str = "fp32", tokens: str = "tokens: 15T, ") -> str:
    held = f"optimizer_states: {{master: {master}, moments: {moments}}}"
    return trained(f"{tokens}global_batch: 1024", f"tp: 1, {held}")


MASTER, MOMENTS = "layout.optimizer_states.master", "layout.optimizer_states.moments"
TOKENS, BATCH, GRADIENTS = "workload.tokens", "workload.global_batch", "workload.gradient_precision"
FORMATS: list[tuple[str, Reported]] = [
    (states("fp32"), []),
    (states("fp32", "bf16"), []),
    (states("none"), one("narrow-optimizer-states", MASTER)),
    (states("bf16"), one("narrow-optimizer-states", MASTER)),
    (states("fp16"), one("narrow-optimizer-states", MASTER, "note")),
    (states("fp8"), one("narrow-optimizer-states", MASTER)),
    (states("none").replace("workload: {", "workload: {parameter_precision: fp32, "), []),
    (
        states("none", tokens="tokens: 1B, ").replace("1024", "64").replace("nodes: 64", "nodes: 2"),
        one("narrow-optimizer-states", MASTER, "note"),
    ),
    (states("none", tokens=""), one("narrow-optimizer-states", MASTER, "note")),
    (states("fp8", tokens=""), one("narrow-optimizer-states", MASTER)),
    (states("fp32", "fp8"), one("narrow-optimizer-states", MOMENTS)),
    (states("fp32", "fp16"), one("narrow-optimizer-states", MOMENTS)),
    # 8 × 31 replicas are fewer than 256, 8 × 32 as many; 8 × 128 are 1,024
    (trained("global_batch: 7936, gradient_precision: bf16", nodes=31), []),
    (trained("global_batch: 8192, gradient_precision: bf16", nodes=32), one("narrow-gradients", GRADIENTS, "note")),
    (trained("global_batch: 8192, gradient_precision: bf16", nodes=128), one("narrow-gradients", GRADIENTS)),
    (trained("global_batch: 8192, gradient_precision: fp32", nodes=128), []),
    (trained("global_batch: 4096, gradient_precision: bf16", "tp: 8", nodes=128), []),
    (
        trained("global_batch: 64, precision: fp16, loss_scaling: none", nodes=2),
        one("unscaled-fp16", "workload.loss_scaling", "error"),
    ),
    (trained("global_batch: 64, precision: fp16, loss_scaling: dynamic", nodes=2), []),
    (trained("global_batch: 64, precision: bf16, loss_scaling: none", nodes=2), []),
    (
        trained("global_batch: 512, precision: fp16, tokens: 3T", "tp: 8, pp: 4", model="llama-3.1-70b"),
        one("unscaled-fp16", "workload.precision"),
    ),
    (trained("global_batch: 512, precision: fp16, tokens: 400B", "tp: 8, pp: 4", model="llama-3.1-70b"), []),
    (trained("global_batch: 512, precision: fp16, tokens: 3T"), []),
    (trained("global_batch: 512, precision: int8"), one("integer-training", "workload.precision", "error")),
    (
        trained("global_batch: 512, parameter_precision: int8"),
        one("integer-training", "workload.parameter_precision", "error"),
    ),
    (trained("global_batch: 512, precision: fp32"), one("wide-products", "workload.precision")),
    (trained("global_batch: 512, precision: tf32"), one("wide-products", "workload.precision")),
    (trained("global_batch: 512, optimizer: momentum"), one("optimizer-without-adaptation", "workload.optimizer")),
    (trained("global_batch: 512, optimizer: lion"), []),
    (
        trained("global_batch: 512", "tp: 1, gradient_compression: 9"),
        one("gradients-compressed", "layout.gradient_compression"),
    ),
    (trained("global_batch: 512", "tp: 1, gradient_compression: 8"), []),
]


@pytest.mark.parametrize(("text", "wanted"), FORMATS)
def test_number_formats_of_training_are_judged(text: str, wanted: Reported, check: Check) -> None:
    assert reported(check, "numerics", text) == wanted


MIXTRAL = "model: mixtral-8x7b"
FIRST = "description: Trained from scratch.\n"
RUNS: list[tuple[str, Reported]] = [
    # 8.03 billion parameters: five tokens each are 40.2 billion
    (trained("global_batch: 512, tokens: 41B"), []),
    (trained("global_batch: 512, tokens: 39B"), one("tokens-off-model-size", TOKENS, "note")),
    # 21 billion tokens of 70.6 billion parameters: too few from random weights, and enough to continue
    (
        FIRST + trained("global_batch: 256, tokens: 21B", "tp: 8, pp: 4", 64, "llama-3.1-70b"),
        one("tokens-off-model-size", TOKENS),
    ),
    (
        "description: Continued pre-training.\n"
        + trained("global_batch: 256, tokens: 21B", "tp: 8, pp: 4", 64, "llama-3.1-70b"),
        one("tokens-off-model-size", TOKENS, "note"),
    ),
    # the same few tokens on fewer than 256 accelerators are fine-tuning
    (trained("global_batch: 64, tokens: 2B", nodes=8), []),
    (FIRST + trained("global_batch: 64, tokens: 7B", "tp: 2", nodes=32), one("tokens-off-model-size", TOKENS)),
    # MT-NLG 530B, BLOOM and OPT, on A100, followed the older law
    (trained("global_batch: 512, tokens: 39B", platform="dgx-a100"), []),
    (
        FIRST + trained("global_batch: 64, tokens: 3B", "tp: 2", 32, platform="dgx-a100"),
        one("tokens-off-model-size", TOKENS),
    ),
    # 100,000 tokens per parameter are 803 trillion
    (trained("global_batch: 65536, tokens: 802T"), []),
    (trained("global_batch: 65536, tokens: 804T"), one("tokens-off-model-size", TOKENS)),
    # of 46.7 billion parameters a token uses 12.9 billion: 64.5 billion tokens are five each
    (trained("global_batch: 512, tokens: 65B", "tp: 1, ep: 8, pp: 4", 8, "mixtral-8x7b"), []),
    (
        trained("global_batch: 512, tokens: 64B", "tp: 1, ep: 8, pp: 4", 8, "mixtral-8x7b"),
        one("tokens-off-model-size", TOKENS, "note"),
    ),
    # 64 × 8,192 are 524,288 tokens: 300 steps take 157.3 million, 100 steps 52.4 million
    (trained("global_batch: 64, tokens: 158M", nodes=8), []),
    (trained("global_batch: 64, tokens: 157M", nodes=8), one("few-steps", TOKENS, "note")),
    (trained("global_batch: 64, tokens: 52M", nodes=8), one("few-steps", TOKENS)),
    # 2,048 × 8,192 are 16.8 million: 40.3 billion are 2,402 steps, 5 billion 298
    (trained("global_batch: 2048, tokens: 41B"), []),
    (trained("global_batch: 2048, tokens: 5B"), one("few-steps", TOKENS)),
    # 16 × 8,192 are 131,072: 20 million steps take 2,621 billion
    (trained("global_batch: 16, tokens: 2.62T", nodes=2), []),
    (trained("global_batch: 16, tokens: 2.63T", nodes=2), one("few-steps", BATCH)),
    (trained("global_batch: 512, tokens: 400B, dataset_tokens: 100B"), []),
    (
        trained("global_batch: 512, tokens: 401B, dataset_tokens: 100B"),
        one("data-repeated", "workload.dataset_tokens", "note"),
    ),
    (trained("global_batch: 512, tokens: 1.7T, dataset_tokens: 100B"), one("data-repeated", "workload.dataset_tokens")),
    (
        trained("global_batch: 512", "tp: 1, ep: 8, pp: 4, capacity_factor: 1", 8, "mixtral-8x7b"),
        one("experts-drop-tokens", "layout.capacity_factor", "note"),
    ),
    (trained("global_batch: 512", "tp: 1, ep: 8, pp: 4, capacity_factor: 1.1", 8, "mixtral-8x7b"), []),
    (
        trained("global_batch: 512", "tp: 1, ep: 8, pp: 4, capacity_factor: 0.9", 8, "mixtral-8x7b"),
        one("experts-drop-tokens", "layout.capacity_factor"),
    ),
    (
        trained("global_batch: 512", "tp: 1, capacity_factor: 1.25"),
        one("experts-drop-tokens", "layout.capacity_factor", "note"),
    ),
]


@pytest.mark.parametrize(("text", "wanted"), RUNS)
def test_the_size_of_a_run_is_judged(text: str, wanted: Reported, check: Check) -> None:
    assert reported(check, "numerics", text) == wanted


@pytest.mark.parametrize("tokens", ["100M", "1B", "10B", "25B", "100B", "1T", "15T"])
def test_a_run_says_one_thing_about_its_tokens(tokens: str, check: Check) -> None:
    for batch in (64, 512, 4096):
        assert len(reported(check, "numerics", trained(f"global_batch: {batch}, tokens: {tokens}"))) <= 1
