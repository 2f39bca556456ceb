"""How a design runs: its groups of ranks, its collectives by size, and its launch, worked out by hand."""

from __future__ import annotations

import itertools

from clusterspec.analysis.acceptance_tests import planned_tests
from clusterspec.analysis.groups import framework_launch, rank_groups, sized_collectives
from clusterspec.studies import Study, study_text
from tests.settings import SETTINGS

POD = """clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {technology: infiniband-ndr, nics_per_node: 8, topology: rail-optimized, switch: quantum-2-qm9700}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 256}
layout: {tp: 4, pp: 2, framework: FRAMEWORK}
"""


def study_of(framework: str) -> Study:
    return study_text(POD.replace("FRAMEWORK", framework), SETTINGS)


def test_groups_of_ranks_lie_where_the_order_puts_them() -> None:
    """64 ranks in the order tp 4, dp 8, pp 2: neighbors of dp are 4 ranks apart, two to a node; those of pp 32."""
    found = {one.axis: one for one in rank_groups(study_of("megatron-core").plan)}
    assert {axis: (one.groups, one.ranks, one.stride, one.first) for axis, one in found.items()} == {
        "tp": (16, 4, 1, "0–3"),
        "dp_cp": (8, 8, 4, "0, 4, 8 …"),
        "pp": (32, 2, 32, "0, 32"),
    }
    assert {axis: (one.ranks_per_node, one.nodes) for axis, one in found.items()} == {
        "tp": (4, 1),
        "dp_cp": (2, 4),
        "pp": (1, 2),
    }


def test_a_collective_reaches_at_8_gib_what_the_acceptance_plan_predicts() -> None:
    study = study_of("megatron-core")
    tests = planned_tests(study)
    tables = sized_collectives(study, tests)
    assert [(one.collective, one.ranks) for one in tables] == [(test.collective, test.ranks) for test in tests]
    assert [one.busbw[-1] for one in tables] == [test.predicted for test in tests]
    for one in tables:
        assert dict(one.curve).items() >= set(zip(one.sizes, one.busbw, strict=True))
        below = [rate for size, rate in one.curve if one.half_size and size > one.half_size]
        assert below and min(below) >= one.busbw[-1] / 2, "half of the bandwidth from there on"
    assert all(small <= large for one in tables for small, large in itertools.pairwise(one.seconds))


def test_a_design_is_launched_by_the_framework_that_it_names() -> None:
    started = framework_launch(study_of("megatron-core").design)
    assert started is not None and "--tensor-model-parallel-size 4" in started.text
    assert framework_launch(study_of("vllm").design) is None  # which serves, and does not train
    assert framework_launch(study_of("custom").design) is None
