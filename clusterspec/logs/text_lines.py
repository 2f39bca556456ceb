"""The lines of a text, one after the other, without a list of all of them."""

from __future__ import annotations

from collections.abc import Iterator


def lines_of(text: str) -> Iterator[str]:
    """The lines of a text without their line feeds, as ``text.split("\\n")`` lists them.

    A list of a million short lines takes several times the space of their text.

    >>> list(lines_of("a\\n\\nb\\n"))
    ['a', '', 'b', '']
    """
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]
