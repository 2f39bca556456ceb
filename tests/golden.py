"""Golden files: output kept next to the tests. ``UPDATE_GOLDEN=1`` rewrites them."""

from __future__ import annotations

import os
from pathlib import Path


def assert_golden(path: Path, text: str) -> None:
    """The text equals the file."""
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.is_file(), f"{path} is missing: run the tests with UPDATE_GOLDEN=1 and look at it"
    assert text == path.read_text("utf-8"), f"{path.name} has changed: look at it, then run with UPDATE_GOLDEN=1"
