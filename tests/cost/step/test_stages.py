"""Equal stages are one group, and the groups are what looking at every stage gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.cost.layers import stage_chunks, stage_groups
from tests.cost.memory.designs import experts, layout, model


@given(
    dense=st.integers(0, 5),
    moe=st.integers(1, 30),
    pp=st.sampled_from([1, 2, 3, 4, 8]),
    virtual=st.sampled_from([1, 2, 3]),
    schedule=st.sampled_from(["1f1b", "dualpipe"]),
)
def test_the_groups_are_the_stages(dense: int, moe: int, pp: int, virtual: int, schedule: str) -> None:
    of = experts(layers=dense + moe, moe_layers=moe)
    cut = layout(of, pp=pp, virtual_stages=virtual, schedule=schedule)
    groups = stage_groups(of, cut)
    unrolled = [group.chunks for group in groups for _ in range(group.count)]
    assert unrolled == list(stage_chunks(of, cut))
    assert [group.first for group in groups] == [sum(one.count for one in groups[:i]) for i in range(len(groups))]


@pytest.mark.parametrize(("layers", "pp", "counts"), [(80, 16, [1, 14, 1]), (126, 16, [1, 14, 1]), (8, 1, [1])])
def test_inner_stages_of_a_dense_model_are_equal(layers: int, pp: int, counts: list[int]) -> None:
    of = model(layers=layers)
    assert [group.count for group in stage_groups(of, layout(of, pp=pp))] == counts


def test_ten_thousand_equal_stages_are_three_groups() -> None:
    of = model(layers=20_000)
    groups = stage_groups(of, layout(of, pp=10_000))
    assert [group.count for group in groups] == [1, 9_998, 1]
    assert groups[1].chunks[0].layers == 2
