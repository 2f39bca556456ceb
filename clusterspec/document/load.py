"""Reading of a spec with its bases."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path as FilePath

from clusterspec.document.extends import extend
from clusterspec.document.model import Document
from clusterspec.document.parse import parse
from clusterspec.document.source_text import LARGEST, decode, read_bytes
from clusterspec.finding import Problem
from clusterspec.source import Source

STDIN = "-"


class CannotOpenError(Exception):
    """Raised, with a one-line reason, if a file cannot be opened."""


def load(path: str, stdin_filename: str = STDIN) -> tuple[Document | None, list[Problem]]:
    """The document of a file, or of standard input for ``-``, and the problems with its text and bases.

    ``stdin_filename`` is the file name in findings of standard input. Raises `CannotOpenError` if
    the file cannot be opened.
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
    """The document of a text in ``folder``, with its bases merged in, and the problems found.

    Bytes that are not UTF-8 are expected as lone surrogates (``errors="surrogateescape"``). With ``keys``, the
    top-level keys of a spec, a base that is not a spec is rejected, so that none of its content is printed.
    """
    document, problems = parse(source)
    if document is None:
        return None, problems
    document, further = extend(document, folder, keys)
    return document, problems + further
