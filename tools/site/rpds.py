"""A stand-in for the three collections of rpds that jsonschema and referencing use, for interpreters without Rust.

Each is a copy on write, which is slow for large collections; schemas have few keys.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class HashTrieMap(Mapping[K, V], Generic[K, V]):
    """A mapping that never changes."""

    def __init__(self, value: Any = (), **more: Any) -> None:
        self._values: dict[Any, Any] = dict(value, **more)

    @classmethod
    def convert(cls, value: Any) -> HashTrieMap[Any, Any]:
        """The value as such a mapping."""
        return value if isinstance(value, HashTrieMap) else cls(value)

    def __getitem__(self, key: K) -> V:
        found: V = self._values[key]
        return found

    def __iter__(self) -> Iterator[K]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __repr__(self) -> str:
        return f"HashTrieMap({self._values!r})"

    def insert(self, key: K, value: V) -> HashTrieMap[K, V]:
        """The mapping with one more entry."""
        return HashTrieMap({**self._values, key: value})

    def update(self, *others: Any, **more: Any) -> HashTrieMap[K, V]:
        """The mapping with the entries of others."""
        values = dict(self._values)
        for other in others:
            values.update(other)
        return HashTrieMap(values, **more)

    def discard(self, key: K) -> HashTrieMap[K, V]:
        """The mapping without a key, which may be absent."""
        return HashTrieMap({name: value for name, value in self._values.items() if name != key})

    def remove(self, key: K) -> HashTrieMap[K, V]:
        """The mapping without a key. Raises `KeyError` if it is absent."""
        if key not in self._values:
            raise KeyError(key)
        return self.discard(key)


class HashTrieSet(frozenset[Any]):
    """A set that never changes."""

    def insert(self, value: Hashable) -> HashTrieSet:
        """The set with one more value."""
        return HashTrieSet({*self, value})

    def update(self, *others: Iterable[Hashable]) -> HashTrieSet:
        """The set with the values of others."""
        return HashTrieSet(self.union(*others))

    def discard(self, value: Hashable) -> HashTrieSet:
        """The set without a value, which may be absent."""
        return HashTrieSet(self - {value})

    def remove(self, value: Hashable) -> HashTrieSet:
        """The set without a value. Raises `KeyError` if it is absent."""
        if value not in self:
            raise KeyError(value)
        return self.discard(value)


class List(tuple[Any, ...]):
    """An immutable list whose front is its first value."""

    def __new__(cls, *values: Any) -> List:
        only = values[0] if len(values) == 1 and isinstance(values[0], Iterable) else values
        return super().__new__(cls, only)

    @property
    def first(self) -> Any:
        """The first value. Raises `IndexError` if there is none."""
        return self[0]

    @property
    def rest(self) -> List:
        """All values but the first."""
        return List(self[1:])

    def push_front(self, value: Any) -> List:
        """The list with one more value before the first."""
        return List((value, *self))

    def drop_first(self) -> List:
        """The list without its first value. Raises `IndexError` if there is none."""
        if not self:
            raise IndexError("the list is empty")
        return self.rest
