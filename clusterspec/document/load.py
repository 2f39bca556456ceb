"""Reads a spec from a file or from standard input, with the files that it extends."""

from __future__ import annotations

import sys
from pathlib import Path as FilePath

from clusterspec.document.extends import extend
from clusterspec.document.model import Document
from clusterspec.document.parse import parse
from clusterspec.document.text import MAX_BYTES, decode
from clusterspec.finding import Problem

STDIN = "-"


class CannotOpenError(Exception):
    """A file that was named cannot be opened: the caller's fault, in one line."""


def load(path: str, *, stdin_filename: str | None = None) -> tuple[Document | None, list[Problem]]:
    """The document in a file (``-``: standard input) and what is wrong with its text and its bases.

    ``stdin_filename`` is the name that findings in standard input carry, and the place from which
    its ``extends`` is resolved. Raises `CannotOpenError` when the file cannot be opened.
    """
    if path == STDIN:
        name, data = stdin_filename or STDIN, sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        name, data = path, _read(path)
    document, problems = read_bytes(name, data)
    if document is None:
        return None, problems
    document, further = extend(document, FilePath(stdin_filename or "." if path == STDIN else path))
    return document, problems + further


def read_bytes(name: str, data: bytes) -> tuple[Document | None, list[Problem]]:
    """The document in some bytes; its ``extends`` is left as written."""
    source = decode(name, data)
    return (None, [source]) if isinstance(source, Problem) else parse(source)


def _read(path: str) -> bytes:
    try:
        with FilePath(path).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise CannotOpenError(f"cannot open {path}: {reason.lower()}") from None
