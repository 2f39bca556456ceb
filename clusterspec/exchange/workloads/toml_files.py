"""Keys of configurations in TOML, each with its line."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from clusterspec.config import DEEPEST, has_deeply_dotted_key
from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.workloads.keys import Keys, flat_leaves

LARGEST_TOML = 256 * 1024
"""Bytes of the largest TOML file read: tables take some 500 times the space of their text."""
_KEY = re.compile(r"\"?([A-Za-z0-9_-]{1,80})\"?\s*=")


def toml_keys(file: InputFile) -> Keys:
    """The keys of a TOML file by their dotted names. Raises `FormatError` if it is no TOML."""
    keys, lines = Keys(), _key_lines(file)
    for name, value, line in flat_leaves(_toml_value(file), lambda *path: lines.get(".".join(map(str, path)), 0)):
        keys.put(name, value, line)
    return keys


def _toml_value(file: InputFile) -> dict[str, Any]:
    file.refuse_oversized("TOML", LARGEST_TOML)
    if has_deeply_dotted_key(file.text):
        raise FormatError(f"a key of more than {DEEPEST} parts, the maximum for TOML")
    try:
        return tomllib.loads(file.text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as fault:
        match = re.search(r"line ([0-9]+)", str(fault))
        raise FormatError(
            f"no TOML: {str(fault).split(' (at')[0][:80].lower()}", int(match[1]) if match else 0
        ) from None


def _key_lines(file: InputFile) -> dict[str, int]:
    """The line of every key, by its dotted name with the table."""
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(file.lines, 1):
        text = line.strip()
        if text.startswith("["):
            table = text.split("]")[0].strip("[ ")
        elif match := _KEY.match(text):
            found.setdefault(f"{table}.{match[1]}".lstrip("."), number)
    return found
