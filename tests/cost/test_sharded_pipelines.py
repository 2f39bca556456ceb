"""Memory and collectives of sharded weights and gradients in pipelines describe one run."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from clusterspec.cost.plan import Plan
from clusterspec.studies import Settings, study_text
from tests.effort import each

SETTINGS = Settings.from_folder(Path(__file__).parent, [], date(2026, 11, 28))
LAYERS, TABLE = 6.979e9, 0.5253e9
"""Parameters of the layers of Llama 3.1 8B together, and of its embedding, as many as of its head."""
MICRO_BATCHES = 8


def plan(framework: str, sharding: str, pp: int) -> Plan:
    ranks = 32 // pp
    text = (
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 4}\n"
        f"workload: {{model: llama-3.1-8b, sequence_length: 4096, global_batch: {ranks * MICRO_BATCHES}}}\n"
        f"layout: {{framework: {framework}, tp: 1, pp: {pp}, sharding: {sharding}, micro_batch: 1}}\n"
    )
    found = study_text(text, SETTINGS).plan
    assert found.step is not None
    return found


def moved(found: Plan, collective: str) -> float:
    """Bytes of the data-parallel transfers of one collective in a step."""
    rows = [row for row in found.communication if row.axis == "dp_cp" and row.collective == collective]
    return sum(row.bytes for row in rows)


def stored(found: Plan, name: str) -> float:
    assert found.memory is not None
    return next(part.value for part in found.memory.total.parts if part.name == name)


@each(
    ("framework", "sharding", "pp", "gathers", "sums"),
    [
        # weights that a rank frees are gathered for each pass of each micro-batch: forward and backward
        ("megatron-core", "fsdp", 1, 2 * MICRO_BATCHES, MICRO_BATCHES),
        ("megatron-core", "fsdp", 2, 2 * MICRO_BATCHES, MICRO_BATCHES),
        ("megatron-core", "zero2", 2, 1, MICRO_BATCHES),
        ("maxtext", "fsdp", 4, 2 * MICRO_BATCHES, MICRO_BATCHES),
        ("torchtitan", "fsdp", 1, 2 * MICRO_BATCHES, MICRO_BATCHES),
        ("torchtitan", "fsdp", 2, 1, 1),  # weights and gradients stay whole until the last micro-batch
        ("megatron-core", "zero1", 2, 1, 1),
    ],
)
def test_what_memory_does_not_hold_is_gathered_again(
    framework: str, sharding: str, pp: int, gathers: int, sums: int
) -> None:
    found = plan(framework, sharding, pp)
    layers, tables = LAYERS / pp, TABLE * (2 if pp == 1 else 1)
    held, of_tables = layers + tables, min(gathers, MICRO_BATCHES)  # the backward pass finds the tables still whole
    assert moved(found, "all-gather") == pytest.approx(2 * (gathers * layers + of_tables * tables), rel=0.01)
    assert moved(found, "reduce-scatter") == pytest.approx(sums * 4 * held, rel=0.01)
    assert (stored(found, "weights") > 1.5 * held) == (gathers == 1), "2 bytes each, whole or sharded"
    assert (stored(found, "gradients") > 3 * held) == (sums == 1), "4 bytes each, whole or sharded"
