"""Writes a plain value as YAML text."""

from __future__ import annotations

from typing import Any


def dump(value: Any) -> str:
    """YAML of plain values in their order, one key a line; `parse` reads the same value back."""
    import yaml

    text: str = yaml.dump(value, Dumper=yaml.SafeDumper, sort_keys=False, allow_unicode=True, width=100)
    return text
