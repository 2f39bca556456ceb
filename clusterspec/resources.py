"""Finds the files that ship with the program. Nobody else builds a path to them.

In a checkout (and an editable install) the folders stand at the top of the repository; in a
wheel they lie inside the package, under ``_data``.
"""

from __future__ import annotations

from pathlib import Path as FilePath

_PACKAGE = FilePath(__file__).resolve().parent


def _folder(name: str) -> FilePath:
    shipped = _PACKAGE / "_data" / name
    return shipped if shipped.is_dir() else _PACKAGE.parent / name


def schemas() -> FilePath:
    """The folder of JSON Schemas."""
    return _folder("schemas")


def catalog() -> FilePath:
    """The folder of catalog entries, one folder a kind."""
    return _folder("catalog")


def templates() -> FilePath:
    """The folder of report templates, style sheets and the starting spec."""
    return _folder("templates")
