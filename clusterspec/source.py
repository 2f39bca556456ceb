"""Positions and spans in a text, and the origin of a number, which may be such a span.

Lines and columns count from 1, columns in Unicode code points, as editors show them. Every figure in a cluster, a cost
or a report has an origin.
"""

from __future__ import annotations

from clusterspec.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Key = str | int
Path = tuple[Key, ...]
"""The way from the root of a document to a value: ``("layout", "order", 0)``."""


@dataclass(frozen=True, order=True)
class Position:
    """A position in a text; line and column from 1, columns in code points."""

    line: int
    column: int


@dataclass(frozen=True)
class Span:
    """A range of a file from ``start`` (inclusive) to ``end`` (exclusive)."""

    file: str
    start: Position
    end: Position

    def __str__(self) -> str:
        return f"{self.file}:{self.start.line}:{self.start.column}"


@dataclass(frozen=True)
class Source:
    """A text with its file name (``-`` for standard input)."""

    name: str
    text: str
    _lines: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    def line(self, number: int) -> str:
        """The text of line ``number`` (from 1) without its end; empty past the last one."""
        if not self._lines:
            self._lines.extend(self.text.split("\n"))
        return self._lines[number - 1].rstrip("\r") if 0 < number <= len(self._lines) else ""


def value_at(value: Any, *path: Key) -> Any:
    """The value at a path of mappings in a plain value; None if there is none.

    >>> value_at({"layout": {"tp": 8}}, "layout", "tp")
    8
    """
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def mapping_of(value: Any) -> dict[str, Any]:
    """A mapping; an empty one for another value."""
    return value if isinstance(value, dict) else {}


def items_of(value: Any) -> list[Any]:
    """The items of a list; none of another value."""
    return value if isinstance(value, list) else []


def pointer(path: Path) -> str:
    """A path as a JSON pointer (RFC 6901).

    >>> pointer(("cluster", "scale_up", "shape", 0))
    '/cluster/scale_up/shape/0'
    """
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)


def dotted_path(path: Path) -> str:
    """A path in dotted notation.

    >>> dotted_path(("layout", "order", 0))
    'layout.order[0]'
    """
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


# Provenance of numbers


@dataclass(frozen=True)
class Written:
    """A value written in the spec at ``span``; ``key`` is the dotted key path."""

    key: str
    span: Span | None = None

    def __str__(self) -> str:
        return f"spec: {self.key}"


@dataclass(frozen=True)
class Cited:
    """A figure of a catalog entry with its source.

    ``entry`` is ``kind/id``, ``fact`` the key in it, ``source`` the title of the source, ``url`` its
    address, ``read`` the date of access, ``note`` a doubt or a choice between sources.
    """

    entry: str
    fact: str
    source: str
    url: str = ""
    read: str = ""
    note: str = ""

    def __str__(self) -> str:
        return f"catalog: {self.entry} {self.fact} ({self.source})"


@dataclass(frozen=True)
class Measured:
    """A figure from a log or a measurement of the user's machine."""

    what: str
    span: Span | None = None

    def __str__(self) -> str:
        return f"measured: {self.what}"


@dataclass(frozen=True)
class Assumed:
    """A default with the reason for it. Reports list all assumptions."""

    key: str
    why: str

    def __str__(self) -> str:
        return f"assumed: {self.why}"


@dataclass(frozen=True)
class Computed:
    """A figure computed from other figures by ``formula``."""

    formula: str

    def __str__(self) -> str:
        return f"computed: {self.formula}"


Origin = Written | Cited | Measured | Assumed | Computed
