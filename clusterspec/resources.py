"""Paths of the files shipped with the program, and its tables; no other module builds the paths.

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


def catalog_table(name: str) -> list[dict[str, str]]:
    """The rows of a table of the catalog, a CSV file in the folder of its entries, by the names of their columns."""
    import csv  # most runs read none

    with (catalog() / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def templates() -> FilePath:
    """The folder of report templates, style sheets and the starting spec."""
    return _folder_path("templates")
