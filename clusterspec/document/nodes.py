"""Composition of parser events to a tree of nodes: iterative, bounded, and strict about keys.

PyYAML's composer is recursive and keeps the last of two equal keys, so events are composed here.
The limits below bound the work for any text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clusterspec.document.plain import Event, Scalar, scalar_value
from clusterspec.document.source_text import Lines, unreadable_problem
from clusterspec.finding import Problem
from clusterspec.patterns import pattern
from clusterspec.records import dataclass, field
from clusterspec.source import Source

MAX_DEPTH = 32
MAX_NODES = 20_000
"""Values in one document, those that aliases repeat counted each time."""
MAX_ALIASES = 200

_PROPERTIES = pattern(r"(?:[&!][^\s,\[\]{}]*(?:\s|#[^\n]*)*)*")
"""The anchor and tag before a value, which are no part of it."""


class RefusedError(Exception):
    """Raised, with the problem, if a text cannot be composed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(slots=True)
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


@dataclass(slots=True)
class _Open:
    """A collection whose end event has not been read; ``skip`` if the next value is to be dropped."""

    node: Node
    anchor: str | None
    key: Node | None = None
    skip: bool = False


@dataclass(slots=True)
class Composer:
    """Builds the nodes of a text. `compose` may raise `RefusedError`; recoverable problems go to ``problems``."""

    source: Source
    lines: Lines
    most: int = MAX_NODES
    problems: list[Problem] = field(default_factory=list)
    scalars: list[tuple[int, int]] = field(default_factory=list)
    """Stretches of the text that hold scalars: no comment starts inside one."""
    _root: Node | None = None
    _stack: list[_Open] = field(default_factory=list)
    _anchors: dict[str, Node] = field(default_factory=dict)
    _aliases: int = 0

    def compose(self, events: Iterator[Event]) -> Node | None:
        """The root of the first document; None if the text has no document."""
        documents = 0
        for event in events:
            kind = event.kind
            if kind == "scalar":
                self._add_scalar(event)
            elif kind == "end":
                self._finish(event)
            elif kind == "alias":
                self._add_alias(event)
            elif kind != "document":
                self._begin(event, {} if kind == "mapping" else [])
            else:
                documents += 1
                if documents > 1:
                    self._report(
                        event.start, event.start + 3, "a second document begins here", "keep one document in one file"
                    )
                    break
        return self._root

    def _report(self, start: int, end: int, message: str, advice: str = "") -> None:
        self.problems.append(unreadable_problem(self.lines.span(start, end), message, advice))

    def _refuse(self, start: int, end: int, message: str, advice: str = "") -> RefusedError:
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
        self._place(node)

    def _add_alias(self, event: Event) -> None:
        start, end = event.start, event.end
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            raise self._refuse(start, end, f"more than {MAX_ALIASES} aliases in one file")
        if any(opened.anchor == event.anchor for opened in self._stack):
            raise self._refuse(start, end, f"the alias *{event.anchor} is inside the value that it refers to")
        target = self._anchors.get(event.anchor or "")
        if target is None:
            raise self._refuse(start, end, f"the alias *{event.anchor} names no anchor above it")
        self._place(Node(target.content, start, end, alias=True, size=target.size, height=target.height))

    def _begin(self, event: Event, content: Any) -> None:
        start = self._start_of(event)
        if len(self._stack) >= MAX_DEPTH:
            raise self._refuse(start, start + 1, f"nested deeper than {MAX_DEPTH} levels")
        self._stack.append(_Open(Node(content, start, start), event.anchor))

    def _finish(self, event: Event) -> None:
        opened = self._stack.pop()
        node = opened.node
        if self.source.text[node.start : node.start + 1] in {"{", "["}:
            node.end = event.end  # a block ends with its last value: `_place` saw to that
        if opened.anchor is not None:
            self._anchors[opened.anchor] = node
        self._place(node)

    def _place(self, node: Node) -> None:
        """Add a complete node to the open collection, as key, value or item."""
        if not self._stack:
            self._root = node
            return
        parent = self._stack[-1]
        into = parent.node
        into.end = max(into.end, node.end)
        into.size += node.size
        into.height = max(into.height, node.height + 1)
        if into.size > self.most:
            raise self._refuse(node.start, node.end, f"more than {self.most} values in one document")
        if len(self._stack) + node.height > MAX_DEPTH + 1:
            raise self._refuse(node.start, node.end, f"nested deeper than {MAX_DEPTH} levels")
        if isinstance(into.content, list):
            into.content.append(node)
        elif isinstance(into.content, dict):
            self._add_pair(parent, into.content, node)

    def _add_pair(self, parent: _Open, pairs: dict[str, tuple[Node, Node]], node: Node) -> None:
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
        elif node.plain and node.content == "<<":
            self._report(node.start, node.end, "merge keys (<<) are refused", "repeat the keys, or use extends")
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
