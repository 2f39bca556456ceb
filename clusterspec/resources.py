"""Paths of the files shipped with the program; no other module builds them.

In a checkout and an editable install the folders are at the root of the repository; in a wheel they
are in the package, under ``_data``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path as FilePath

_PACKAGE = FilePath(__file__).resolve().parent


@cache
def _folder_path(name: str) -> FilePath:
    shipped = _PACKAGE / "_data" / name
    return shipped if shipped.is_dir() else _PACKAGE.parent / name


def schemas() -> FilePath:
    """The folder of JSON Schemas."""
    return _folder_path("schemas")


def catalog() -> FilePath:
    """The folder of catalog entries, with one folder per kind."""
    return _folder_path("catalog")


def templates() -> FilePath:
    """The folder of report templates, style sheets and the starting spec."""
    return _folder_path("templates")
