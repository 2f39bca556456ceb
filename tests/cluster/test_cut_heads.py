"""Tensor parallelism cuts heads of every kind of layer."""

from __future__ import annotations

import pytest

from clusterspec.cluster.legality import cut_heads, refuses_kv_heads
from tests.catalog.shipped import CATALOG, held

CUT = [
    ("llama-3.1-8b", {"heads": 32}),
    ("qwen3.5-35b-a3b", {"heads": 16, "value heads of linear attention": 32}),
    ("step-3.7-flash", {"heads": 64, "heads of layers with a window": 96}),
    ("deepseek-v4-pro", {"heads": 128, "groups of outputs": 16}),
]


@pytest.mark.parametrize(("name", "counts"), CUT)
def test_every_kind_of_layer_has_heads_to_shard(name: str, counts: dict[str, int]) -> None:
    assert dict(cut_heads(CATALOG.model(name))) == counts


def test_latent_vectors_are_not_sharded() -> None:
    assert not refuses_kv_heads(CATALOG.model("deepseek-v4-pro"), 8, held("torchtitan"))
    assert refuses_kv_heads(CATALOG.model("qwen3.5-35b-a3b"), 8, held("torchtitan"))
