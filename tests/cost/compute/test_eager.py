"""Kernels of models that run operation by operation, in bytes of a token, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.catalog.models import Block
from clusterspec.cost.compute import Kernel, Role, Shard, Work
from clusterspec.cost.compute.layer import SoftwareBehavior, layer_parts
from clusterspec.cost.layers import FeedForward
from clusterspec.cost.parameters import has_native_norms
from clusterspec.records import replace
from tests.cost.plans import design, spec

GPT: dict[str, Any] = {
    **{"layers": 12, "hidden": 768, "heads": 12, "kv_heads": 12, "ffn_hidden": 3072, "vocab": 50304},
    **{"gated_ffn": False, "tied_embeddings": True},
}
EAGER: dict[str, Any] = {"framework": "fsdp", "tp": 1, "sharding": "none", "fused_kernels": False}


def layer(model: Any = GPT, work: dict[str, Any] | None = None, **layout: Any) -> dict[str, Work]:
    """The parts of a dense layer on one rank."""
    described = {"model": model, "sequence_length": 1024, **(work or {})}
    found = design(spec({"nodes": 1}, workload=described, layout={**EAGER, **layout}))
    assert found.workload and found.layout and found.layout.stack
    shard = Shard.of(found.workload, found.layout)
    return dict(layer_parts(FeedForward.DENSE, shard, SoftwareBehavior.of(found.layout.stack)))


def bytes_of_token(kernels: tuple[Kernel, ...], name: str) -> float:
    return sum(kernel.traffic for kernel in kernels if kernel.name == name) / 1024


def test_norms_and_additions_in_16_bits_are_six_kernels() -> None:
    """Forward, each of two: a norm 2 + 2 bytes, a dropout 2 + 2 + 1, an addition 2 + 2 + 2. Backward: a norm 3 + 2
    numbers of two bytes, a dropout 2 + 2 + 1, a sum of two gradients 3 × 2.
    """
    norms = layer()["norms"]
    assert bytes_of_token(norms.forward, "norms and residuals") == 2 * (4 + 5 + 6) * 768
    assert bytes_of_token(norms.backward, "norms and residuals") == 2 * (10 + 5 + 6) * 768
    assert [kernel.launches for kernel in norms.forward] == [6]


def test_automatic_casting_keeps_norms_and_sums_in_32_bits() -> None:
    """Forward: a norm 4 + 4 bytes and its cast 4 + 2, an addition 4 + 2 + 4. Backward: a norm 5 × 4, a sum 3 × 4, and
    two casts of 4 + 2.
    """
    norms = layer(work={"parameter_precision": "fp32", "gradient_precision": "fp32"})["norms"]
    assert bytes_of_token(norms.forward, "norms and residuals") == 2 * (8 + 6 + 5 + 10) * 768
    assert bytes_of_token(norms.backward, "norms and residuals") == 2 * (20 + 6 + 5 + 12 + 6) * 768
    assert [kernel.launches for kernel in norms.forward] == [8]


def test_an_activation_reads_and_writes_once() -> None:
    network = layer()["feed-forward"]
    assert bytes_of_token(network.forward, "feed-forward activation") == 2 * 2 * 3072
    assert bytes_of_token(network.backward, "feed-forward activation") == 3 * 2 * 3072


def test_gradients_of_biases_read_the_gradients_of_outputs() -> None:
    parts = layer()
    read = {kernel.name: kernel.traffic / 1024 for work in parts.values() for kernel in work.backward}
    assert read["query, key, value: weight gradient: bias"] == 2 * 3 * 768
    assert read["attention output: weight gradient: bias"] == 2 * 768
    assert read["feed-forward in: weight gradient: bias"] == 2 * 3072
    assert read["feed-forward out: weight gradient: bias"] == 2 * 768


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (GPT, {"fused_kernels": True}),
        (GPT, {"fused_kernels": None}),
        ({**GPT, "gated_ffn": True}, {}),
        ("llama-3.1-8b", {}),
    ],
)
def test_fused_kernels_and_models_with_a_gate_have_none(model: Any, changes: dict[str, Any]) -> None:
    parts = layer(model, **changes)
    kernels = [kernel for work in parts.values() for kernel in work.forward + work.backward]
    assert not [kernel for kernel in kernels if kernel.name.endswith("bias")]
    assert all(kernel.role is Role.LIGHT for kernel in kernels if kernel.name == "norms and residuals")


def test_adapters_train_no_biases() -> None:
    parts = layer(work={"trainable": {"method": "lora", "rank": 8, "modules": ["attention"]}})
    assert not [kernel for work in parts.values() for kernel in work.backward if kernel.name.endswith("bias")]


def test_entries_state_their_norms() -> None:
    model = design(spec({"nodes": 1}, workload={"model": GPT})).workload
    assert model is not None
    for norm, expected in (("layer", True), ("rms", False)):
        assert has_native_norms(replace(model.model, block=Block(norm=norm))) is expected
    assert not has_native_norms(replace(model.model, gated_ffn=True, block=Block(norm="layer")))


@pytest.mark.parametrize(
    ("weights", "forward", "backward"),
    [
        # scale and mask read and write, a softmax in fp32 reads two bytes and writes four, and a cast the reverse
        ({}, 2 + 2 + 3 + 3, 10),
        # the softmax reads a cast to fp32; dropout in fp32 also writes a mask of one byte
        ({"parameter_precision": "fp32", "gradient_precision": "fp32"}, 2 + 2 + 3 + 4 + 4.5 + 3, 20.5),
    ],
)
def test_scores_of_plain_attention_pass_the_memory(weights: dict[str, str], forward: float, backward: float) -> None:
    core = layer(work={"attention": "plain", **weights})["core"]
    scores = 2 * 12 * 1024
    assert bytes_of_token(core.forward, "softmax and dropout") == forward * scores
    assert bytes_of_token(core.backward, "softmax and dropout") == backward * scores
