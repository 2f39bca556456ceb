"""The overlap that a layout of a search has where the spec states none: that of its own sharding and schedule."""

from __future__ import annotations

from itertools import islice, pairwise

import pytest

from clusterspec.analysis.searches.layouts import search
from clusterspec.analysis.searches.space.columns import batched_evaluation
from clusterspec.analysis.searches.space.families import families, layout_of, section_of
from clusterspec.analysis.searches.studied import Pins, SearchOptions, Space, StudyVariations
from clusterspec.cost.batch.columns import variant_of
from tests.analysis.jobs import DENSE, EXPERT, design_of, job, study_of
from tests.effort import sampled, thorough

# DeepSpeed overlaps data parallel traffic in stage 3 alone; DualPipe overlaps the exchange of experts and the sends.
ZERO1 = DENSE.replace("megatron-core, tp: 2", "megatron-deepspeed")
FSDP = DENSE.replace("megatron-core, tp: 2", "deepspeed, sharding: fsdp")
PAIRED = EXPERT.replace("megatron-core, tp: 2, ep: 4", "custom, tp: 2, pp: 2, ep: 4, schedule: dualpipe")
STATED = FSDP.replace("sharding: fsdp", "sharding: fsdp, overlap: {dp: true}")
SPECS = {"zero1": ZERO1, "fsdp": FSDP, "dualpipe": PAIRED, "stated": STATED}


@pytest.mark.parametrize("name", sampled(SPECS, 8))
def test_a_searched_layout_takes_the_time_of_the_same_layout_in_a_spec(name: str) -> None:
    text = SPECS[name]
    searched, studied = job(text), StudyVariations(study_of(text))
    space = Space(list(families(searched, Pins({"micro_batch": 1, "cp": 1, "recompute": "none"}))))
    rows = [
        (int(number), float(time), float(held))
        for block in batched_evaluation(design_of(text), searched)(space)
        for number, time, held in zip(block.number, block.step_time, block.memory, strict=True)
    ]
    first_of_kind: dict[tuple[object, ...], tuple[int, float, float]] = {}
    for row in sorted(rows):
        layout = layout_of(searched, space.choice(row[0]))
        first_of_kind.setdefault((layout.sharding, layout.schedule, layout.tp, layout.ep > 1), row)
    kinds = {kind[0] for kind in first_of_kind}
    assert len(kinds) > 1 and len(first_of_kind) >= 4
    for number, time, held in islice(first_of_kind.values(), 12):
        plan = studied.with_layout(section_of(searched, space.choice(number))).plan
        assert time == pytest.approx(plan.step_seconds, rel=1e-12)
        assert held == pytest.approx(plan.memory_bytes, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "choices", "overlaps"),
    [
        (ZERO1, {"sharding": "zero1"}, (False, False, False)),
        (ZERO1, {"sharding": "fsdp"}, (False, True, False)),
        (FSDP, {"sharding": "zero1"}, (False, False, False)),
        (STATED, {"sharding": "zero1"}, (False, True, False)),
        (PAIRED, {"schedule": "dualpipe"}, (True, True, True)),
        (PAIRED, {"schedule": "1f1b"}, (False, True, False)),
    ],
)
def test_the_overlap_of_ep_dp_and_pp_follows_sharding_and_schedule_unless_stated(
    text: str, choices: dict[str, object], overlaps: tuple[bool, bool, bool]
) -> None:
    found = variant_of(job(text).layout, **choices).overlap
    assert (found.ep, found.dp, found.pp) == overlaps


@thorough
@pytest.mark.parametrize("name", SPECS)
def test_no_layout_of_the_front_is_slower_and_larger_than_another(name: str) -> None:
    pins = {"cp": 1, "virtual_stages": 1}
    front = search(study_of(SPECS[name]), SearchOptions(pins, top=8)).pareto
    figures = [(row.step_time, row.memory) for row in front]
    assert len(figures) > 1
    for (time, held), (next_time, next_held) in pairwise(figures):
        assert time is not None and next_time is not None and held is not None and next_held is not None
        assert time < next_time and held > next_held
