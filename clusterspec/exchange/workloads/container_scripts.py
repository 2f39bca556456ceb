"""The commands that containers start as lists of words, as a script of one command each."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import Any

from clusterspec.exchange.documents import read_documents
from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.shell import Command
from clusterspec.exchange.workloads.listed_commands import container_commands

MOST_CONTAINERS = 200


def script_of_containers(file: InputFile) -> InputFile | None:
    """A script with the commands that a file lists word by word, each word on its line; None if it lists none.

    Readers of launches look for programs that two words name (``tune run``) and for options after a blank.
    """
    try:
        documents = read_documents(file)
    except FormatError:
        return None
    lines: dict[int, str] = {}
    for yaml in documents:
        for value, path in mappings_in(yaml.mapping, ()):
            for command in container_commands(yaml, value, path) if {"command", "args"} & value.keys() else ():
                if not lines.keys() & {word.line for word in command.words}:
                    lines |= _lines_of(command)
    text = "\n".join(lines.get(n, "") for n in range(1, max(lines, default=0) + 1))
    return InputFile(file.name, f"{text}\n".encode(), objects=file.uncommented) if lines else None


def mappings_in(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[dict[str, Any], tuple[str | int, ...]]]:
    """The mappings in a value, itself included, each with its path."""
    if isinstance(value, dict):
        yield value, path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from mappings_in(inner, (*path, key))


def _lines_of(command: Command) -> dict[int, str]:
    """The lines of a command by number, each but the last with a backslash; none of a single text or a script."""
    words = command.words
    first, last = min(word.line for word in words), max(word.line for word in words)
    if len(words) < 2 or first < 1 or any("\n" in word.text for word in words):
        return {}
    lines = {n: " ".join(quote(word.text) for word in words if word.line == n) for n in range(first, last + 1)}
    return {n: f"{line} \\" if n < last else line for n, line in lines.items()}
