"""Input files of importers: limited in size, decoded and split into lines."""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import Any

from clusterspec.exchange.import_result import FormatError
from clusterspec.records import dataclass

LARGEST = 32 * 1024 * 1024
"""Bytes of the largest file read; `ibnetdiscover` of a fabric of 10,000 nodes prints some 30 MB."""
LARGEST_STRUCTURED = 8 * 1024 * 1024
"""Bytes of the largest JSON or XML file read, whose values take many times the space of their text."""
LONGEST_LINE = 64 * 1024
"""Characters of the longest line read in a format of lines."""
_KEY = re.compile(r'"([^"\\\n]{1,200})"\s*:')
_PAINT = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@dataclass(frozen=True)
class InputFile:
    """The bytes of a file; ``name`` is used in messages, ``part`` selects one of its tables, from 1."""

    name: str
    data: bytes
    part: int | None = None

    @property
    def zipped(self) -> bool:
        """Whether it is a ZIP archive, as XLSX files are."""
        return self.data.startswith(b"PK\x03\x04")

    @cached_property
    def text(self) -> str:
        """The text with line feeds as line ends. Raises `FormatError` if it is not UTF-8 or too large."""
        if len(self.data) > LARGEST:
            raise FormatError(f"has more than {LARGEST >> 20} MiB, the maximum")
        if self.data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise FormatError("is encoded in UTF-16: save it as UTF-8")
        nul = self.data.find(b"\0")
        if nul >= 0:
            raise FormatError(f"is not text: a NUL byte at offset {nul}")
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError as fault:
            raise FormatError(f"is not UTF-8: byte 0x{self.data[fault.start]:02x} at offset {fault.start}") from None
        if not text.strip():
            raise FormatError("is empty")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without terminal escape codes. Raises `FormatError` if a line is too long."""
        lines = self.text.split("\n")
        for number, line in enumerate(lines, 1):
            if len(line) > LONGEST_LINE:
                raise FormatError(f"has {len(line):,} characters in one line, the maximum is {LONGEST_LINE:,}", number)
        return tuple(_PAINT.sub("", line) if "\x1b" in line else line for line in lines)

    @cached_property
    def head(self) -> str:
        """The first 20,000 characters, from which the format is detected."""
        return self.text[:20_000]

    @cached_property
    def json(self) -> Any:
        """The JSON value. Raises `FormatError` if the text is not JSON."""
        self.bounded("JSON")
        try:
            return json.loads(self.text, parse_constant=_no_number)
        except json.JSONDecodeError as fault:
            raise FormatError(f"not JSON: {fault.msg.lower()}, column {fault.colno}", fault.lineno) from None
        except (RecursionError, ValueError) as fault:
            why = "nested too deeply" if isinstance(fault, RecursionError) else str(fault)[:80]
            raise FormatError(f"not valid JSON: {why}") from None

    def bounded(self, what: str, most: int = LARGEST_STRUCTURED) -> None:
        """Raises `FormatError` if the text exceeds the maximum of a structured format."""
        if len(self.data) > most:
            raise FormatError(f"has more than {most >> 10:,} KiB, the maximum for {what}")

    def line_of(self, pattern: str) -> int:
        """The first line on which a regular expression matches; 0 if it does not."""
        match = re.search(pattern, self.text)
        return self.text.count("\n", 0, match.start()) + 1 if match else 0

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


def _no_number(constant: str) -> None:
    """Reject ``NaN`` and ``Infinity``, which Python writes but JSON does not have."""
