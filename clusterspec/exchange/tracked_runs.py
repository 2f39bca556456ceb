"""Configurations that Weights & Biases keeps of a run (``config.yaml``): each key has its value under ``value``."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import InputFile

_OF_TRACKER = frozenset({"_wandb", "wandb_version"})
"""Keys of Weights & Biases itself (wandb/wandb, wandb/sdk/internal/sender.py)."""
_MARKS = (b"_wandb:", b"wandb_version:")
_LARGEST = 2 << 20
"""Maximum size of a configuration in bytes. Larger files, which are logs, are not searched: each format asks."""
_OUTER = re.compile(r"(?P<name>[^\s#:-][^:\n]{0,200}):[ \t]*(?P<value>\S.*)?")
_INNER = re.compile(r"(?P<lead>[ ]+)(?P<name>value|desc):[ ]*(?P<value>.*)")


def without_tracker(file: InputFile) -> InputFile:
    """The configuration of a run as the program had it, with its line numbers; any other file as it is.

    >>> tracked = "_wandb:\\n    value:\\n        m: []\\nmodel:\\n    value:\\n        tp: 2\\n"
    >>> without_tracker(InputFile("config.yaml", tracked.encode())).text
    '\\n\\n\\n\\nmodel:\\n    tp: 2\\n'
    """
    if len(file.data) > _LARGEST:
        return file
    if not file.data.startswith(_MARKS) and not any(b"\n" + mark in file.data for mark in _MARKS):
        return file
    found = _unwrapped_lines(file.text.split("\n"))
    return file if found is None else InputFile(file.name, "\n".join(found).encode(), file.part)


def _unwrapped_lines(lines: list[str]) -> list[str] | None:
    """The lines with each value directly under its key; None if a key has another part than a value and a text."""
    found: list[str] = []
    name, lead, kept = "", "", False
    for line in lines:
        if outer := _OUTER.fullmatch(line):
            name, lead, kept = outer["name"], "", False
            if outer["value"] and name not in _OF_TRACKER:
                return None
            found.append("")
        elif (inner := _INNER.fullmatch(line)) and lead in {"", inner["lead"]}:
            lead, kept = inner["lead"], inner["name"] == "value" and name not in _OF_TRACKER
            found.append(f"{name}: {inner['value']}".rstrip() if kept else "")
        elif not line.strip() or (lead and line.startswith((f"{lead} ", f"{lead}- "))):
            found.append(line.removeprefix(lead) if kept else "")
        else:
            return None
    return found
