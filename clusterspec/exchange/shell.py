"""Commands of shell scripts, with variables, arrays, defaults and functions expanded as in Bash.

tree-sitter-bash parses the text; nothing is run. If a test depends on the arguments of the script, its branches are
undecided: their words carry the line of the test, so that a reader can list them as undecided instead of as values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.shell_conditions import matches_pattern, same_text
from clusterspec.exchange.shell_input import READERS, ShellInput, is_whole_variable
from clusterspec.exchange.shell_text import (
    assigned_names,
    branches_of,
    code_blocks,
    is_printed,
    script_in,
    statements_of_item,
    text_of,
    tree_of,
)
from clusterspec.exchange.shell_words import (
    BREAK,
    CONTINUED,
    Segment,
    Segments,
    Word,
    joined_word,
    option_words,
    segment_of,
    words_of,
)
from clusterspec.exchange.slurm_directives import job_variables
from clusterspec.records import NamedTuple
from clusterspec.standard import recent

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 24
"""Maximum nesting depth of functions and quoted scripts."""
_ARGUMENT = re.compile(
    r"[\"']?\$(?:\{?(?:OPTARG|[1-9])\}?|\{(?:1|arg|key|opt|option|param|para)##?(?:\*|[\w-]+)=\})[\"']?"
)
_FIRST_ARGUMENT = re.compile(r"\$\{?(?:1|arg|key|opt|option|param|para)\}?")
"""The argument that a loop over a script's arguments examines: its position, or one of the variable names usual in such
loops.
"""
_OPTIONAL_ARGUMENT = re.compile(r"\"?\$\{[1-9]:?-[^{}$]{0,80}\}\"?")
"""An argument of the script with a default."""
_PRINTERS = frozenset({"echo", "printf"})
_SHOWS = _PRINTERS | {"cat", "exit", "return", "sed", "grep", "head", "usage", "help"}
"""Commands with which a script prints its usage."""
_FINDERS = frozenset({"pkill", "pgrep", "killall", "grep", "egrep", "fgrep", "zgrep"})
"""Programs whose argument is a pattern for names of commands."""
_KEYED = re.compile(r"\[[\"']?(?P<key>[\w.-]{1,60})[\"']?\]=")
"""The key of an element of an associative array."""
_OPTION_IN = re.compile(r"(?:^|\s)--?[A-Za-z]")


class Command(NamedTuple):
    """A command as the shell would start it, the variables set only for it, and the innermost undecided test."""

    words: tuple[Word, ...]
    environment: tuple[tuple[str, Word], ...] = ()
    branch: int = 0

    @property
    def line(self) -> int:
        """The line of its first word; 0 without words."""
        return self.words[0].line if self.words else 0

    @property
    def text(self) -> str:
        """Its words, separated by spaces."""
        return " ".join(word.text for word in self.words)


def is_finder(command: Command) -> bool:
    """Whether a command finds or stops other commands by a pattern, also after `sudo`, `ssh` and the like."""
    return any(word.text.rpartition("/")[2] in _FINDERS for word in command.words[:12])


class Script(NamedTuple):
    """The commands of a script in the order in which they start, the arrays that it fills, and the options that its
    other variables hold, as one command. ``written`` has the line before each here-document, with the line of the
    undecided test around it, else 0.
    """

    commands: tuple[Command, ...]
    arrays: tuple[Command, ...]
    options: Command
    written: dict[int, int]


def script_of(text: str) -> Script:
    """The commands and arrays of a script.

    Raises `FormatError` if it is too long, has too many brackets, or is nested too deeply.
    """
    shell = _shell_after(text)
    filled = (words_of(parts) for name, parts in shell.variables.items() if name in shell.arrays)
    arrays = tuple(Command(words) for words in filled if words)
    others = [parts for name, parts in shell.variables.items() if name not in shell.arrays]
    return Script(tuple(shell.commands), arrays, Command(option_words(others)), shell.written_at)


def variables_of(text: str) -> dict[str, Word]:
    """The variables that a script sets, except arrays, with values as text. Raises `FormatError` like `script_of`."""
    shell = _shell_after(text)
    held = {name: parts for name, parts in shell.variables.items() if name not in shell.arrays}
    return {name: joined_word(parts) for name, parts in held.items() if any(each is not BREAK for each in parts)}


@recent(2)  # commands and variables of a script are looked up separately
def _shell_after(text: str) -> _Shell:
    """The state of the shell after all statements of a script; callers must not change it."""
    shell = _Shell()
    try:
        for block, offset in code_blocks(text):
            shell.variables |= {name: [Segment(*stated)] for name, stated in job_variables(block, offset).items()}
            shell.run_text(block, offset)
        if not shell.commands:  # a file of functions for others to call
            for body in list(shell.functions.values()):
                shell.run_body(body, ())
    except RecursionError:
        raise FormatError("nests commands or expansions too deeply") from None
    return shell


class _Shell(ShellInput):
    """Follows the statements of a script and keeps the variables that it sets.

    ``given`` holds in a loop over the arguments of the script, ``written`` in a command whose output goes to a file,
    ``piped`` in a pipeline, ``called`` in a function that a statement calls. ``optional`` variables hold an argument of
    the script with a default.
    """

    def __init__(self) -> None:
        super().__init__()
        self.functions: dict[str, Node] = {}
        self.optional: set[str] = set()
        self.commands: list[Command] = []
        self.given = False
        self.written = self.piped = self.called = False
        self.depth = 0
        self.written_at: dict[int, int] = {}

    # Statements

    def run_text(self, text: str, offset: int) -> None:
        """Follow a script, which begins after ``offset`` lines of its file."""
        before, self.offset = self.offset, offset
        self.depth += 1
        if self.depth > DEEPEST:
            raise FormatError(f"scripts are nested deeper than {DEEPEST} levels", offset + 1)
        self.run(tree_of(text))
        self.depth -= 1
        self.offset = before

    def run(self, node: Node) -> None:
        """Follow one statement."""
        self.count(1, node)
        follow = _STATEMENTS.get(node.type)
        if follow is not None:
            follow(self, node)
            return
        for child in node.named_children:
            self.run(child)

    def run_body(self, body: Node, arguments: Sequence[Word]) -> None:
        """Follow the body of a function called with these arguments."""
        self.depth += 1
        if self.depth <= DEEPEST:
            before = dict(self.variables)
            given = [Segment(word.text, word.line, word.branch) for word in arguments]
            self.variables |= {str(n): [each] for n, each in enumerate(given, 1)}
            self.variables["@"] = [part for each in given for part in (each, BREAK)][:-1]
            called, self.called = self.called, True
            self.run(body)
            self.called = called
            self.variables |= {name: value for name, value in before.items() if name.isdecimal() or name == "@"}
        self.depth -= 1

    def assign(self, node: Node) -> None:
        """Set a variable or array."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or name.type != "variable_name":
            self._assign_element(name, value)
            return
        key, added = text_of(name), any(child.type == "+=" for child in node.children)
        parts = self.value(value, self.line(node))
        is_array = value is not None and value.type == "array"
        if value is not None and _OPTIONAL_ARGUMENT.fullmatch(text_of(value)):
            self.optional.add(key)
        if self.asked and (added or is_array or f"${key}" in text_of(node) or f"${{{key}" in text_of(node)):
            parts = self.with_unknown_words(parts)
        is_argument = self.given or (value is not None and bool(_ARGUMENT.fullmatch(text_of(value))))
        if self.branch and is_argument and value is not None and "{" in text_of(value) and "=" in text_of(value):
            parts = self.variables.get(key) or [Segment(f"${{{key}}}", self.line(node), 0)]
        elif self.branch and self.variables.get(key) and is_argument:
            return  # an option of the script, whose default holds where it is not given
        if self.branch and same_text(parts, self.variables.get(key)):
            return  # whichever branch is taken
        if self.branch and is_argument and key not in self.variables and (self.given or "$" in joined_word(parts).text):
            self.given_alone.add(key)
        else:
            self.given_alone.discard(key)
        if is_array:
            self._assign_array(key, parts)
        if added and self.variables.get(key):
            parts = [*self.variables[key], *([BREAK] if is_array else []), *parts]
        elif self.branch and self._holds_options(key) and not re.search(rf"\$\{{?{key}\b", text_of(node)):
            before = [each and each._replace(branch=self.branch) for each in self.variables[key]]
            between: Segments = [BREAK if is_array else Segment(" ", self.line(node), self.branch, quoted=False)]
            parts = [*before, *between, *parts]  # options of another branch, which may apply as well
        self.count(len(parts), node)
        self.variables[key] = parts

    def _assign_array(self, name: str, parts: Segments) -> None:
        """Note a variable as an array, and set its elements with keys."""
        self.arrays.add(name)
        for word in words_of(parts):
            if match := _KEYED.match(word.text):
                rest = segment_of(word._replace(text=word.text[match.end() :]))
                self._set_element(f"{name}[{match['key']}]", [rest])

    def _assign_element(self, name: Node | None, value: Node | None) -> None:
        """Set an element of an array by its key (``NAME[key]=value``)."""
        if name is not None and name.type == "subscript":
            self._set_element(text_of(name), self.value(value, self.line(name)))

    def _set_element(self, name: str, parts: Segments) -> None:
        """Set an element of an array; one that a branch sets again is undecided."""
        name = name.replace('"', "").replace("'", "")
        if self.branch and name in self.variables and not same_text(parts, self.variables[name]):
            parts = [Segment(f"${{{name}}}", joined_word(parts).line, self.branch)]
        self.variables[name] = parts

    def _holds_options(self, name: str) -> bool:
        """Whether a variable contains words that begin with a dash."""
        return any(each is not BREAK and _OPTION_IN.search(each.text) for each in self.variables.get(name, ()))

    def start(self, node: Node) -> None:
        """Record a command, or follow the function or quoted script that it starts."""
        name = node.child_by_field_name("name")
        if name is None:
            return
        children = (name, *node.children_by_field_name("argument"))
        words = [word for child in children for word in self.words(child)]
        if not words or words[0].text == ":":  # the null command, whose words may be a text on how to call the script
            return
        if words[0].text == "eval":  # a word that begins with a sign of comment ends what it runs
            words = list(takewhile(lambda word: not word.text.startswith("#"), words))
        body = self.functions.get(words[0].text)
        if body is not None:
            self.run_body(body, words[1:])
            return
        self.commands.append(Command(tuple(words), self.environment(node), self.branch))
        if words[0].text in READERS:
            self.fill(node, [word.text for word in words])
            return
        if (words[0].text in _PRINTERS and not self.written) or is_finder(self.commands[-1]):
            return
        for word in words[1:]:
            if script_in(word.text) is None:
                continue
            if (script := script_in(self.text_with_branches(word, children))) is not None:
                continued = "" if "'" in script else "\\\n"  # quotes would keep the backslash
                self.run_text(script.replace(CONTINUED, continued), word.line - 1)

    def text_with_branches(self, word: Word, children: Sequence[Node]) -> str:
        """The text of a quoted word, including its line ends. Each part that depends on an undecided test is replaced
        by a variable, so that words of the script in it keep the line of the test.
        """
        node = next((child for child in children if [word] == list(self.words(child))), None)
        parts = [] if node is None else self.value(node, word.line)
        for number, part in enumerate(parts):
            if part is not None and part.branch > self.branch:
                name = f"UNDECIDED_{part.branch}_{number}"
                self.variables[name] = [part._replace(quoted=False)]
                parts[number] = Segment(f"${{{name}}}", part.line)
        return "".join(part.text for part in parts if part is not None) or word.text

    def environment(self, node: Node) -> tuple[tuple[str, Word], ...]:
        """The variables before the name of a command (``NNODES=2 program``)."""
        found = []
        for part in node.named_children:
            name, value = part.child_by_field_name("name"), part.child_by_field_name("value")
            if part.type == "variable_assignment" and name is not None and value is not None:
                found.append((text_of(name), self.joined_word(value, self.line(part))))
        return tuple(found)

    def redirect(self, node: Node) -> None:
        """Follow a command, and a script that it writes to a file from a here-document."""
        self._note_documents(node)
        if not self.written and not self.piped and is_printed(node, called=self.called):
            return
        body = node.child_by_field_name("body")
        before, self.written = self.written, True
        if body is not None:
            self.run(body)
        self.written = before
        for part in node.children_by_field_name("redirect"):
            for inner in part.named_children:
                if inner.type == "heredoc_body":
                    self.run_text(text_of(inner), self.line(inner) - 1)

    def _note_documents(self, node: Node) -> None:
        """Record the here-documents of a command, each with the undecided test around it unless it is also written
        without one.
        """
        parts = [inner for part in node.children_by_field_name("redirect") for inner in part.named_children]
        for line in (self.line(each) - 1 for each in parts if each.type == "heredoc_body"):
            self.written_at[line] = min(self.branch, self.written_at.get(line, self.branch))

    def pipe(self, node: Node) -> None:
        """Follow the commands of a pipeline."""
        before, self.piped = self.piped, True
        for part in node.named_children:
            self.run(part)
        self.piped = before

    def define(self, node: Node) -> None:
        """Store the body of a function."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.functions[text_of(name)] = body

    def choose(self, node: Node) -> None:
        """Follow the branch of an ``if`` that its tests select. If these are undecided, follow all as undecided."""
        taken, started = False, len(self.commands)
        for condition, body in branches_of(node):
            chosen = False if taken else True if condition is None else self.test_result(condition)
            if chosen is None:
                self.follow_undecided(node, [part for _, parts in branches_of(node) for part in parts])
                return
            for part in body if chosen else ():
                self.run(part)
            taken = taken or chosen
            self.left_unset |= {name for part in (() if chosen else body) for name in assigned_names(part)}
            shown = all(command.words[0].text in _SHOWS for command in self.commands[started:])
            if condition is None and chosen and shown and self._asks_for_argument(node):
                self.follow_undecided(node, [part for each, parts in branches_of(node) if each for part in parts])

    def _asks_for_argument(self, node: Node) -> bool:
        """Whether the tests of an ``if`` compare an argument of the script with words."""
        for condition, _ in branches_of(node):
            waiting = [condition] if condition is not None else []
            while waiting:
                part = waiting.pop()
                waiting += part.named_children
                if part.type == "binary_expression" and self.is_optional(text_of(part.named_children[0])):
                    return True
        return False

    def select(self, node: Node) -> None:
        """Follow the item of a ``case`` that its value matches. If that is undecided, follow all items as undecided."""
        value = node.child_by_field_name("value")
        items = [child for child in node.named_children if child.type == "case_item"]
        word = self.joined_word(value, self.line(node)) if value is not None else Word("$", 0)
        if "$" in word.text or word.branch or not word.text:
            self.follow_items(node, items, given=self.given or bool(_FIRST_ARGUMENT.fullmatch(word.text)))
            return
        for item in items:
            patterns = [text_of(each) for each in item.children_by_field_name("value")]
            matches = [matches_pattern(word.text, pattern) for pattern in patterns]
            if True in matches:
                started = len(self.commands)
                for part in statements_of_item(item):
                    self.run(part)
                shown = all(command.words[0].text in _SHOWS for command in self.commands[started:])
                if value is not None and shown and self.is_optional(text_of(value)):
                    self.follow_items(node, [each for each in items if each != item], given=True)
                return
            if None in matches:
                self.follow_items(node, items, given=self.given)
                return

    def is_optional(self, text: str) -> bool:
        """Whether a text is an argument of the script with a default, or a variable whose value is such an argument."""
        return bool(_OPTIONAL_ARGUMENT.fullmatch(text)) or is_whole_variable(text.strip('"'), self.optional)

    def follow_items(self, node: Node, items: Sequence[Node], *, given: bool) -> None:
        """Follow items of a ``case`` that may run; ``given`` means that an argument of the script selects the item."""
        before, self.given = self.given, given
        self.follow_undecided(node, [part for item in items for part in statements_of_item(item)])
        self.given = before

    def repeat(self, node: Node) -> None:
        """Follow the body of a loop once. The loop variable has no single value and stays unexpanded."""
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if name is not None:
            self.variables[text_of(name)] = [Segment(f"${text_of(name)}", self.line(node), self.line(node))]
        if body is not None:
            self.run(body)

    def chain(self, node: Node) -> None:
        """Follow ``left && right``; if the left side is an undecided test, the right side is undecided."""
        left, *right = node.named_children
        truth = self.status(left)
        self.run(left)
        is_or = any(child.type == "||" for child in node.children)
        if truth is None:
            self.follow_undecided(node, right)
        elif truth is not is_or:
            for part in right:
                self.run(part)

    def follow_undecided(self, node: Node, parts: Sequence[Node]) -> None:
        """Follow statements that may or may not run."""
        before = self.branch, self.around
        self.branch, self.around = self.line(node), (*self.around, self.line(node))
        for part in parts:
            self.run(part)
        self.branch, self.around = before


_STATEMENTS: dict[str, Callable[[_Shell, Node], None]] = {
    "variable_assignment": _Shell.assign,
    "command": _Shell.start,
    "redirected_statement": _Shell.redirect,
    "pipeline": _Shell.pipe,
    "function_definition": _Shell.define,
    "if_statement": _Shell.choose,
    "case_statement": _Shell.select,
    "for_statement": _Shell.repeat,
    "list": _Shell.chain,
    "comment": lambda shell, node: None,
    "test_command": lambda shell, node: None,
}
