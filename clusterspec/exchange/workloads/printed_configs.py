"""Configurations that a program prints at startup as a Python dictionary (``pprint``), in the middle of its log.

verl prints its own from a task of Ray, which writes ``(TaskRunner pid=123)`` before each line (verl-project/verl
1dda039b, verl/trainer/main_ppo.py), NeMo RL below ``Final config:`` (NVIDIA-NeMo/RL 7ea279ab, examples/run_grpo.py).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from clusterspec.exchange.import_result import InputFile
from clusterspec.exchange.workloads.keys import Keys

MOST_LINES = 5_000
"""Maximum lines of one printed configuration; those of verl have some 600."""
MOST_STARTS = 40
"""Maximum lines that may begin a printed configuration; a log has one for each run."""
_PAINT = r"(?:\x1b\[[0-9;]{0,8}m){0,3}"
_TASK = rf"{_PAINT}(?:\([A-Za-z_]\w{{0,60}} pid=[0-9]{{1,9}}[^()\n]{{0,60}}\){_PAINT} )?"
_LINE = re.compile(rf"({_TASK})(\{{'\w.*|[ ]+(?:[\"'\[{{(0-9-]|True|False|None).*)")
"""A first or later line of a dictionary; others are warnings that the same task prints in between."""
_START = re.compile(rf"{_TASK}\{{'\w{{1,60}}': \{{")
_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[\[\](){}]")
_OBJECT = re.compile(r"(?<=: )<[^<>\n]{1,200}>(?=[,}\]])")
"""A value that Python prints without a form that it can read, such as an enumerated one."""


def printed_key(name: str) -> re.Pattern[str]:
    """A line of a printed configuration with an outermost key of a name."""
    return re.compile(rf"^{_TASK}[{{ ]'{name}': \{{", re.MULTILINE)


def printed_configurations(file: InputFile, root: str) -> list[Keys]:
    """The configurations with the key ``root`` that a log holds, in its order, each without null values."""
    found = []
    for numbers, text in _printed_texts(file):
        try:
            tree = ast.parse(_OBJECT.sub("None", text), mode="eval").body
        except (SyntaxError, RecursionError, ValueError, MemoryError):
            continue
        if not isinstance(tree, ast.Dict):
            continue
        keys = Keys()
        for name, value, line in _leaves(tree, ""):
            keys.put(name, value, numbers[min(line, len(numbers)) - 1])
        if any(name.startswith(f"{root}.") for name in keys.values):
            found.append(keys)
    return found


def _printed_texts(file: InputFile) -> Iterator[tuple[list[int], str]]:
    """The texts of printed dictionaries, each with the numbers of its lines in the log."""
    lines = file.text.split("\n")
    starts = [number for number, line in enumerate(lines) if "{'" in line and _START.match(line)]
    for start in starts[:MOST_STARTS]:
        task, depth, numbers, held = "", 0, [], []
        for number in range(start, min(start + MOST_LINES, len(lines))):
            match = _LINE.match(lines[number])
            task = task or (match[1] if match else "")
            if match is None or match[1] != task:
                continue  # of another task, whose lines Ray prints in between
            numbers.append(number + 1)
            held.append(match[2])
            depth += sum(1 if mark[0] in "[({" else -1 for mark in _TOKEN.findall(match[2]) if mark[0] not in "'\"")
            if depth <= 0:
                yield numbers, "\n".join(held)
                break


def _leaves(node: ast.Dict, prefix: str) -> Iterator[tuple[str, Any, int]]:
    """The leaves of a dictionary that Python can read, with dotted name and line; without null values."""
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant):
            continue
        name = f"{prefix}{key.value!s}"
        if isinstance(value, ast.Dict):
            yield from _leaves(value, f"{name}.")
            continue
        try:
            held = ast.literal_eval(value)
        except (ValueError, TypeError, RecursionError):
            continue  # such as inf
        if held is not None:
            yield name, held, key.lineno
