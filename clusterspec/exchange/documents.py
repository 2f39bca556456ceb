"""XML and YAML files of other tools with bounded size, and spec values as YAML text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.parsers import expat

from clusterspec.document import Document, conforms, parse
from clusterspec.exchange.config_maps import config_maps, with_config_maps
from clusterspec.exchange.import_result import (
    FormatError,
    ImportedValue,
    ImportResult,
    InputFile,
    SkippedPart,
    Value,
    excerpt,
    shown_value,
)
from clusterspec.finding import Problem
from clusterspec.logs.text_lines import line_at
from clusterspec.records import dataclass, field, replace
from clusterspec.source import Key, Source, dotted_path
from clusterspec.spec import schema

# Parser of small XML files, without document types and entities, limited in elements and depth

MOST_ELEMENTS = 100_000
DEEPEST = 64


@dataclass
class Element:
    """An element with its attributes, children, parent and start line."""

    tag: str
    attributes: dict[str, str]
    line: int
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)

    def get(self, name: str) -> str:
        return self.attributes.get(name, "")

    def descendants(self, *tags: str) -> list[Element]:
        """All descendants with any of the given tags, in file order."""
        found, waiting = [], [self]
        while waiting:
            one = waiting.pop()
            if one.tag in tags:
                found.append(one)
            waiting.extend(reversed(one.children))
        return found


def parse_xml(file: InputFile) -> Element:
    """The root element. Raises `FormatError` if the text is not XML, or declares a document type (XML bombs)."""
    file.refuse_oversized("XML")
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


# YAML files of other tools: plain values, each with its line

MOST_VALUES = 150_000
"""Maximum number of values in a document; a fabric of 1,000 nodes listed link by link has about 40,000."""


MOST_DOCUMENTS = 500


@dataclass(frozen=True)
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

    def text_line(self, *path: Key) -> int:
        """The line of the first word of a text; for a block (``key: |``), the line below the ``|``."""
        place = self.document.places.get(tuple(path))
        if place is None:
            return self.line(*path)
        start = place.value.start
        mark = self.document.source.line(start.line)[start.column - 1 :][:1]
        return start.line + self.offset + (mark in {"|", ">"})

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
            found.append(_yaml_document(Source(file.name, text), start))
        start = number + 1
    kept = [each for each in found if each.value is not None]
    if not kept:
        raise FormatError("holds no YAML value")
    maps = config_maps([each.value for each in kept])
    return [replace(each, value=with_config_maps(each.value, maps)) for each in kept] if maps else kept


def yaml_of_text(name: str, text: str, offset: int) -> Yaml:
    """A document contained as text in a value of another document, ``offset`` lines into the file. Raises
    `FormatError`.
    """
    return _yaml_document(Source(name, text), offset)


TEMPLATE = re.compile(r"\{\{-? *(?:if|or|with|range|\.(?:Values|Spec))\b[^}\n]{0,200}\}\}")
"""An expression of Go templates, as Helm and KServe use them."""


_VARIABLE_OF_TEMPLATE = re.compile(r"\{\{-? *\$\w{1,60}\b[^}\n]{0,200}\}\}")


def _yaml_fault(problem: Problem, offset: int) -> FormatError:
    """The fault of a text that is not YAML, at its line in the file if that is known."""
    line = problem.span.start.line + offset if problem.span else 0
    return FormatError(f"not YAML: {problem.message.removeprefix('not YAML: ')}", line)


def _yaml_document(source: Source, offset: int) -> Yaml:
    document, problems = parse(source, MOST_VALUES, merges=True)
    if document is None and (template := TEMPLATE.search(source.text) or _VARIABLE_OF_TEMPLATE.search(source.text)):
        line = line_at(source.text, template.start()) + offset
        raise FormatError(f"{excerpt(template[0])}: a template: import the rendered files", line)
    if document is None:  # for the last problem: those before it, such as tags, leave a document
        raise _yaml_fault(problems[-1], offset)
    value = _with_merged_keys(document.value, {}) if "<<" in source.text else document.value
    return Yaml(value, document, offset)


def _with_merged_keys(value: Any, known: dict[int, Any]) -> Any:
    """A value with the keys that ``<<`` merges into its mappings; ``known`` caches finished ones, because aliases
    repeat them.
    """
    if not isinstance(value, dict | list):
        return value
    if id(value) not in known:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        inner = {key: _with_merged_keys(each, known) for key, each in items}
        if isinstance(value, dict):
            bases = inner.pop("<<", None)
            for base in reversed(bases if isinstance(bases, list) else [bases]):
                inner = (base | inner) if isinstance(base, dict) else inner
        known[id(value)] = inner if isinstance(value, dict) else list(inner.values())
    return known[id(value)]


# Values of a spec as YAML text: block mappings with the file and line after each value

_PLAIN = re.compile(r"[A-Za-z0-9./][A-Za-z0-9 ./_+()@%-]*")
_WORDS = {"true", "false", "null", "~", "yes", "no", "on", "off"}
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|nan)", re.IGNORECASE)


def yaml_scalar(value: str | int | float | bool | None) -> str:
    """A YAML scalar; text is quoted if it could be read as another type.

    >>> [yaml_scalar(value) for value in ("400 Gb/s", "1:1", "no", True, "=1+1", "64")]
    ['400 Gb/s', '"1:1"', '"no"', 'true', '"=1+1"', '"64"']
    >>> [yaml_scalar(value) for value in (1e-5, 1.5e-5, 0.85, 5.0)]
    ['1.0e-05', '1.5e-05', '0.85', '5']
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return _decimal_text(value) if isinstance(value, float) else str(value)
    plain = _PLAIN.fullmatch(value) and value == value.strip() and value.lower() not in _WORDS
    return value if plain and not _NUMBER.fullmatch(value) else _quoted_scalar(value)


def _decimal_text(value: float) -> str:
    """A number that YAML 1.1 reads too, to which an exponent without a point is a text (yaml.org/type/float)."""
    text = f"{value:.12g}"
    mantissa, sign, exponent = text.partition("e")
    return f"{mantissa}.0e{exponent}" if sign and "." not in mantissa else text


def _quoted_scalar(text: str) -> str:
    """Text in double quotes, with characters that YAML forbids escaped."""
    kept = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else "?" for c in kept)


def flow_text(value: Value) -> str:
    """A value in YAML flow style.

    >>> flow_text({"size": "4 GiB", "ranks": 8, "shape": [4, 4]})
    '{size: 4 GiB, ranks: 8, shape: [4, 4]}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{yaml_scalar(key)}: {flow_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(flow_text(item) for item in value) + "]"
    return yaml_scalar(value)


def key_lines(key: str, value: Value, indent: int, note: str = "") -> Iterator[str]:
    """The lines of a key, without line ends; nested mappings are indented by two columns."""
    lead, tail = " " * indent, f"  # {note}" if note else ""
    if isinstance(value, Mapping) and value:
        yield f"{lead}{yaml_scalar(key)}:"
        for inner, item in value.items():
            yield from key_lines(inner, item, indent + 2, note)
    elif isinstance(value, Sequence) and not isinstance(value, str) and any(isinstance(v, Mapping) for v in value):
        yield f"{lead}{yaml_scalar(key)}:"
        for item in value:
            yield f"{lead}  - {flow_text(item)}{tail}"
    else:
        yield f"{lead}{yaml_scalar(key)}: {flow_text(value)}{tail}"


def comment_text(text: str) -> str:
    """Text as it may appear in a comment: one line of printable characters."""
    return "".join(c if c.isprintable() else "?" for c in text)


# Check of imported keys against the schema of this version


def result_with_known_keys(reading: ImportResult) -> ImportResult:
    """The import result, in which keys that the schema lacks and values that it rejects are listed as unknown."""
    root = schema()
    kept: list[ImportedValue] = []
    lost: list[SkippedPart] = []
    for each in reading.given:
        node = conforms.node_at(root, each.path)
        shown = f"{dotted_path(each.path)}: {shown_value(each.value)}"
        if not node:
            lost.append(SkippedPart(shown, "this version of the spec has no such key", each.at))
        elif not conforms.conforms([each.value] if each.appended else each.value, node, root):
            lost.append(SkippedPart(shown, "this key of the spec has no such value", each.at))
        else:
            kept.append(each)
    return replace(reading, given=tuple(kept), unknown=(*reading.unknown, *lost))
