"""Scripts within a configuration (YAML) whose variables are keys of the same file, as scripts of a shell.

A key that several entries of a list give has no one value and stays a variable.
"""

from __future__ import annotations

import re
from shlex import quote

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.workloads.keys import flat_leaves

_SCRIPT = re.compile(r"^(?:script|run|command)[ \t]*:[ \t]*[|>][-+]?[ \t]*$", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_]\w{0,60})\}")
_NAME = re.compile(r"[A-Za-z_]\w{0,60}")
LARGEST = 256 << 10


def script_of_template(file: InputFile) -> InputFile | None:
    """The script of a configuration after its variables, on the same lines; None if the file is no such template."""
    if not file.name.endswith((".yaml", ".yml")) or len(file.data) > LARGEST or not _SCRIPT.search(file.text):
        return None
    try:
        yaml = read_yaml(file)
    except FormatError:
        return None
    lines = list(file.lines)
    begin = next(at for at, line in enumerate(lines) if _SCRIPT.fullmatch(line)) + 1
    body = list(lines[begin : _end_of_block(lines, begin)])
    named = {each["name"] for each in _VARIABLE.finditer("\n".join(body))}
    repeated = _names_in_lists(yaml.mapping)
    kept = [""] * len(lines)
    for key, value, line in flat_leaves(yaml.mapping, yaml.line):
        name = key.rpartition(".")[2]
        if name in named - repeated and isinstance(value, str | int | float) and 0 < line < begin:
            kept[line - 1] = f"{name}={quote(str(value))}"
    kept[begin : begin + len(body)] = body
    return InputFile(f"{file.name}.sh", "\n".join(kept).encode(), file.part) if any(kept[:begin]) else None


def _end_of_block(lines: list[str], begin: int) -> int:
    """The number of the first line after a block of indented lines."""
    return next((at for at in range(begin, len(lines)) if lines[at][:1] not in {"", " ", "\t"}), len(lines))


def _names_in_lists(value: object, within: bool = False) -> set[str]:
    """The names of keys inside lists, each of whose entries may give another value."""
    if isinstance(value, list):
        return set().union(*(_names_in_lists(each, True) for each in value))
    if not isinstance(value, dict):
        return set()
    own = {str(key) for key in value if _NAME.fullmatch(str(key))} if within else set()
    return own.union(*(_names_in_lists(each, within) for each in value.values()))
