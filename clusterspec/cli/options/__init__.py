"""The options of the commands, one module per command with a `describe` function that adds them to a parser.

Shared options are here. Modules of this package import only argparse, so that `--help` is fast.
"""

from __future__ import annotations

import argparse
import os

from clusterspec.cli import UsageFault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date
    from typing import Any, NoReturn


argparse._ = lambda text: text  # type: ignore[attr-defined]  # gettext searches the disk for every heading
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

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            command = next((part for name, part in self.commands() if name == getattr(found, "command", "")), self)
            command.unknown(rest[0])
        return found

    def commands(self) -> list[tuple[str, Parser]]:
        """The commands with their parsers, in the order of the help."""
        actions: list[Any] = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        return [(name, one) for action in actions for name, one in action.choices.items()]

    def unknown(self, word: str) -> NoReturn:
        """Raises `UsageFault` for an argument that the command does not take."""
        if word.startswith("-"):
            self.error(f"there is no option {word.partition('=')[0]}{offer(word, self._option_string_actions)}")
        self.error(f"one argument too many: {word!r}")

    def error(self, message: str) -> NoReturn:
        raise UsageFault(f"{message} (`{self.prog} --help` lists the options)")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(each) for each in action.choices]
            meant = offer(str(value), known) or f"; there are {', '.join(known)}"
            name = str(action.metavar or "/".join(action.option_strings) or action.dest)
            what = f"there is no command {value!r}" if name == "COMMAND" else f"{name} cannot be {value!r}"
            self.error(f"{what}{meant}")

    def _print_message(self, message: str, file: object = None) -> None:
        from clusterspec.cli.terminal import print_text

        print_text(message)


def offer(word: str, known: Iterable[str]) -> str:
    """The known words that are most similar to a word, as the end of a message; empty if there is none."""
    from difflib import get_close_matches

    begins = [each for each in known if each.startswith(word)] if word.strip("-") else []
    near = begins[:3] or get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else ""


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


def formats(parser: argparse.ArgumentParser, *choices: str) -> None:
    """Add ``--format`` with the first choice as the default."""
    parser.add_argument("--format", choices=choices, default=choices[0], help=f"output format (default: {choices[0]})")


def spec(parser: argparse.ArgumentParser) -> None:
    """Add the spec argument and ``--stdin-filename``."""
    parser.add_argument("spec", metavar="SPEC", type=named, help="the spec; - reads standard input")
    stdin_filename(parser)


def stdin_filename(parser: argparse.ArgumentParser) -> None:
    """Add ``--stdin-filename``."""
    parser.add_argument("--stdin-filename", metavar="NAME", type=named, help="the name to use for standard input")


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
