"""Output files of commands: written atomically, and never over an input."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from clusterspec import resources
from clusterspec.cli import UsageFault
from clusterspec.document import marked_root, project_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.config import Config
    from clusterspec.pipeline import Study


MOST_LINKS = 40
"""Symlinks on the way to a file, as many as Linux follows."""


def write_whole(target: Path, data: bytes) -> None:
    """Write a file atomically: a reader sees either the old or the new content.

    A symlink inside the project is kept, as are the mode and owner of a file; a device or pipe is written directly.
    Raises `UsageFault` if the target cannot be written or is a symlink out of the project.
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
    except (OSError, RuntimeError) as fault:  # RuntimeError: a cycle of symlinks before Python 3.13
        raise UsageFault(f"{target}: {getattr(fault, 'strerror', None) or fault}") from None


def leads_out(target: Path, place: Path) -> bool:
    """Whether a file of a project is reached through a symlink, its own or a folder's, that ends outside the project.

    The project is that of the link and that of the working folder. Outside of any project, a symlink to a file may only
    lead into its own folder. System devices (`/dev/stdout`) are exempt.
    """
    whole = Path(os.path.abspath(target))  # noqa: PTH100 - links are not to be followed here
    if whole.parts[1:2] in {("dev",), ("proc",)}:
        return False
    here, there = Path.cwd(), Path(os.path.abspath(place))  # noqa: PTH100
    if whole.is_symlink() and not there.is_relative_to(project_root(whole.parent)):
        return True
    followed = islice(_links(Path.cwd() / target), MOST_LINKS)
    if any((root := marked_root(link.parent)) and not there.is_relative_to(root) for link in followed):
        return True
    return whole.is_relative_to(here) and not there.is_relative_to(project_root(here.resolve()))


def _links(path: Path) -> Iterator[Path]:
    """The symlinks that the system follows on the way to an absolute path, in order; without end where they circle."""
    place, left = Path(path.anchor), [*reversed(path.parts[1:])]
    while left:
        part = left.pop()
        place = place.parent if part == ".." else place / part
        if place.is_symlink():
            yield place
            goal = place.readlink()
            left += reversed(goal.parts[1:] if goal.is_absolute() else goal.parts)
            place = Path(goal.anchor) if goal.is_absolute() else place.parent


def _into(place: Path, data: bytes) -> None:
    """Write to a device or a pipe. Raises `UsageFault` for a pipe without a reader, instead of blocking."""
    try:
        descriptor = os.open(place, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as fault:
        if fault.errno == errno.ENXIO:
            raise UsageFault(f"{place}: is a pipe without a reader") from None
        raise
    if hasattr(os, "set_blocking"):
        os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _replace(place: Path, data: bytes) -> None:
    """Write a temporary file in the same folder, flush it to disk, and rename it."""
    import tempfile

    name = ""
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=f".{place.name[:32]}.", delete=False) as file:
            name = file.name
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _copy_mode_and_owner(Path(name), place)
        Path(name).replace(place)
    except BaseException:
        if name:
            Path(name).unlink(missing_ok=True)
        raise


def _copy_mode_and_owner(made: Path, place: Path) -> None:
    """Give a new file the mode and owner of the file it replaces, else the defaults."""
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


def keep_inputs(
    args: argparse.Namespace, option: str, target: str, read: Iterable[str | os.PathLike[str]], *configs: Config
) -> None:
    """Raises `UsageFault` if an output is an input of the call.

    Inputs are the files that it ``read``, its configurations, and all files in a folder of a catalog or of rules: those
    of the configurations, of the call, and the shipped catalog.
    """
    keep_apart(option, target, [*read, *filter(None, [args.config, *(config.file for config in configs)])])
    own = [folder for config in configs for folder in (*config.catalog, *config.rules)]
    keep_out(option, target, [*own, *map(Path, args.catalog), resources.catalog()])


def keep_study(args: argparse.Namespace, option: str, target: str, study: Study) -> None:
    """Raises `UsageFault` if an output is an input of a study (see `keep_inputs`)."""
    keep_inputs(args, option, target, [*study.sources, *study.logs], study.settings.config)


def keep_apart(option: str, target: str, names: Iterable[str | os.PathLike[str]]) -> None:
    """Raises `UsageFault` if an output is one of the inputs."""
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            if Path(name).samefile(target):
                raise UsageFault(f"{option} {target}: is an input file; name another one")


def keep_out(option: str, target: str, folders: Iterable[Path]) -> None:
    """Raises `UsageFault` if an output is in a folder of a catalog or of rules that is read."""
    for folder in folders:
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            if Path(target).resolve().is_relative_to(folder.resolve()):
                raise UsageFault(f"{option} {target}: is in the folder {folder}, an input; name another file")
