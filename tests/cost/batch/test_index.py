"""Equal rows have equal numbers, whatever the order and the size of calls."""

from __future__ import annotations

from typing import cast

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.cost.batch.columns import Array, ArrayLibrary, HashTable, LayoutColumns
from clusterspec.cost.batch.index import DENSE, Numbers, PairIndex, RowTable, ValueIndex, ValueTable
from tests.designs import TRAINED, work_of

LIBRARY = cast(ArrayLibrary, numpy)
LARGE = 2 * DENSE
"""A number that no dense table holds."""
PAIRS = st.lists(st.tuples(st.sampled_from([0, 1, 2, 7, 1000, LARGE]), st.integers(0, 5)), min_size=1, max_size=30)


def array(values: list[int]) -> Array:
    return cast(Array, numpy.array(values, "int64"))


def numbers(values: list[int]) -> Numbers:
    return Numbers(array(values), max(values) + 1)


def test_micro_batches_are_those_of_each_replica() -> None:
    """Of a batch of 32: 32 / (4 × 2), 32 / (3 × 2) rounded down, and one where a replica has less than one."""
    degrees = {"dp": array([4, 3, 16]), "micro_batch": array([2, 2, 4])}
    columns = LayoutColumns(LIBRARY, work_of(TRAINED), degrees, array([0, 0, 0]))
    assert columns.micro_batches.tolist() == [4, 5, 1]


@given(calls=st.lists(PAIRS, min_size=1, max_size=5))
def test_pairs_are_numbered_as_they_first_occur(calls: list[list[tuple[int, int]]]) -> None:
    """Also where a later call needs the hash table: what was numbered before keeps its number."""
    index, known = PairIndex(LIBRARY), dict[tuple[int, int], int]()
    for pairs in calls:
        before = len(known)
        found, fresh = index.numbers_and_new_rows(
            numbers([pair[0] for pair in pairs]), numbers([pair[1] for pair in pairs])
        )
        for pair, number in zip(pairs, found.values.tolist(), strict=True):
            assert known.setdefault(pair, number) == number
        new = [] if fresh is None else [known[pairs[row]] for row in fresh.tolist()]
        assert new == list(range(before, len(known)))
        assert len(set(known.values())) == len(known) == index.size == found.end


@given(codes=st.lists(st.integers(0, 1 << 50), unique=True, min_size=1, max_size=3000))
def test_a_hash_table_finds_exactly_the_added_keys(codes: list[int]) -> None:
    table = HashTable(LIBRARY)
    half = len(codes) // 2
    table.add(array(codes[:half]), array(list(range(half))))
    assert table.find(array(codes)).tolist() == [*range(half), *[-1] * (len(codes) - half)]
    table.add(array(codes[half:]), array(list(range(half, len(codes)))))
    assert table.find(array(codes)).tolist() == list(range(len(codes)))


def test_colliding_codes_are_distinguished() -> None:
    """The table has 1,024 slots and takes 341 entries: of so many in a row some collide."""
    codes = list(range(0, 340 << 20, 1 << 20))
    table = HashTable(LIBRARY)
    table.add(array(codes), array(list(range(340))))
    assert table.find(array(codes)).tolist() == list(range(340))


@pytest.mark.parametrize(
    ("steps", "slots"),
    [((10,), 1024), ((341,), 1024), ((300, 42), 4096), ((342,), 4096), ((100, 1000, 5), 8192), ((341, 1, 1), 4096)],
)
def test_a_table_has_three_slots_for_each_code_and_twice_as_many_when_it_grows(
    steps: tuple[int, ...], slots: int
) -> None:
    """It doubles until three slots for each code are at most half of all; every code stays where it is found."""
    table, known = HashTable(LIBRARY), dict[int, int]()
    for count in steps:
        codes = [(len(known) + place) * 7_919_317 for place in range(count)]
        assert table.find(array(codes)).tolist() == [-1] * count
        numbered = {code: 3 * place + len(known) for place, code in enumerate(codes)}
        table.add(array(codes), array([*numbered.values()]))
        known |= numbered
        assert table.find(array([*known])).tolist() == [*known.values()]
        assert table.size == len(known)
    assert len(table._keys) == len(table._numbers) == slots


def test_values_are_numbered_from_zero() -> None:
    index = ValueIndex(LIBRARY)
    assert index(array([5, 3, 5])).values.tolist() == [1, 0, 1]
    assert index(array([1000, 3])).values.tolist() == [2, 0]


def test_a_row_table_computes_each_row_once() -> None:
    table, seen = RowTable(LIBRARY, 2, 1), list[int]()

    def compute(row: int) -> tuple[float]:
        seen.append(row)
        return (10.0 * row,)

    first, second = numbers([4, 4, 2]), numbers([1, 1, 0])
    assert table.one_by_one([first, second], compute)[0].tolist() == [0.0, 0.0, 20.0]
    assert sorted(seen) == [0, 2]
    assert table.one_by_one([first, second], compute)[0].tolist() == [0.0, 0.0, 20.0]
    assert len(seen) == 2


def test_reserved_numbers_are_filled_in_their_order() -> None:
    table = ValueTable(LIBRARY, 2)
    first = table.reserve(numbers([3, 1, 3]))
    second = table.reserve(numbers([1, 2]))
    assert first is not None and first.tolist() == [1, 0]
    assert second is not None and second.tolist() == [1]
    table.fill([cast(Array, numpy.array([10.0, 30.0, 20.0])), cast(Array, numpy.array([1.0, 3.0, 2.0]))])
    assert [column.tolist() for column in table[numbers([1, 2, 3])]] == [[10.0, 20.0, 30.0], [1.0, 2.0, 3.0]]
    assert table.reserve(numbers([1, 2, 3])) is None
