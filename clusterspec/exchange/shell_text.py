"""Scripts in a text as syntax trees: code blocks are found, and placeholders for the reader are replaced by words.

tree-sitter-bash parses the scripts; nothing is run.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.pages import fenced_blocks

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MOST_CHARACTERS = 512 << 10
"""Maximum characters of a script; the parser takes a second for 300,000 characters of text that is not a script."""
MOST_BRACKETS = 100_000
"""Maximum number of brackets in a script, since the parser needs memory for each bracket, and time for nested ones."""
_PLACEHOLDER = re.compile(
    r"((?:^|[ \t])[A-Za-z_]\w{0,60}=|(?:^|[ \t])--?[A-Za-z][\w-]{0,60}[ =]|\b(?:serve|trtllm-serve)[ ]"
    r"|[ \t](?=<[^<>\n]{1,102}>[ \t]*$)|(?<=>)[ \t](?=<[A-Za-z]))"
    r"<([A-Za-z][^<>'\"\n]{0,100}[\w).])>",
    re.MULTILINE,
)
"""A placeholder that the reader of a script must replace (``NAME=<path of the data>``). A shell would parse it as
redirections; at the end of a line there is no file to write to.
"""
_PROMPT = re.compile(r"^([ \t]*)\$(?=[ \t])", re.MULTILINE)
_SHELLS = frozenset({"", "bash", "sh", "shell", "zsh", "console", "text", "txt"})


def code_blocks(text: str) -> Iterator[tuple[str, int]]:
    """The scripts of a text, each with the number of lines before it: the code blocks of a Markdown page, else the
    whole text.

    Raises `FormatError` if it is too long, or has too many brackets.
    """
    if len(text) > MOST_CHARACTERS:
        raise FormatError(f"has more than {MOST_CHARACTERS >> 10} KiB: it is not a launch script")
    if sum(text.count(sign) for sign in "<([{`") > MOST_BRACKETS:
        raise FormatError(f"has more than {MOST_BRACKETS:,} brackets: it is not a launch script")
    lines = text.split("\n")
    blocks = fenced_blocks(lines)
    if not blocks or blocks[0][2] == len(lines) or text.startswith("#!"):
        yield text, 0
        return
    for language, start, end in blocks:
        if language in _SHELLS:
            yield _PROMPT.sub(r"\1 ", "\n".join(lines[start:end])), start


@cache
def _parser() -> Parser:
    try:
        from tree_sitter import Language, Parser
        from tree_sitter_bash import language
    except ModuleNotFoundError:
        raise FormatError("launch scripts need tree-sitter: pip install tree-sitter tree-sitter-bash") from None

    return Parser(Language(language()))


_BACKQUOTED = re.compile(rb"`([^`\n]+)`")


_SPACED_PLACEHOLDER = re.compile(
    r"(?<=[ \t])<[A-Z][A-Za-z-]{0,40}(?: [\w.,-]{1,60}){0,11} [A-Za-z][\w.-]{0,60}[\w]>(?=[ \t\n]|\Z)"
)
"""A placeholder of several words (``<PATH TO THE DATA>``); it may be the value of a variable that a quoted script
expands.
"""
_CUT_NAME = re.compile(rb"[A-Za-z_]\w{0,100}(?=,)")


MOST_CUTS = 20
"""Maximum number of times that a script is parsed again because the grammar cut a word."""


def _quote_placeholders(text: str) -> str:
    """A script with its placeholders in quotes, except in single-quoted text, since scripts in such text are parsed
    later.
    """
    if "'" not in text or not _PLACEHOLDER.search(text):
        return _PLACEHOLDER.sub(r"\1'<\2>'", text)
    source = text.encode("utf-8", "replace")
    waiting, held = [_parser().parse(source).root_node], []
    while waiting:
        node = waiting.pop()
        waiting += node.children
        held += [node.byte_range] if node.type in {"raw_string", "ansi_c_string"} else []
    held.sort()
    places = None if text.isascii() else [0, *accumulate(len(each.encode("utf-8", "replace")) for each in text)]

    def in_quotes(match: re.Match[str]) -> str:
        at = places[match.start(2)] if places else match.start(2)
        before = bisect_right(held, (at, at)) - 1
        inside = before >= 0 and at < held[before][1]
        return match[0] if inside else f"{match[1]}'<{match[2]}>'"

    return _PLACEHOLDER.sub(in_quotes, text)


def tree_of(text: str) -> Node:
    """The tree of a script. If the grammar cannot parse it otherwise, variables get braces, and commands in backquotes
    are written as ``$(…)``.
    """
    text = _quote_placeholders(text)
    source = _SPACED_PLACEHOLDER.sub(r"'\g<0>'", text).encode("utf-8", "replace")
    tree = _parser().parse(source).root_node
    for _ in range(MOST_CUTS):  # the next one of a word shows once that before it is whole
        if not (cut := sorted(_cut_variables(tree, source))):
            break
        for at in reversed(cut):
            end = _CUT_NAME.match(source, at).end()  # type: ignore[union-attr]
            source = b"%b{%b}%b" % (source[:at], source[at:end], source[end:])
        tree = _parser().parse(source).root_node
    if not tree.has_error or b"`" not in source:
        return tree
    other = _parser().parse(_BACKQUOTED.sub(rb"$(\1)", source)).root_node
    return other if _unparsed_bytes(other) < _unparsed_bytes(tree) else tree


def _cut_variables(tree: Node, source: bytes) -> Iterator[int]:
    """Where a variable name begins after a ``$`` that the grammar takes as the end of a word. This occurs before a
    comma, in a word that continues quotes or a bracket (``"a"b=$B,c``).
    """
    waiting = [tree] if b"$" in source and b"," in source else []
    while waiting:
        node = waiting.pop()
        waiting += [] if node.type in {"simple_expansion", "raw_string"} else node.children
        before = source[max(node.end_byte - 2, 0) : node.end_byte]
        is_cut = not node.children and before[-1:] == b"$" and before[:1] != b"\\"
        if is_cut and node.type != "raw_string" and _CUT_NAME.match(source, node.end_byte):
            yield node.end_byte


def _unparsed_bytes(node: Node) -> int:
    """The bytes of a text that the grammar could not parse."""
    if not node.has_error:
        return 0
    if node.type == "ERROR":
        return node.end_byte - node.start_byte
    return sum(_unparsed_bytes(child) for child in node.children)


def written_text(node: Node) -> Node | None:
    """The here-document that a substitution prints unchanged (``$(cat <<EOF …)``); None if it runs anything else."""
    inner = node.named_children[0] if len(node.named_children) == 1 else None
    body = inner.child_by_field_name("body") if inner is not None and inner.type == "redirected_statement" else None
    if inner is None or body is None or text_of(body).strip() != "cat":
        return None
    parts = (part for each in inner.children_by_field_name("redirect") for part in each.named_children)
    return next((part for part in parts if part.type == "heredoc_body"), None)


_LINE_ENDS = {r"tr '\n' ' '": " ", r'tr "\n" " "': " ", r"tr -d '\n'": "", r'tr -d "\n"': "", "xargs": " "}
"""Filters of printed text, each with its replacement for line ends."""


def printed_arguments(node: Node) -> tuple[list[Node], str | None] | None:
    """The arguments that a substitution prints unchanged (``$(echo "$ARGS")``), and the replacement for line ends if a
    filter follows (``| tr '\\n' ' '``); None if the substitution runs anything else.
    """
    inner = node.named_children[0] if len(node.named_children) == 1 else None
    parts = inner.named_children if inner is not None and inner.type == "pipeline" else [inner]
    command, filters = parts[0], [text_of(each) for each in parts[1:] if each is not None]
    if command is None or command.type != "command" or any(each not in _LINE_ENDS for each in filters):
        return None
    name, arguments = command.child_by_field_name("name"), command.children_by_field_name("argument")
    arguments = arguments[1:] if arguments and text_of(arguments[0]) == "-n" else arguments
    if name is None or text_of(name) != "echo" or not arguments or text_of(arguments[0]).startswith("-"):
        return None
    return list(arguments), _LINE_ENDS[filters[0]] if filters else None


_HOSTS_OF_JOB = re.compile(
    r"(?:\$\(|`)\s*scontrol\s+show\s+hostnames?(?:\s+\"?\$\{?SLURM_(?:JOB_)?NODELIST\}?\"?)?\s*\|\s*wc\s+-l\s*[)`]"
)
_COMPUTED = re.compile(
    r"(?:\$\(|`)\s{0,20}(?:expr\s{1,20}(?P<words>[^()|;`\s][^()|;`]{0,200})"
    r"|echo\s{1,20}\"(?P<text>[^\"`|]{1,200})\"\s{0,20}\|\s{0,20}bc\s{0,20})[)`]"
)
"""Programs that calculate with whole numbers (expr(1); bc(1) with its scale of 0)."""
_SUMS = re.compile(r"[\w$\s{}()+*/%-]+")
"""Operators that mean the same in them as in Bash; a power does not."""


def counts_hosts_of_job(text: str) -> bool:
    """Whether a substitution counts the nodes of a job of Slurm.

    >>> counts_hosts_of_job('$(scontrol show hostnames "$SLURM_JOB_NODELIST" | wc -l)')
    True
    """
    return bool(_HOSTS_OF_JOB.fullmatch(text))


def computed_expression(text: str) -> str | None:
    """The expression that a substitution calculates, as Bash writes it; None if it runs anything else.

    >>> computed_expression("$(expr $N \\\\* 8)"), computed_expression('$(echo "$A * 4" | bc)')
    ('$(($N * 8))', '$(($A * 4))')
    >>> computed_expression('$(echo "10^9 / $A" | bc)'), computed_expression("$(expr length $A)")
    (None, '$((length $A))')
    """
    found = _COMPUTED.fullmatch(text)
    expression = (found["words"] or found["text"]).replace("\\*", "*").strip() if found else ""
    return f"$(({expression}))" if _SUMS.fullmatch(expression) else None


_COUNTED_LIST = re.compile(
    r"(?:\$\(|`)\s{0,9}(?:echo\s{1,9}(?P<printed>\"?\$\{?\w{1,100}\}?\"?)\s{0,9}\|\s{0,9})?(?P<filter>[^<>()`]{1,80}?)"
    r"(?:\s{0,9}<<<\s{0,9}(?P<given>\"?\$\{?\w{1,100}\}?\"?)(?P<rest>[^<>()`]{0,40}?))?\s{0,9}[)`]"
)
_COUNTS_ITEMS = frozenset({"tr , \\n|wc -l", "tr , \\n|wc -w", "tr ,|wc -w", "awk -F,{print NF}", "awk -F ,{print NF}"})
"""Programs that count the items of a list with commas (tr(1), wc(1), awk(1)), without quotes and needless blanks."""
_COUNTED_ARRAY = re.compile(r"\$\{#(?P<name>[A-Za-z_]\w{0,100})\[[@*]\]\}")


def counted_array(text: str) -> str:
    """The array whose elements an expansion counts; empty if it is another one.

    >>> counted_array("${#GPUS[@]}"), counted_array("${#GPUS}")
    ('GPUS', '')
    """
    found = _COUNTED_ARRAY.fullmatch(text)
    return found["name"] if found else ""


def counted_list(text: str) -> str:
    """The variable whose items, with commas between them, a substitution counts; empty if it runs anything else.

    >>> counted_list("$(echo $GPUS | tr ',' ' ' | wc -w)"), counted_list('$(awk -F, "{print NF}" <<< "$GPUS")')
    ('GPUS', 'GPUS')
    >>> counted_list("$(echo $GPUS | wc -c)")
    ''
    """
    found = _COUNTED_LIST.fullmatch(text)
    if found is None or (found["printed"] is None) == (found["given"] is None):
        return ""
    filters = re.sub(r"[\"']", "", found["filter"] + (found["rest"] or "")).replace("\\\\n", "\\n")
    filters = re.sub(r" ?([|{}]) ?", r"\1", re.sub(r"\s+", " ", filters)).strip().replace(";}", "}")
    named = (found["printed"] or found["given"]).strip('"${}')
    return named if filters in _COUNTS_ITEMS else ""


_KEPT_BY = frozenset({"pipeline", "function_definition", "command_substitution", "process_substitution"})
"""Nodes around a command whose output is used elsewhere, or that is called elsewhere."""


def is_printed(node: Node, *, called: bool = False) -> bool:
    """Whether a here-document is only printed on the terminal (``cat <<EOF``), not written, piped or passed on.

    A caller may use the output of a function, so a here-document in one does not count, unless the function is
    ``called`` where nothing uses its output.
    """
    body, around = node.child_by_field_name("body"), node.parent
    if body is None or text_of(body).strip() != "cat":
        return False
    redirects = node.children_by_field_name("redirect")
    kept = {inner.type for each in redirects for inner in (each, *each.named_children)}
    while around is not None:
        kept.add(around.type)
        around = around.parent
    return not kept & ((_KEPT_BY - {"function_definition"} if called else _KEPT_BY) | {"file_redirect"})


def text_of(node: Node) -> str:
    """The text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def branches_of(node: Node) -> Iterator[tuple[Node | None, list[Node]]]:
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


def statements_of_item(item: Node) -> list[Node]:
    """The statements of an item of a ``case``, without its patterns."""
    values = item.children_by_field_name("value")
    return [child for child in item.named_children if child not in values]


def assigned_names(node: Node) -> Iterator[str]:
    """The names of the variables that statements set."""
    name = node.child_by_field_name("name") if node.type == "variable_assignment" else None
    if name is not None and name.type == "variable_name":
        yield text_of(name)
    for child in node.named_children:
        yield from assigned_names(child)


def script_in(word: str) -> str | None:
    """The script in a word: the whole word, or the value of an option (``--command="…"``); None if there is none."""
    script = re.sub(r"^--?[A-Za-z][\w-]*=(?=\s*\S)", "", word)
    is_command = re.search(r"\S\s+-", _SUBSTITUTION.sub("$", script)) or _PROGRAM.match(script)
    return script if is_command and not script.lstrip().startswith("-") else None


_SUBSTITUTION = re.compile(r"\$\((?:[^()]|\([^()]{0,200}\)){0,400}\)|`[^`]{0,400}`")
"""A command whose output a word contains; its own options start nothing else."""
_PROGRAM = re.compile(r"(?:[A-Za-z_]\w{0,60}=\S{0,200}\s+){0,20}(?:python3?|torchrun)\s+\S")
