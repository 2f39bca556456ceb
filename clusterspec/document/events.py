"""Events of a YAML text: the starts and ends of collections, scalars and aliases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_KINDS = {
    "ScalarEvent": "scalar",
    "AliasEvent": "alias",
    "MappingStartEvent": "mapping",
    "SequenceStartEvent": "list",
    "MappingEndEvent": "end",
    "SequenceEndEvent": "end",
    "DocumentStartEvent": "document",
}


class Event:
    """A parser event: a ``scalar``, an ``alias``, the start of a ``mapping``, ``list`` or ``document``, or the ``end``
    of a collection.

    ``start`` and ``end`` are offsets into the text. A scalar is ``bare`` if unquoted, and ``block`` after ``|`` or
    ``>``.
    """

    __slots__ = ("anchor", "bare", "block", "end", "kind", "start", "tag", "value")

    def __init__(self, kind: str, start: int, end: int, value: str = "", *, bare: bool = False) -> None:
        self.kind, self.start, self.end, self.value, self.bare = kind, start, end, value, bare
        self.block = False
        self.anchor: str | None = None
        self.tag: str | None = None


def parsed(text: str) -> Iterator[Event]:
    """The events of a text, parsed by PyYAML. Raises `yaml.YAMLError` if it is not YAML."""
    parser = _parser(text)
    while (given := parser.get_event()) is not None:
        name = type(given).__name__
        if name not in _KINDS:
            continue
        event = Event(_KINDS[name], given.start_mark.index, given.end_mark.index)
        event.anchor, event.tag = getattr(given, "anchor", None), getattr(given, "tag", None)
        if name == "ScalarEvent":
            event.value, event.bare, event.block = given.value, bool(given.implicit[0]), given.style in {"|", ">"}
        yield event


def _parser(text: str) -> Any:
    """The event parser: libyaml if PyYAML was built with it, else the Python implementation."""
    try:
        from yaml.cyaml import CParser  # type: ignore[attr-defined]
    except ImportError:
        from clusterspec.document.pure_python_parser import PurePythonParser

        return PurePythonParser(text)
    return CParser(text)
