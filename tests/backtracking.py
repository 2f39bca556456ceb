"""Counts the steps that a backtracking matcher such as `re` takes, so that no test has to measure time.

A pattern is compiled from the syntax tree of Python's own parser to instructions; a stack holds the alternatives.
Bounds of repeats above `MOST` count as `MOST`: a bounded repeat costs a constant at each position.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from sys import maxunicode
from typing import Any

MOST = 3
TRIED = "a 0\n\t-.,:;/#'\"()[]{}<>=+*|&!$%@_~`\\^?xXGBN\u00e9\u00a0\0"
"""Characters tried, in this order, as examples of a class."""
CLASSES: dict[object, Callable[[str], bool]] = {
    sre.CATEGORY_DIGIT: str.isdigit,
    sre.CATEGORY_NOT_DIGIT: lambda char: not char.isdigit(),
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    sre.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    sre.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}
SINGLE = (sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY)
REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT)
Tree = Any
"""A parsed pattern: pairs of an operation and its operands, which the standard library does not type."""


class Program:
    """The instructions of a pattern, an example of a text that it matches, and whether it repeats without a bound."""

    def __init__(self, text: str, flags: int = 0) -> None:
        tree = _parser.parse(text, flags)
        self.flags: int = tree.state.flags
        self.instructions: list[tuple[Any, ...]] = []
        self.example = ""
        self.unbounded = False
        self._groups: dict[int | None, Tree] = {}
        self._sequence(tree)
        self._add("match")

    def _add(self, *instruction: object) -> int:
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def _sequence(self, tree: Tree) -> None:
        for operation, given in tree:
            self._operation(operation, given)

    def _operation(self, operation: object, given: Tree) -> None:
        if operation in SINGLE:
            self._single(operation, given)
        elif operation in REPEATS:
            self._repeat(operation is sre.MAX_REPEAT, *given)
        elif operation is sre.POSSESSIVE_REPEAT:
            self._inner("atomic", [(sre.MAX_REPEAT, given)])
        elif operation is sre.ATOMIC_GROUP:
            self._inner("atomic", given)
        elif operation is sre.SUBPATTERN:
            self._groups[given[0]] = given[3]
            self._sequence(given[3])
        elif operation is sre.GROUPREF:  # whatever the group could match, not only what it did
            self._sequence(self._groups[given])
        elif operation is sre.GROUPREF_EXISTS:  # both ways, whether or not the group matched
            self._branch([given[1], given[2] or []])
        elif operation is sre.BRANCH:
            self._branch(given[1])
        elif operation in (sre.ASSERT, sre.ASSERT_NOT):
            width = given[1].getwidth()[0] if given[0] < 0 else 0
            example = self.example
            self._inner("look", given[1], width, operation is sre.ASSERT)
            self.example = example
        else:
            assert operation is sre.AT, operation
            self._add("at", given)

    def _single(self, operation: object, given: Tree) -> None:
        known: dict[str, bool] = {}

        def accepts(char: str) -> bool:
            if char not in known:
                known[char] = self._accepts(operation, given, char)
            return known[char]

        written = [chr(value) for kind, value in given if kind is sre.LITERAL] if operation is sre.IN else []
        ranges = [value for kind, value in given if kind is sre.RANGE] if operation is sre.IN else []
        ranged = [chr(code) for first, last in ranges for code in (first, last + 1) if code <= maxunicode]
        choices = [chr(given)] if operation is sre.LITERAL else [*TRIED, *written, *ranged]
        self.example += next(filter(accepts, choices))
        self._add("char", accepts)

    def _accepts(self, operation: object, given: Tree, char: str) -> bool:
        if operation is sre.ANY:
            return char != "\n" or bool(self.flags & re.DOTALL)
        if operation is not sre.IN:
            return bool((ord(char) == given) == (operation is sre.LITERAL))
        negated = given[0][0] is sre.NEGATE
        return bool(negated) != any(_within(char, kind, value) for kind, value in given[negated:])

    def _repeat(self, greedy: bool, least: int, most: int, tree: Tree) -> None:
        for _ in range(min(least, MOST)):
            self._sequence(tree)
        endless = most is sre.MAXREPEAT
        self.unbounded |= endless
        splits = []
        for _ in range(1 if endless else min(most, MOST) - min(least, MOST)):
            splits.append(self._add())
            self._sequence(tree)
        if endless:
            self._add("jump", splits[0])
        out = len(self.instructions)
        for at in splits:
            self.instructions[at] = ("split", at + 1, out) if greedy else ("split", out, at + 1)

    def _branch(self, trees: Tree) -> None:
        before, examples, ends = self.example, [], []
        for tree in trees:
            self.example = before
            split = self._add()
            self._sequence(tree)
            examples.append(self.example)
            ends.append(self._add())
            self.instructions[split] = ("split", split + 1, len(self.instructions))
        self._add("fail")
        for at in ends:
            self.instructions[at] = ("jump", len(self.instructions))
        self.example = examples[0]

    def _inner(self, name: str, tree: Tree, *more: object) -> None:
        """A part that is matched on its own, without a way back into it."""
        at = self._add()
        self._sequence(tree)
        self._add("match")
        self.instructions[at] = (name, at + 1, len(self.instructions), *more)


def _within(char: str, kind: object, value: Tree) -> bool:
    if kind is sre.LITERAL:
        return bool(ord(char) == value)
    return bool(value[0] <= ord(char) <= value[1]) if kind is sre.RANGE else CLASSES[value](char)


class Exhausted(Exception):
    """Raised when a matcher has taken all the steps that it may take."""


class Matcher:
    """Runs a program on a text and counts ``steps``. Raises `Exhausted` beyond ``most``."""

    def __init__(self, program: Program, text: str, most: int) -> None:
        self.program, self.text, self.most, self.steps = program, text, most, 0

    def end(self, start: int, first: int = 0) -> int | None:
        """The end of a match that begins at ``start``; None if there is none."""
        instructions, text, length = self.program.instructions, self.text, len(self.text)
        waiting = [(first, start)]
        while waiting:
            at, place = waiting.pop()
            while True:
                self.steps += 1
                if self.steps > self.most:
                    raise Exhausted
                name, *given = instructions[at]
                if name == "char":  # most steps; in line, since a call takes as long as the rest
                    if place == length or not given[0](text[place]):
                        break
                    at, place = at + 1, place + 1
                    continue
                if name == "match":
                    return place
                if name == "split":
                    waiting.append((given[1], place))
                following = self._following(name, given, at, place)
                if following is None:
                    break
                at, place = following
        return None

    def _following(self, name: str, given: list[Any], at: int, place: int) -> tuple[int, int] | None:
        """The next instruction and place; None where the text does not match."""
        if name in ("split", "jump"):
            return given[0], place
        if name == "at":
            return (at + 1, place) if self._holds(given[0], place) else None
        if name == "atomic":
            end = self.end(place, given[0])
            return None if end is None else (given[1], end)
        if name == "look":
            width, wanted = given[2:]
            seen = place >= width and self.end(place - width, given[0]) is not None
            return (given[1], place) if seen == wanted else None
        return None

    def _holds(self, where: object, at: int) -> bool:
        text, lines = self.text, bool(self.program.flags & re.MULTILINE)
        if where in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING):
            return at == 0 or (lines and where is sre.AT_BEGINNING and text[at - 1] == "\n")
        if where in (sre.AT_END, sre.AT_END_STRING):
            return at == len(text) or (where is sre.AT_END and lines and text[at] == "\n")
        before, after = (0 <= one < len(text) and _within(text[one], None, sre.CATEGORY_WORD) for one in (at - 1, at))
        return (before != after) == (where is sre.AT_BOUNDARY)


def steps(program: Program, text: str, method: str, most: int) -> int:
    """The steps that a method of a pattern takes on a text; ``most`` if it takes more."""
    matcher, at = Matcher(program, text, most), 0
    try:
        while at <= len(text):
            end = matcher.end(at)
            if method in ("match", "fullmatch") or (method == "search" and end is not None):
                break
            at = max(at + 1, end or 0)
    except Exhausted:
        return most
    return matcher.steps


def pumped(example: str, number: int) -> Iterator[str]:
    """Texts that repeat a part of an example, or a character, many times."""
    for at in range(len(example)):
        for width in sorted({1, 2, 3, len(example) - at}):
            unit = example[at : at + width]
            for tail in {"\0", example[at + width :]}:
                yield example[:at] + unit * number + tail
        yield example[:at] * number
        yield example[:at] + " " * number + "\0"
    for char in " a0\n-#":
        yield char * number + "\0"
