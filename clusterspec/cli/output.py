"""Output files, written atomically and never over an input."""

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
    from clusterspec.studies import Study


MOST_LINKS = 40
"""Symlinks on the way to a file, as many as Linux follows."""


def write_whole(target: Path, data: bytes) -> None:
    """Write a file atomically: a reader sees either the old or the new content.

    A symlink inside the project is kept, as are the mode and owner of a file; a device or pipe is written directly.
    Raises `UsageFault` if the target cannot be written or is a symlink out of the project.
    """
    place = writable_place(target)
    try:
        if place.exists() and not place.is_file():
            _write_into(place, data)
        else:
            _replace_file(place, data)
    except OSError as fault:
        raise UsageFault(f"{target}: {fault.strerror or fault}") from None


def writable_place(target: Path) -> Path:
    """The file that a path resolves to, after a check that it can be written. Slow commands call this before they
    compute.

    Raises `UsageFault` if the target is a folder, has no folder, leads out of the project or is write-protected.
    """
    try:
        if target.is_dir():
            raise UsageFault(f"{target} is a folder; name a file in it")
        if not target.parent.is_dir():
            raise UsageFault(f"{target}: the folder {target.parent} does not exist")
        place = target.resolve()
        if leads_out_of_project(target, place):
            raise UsageFault(f"{target} is a symbolic link to {place}, outside the project; name that file itself")
        if place.exists() and not os.access(place, os.W_OK):
            raise UsageFault(f"{target}: may not be written")
    except (OSError, RuntimeError) as fault:  # RuntimeError: a cycle of symlinks before Python 3.13
        raise UsageFault(f"{target}: {getattr(fault, 'strerror', None) or fault}") from None
    return place


def leads_out_of_project(target: Path, place: Path) -> bool:
    """Whether a symlink in a path, either the file or one of its folders, leads from the project to the outside.

    The link and the working folder each define a project. Outside of any project, a symlink to a file may only
    lead into its own folder. System devices (`/dev/stdout`) are exempt.
    """
    whole = Path(os.path.abspath(target))  # noqa: PTH100 - links are not to be followed here
    if whole.parts[1:2] in {("dev",), ("proc",)}:
        return False
    here, there = Path.cwd(), Path(os.path.abspath(place))  # noqa: PTH100
    if whole.is_symlink() and not there.is_relative_to(project_root(whole.parent)):
        return True
    followed = islice(_followed_links(Path.cwd() / target), MOST_LINKS)
    if any((root := marked_root(link.parent)) and not there.is_relative_to(root) for link in followed):
        return True
    return whole.is_relative_to(here) and not there.is_relative_to(project_root(here.resolve()))


def _followed_links(path: Path) -> Iterator[Path]:
    """The symlinks that the system follows on an absolute path, in order. Circular links yield forever."""
    place, left = Path(path.anchor), [*reversed(path.parts[1:])]
    while left:
        part = left.pop()
        place = place.parent if part == ".." else place / part
        if place.is_symlink():
            yield place
            goal = place.readlink()
            left += reversed(goal.parts[1:] if goal.is_absolute() else goal.parts)
            place = Path(goal.anchor) if goal.is_absolute() else place.parent


def _write_into(place: Path, data: bytes) -> None:
    """Write to a device or a pipe. Raises `UsageFault` for a pipe without a reader, instead of blocking."""
    try:
        descriptor = os.open(place, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as fault:
        if fault.errno == errno.ENXIO:
            raise UsageFault(f"{place} is a pipe without a reader") from None
        raise
    if hasattr(os, "set_blocking"):
        os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _replace_file(place: Path, data: bytes) -> None:
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


def _copy_mode_and_owner(file: Path, place: Path) -> None:
    """Give a new file the mode and owner of the file it replaces, else the defaults."""
    if not place.exists():
        mask = os.umask(0)
        os.umask(mask)
        file.chmod(0o666 & ~mask)
        return
    before = place.stat()
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(file, before.st_uid, before.st_gid)
    file.chmod(stat.S_IMODE(before.st_mode) & 0o777)


def refuse_input_as_output(
    args: argparse.Namespace, option: str, target: str, inputs: Iterable[str | os.PathLike[str]], *configs: Config
) -> None:
    """Raises `UsageFault` if an output is an input of the call.

    Inputs are ``inputs``, the configurations of the call, and all files in folders of catalogs and rules: the
    folders that the configurations and the call name, and the shipped catalog.
    """
    refuse_listed_as_output(
        option, target, [*inputs, *filter(None, [args.config, *(config.file for config in configs)])]
    )
    own = [folder for config in configs for folder in (*config.catalog, *config.rules)]
    refuse_output_in_folders(option, target, [*own, *map(Path, args.catalog), resources.catalog()])


def refuse_study_as_output(args: argparse.Namespace, option: str, target: str, study: Study) -> None:
    """Raises `UsageFault` if an output is an input of a study (see `refuse_input_as_output`)."""
    refuse_input_as_output(args, option, target, [*study.sources, *study.logs], study.settings.config)


def refuse_listed_as_output(option: str, target: str, names: Iterable[str | os.PathLike[str]]) -> None:
    """Raises `UsageFault` if an output is one of the inputs."""
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            if Path(name).samefile(target):
                raise UsageFault(f"{option} {target} is an input file; name another one")


def refuse_output_in_folders(option: str, target: str, folders: Iterable[Path]) -> None:
    """Raises `UsageFault` if an output is in a catalog or rules folder that the call reads."""
    for folder in folders:
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            if Path(target).resolve().is_relative_to(folder.resolve()):
                raise UsageFault(f"{option} {target} is in the folder {folder}, an input; name another file")
