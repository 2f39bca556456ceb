"""Schedules of a pipeline with as many micro-batches as they need, and with one fewer."""

from __future__ import annotations

import pytest

from clusterspec.cluster.model import Layout
from clusterspec.cluster.pipelines import refuses_few_micro_batches
from clusterspec.records import replace
from tests.catalog.shipped import held
from tests.cluster.resolving import clean

TEXT = """
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: %d}
layout: {pp: %d, micro_batch: 1}
"""


def layout_of(pp: int, batch: int) -> Layout:
    """8 accelerators in stages: 8 / pp replicas share the batch, one sample in each micro-batch."""
    layout = clean(TEXT % (batch, pp)).layout
    assert layout is not None
    return layout


@pytest.mark.parametrize(
    ("pp", "batch", "few"),
    [
        (4, 16, False),  # 2 replicas with 8 micro-batches: two for each stage
        (4, 14, True),  # 7
        (4, 12, True),  # 6, an even number
        (4, 18, True),  # 9, an odd one
        (4, 20, False),
        (8, 16, False),
        (8, 15, True),
        (1, 8, False),  # one stage has no schedule
    ],
)
def test_dualpipe_takes_an_even_number_of_at_least_two_micro_batches_a_stage(pp: int, batch: int, few: bool) -> None:
    layout = replace(layout_of(pp, batch), schedule="dualpipe")
    assert layout.micro_batches == batch * pp / 8
    assert refuses_few_micro_batches(layout) is few
    assert not refuses_few_micro_batches(replace(layout, micro_batches=None))


@pytest.mark.parametrize(
    ("framework", "pp", "batch", "few"),
    [
        ("torchtitan", 4, 8, False),  # 2 replicas with 4 micro-batches: one for each stage
        ("torchtitan", 4, 6, True),
        ("torchtitan", 1, 8, False),
        ("megatron-core", 4, 6, False),  # stages wait, and the run goes on
    ],
)
def test_some_frameworks_take_one_micro_batch_a_stage(framework: str, pp: int, batch: int, few: bool) -> None:
    layout = replace(layout_of(pp, batch), capabilities=held(framework))
    assert refuses_few_micro_batches(layout) is few
