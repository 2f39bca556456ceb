"""Readers of files that a spec names: the output of collective and link benchmarks, one per tool, and traces."""

from __future__ import annotations

from pathlib import Path


def path_in_folder(name: str, folder: Path) -> Path | None:
    """The file that a spec in ``folder`` names; None for one outside of the folder.

    Raises `ValueError` for a name that cannot be opened.
    """
    try:
        path = (folder / name).resolve()
        inside = path.is_relative_to(folder.resolve()) and not Path(name).is_absolute()
    except (OSError, ValueError, RuntimeError):
        raise ValueError(name) from None
    return path if inside else None
