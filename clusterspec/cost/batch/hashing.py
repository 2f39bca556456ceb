"""A hash table of whole columns: open addressing, with linear probing of all columns at once."""

from __future__ import annotations

from clusterspec.cost.batch.arrays import Array, ArrayLibrary

SPREAD = 0x9E3779B1
"""An odd multiplier whose products differ in their upper bits (Knuth, The Art of Computer Programming 3, 6.4)."""
SHIFT = 20
"""Bits by which a code is folded onto itself before that, since both halves of a code count."""
LOAD = 3
"""Slots for each entry, at least."""


class HashTable:
    """Maps codes to numbers. Codes are non-negative integers."""

    def __init__(self, library: ArrayLibrary) -> None:
        self.library = library
        self.size = 0
        self._keys = library.full(1 << 10, -1, "int64")
        self._numbers = library.full(1 << 10, -1, "int64")

    def find(self, codes: Array) -> Array:
        """The number of each code, -1 where there is none."""
        slots = self._slots(codes)
        found, keys = self._numbers.take(slots), self._keys.take(slots)
        rows = self.library.flatnonzero(self.library.not_equal(keys, codes))
        while len(rows):
            keys = self._keys.take(slots[rows])
            found[rows[keys < 0]] = -1
            rows = rows[keys > -1]
            slots[rows] = (slots[rows] + 1) % len(self._keys)
            keys = self._keys.take(slots[rows])
            found[rows] = self._numbers.take(slots[rows])
            rows = rows[self.library.not_equal(keys, codes[rows])]
        return found

    def add(self, codes: Array, numbers: Array) -> None:
        """Adds codes that the table does not have, each once."""
        self.size += len(codes)
        if LOAD * self.size > len(self._keys):
            self._enlarge()
        slots = self._slots(codes)
        while len(codes):
            free = self._keys.take(slots) < 0
            self._keys[slots[free]] = codes[free]
            placed = self.library.equal(self._keys.take(slots), codes)
            self._numbers[slots[placed]] = numbers[placed]
            left = self.library.flatnonzero(self.library.logical_not(placed))
            codes, numbers, slots = codes[left], numbers[left], (slots[left] + 1) % len(self._keys)

    def _slots(self, codes: Array) -> Array:
        mixed = (codes + (codes >> SHIFT)) * SPREAD
        return (mixed >> SHIFT) & (len(self._keys) - 1)

    def _enlarge(self) -> None:
        rows = self.library.flatnonzero(self._keys > -1)
        codes, numbers = self._keys.take(rows), self._numbers.take(rows)
        length = len(self._keys)
        while LOAD * self.size > length // 2:
            length *= 2
        self._keys, self._numbers = (self.library.full(length, -1, "int64") for _ in range(2))
        self.size -= len(codes)
        self.add(codes, numbers)
