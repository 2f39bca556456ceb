"""Reads small XML files: no document types, no entities, no more elements and levels than a topology has."""

from __future__ import annotations

from xml.parsers import expat

from clusterspec.exchange.files import InputFile
from clusterspec.exchange.reading import Refusal
from clusterspec.records import dataclass, field

MOST_ELEMENTS = 100_000
DEEPEST = 64


@dataclass(slots=True)
class Element:
    """One element with its attributes, its children, its parent and the line where it begins."""

    tag: str
    attributes: dict[str, str]
    line: int
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    def every(self, *tags: str) -> list[Element]:
        """All elements with one of these tags in this one, in the order of the file."""
        found, waiting = [], [self]
        while waiting:
            one = waiting.pop()
            if one.tag in tags:
                found.append(one)
            waiting.extend(reversed(one.children))
        return found


def parse_xml(file: InputFile) -> Element:
    """The root element. Raises `Refusal` for text that is no XML, and for document types, which XML bombs need."""
    file.bounded("XML")
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, attributes: builder.start(tag, attributes, parser.CurrentLineNumber)
    parser.EndElementHandler = lambda tag: builder.end()
    parser.StartDoctypeDeclHandler = lambda *_: _refuse_doctype(parser.CurrentLineNumber)
    parser.EntityDeclHandler = lambda *_: _refuse_doctype(parser.CurrentLineNumber)
    try:
        parser.Parse(file.text, True)
    except expat.ExpatError as fault:
        raise Refusal(f"no XML: {expat.ErrorString(fault.code)}", fault.lineno) from None
    assert builder.root is not None
    return builder.root


def _refuse_doctype(line: int) -> None:
    raise Refusal("a document type or an entity is declared: topology files need none, and none is read", line)


class _Builder:
    """Builds the elements of one text."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise Refusal(f"more than {MOST_ELEMENTS:,} elements", line)
        if len(self.open) >= DEEPEST:
            raise Refusal(f"nested deeper than {DEEPEST} levels", line)
        parent = self.open[-1] if self.open else None
        element = Element(tag, attributes, line, parent)
        if parent is None:
            self.root = element
        else:
            parent.children.append(element)
        self.open.append(element)

    def end(self) -> None:
        self.open.pop()
