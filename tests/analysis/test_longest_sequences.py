"""The longest sequence that fits, in steps of 1,024 tokens and of the ranks that share it."""

from __future__ import annotations

import pytest

from clusterspec.analysis.searches.fitting import MOST, STEP, longest_sequence
from clusterspec.cost.plan import Plan
from clusterspec.records import replace
from tests.analysis.jobs import study_of

TEXT = """
cluster: {{platform: dgx-h100, nodes: 2}}
workload: {{model: llama-3.1-8b, sequence_length: {length}, global_batch: 32}}
layout: {{framework: megatron-core, {layout}}}
"""


def plan(length: int = 4096, layout: str = "tp: 4, recompute: full") -> Plan:
    return study_of(TEXT.format(length=length, layout=layout)).plan


@pytest.mark.parametrize("layout", ["tp: 4", "tp: 2, cp: 2", "tp: 4, recompute: full"])
def test_the_longest_sequence_fits_and_one_step_more_does_not(layout: str) -> None:
    found = longest_sequence(plan(layout=layout))
    assert found is not None and found.tokens % found.step == 0 and found.step % STEP == 0
    assert plan(found.tokens, layout).fits
    if found.reached:
        assert found.tokens <= 131_072 < found.tokens + found.step and found.model == 131_072
    else:
        assert not plan(found.tokens + found.step, layout).fits and found.model is None


def test_a_model_without_a_longest_sequence_is_tried_up_to_a_million_tokens() -> None:
    assert (STEP, MOST) == (1024, 2**20)
    found = plan(layout="tp: 8, recompute: full")
    work = found.design.workload
    assert work is not None
    served = replace(found, design=replace(found.design, workload=replace(work, kind="serve")))
    assert longest_sequence(served) is None
    assert longest_sequence(replace(found, design=replace(found.design, layout=None))) is None
    assert longest_sequence(replace(found, stored=None)) is None
