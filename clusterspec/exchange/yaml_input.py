"""YAML files of other tools: plain values, each with its line."""

from __future__ import annotations

from typing import Any

from clusterspec.document import Document, parse
from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.input_file import InputFile
from clusterspec.records import dataclass
from clusterspec.source import Key, Source

MOST_VALUES = 150_000
"""Values of one document; a fabric of 1,000 nodes, link by link, has some 40,000."""


MOST_DOCUMENTS = 500


@dataclass(frozen=True, slots=True)
class Yaml:
    """A YAML document of a file: its value, and the position of each part."""

    value: Any
    document: Document
    offset: int = 0
    """Lines of the file before this document."""

    def line(self, *path: Key) -> int:
        """The line of a value, or of the nearest enclosing value that has one."""
        for depth in range(len(path), -1, -1):
            if place := self.document.places.get(tuple(path[:depth])):
                return (place.key or place.value).start.line + self.offset
        return 0

    @property
    def mapping(self) -> dict[str, Any]:
        """The value as a mapping. Raises `FormatError` if it is not one."""
        if not isinstance(self.value, dict):
            raise FormatError("is not a mapping of keys to values")
        return self.value


def read_yaml(file: InputFile) -> Yaml:
    """The first document of a file. Raises `FormatError` if it is not YAML."""
    return read_documents(file)[0]


def read_documents(file: InputFile) -> list[Yaml]:
    """The documents of a file, separated by ``---``, without empty ones."""
    found: list[Yaml] = []
    lines, start = file.lines, 0
    for number in [*(n for n, line in enumerate(lines) if line.rstrip() == "---"), len(lines)]:
        if len(found) >= MOST_DOCUMENTS:
            raise FormatError(f"holds more than {MOST_DOCUMENTS} documents", number)
        text = "\n".join(lines[start:number])
        if text.strip():
            found.append(_document(Source(file.name, text), start))
        start = number + 1
    kept = [each for each in found if each.value is not None]
    if not kept:
        raise FormatError("holds no YAML value")
    return kept


def _document(source: Source, offset: int) -> Yaml:
    document, problems = parse(source, MOST_VALUES)
    if document is None:
        line = problems[0].span.start.line + offset if problems[0].span else 0
        raise FormatError(f"not YAML: {problems[0].message}", line)
    return Yaml(document.value, document, offset)
