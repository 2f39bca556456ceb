"""The options of the commands, one module per command with a `describe` function that adds them to a parser.

Shared options are here. Modules of this package import only argparse, so that `--help` is fast.
"""

from __future__ import annotations

import argparse
import os

from clusterspec.cli import UsageFault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date
    from typing import Any, NoReturn


argparse._ = str  # type: ignore[attr-defined]  # gettext searches the disk for a translation of every heading
MOST_COLUMNS = 120


class Help(argparse.HelpFormatter):
    """Help formatter with the terminal's width, without the slow imports of argparse's own width detection."""

    def __init__(self, prog: str) -> None:
        columns = os.environ.get("COLUMNS", "")
        try:
            width = int(columns) if columns.isdigit() else os.get_terminal_size().columns
        except (OSError, ValueError):
            width = 80
        super().__init__(prog, width=max(40, min(width, MOST_COLUMNS)) - 2)


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageFault` with a one-line message for a wrong call."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help} | options)

    def error(self, message: str) -> NoReturn:
        raise UsageFault(f"{message} (`{self.prog} --help` says more)")

    def _print_message(self, message: str, file: object = None) -> None:
        from clusterspec.cli.terminal import print_text

        print_text(message)


def day(text: str) -> date:
    """A date as YYYY-MM-DD."""
    from datetime import date

    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date; write YYYY-MM-DD") from None


def named(text: str) -> str:
    """A nonempty name. Raises an error for an empty one, as from an unset shell variable."""
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty name")
    return text


def positive(text: str) -> int:
    """A positive integer."""
    if not (text.isascii() and text.isdigit()) or not 0 < len(text) <= 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 999999999")
    return int(text)


def formats(one: argparse.ArgumentParser, *choices: str) -> None:
    """Add ``--format`` with the first choice as the default."""
    one.add_argument("--format", choices=choices, default=choices[0], help=f"output format (default: {choices[0]})")


def spec(one: argparse.ArgumentParser) -> None:
    """Add the spec argument and ``--stdin-filename``."""
    one.add_argument("spec", metavar="SPEC", type=named, help="the spec; - reads standard input")
    stdin_filename(one)


def stdin_filename(one: argparse.ArgumentParser) -> None:
    """Add ``--stdin-filename``."""
    one.add_argument("--stdin-filename", metavar="NAME", type=named, help="the name to use for standard input")


def shared_options(parents: Sequence[argparse.ArgumentParser] = ()) -> Parser:
    """A parser with the options of all commands."""
    shared = Parser(add_help=False, parents=list(parents))
    group = shared.add_argument_group("everywhere")
    group.add_argument(
        "--catalog",
        metavar="DIR",
        type=named,
        action="append",
        default=[],
        help="a folder of catalog entries that add to the shipped ones or override them",
    )
    group.add_argument(
        "--config", metavar="FILE", type=named, help="the configuration, instead of clusterspec.toml or pyproject.toml"
    )
    group.add_argument(
        "--today",
        metavar="DATE",
        type=day,
        help="the current date (default: SOURCE_DATE_EPOCH, else the clock)",
    )
    group.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="color on standard output (default: auto; NO_COLOR is honored)",
    )
    group.add_argument("--debug", action="store_true", help="show the traceback of an internal error")
    return shared
