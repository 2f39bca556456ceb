"""Variables and arrays that commands of a script fill from their input (``read``, ``mapfile``, ``readarray``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clusterspec.exchange.shell_tests import ShellTests
from clusterspec.exchange.shell_text import text_of
from clusterspec.exchange.shell_words import BREAK, PASSED_ON, Segment, Segments, joined_word, segment_of, words_of

if TYPE_CHECKING:
    from tree_sitter import Node

_LINE_READERS = frozenset({"mapfile", "readarray"})
READERS = _LINE_READERS | {"read"}
_WITH_VALUE = {"read": "adinNptu", "mapfile": "dnOsuCc", "readarray": "dnOsuCc"}
"""Options that take a value, by command: Bash manual, Bash Builtins."""


def filled_names(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """The array that a command fills from its input (None if it fills none), and the variables that it sets.

    >>> filled_names(["read", "-ra", "ARGS"]), filled_names(["mapfile", "-t", "-n", "8", "LINES"])
    (('ARGS', []), ('LINES', []))
    >>> filled_names(["read", "-r", "-p", "nodes?", "nodes", "ranks"]), filled_names(["readarray"])
    ((None, ['nodes', 'ranks']), ('MAPFILE', []))
    """
    array, names = None, list[str]()
    rest = iter(words[1:])
    for word in rest:
        if not word.startswith("-") or len(word) == 1:
            names.append(word)
        elif word[-1] in _WITH_VALUE[words[0]]:
            value = next(rest, None)
            array = value if word[-1] == "a" else array
    if words[0] in _LINE_READERS:
        return (names[-1] if names else "MAPFILE"), []
    return array, [] if array else names


def here_text(node: Node) -> Node | None:
    """The text in the script itself that a command reads: a here-string, or the body of a here-document."""
    around = node.parent
    redirects = [*node.named_children]
    if around is not None and around.type == "redirected_statement":
        redirects += around.children_by_field_name("redirect")
    for each in redirects:
        if each.type == "herestring_redirect" and each.named_children:
            return each.named_children[0]
        if each.type == "heredoc_redirect":
            return next((inner for inner in each.named_children if inner.type == "heredoc_body"), None)
    return None


def separators(node: Node) -> str:
    """The characters that separate words in addition to blanks, if set for one command alone (``IFS=, read …``)."""
    for part in node.named_children:
        name, value = part.child_by_field_name("name"), part.child_by_field_name("value")
        if part.type == "variable_assignment" and name is not None and text_of(name) == "IFS" and value is not None:
            return text_of(value).removeprefix("$").strip("\"'")
    return ""


def is_whole_variable(text: str, names: set[str]) -> bool:
    """Whether a text consists only of one of the given variables.

    >>> [is_whole_variable(text, {"line"}) for text in ("$line", "${line}", "$line.json", "--tp", "line")]
    [True, True, False, False, False]
    """
    name = text.removeprefix("$").removeprefix("{").removesuffix("}")
    return name in names and text in {f"${name}", f"${{{name}}}"}


class ShellInput(ShellTests):
    """Follows commands that read input.

    ``arrays`` are the arrays of the script, ``asked`` the variables that a command read from another file or command.
    """

    def __init__(self) -> None:
        super().__init__()
        self.arrays: set[str] = set()
        self.asked: set[str] = set()

    def fill(self, node: Node, words: Sequence[str]) -> None:
        """Set the variables that a command fills from its input. Words that come from another file or command are
        unknown arguments.
        """
        array, names = filled_names(words)
        given, line = here_text(node), self.line(node)
        is_document = given is not None and given.type == "heredoc_body"
        parts: Segments = [Segment(PASSED_ON[0], line, self.branch)]
        if given is not None and is_document:
            parts = [Segment(text_of(given), self.line(given), self.branch, quoted=False)]
        elif given is not None:
            cut = dict.fromkeys(map(ord, separators(node)), " ")
            parts = [each and each._replace(text=each.text.translate(cut)) for each in self.value(given, line)]
            parts = [each and each._replace(quoted=False) for each in parts]
        if array is not None:
            self.arrays.add(array)
            self.variables[array] = [part for word in words_of(parts) for part in (segment_of(word), BREAK)][:-1]
        elif not is_document:
            self._set_each(names, parts if given is not None else [], line)

    def _set_each(self, names: Sequence[str], parts: Segments, line: int) -> None:
        """Set variables to the words of a line, the last one to the rest of the line. If the words are not known, they
        are unknown arguments.
        """
        words = words_of(parts)
        decided = bool(words) and not any("$" in word.text for word in words)
        for number, name in enumerate(names):
            last = number == len(names) - 1
            own = words[number:] if last else words[number : number + 1]
            spaced: Segments = [part for each in own for part in (segment_of(each), Segment(" ", line))]
            text = joined_word(spaced[:-1], line)
            self.asked = self.asked - {name} if decided else self.asked | {name}
            if decided or name in self.variables:
                self.variables[name] = [segment_of(text) if decided else Segment(f"${{{name}}}", line, self.branch)]

    def with_unknown_words(self, parts: Segments) -> Segments:
        """The parts of a value, with the words that a script adds. Words read from elsewhere become unknown arguments,
        unless they are the value of an option.
        """
        texts = [" " if each is BREAK else each.text for each in parts]
        found: Segments = []
        for number, each in enumerate(parts):
            before, after = "".join(texts[max(number - 2, 0) : number]), "".join(texts[number + 1 : number + 2])
            words = before.split()
            alone = not before[-1:].strip() and not after[:1].strip() and not (words and words[-1].startswith("-"))
            is_read = each is not BREAK and alone and is_whole_variable(each.text, self.asked)
            found.append(each._replace(text=PASSED_ON[0]) if each is not BREAK and is_read else each)
        return found
