"""Commands of shell scripts, with variables, arrays, defaults and functions expanded as Bash expands them.

tree-sitter-bash parses the text; nothing is run. A test that depends on what the script is given leaves its branches
undecided: words from them carry the line of the test, so that a reader can list them instead of stating them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING

from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.slurm_directives import directives
from clusterspec.records import NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_STEPS = 200_000
"""Parts of a script that are read; a launch script has some hundreds."""
DEEPEST = 24
"""Functions and quoted scripts inside each other."""
LONGEST = 100_000
"""Characters of one expanded word."""
_PARAMETER = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*|[0-9@*]+)(?P<all>\[[@*]\])?(?P<sign>:?[-=+?])?")
_ARGUMENT = re.compile(r"[\"']?\$\{?(?:OPTARG|[1-9])\}?[\"']?")
_FIRST_ARGUMENT = re.compile(r"\$\{?(?:1|arg|key|opt|option|param|para)\}?")
"""The argument that a loop over those of a script looks at, by its place or the names that such loops have."""
_PRINTERS = frozenset({"echo", "printf"})
_EXPANSIONS = frozenset({"arithmetic_expansion", "command_substitution", "process_substitution"})
_OPTION_IN = re.compile(r"(?:^|\s)--?[A-Za-z]")
_CONTINUED = "\0"
"""Stands for a line end after a backslash: no character of the word, yet a line of the file."""
PASSED_ON = ("$@",)
"""Stands for the arguments of a script that it passes on, which are not known."""
_BEFORE_EXPANSION = " \t\n\\"
"""Characters of a text in double quotes that the grammar counts to the expansion after them."""
_BLANKS = re.compile(r"([\s\0]+)")
_ESCAPED = re.compile(r'\\(["\\$`\n])')


class Word(NamedTuple):
    """A word of a command with its line; ``branch`` is the line of an undecided test around it, else 0."""

    text: str
    line: int
    branch: int = 0


class Command(NamedTuple):
    """One command as the shell would start it, and the variables that it sets for that command alone."""

    words: tuple[Word, ...]
    environment: tuple[tuple[str, Word], ...] = ()

    @property
    def line(self) -> int:
        """The line of its first word."""
        return self.words[0].line

    @property
    def text(self) -> str:
        """Its words, separated by spaces."""
        return " ".join(word.text for word in self.words)


class Script(NamedTuple):
    """The commands of a script in the order in which they start, and the arrays that it fills."""

    commands: tuple[Command, ...]
    arrays: tuple[Command, ...]


MOST_CHARACTERS = 512 << 10
"""Characters of a script, at most; the parser takes a second for 300,000 characters of other text."""
MOST_BRACKETS = 100_000
"""Brackets of a script, for each of which the parser takes space or, nested, time."""


def script_of(text: str) -> Script:
    """The commands and arrays of a script.

    Raises `FormatError` if it is too long, has too many brackets, or is nested too deeply.
    """
    shell = _shell_after(text)
    filled = (_words_of(parts) for name, parts in shell.variables.items() if name in shell.arrays)
    return Script(tuple(shell.commands), tuple(Command(words) for words in filled if words))


def variables_of(text: str) -> dict[str, Word]:
    """The variables that a script sets, arrays aside, each with its value as text. Raises `FormatError` likewise."""
    shell = _shell_after(text)
    found = {}
    for name, parts in shell.variables.items():
        held = [each for each in parts if each is not _BREAK]
        if held and name not in shell.arrays:
            branch = max(each.branch for each in held)
            found[name] = Word("".join(each.text for each in held)[:LONGEST], held[0].line, branch)
    return found


def _shell_after(text: str) -> _Shell:
    """The shell after all statements of a script."""
    if len(text) > MOST_CHARACTERS:
        raise FormatError(f"has more than {MOST_CHARACTERS >> 10} KiB: it is not a launch script")
    if sum(text.count(sign) for sign in "<([{`") > MOST_BRACKETS:
        raise FormatError(f"has more than {MOST_BRACKETS:,} brackets: it is not a launch script")
    shell = _Shell()
    try:
        for block, offset in _code_blocks(text):
            shell.variables |= _slurm_variables(block, offset)
            shell.run_text(_PLACEHOLDER.sub(r"\1'<\2>'", block), offset)
        if not shell.commands:  # a file of functions for others to call
            for body in list(shell.functions.values()):
                shell.run_body(body, ())
    except RecursionError:
        raise FormatError("nests commands or expansions too deeply") from None
    return shell


_SLURM_VARIABLES = {
    "nodes": ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    "ntasks": ("SLURM_NTASKS",),
    "ntasks-per-node": ("SLURM_NTASKS_PER_NODE",),
    "gpus-per-node": ("SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"),
    "gres": ("SLURM_GPUS_ON_NODE",),
}
"""The variables that Slurm sets from the options of a job: https://slurm.schedmd.com/sbatch.html, output variables."""


def _slurm_variables(text: str, offset: int) -> dict[str, _Segments]:
    """The variables of a job from the directives of its script, which hold where ``sbatch`` is given no others."""
    stated = directives(text, offset).items()
    return {name: [_Segment(count, line)] for option, (count, line) in stated for name in _SLURM_VARIABLES[option]}


_PLACEHOLDER = re.compile(
    r"((?:^|[ \t])[A-Za-z_]\w{0,60}=|(?:^|[ \t])--?[A-Za-z][\w-]{0,60}[ =]|\b(?:serve|trtllm-serve)[ ]"
    r"|[ \t](?=<[^<>\n]{1,102}>[ \t]*$))"
    r"<([A-Za-z][^<>'\"\n]{0,100}[\w).])>",
    re.MULTILINE,
)
"""What a reader of a script is to fill in (``NAME=<path of the data>``), which a shell would take for redirections;
one at the end of a line has no file to write to."""
_FENCE = re.compile(r"[ \t>]{0,12}(```|~~~)[`~]*[ \t]*([A-Za-z]*)")
_PROMPT = re.compile(r"^([ \t]*)\$(?=[ \t])", re.MULTILINE)
_SHELLS = frozenset({"", "bash", "sh", "shell", "zsh", "console", "text", "txt"})


def _code_blocks(text: str) -> Iterator[tuple[str, int]]:
    """The scripts of a text, with the number of lines before each: the blocks of code of a Markdown page, else all."""
    lines = text.split("\n")
    fences = [n for n, line in enumerate(lines) if _FENCE.match(line)]
    if len(fences) < 2 or text.startswith("#!"):
        yield text, 0
        return
    for start, end in zip(fences[::2], [*fences[1::2], len(lines)], strict=False):
        opened = _FENCE.match(lines[start])
        if opened is not None and opened[2].lower() in _SHELLS:
            yield _PROMPT.sub(r"\1 ", "\n".join(lines[start + 1 : end])), start + 1


def script_in(word: str) -> str | None:
    """The script that a word holds, alone or as the value of an option (``--command="…"``); None if it holds none."""
    script = re.sub(r"^--?[A-Za-z][\w-]*=(?=\S)", "", word)
    is_command = re.search(r"\S\s+-", script) or _PROGRAM.match(script)
    return script if is_command and not script.startswith("-") else None


_PROGRAM = re.compile(r"(?:[A-Za-z_]\w{0,60}=\S{0,200}\s+){0,20}(?:python3?|torchrun)\s+\S")


@cache
def _parser() -> Parser:
    try:
        from tree_sitter import Language, Parser
        from tree_sitter_bash import language
    except ModuleNotFoundError:
        raise FormatError("launch scripts need tree-sitter: pip install tree-sitter tree-sitter-bash") from None

    return Parser(Language(language()))


_BACKQUOTED = re.compile(r"`([^`\n]+)`")


def _tree_of(text: str) -> Node:
    """The tree of a script: with ``$(…)`` for commands in backquotes, where the grammar takes these only so."""
    tree = _parser().parse(text.encode("utf-8", "replace")).root_node
    if not tree.has_error or "`" not in text:
        return tree
    other = _parser().parse(_BACKQUOTED.sub(r"$(\1)", text).encode("utf-8", "replace")).root_node
    return other if _unparsed(other) < _unparsed(tree) else tree


def _unparsed(node: Node) -> int:
    """The bytes of a tree that the grammar does not take."""
    if not node.has_error:
        return 0
    if node.type == "ERROR":
        return node.end_byte - node.start_byte
    return sum(_unparsed(child) for child in node.children)


class _Segment(NamedTuple):
    """Part of a word; ``quoted`` text is not split at blanks."""

    text: str
    line: int
    branch: int = 0
    quoted: bool = True


_BREAK = None
"""Between two words that one expansion gives."""
_Segments = list["_Segment | None"]


class _Shell:
    """Follows the statements of a script, with the variables that it sets.

    ``given`` holds in a loop over the arguments of the script, ``written`` in a command whose output goes to a file.
    """

    def __init__(self) -> None:
        self.variables: dict[str, _Segments] = {}
        self.arrays: set[str] = set()
        self.functions: dict[str, Node] = {}
        self.commands: list[Command] = []
        self.branch = 0
        self.given = False
        self.written = False
        self.offset = 0
        self.depth = 0
        self.steps = 0

    # Statements

    def run_text(self, text: str, offset: int) -> None:
        """Follow a script; ``offset`` lines come before it in its file."""
        before, self.offset = self.offset, offset
        self.depth += 1
        if self.depth > DEEPEST:
            raise FormatError(f"scripts are nested deeper than {DEEPEST} levels", offset + 1)
        self.run(_tree_of(text))
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

    def count(self, parts: int, node: Node) -> None:
        """Count parts of the script, so that no script keeps the reader busy."""
        self.steps += parts
        if self.steps > MOST_STEPS:
            raise FormatError(f"has more than {MOST_STEPS:,} parts of commands", self.line(node))

    def run_body(self, body: Node, arguments: Sequence[Word]) -> None:
        """Follow the body of a function that is called with these arguments."""
        self.depth += 1
        if self.depth <= DEEPEST:
            before = dict(self.variables)
            given = [_Segment(word.text, word.line, word.branch) for word in arguments]
            self.variables |= {str(n): [each] for n, each in enumerate(given, 1)}
            self.variables["@"] = [part for each in given for part in (each, _BREAK)][:-1]
            self.run(body)
            self.variables |= {name: value for name, value in before.items() if name.isdecimal() or name == "@"}
        self.depth -= 1

    def assign(self, node: Node) -> None:
        """Set a variable or array."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or name.type != "variable_name":
            return
        key, added = _text(name), any(child.type == "+=" for child in node.children)
        parts = self.value(value, self.line(node))
        is_array = value is not None and value.type == "array"
        is_argument = self.given or (value is not None and bool(_ARGUMENT.fullmatch(_text(value))))
        if self.branch and self.variables.get(key) and is_argument:
            return  # an option of the script, whose default holds where it is not given
        if self.branch and _same_text(parts, self.variables.get(key)):
            return  # whichever branch is taken
        if is_array:
            self.arrays.add(key)
        if added and self.variables.get(key):
            parts = [*self.variables[key], *([_BREAK] if is_array else []), *parts]
        elif self.branch and self._holds_options(key) and not re.search(rf"\$\{{?{key}\b", _text(node)):
            before = [each and each._replace(branch=self.branch) for each in self.variables[key]]
            between: _Segments = [_BREAK if is_array else _Segment(" ", self.line(node), self.branch, quoted=False)]
            parts = [*before, *between, *parts]  # options of another branch, which may apply as well
        self.count(len(parts), node)
        self.variables[key] = parts

    def _holds_options(self, name: str) -> bool:
        """Whether a variable holds words that begin with a dash."""
        return any(each is not _BREAK and _OPTION_IN.search(each.text) for each in self.variables.get(name, ()))

    def value(self, node: Node | None, line: int) -> _Segments:
        """The parts of the value of a variable; the words of an array with breaks between them."""
        if node is None:
            return [_Segment("", line, self.branch)]
        if node.type != "array":
            between = _Segment(" ", line, self.branch, quoted=False)  # an array in a text: its words, divided by blanks
            return [between if each is _BREAK else each for each in self.segments(node)] or [
                _Segment("", line, self.branch)
            ]
        elements = (child for child in node.named_children if child.type != "comment")
        words = [word for child in elements for word in self.words(child)]
        return [part for word in words for part in (_Segment(*word), _BREAK)][:-1]

    def joined(self, node: Node, line: int) -> Word:
        """A value as one text."""
        held = [each for each in self.segments(node) if each is not _BREAK]
        branch = max((each.branch for each in held), default=0)
        return Word("".join(each.text for each in held)[:LONGEST], held[0].line if held else line, branch)

    def start(self, node: Node) -> None:
        """Record a command, or follow the function or the quoted script that it starts."""
        name = node.child_by_field_name("name")
        if name is None:
            return
        words = [word for child in (name, *node.children_by_field_name("argument")) for word in self.words(child)]
        if not words:
            return
        if words[0].text == "eval":  # a word that begins with a sign of comment ends what it runs
            words = list(takewhile(lambda word: not word.text.startswith("#"), words))
        body = self.functions.get(words[0].text)
        if body is not None:
            self.run_body(body, words[1:])
            return
        self.commands.append(Command(tuple(words), self.environment(node)))
        if words[0].text in _PRINTERS and not self.written:
            return
        for word in words[1:]:
            if (script := script_in(word.text)) is not None:
                self.run_text(script.replace(_CONTINUED, ""), word.line - 1)

    def environment(self, node: Node) -> tuple[tuple[str, Word], ...]:
        """The variables before the name of a command (``NNODES=2 program``)."""
        found = []
        for part in node.named_children:
            name, value = part.child_by_field_name("name"), part.child_by_field_name("value")
            if part.type == "variable_assignment" and name is not None and value is not None:
                found.append((_text(name), self.joined(value, self.line(part))))
        return tuple(found)

    def redirect(self, node: Node) -> None:
        """Follow a command, and a script that a here-document writes to a file."""
        body = node.child_by_field_name("body")
        before, self.written = self.written, True
        if body is not None:
            self.run(body)
        self.written = before
        for part in node.children_by_field_name("redirect"):
            for inner in part.named_children:
                if inner.type == "heredoc_body":
                    self.run_text(_text(inner), self.line(inner) - 1)

    def define(self, node: Node) -> None:
        """Keep the body of a function."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.functions[_text(name)] = body

    def choose(self, node: Node) -> None:
        """Follow the branch of an ``if`` that its tests choose, else all of them as undecided."""
        for condition, body in _branches(node):
            chosen = True if condition is None else self.truth(condition)
            if chosen is None:
                self.undecided(node, [part for _, parts in _branches(node) for part in parts])
                return
            if chosen:
                for part in body:
                    self.run(part)
                return

    def select(self, node: Node) -> None:
        """Follow the item of a ``case`` that its value matches, else all of them as undecided."""
        value = node.child_by_field_name("value")
        items = [child for child in node.named_children if child.type == "case_item"]
        word = self.joined(value, self.line(node)) if value is not None else Word("$", 0)
        if "$" in word.text or word.branch or not word.text:
            before, self.given = self.given, self.given or bool(_FIRST_ARGUMENT.fullmatch(word.text))
            self.undecided(node, [part for item in items for part in _item_body(item)])
            self.given = before
            return
        for item in items:
            patterns = [_text(each) for each in item.children_by_field_name("value")]
            if any(_matches(word.text, pattern) for pattern in patterns):
                for part in _item_body(item):
                    self.run(part)
                return

    def repeat(self, node: Node) -> None:
        """Follow the body of a loop once; its variable has no single value."""
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if name is not None:
            self.variables[_text(name)] = [_Segment(f"${_text(name)}", self.line(node), self.line(node))]
        if body is not None:
            self.run(body)

    def chain(self, node: Node) -> None:
        """Follow ``left && right``; the right side is undecided where the left is a test that is."""
        left, *right = node.named_children
        truth = self.truth(left) if left.type == "test_command" else True
        self.run(left)
        is_or = any(child.type == "||" for child in node.children)
        if truth is None:
            self.undecided(node, right)
        elif truth is not is_or:
            for part in right:
                self.run(part)

    def undecided(self, node: Node, parts: Sequence[Node]) -> None:
        """Follow statements that may or may not run."""
        before, self.branch = self.branch, self.branch or self.line(node)
        for part in parts:
            self.run(part)
        self.branch = before

    # Tests

    def truth(self, node: Node) -> bool | None:
        """Whether a test holds; None where that depends on the arguments of the script."""
        inner = [child for child in node.named_children if child.type != "comment"]
        if node.type in {"test_command", "parenthesized_expression"} and len(inner) == 1:
            return self.truth(inner[0])
        if node.type == "list" and len(inner) == 2:
            sign = "||" if any(child.type == "||" for child in node.children) else "&&"
            return _conjunction(sign, self.truth(inner[0]), self.truth(inner[1]))
        if node.type == "unary_expression":
            return self._unary_truth(node, inner[-1])
        if node.type == "binary_expression" and len(inner) >= 2:
            return self._binary_truth(node)
        if node.type == "command":  # ``if $USE_FP16``, of which the value is the command
            words = self.words(inner[0]) if len(inner) == 1 else ()
            return (
                {"true": True, "false": False}.get(words[0].text) if len(words) == 1 and not words[0].branch else None
            )
        return None

    def _unary_truth(self, node: Node, operand: Node) -> bool | None:
        sign = _text(node.children[0])
        if sign == "!":
            held = self.truth(operand)
            return None if held is None else not held
        if sign not in {"-z", "-n"}:
            return None
        word = self.joined(operand, self.line(node))
        name = re.fullmatch(r"\$\{?(\w+)\}?(?::?-\})?", word.text)
        unset = bool(name) and name[1] not in self.variables if name else False
        if word.branch or ("$" in word.text and not unset):
            return None
        return (sign == "-z") is (unset or not word.text)

    def _binary_truth(self, node: Node) -> bool | None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return None
        sign = _text(operator)
        if sign in {"&&", "||"}:
            return _conjunction(sign, self.truth(left), self.truth(right))
        one, other = self.joined(left, 0), self.joined(right, 0)
        if "$" in one.text + other.text or one.branch or other.branch:
            return None
        return _comparison_result(sign, one.text, other.text)

    # Words

    def line(self, node: Node) -> int:
        """The line of a node in its file, from 1."""
        return int(node.start_point[0]) + 1 + self.offset

    def words(self, node: Node) -> tuple[Word, ...]:
        """The words that one argument expands to."""
        return _words_of(self.segments(node))

    def segments(self, node: Node) -> _Segments:
        """The parts of a word, in order."""
        self.count(1, node)
        kind, text, line = node.type, _text(node), self.line(node)
        if kind in _EXPANSIONS:
            text = text.lstrip(_BEFORE_EXPANSION)
        if kind == "string":
            return self._quoted_segments(node)
        if kind in {"concatenation", "command_name"}:
            return [part for child in node.children for part in self.segments(child)]
        if kind in {"simple_expansion", "expansion"}:
            return self._parameter(node, quoted=False)
        if kind == "raw_string":
            text = text[1:-1]
        elif kind == "arithmetic_expansion":
            value = self._value(node.named_children[0]) if node.named_children else None
            text = text if value is None else str(value)
        elif kind == "command_substitution" and (written := _written(node)) is not None:
            return [_Segment(_text(written).replace("\\$", "$"), self.line(written), self.branch)]
        elif kind not in _EXPANSIONS:
            text = re.sub(r"\\(.)", r"\1", text.replace("\\\n", ""))
        return [_Segment(text, line, self.branch)]

    def _quoted_segments(self, node: Node) -> _Segments:
        """The parts of a text in double quotes."""
        line, whole, base = self.line(node), node.text or b"", node.start_byte
        found: _Segments = [_Segment("", line, self.branch)]
        at = 1
        for child in node.named_children:
            self.count(1, node)
            start, inner = child.start_byte - base, child.text or b""
            is_text = child.type == "string_content"
            # the grammar counts blanks before an expansion to it
            blanks = inner if is_text else inner[: len(inner) - len(inner.lstrip(_BEFORE_EXPANSION.encode()))]
            if literal := whole[at:start] + blanks:
                found.append(self._literal(literal, line))
                line += literal.count(b"\n")
            if child.type in {"simple_expansion", "expansion"}:
                found += self._parameter(child, quoted=True)
            elif not is_text:
                found += self.segments(child)
            line += inner[len(blanks) :].count(b"\n")
            at = child.end_byte - base
        if end := whole[at:-1]:
            found.append(self._literal(end, line))
        return found[1:] or found  # a word is on the line of its first part, which a variable may hold

    def _literal(self, text: bytes, line: int) -> _Segment:
        shown = text.decode("utf-8", "replace")
        plain = _ESCAPED.sub(lambda match: _CONTINUED if match[1] == "\n" else match[1], shown)
        return _Segment(plain, line, self.branch)

    def _parameter(self, node: Node, *, quoted: bool) -> _Segments:
        """The value of ``$NAME``, ``${NAME:-default}`` or ``${NAME[@]}``; the text itself where it is unknown."""
        text = _text(node).lstrip(_BEFORE_EXPANSION)
        line = self.line(node) + _text(node)[: -len(text)].count("\n")
        simple = node.type == "simple_expansion"
        match = re.match(r"\$(?P<name>\w+|[@*])", text) if simple else _PARAMETER.match(text)
        unknown: _Segments = [_Segment(text, line, self.branch)]
        if match is None:
            return unknown
        groups = match.groupdict()
        sign, held = groups.get("sign") or "", self.variables.get(groups["name"])
        if not simple and not sign and text[match.end() :] != "}":
            return unknown  # substrings, patterns and other expansions
        every = bool(groups.get("all")) or groups["name"] in {"@", "*"}
        filled = held is not None and any(each.text for each in held if each is not _BREAK)
        if held is not None and not sign.endswith("+") and (filled or not sign.startswith(":")):
            first = held if every or _BREAK not in held else held[: held.index(_BREAK)]
            return [each if each is _BREAK else each._replace(quoted=quoted) for each in first]
        if sign.endswith(("-", "=")):
            return self._default(node, groups["name"], sign)
        if sign.endswith("+"):
            return []
        passed_on = groups["name"] in {"@", "*"}
        return [_Segment("$@", line, self.branch)] if passed_on else [] if every else unknown

    def _default(self, node: Node, name: str, sign: str) -> _Segments:
        """The default of an expansion; ``:=`` also sets the variable."""
        parts = [child for child in node.named_children if child.type not in {"variable_name", "subscript"}]
        found: _Segments = [_Segment("", self.line(node), self.branch)]
        found += [part for child in parts for part in self.segments(child)]
        if sign.endswith("="):
            self.variables[name] = [part for part in found if part is not _BREAK]
        return found

    def _value(self, node: Node) -> int | None:
        """The value of an arithmetic expression; None if a part is unknown."""
        kind, text = node.type, _text(node)
        if kind == "number" and text.isdecimal() and len(text) < 18:
            return int(text)
        if kind in {"variable_name", "simple_expansion", "expansion", "word"}:
            name = text.strip("${}").partition(":")[0]
            held = [each for each in self.variables.get(name, ()) if each is not _BREAK]
            default = re.fullmatch(r"\$\{\w+:?-([0-9]{1,17})\}", text)
            shown = "".join(each.text for each in held) or (default[1] if default else "")
            shown = "" if any(each.branch for each in held) else shown
            return int(shown) if shown.isdecimal() and len(shown) < 18 else None
        if kind == "parenthesized_expression":
            return self._value(node.named_children[0]) if node.named_children else None
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if kind != "binary_expression" or left is None or right is None or operator is None:
            return None
        return _operation_result(_text(operator), self._value(left), self._value(right))


_STATEMENTS: dict[str, Callable[[_Shell, Node], None]] = {
    "variable_assignment": _Shell.assign,
    "command": _Shell.start,
    "redirected_statement": _Shell.redirect,
    "function_definition": _Shell.define,
    "if_statement": _Shell.choose,
    "case_statement": _Shell.select,
    "for_statement": _Shell.repeat,
    "list": _Shell.chain,
    "comment": lambda shell, node: None,
    "test_command": lambda shell, node: None,
}


def _words_of(parts: Sequence[_Segment | None]) -> tuple[Word, ...]:
    """The words that parts give: parts between breaks are one, unless blanks that are not quoted divide them."""
    found: list[Word] = []
    text, line, branch = "", 0, 0
    for piece, at, inside, blank in _split_pieces(parts):
        if blank and line:
            found.append(Word(text.replace(_CONTINUED, "")[:LONGEST], line, branch))
        text, line, branch = ("", 0, 0) if blank else (text + piece, line or at, branch or inside)
    return tuple(found)


def _split_pieces(parts: Sequence[_Segment | None]) -> Iterator[tuple[str, int, int, bool]]:
    """Text, line, branch, and whether it divides words, of each piece of the parts; a break ends them."""
    for each in [*parts, _BREAK]:
        if each is _BREAK:
            yield "", 0, 0, True
            continue
        at = each.line
        for piece in [each.text] if each.quoted else _BLANKS.split(each.text):
            blank = not each.quoted and bool(_BLANKS.fullmatch(piece))
            if piece or each.quoted:
                yield piece, at, each.branch, blank
            at += piece.count("\n") + piece.count(_CONTINUED)


def _written(node: Node) -> Node | None:
    """The here-document that a substitution only prints (``$(cat <<EOF …)``); None if it runs anything else."""
    inner = node.named_children[0] if len(node.named_children) == 1 else None
    body = inner.child_by_field_name("body") if inner is not None and inner.type == "redirected_statement" else None
    if inner is None or body is None or _text(body).strip() != "cat":
        return None
    parts = (part for each in inner.children_by_field_name("redirect") for part in each.named_children)
    return next((part for part in parts if part.type == "heredoc_body"), None)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _branches(node: Node) -> Iterator[tuple[Node | None, list[Node]]]:
    """The branches of an ``if``: the test (None for ``else``) and the statements."""
    condition = node.child_by_field_name("condition")
    own = [
        child
        for child in node.named_children
        if child != condition and child.type not in {"elif_clause", "else_clause"}
    ]
    yield condition, own
    for clause in node.named_children:
        if clause.type == "elif_clause":
            test, *body = clause.named_children
            yield test, body
        elif clause.type == "else_clause":
            yield None, list(clause.named_children)


def _item_body(item: Node) -> list[Node]:
    values = item.children_by_field_name("value")
    return [child for child in item.named_children if child not in values]


def _matches(text: str, pattern: str) -> bool:
    """Whether a text matches a pattern of ``case``; only whole words and a lone ``*`` are supported."""
    return pattern == "*" or pattern.strip("\"'") == text


def _same_text(parts: _Segments, before: _Segments | None) -> bool:
    """Whether a variable gets the words that it has."""
    return before is not None and [each and each.text for each in parts] == [each and each.text for each in before]


def _conjunction(sign: str, one: bool | None, other: bool | None) -> bool | None:
    short = sign == "||"
    if one is short or other is short:
        return short
    return None if one is None or other is None else not short


def _comparison_result(sign: str, one: str, other: str) -> bool | None:
    if sign in {"=", "==", "!="}:
        return (one == other) is (sign != "!=")
    if not (one.isdecimal() and other.isdecimal() and len(one + other) < 30):
        return None
    left, right = int(one), int(other)
    results = {"-eq": left == right, "-ne": left != right, "-gt": left > right, "-ge": left >= right}
    return (results | {"-lt": left < right, "-le": left <= right}).get(sign)


def _operation_result(sign: str, one: int | None, other: int | None) -> int | None:
    """The result of an operation of shell arithmetic on counts.

    >>> [_operation_result(sign, 17, 5) for sign in "+-*/%"], _operation_result("/", 1, 0)
    ([22, 12, 85, 3, 2], None)
    """
    if one is None or other is None or (sign in {"/", "%"} and other == 0):
        return None
    if sign in {"/", "%"}:
        return one // other if sign == "/" else one % other
    return {"+": one + other, "-": one - other, "*": one * other}.get(sign)
