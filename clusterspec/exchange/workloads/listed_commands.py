"""Commands that a YAML document or a Python file holds as lists of words, and the scripts among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from shlex import quote
from typing import Any

from clusterspec.exchange.documents import Yaml, read_documents
from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.shell import Command, Word, script_of


def listed_commands(file: InputFile) -> list[Command]:
    """The lists of words, one argument each, that a YAML document or a Python file holds."""
    if not _LISTED.search(file.text):
        return []
    try:
        documents = read_documents(file)
    except FormatError:
        return []
    return [command for each in documents for command in _lists_of(each, each.value, ())]


_LISTED = re.compile(r"(?:^|[{,])[ \t]*(?:-[ \t]+)?\"?(?:args|command|cmd|commands)\"?[ \t]*:", re.MULTILINE)


def _lists_of(yaml: Yaml, value: Any, path: tuple[str | int, ...]) -> Iterator[Command]:
    """The commands of a YAML value: ``command`` and ``args`` of one mapping are one, scripts among them are read.

    ``commands`` of dstack are lines of one script.
    """
    if isinstance(value, dict):
        yield from _script_lines(yaml, value, path)
        words = [
            word for key in ("command", "cmd", "args") for word in _listed_words(yaml, value.get(key), (*path, key))
        ]
        if words:
            yield Command(tuple(words))
        for word in words:
            if re.search(r"\s--?[A-Za-z]", word.text):
                inner = script_of(word.text)
                yield from (
                    Command(tuple(_word_on_line(each, word.line) for each in found.words)) for found in inner.commands
                )
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _lists_of(yaml, inner, (*path, key))


def _script_lines(yaml: Yaml, value: dict[str, Any], path: tuple[str | int, ...]) -> Iterator[Command]:
    """The commands of a list of script lines, after the variables that ``env`` beside it sets (``NAME=value``)."""
    lines = _listed_words(yaml, value.get("commands"), (*path, "commands"))
    if not isinstance(value.get("commands"), list) or not lines:
        return
    sets = _listed_words(yaml, value.get("env"), (*path, "env"))
    pairs = [(word, *word.text.partition("=")) for word in sets]
    lines = [
        *(word._replace(text=f"{name}={quote(text)}") for word, name, _, text in pairs if name.isidentifier() and text),
        *lines,
    ]
    script = script_of("\n".join(word.text.replace("\n", " ") for word in lines))
    yield from (
        Command(tuple(word._replace(line=lines[min(word.line, len(lines)) - 1].line) for word in each.words))
        for each in script.commands
    )


def _listed_words(yaml: Yaml, value: Any, path: tuple[str | int, ...]) -> list[Word]:
    if isinstance(value, str):
        return [Word(value, yaml.line(*path))]
    listed = enumerate(value) if isinstance(value, list) else ()
    return [Word(str(item), yaml.line(*path, n)) for n, item in listed if isinstance(item, str | int | float)]


def _word_on_line(word: Word, line: int) -> Word:
    return word._replace(line=word.line + line - 1)
