"""Plain values as YAML text."""

from __future__ import annotations

from typing import Any


def dump(value: Any) -> str:
    """The YAML text of a plain value, one key per line; `parse` returns the same value."""
    import yaml

    text: str = yaml.dump(value, Dumper=yaml.SafeDumper, sort_keys=False, allow_unicode=True, width=100)
    return text
