"""Files in the configuration language of HashiCorp (HCL): blocks, attributes and literal values; nothing is evaluated.

Grammar: https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md. Anything that is no literal is kept as its text.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from clusterspec.exchange.import_result import FormatError

DEEPEST = 40
"""Maximum nesting depth of blocks and values."""
MOST_VALUES = 200_000
_SPACE = re.compile(r"(?:[ \t\r\n]+|#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_BLANKS = re.compile(r"(?:[ \t\r]+|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][\w-]{0,200}")
_KEY = re.compile(r"[^\s=:,{}\"]{1,200}")
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?")
_HEREDOC = re.compile(r"<<-?[ \t]*([A-Za-z_]\w{0,60})[ \t]*\r?\n")
_WORDS = {"true": True, "false": False, "null": None}
_STRING_PART = re.compile(r"[^\"\\$%\n]+")
_SKIPPED = re.compile(r"[^\"()\[\]{},\n#/<]+")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_FOR = re.compile(r"for\s")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}


class Expression(str):
    """The text of a value that is not a literal: a reference, a call, or a string with ``${…}``."""

    __slots__ = ()


class Table(dict[str, Any]):
    """The attributes of a block or object, and its inner blocks as lists by type; ``lines`` has the line of each."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}


class Block(NamedTuple):
    """A block at the root of a file (``resource "type" "name" { … }``)."""

    kind: str
    labels: tuple[str, ...]
    table: Table
    line: int


def blocks_of(text: str) -> list[Block]:
    """The top-level blocks of a file. Raises `FormatError` with the line if the text is not HCL."""
    return _Parser(text).root()


def attributes_of(text: str) -> Table:
    """The top-level attributes of a file of values. Raises `FormatError` with the line if the text is not HCL.

    >>> attributes_of("nodes = 4")
    {'nodes': 4}
    """
    parser = _Parser(f"{text}\n}}")
    table = parser.body(1)
    parser.skip()
    if parser.at < len(parser.text):
        raise parser.fault("a brace that closes no block")
    return table


class _Parser:
    """Parses a text once from start to end; ``at`` is the position."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.counted, self.number = 0, 1
        self.values = self.inside = 0

    def line(self) -> int:
        """The line of the position, which only increases."""
        self.number += self.text.count("\n", self.counted, self.at)
        self.counted = self.at
        return self.number

    def fault(self, what: str) -> FormatError:
        return FormatError(f"is not HCL: {what}", self.line())

    def skip(self, pattern: re.Pattern[str] = _SPACE) -> None:
        if match := pattern.match(self.text, self.at):
            self.at = match.end()

    def takes(self, sign: str) -> bool:
        found = self.text.startswith(sign, self.at)
        self.at += len(sign) if found else 0
        return found

    def root(self) -> list[Block]:
        found: list[Block] = []
        while True:
            self.skip()
            if self.at >= len(self.text):
                return found
            line, name = self.line(), self.name()
            self.skip(_BLANKS)
            if self.takes("="):
                self.skip(_BLANKS)
                self.value(0, inner=False)
            else:
                found.append(Block(name, self.labels(), self.body(1), line))

    def name(self) -> str:
        match = _NAME.match(self.text, self.at)
        if match is None:
            raise self.fault(f"{self.text[self.at : self.at + 20]!r} where a name belongs")
        self.at = match.end()
        return match[0]

    def labels(self) -> tuple[str, ...]:
        """The labels of a block up to its opening brace."""
        found: list[str] = []
        while not self.takes("{"):
            if len(found) > 8:
                raise self.fault("a block with more than eight labels")
            found.append(self.string() if self.text.startswith('"', self.at) else self.name())
            self.skip(_BLANKS)
        return tuple(found)

    def body(self, depth: int) -> Table:
        """The attributes and blocks up to the closing brace."""
        table = Table()
        while True:
            self.skip()
            if self.takes("}"):
                return table
            line = self.line()
            quoted = self.text.startswith('"', self.at)
            name = self.string() if quoted else self.name()
            self.skip(_BLANKS)
            table.lines.setdefault(name, line)
            if self.takes("="):
                self.skip(_BLANKS)
                table[name] = self.value(depth, inner=False)
            else:
                self.nest(depth)
                self.labels()
                inner = table.setdefault(name, [])
                block = self.body(depth + 1)
                if isinstance(inner, list):
                    inner.append(block)

    def nest(self, depth: int) -> None:
        self.values += 1
        if depth > DEEPEST:
            raise self.fault(f"nested deeper than {DEEPEST} levels")
        if self.values > MOST_VALUES:
            raise self.fault(f"more than {MOST_VALUES:,} values")

    def value(self, depth: int, *, inner: bool) -> Any:
        """A literal, or the text of another expression. An ``inner`` value also ends at a comma."""
        self.nest(depth)
        start = self.at
        found = self.literal(depth)
        self.skip(_BLANKS)
        ends = self.at >= len(self.text) or self.text[self.at] in "\n}])#" or self.text.startswith("//", self.at)
        if found is not _NONE and (ends or (inner and self.text[self.at] in ",=:")):
            return found
        self.to_end(inner=inner)
        return Expression(self.text[start : self.at].strip()[:400])

    def literal(self, depth: int) -> Any:
        """The literal at the position; `_NONE` if there is none."""
        sign = self.text[self.at : self.at + 1]
        if sign == '"':
            return self.string()
        if sign == "[":
            return self.list_elements(depth)
        if sign == "{":
            return self.object(depth)
        if self.takes_heredoc():
            return Expression("<<")
        match = _NUMBER.match(self.text, self.at) or _NAME.match(self.text, self.at)
        if match is None or (match[0][0].isalpha() and match[0] not in _WORDS) or match[0][0] == "_":
            return _NONE
        self.at = match.end()
        return _WORDS[match[0]] if match[0] in _WORDS else float(match[0]) if "." in match[0] else int(match[0])

    def takes_heredoc(self) -> bool:
        """Whether a heredoc (``<<NAME``) starts at the position; if so, the position moves behind it."""
        match = _HEREDOC.match(self.text, self.at)
        if match is None:
            return False
        end = re.compile(rf"^[ \t]*{match[1]}[ \t]*\r?$", re.MULTILINE).search(self.text, match.end())
        self.at = end.end() if end else len(self.text)
        return True

    def list_elements(self, depth: int) -> Any:
        """The elements of a list; the text of the list if it is computed (``[for …]``)."""
        start = self.at
        self.at += 1
        found: list[Any] = []
        while True:
            if self.is_closed("]", "a list"):
                return found
            if not found and _FOR.match(self.text, self.at):
                return self.computed_expression(start)
            found.append(self.value(depth + 1, inner=True))
            self.skip()
            if not self.takes(",") and not self.text.startswith("]", self.at):
                raise self.fault("a list without a comma between its elements")

    def is_closed(self, bracket: str, what: str) -> bool:
        """Whether the closing bracket of ``what`` is at the position; if so, the position moves behind it. Raises at
        the end of the text.
        """
        self.skip()
        if self.takes(bracket):
            return True
        if self.at >= len(self.text):
            raise self.fault(f"{what} without end")
        return False

    def object(self, depth: int) -> Any:
        """The entries of an object; the text of the object if it is computed (``{for …}``)."""
        start, table = self.at, Table()
        self.at += 1
        while True:
            if self.is_closed("}", "an object"):
                return table
            if not table and _FOR.match(self.text, self.at):
                return self.computed_expression(start)
            line, key = self.line(), self.key()
            self.skip(_BLANKS)
            if not (self.takes("=") or self.takes(":")):
                raise self.fault("an entry of an object without a value")
            self.skip()
            table.lines.setdefault(key, line)
            table[key] = self.value(depth + 1, inner=True)
            self.skip(_BLANKS)
            self.takes(",")

    def key(self) -> str:
        """The key of an entry: a name, a string, or the text of another expression."""
        if self.text.startswith('"', self.at):
            return self.string()
        start = self.at
        if self.takes("("):
            self.skip_to_closing(")")
        elif match := _KEY.match(self.text, self.at):
            self.at = match.end()
        return self.text[start : self.at]

    def computed_expression(self, start: int) -> Expression:
        """The text of a computed list or object, up to its closing bracket."""
        self.at = start
        self.to_end(inner=True)
        return Expression(self.text[start : self.at].strip()[:400])

    def string(self) -> str:
        """A quoted string; an `Expression` if it contains ``${…}``."""
        start, parts, computed = self.at, list[str](), False
        self.at += 1
        while True:
            if match := _STRING_PART.match(self.text, self.at):
                parts.append(match[0])
                self.at = match.end()
            sign = self.text[self.at : self.at + 1]
            if sign in {"", "\n"}:
                raise self.fault("a text without a closing quote")
            if sign == '"':
                self.at += 1
                return Expression(self.text[start + 1 : self.at - 1][:400]) if computed else "".join(parts)
            if self.text[self.at : self.at + 3] in {"$${", "%%{"}:  # written so for the sign itself
                parts.append(self.text[self.at + 1 : self.at + 3])
                self.at += 3
            elif sign == "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                parts.append(_ESCAPES.get(escaped, escaped))
                self.at += 2
            elif self.text[self.at : self.at + 2] in {"${", "%{"}:
                computed = True
                self.at += 2
                self.skip_to_closing("}")
            else:
                parts.append(sign)
                self.at += 1

    def skip_to_closing(self, closing: str) -> None:
        """Skip the rest up to and including the bracket that closes an open one."""
        waiting = [closing]
        while waiting:
            if match := _SKIPPED.match(self.text, self.at):
                self.at = match.end()
            sign = self.text[self.at : self.at + 1]
            if not sign:
                raise self.fault(f"no {waiting[-1]} for an open bracket")
            if len(waiting) > DEEPEST * 4:
                raise self.fault("brackets nested too deeply")
            if sign == '"':
                self.nested_string()
            elif self.takes_heredoc():
                continue
            elif sign in _CLOSING:
                waiting.append(_CLOSING[sign])
                self.at += 1
            else:
                if sign == waiting[-1]:
                    waiting.pop()
                if self.text.startswith("//", self.at) or sign == "#":
                    self.skip()
                else:
                    self.at += 1

    def nested_string(self) -> None:
        """Skip a quoted string within brackets, which may contain further strings."""
        self.inside += 1
        if self.inside > DEEPEST:
            raise self.fault("texts nested too deeply")
        self.string()
        self.inside -= 1

    def to_end(self, *, inner: bool) -> None:
        """Skip the rest of an expression: up to the end of the line outside brackets, or up to a comma or closing
        bracket.
        """
        while self.at < len(self.text):
            if match := _SKIPPED.match(self.text, self.at):
                self.at = match.end()
            sign = self.text[self.at : self.at + 1]
            if sign in {"", "\n"} or sign in ")]}" or (inner and sign == ",") or sign == "#":
                return
            if self.text.startswith("//", self.at):
                return
            if sign == '"':
                self.string()
            elif self.takes_heredoc():
                continue
            elif sign in _CLOSING:
                self.at += 1
                self.skip_to_closing(_CLOSING[sign])
            else:
                self.at += 1


_NONE = object()
"""The value that means there is no literal, since null is a literal."""
