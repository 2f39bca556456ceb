"""Recognition of rings and tori among numbered devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

Neighbors = Mapping[int, frozenset[int]]


def shape_of(neighbors: Neighbors) -> tuple[int, ...] | None:
    """The dimensions of the ring or torus whose row-major numbering gives these neighbors; None if there is none.

    >>> ring = {n: frozenset({(n - 1) % 4, (n + 1) % 4}) for n in range(4)}
    >>> shape_of(ring)
    (4,)
    """
    count = len(neighbors)
    if count < 3 or set(neighbors) != set(range(count)):
        return None
    return next((shape for shape in _shapes(count) if _torus(shape) == neighbors), None)


def _shapes(count: int) -> Iterator[tuple[int, ...]]:
    yield (count,)
    sides = [side for side in range(2, count) if count % side == 0]
    yield from ((a, b) for a, b in product(sides, sides) if a * b == count)
    yield from ((a, b, c) for a, b, c in product(sides, repeat=3) if a * b * c == count)


def _torus(shape: tuple[int, ...]) -> dict[int, frozenset[int]]:
    places = list(product(*(range(side) for side in shape)))
    number = {place: at for at, place in enumerate(places)}
    return {
        number[place]: frozenset(
            number[(*place[:axis], (place[axis] + step) % side, *place[axis + 1 :])]
            for axis, side in enumerate(shape)
            for step in (-1, 1)
        )
        - {number[place]}
        for place in places
    }
