"""Loads over ranks, positions and messages, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.formulas.serving import launch_time
from clusterspec.cost.layers import _evenly_spread
from clusterspec.cost.measured import BEYOND_LINKS, above_links_text
from clusterspec.cost.reinforcement.weights import _messages
from clusterspec.cost.serving.parts.balance import _balanced_loads, _largest_load_ratio, _listed_loads, _with_copies
from clusterspec.cost.serving.waits.running_steps import _rest_until


def test_items_stand_at_the_ends_of_equal_periods() -> None:
    assert [_evenly_spread(2, 6), _evenly_spread(0, 2)] == [(False, False, True, False, False, True), (False, False)]
    assert [_evenly_spread(2, 2), _evenly_spread(2, 3)] == [(True, True), (False, True, True)]


def test_copies_go_to_the_expert_with_the_most_load_for_each_slot() -> None:
    assert sorted(_with_copies((0.6, 0.3, 0.1), 1)) == pytest.approx([0.1, 0.3, 0.3, 0.3])
    assert sorted(_with_copies((0.6, 0.25, 0.15), 2)) == pytest.approx([0.15, 0.2, 0.2, 0.2, 0.25])
    assert sorted(_with_copies((0.7, 0.3), 0)) == [0.3, 0.7]


def test_the_fullest_slots_go_first_and_each_rank_has_as_many() -> None:
    assert _balanced_loads((0.4, 0.3, 0.2, 0.1), 2) == pytest.approx([0.5, 0.5])
    assert _balanced_loads((0.7, 0.1, 0.1, 0.1), 2) == pytest.approx([0.8, 0.2])  # two places on each rank
    assert _listed_loads((0.4, 0.3, 0.2, 0.1), 2) == pytest.approx([0.7, 0.3])
    assert _listed_loads((0.5, 0.3, 0.2), 2) == pytest.approx([0.8, 0.2])
    assert [_largest_load_ratio(each) for each in ([0.7, 0.3], [1.0, 1.0], [0.0, 0.0])] == pytest.approx([1.4, 1, 1])


def test_collectives_of_more_ranks_than_a_domain_cross_it() -> None:
    assert tuple(_messages({4: 10.0, 8: 3.0, 16: 2.0}, 8)) == (13.0, 2.0)


def test_the_rest_of_equal_steps_falls_evenly() -> None:
    """Steps of 2 s: after 0.5 s 1.5 s remain, and the mean rest of moments from 0 to 0.5 s is 1.75 s."""
    assert _rest_until(0.0, 2.0, 5.0, 0.5) == pytest.approx((0.875, 1.5))
    assert _rest_until(1.0, 2.0, 2.0, 0.5) == pytest.approx((0.875, 1.5))
    # half of the steps have 4 s: after 1 s 3 or 1 s remain, 1 s * 3.5 and 1 s * 1.5 until then
    assert _rest_until(0.5, 2.0, 4.0, 1.0) == pytest.approx((2.5, 2.0))


def test_a_message_names_what_links_carry_at_most() -> None:
    text = above_links_text(600e9, 400e9 * BEYOND_LINKS.value)
    assert text.startswith("600 GB/s is impossible: the links carry at most 400 GB/s. ")


@pytest.mark.parametrize("part", ["fused", "routed_layer", "small", "small_kernel"])
def test_parts_of_launches_that_are_left_out_take_no_time(part: str) -> None:
    """Two launches of 3 s, and a part of which the other factor is left out."""
    found: Any = launch_time(2.0, 3.0, 0.0, 0.0, sequence=1.0, **{part: 5.0})
    assert found == 6.0
