"""Reads a text as a file of some kind, without a disk: shared by the tests of the importers."""

from __future__ import annotations

import textwrap

from clusterspec.exchange import import_formats
from clusterspec.exchange.import_result import ImportResult, InputFile


def read(text: str | bytes, kind: str = "auto", name: str = "given.txt", part: int | None = None) -> ImportResult:
    """What a text states; indented text is taken without its indentation."""
    data = textwrap.dedent(text).encode() if isinstance(text, str) else text
    file = InputFile(name, data, part)
    return (import_formats.guessed_format(file) if kind == "auto" else import_formats.format_named(kind)).read(file)


def given(reading: ImportResult) -> dict[str, object]:
    """The keys of a reading, written with dots."""
    return {".".join(map(str, each.path)): each.value for each in reading.given if not each.appended}


def counts(reading: ImportResult) -> dict[str, object]:
    return {each.name: each.value for each in reading.counts}


def unknown(reading: ImportResult) -> str:
    return "\n".join(f"{each.what}: {each.why}" for each in reading.unknown)
