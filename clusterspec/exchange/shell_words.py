"""Words of shell commands, with variables, arrays, defaults and arithmetic expanded as Bash expands them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import add, eq, floordiv, ge, gt, le, lt, mod, mul, ne, sub
from typing import TYPE_CHECKING

from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.shell_text import (
    computed_expression,
    counted_array,
    counted_list,
    counts_hosts_of_job,
    printed_arguments,
    text_of,
    tree_of,
    written_text,
)
from clusterspec.records import NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_STEPS = 200_000
"""Maximum number of parts of a script that are read; a launch script has some hundreds."""
LONGEST = 100_000
"""Maximum characters of one expanded word."""
_PARAMETER = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*|[0-9@*]+)(?P<all>\[[@*]\])?(?P<sign>:?[-=+?])?")
_EXPANSIONS = frozenset({"arithmetic_expansion", "command_substitution", "process_substitution"})
CONTINUED = "\0"
"""Stands for a line end after a backslash: not part of the word, but counted as a line."""
_BEFORE_EXPANSION = " \t\n\\"
"""Characters in double quotes that the grammar counts as part of the expansion after them."""
_BLANKS = re.compile(r"([\s\0]+)")
_ESCAPED = re.compile(r'\\(["\\$`\n])')


class Word(NamedTuple):
    """A word of a command with its line; ``branch`` is the line of an undecided test around it, else 0.

    ``start`` is the line of such a test around its first part: 0 for ``--tp=$TP`` where only the value depends on it.
    """

    text: str
    line: int
    branch: int = 0
    start: int = 0


class Segment(NamedTuple):
    """Part of a word. ``quoted`` text is not split at blanks. Neither is a ``whole`` expansion that is not run, since
    its words belong to another command.
    """

    text: str
    line: int
    branch: int = 0
    quoted: bool = True
    whole: bool = False


def segment_of(word: Word) -> Segment:
    """A word as one quoted part."""
    return Segment(word.text, word.line, word.branch)


PASSED_ON = ("$@",)
"""Stands for unknown arguments that a script passes on."""
BREAK = None
"""Between two words that one expansion gives."""
Segments = list["Segment | None"]


_ANSI_C = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|u[0-9A-Fa-f]{1,4}|.)", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b", "E": "\x1b"}


def _ansi_character(escaped: re.Match[str]) -> str:
    r"""The character of an escape in ``$'…'`` (Bash manual, ANSI-C Quoting).

    >>> _ANSI_C.sub(_ansi_character, r"\x41\101\'")
    "AA'"
    """
    code = escaped[1]
    if code[0] in "xu" and len(code) > 1:
        return chr(int(code[1:], 16))
    return chr(int(code, 8)) if code[0] in "01234567" else _CONTROLS.get(code, code)


class Expansion:
    """Expands the words of a script, with the variables set before them.

    ``branch`` is the line of the innermost undecided test around a statement, else 0; ``around`` has the lines of all
    such tests. The script starts ``offset`` lines into its file. ``left_unset`` are variables that a branch sets which
    is not taken; ``given_alone`` the variables that only an argument of the script sets.
    """

    def __init__(self) -> None:
        self.variables: dict[str, Segments] = {}
        self.left_unset: set[str] = set()
        self.given_alone: set[str] = set()
        self.branch = 0
        self.around: tuple[int, ...] = ()
        self.offset = 0
        self.steps = 0

    def count(self, parts: int, node: Node) -> None:
        """Count parts of the script, and raise if there are too many."""
        self.steps += parts
        if self.steps > MOST_STEPS:
            raise FormatError(f"has more than {MOST_STEPS:,} parts of commands", self.line(node))

    def value(self, node: Node | None, line: int) -> Segments:
        """The parts of the value of a variable; the words of an array with breaks between them."""
        if node is None:
            return [Segment("", line, self.branch)]
        if node.type != "array":
            between = Segment(" ", line, self.branch, quoted=False)  # an array in a text: its words, divided by blanks
            return [between if each is BREAK else each for each in self.segments(node)] or [
                Segment("", line, self.branch)
            ]
        elements = (child for child in node.named_children if child.type != "comment")
        words = [word for child in elements for word in self.words(child)]
        return [part for word in words for part in (segment_of(word), BREAK)][:-1]

    def joined_word(self, node: Node, line: int) -> Word:
        """A value as one text."""
        return joined_word(self.segments(node), line)

    def line(self, node: Node) -> int:
        """The line of a node in its file, from 1."""
        return int(node.start_point[0]) + 1 + self.offset

    def words(self, node: Node) -> tuple[Word, ...]:
        """The words that one argument expands to. Words that depend only on tests around the command have the branch of
        the command.
        """
        found = words_of(self.segments(node), self.around)
        return tuple(word._replace(branch=self.branch) if word.branch in self.around else word for word in found)

    def segments(self, node: Node) -> Segments:
        """The parts of a word, in order."""
        self.count(1, node)
        kind, text, line = node.type, text_of(node), self.line(node)
        if kind in _EXPANSIONS:
            text = text.lstrip(_BEFORE_EXPANSION)
        if kind == "string":
            return self._quoted_segments(node)
        if kind in {"concatenation", "command_name"}:
            return [part for child in node.children for part in self.segments(child)]
        if kind in {"simple_expansion", "expansion"}:
            return self._parameter_segments(node, quoted=False)
        if kind == "raw_string":
            text = text[1:-1]
        elif kind == "ansi_c_string":
            text = _ANSI_C.sub(_ansi_character, text[2:-1])
        elif kind == "arithmetic_expansion":
            value = self.arithmetic_value(node.named_children[0]) if node.named_children else None
            text = text if value is None else str(value)
        elif kind == "command_substitution" and (found := self._substituted_segments(node, text)):
            return found
        elif kind not in _EXPANSIONS:
            text = re.sub(r"\\(.)", r"\1", text.replace("\\\n", ""))
        return [Segment(text, line, self.branch, whole=kind in _EXPANSIONS)]

    def _substituted_segments(self, node: Node, text: str) -> Segments:
        """What a command prints that only calculates, writes a text or counts the nodes of the job; empty if another
        runs.
        """
        if (written := written_text(node)) is not None:
            return [Segment(text_of(written).replace("\\$", "$"), self.line(written), self.branch)]
        if printed := printed_arguments(node):
            return self._printed_segments(*printed)
        if name := counted_list(text):
            return self._count_segments(name, ",", self.line(node))
        if counts_hosts_of_job(text):
            return list(self.variables.get("SLURM_NNODES", []))
        computed = text if text.startswith("$((") and text.endswith("))") else computed_expression(text)
        value = self._arithmetic_value(computed) if computed else ""
        return [] if value in {"", computed} else [Segment(value, self.line(node), self.branch, whole=True)]

    def _count_segments(self, name: str, separator: str | None, line: int) -> Segments:
        """How many elements an array has, or items a list with a separator; empty if they are not decided."""
        words = words_of(self.variables.get(name, []))
        items = [item for word in words for item in (word.text.split(separator) if separator else [word.text])]
        if not items or any("$" in item or not item for item in items):
            return []
        return [Segment(str(len(items)), line, max(word.branch for word in words), whole=True)]

    def _arithmetic_value(self, text: str) -> str:
        """The value of an arithmetic expression ``$((…))`` in the default of a variable, which the grammar parses as a
        subshell; the text itself if a part is unknown.
        """
        pending = [tree_of(f": {text}")]
        while pending:
            node = pending.pop()
            if node.type == "arithmetic_expansion":
                value = self.arithmetic_value(node.named_children[0]) if node.named_children else None
                return text if value is None else str(value)
            pending += node.children
        return text

    def _printed_segments(self, arguments: Sequence[Node], line_end: str | None) -> Segments:
        """The text that ``echo`` prints: its arguments with blanks between them. ``line_end`` replaces the line ends if
        a filter does so.
        """
        found: list[Segment] = []
        for child in arguments:
            blank = Segment(" ", self.line(child), self.branch)
            found += [blank, *(each or blank for each in self.segments(child))]
        ends = "\n" if line_end is None else CONTINUED + line_end
        return [each._replace(text=each.text.replace("\n", ends), quoted=False) for each in found[1:]]

    def _quoted_segments(self, node: Node) -> Segments:
        """The parts of a text in double quotes."""
        line, whole, base = self.line(node), node.text or b"", node.start_byte
        found: Segments = [Segment("", line, self.branch)]
        at = 1
        for child in node.named_children:
            self.count(1, node)
            start, inner = child.start_byte - base, child.text or b""
            is_text = child.type == "string_content"
            # the grammar counts blanks before an expansion to it
            blanks = inner if is_text else inner[: len(inner) - len(inner.lstrip(_BEFORE_EXPANSION.encode()))]
            if literal := whole[at:start] + blanks:
                found.append(self._literal_segment(literal, line))
                line += literal.count(b"\n")
            if child.type in {"simple_expansion", "expansion"}:
                found += self._parameter_segments(child, quoted=True)
            elif not is_text:
                found += [part and part._replace(quoted=True) for part in self.segments(child)]
            line += inner[len(blanks) :].count(b"\n")
            at = child.end_byte - base
        if end := whole[at:-1]:
            found.append(self._literal_segment(end, line))
        return found[1:] or found  # a word is on the line of its first part, which a variable may hold

    def _literal_segment(self, text: bytes, line: int) -> Segment:
        shown = text.decode("utf-8", "replace")
        plain = _ESCAPED.sub(lambda match: CONTINUED if match[1] == "\n" else match[1], shown)
        return Segment(plain, line, self.branch)

    def _parameter_segments(self, node: Node, *, quoted: bool) -> Segments:
        """The value of ``$NAME``, ``${NAME:-default}`` or ``${NAME[@]}``; the text itself if the value is unknown."""
        text = text_of(node).lstrip(_BEFORE_EXPANSION)
        line = self.line(node) + text_of(node)[: -len(text)].count("\n")
        simple = node.type == "simple_expansion"
        match = re.match(r"\$(?P<name>\w+|[@*])", text) if simple else _PARAMETER.match(text)
        unknown: Segments = [Segment(text, line, self.branch)]
        if match is None:
            return self._count_segments(counted_array(text), None, line) or unknown
        groups = match.groupdict()
        sign, held = groups.get("sign") or "", self.variables.get(groups["name"])
        if sign.endswith(("-", "=")) and groups["name"] in self.given_alone:
            held = None
        if not simple and not sign and text[match.end() :] != "}":
            if (element := self._element_segments(text)) is not None:
                return [each and each._replace(quoted=quoted) for each in element]
            replaced = _replaced_text(text[match.end() :], joined_word(held)) if held else None
            return unknown if replaced is None else [Segment(replaced, line, self.branch, quoted)]
        every = bool(groups.get("all")) or groups["name"] in {"@", "*"}
        filled = held is not None and any(each.text for each in held if each is not BREAK)
        if held is not None and not sign.endswith("+") and (filled or not sign.startswith(":")):
            first = held if every or BREAK not in held else held[: held.index(BREAK)]
            return [each if each is BREAK else each._replace(quoted=quoted) for each in first]
        if sign.endswith(("-", "=", "+")):
            if sign.endswith("+"):
                found = self._alternative_segments(node, held or []) if filled or not sign.startswith(":") else []
            else:
                found = self._default_segments(node, groups["name"], sign)
            return [each and each._replace(quoted=True) for each in found] if quoted else found
        passed_on = groups["name"] in {"@", "*"}
        empty = every or (held is None and groups["name"] in self.left_unset)
        return [Segment("$@", line, self.branch)] if passed_on else [] if empty else unknown

    def _element_segments(self, text: str) -> Segments | None:
        """The value of one element of an array by its key or position (``${NAME[key]}``); None if it is unknown."""
        match = _ELEMENT.fullmatch(text)
        if match is None:
            return None
        key = match["key"].strip("\"'")
        if key.startswith("$"):
            word = joined_word(self.variables.get(key.strip("${}"), []))
            key = "" if word.branch else word.text
        if (held := self.variables.get(f"{match['name']}[{key}]")) is not None:
            return held
        words = words_of(self.variables.get(match["name"], []))
        return [segment_of(words[int(key)])] if key.isdecimal() and len(key) < 4 and int(key) < len(words) else None

    def _default_segments(self, node: Node, name: str, sign: str) -> Segments:
        """The default of an expansion; ``:=`` also sets the variable."""
        found: Segments = [Segment("", self.line(node), self.branch, quoted=False), *self._words_within(node)]
        if sign.endswith("="):
            self.variables[name] = [part for part in found if part is not BREAK]
        return found

    def _alternative_segments(self, node: Node, held: Segments) -> Segments:
        """The words of ``${NAME:+words}`` for a variable that the script sets; undecided if the value is undecided."""
        value = joined_word(held)
        found = [] if "$" in value.text else self._words_within(node)
        return [each and each._replace(branch=each.branch or value.branch) for each in found]

    def _words_within(self, node: Node) -> Segments:
        """The parts of the words in an expansion (``${NAME:-words}``), which are split at blanks unless they are
        quoted.

        The grammar takes the beginning of a word with dashes (``llama-3``) for the name of a variable.
        """
        found: Segments = []
        end = 0
        for part in node.named_children:
            if part.type in {"variable_name", "subscript"}:
                continue
            for child in part.children if part.type == "concatenation" else [part]:
                if child.type == "}":
                    continue
                if 0 < end < child.start_byte:
                    found.append(Segment(" ", self.line(child), self.branch, quoted=False))
                kept = child.type in {"string", "raw_string"}
                found += [each and each._replace(quoted=kept) for each in self.segments(child)]
                end = child.end_byte
        return found

    def arithmetic_value(self, node: Node) -> int | None:
        """The value of an arithmetic expression; None if a part is unknown."""
        kind, text = node.type, text_of(node)
        if kind == "number" and text.isdecimal() and len(text) < 18:
            return int(text)
        if kind in {"variable_name", "simple_expansion", "expansion", "word"}:
            expanded = kind in {"simple_expansion", "expansion"}
            held = joined_word(
                self._parameter_segments(node, quoted=True) if expanded else self.variables.get(text, [])
            )
            return int(held.text) if held.text.isdecimal() and len(held.text) < 18 and not held.branch else None
        if kind == "parenthesized_expression":
            return self.arithmetic_value(node.named_children[0]) if node.named_children else None
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if kind != "binary_expression" or left is None or right is None or operator is None:
            return None
        return _operation_result(text_of(operator), self.arithmetic_value(left), self.arithmetic_value(right))


_ELEMENT = re.compile(r"\$\{(?P<name>[A-Za-z_]\w{0,60})\[(?P<key>[^\[\]{}]{1,60}|\$\{\w{1,60}\})\]\}")
_REPLACEMENT = re.compile(r"(?P<sign>//?)(?P<old>[\w .,:@+=-]{1,40})(?:/(?P<new>[\w .,:@+=-]{0,40}))?\}")


def _replaced_text(rest: str, value: Word) -> str | None:
    """The value of ``${NAME/old/new}``, where ``rest`` is the text after the name; None for patterns, other expansions,
    and undecided values.

    >>> _replaced_text("//_}", Word("2_000_000", 1)), _replaced_text("%/*}", Word("a/b", 1))
    ('2000000', None)
    """
    found = _REPLACEMENT.fullmatch(rest)
    if found is None or value.branch or "$" in value.text:
        return None
    return value.text.replace(found["old"], found["new"] or "", -1 if found["sign"] == "//" else 1)


def joined_word(parts: Segments, line: int = 0) -> Word:
    """The parts joined to one word; without parts, an empty word on ``line``."""
    held = [each for each in parts if each is not BREAK]
    branch = max((each.branch for each in held), default=0)
    return Word("".join(each.text for each in held)[:LONGEST], held[0].line if held else line, branch)


def words_of(parts: Sequence[Segment | None], around: Sequence[int] = ()) -> tuple[Word, ...]:
    """The words that parts form. Parts between breaks form one word, unless it is split at unquoted blanks.

    The branch of a word is the branch of its first part, ignoring tests around the whole command.
    """
    found: list[Word] = []
    text, line, branch, start = "", 0, 0, 0
    for piece, at, inside, blank in _split_pieces(parts):
        if blank and line:
            found.append(Word(text.replace(CONTINUED, "")[:LONGEST], line, branch, start))
        kept = branch if branch and (branch not in around or not inside) else inside
        start = inside if not line else start
        text, line, branch = ("", 0, 0) if blank else (text + piece, line or at, kept)
    return tuple(found)


def _split_pieces(parts: Sequence[Segment | None]) -> Iterator[tuple[str, int, int, bool]]:
    """For each piece of the parts: text, line, branch, and whether it separates words. A break is added at the end."""
    for each in [*parts, BREAK]:
        if each is BREAK:
            yield "", 0, 0, True
            continue
        at = each.line
        kept = each.quoted or each.whole
        for piece in [each.text] if kept else _BLANKS.split(each.text):
            blank = not kept and bool(_BLANKS.fullmatch(piece))
            if piece or each.quoted:
                yield piece, at, each.branch, blank
            at += piece.count("\n") + piece.count(CONTINUED)


_OPERATIONS: dict[str, Callable[[int, int], int]] = {"+": add, "-": sub, "*": mul, "/": floordiv, "%": mod}
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {">": gt, "<": lt, ">=": ge, "<=": le, "==": eq, "!=": ne}


def _operation_result(sign: str, one: int | None, other: int | None) -> int | None:
    """The result of an operator of shell arithmetic on counts; 1 or 0 for comparisons.

    >>> [_operation_result(sign, 17, 5) for sign in "+-*/%><"], _operation_result("/", 1, 0)
    ([22, 12, 85, 3, 2, 1, 0], None)
    """
    if one is not None and other is not None and sign in {"&&", "||", *_COMPARISONS}:
        holds = _COMPARISONS[sign](one, other) if sign in _COMPARISONS else _both_or_one(sign, one, other)
        return int(holds)
    operation = _OPERATIONS.get(sign)
    if one is None or other is None or operation is None or (sign in {"/", "%"} and other == 0):
        return None
    return operation(one, other)


def _both_or_one(sign: str, one: int, other: int) -> bool:
    """Whether both numbers (``&&``) or at least one of them (``

    ``) are nonzero.
    """
    return bool(one and other) if sign == "&&" else bool(one or other)


_BEGINS_OPTION = re.compile(r"\s*--?[A-Za-z]")


def option_words(variables: Iterable[Segments]) -> tuple[Word, ...]:
    """The words of all variables that begin with an option."""
    split = ([each and each._replace(quoted=False) for each in parts] for parts in variables)
    found = [words_of(parts) for parts in split]
    return tuple(word for words in found if words and _BEGINS_OPTION.match(words[0].text) for word in words)
