"""What a command writes: files appear whole or not at all, in their place, and never over what was read."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from clusterspec.cli import UsageFault
from clusterspec.document import project_root


def write_whole(target: Path, data: bytes) -> None:
    """Writes beside the target and moves into place, so that a reader sees the old file or the new one.

    A link inside the project stays a link, a file keeps its mode and its owner, and a device or a pipe is written
    into. Raises `UsageFault` when the place cannot be written, or a link leads out of the project.
    """
    try:
        if target.is_dir():
            raise UsageFault(f"{target}: is a folder; name a file in it")
        if not target.parent.is_dir():
            raise UsageFault(f"{target}: the folder {target.parent} does not exist")
        place = target.resolve()
        if leads_out(target, place):
            raise UsageFault(f"{target}: is a symbolic link to {place}, outside the project; name that file itself")
        if place.exists() and not os.access(place, os.W_OK):
            raise UsageFault(f"{target}: may not be written")
        if place.exists() and not place.is_file():
            _into(place, data)
        else:
            _replace(place, data)
    except (OSError, RuntimeError) as fault:  # RuntimeError: a circle of links before Python 3.13
        raise UsageFault(f"{target}: {getattr(fault, 'strerror', None) or fault}") from None


def leads_out(target: Path, place: Path) -> bool:
    """Whether a file of the project is a link, or lies behind one, that ends outside of the project.

    A link that the caller names outside of any project may lead only into its own folder. The devices of the system
    (`/dev/stdout`) are links of another kind.
    """
    whole = Path(os.path.abspath(target))  # noqa: PTH100 - links are not to be followed here
    if whole.parts[1:2] in {("dev",), ("proc",)}:
        return False
    here, there = Path.cwd(), Path(os.path.abspath(place))  # noqa: PTH100
    if whole.is_symlink() and not there.is_relative_to(project_root(whole.parent)):
        return True
    return whole.is_relative_to(here) and not there.is_relative_to(project_root(here.resolve()))


def _into(place: Path, data: bytes) -> None:
    """Writes into a device or a pipe; one that no one reads is refused instead of waited for."""
    try:
        descriptor = os.open(place, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as fault:
        if fault.errno == errno.ENXIO:
            raise UsageFault(f"{place}: is a pipe that nobody reads") from None
        raise
    if hasattr(os, "set_blocking"):
        os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _replace(place: Path, data: bytes) -> None:
    """Writes a new file beside the place, flushes it to the disk, and moves it there."""
    import tempfile

    name = ""
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name[:32]}.", delete=False) as file:
            name = file.name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
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
    made.chmod(stat.S_IMODE(before.st_mode) & 0o777)


def keep_apart(option: str, target: str, names: Iterable[str | os.PathLike[str]]) -> None:
    """Raises `UsageFault` if what is to be written is one of the files that are read."""
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            if Path(name).samefile(target):
                raise UsageFault(f"{option} {target}: is a file that is read; name another one")


def keep_out(option: str, target: str, folders: Iterable[Path]) -> None:
    """Raises `UsageFault` if what is to be written lies in a catalog that is read."""
    for folder in folders:
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            if Path(target).resolve().is_relative_to(folder.resolve()):
                raise UsageFault(f"{option} {target}: lies in the catalog {folder}, which is read; name another place")
