"""The kernels of the embedding, of the head and of a later token, counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.catalog.stacks import Stack
from clusterspec.cluster.model import Trainable
from clusterspec.cost.compute import LOSS_FORWARD, Shard, Work, layer
from clusterspec.records import replace
from tests.catalog.shipped import CATALOG
from tests.cost.compute.test_kernels import products, shard

PLAIN_SHARD = {"tokens": 1000.0, "rows": 500.0, "tp": 4, "trainable": None}
ADAPTERS = Trainable("lora", 8, ("attention",))


def traffic(work: Work) -> list[dict[str, float]]:
    """The bytes of the memory-bound kernels of each pass, by name."""
    return [{each.name: each.traffic for each in part if not each.rate} for part in (work.forward, work.backward)]


def hand_made(**changes: Any) -> Shard:
    """500 rows of norms and 1,000 tokens of products on one of four ranks, with 2 bytes a number."""
    model = CATALOG.model("llama-3.1-8b")  # width 4,096, vocabulary 128,256
    return replace(shard({"model": "llama-3.1-8b"}, tp=4)[0], model=model, **{**PLAIN_SHARD, **changes})


def test_the_head_reads_a_norm_multiplies_by_its_part_of_the_vocabulary_and_moves_the_loss() -> None:
    """(2 + 2) bytes x 500 rows x 4,096; 1,000 x 4,096 x 32,064 products; 12 bytes of each of 1,000 x 32,064 logits."""
    work = layer.head_work(hand_made(), 12.0, 0.0)
    there, back = traffic(work)
    assert (there["last norm"], back["last norm"]) == (4 * 500 * 4096, 2 * 4 * 500 * 4096)
    assert there["loss"] + back["loss"] == pytest.approx(12 * 1000 * 32_064)
    assert there["loss"] == pytest.approx(LOSS_FORWARD * 12 * 1000 * 32_064)
    assert products(work.forward) == 2 * 1000 * 4096 * 32_064 and products(work.backward) == 2 * products(work.forward)


def test_logits_have_aligned_rows_where_a_rank_has_whole_groups_of_eight_words_or_the_tables_are_padded() -> None:
    """8 numbers of 2 bytes are 16 bytes: 32,064 words are 4,008 groups, 50,257 words or a quarter of them
    are not whole groups; numbers of 4 bytes are not counted.
    """
    model = CATALOG.model("llama-3.1-8b")
    odd = replace(model, vocab=50_257)
    shards = {
        "whole groups": hand_made(pads=False),
        "odd": replace(hand_made(pads=False), model=odd),
        "padded": replace(hand_made(), model=odd),
        "wide": replace(hand_made(pads=False, kept="fp32"), model=odd),
    }
    found = {
        name: {k.shape.unaligned for part in (w.forward, w.backward) for k in part if k.shape}
        for name, w in ((name, layer.head_work(each, 12.0, 0.0)) for name, each in shards.items())
    }
    assert found == {"whole groups": {0.0}, "odd": {1.0}, "padded": {0.0}, "wide": {0.0}}


def test_a_framework_that_runs_operations_one_by_one_multiplies_by_tables_as_they_are() -> None:
    names = ("nanotron-2024", "fsdp-2026", "megatron-core-2026")
    stacks = {name: each for name in names if isinstance(each := CATALOG.get("stack", name), Stack)}
    assert {name: each.pads_products for name, each in stacks.items()} == {
        "nanotron-2024": False,  # rotary embeddings and gates are operations of PyTorch
        "fsdp-2026": True,  # whether it is compiled is not known
        "megatron-core-2026": True,
    }
    eager = {name: replace(each, fused=False).pads_products for name, each in stacks.items()}
    assert eager == {"nanotron-2024": False, "fsdp-2026": False, "megatron-core-2026": True}


def test_a_frozen_head_has_no_gradient_of_its_weights() -> None:
    frozen = layer.head_work(hand_made(trainable=ADAPTERS), 12.0, 0.0)
    assert products(frozen.backward) == products(frozen.forward) == 2 * 1000 * 4096 * 32_064


def test_the_rows_of_a_table_are_moved_twice_and_their_gradient_twice_as_much() -> None:
    """2 bytes x 500 rows x 4,096."""
    there, back = traffic(layer.embedding_work(hand_made()))
    assert (there["embedding"], back["embedding"]) == (2 * 2 * 500 * 4096, 4 * 2 * 500 * 4096)
    assert traffic(layer.embedding_work(hand_made(trainable=ADAPTERS)))[1] == {}


def test_a_later_token_is_joined_by_two_norms_and_a_projection_of_both() -> None:
    """Two reads and writes of 2 bytes x 500 rows x 2 x 4,096; 1,000 x 8,192 x 1,024 products on one of four ranks."""
    work = layer.work_to_join_embedding(hand_made(), 0.0)
    there, back = traffic(work)
    assert (there["norms of both"], back["norms of both"]) == (2 * 2 * 500 * 8192, 2 * 2 * 2 * 500 * 8192)
    assert products(work.forward) == 2 * 1000 * 8192 * 1024 and products(work.backward) == 2 * products(work.forward)
