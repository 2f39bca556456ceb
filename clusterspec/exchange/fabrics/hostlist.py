"""Slurm host lists: ``tux[0-3,12,18-20]`` represents eight names; zeros in front are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from clusterspec.exchange.import_result import FormatError

MOST_NAMES = 200_000
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def expand(text: str, line: int = 0) -> list[str]:
    """The names that a host list represents, in order. Raises `FormatError` if it is malformed or too long.

    >>> expand("tux[08-10,12],a")
    ['tux08', 'tux09', 'tux10', 'tux12', 'a']
    """
    names: list[str] = []
    for item in _items(text):
        for name in _expanded(item, line):
            names.append(name)
            if len(names) > MOST_NAMES:
                raise FormatError(f"a host list of more than {MOST_NAMES:,} names", line)
    return names


def _items(text: str) -> Iterator[str]:
    """The items between commas outside brackets."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character == "," and depth == 0:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def _expanded(item: str, line: int) -> Iterator[str]:
    parts = _BRACKET.split(item)
    if "[" in "".join(parts[::2]) or "]" in "".join(parts[::2]):
        raise FormatError(f"the host list {item[:60]!r} has a bracket that is not closed", line)
    choices = [[part] if at % 2 == 0 else _numbers(part, line) for at, part in enumerate(parts)]
    size = 1
    for choice in choices:
        size *= len(choice)
    if size > MOST_NAMES:
        raise FormatError(f"a host list of more than {MOST_NAMES:,} names", line)
    return ("".join(chosen) for chosen in product(*choices))


def _numbers(text: str, line: int) -> list[str]:
    found: list[str] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if not match:
            raise FormatError(f"[{text[:60]}] is not a range of numbers", line)
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first >= MOST_NAMES:
            raise FormatError(f"the range {part[:30]} runs backward or is too long", line)
        found += [str(number).zfill(len(match[1])) for number in range(first, last + 1)]
    return found
