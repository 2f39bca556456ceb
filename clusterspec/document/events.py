"""What a YAML text consists of: where collections begin and end, scalars and aliases."""

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
    """One event: a ``scalar``, an ``alias``, the begin of a ``mapping``, ``list`` or ``document``, the ``end`` of a
    collection.

    ``start`` and ``end`` are offsets into the text. A scalar is ``bare`` without quotes, and ``block`` where its lines
    follow a ``|`` or ``>``.
    """

    __slots__ = ("anchor", "bare", "block", "end", "kind", "start", "tag", "value")

    def __init__(self, kind: str, start: int, end: int, value: str = "", *, bare: bool = False) -> None:
        self.kind, self.start, self.end, self.value, self.bare = kind, start, end, value, bare
        self.block = False
        self.anchor: str | None = None
        self.tag: str | None = None


def parsed(text: str) -> Iterator[Event]:
    """The events of any text, by PyYAML. Raises `yaml.YAMLError` for one that is no YAML."""
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
    """The parser of events: libyaml where PyYAML was built with it, which is everywhere but on rare platforms."""
    try:
        from yaml.cyaml import CParser  # type: ignore[attr-defined]
    except ImportError:
        from clusterspec.document.slow import SlowParser

        return SlowParser(text)
    return CParser(text)
