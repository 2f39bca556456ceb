"""File names independent of the current folder: relative to the project and to the repository."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path as FilePath

from clusterspec.document.extends import project_root
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class FileName:
    """The path of a file from the root of its project, used in fingerprints, and of its repository.

    Both use ``/``. The repository is the nearest parent folder with ``.git``, else the project.
    """

    project: str
    repository: str


def file_names(names: Iterable[str]) -> dict[str, FileName]:
    """The names of files, by the names given by the caller."""
    return {name: file_name(name) for name in names}


def file_name(name: str) -> FileName:
    """The names of a file, which need not exist; symlinks in its folder are resolved."""
    folder, last = os.path.split(os.path.abspath(name))  # noqa: PTH100 - as the caller wrote it, `..` taken out
    try:
        return FileName(*(before + last for before in _folder(folder)))
    except (OSError, ValueError, RuntimeError):  # a name that no folder can have
        return FileName(name, name)


@lru_cache(maxsize=4096)
def _folder(folder: str) -> tuple[str, str]:
    """What the names of a folder's files begin with: its path from the root of the project and of the repository."""
    place = os.path.realpath(folder)
    relative = (os.path.relpath(place, root).replace(os.sep, "/") for root in _roots(folder))
    project, repository = ("" if path == "." else f"{path}/" for path in relative)
    return project, repository


def _roots(folder: str) -> tuple[str, str]:
    """The roots of the project and of the repository of a folder."""
    project = project_root(FilePath(folder))
    for candidate in (project, *project.parents):
        if os.path.exists(candidate / ".git"):  # noqa: PTH110 - never raises
            return str(project), str(candidate)
    return str(project), str(project)


def real(name: str) -> str:
    """The path of a file with symlinks resolved."""
    return _real(os.path.abspath(name))  # noqa: PTH100


@lru_cache(maxsize=4096)
def _real(name: str) -> str:
    try:
        return os.path.realpath(name)
    except (OSError, ValueError):
        return name
