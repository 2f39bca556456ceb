"""Parser of small XML files, without document types and entities, limited in elements and depth."""

from __future__ import annotations

from xml.parsers import expat

from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.input_file import InputFile
from clusterspec.records import dataclass, field

MOST_ELEMENTS = 100_000
DEEPEST = 64


@dataclass(slots=True)
class Element:
    """An element with its attributes, children, parent and start line."""

    tag: str
    attributes: dict[str, str]
    line: int
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    def every(self, *tags: str) -> list[Element]:
        """All descendants with one of some tags, in file order."""
        found, waiting = [], [self]
        while waiting:
            one = waiting.pop()
            if one.tag in tags:
                found.append(one)
            waiting.extend(reversed(one.children))
        return found


def parse_xml(file: InputFile) -> Element:
    """The root element. Raises `FormatError` if the text is not XML, or declares a document type (XML bombs)."""
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
        raise FormatError(f"not XML: {expat.ErrorString(fault.code)}", fault.lineno) from None
    assert builder.root is not None
    return builder.root


def _refuse_doctype(line: int) -> None:
    raise FormatError("a document type or an entity is declared: topology files need none", line)


class _Builder:
    """Builds the elements of one text."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise FormatError(f"more than {MOST_ELEMENTS:,} elements", line)
        if len(self.open) >= DEEPEST:
            raise FormatError(f"nested deeper than {DEEPEST} levels", line)
        parent = self.open[-1] if self.open else None
        element = Element(tag, attributes, line, parent)
        if parent is None:
            self.root = element
        else:
            parent.children.append(element)
        self.open.append(element)

    def end(self) -> None:
        self.open.pop()
