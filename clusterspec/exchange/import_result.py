"""Input files of importers, bounded in size, and their results: keys, counts and unknown parts with file and line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from clusterspec.logs.text_lines import line_at, lines_of
from clusterspec.records import dataclass, field
from clusterspec.source import Path, dotted_path

Value = str | int | float | bool | None | Sequence["Value"] | Mapping[str, "Value"]
"""A value of a spec as YAML holds it; quantities are text with their unit."""


class FormatError(Exception):
    """Raised, with the reason, if a file cannot be read in its format; ``line`` counts from 1, 0 for the whole file."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {why}" if line else why)


class SeveralParts(FormatError):
    """Raised, with the choices, if a file holds several parts and the caller must choose one."""


class NothingStarted(FormatError):
    """Raised if a file names a framework but has no launch of it with values."""


Part = TypeVar("Part")


def chosen_part(parts: Sequence[Part], part: int | None, counted: str, choices: str) -> Part:
    """The only part of a file, or the part that the caller chose by its number, from 1.

    Raises `FormatError` if the number does not exist (the message says how many parts there are: ``counted``, such as
    ``3 runs``), and `SeveralParts` with the ``choices`` if there are several parts and none is chosen.
    """
    if part is not None and not 1 <= part <= len(parts):
        raise FormatError(f"has {counted}, and --part {part} is none of them")
    if part is None and len(parts) > 1:
        raise SeveralParts(f"{choices}: choose one with --part N")
    return parts[(part or 1) - 1]


class UnresolvedSpec(FormatError):
    """Raised, with the reason, if a spec is too faulty or incomplete for the command."""


@dataclass(frozen=True)
class FileLine:
    """A line of a file; 0 for the whole file."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class ImportedValue:
    """A key of the spec with its value from a file. ``appended`` values are items of the list at ``path``."""

    path: Path
    value: Value
    at: FileLine
    appended: bool = False


@dataclass(frozen=True)
class ObservedCount:
    """A number in a file for which the spec has no key, such as the links of one accelerator."""

    name: str
    value: int | float | str
    at: FileLine


@dataclass(frozen=True)
class SkippedPart:
    """A part of a file that was not imported, and the reason."""

    what: str
    why: str
    at: FileLine

    def __str__(self) -> str:
        return f"unknown: {self.what}: {self.why}  ({self.at})"


@dataclass(frozen=True)
class ImportResult:
    """The content of one or more imported files, in their order."""

    kind: str
    given: tuple[ImportedValue, ...] = ()
    counts: tuple[ObservedCount, ...] = ()
    unknown: tuple[SkippedPart, ...] = ()

    def value(self, path: Path) -> Value:
        """The value of a key; None if it is absent."""
        return next((each.value for each in self.given if each.path == path and not each.appended), None)

    def number(self, name: str) -> int | float | str | None:
        """A count by name; None if it is absent."""
        return next((each.value for each in self.counts if each.name == name), None)


@dataclass
class ImportBuilder:
    """Collects the import result of one file."""

    kind: str
    file: str
    given: list[ImportedValue] = field(default_factory=list)
    counts: list[ObservedCount] = field(default_factory=list)
    unknowns: list[SkippedPart] = field(default_factory=list)

    def set(self, path: str, value: Value, line: int = 0) -> None:
        """Set a key, given as a dotted path; ignored if the value is None."""
        if value is not None:
            self.given.append(ImportedValue(tuple(path.split(".")), value, FileLine(self.file, line)))

    def append(self, path: str, item: Value, line: int = 0) -> None:
        """Append an item to a list."""
        self.given.append(ImportedValue(tuple(path.split(".")), item, FileLine(self.file, line), appended=True))

    def count(self, name: str, value: int | float | str | None, line: int = 0) -> None:
        """Record a number for which the spec has no key; ignored if the value is None."""
        if value is not None:
            self.counts.append(ObservedCount(name, value, FileLine(self.file, line)))

    def unknown(self, what: str, why: str, line: int = 0) -> None:
        """Record a part that was not imported."""
        self.unknowns.append(SkippedPart(what, why, FileLine(self.file, line)))

    def reading(self) -> ImportResult:
        return ImportResult(self.kind, tuple(self.given), tuple(self.counts), tuple(self.unknowns))


VALUE, LIST, TITLE, SENTENCE = 60, 80, 120, 300
"""Maximum number of characters that messages quote: of a value or name, of a list or path, of a title, and of a
sentence.
"""


def excerpt(value: object, most: int = VALUE) -> str:
    """The beginning of a value of a file for messages, since values may be of any length.

    >>> excerpt([1, 2]), len(excerpt("a" * 400)), len(excerpt("a" * 400, LIST))
    ('[1, 2]', 60, 80)
    """
    return str(value)[:most]


ELSEWHERE = "not in this file"
"""How the reason begins if an unknown key may be stated in another part of the input."""


def combined_result(readings: Iterable[ImportResult]) -> ImportResult:
    """Several import results as one. If two values of a key differ, the first is used and the second is listed as
    unknown.

    A key that one result misses (``ELSEWHERE``) and another states is not listed as unknown.
    """
    all_of = list(readings)
    given: dict[Path, ImportedValue] = {}
    items: list[ImportedValue] = []
    unknown = [each for reading in all_of for each in reading.unknown]
    for each in (given_ for reading in all_of for given_ in reading.given):
        first = given.setdefault(each.path, each) if not each.appended else None
        if first is None:
            items.append(each)
        elif first.value != each.value:
            why = f"{first.at} states {shown_value(first.value)}, which is kept"
            unknown.append(SkippedPart(f"{dotted_path(each.path)}: {shown_value(each.value)}", why, each.at))
    kinds = " + ".join(dict.fromkeys(reading.kind for reading in all_of))
    counts = tuple(dict.fromkeys(count for reading in all_of for count in reading.counts))
    told = {dotted_path(path) for path in given}
    left = tuple(each for each in unknown if not (each.what in told and each.why.startswith(ELSEWHERE)))
    return ImportResult(kinds, (*given.values(), *items), counts, left)


def shown_value(value: Value) -> str:
    """A value as one line of text."""
    from clusterspec.exchange.documents import flow_text

    return flow_text(value)


def to_json(reading: ImportResult) -> dict[str, Any]:
    """An import result as JSON: the spec, and each part with its file and line."""
    from clusterspec.exchange.merge import missing_machine, spec_tree

    def place(at: FileLine) -> dict[str, Any]:
        return {"file": at.file, "line": at.line or None}

    return {
        "kind": reading.kind,
        "spec": spec_tree(reading),
        "provenance": [
            {"path": dotted_path(each.path), "value": each.value, **place(each.at)} for each in reading.given
        ],
        "counts": {each.name: each.value for each in reading.counts},
        "unknown": [{"what": each.what, "why": each.why, **place(each.at)} for each in reading.unknown],
        "missing": [found] if (found := missing_machine(reading)) else [],
    }


# Input files of importers: limited in size, decoded and split into lines

LARGEST = 32 * 1024 * 1024
"""Maximum size of a file in bytes; `ibnetdiscover` prints about 30 MB for a fabric of 10,000 nodes."""
LARGEST_STRUCTURED = 8 * 1024 * 1024
"""Maximum size in bytes of a JSON or XML file, whose values need many times the memory of their text."""
LONGEST_LINE = 64 * 1024
"""Maximum characters of a line in formats that are read line by line."""
MOST_LINES = 2_000_000
"""Maximum number of lines of a file; even files of the maximum size have fewer unless most lines are empty."""
_KEY = re.compile(r'"([^"\\\n]{1,200})"\s*:')
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
_OTHER_DATA = {
    b"%PDF-": "is a PDF: save its table as CSV or XLSX, or its text with `pdftotext -layout`",
    b"\xd0\xcf\x11\xe0": "is of Office before 2007 (XLS, DOC): save it as XLSX or CSV",
    b"\x1f\x8b": "is compressed (gzip): unpack it first",
    b"\xfd7zXZ": "is compressed (xz): unpack it first",
    b"(\xb5/\xfd": "is compressed (zstd): unpack it first",
    b"\x89PNG": "is an image: give the text that it shows",
    b"\xff\xd8\xff": "is an image: give the text that it shows",
}
"""First bytes of files that are not text, and what to do with them."""
_PROGRAMS = (
    "torchrun",
    "accelerate",
    "deepspeed",
    "vllm",
    "sglang",
    "trtllm-serve",
    "llamafactory-cli",
    "python",
    "python3",
)
_QUOTED_PROGRAM = re.compile(
    rf"""(?<![\w\\"'])(["'])((?:[^\s"'\\]{{0,200}}/)?(?:{"|".join(_PROGRAMS)}))\1(?=[ \t]+(?:\\\n[ \t]*)?["$\w./-])"""
)
"""A program whose path a command has in quotes (``"$ENV/bin/torchrun" --nnodes 2``), which a shell takes off."""
_HOLE = re.compile(rb"(?<=[^\0]{100})\0{32,}")
"""A gap of NUL bytes in a log, as left by a parallel file system when several nodes write at the same time; more lines
follow it.
"""
_PAINT = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\ufffd\[[0-9;]{1,12}m")
"""A terminal escape code. The escape character may have been replaced by U+FFFD by a site that stores reports."""


def without_comments(text: str) -> str:
    """A text in which lines that begin with ``#`` are replaced by empty lines.

    >>> without_comments("a: 1\\n  # b: 2\\nc: 3  # d")
    'a: 1\\n\\nc: 3  # d'
    """
    return _COMMENT.sub("", text)


@dataclass(frozen=True)
class InputFile:
    """The bytes of a file. ``name`` is for messages; ``part`` (from 1) selects one of its parts. ``objects`` is the
    text of the Kubernetes objects that hold the file, on the same lines.
    """

    name: str
    data: bytes
    part: int | None = None
    objects: str = ""

    @property
    def is_zip_archive(self) -> bool:
        """Whether it is a ZIP archive, as XLSX files are."""
        return self.data.startswith(b"PK\x03\x04")

    @cached_property
    def text(self) -> str:
        """The text with line feeds as line ends. Raises `FormatError` if it is not UTF-8 or too large."""
        if len(self.data) > LARGEST:
            raise FormatError(f"has more than {LARGEST >> 20} MiB, the maximum")
        if other := next((why for head, why in _OTHER_DATA.items() if self.data.startswith(head)), None):
            raise FormatError(other)
        if self.data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise FormatError("is encoded in UTF-16: save it as UTF-8")
        data = _HOLE.sub(b"\n", self.data) if b"\0" in self.data else self.data
        nul = data.find(b"\0")
        if nul >= 0:
            raise FormatError(f"is not text: a NUL byte at offset {nul}")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as fault:
            raise FormatError(f"is not UTF-8: byte 0x{data[fault.start]:02x} at offset {fault.start}") from None
        if not text.strip():
            raise FormatError("is empty")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if text.count("\n") > MOST_LINES:
            raise FormatError(f"has more than {MOST_LINES:,} lines, the maximum")
        quoted = [quote for quote in "\"'" if f"{quote} " in text]
        in_quotes = any(f"{name}{quote} " in text for name in _PROGRAMS for quote in quoted)
        return _QUOTED_PROGRAM.sub(r"\2", text) if in_quotes else text

    @property
    def uncommented(self) -> str:
        """The text in which lines that begin with ``#`` are replaced by empty lines. Raises `FormatError` like
        ``text``.
        """
        return without_comments(self.text)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without terminal escape codes. Raises `FormatError` if a line is too long."""
        lines = self.text.split("\n")
        for number, line in enumerate(lines, 1):
            if len(line) > LONGEST_LINE:
                raise FormatError(f"has {len(line):,} characters in one line, the maximum is {LONGEST_LINE:,}", number)
        return tuple(_PAINT.sub("", line) if "\x1b" in line or "\ufffd" in line else line for line in lines)

    @property
    def unpainted(self) -> str:
        """The text without terminal escape codes; it takes less memory than ``lines``. Raises `FormatError` like
        ``lines``.
        """
        for number, line in enumerate(lines_of(self.text), 1):
            if len(line) > LONGEST_LINE:
                raise FormatError(f"has {len(line):,} characters in one line, the maximum is {LONGEST_LINE:,}", number)
        return self.plain

    @property
    def plain(self) -> str:
        """The text without terminal escape codes, with lines of any length. Raises `FormatError` like ``text``."""
        return _PAINT.sub("", self.text) if "\x1b" in self.text or "\ufffd" in self.text else self.text

    @cached_property
    def head(self) -> str:
        """The first 20,000 characters, from which the format is detected."""
        return self.text[:20_000]

    @cached_property
    def json(self) -> Any:
        """The JSON value. Raises `FormatError` if the text is not JSON."""
        self.refuse_oversized("JSON")
        try:
            return json.loads(self.text, parse_constant=_refuse_constant)
        except json.JSONDecodeError as fault:
            raise FormatError(f"not JSON: {fault.msg.lower()}, column {fault.colno}", fault.lineno) from None
        except (RecursionError, ValueError) as fault:
            why = "nested too deeply" if isinstance(fault, RecursionError) else excerpt(fault, LIST)
            raise FormatError(f"not valid JSON: {why}") from None

    def refuse_oversized(self, what: str, most: int = LARGEST_STRUCTURED) -> None:
        """Raises `FormatError` if the text exceeds the maximum of a structured format."""
        if len(self.data) > most:
            raise FormatError(f"has more than {most >> 10:,} KiB, the maximum for {what}")

    def line_of(self, pattern: str) -> int:
        """The first line on which a regular expression matches; 0 if it does not."""
        match = re.search(pattern, self.text)
        return self.line_at(match.start()) if match else 0

    def line_at(self, position: int) -> int:
        """The line of a character of the text, from 1."""
        return line_at(self.text, position)

    def line_of_key(self, key: str) -> int:
        """The first line with a JSON key; 0 if the key is absent."""
        return self._key_lines.get(key, 0)

    @cached_property
    def _key_lines(self) -> dict[str, int]:
        """The first line of every JSON key."""
        found: dict[str, int] = {}
        line, last = 1, 0
        for match in _KEY.finditer(self.text):
            line += self.text.count("\n", last, match.start())
            last = match.start()
            found.setdefault(match[1], line)
        return found


def _refuse_constant(constant: str) -> None:
    """Reject ``NaN`` and ``Infinity``, which Python accepts but JSON does not have."""
