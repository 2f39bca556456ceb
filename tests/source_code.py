"""The modules of the package whose text says something: parsing all of them takes seconds, reading them none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "clusterspec"


@cache
def texts() -> dict[Path, str]:
    """The text of every module, by path."""
    return {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def modules_with(pattern: str) -> Iterator[tuple[Path, str]]:
    """The modules in whose text a regular expression is found, with their texts."""
    wanted = re.compile(pattern)
    return ((path, text) for path, text in texts().items() if wanted.search(text))
