"""The tensors that one layer keeps for its backward pass, worked out by hand by kind of layer, in bytes of a token.

The model has 16 heads of 64, 8 heads of keys and values, and networks of 3 × 1,024 × 4,096. Numbers have two bytes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clusterspec.catalog.models import Block, CompressedAttention, LinearAttention, SparseAttention, Window
from clusterspec.cost.memory import Job
from clusterspec.cost.memory.activations import layer_tensors
from tests.cost.memory.designs import design, experts, model, stack
from tests.effort import each

TOKENS = 2048


def kept(sizes: dict[str, Any], work: dict[str, Any], cut: dict[str, Any]) -> dict[str, float]:
    """Bytes of a token, by the name of the tensor."""
    found = design(experts() if "experts" in sizes else model(**sizes), work, **cut)
    assert found.workload is not None and found.layout is not None
    return {one.name: one.value / TOKENS for one in layer_tensors(Job.of(found, found.workload, found.layout))}


ATTENTION = 2 * (2 * 16 * 64 + 2 * 8 * 64)
"""Queries and the output, keys and values."""
NORMS = 2 * 1024 * (2 + 2)
"""The input and the output of two norms."""
NETWORK = 4096 * (2 + 2 + 2)
"""Two outputs of the first matrices, and the input of the last."""
TP: dict[str, Any] = {"tp": 2}
FSDP = stack("fsdp", 2026)
assert FSDP is not None
EAGER = replace(FSDP, fused=False)
"""A stack that runs operation by operation."""


@each(
    ("sizes", "work", "cut", "expected"),
    [
        (
            {},
            {},
            {},
            {"normalizations": NORMS, "attention": ATTENTION, "softmax": 4 * 16, "feed-forward": NETWORK},
        ),
        # plain attention keeps the softmax and its dropout, a mask of a byte for each key, and one for each of two sums
        (
            {},
            {"attention": "plain"},
            TP,
            {
                "dropout masks": 2 * 1024 / 2,
                "scores": (2 + 2 + 1) * 16 * 2048 / 2,
            },
        ),
        # without sequence parallelism, norms and masks are whole on every rank
        (
            {},
            {"attention": "plain"},
            {"tp": 2, "sequence_parallel": False},
            {"normalizations": NORMS, "dropout masks": 2 * 1024, "attention": ATTENTION / 2},
        ),
        ({"attention_gate": "head-wise"}, {}, TP, {"attention gate": 2 * 16 / 2}),
        ({"attention_gate": "element-wise"}, {}, TP, {"attention gate": 2 * 16 * 64 / 2}),
        # both latents before and after their norms, and the rotary part of the keys
        (
            {"latent_q": 256, "latent_kv": 128, "latent_rope": 32},
            {},
            TP,
            {
                "latents": 2 * (2 * (256 + 128) + 32) / 2,
                "expanded latents": 2 * 16 * (2 * (64 + 32) + 2 * 64) / 2,
                "attention output": 2 * 16 * 64 / 2,
            },
        ),
        # norms of 16 heads of queries and 8 of keys keep their inputs
        ({"block": Block(qk_norm=True)}, {}, TP, {"attention": ATTENTION / 2, "head norms": 2 * (16 + 8) * 64 / 2}),
        # operation by operation, a copy in fp32 and the normalized number
        (
            {"block": Block(qk_norm=True)},
            {},
            {"stack": EAGER},
            {"head norms": (4 + 2) * (16 + 8) * 64},
        ),
        # operation by operation, a norm with a gate in the network keeps a copy in fp32, a layer norm its input alone
        ({}, {}, {"stack": EAGER}, {"normalizations": 2 * 1024 * (6 + 2)}),
        (
            {"gated_ffn": False},
            {},
            {"stack": EAGER},
            {"normalizations": NORMS},
        ),
        # automatic casting keeps the softmax in fp32, its dropout in 16 bits, and the mask
        (
            {},
            {"attention": "plain", "parameter_precision": "fp32"},
            {"stack": EAGER, "sharding": "none"},
            {"scores": (4 + 2 + 1) * 16 * 2048},
        ),
        (
            {},
            {"attention": "plain", "parameter_precision": "fp32"},
            {"stack": EAGER, "sharding": "fsdp"},
            {"scores": (2 + 2 + 1) * 16 * 2048},
        ),
        # keys of 128 and values of 32: eight heads of queries, four of keys
        (
            {"window": Window(512, 4, 8, 4, 128, 32)},
            {},
            TP,
            {
                "attention": ATTENTION / 2,
                "window attention": 2 * (8 + 4) * (128 + 32) / 2,
                "window softmax": 4 * 8 / 2,
            },
        ),
        # every rank has the whole index, which half of the layers have: 16-bit queries, 32-bit numbers of tokens
        ({"sparse": SparseAttention(256, 4, 8, 64)}, {}, TP, {"sparse index": (2 * 8 * 64 + 4 * 256) * 4 / 8}),
        # queries and outputs of 16 heads; the latent of queries twice and one key on every rank, groups on their own
        (
            {"compressed": CompressedAttention(256, 32, 4, 64, 4, 4, 128, 4, 128)},
            {},
            TP,
            {"attention": 2 * 2 * 16 * 64 / 2, "compressed latents": 2 * (2 * 256 + 64 + 4 * 64 / 2)},
        ),
        # four times the keys of 4 × 64, and five times the values of 8 × 128
        (
            {"linear": LinearAttention("gated-delta", 6, 4, 8, 64, 128)},
            {},
            TP,
            {"linear attention": 2 * (4 * 4 * 64 + 5 * 8 * 128) / 2},
        ),
        # two of 16 experts of 3 × 1,024 × 512 for each token: two ranks share their tokens and each expert
        (
            {"experts": 16},
            {},
            {"tp": 2, "expert_tp": 2},
            {
                "experts": 2 * (2 * 1024 + 512 * (2 + 2 + 2) / 2),
                "router": 2 * 4 * 16 / 2,
                "shared experts": 512 * (2 + 2 + 2) / 2,
            },
        ),
    ],
)
def test_a_layer_keeps_what_its_backward_pass_reads(
    sizes: dict[str, Any], work: dict[str, Any], cut: dict[str, Any], expected: dict[str, float]
) -> None:
    found = kept(sizes, work, cut)
    assert {name: found.get(name) for name in expected} == pytest.approx(expected)
