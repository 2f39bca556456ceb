"""The drawn pipeline schedule takes the time of the estimate, and no operation runs before what it needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import pytest

from clusterspec.analysis.schedule import schedule
from clusterspec.cost.plan import Plan
from clusterspec.results.machine import Operation, Schedule
from clusterspec.studies import study_text
from tests.settings import SETTINGS

MACHINE = """\
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16, scale_out: {topology: rail-optimized}}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 128}
"""


def planned(layout: str) -> Plan:
    return study_text(f"{MACHINE}layout: {{{layout}}}\n", SETTINGS).plan


def drawn(layout: str) -> Schedule | None:
    return schedule(planned(layout))


def awaited(one: Operation, stages: int, virtual: int) -> Iterator[tuple[int, bool, int, int]]:
    """What an operation needs: the one before it in its direction, over the chunks, and backward its own forward."""
    place = one.chunk * stages + one.stage
    before = place + 1 if one.backward else place - 1
    if one.backward:
        yield one.stage, False, one.micro_batch, one.chunk
    if 0 <= before < stages * virtual:
        yield before % stages, one.backward, one.micro_batch, before // stages


def test_the_schedule_takes_the_time_of_the_estimate_and_keeps_its_order() -> None:
    for layout, stages, virtual in (
        ("tp: 8, pp: 4, micro_batch: 1", 4, 1),
        ("framework: custom, tp: 8, pp: 8, micro_batch: 1, recompute: full, schedule: gpipe", 8, 1),
        ("tp: 8, pp: 4, virtual_stages: 5, micro_batch: 1, schedule: interleaved", 4, 5),
    ):
        found = drawn(layout)
        assert found is not None and (found.stages, found.virtual_stages) == (stages, virtual), layout
        assert found.simulated == pytest.approx(found.predicted, rel=0.01), layout
        assert len(found.operations) == 2 * stages * virtual * found.drawn, layout
        ends = {(one.stage, one.backward, one.micro_batch, one.chunk): one.end for one in found.operations}
        assert len(ends) == len(found.operations), layout
        rows: dict[int, list[Operation]] = defaultdict(list)
        for one in found.operations:
            rows[one.stage].append(one)
            assert one.start >= max((ends[key] for key in awaited(one, stages, virtual)), default=0.0), layout
        for row in rows.values():
            assert all(before.end <= after.start + 1e-12 for before, after in pairwise(row)), layout


def test_a_schedule_without_a_fixed_order_or_with_one_stage_is_not_drawn() -> None:
    for layout in ("tp: 8, micro_batch: 1", "framework: custom, tp: 8, pp: 4, micro_batch: 1, schedule: zero-bubble"):
        assert drawn(layout) is None, layout


def test_sends_that_do_not_overlap_are_drawn_as_the_estimate_counts_them() -> None:
    for layout, hidden in (
        ("", False),
        ("virtual_stages: 5, overlap: {pp: false}", False),
        ("virtual_stages: 5", True),
    ):
        plan = planned(f"tp: 8, pp: 4, micro_batch: 1, {layout}".rstrip(", "))
        found = schedule(plan)
        assert found is not None and plan.step is not None
        times = plan.step.times
        assert (times.sends == 0) is hidden
        share = found.drawn / found.micro_batches
        assert found.predicted == pytest.approx(times.idle + share * (times.work + times.sends))
        last = [one.end - one.start for one in found.operations if one.stage == found.stages - 1]
        assert sum(last) == pytest.approx(share * (times.work + times.sends))
