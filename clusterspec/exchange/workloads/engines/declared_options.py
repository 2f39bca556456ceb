"""Options of a serving engine that an object or values of a chart declare, under the names of ``vllm serve``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterspec.exchange.documents import Yaml
from clusterspec.exchange.shell import Command
from clusterspec.exchange.shell_words import Word
from clusterspec.exchange.workloads.keys import Keys, command_keys
from clusterspec.source import items_of

Path = tuple[str | int, ...]


def started_keys(what: str, line: int) -> Keys:
    """The keys of an engine that is declared at a line."""
    return Keys(command=Command((Word(what, line),)))


def put_all(keys: Keys, values: Any, names: Mapping[str, str], yaml: Yaml, path: Path) -> None:
    """Put the values of a mapping under the names that ``vllm serve`` has for them."""
    for name, option in names.items():
        value = values.get(name) if isinstance(values, dict) else None
        if value is not None and not isinstance(value, dict | list):
            keys.put(option, value, yaml.line(*path, name))


def put_words(keys: Keys, words: Any, yaml: Yaml, path: Path) -> None:
    """Put the options of a list of arguments."""
    listed = [Word(str(word), yaml.line(*path, n)) for n, word in enumerate(items_of(words))]
    if listed:
        keys.values |= command_keys(Command(tuple(listed))).values
