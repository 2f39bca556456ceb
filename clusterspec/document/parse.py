"""Parsing of YAML text: events to nodes, and nodes to a `Document`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clusterspec.document import plain
from clusterspec.document.model import (
    Comment,
    Document,
    Lines,
    Offsets,
    Places,
    forbidden_character_problem,
    unreadable_problem,
)
from clusterspec.document.plain import Event, pyyaml_events
from clusterspec.document.values import Scalar, scalar_value
from clusterspec.finding import Problem
from clusterspec.records import dataclass, field, replace
from clusterspec.source import Path, Source, Span
from clusterspec.standard import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_DEPTH = 32
_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
MAX_NODES = 20_000
"""Maximum number of values in one document; values repeated by aliases count each time."""
MAX_ALIASES = 200

_PROPERTIES = pattern(r"(?:[&!][^\s,\[\]{}]*(?:\s|#[^\n]*)*)*")
"""The anchor and tag before a value, which are no part of it."""


class RefusedError(Exception):
    """Raised, with the problem, if a text cannot be composed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass
class Node:
    """A value: a scalar, a list of nodes, or pairs of key node and value node.

    ``start`` and ``end`` are offsets into the text. ``size`` is the number of nodes in it, ``height``
    its nesting depth, both with aliases expanded.
    """

    content: Scalar | list[Node] | dict[str, tuple[Node, Node]]
    start: int
    end: int
    plain: bool = False
    alias: bool = False
    size: int = 1
    height: int = 1


@dataclass
class _OpenCollection:
    """A collection whose end event has not been read; ``skip`` if the next value is to be dropped."""

    node: Node
    anchor: str | None
    key: Node | None = None
    skip: bool = False


@dataclass
class Composer:
    """Builds the nodes of a text. `compose` may raise `RefusedError`; recoverable problems go to ``problems``."""

    source: Source
    lines: Lines
    most: int = MAX_NODES
    merges: bool = False
    """Whether ``<<`` is an ordinary key, and the last value of a repeated key counts, as in other programs' files."""
    problems: list[Problem] = field(default_factory=list)
    scalars: list[tuple[int, int]] = field(default_factory=list)
    """Stretches of the text that hold scalars: no comment starts inside one."""
    _root: Node | None = None
    _stack: list[_OpenCollection] = field(default_factory=list)
    _anchors: dict[str, Node] = field(default_factory=dict)
    _aliases: int = 0
    continues: bool = False
    """Whether the text has further documents, which are not read."""

    def compose(self, events: Iterator[Event]) -> Node | None:
        """The root of the first document; None if the text has no document."""
        documents = 0
        for event in events:
            kind = event.kind
            if kind == "scalar":
                self._add_scalar(event)
            elif kind == "end":
                self._close_collection(event)
            elif kind == "alias":
                self._add_alias(event)
            elif kind != "document":
                self._open_collection(event, {} if kind == "mapping" else [])
            else:
                documents += 1
                if documents > 1:
                    self._report(
                        event.start,
                        event.start + 3,
                        "a second document begins here",
                        "delete the `---` if the keys below it belong to this spec; a file has one document",
                    )
                    self.continues = True
                    break
        return self._root

    def _report(self, start: int, end: int, message: str, advice: str = "") -> None:
        self.problems.append(unreadable_problem(self.lines.span(start, end), message, advice))

    def _refusal(self, start: int, end: int, message: str, advice: str = "") -> RefusedError:
        return RefusedError(unreadable_problem(self.lines.span(start, end), message, advice))

    def _start_of(self, event: Event) -> int:
        """The offset of a value after its anchor. Reports a tag before it."""
        start = event.start
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")[:40]
            self._report(start, event.end, f"the tag {tag} is refused", "write the value without it")
        if event.tag is None and event.anchor is None:
            return start
        match = _PROPERTIES.match(self.source.text, start)
        return match.end() if match else start

    def _add_scalar(self, event: Event) -> None:
        end = event.end
        start = min(self._start_of(event), end)
        if event.block:  # the header line may end in a comment
            header = self.source.text.find("\n", start, end)
            self.scalars.append((header if header >= 0 else end, end))
            end = start + len(self.source.text[start:end].rstrip())
        else:
            self.scalars.append((start, end))
        node = Node(scalar_value(event.value) if event.bare else event.value, start, end, event.bare)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        self._add_node(node)

    def _add_alias(self, event: Event) -> None:
        start, end = event.start, event.end
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            raise self._refusal(start, end, f"more than {MAX_ALIASES} aliases in one file")
        if any(opened.anchor == event.anchor for opened in self._stack):
            raise self._refusal(start, end, f"the alias *{event.anchor} is inside the value that it refers to")
        target = self._anchors.get(event.anchor or "")
        if target is None:
            raise self._refusal(start, end, f"the alias *{event.anchor} names no anchor above it")
        self._add_node(Node(target.content, start, end, alias=True, size=target.size, height=target.height))

    def _open_collection(self, event: Event, content: Any) -> None:
        start = self._start_of(event)
        if len(self._stack) >= MAX_DEPTH:
            raise self._refusal(start, start + 1, _TOO_DEEP)
        self._stack.append(_OpenCollection(Node(content, start, start), event.anchor))

    def _close_collection(self, event: Event) -> None:
        opened = self._stack.pop()
        node = opened.node
        if self.source.text[node.start : node.start + 1] in {"{", "["}:
            node.end = event.end  # a block ends with its last value: `_add_node` saw to that
        if opened.anchor is not None:
            self._anchors[opened.anchor] = node
        self._add_node(node)

    def _add_node(self, node: Node) -> None:
        """Add a complete node to the open collection, as a key, a value or an item."""
        if not self._stack:
            self._root = node
            return
        parent = self._stack[-1]
        into = parent.node
        into.end = max(into.end, node.end)
        into.size += node.size
        into.height = max(into.height, node.height + 1)
        if into.size > self.most:
            raise self._refusal(node.start, node.end, f"more than {self.most} values in one document")
        if len(self._stack) + node.height > MAX_DEPTH + 1:
            raise self._refusal(node.start, node.end, _TOO_DEEP)
        if isinstance(into.content, list):
            into.content.append(node)
        elif isinstance(into.content, dict):
            self._add_pair(parent, into.content, node)

    def _add_pair(self, parent: _OpenCollection, pairs: dict[str, tuple[Node, Node]], node: Node) -> None:
        if parent.skip:
            parent.skip = False
        elif parent.key is not None:
            pairs[str(parent.key.content)] = (parent.key, node)
            parent.key = None
        elif self._is_key(node, pairs):
            parent.key = node
        else:
            parent.skip = True

    def _is_key(self, node: Node, pairs: dict[str, tuple[Node, Node]]) -> bool:
        """Whether a node is a valid key; reports a problem if not."""
        written = self.source.text[node.start : node.end]
        if node.alias or not isinstance(node.content, str):
            what = (
                "an alias" if node.alias else "a list or mapping" if isinstance(node.content, list | dict) else written
            )
            self._report(
                node.start, node.end, f"{what or 'an empty key'} is not a key: keys are text", "put it in quotes"
            )
        elif node.plain and node.content == "<<" and not self.merges:
            self._report(node.start, node.end, MERGE_KEYS, "repeat the keys, or use extends")
        elif node.content in pairs and self.merges:
            del pairs[node.content]
            return True
        elif node.content in pairs:
            self.problems.append(self._duplicate_key_problem(node, pairs[node.content][0]))
        else:
            return True
        return False

    def _duplicate_key_problem(self, node: Node, first: Node) -> Problem:
        here, there = self.lines.span(node.start, node.end), self.lines.span(first.start, first.end)
        return Problem(
            "duplicate-key",
            (),
            f"`{node.content}` is already set on line {there.start.line}; many programs silently use the last value",
            "keep one of the two",
            related=((there, "first given here"),),
            span=here,
        )


MERGE_KEYS = "merge keys (<<) are refused"


def with_hidden_keys(loaded: Iterable[Problem], problems: Iterable[Problem]) -> list[Problem]:
    """The problems, without those about absent keys if the text has an unsupported merge key that may supply them."""
    hidden = any(problem.message == MERGE_KEYS for problem in loaded)
    return [problem for problem in problems if not (hidden and problem.rule == "missing-key")]


# A `Document` of the nodes of a text

_COMMENT = re.compile(r"(?<!\S)#[^\r\n]*")

_IN_WORDS = (  # messages of PyYAML in Python and of libyaml, with the message and advice of this program
    ("mapping values are not allowed", "unexpected second `:`", "indent the line, or quote the value"),
    ("could not find expected ':'", "a key has no `:` after it", "write `key: value`"),
    ("did not find expected key", "this does not continue the mapping around it", "line it up with the keys above"),
    ("expected <block end>", "this does not continue the mapping around it", "line it up with the keys above"),
    ("did not find expected '-'", "this does not continue the list around it", "line it up with the `-` above"),
    ("expected ',' or ']'", "a `[` is not closed", "separate items with `,` and close with `]`"),
    ("expected ',' or '}'", "a `{` is not closed", "separate keys with `,` and close with `}`"),
    ("found unexpected end of stream", "a quote is not closed", "close the quote"),
    ("block sequence entries are not allowed", "a list item (`-`) cannot start here", "put the list on its own lines"),
    ("mapping keys are not allowed", "a key after `?` cannot start here", "write `key: value`"),
    ("unknown escape character", "an unknown escape in double quotes", "use single quotes, or write `\\\\`"),
    ("<document start>", "text outside the mapping", "start every top-level key in column 1"),
    ("node content", "a value was expected here", "write one, or put the text in quotes"),
    ("alphabetic or numeric character", "a name must follow `&` and `*`", "put the text in quotes"),
    ("comment or", "text follows where a line must end", "put it on the next line, or in quotes"),
    ("chomping or indentation", "text follows where a line must end", "put it on the next line, or in quotes"),
)


def parse(source: Source, most: int = MAX_NODES, *, merges: bool = False) -> tuple[Document | None, list[Problem]]:
    """The document of a text and the problems with the text; None if it cannot be parsed or has more than ``most``
    values.

    A byte order mark is dropped and does not count as a column. ``extends`` is not resolved. With ``merges``, the merge
    key ``<<`` is an ordinary key, and the last value of a duplicate key applies (PyYAML, hjson and JSON in Python);
    without ``merges``, both are problems.
    """
    if source.text.startswith("\ufeff"):
        source = Source(source.name, source.text[1:])
    lines = Lines(source)
    if problem := forbidden_character_problem(source, lines):
        return None, [problem]
    composer = Composer(source, lines, most, merges)
    try:
        root = composer.compose(_parser_events(source, lines))
    except RefusedError as refused:
        return None, [*composer.problems, refused.problem]
    if root is None:
        root = Node(None, 0, 0)
    value, places = _unfolded_values(root, lines)
    comments = tuple(_comments(source, lines, composer.scalars))
    document = Document(source, value, places, comments, {source.name: source}, composer.continues)
    return document, _problems_with_paths(composer.problems, places)


def _problems_with_paths(problems: list[Problem], places: Places) -> list[Problem]:
    """The problems with paths set; a duplicate key gets the path of the first."""
    if not any(problem.related for problem in problems):
        return problems
    paths: dict[Path | Span | None, Path] = {place.key: path for path, place in places.items()}
    return [replace(p, path=paths.get(p.related[0][0], ())) if p.related else p for p in problems]


def _parser_events(source: Source, lines: Lines) -> Iterator[Event]:
    """The parser events of a text. Raises `RefusedError` for a syntax error."""
    found = plain.plain_events(source.text)
    if found is not None:
        yield from found
        return
    import yaml

    try:
        yield from pyyaml_events(source.text)
    except yaml.YAMLError as error:
        raise RefusedError(_syntax_problem(error, source, lines)) from None


def _syntax_problem(error: Any, source: Source, lines: Lines) -> Problem:
    text = str(getattr(error, "problem", None) or "it cannot be read")
    message, advice = next(((words, advice) for part, words, advice in _IN_WORDS if part in text), (text, ""))
    if "<block end>" in text and "block collection" in str(getattr(error, "context", "")):
        message, advice = next((words, advice) for part, words, advice in _IN_WORDS if "'-'" in part)
    mark = getattr(error, "problem_mark", None)
    if "not closed" in message:
        mark = getattr(error, "context_mark", None) or mark  # the position of the opening bracket or quote
    offset = min(mark.index, len(source.text)) if mark else 0
    span = lines.span(offset, min(offset + 1, len(source.text)))
    if plain.TOO_DEEP in text:
        return unreadable_problem(span, _TOO_DEEP)
    if "mapping values are not allowed" in text and (deeper := _over_indented_span(source, span.start.line)):
        return unreadable_problem(lines.span(*deeper), *_OVER_INDENTED)
    if "cannot start any token" not in text and "tab character" not in text:
        return unreadable_problem(span, f"not YAML: {message}", advice)
    character = source.text[offset : offset + 1]
    if character == "\t":
        return unreadable_problem(span, "a tab in place of spaces", "indent with spaces")
    return unreadable_problem(span, f"a value cannot start with `{character}`", "put the value in quotes")


_OVER_INDENTED = (
    "this line is indented deeper than the key above it, which has a value already",
    "start it in the column of the key above",
)
_PAIR = pattern(r"( *)(?:- +)?[^\s#'\"{\[][^:]*:[ \t]+[^\s#|>&]")
_KEY = pattern(r"( *)([^\s:#][^:]*):(?=\s|$)")


def _over_indented_span(source: Source, number: int) -> tuple[int, int] | None:
    """The offsets of a key that is indented deeper than a ``key: value`` above it; None if the line has none."""
    rows = source.text.split("\n")
    above = next((row for row in reversed(rows[: number - 1]) if row.strip()), "")
    pair, key = _PAIR.match(above), _KEY.match(rows[number - 1])
    if pair is None or key is None or len(key[1]) <= len(pair[1]):
        return None
    start = sum(len(row) + 1 for row in rows[: number - 1])
    return start + key.start(2), start + key.end(2)


def _unfolded_values(root: Node, lines: Lines) -> tuple[Any, Places]:
    """Plain values and their positions. Aliases become copies, which the composer has limited."""
    holder: list[Any] = [None]
    offsets: dict[Path, Offsets] = {}
    waiting: list[tuple[Node, Node | None, Path, Any, Any]] = [(root, None, (), holder, 0)]
    while waiting:
        node, key, path, into, slot = waiting.pop()
        written = (key.start, key.end) if key else (-1, -1)
        offsets[path] = (lines, *written, node.start, node.end)
        content = node.content
        if isinstance(content, dict):
            into[slot] = made = dict.fromkeys(content)
            waiting.extend((value, key, (*path, name), made, name) for name, (key, value) in reversed(content.items()))
        elif isinstance(content, list):
            into[slot] = items = [None] * len(content)
            waiting.extend((content[i], None, (*path, i), items, i) for i in reversed(range(len(content))))
        else:
            into[slot] = content
    return holder[0], Places(offsets)


def _comments(source: Source, lines: Lines, scalars: list[tuple[int, int]]) -> Iterator[Comment]:
    """The comments: each ``#`` after white space outside a scalar starts one."""
    if "#" not in source.text:
        return
    start = 0
    for begin, end in [*scalars, (len(source.text), 0)]:
        for match in _COMMENT.finditer(source.text, start, max(start, begin)):
            at = lines.position(match.start())
            before = source.line(at.line)[: at.column - 1]
            yield Comment(source.name, at.line, at.column, match[0], not before.strip())
        start = max(start, end)
