"""Suggestions for misspelled words, by edit distance."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.patterns import pattern

_HUMP = pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_MAX_LENGTH = 100


def nearest(word: str, known: Iterable[str], distance: int = 2) -> list[str]:
    """The known words at the smallest edit distance, at most ``distance`` (one for short words).

    Case, camel case, and ``_`` for ``-`` do not count as edits.

    >>> nearest("nicsPerNod", ["nics_per_node", "nodes"])
    ['nics_per_node']
    """
    ranked = _ranked(word, known, distance)
    fewest = min((count for count, _ in ranked), default=0)
    return sorted(one for count, one in ranked if count == fewest)


def near(word: str, known: Iterable[str], distance: int = 2) -> list[str]:
    """All known words within the distance of `nearest`; only those that differ in case or separators if any do.

    >>> near("tpp", ["tp", "pp", "dp"])
    ['pp', 'tp']
    """
    ranked = _ranked(word, known, distance)
    return sorted(one for count, one in ranked if count == 0) or sorted(one for _, one in ranked)


def _ranked(word: str, known: Iterable[str], distance: int) -> list[tuple[int, str]]:
    """The known words within the distance, each with its edit distance."""
    if len(word) > _MAX_LENGTH:
        return []
    given = plain(word)
    allowed = min(distance, 1 if len(given) <= 4 else distance)
    counted = [(edits(given, plain(one)), one) for one in known if abs(len(given) - len(plain(one))) <= allowed]
    return [(count, one) for count, one in counted if count <= allowed and count < len(given)]


def one_of(words: list[str]) -> str:
    """Words as alternatives in a sentence.

    >>> one_of(["a", "b", "c"])
    '`a`, `b` or `c`'
    """
    marked = [f"`{word}`" for word in words]
    return f"{', '.join(marked[:-1])} or {marked[-1]}" if len(marked) > 1 else marked[0]


def plain(word: str) -> str:
    """A word in snake case.

    >>> plain("nicsPerNode"), plain("scale-out")
    ('nics_per_node', 'scale_out')
    """
    return _HUMP.sub("_", word).lower().replace("-", "_").replace(" ", "_")


def edits(one: str, other: str) -> int:
    """The edit distance of two words: insertions, deletions, replacements and adjacent transpositions.

    >>> edits("sclae_out", "scale_out")
    1
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one):
        before, above, row = row, before, [i + 1]
        for j, wanted in enumerate(other):
            cost = min(before[j] + (letter != wanted), before[j + 1] + 1, row[j] + 1)
            if i and j and letter == other[j - 1] and wanted == one[i - 1]:
                cost = min(cost, above[j - 1] + 1)
            row.append(cost)
    return row[-1]
