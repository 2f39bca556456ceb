"""What a command writes: files appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from clusterspec.cli import UsageFault


def write_whole(target: Path, data: bytes) -> None:
    """Writes beside the target and moves into place, so that nobody ever sees half a file.

    Raises `UsageFault` when the place cannot be written.
    """
    if target.is_dir():
        raise UsageFault(f"{target}: is a folder; name a file in it")
    if not target.parent.is_dir():
        raise UsageFault(f"{target}: the folder {target.parent} does not exist")
    name = ""
    try:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            name = file.name
            file.write(data)
        Path(name).chmod(_mode(target))
        Path(name).replace(target)
    except OSError as fault:
        if name:
            Path(name).unlink(missing_ok=True)
        raise UsageFault(f"{target}: {fault.strerror}") from None


def _mode(target: Path) -> int:
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
