"""Steps on TPU run as graphs compiled for powers of two of tokens."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.analysis.simulation.steps import StepTables
from clusterspec.cluster.model import Cluster
from clusterspec.cost.serving.compiled_sizes import compiled_rows, graph_sizes, mean_compiled_rows
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.times import serving_times
from tests.designs import SERVED, changed, machine_of
from tools.accuracy.cases import study


def cluster_of(vendor: str) -> Cluster:
    return changed(machine_of(SERVED), {"accelerator.vendor": vendor})


@pytest.mark.parametrize(
    ("tokens", "rows"), [(0.5, 16), (16, 16), (17, 32), (1024, 1024), (1024.0000001, 1024), (1087, 2048), (4097, 8192)]
)
def test_a_step_on_tpu_computes_the_next_power_of_two(tokens: float, rows: float) -> None:
    assert compiled_rows(cluster_of("Google"), tokens) == rows
    assert compiled_rows(cluster_of("NVIDIA"), tokens) == compiled_rows(cluster_of("AWS"), tokens) == tokens


@pytest.mark.parametrize(
    ("last", "steps", "rows"),
    [(52, 2, (2048 + 64) / 2), (2040, 1, 2048), (2060, 1, 4096), (2048, 2, 2048), (104, 3, 1408)],
)
def test_all_steps_of_a_prompt_but_the_last_are_full(last: float, steps: float, rows: float) -> None:
    """4,200 tokens at 2,048 a step: two full steps and one of 104, which runs as 128, (2 x 2,048 + 128) / 3."""
    assert mean_compiled_rows(cluster_of("Google"), 1.0, 2048.0, last, steps) == pytest.approx(rows)
    assert mean_compiled_rows(cluster_of("NVIDIA"), 700.0, 2048.0, last, steps) == 700


def test_graphs_are_compiled_for_powers_of_two() -> None:
    assert graph_sizes(cluster_of("Google"), 100.0) == (16, 32, 64)
    assert graph_sizes(cluster_of("AMD"), 100.0) == ()


def design_of(tokens: int) -> Any:
    load = {"input_tokens": tokens, "output_tokens": 64, "concurrency": 1, "load": "closed", "chunk_tokens": 2048}
    work = {"kind": "serve", "model": "llama-3.1-8b", "precision": "bf16", "serving": load}
    cluster = {"accelerator": "tpu-v6e", "accelerators_per_node": 1, "nodes": 1}
    layout = {"framework": "vllm", "tp": 1}
    return study({"clusterspec": 1, "name": "p", "cluster": cluster, "workload": work, "layout": layout}).design


def test_a_prompt_just_beyond_a_graph_takes_as_long_as_one_that_fills_the_next_in_dense_products() -> None:
    def dense(tokens: int) -> float:
        found = serving_times(design_of(tokens))
        assert found is not None
        return next(part.seconds for part in found.prefill.parts if part.name == "dense")

    assert dense(1030) == pytest.approx(dense(2048), rel=1e-9)
    assert dense(1024) < 0.6 * dense(1030)


def test_the_simulation_has_the_same_jumps() -> None:
    pools = bare_pools(design_of(1024))
    assert pools is not None
    tables = StepTables.of(pools.decode)
    assert tables.work(1024, 1.0) < 0.6 * tables.work(1025, 1.0)
    assert tables.work(1030, 1.0) == pytest.approx(tables.work(2048, 1.0), rel=0.02)
