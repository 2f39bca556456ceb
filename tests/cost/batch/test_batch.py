"""A batch of layouts is timed as each of them alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import isnan, nan
from random import Random
from typing import Any, cast

import numpy
import pytest

from clusterspec.cluster.model import Design, Layout
from clusterspec.cost.batch.batch import Batch
from clusterspec.cost.batch.columns import DEGREES, Array, ArrayLibrary, layout_of
from clusterspec.cost.memory.fullest import design_memory
from clusterspec.cost.timing import design_tables, timed_step
from tests.cost.plans import design, spec
from tests.effort import ALL_CASES, diagonal, sampled, thorough

LIBRARY = cast(ArrayLibrary, numpy)
TORUS = {
    "platform": None,
    "accelerator": "tpu-v5p",
    "accelerators_per_node": 4,
    "nodes": 16,
    "scale_up": {"shape": [4, 4, 4]},
}
TAPERED = {"nodes": 8, "scale_out": {"oversubscription": "4:1", "topology": "fat-tree"}}
RACK = {"platform": "gb200-nvl72", "nodes": 36}
ORDERS = (["tp", "cp", "ep", "dp", "pp"], ["tp", "pp", "ep", "cp", "dp"], ["dp", "tp", "ep", "pp", "cp"])
ROWS = 72 if ALL_CASES else 20
"""Layouts of each case, sharding and schedule; `make test-all` takes 10,080 in all."""
SHARDINGS = ("none", "zero1", "zero2", "fsdp", "hsdp")
SCHEDULES = [*zip(("1f1b", "interleaved", "zero-bubble", "dualpipe"), (*ORDERS, ORDERS[0]), strict=True)]
CASES: list[tuple[str, dict[str, Any], str, str]] = [
    ("two ranks on an accelerator", {"platform": "mi250x-4", "nodes": 8}, "llama-3.1-8b", "megatron-core"),
    ("tapered", TAPERED, "llama-3.1-8b", "megatron-deepspeed"),
    ("experts", {"nodes": 8}, "mixtral-8x7b", "megatron-core"),
    ("some layers with experts", RACK, "deepseek-v3", "megatron-core"),
    ("layers of several kinds", {"nodes": 8}, "nemotron-3-super", "megatron-core"),
    ("fully sharded", {"nodes": 8}, "llama-3.1-70b", "torchtitan"),
    ("torus", TORUS, "llama-3.1-8b", "maxtext"),
]


def variants(layout: Layout) -> list[Layout]:
    choices = product(("none", "selective", "full"), (False, True), ("ring", "all-gather", "all-to-all"))
    return [
        replace(layout, recompute=again, sequence_parallel=parallel, cp_method=method)
        for again, parallel, method in choices
    ]


def degrees(ranks: int, experts: bool, sharding: str, schedule: str, random: Random) -> Iterator[tuple[int, ...]]:
    """Random degrees that make up all the ranks."""
    while True:
        tp, cp, pp = random.choice((1, 2, 4, 8)), random.choice((1, 1, 2, 4)), random.choice((1, 1, 2, 4, 8))
        ep, expert_tp = random.choice((1, 2, 4, 8)) if experts else 1, random.choice((1, tp))
        dp = ranks // (tp * cp * pp)
        if dp * tp * cp * pp != ranks or (tp * cp * dp) % (ep * expert_tp):
            continue
        group = random.choice([size for size in range(1, dp * cp + 1) if dp * cp % size == 0])
        shards = {"none": 1, "hsdp": group}.get(sharding, dp * cp)
        virtual = random.choice((1, 2, 4)) if schedule == "interleaved" and pp > 1 else 1
        yield tp, cp, ep, expert_tp, pp, dp, virtual, random.choice((1, 2, 4)), shards


def rows(whole: Design, sharding: str, schedule: str, many: int, random: Random) -> dict[str, list[int]]:
    assert whole.layout and whole.workload
    found = degrees(whole.layout.ranks, bool(whole.workload.model.experts), sharding, schedule, random)
    table = zip(*(next(found) for _ in range(many)), strict=True)
    columns = dict(zip(DEGREES, map(list, table), strict=True))
    return columns | {"variant": [random.randrange(18) for _ in range(many)]}


def arrays(columns: Mapping[str, list[int]]) -> dict[str, Array]:
    return {name: cast(Array, numpy.array(column, "int64")) for name, column in columns.items()}


Columns = tuple[list[float], list[float], list[float]]
"""Seconds of a step, bytes on the fullest accelerator, and the high end of their range."""


def alone(whole: Design, choices: list[Layout], columns: Mapping[str, list[int]]) -> Columns:
    """Each layout estimated by itself; seconds are not a number where it has none."""
    tables = design_tables(whole)
    assert whole.workload and tables
    seconds, held, upper = [], [], []
    for row, variant in enumerate(columns["variant"]):
        layout = layout_of(choices[variant], whole.workload, {name: columns[name][row] for name in DEGREES})
        record, stored = timed_step(replace(whole, layout=layout), tables), design_memory(replace(whole, layout=layout))
        seconds.append(record.seconds if record else nan)
        held.append(stored.total if stored else nan)
        upper.append(stored.upper_bytes if stored else nan)
    return seconds, held, upper


def batched(batch: Batch, choices: list[Layout], columns: Mapping[str, list[int]]) -> Columns:
    """All layouts at once, each row with a division of its own."""
    every = arrays({**columns, "division": list(range(len(columns["tp"])))})
    rows = {name: every.pop(name) for name in ("division", "micro_batch", "virtual_stages", "variant")}
    some = [([choices[0].order], rows)]
    (found,), (least,) = batch(choices, every, some), batch.time_lower_bounds(choices, every, some)
    times = cast(Any, found.step_times[0])
    assert not (cast(Any, least) > times * (1 + 1e-12)).any(), "a lower bound is not above the time"
    return cast(Columns, tuple(column.tolist() for column in (found.step_times[0], found.memory, found.upper)))


def assert_alike(found: Columns, expected: Columns) -> None:
    for column, other in zip(found, expected, strict=True):
        assert column == pytest.approx(other, rel=1e-12)


def together(whole: Design, choices: list[Layout], columns: Mapping[str, list[int]]) -> Columns:
    tables = design_tables(whole)
    assert tables
    return batched(Batch(tables, LIBRARY), choices, columns)


def telling_schedules(case: int, sharding: int) -> list[tuple[str, list[str]]]:
    """One schedule for a case and a sharding, so that each case and each sharding meets all; all in `make test-all`."""
    return SCHEDULES if ALL_CASES else [SCHEDULES[(case + sharding) % len(SCHEDULES)]]


@pytest.mark.parametrize(("case", "sharding"), sampled(diagonal(16, range(len(CASES)), SHARDINGS), 6))
def test_a_batch_equals_its_single_layouts(case: int, sharding: str) -> None:
    _, cluster, model, framework = CASES[case]
    for schedule, order in telling_schedules(case, SHARDINGS.index(sharding)):
        cut = {"tp": 1, "framework": framework, "sharding": sharding, "schedule": schedule, "order": order}
        whole = design(spec(cluster, workload={"model": model, "global_batch": 512}, layout=cut))
        assert whole.layout
        choices, columns = variants(whole.layout), rows(whole, sharding, schedule, ROWS, Random(f"{model} {schedule}"))
        found, expected = together(whole, choices, columns), alone(whole, choices, columns)
        assert_alike(found, expected)


@thorough
@pytest.mark.parametrize("model", sampled(["llama-3.1-8b", "mixtral-8x7b", "deepseek-v3"], 2))
def test_a_batch_of_adapters_equals_its_single_layouts(model: str) -> None:
    """Frozen weights, in 4 bits, and adapters of all modules; documents packed into each sequence."""
    work = {"model": model, "global_batch": 512, "document_tokens": {"mean": 700, "p99": 5000}}
    work["trainable"] = {"method": "qlora", "rank": 8, "modules": ["attention", "ffn", "experts"]}
    for sharding in SHARDINGS:
        cut = {"tp": 1, "framework": "torchtitan", "sharding": sharding}
        whole = design(spec({"nodes": 8}, workload=work, layout=cut))
        assert whole.layout
        choices, columns = variants(whole.layout), rows(whole, sharding, "1f1b", 10, Random(sharding))
        found, expected = together(whole, choices, columns), alone(whole, choices, columns)
        assert_alike(found, expected)


def test_a_batch_with_multi_token_prediction_equals_its_single_layouts() -> None:
    work = {"model": "deepseek-v3", "global_batch": 512, "predicted_layers": 2}
    cut = {"tp": 1, "framework": "megatron-core", "sharding": "zero1"}
    whole = design(spec({"nodes": 8}, workload=work, layout=cut))
    assert whole.layout
    choices, columns = variants(whole.layout), rows(whole, "zero1", "1f1b", 10, Random("predicted"))
    found, expected = together(whole, choices, columns), alone(whole, choices, columns)
    assert_alike(found, expected)


def test_a_batch_with_tokens_sent_one_by_one_equals_its_single_layouts() -> None:
    work = {"model": "nemotron-3-super", "global_batch": 512}
    cut = {"tp": 1, "framework": "megatron-core", "sharding": "zero1", "dispatcher": "hybrid"}
    whole = design(spec({"platform": "dgx-b200", "nodes": 8}, workload=work, layout=cut))
    assert whole.layout
    choices, columns = variants(whole.layout), rows(whole, "zero1", "1f1b", 10, Random("copies"))
    found, expected = together(whole, choices, columns), alone(whole, choices, columns)
    assert_alike(found, expected)


@thorough
def test_a_batch_of_gradients_reduced_once_equals_its_single_layouts() -> None:
    found = {}
    for sync in ("micro-batch", "step"):
        cut = {"tp": 1, "framework": "torchtitan", "sharding": "fsdp", "gradient_sync": sync}
        whole = design(spec({"nodes": 8}, workload={"model": "mixtral-8x7b", "global_batch": 512}, layout=cut))
        assert whole.layout
        choices, columns = variants(whole.layout), rows(whole, "fsdp", "1f1b", 20, Random(7))
        found[sync], expected = together(whole, choices, columns), alone(whole, choices, columns)
        assert_alike(found[sync], expected)
    assert found["step"] != found["micro-batch"]


@thorough
def test_a_batch_of_offloaded_optimizers_equals_its_single_layouts() -> None:
    """Gradients behind each backward pass of short sequences, and after the last where the host does not keep them."""
    for framework, sharding, share in product(("deepspeed", "megatron-core"), ("zero1", "zero2", "fsdp"), (0.5, 1)):
        cut = {"tp": 1, "framework": framework, "sharding": sharding, "offload": {"optimizer": share}}
        work = {"model": "llama-3.1-8b", "sequence_length": 512, "global_batch": 512}
        whole = design(spec({"nodes": 8}, workload=work, layout=cut))
        assert whole.layout
        choices, columns = variants(whole.layout), rows(whole, sharding, "1f1b", 10, Random(sharding))
        assert_alike(together(whole, choices, columns), alone(whole, choices, columns))


def test_layouts_whose_groups_nothing_joins_have_no_time() -> None:
    whole = design(spec({"nodes": 2}, workload={"global_batch": 512}, layout={"tp": 1}))
    assert whole.cluster and whole.layout
    apart = replace(whole, cluster=replace(whole.cluster, scale_out=None))
    choices, columns = [whole.layout], rows(apart, "zero1", "1f1b", 20, Random(1)) | {"variant": [0] * 20}
    assert all(map(isnan, together(apart, choices, columns)[0]))
    assert all(map(isnan, alone(apart, choices, columns)[0]))
    assert not any(map(isnan, together(whole, choices, columns)[0]))


def test_a_later_call_gives_the_result_of_a_first_call() -> None:
    """What a call has worked out is kept by all that it depends on: calls in another order give the same."""
    whole = design(spec({"nodes": 8}, workload={"model": "mixtral-8x7b", "global_batch": 512}, layout={"tp": 1}))
    tables = design_tables(whole)
    assert whole.layout and tables
    calls: list[tuple[list[Layout], dict[str, list[int]]]] = []
    for sharding, schedule, order in product(("zero1", "hsdp"), ("1f1b", "dualpipe"), sampled(ORDERS, 4)):
        layout = replace(whole.layout, sharding=sharding, schedule=schedule, order=tuple(order))
        calls.append((variants(layout), rows(whole, sharding, schedule, 5, Random(len(calls)))))
    fresh = [batched(Batch(tables, LIBRARY), *call) for call in calls]
    shared = Batch(tables, LIBRARY)
    assert [batched(shared, *call) for call in reversed(calls)] == fresh[::-1]
