"""Reads a spec with the files that it extends."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path as FilePath

from clusterspec.document.extends import extend
from clusterspec.document.model import Document
from clusterspec.document.parse import parse
from clusterspec.document.text import LARGEST, decode, read_bytes
from clusterspec.finding import Problem
from clusterspec.source import Source

STDIN = "-"


class CannotOpenError(Exception):
    """A file that was named cannot be opened: the caller's fault, in one line."""


def load(path: str, stdin_filename: str = STDIN) -> tuple[Document | None, list[Problem]]:
    """The document in a file, or in standard input for ``-``, and what is wrong with its text and bases.

    ``stdin_filename`` is the name that findings in standard input carry. Raises `CannotOpenError`
    when the file cannot be opened.
    """
    if path == STDIN:
        data = sys.stdin.buffer.read(LARGEST + 1)
        return load_source(decode(stdin_filename, data), FilePath.cwd())
    try:
        data = read_bytes(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise CannotOpenError(f"{path}: {reason}") from None
    return load_source(decode(path, data), FilePath(path).parent)


def load_source(source: Source, folder: FilePath, keys: Collection[str] = ()) -> tuple[Document | None, list[Problem]]:
    """The document in a text that is in ``folder``, its bases merged in, and what is wrong with them.

    Bytes that are not UTF-8 are expected as lone surrogates (``errors="surrogateescape"``). With ``keys``, those of
    a spec's top level, a base is refused that is no spec: nothing of it is to be printed.
    """
    document, problems = parse(source)
    if document is None:
        return None, problems
    document, further = extend(document, folder, keys)
    return document, problems + further
