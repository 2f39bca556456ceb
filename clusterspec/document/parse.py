"""Parsing of YAML text to a `Document`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from clusterspec.document import plain
from clusterspec.document.model import Comment, Document, Places
from clusterspec.document.nodes import MAX_NODES, Composer, Node, RefusedError
from clusterspec.document.plain import Event, pyyaml_events
from clusterspec.document.source_text import Lines, forbidden_character_problem, unreadable_problem
from clusterspec.finding import Problem
from clusterspec.patterns import pattern
from clusterspec.records import replace
from clusterspec.source import Path, Source, Span

if TYPE_CHECKING:
    from clusterspec.document.model import Offsets


_COMMENT = re.compile(r"(?<!\S)#[^\r\n]*")

_IN_WORDS = (  # messages of libyaml, with the message and advice of this program
    ("mapping values are not allowed", "unexpected second `:`", "indent the line, or quote the value"),
    ("could not find expected ':'", "a key has no `:` after it", "write `key: value`"),
    ("did not find expected key", "this does not continue the mapping around it", "line it up with the keys above"),
    ("did not find expected '-'", "this does not continue the list around it", "line it up with the `-` above"),
    ("did not find expected ',' or ']'", "a `[` is not closed", "separate items with `,` and close with `]`"),
    ("did not find expected ',' or '}'", "a `{` is not closed", "separate keys with `,` and close with `}`"),
    ("found unexpected end of stream", "a quote is not closed", "close the quote"),
    ("block sequence entries are not allowed", "a list item (`-`) cannot start here", "put the list on its own lines"),
    ("unknown escape character", "an unknown escape in double quotes", "use single quotes, or write `\\\\`"),
    ("expected <document start>", "text outside the mapping", "start every top-level key in column 1"),
)


def parse(source: Source, most: int = MAX_NODES) -> tuple[Document | None, list[Problem]]:
    """The document of a text and the problems with the text; None if it cannot be parsed or has more than ``most``
    values.

    A byte order mark is dropped and does not count as a column. ``extends`` is not resolved.
    """
    if source.text.startswith("\ufeff"):
        source = Source(source.name, source.text[1:])
    lines = Lines(source)
    if problem := forbidden_character_problem(source, lines):
        return None, [problem]
    composer = Composer(source, lines, most)
    try:
        root = composer.compose(_parser_events(source, lines))
    except RefusedError as refused:
        return None, [*composer.problems, refused.problem]
    if root is None:
        root = Node(None, 0, 0)
    value, places = _unfolded_values(root, lines)
    comments = tuple(_comments(source, lines, composer.scalars))
    document = Document(source, value, places, comments, {source.name: source})
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
    mark = getattr(error, "problem_mark", None)
    if "not closed" in message:
        mark = getattr(error, "context_mark", None) or mark  # the position of the opening bracket or quote
    offset = min(mark.index, len(source.text)) if mark else 0
    span = lines.span(offset, min(offset + 1, len(source.text)))
    if "mapping values are not allowed" in text and (deeper := _over_indented(source, span.start.line)):
        return unreadable_problem(lines.span(*deeper), *_OVER_INDENTED)
    if "cannot start any token" not in text:
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


def _over_indented(source: Source, number: int) -> tuple[int, int] | None:
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
