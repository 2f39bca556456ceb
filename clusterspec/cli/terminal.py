"""Standard output and standard error, with color, progress messages and a progress bar."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import os
import sys
from time import monotonic

from clusterspec.cli import UsageFault
from clusterspec.report import WIDTH, TextStyle, escaped_line, plain_line, wrapped_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, TypeVar

    class _Printable(Protocol):
        def to_json(self) -> object: ...

    R = TypeVar("R", bound=_Printable)

LOOKALIKES = {"×": "x", "–": "-", "−": "-", "·": "-", "…": "...", "→": "->", "µ": "u", "≤": "<=", "≥": ">=", "≈": "~"}
LOOKALIKES |= dict.fromkeys("█▉▊▋▌", "#") | dict.fromkeys("▍▎▏", "")
"""Replacements of characters that an encoding lacks, as on old terminals and Windows pipes."""

LONGEST_LINE = 1000
"""Largest number of characters of a line on standard error; a name of a file may have thousands."""
NARROWEST, WIDEST = 40, 200
"""Limits of the columns used, whatever width a terminal reports."""
OWN_MESSAGE = "clusterspec: "
"""The prefix of this program's own messages; findings do not have it."""


def print_text(text: str, *, exact: bool = False) -> None:
    """Write to standard output. Characters that its encoding lacks are replaced by similar ones or escaped.

    Lines that a CI runner would execute as commands are neutralized. ``exact`` only escapes and changes nothing else,
    for output read by programs. Raises `UsageFault` if nothing can be written.
    """
    text = text if exact else "".join(map(escaped_line, text.splitlines(keepends=True)))
    out = sys.stdout
    if out is None:
        raise UsageFault("standard output is closed")
    try:
        out.write(encodable_text(text, out.encoding, "escaped" if exact else "alike"))
        out.flush()
    except BrokenPipeError:  # the reader has closed the pipe, as `| head` does; the status is unaffected
        forget_output()
    except OSError as fault:
        forget_output()
        raise UsageFault(f"standard output: {fault.strerror}") from None


def print_json(document: object) -> None:
    """Write a JSON document to standard output."""
    from clusterspec.report.json_text import json_text

    print_text(json_text(document), exact=True)


def print_result(
    args: argparse.Namespace, result: R, text: Callable[[R, TextStyle], str], csv: Callable[[R], str] | None = None
) -> None:
    """Write a result in the format of the call: its JSON, the text of its CSV writer, or its text."""
    if args.format == "json":
        print_json(result.to_json())
    elif args.format == "csv" and csv is not None:
        print_text(csv(result))
    else:
        print_text(text(result, ink_of(args)))


def print_error(text: str) -> None:
    """Write a message to standard error, if possible; line breaks in file names are escaped."""
    if sys.stderr is not None:
        line = plain_line(text)
        if len(line) > LONGEST_LINE:
            line = f"{line[: LONGEST_LINE // 2]} … {line[-LONGEST_LINE // 2 :]}"
        with contextlib.suppress(OSError):
            for part in _error_lines(line):
                print(encodable_text(part, sys.stderr.encoding, "alike"), file=sys.stderr)


def _error_lines(line: str) -> list[str]:
    """The lines of a message: wrapped on a terminal, except for findings, which editors match by line."""
    if not line.startswith(OWN_MESSAGE) or not sys.stderr.isatty():
        return [line]
    return wrapped_lines(line, terminal_columns(), then="  ")


def forget_output() -> None:
    """Discard buffered standard output, so that Python reports no error at exit."""
    with contextlib.suppress(OSError, AttributeError):  # no such stream, or none with a descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def encodable_text(text: str, encoding: str | None, otherwise: str) -> str:
    """The text with characters that an encoding lacks replaced."""
    name = encoding or "utf-8"
    return text.encode(name, f"clusterspec-{otherwise}").decode(name)


def escaped_characters(fault: UnicodeError) -> tuple[str, int]:
    r"""Characters that cannot be encoded, as ``\uXXXX``, which JSON can read; for the ``errors`` of `str.encode`."""
    assert isinstance(fault, UnicodeEncodeError)
    units = fault.object[fault.start : fault.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)), fault.end


def lookalike_character(fault: UnicodeError) -> tuple[str, int]:
    """A similar character for one that cannot be encoded, else an escape; an ``errors`` handler."""
    assert isinstance(fault, UnicodeEncodeError)
    sign = LOOKALIKES.get(fault.object[fault.start])
    if sign is None:
        return escaped_characters(UnicodeEncodeError("", fault.object, fault.start, fault.start + 1, ""))
    return sign, fault.start + 1


codecs.register_error("clusterspec-escaped", escaped_characters)
codecs.register_error("clusterspec-alike", lookalike_character)


def ink_of(args: argparse.Namespace) -> TextStyle:
    """Color and width by ``--color``, ``NO_COLOR``, ``FORCE_COLOR`` and the terminal."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = terminal_columns()
    if args.color != "auto":
        return TextStyle(args.color == "always", width)
    if os.environ.get("NO_COLOR"):
        return TextStyle(False, width)
    return TextStyle(bool(os.environ.get("FORCE_COLOR")) or (is_terminal and os.environ.get("TERM") != "dumb"), width)


def terminal_columns() -> int:
    """The number of columns to use: `COLUMNS`, else the terminal's, else `WIDTH`, within two limits."""
    try:
        found = environment_columns() or os.get_terminal_size(sys.stdout.fileno()).columns or WIDTH
    except (OSError, ValueError, AttributeError):
        found = WIDTH
    return max(NARROWEST, min(found, WIDEST))


def environment_columns() -> int:
    """The value of `COLUMNS`; 0 if it is not a number."""
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 6 else 0


class Progress:
    """Progress messages on a terminal; silent otherwise."""

    def __init__(self) -> None:
        self.on = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.written = False

    def __call__(self, text: str) -> None:
        if self.on:
            sys.stderr.write(f"\r\x1b[2K{plain_line(text)[: terminal_columns() - 1]}")
            sys.stderr.flush()
            self.written = True

    def erase(self) -> None:
        """Erase the message."""
        if self.written:
            self("")


# A progress bar on standard error, if that is a terminal

BAR_WIDTH = 30
EVERY = 0.1
"""Seconds between two drawings."""


class Bar:
    """A progress bar; call it with the amount done and the total, then `close` it."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._shown = sys.stderr.isatty()
        self._drawn = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = monotonic()
        if not self._shown or (done < total and now - self._drawn < EVERY):
            return
        self._drawn = now
        full = BAR_WIDTH * done // max(1, total)
        sys.stderr.write(f"\r{self.title} [{'#' * full}{'.' * (BAR_WIDTH - full)}] {100 * done // max(1, total):3d} %")
        sys.stderr.flush()

    def close(self) -> None:
        """Erase the bar."""
        if self._shown and self._drawn:
            sys.stderr.write("\r" + " " * (len(self.title) + BAR_WIDTH + 10) + "\r")
            sys.stderr.flush()
