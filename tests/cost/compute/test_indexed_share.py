"""The share of layers with an index, which no more layers than those with full attention have."""

from __future__ import annotations

import pytest

from clusterspec.catalog.models import SparseAttention
from clusterspec.cost.compute.sparse_attention import indexed_share
from tests.cost.test_worked_examples import shard
from tests.effort import each


@each(("layers", "indexed", "share"), [(8, 2, 0.25), (8, 8, 1.0), (8, 12, 1.0), (1, 20, 1.0)])
def test_layers_with_an_index_are_a_share_of_those_with_full_attention(layers: int, indexed: int, share: float) -> None:
    part = SparseAttention(2048, indexed, 64, 128)
    assert indexed_share(shard(1024, 4096, layers), part) == pytest.approx(share)
