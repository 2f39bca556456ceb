from __future__ import annotations

import numpy
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.analysis.searches.space.kept import BestLayouts, Kept, ParetoFront, front_of, smallest_indices

VALUES = st.lists(st.integers(0, 20).map(float), max_size=40)
PAIRS = st.lists(st.tuples(st.integers(0, 12).map(float), st.integers(0, 12).map(float)), max_size=40)


@given(values=VALUES, count=st.integers(1, 10))
def test_arrays_and_lists_keep_the_same_smallest(values: list[float], count: int) -> None:
    assert smallest_indices(values, count) == smallest_indices(numpy.array(values), count)  # type: ignore[arg-type]
    assert [values[at] for at in smallest_indices(values, count)] == sorted(values)[:count]


@given(pairs=PAIRS)
def test_the_front_holds_what_no_other_beats(pairs: list[tuple[float, float]]) -> None:
    times, memories = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found = front_of(times, memories)
    assert found == front_of(numpy.array(times), numpy.array(memories))  # type: ignore[arg-type]
    best = {
        pair
        for pair in pairs
        if not any(other[0] <= pair[0] and other[1] <= pair[1] and other != pair for other in pairs)
    }
    assert {pairs[at] for at in found} == best


@given(pairs=PAIRS, cut=st.integers(0, 40))
def test_a_front_in_blocks_is_the_front_of_all(pairs: list[tuple[float, float]], cut: int) -> None:
    rows = [Kept(time, time, memory, number) for number, (time, memory) in enumerate(pairs)]
    front = ParetoFront()
    front.add(rows[:cut])
    front.add(rows[cut:])
    assert [kept.number for kept in front.rows] == front_of([p[0] for p in pairs], [p[1] for p in pairs])


def test_the_best_break_ties_by_memory_then_by_order() -> None:
    rows = [Kept(1.0, 1.0, memory, number) for number, memory in enumerate([9.0, 5.0, 5.0])]
    best = BestLayouts(2)
    best.add(rows)
    assert [kept.number for kept in best.rows] == [1, 2]
