"""The matrix products of Muon's update, worked by hand."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from clusterspec.cost.compute.layer import SoftwareBehavior
from clusterspec.cost.estimate import estimate
from clusterspec.cost.orthogonal import matrix_counts, orthogonal_kernels
from clusterspec.cost.plan import StepRecord
from clusterspec.cost.term import Term
from tests.cost.batch.test_batch import alone, assert_alike, rows, together, variants
from tests.cost.plans import design, spec

MODEL: dict[str, Any] = {
    **{"layers": 4, "hidden": 1024, "heads": 8, "kv_heads": 4, "ffn_hidden": 3072, "vocab": 32000},
    **{"gated_ffn": True, "tied_embeddings": False},
}
QUERIES, OUTPUT, GATED, DOWN = (1024, 2048), (1024, 1024), (1024, 6144), (3072, 1024)
"""The matrices of a layer: queries with keys and values of four heads each, and a gate beside the first matrix."""
WEIGHTS = 2 * 32000 * 1024 + 4 * (1024 * (2048 + 1024 + 6144 + 3072) + 2 * 1024) + 1024


def flops_of(short: int, long: int) -> int:
    """Five iterations of X Xᵀ, A A and B X."""
    return 5 * (2 * short * long * short + 2 * short**3 + 2 * short * short * long)


def step(optimizer: str = "muon", model: dict[str, Any] | None = None, **layout: Any) -> StepRecord:
    work = {"model": model or MODEL, "sequence_length": 1024, "global_batch": 64, "optimizer": optimizer}
    whole = design(spec({"nodes": 1}, workload=work, layout={"framework": "fsdp", "tp": 1, **layout}))
    found = estimate(whole).step
    assert found is not None
    return found


def test_one_iteration_multiplies_three_times_with_the_shorter_side_first() -> None:
    """4 m² n + 2 m³ with m = 1,024 and n = 3,072, whichever side has the rows."""
    by_hand = 4 * 1024**2 * 3072 + 2 * 1024**3
    for rows_, columns in ((1024, 3072), (3072, 1024)):
        kernels = list(orthogonal_kernels(rows_, columns))
        assert sum(kernel.flops for kernel in kernels) == by_hand
        assert {kernel.rate for kernel in kernels} == {"matmul_bf16"}


def test_all_matrices_of_layers_are_counted_and_no_table_of_words() -> None:
    found = step().choices.products
    of_layer = sum(flops_of(min(shape), max(shape)) for shape in (QUERIES, OUTPUT, GATED, DOWN))
    assert found.flops * WEIGHTS == pytest.approx(4 * of_layer)


def test_each_expert_has_matrices_of_its_own() -> None:
    experts = {"experts": 16, "experts_per_token": 2, "expert_ffn_hidden": 512}
    whole = design(spec({"nodes": 1}, workload={"model": {**MODEL, **experts}, "optimizer": "muon"}))
    assert whole.workload and whole.layout and whole.layout.stack
    alone_ = replace(whole.layout, tp=1, cp=1, pp=1, ep=1, expert_tp=1)
    found = matrix_counts(whole.workload, alone_, SoftwareBehavior.of(whole.layout.stack))
    assert found[1024, 1024] == 4 + 4 * 16  # the outputs of attention, and both halves of each expert's first matrix
    assert found[512, 1024] == 4 * 16
    assert found[1024, 16] == 4  # the router


def test_ranks_with_sharded_states_multiply_their_part_alone() -> None:
    whole, shards = step(sharding="none"), step(sharding="zero1")

    def products(record: StepRecord) -> float:
        return record.choices.products.seconds(record.inputs.weights, 0.0)

    assert products(whole) == pytest.approx(8 * products(shards))
    assert whole.times.update > products(whole) > 0


@pytest.mark.parametrize("optimizer", ["adamw", "adafactor", "sgd"])
def test_other_optimizers_multiply_nothing(optimizer: str) -> None:
    assert step(optimizer).choices.products.flops == 0


def test_adapters_have_no_products() -> None:
    work = {"optimizer": "muon", "trainable": {"method": "lora", "rank": 8, "modules": ["attention"]}}
    found = estimate(design(spec({"nodes": 1}, workload=work))).step
    assert found is not None and found.choices.products.flops == 0


def test_narrow_matrices_leave_compute_units_idle() -> None:
    """A product of 512 × 512 has fewer tiles than an H100 has units, one of 8,192 × 8,192 many more."""
    small, large = (
        {**MODEL, "hidden": 512, "ffn_hidden": 512},
        {**MODEL, "hidden": 8192, "heads": 64, "ffn_hidden": 8192},
    )
    slow, fast = (step(model=each, sharding="fsdp").choices.products.rate for each in (small, large))
    assert slow < 0.4 * fast


def test_the_term_is_the_time_of_the_products() -> None:
    work = {"model": MODEL, "sequence_length": 1024, "global_batch": 64, "optimizer": "muon"}
    plan = estimate(design(spec({"nodes": 1}, workload=work)))
    assert plan.step and plan.step_time

    def named(term: Term, name: str) -> Term:
        return next(part for part in term.parts if isinstance(part, Term) and part.name == name)

    optimizer = named(plan.step_time, "optimizer")
    products, record = named(optimizer, "update_products"), plan.step
    assert products.value == record.choices.products.seconds(record.inputs.weights, 0.0)
    assert named(optimizer, "update_in_memory").value + products.value == pytest.approx(record.times.update)


def test_one_plan_and_a_batch_agree() -> None:
    whole = design(spec({"nodes": 1}, workload={"optimizer": "muon"}))
    assert whole.layout is not None
    random = Random(3)
    choices, columns = variants(whole.layout), rows(whole, "zero1", "1f1b", 12, random)
    assert_alike(together(whole, choices, columns), alone(whole, choices, columns))
