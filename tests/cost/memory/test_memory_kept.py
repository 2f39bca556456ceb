"""The range of memory above what the allocator gives to tensors: blocks that it keeps, as far as there is memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clusterspec.cost.memory.explain import memory_assumptions
from clusterspec.cost.memory.fullest import Memory, design_memory
from clusterspec.cost.term import MemoryUse, Term
from clusterspec.quantity import Figure
from clusterspec.source import Computed
from tests.cost.memory.designs import design

TENSORS, OUTSIDE = 30e9, 2e9


def use(capacity: float | None, kept: float, error: float = 0.0) -> MemoryUse:
    """30 GB of tensors and 2 GB outside the allocator, 31 to 36 GB by the ranges of their parts."""
    none = Term("none", 0.0, "B", "")
    tensors, other = Term("weights", TENSORS, "B", ""), Term("other", OUTSIDE, "B", "")
    total = Term("memory", TENSORS + OUTSIDE, "B", "", parts=(tensors, other), low=31e9, high=36e9)
    size = None if capacity is None else Figure(capacity, "B", Computed("given"))
    return MemoryUse(total, tensors, none, none, none, other, size, kept=kept, error=error)


def of(framework: str, year: int = 2025) -> Memory:
    found = design_memory(design(framework=framework, software_year=year))
    assert found is not None
    return found


def test_the_range_reaches_what_the_allocator_keeps() -> None:
    assert use(80e9, 12e9).range == pytest.approx((31e9, 32e9 + (4e9**2 + 12e9**2) ** 0.5))
    assert use(None, 12e9).range == use(80e9, 12e9).range


def test_what_it_keeps_fills_the_memory_at_most() -> None:
    assert use(40e9, 12e9).range == (31e9, 40e9)


def test_where_tensors_need_more_than_there_is_nothing_is_kept() -> None:
    assert use(34e9, 12e9).range == (31e9, 36e9)


def test_errors_of_published_peaks_widen_both_ends_in_quadrature() -> None:
    low, high = 32e9 - (1e9**2 + 3e9**2) ** 0.5, 32e9 + (4e9**2 + 3e9**2) ** 0.5  # 28.8 and 37 GB
    assert use(80e9, 0.0, 3e9).range == pytest.approx((low, high))
    assert use(36.5e9, 0.0, 3e9).range == pytest.approx((low, 36.5e9)), "a job that needs more does not run"
    assert use(34e9, 0.0, 3e9).range == pytest.approx((low, 36e9)), "what the parts may need is not cut"
    assert use(30e9, 0.0, 3e9).range == pytest.approx((31e9, 36e9)), "31 GB do not run in 30"


def test_training_gains_a_share_of_its_activations_and_none_of_its_states() -> None:
    found = of("torchtitan")
    rank = found.rank
    stored = sum(line.value for line in (*rank.activations, *rank.peak.activations))
    states = sum(line.value for line in (*rank.weights, *rank.gradients, *rank.optimizer))
    assert 0 < stored < rank.total - states
    assert found.error == pytest.approx(0.16 * stored)


def test_four_tenths_of_allocated_memory_may_be_kept() -> None:
    found = of("megatron-core")
    held = (*found.rank.weights, *found.rank.gradients, *found.rank.optimizer, *found.rank.activations)
    allocated = sum(line.value for line in held) + found.rank.peak.value
    assert found.kept == pytest.approx(0.4 * allocated)


def test_segments_that_expand_keep_nothing() -> None:
    assert of("torchtitan").kept == of("maxtext").kept == 0.0
    found = of("megatron-core")
    expandable = replace(found.job, framework=replace(found.job.framework, expandable=True))
    assert found._replace(job=expandable).kept == 0.0


def test_decisions_to_fit_are_made_without_it() -> None:
    found = of("megatron-core")
    assert found.upper_bytes < found.total + found.kept


@pytest.mark.parametrize(("framework", "listed"), [("megatron-core", True), ("fsdp", True), ("torchtitan", False)])
def test_the_assumption_is_listed_where_it_widens_the_range(framework: str, listed: bool) -> None:
    found = of(framework)
    assert ("memory.kept" in {key for key, *_ in memory_assumptions(found.job, found.rank)}) is listed
