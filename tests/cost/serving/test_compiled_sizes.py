"""Steps run as graphs compiled for powers of two of tokens where the accelerator's entry says so."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.analysis.simulation.steps import StepTables
from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster
from clusterspec.cost.serving.parts.compiled_sizes import compiled_rows, graph_sizes, mean_compiled_rows
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.times import serving_times
from tests.designs import SERVED, changed, machine_of
from tools.accuracy.cases import study


def cluster_of(smallest: int | None) -> Cluster:
    return changed(machine_of(SERVED), {"accelerator.smallest_graph": smallest})


@pytest.mark.parametrize(
    ("tokens", "rows"), [(0.5, 16), (16, 16), (17, 32), (1024, 1024), (1024.0000001, 1024), (1087, 2048), (4097, 8192)]
)
def test_a_step_computes_the_next_power_of_two_where_graphs_are_compiled_by_size(tokens: float, rows: float) -> None:
    assert compiled_rows(cluster_of(16), tokens) == rows
    assert compiled_rows(cluster_of(None), tokens) == tokens
    assert compiled_rows(cluster_of(64), tokens) == max(64, rows)


@pytest.mark.parametrize(
    ("last", "steps", "rows"),
    [(52, 2, (2048 + 64) / 2), (2040, 1, 2048), (2060, 1, 4096), (2048, 2, 2048), (104, 3, 1408)],
)
def test_all_steps_of_a_prompt_but_the_last_are_full(last: float, steps: float, rows: float) -> None:
    """4,200 tokens at 2,048 a step: two full steps and one of 104, which runs as 128, (2 x 2,048 + 128) / 3."""
    assert mean_compiled_rows(cluster_of(16), 1.0, 2048.0, last, steps) == pytest.approx(rows)
    assert mean_compiled_rows(cluster_of(None), 700.0, 2048.0, last, steps) == 700


def test_graphs_are_compiled_for_powers_of_two() -> None:
    assert graph_sizes(cluster_of(16), 100.0) == (16, 32, 64)
    assert graph_sizes(cluster_of(64), 300.0) == (64, 128, 256)
    assert graph_sizes(cluster_of(None), 100.0) == ()


def test_entries_say_which_accelerators_run_compiled_graphs() -> None:
    catalog = Catalog.open()
    sized = {name for name in catalog.ids("accelerator") if catalog.accelerator(name).smallest_graph is not None}
    tpus = {name for name in catalog.ids("accelerator") if name.startswith("tpu-")}
    assert sized == tpus | {"trainium2", "trainium2-ultra", "trainium3", "trainium4"}
    whole = {name for name in catalog.ids("accelerator") if catalog.accelerator(name).whole_graphs}
    assert whole == sized | {"trainium1", "inferentia2"}


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
