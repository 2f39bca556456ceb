"""The texts of log files that a spec names."""

from __future__ import annotations

import os
import stat
from pathlib import Path as FilePath

from clusterspec.logs import path_in_folder
from clusterspec.logs.benchmarks.nccl_rows import LARGEST, NotALogError


def log_text(name: str, folder: FilePath) -> str:
    """The text of a log. Raises `NotALogError` if it is missing, lies outside the folder, or is not a regular file."""
    try:
        path = path_in_folder(name, folder)
    except ValueError:
        raise NotALogError("the file cannot be opened") from None
    if path is None:
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
