"""Commands that a program in Python starts as lists of words, as a shell script with the same lines.

A list is one command if a word of it begins with two dashes. A name stands for the constant that the program assigns
once; words that a branch appends are undecided.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from shlex import quote

from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.other_shells import LARGEST_SCRIPT, RewrittenFile
from clusterspec.exchange.workloads.config_code import syntax_tree
from clusterspec.standard import recent

_STARTS = re.compile(rb"\bsubprocess\b|\bos\.(?:exec|system|spawn)|\bPopen\b|\bmodal\b|\bcreate_subprocess_exec\b")
_OTHER_READERS = re.compile(rb"^(?:from|import) (?:torchtitan|nemo|megatron|nemo_run)\b|\bLLM\(|\bEngineArgs\(", re.M)
"""Files of Python with readers of their own."""
_LEAST_WORDS = 3


def as_started_commands(file: InputFile) -> InputFile:
    """The commands of a program in Python as a script of a shell; any other file as it is."""
    if not file.name.lower().endswith(".py") or isinstance(file, RewrittenFile) or len(file.data) > LARGEST_SCRIPT:
        return file
    if not _STARTS.search(file.data) or _OTHER_READERS.search(file.data) or b"--" not in file.data:
        return file
    return _started_commands(file)


@recent(2)
def _started_commands(file: InputFile) -> InputFile:
    try:
        tree = syntax_tree(file, "Python")
    except FormatError:
        return file
    statements = dict[int, str]()
    names = _constants(tree)
    for node, tests in _statements(tree, 0):
        if text := _command_of(node, names):
            shown = f"if test_of_program_{tests}; then {text}; fi" if tests else text
            statements.setdefault(node.lineno, shown)
    lines = (statements.get(number, "") for number in range(1, file.text.count("\n") + 2))
    return RewrittenFile(file.name, "\n".join(lines).encode(), file.part) if statements else file


def _statements(node: ast.AST, tests: int) -> Iterator[tuple[ast.stmt, int]]:
    """The statements of a program in order, each with the line of the innermost test around it, else 0."""
    for child in ast.iter_child_nodes(node):
        inner = child.lineno if isinstance(child, ast.If | ast.For | ast.While | ast.Match) else tests
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = 0
        if isinstance(child, ast.stmt):
            yield child, tests
        yield from _statements(child, inner)


def _constants(tree: ast.Module) -> dict[str, str]:
    """The texts and numbers that names stand for, by those that the program assigns once."""
    found = dict[str, list[str | None]]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(_constant_text(node.value))
        elif isinstance(node, ast.AugAssign | ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.setdefault(node.target.id, []).append(_constant_text(node.value) if node.value else None)
    return {name: values[0] for name, values in found.items() if len(values) == 1 and values[0] is not None}


def _constant_text(node: ast.expr) -> str | None:
    plain = isinstance(node, ast.Constant) and isinstance(node.value, str | int | float)
    return str(node.value) if plain and isinstance(node, ast.Constant) and not isinstance(node.value, bool) else None


def _command_of(node: ast.stmt, names: dict[str, str]) -> str:
    """A command, or words that are added to one, as a statement of a shell; empty for other statements."""
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return) else None
    if (text := _text_of_command(value, names)) is not None:
        return text
    if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.List):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        words = _words(node.value, names)
        return f"{target.id}=({words})" if isinstance(target, ast.Name) and _is_command(node.value) else ""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and isinstance(node.value, ast.List):
        return f"{node.target.id}+=({_words(node.value, names)})"
    call = node.value if isinstance(node, ast.Expr | ast.Assign | ast.Return) else None
    return _command_of_call(call, names) if isinstance(call, ast.Call) else ""


_PROGRAM = re.compile(r"\s{0,200}(?:torchrun|accelerate|deepspeed|vllm|trtllm-serve|mpirun|srun|python3?)\s")


def _text_of_command(value: ast.expr | None, names: dict[str, str]) -> str | None:
    """The words of a command that a text holds, by itself or as the first argument of a call, on one line."""
    if isinstance(value, ast.Call) and value.args:
        value = value.args[0]
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        text = value.value
    elif isinstance(value, ast.JoinedStr):
        text = "".join(_plain_part(each, names) for each in value.values)
    else:
        return None
    return " ".join(text.replace("\\\n", " ").split()) if _PROGRAM.match(text) and " --" in text else None


def _plain_part(node: ast.expr, names: dict[str, str]) -> str:
    """A part of a text: itself, the constant that a name stands for, or a variable that no line sets."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    inner = node.value if isinstance(node, ast.FormattedValue) else node
    return _word(inner, names).strip("'\"")


def _command_of_call(call: ast.Call, names: dict[str, str]) -> str:
    """The command that a call starts, or the words that it appends to a list."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    first = call.args[0] if call.args else None
    if method in {"append", "extend"} and isinstance(owner, ast.Name) and first is not None:
        items = first if isinstance(first, ast.List) else ast.List([first])
        return f"{owner.id}+=({_words(items, names)})" if method == "append" or isinstance(first, ast.List) else ""
    if isinstance(first, ast.List) and _is_command(first):
        return _words(first, names)
    listed = isinstance(first, ast.Name) and method in {"run", "Popen", "call", "check_call", "execvp", "spawn"}
    return f'"${{{first.id}[@]}}"' if listed and isinstance(first, ast.Name) and first.id not in names else ""


def _is_command(node: ast.List) -> bool:
    words = [each.value for each in node.elts if isinstance(each, ast.Constant)]
    return len(node.elts) >= _LEAST_WORDS and any(isinstance(each, str) and each.startswith("--") for each in words)


def _words(node: ast.List, names: dict[str, str]) -> str:
    return " ".join(_word(each, names) for each in node.elts)


def _word(node: ast.expr, names: dict[str, str]) -> str:
    """One word of a command: a constant, a name that stands for one, or a variable that no line sets."""
    if (text := _constant_text(node)) is not None:
        return quote(text)
    if isinstance(node, ast.Name):
        return quote(names[node.id]) if node.id in names else f"${node.id}"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
        return _word(node.args[0], names)
    if isinstance(node, ast.JoinedStr):
        return "".join(_joined_part(each, names) for each in node.values)
    return '"${EXPRESSION_OF_PROGRAM}"' if not isinstance(node, ast.Starred) else "$EXTRA_ARGS"


def _joined_part(node: ast.expr, names: dict[str, str]) -> str:
    return _word(node.value, names) if isinstance(node, ast.FormattedValue) else _word(node, names)
