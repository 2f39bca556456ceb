"""The host's time for collectives: what counts as one, what it costs, and what launches it otherwise, by hand."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from clusterspec.catalog.stacks import Stack
from clusterspec.cost.compute.layer import SoftwareBehavior
from clusterspec.cost.estimate import estimate, step_of_host
from clusterspec.cost.layer_tables import PhaseTime
from clusterspec.cost.plan import StepRecord
from clusterspec.quantity import Figure
from clusterspec.source import Assumed
from tests.cost.batch.test_batch import alone, assert_alike, rows, together, variants
from tests.cost.plans import design, spec
from tests.effort import thorough

SHORT: dict[str, Any] = {"sequence_length": 512, "global_batch": 32}


def entry(framework: str, year: int) -> Stack:
    """The software of a layout."""
    found = design(spec(layout={"framework": framework, "software_year": year, "tp": 1})).layout
    assert found is not None and found.stack is not None
    return found.stack


def step(collective: float | None = None, **layout: Any) -> StepRecord:
    """A step of short sequences on four tensor-parallel ranks, whose collectives take the host ``collective``."""
    whole = design(spec({"nodes": 1}, workload=SHORT, layout={"tp": 4, "sharding": "zero1", **layout}))
    assert whole.layout and whole.layout.stack
    given = {} if collective is None else {"launch.collective": Figure(collective, "s", Assumed("x", "a test"))}
    stack = replace(whole.layout.stack, achievable={**whole.layout.stack.achievable, **given})
    found = estimate(replace(whole, layout=replace(whole.layout, stack=stack))).step
    assert found is not None
    return found


def forward_layer(record: StepRecord) -> PhaseTime:
    return next(part.forward for part, _ in record.parts if part.name == "dense_layer")


def test_a_collective_takes_the_host_longer_than_a_kernel() -> None:
    """Twenty-six launches, two of them collectives: 24 of 45 us and two of 89, 1,258 us."""
    software = SoftwareBehavior.of(entry("megatron-core", 2025))
    assert (software.interval, software.interval_collective) == (45e-6, 89e-6)
    assert software.host_seconds(26, 2, 0) == pytest.approx(1_258e-6)
    assert software.host_seconds(26, 0, 0) == pytest.approx(1_170e-6)
    assert SoftwareBehavior.of(entry("torchtitan", 2025)).interval_collective == 149e-6


def test_a_collective_is_launched_as_any_kernel_where_nothing_was_measured() -> None:
    """A program in C, and PyTorch before the release that was measured."""
    for framework, year, seconds in (("llm-c", 2024, 5e-6), ("megatron-core", 2023, 45e-6)):
        software = SoftwareBehavior.of(entry(framework, year))
        assert software.interval_collective == software.interval == seconds


def test_a_layer_waits_for_the_collectives_that_its_host_launches() -> None:
    """Two gathers and two reduce-scatters of a layer, each 1 ms instead of 89 us: 3.644 ms more of a bound host."""
    bare: dict[str, Any] = {"overlap": {"tp": "none"}}
    usual, slow = (forward_layer(step(seconds, **bare)) for seconds in (89e-6, 1e-3))
    assert (usual.collectives, slow.collectives) == (4.0, 4.0)
    assert usual.launch > 0
    assert slow.launch - usual.launch == pytest.approx(4 * (1e-3 - 89e-6))
    assert slow.launches == usual.launches


def test_collectives_inside_products_are_launched_with_them() -> None:
    """Three in four bytes of the four collectives run inside products: what is left counts as one."""
    found = forward_layer(step(overlap={"tp": 0.75}))
    assert found.collectives == pytest.approx(1.0)
    assert found.launches == forward_layer(step(overlap={"tp": "none"})).launches


def test_captured_graphs_launch_collectives_too() -> None:
    graphs: dict[str, Any] = {"captured_graphs": True, "overlap": {"tp": "none"}}
    assert forward_layer(step(1e-3, **graphs)).launch == 0.0
    assert step(1e-3, **graphs).seconds == step(**graphs).seconds


def test_a_rank_without_collectives_does_not_pay_for_them() -> None:
    assert step(1e-3, tp=1).seconds == step(tp=1).seconds


def waits_of_a_slow_host(record: StepRecord) -> tuple[float, float, float]:
    """Seconds that the layers of a micro-batch add on a host that is twice as slow, and their launches: collectives,
    and kernels. The host bounds each of their passes already.
    """
    layers = tuple((part, count) for part, count in record.parts if part.name == "dense_layer")
    phases = [(phase, count) for part, count in layers for _, phase in part.phases if phase.launches]
    assert phases and all(phase.launch and phase.collectives for phase, _ in phases)
    alone = replace(record, parts=layers)
    added = (step_of_host(alone, 2.0) - alone.seconds) / record.inputs.micro_batches
    collectives = sum(count * phase.collectives for phase, count in phases)
    return added, collectives, sum(count * phase.launches for phase, count in phases) - collectives


def test_a_slower_host_takes_longer_for_all_but_measured_collectives() -> None:
    added, collectives, kernels = waits_of_a_slow_host(step(1e-3, overlap={"tp": "none"}))
    assert collectives > 0
    assert added == pytest.approx(45e-6 * kernels)


def test_a_slower_host_takes_longer_for_collectives_that_nobody_measured() -> None:
    added, collectives, kernels = waits_of_a_slow_host(step(overlap={"tp": "none"}, software_year=2023))
    assert collectives > 0
    assert added == pytest.approx(45e-6 * (kernels + collectives))


@thorough
def test_a_batch_whose_host_bounds_its_passes_equals_its_single_layouts() -> None:
    work = {"model": "llama-3.1-8b", "sequence_length": 512, "global_batch": 512}
    cut = {"tp": 1, "framework": "torchtitan", "sharding": "zero1", "overlap": {"tp": "none"}}
    whole = design(spec({"nodes": 2}, workload=work, layout=cut))
    assert whole.layout
    choices, columns = variants(whole.layout), rows(whole, "zero1", "1f1b", 20, Random("host"))
    assert_alike(together(whole, choices, columns), alone(whole, choices, columns))
