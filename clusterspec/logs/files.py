"""The logs of collective benchmarks that a spec names: read from its folder, and bounded in bytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path as FilePath

from clusterspec.logs.nccl import LARGEST, NcclLog, NotALogError, read_log

MOST_BYTES = 4 * LARGEST
"""Bytes of all logs of one spec."""


def read_logs(names: Iterable[str], folder: FilePath) -> dict[str, NcclLog | NotALogError]:
    """The logs of some names, relative to the folder of a spec; of a file that is no log the reason."""
    logs = SpecLogs(folder)
    return {name: logs.named(name) for name in names}


class SpecLogs:
    """The logs of one spec. Each is read once, also where it is none; together they have at most `MOST_BYTES`."""

    def __init__(self, folder: FilePath) -> None:
        self.folder = folder
        self.left = MOST_BYTES
        self.known: dict[str, NcclLog | NotALogError] = {}

    def named(self, name: str) -> NcclLog | NotALogError:
        """The log of a name, or the reason why it is none."""
        place = os.path.normpath(name)
        if place not in self.known:
            try:
                self.known[place] = self._read(name)
            except NotALogError as fault:
                self.known[place] = fault
        return self.known[place]

    def _read(self, name: str) -> NcclLog:
        if self.left <= 0:
            raise NotALogError(f"the logs of the spec have more than {MOST_BYTES >> 20} MiB together")
        text = _log_text(name, self.folder)
        self.left -= len(text)
        return read_log(text)


def _log_text(name: str, folder: FilePath) -> str:
    """The text of a log. Raises `NotALogError` if it is missing, lies outside the folder, or is not a regular file."""
    try:
        path = (folder / name).resolve()
        inside = path.is_relative_to(folder.resolve()) and not FilePath(name).is_absolute()
    except (OSError, ValueError, RuntimeError):
        raise NotALogError("the file cannot be opened") from None
    if not inside:
        raise NotALogError("lies outside the folder of the spec")
    data = _log_bytes(path)
    if len(data) > LARGEST:
        raise NotALogError(f"is larger than {LARGEST // 1024**2} MiB, the most that is read of a log")
    return data.decode("utf-8", "replace")


def _log_bytes(path: FilePath) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe must not make us wait
    except FileNotFoundError:
        raise NotALogError("the folder of the spec has no such file") from None
    except OSError as error:
        raise NotALogError(f"cannot be read: {(error.strerror or 'no reason given').lower()}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotALogError("is not an ordinary file")
        return _limited_content(descriptor)
    except OSError as error:
        raise NotALogError(f"cannot be read: {(error.strerror or 'no reason given').lower()}") from None
    finally:
        os.close(descriptor)


def _limited_content(descriptor: int) -> bytes:
    """The content of a file, up to one byte more than the size limit of logs."""
    parts: list[bytes] = []
    while sum(map(len, parts)) <= LARGEST and (part := os.read(descriptor, LARGEST + 1)):
        parts.append(part)
    return b"".join(parts)
