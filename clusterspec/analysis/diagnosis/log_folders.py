"""The logs in folders that launchers write, one for every rank."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from clusterspec.analysis.diagnosis.collectives import Logs, read_log, read_logs
from clusterspec.document import read_bytes
from clusterspec.exchange.import_result import LARGEST, FormatError
from clusterspec.logs.benchmarks.benchmark import Benchmark
from clusterspec.records import NamedTuple

MOST_FILES = 1_024
"""Largest number of files of a folder of logs: two of each of 512 ranks."""
MOST_ENTRIES = 4 * MOST_FILES
"""Maximum number of entries in a folder of logs and its subfolders, including folders and hidden files."""
DEEPEST = 6
"""Folders below a folder of logs: torchrun writes into two (run and attempt) and one for each rank."""
Reader = Callable[[str, int], bytes]
"""A function that returns the first bytes of a named file, one more than the given number."""


class NamedLogs(NamedTuple):
    """Logs by the names that reports use, and files that are not logs, with the reasons."""

    logs: Logs
    skipped: tuple[tuple[str, str], ...] = ()


def _log_of_file(path: str) -> tuple[str, Benchmark]:
    return read_logs([path], unfinished=True)[0]


def logs_of_ranks(
    paths: Sequence[str | Path],
    reader: Reader = read_bytes,
    named_log: Callable[[str], tuple[str, Benchmark]] = _log_of_file,
    is_folder: Callable[[str], bool] = os.path.isdir,
) -> NamedLogs:
    """The logs in files and folders by name, logs of runs without a result included; logs of a folder by path.

    ``named_log`` returns the log of a file with its name, ``reader`` the bytes of a file in a folder. Raises `OSError`,
    and
    `FormatError` for a file that is no log and for a folder without one, or the exceptions of these functions.
    """
    logs: list[tuple[str, Benchmark]] = []
    skipped: list[tuple[str, str]] = []
    for path in map(str, paths):
        if is_folder(path):
            found = logs_of_folder(path, reader)
            logs += found.logs
            skipped += found.skipped
        else:
            logs.append(named_log(path))
    return NamedLogs(logs, tuple(skipped))


def logs_of_folder(folder: str, reader: Reader) -> NamedLogs:
    """The logs in a folder and its subfolders, ordered by path. Their names are paths that begin with ``folder``.

    Raises `FormatError` if it has no files, too many or too large files, and the exceptions of ``reader``.
    """
    logs: list[tuple[str, Benchmark]] = []
    skipped: list[tuple[str, str]] = []
    left = LARGEST
    for name in _files_in_tree(folder):
        data = reader(name, left)
        left -= len(data)
        if left < 0:
            raise FormatError(f"{folder}: its files have more than {LARGEST >> 20} MiB together: name the logs to read")
        try:
            if data.strip():
                logs.append((name, read_log(name, data, unfinished=True)))
        except FormatError as why:
            skipped.append((name, str(why)))
    if not logs:
        reason = f"{skipped[0][0]}: {skipped[0][1]}" if skipped else "it has no file that is not empty"
        raise FormatError(f"{folder}: no log is in it: {reason}")
    return NamedLogs(logs, tuple(skipped))


def _files_in_tree(folder: str) -> list[str]:
    """The files of a folder and of those below it, sorted; symlinks, hidden entries and devices are left out."""
    files: list[str] = []
    entries = 0
    left = [(folder, 0)]
    while left:
        where, depth = left.pop()
        for entry in _folder_entries(where):
            entries += 1
            if entries > MOST_ENTRIES or len(files) == MOST_FILES:
                raise FormatError(f"{folder}: it has more than {MOST_FILES:,} files: name the logs to read")
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_file(follow_symlinks=False):
                files.append(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                if depth == DEEPEST:
                    raise FormatError(f"{folder}: it is more than {DEEPEST} folders deep: name the logs to read")
                left.append((entry.path, depth + 1))
    return sorted(files)


def _folder_entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError as fault:
        raise FormatError(f"{folder}: {fault.strerror or fault}") from None
