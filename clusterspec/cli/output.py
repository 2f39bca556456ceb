"""What a command writes: files appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from clusterspec.cli import UsageFault


def write_whole(target: Path, data: bytes) -> None:
    """Writes beside the target and moves into place, so that nobody ever sees half a file.

    A link stays a link, a file keeps its mode and its owner, and a device or a pipe is written into.
    Raises `UsageFault` when the place cannot be written.
    """
    if target.is_dir():
        raise UsageFault(f"{target}: is a folder; name a file in it")
    if not target.parent.is_dir():
        raise UsageFault(f"{target}: the folder {target.parent} does not exist")
    try:
        place = target.resolve()
        if place.exists() and not os.access(place, os.W_OK):
            raise UsageFault(f"{target}: may not be written")
        if place.exists() and not place.is_file():
            place.write_bytes(data)
        else:
            _replace(place, data)
    except (OSError, RuntimeError) as fault:  # RuntimeError: a circle of links before Python 3.13
        raise UsageFault(f"{target}: {getattr(fault, 'strerror', None) or fault}") from None


def _replace(place: Path, data: bytes) -> None:
    name = ""
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name[:32]}.", delete=False) as file:
            name = file.name
            file.write(data)
        _dress(Path(name), place)
        Path(name).replace(place)
    except BaseException:
        if name:
            Path(name).unlink(missing_ok=True)
        raise


def _dress(made: Path, place: Path) -> None:
    """Gives a new file the mode and the owner of the one it takes the place of, else the usual ones."""
    if not place.exists():
        mask = os.umask(0)
        os.umask(mask)
        made.chmod(0o666 & ~mask)
        return
    before = place.stat()
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(made, before.st_uid, before.st_gid)
    made.chmod(before.st_mode & 0o777)


def keep_apart(option: str, target: str, names: Iterable[str]) -> None:
    """Raises `UsageFault` where what is to be written is one of the files that are read."""
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            if Path(name).samefile(target):
                raise UsageFault(f"{option} {target}: is a spec that is read; name another file")
