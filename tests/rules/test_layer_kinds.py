"""Kinds of layers that do not add up to a model are named at the count that is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clusterspec.catalog.models import CompressedAttention, LinearAttention, Model, SparseAttention, Window
from clusterspec.rules.layout.layer_kinds_mismatch import check
from tests.catalog.shipped import CATALOG
from tests.cost.memory.designs import experts, model
from tests.effort import each

DELTA = LinearAttention("gated-delta", 6, 4, 8, 32, 32)
COMPRESSED = CompressedAttention(256, 64, 2, 128, 4, 3, 128, 3, 128)
FLAWS = [
    (model(window=Window(128, 9)), "attention_window.layers"),
    (model(linear=replace(DELTA, layers=9)), "linear_attention.layers"),
    (model(linear=DELTA, stated_attention_layers=1), "attention_layers"),
    (model(linear=DELTA, stated_attention_layers=3), "attention_layers"),
    (model(linear=DELTA, sparse=SparseAttention(64, 3, 4, 32)), "sparse_attention.layers"),
    (experts(moe_layers=9), "moe_layers"),
    (model(compressed=COMPRESSED), "compressed_attention"),
]
SOUND = [
    model(window=Window(128, 8)),
    model(linear=DELTA, window=Window(128, 2)),
    model(linear=replace(DELTA, layers=3), stated_attention_layers=1, stated_ffn_layers=4),
    experts(moe_layers=8),
    model(window=Window(128, 2), compressed=COMPRESSED),
]


@pytest.mark.parametrize(("of", "key"), FLAWS)
def test_a_count_that_is_too_large_is_named(of: Model, key: str) -> None:
    found = [".".join(str(part) for part in problem.path[2:]) for problem in check(of)]
    assert found == [key]


@each("of", [*SOUND, *(CATALOG.model(name) for name in CATALOG.ids("model"))])
def test_kinds_that_add_up_are_left_alone(of: Model) -> None:
    assert list(check(of)) == []
