"""Path patterns in ``.gitignore`` syntax, and the ``.gitignore`` files of a project."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from clusterspec.config.gitignore import MOST, compiled, decided

LARGEST = 256 * 1024
"""Bytes of a ``.gitignore`` that are read."""
Data = Callable[[Path], bytes | None]
"""Returns the bytes of a file; None if there is none."""


def matches(patterns: Iterable[str], root: Path, path: str, *, folder: bool = False) -> bool:
    """Whether a path matches one of the patterns, which are relative to ``root``."""
    given = tuple(patterns)
    if not given:
        return False
    relative = os.path.relpath(os.path.abspath(path), root).replace(os.sep, "/")  # noqa: PTH100
    if relative.startswith("../") or relative == ".":
        return False
    return bool(decided(compiled(given), relative, folder))


class Ignored:
    """The paths ignored by the ``.gitignore`` files of a repository."""

    def __init__(self, start: str, data: Data | None = None) -> None:
        self._data = data or _data
        folder = Path(os.path.abspath(start))  # noqa: PTH100
        above = (folder, *folder.parents)
        self._root = next((one for one in above if os.path.exists(one / ".git")), folder)  # noqa: PTH110
        self._patterns: dict[Path, tuple[str, ...]] = {}
        self._above: dict[str, list[tuple[Path, tuple[str, ...]]]] = {}

    def __call__(self, path: str, *, folder: bool) -> bool:
        """Whether a file or folder is ignored; a deeper ``.gitignore`` has precedence."""
        place = os.path.abspath(path)  # noqa: PTH100
        for parent, patterns in self._that_apply(os.path.dirname(place)):  # noqa: PTH120
            relative = Path(place).relative_to(parent).as_posix()
            answer = decided(compiled(patterns), relative, folder)
            if answer is not None:
                return answer
        return False

    def _that_apply(self, folder: str) -> list[tuple[Path, tuple[str, ...]]]:
        """The folders from ``folder`` up to the root that have patterns, with these."""
        if folder not in self._above:
            parents = (Path(folder), *Path(folder).parents)
            if self._root in parents:
                parents = parents[: parents.index(self._root) + 1]
            self._above[folder] = [(parent, patterns) for parent in parents if (patterns := self._of(parent))]
        return self._above[folder]

    def _of(self, folder: Path) -> tuple[str, ...]:
        if folder not in self._patterns:
            self._patterns[folder] = _lines(self._data(folder / ".gitignore"))
        return self._patterns[folder]


def _data(path: Path) -> bytes | None:
    """The bytes of a ``.gitignore``; None of one that is absent, no file or unreadable."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return file.read(LARGEST)
    except OSError:
        return None


def _lines(data: bytes | None) -> tuple[str, ...]:
    """The patterns of a ``.gitignore``."""
    text = (data or b"")[:LARGEST].decode("utf-8", "replace")
    return tuple(line for line in text.split("\n")[:MOST] if line)
