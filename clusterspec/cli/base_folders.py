"""Folders of the base revision, for ``--trust base``: catalogs, company rules and ``.gitignore`` files.

The files of a folder are copied from the commit to a temporary folder, which is removed when the program exits.
"""

from __future__ import annotations

import argparse
import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from clusterspec.cli import UsageFault
from clusterspec.cli.base_revision import base, relative_to_root
from clusterspec.cli.git import blob_of, tree
from clusterspec.config import Config
from clusterspec.records import replace

MOST = 5_000
"""Files of a folder that are read; the shipped catalog has some 400."""
LARGEST = 1024 * 1024
"""Bytes of the largest file that is read."""


def with_base_folders(config: Config, folder: Path, args: argparse.Namespace) -> Config:
    """The configuration of a folder, with catalogs and rules of the base revision.

    Raises `UsageFault` if the base revision lacks one of their folders.
    """
    return replace(
        config,
        catalog=tuple(base_folder(path, folder, args) for path in config.catalog),
        rules=tuple(base_folder(path, folder, args) for path in config.rules),
    )


def base_folder(path: Path, folder: Path, args: argparse.Namespace) -> Path:
    """A copy of a folder from the base revision; the path itself if it is outside the repository of ``folder``.

    Raises `UsageFault` if the base revision lacks it or it has too many files.
    """
    root, commit = base(folder)
    relative = relative_to_root(path, root)
    if relative is None:
        return path
    copied = _copies(args) / commit / relative
    if not copied.is_dir():
        _copy(root, commit, relative, copied)
    return copied


@cache
def base_ignores(folder: Path) -> Callable[[Path], bytes | None]:
    """A function that returns the bytes of a ``.gitignore`` in the base revision; None if there is none."""
    root, commit = base(folder)
    found = {root / name: one for name, one in tree(root, commit, "").items() if Path(name).name == ".gitignore"}

    def held(path: Path) -> bytes | None:
        return blob_of(root, found[path]) if path in found else None

    return held


def _copies(args: argparse.Namespace) -> Path:
    """The temporary folder of this call, shared by its worker processes."""
    if getattr(args, "base_copies", None) is None:
        args.base_copies = tempfile.mkdtemp(prefix="clusterspec-")
        atexit.register(_remove, args.base_copies, os.getpid())
    return Path(args.base_copies)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(root: Path, commit: str, relative: str, target: Path) -> None:
    """Copy the regular files of a folder of a commit atomically."""
    found = {name: one for name, one in tree(root, commit, relative).items() if name.endswith((".yaml", ".yml"))}
    if not found:
        raise UsageFault(f"--trust base: the folder {relative} holds no YAML in the base revision")
    if len(found) > MOST:
        raise UsageFault(f"--trust base: the folder {relative} holds more than {MOST} files")
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=target.parent))
    for name, one in found.items():
        place = made / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes((blob_of(root, one) or b"")[: LARGEST + 1])
    try:
        made.rename(target)
    except OSError:
        if not target.is_dir():  # another process has copied it in the meantime
            raise
        shutil.rmtree(made, ignore_errors=True)
