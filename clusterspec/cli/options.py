"""The parser class, and the options that several commands share. Only argparse is imported: `--help` is fast."""

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


FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown")
"""The formats of findings."""


class Help(argparse.HelpFormatter):
    """Help formatter with the terminal's width, without the slow imports of argparse's own width detection."""

    def __init__(self, prog: str) -> None:
        from clusterspec.cli.terminal import terminal_columns

        super().__init__(prog, width=terminal_columns() - 2)

    def add_usage(self, usage: Any, actions: Iterable[argparse.Action], groups: Any, prefix: str | None = None) -> None:
        """Adds a usage line with the required arguments only, since the options are listed below it."""
        needed = [action for action in actions if not action.option_strings or action.required]
        super().add_usage(usage, needed, [], prefix)

    def _format_usage(self, usage: Any, actions: Iterable[argparse.Action], groups: Any, prefix: str | None) -> str:
        text = super()._format_usage(usage, actions, groups, prefix)
        # NOTE: without a prefix, argparse asks for the words before the command of a subparser, not for a usage line.
        return text if prefix == "" else text.replace(self._prog, f"{self._prog} [OPTION ...]", 1)

    def _format_action(self, action: argparse.Action) -> str:
        titles = getattr(action, "titles", {})
        if not titles:
            return super()._format_action(action)
        listed = {each.dest: each for each in action._get_subactions()}  # type: ignore[attr-defined]
        parts = []
        for title, names in titles.items():
            self._indent()
            lines = "".join(self._format_action(listed[name]) for name in names)
            self._dedent()
            parts.append(f"  {title}:\n{lines}")
        return "\n".join(parts)


EVERYWHERE = "everywhere"
"""The title of the options that all commands have. The help lists them last."""


class Parser(argparse.ArgumentParser):
    """A parser that takes options anywhere, and raises `UsageFault` with a one-line message for a wrong call."""

    example = ""
    """The arguments of a usual call, which the help shows below the usage."""

    def format_help(self) -> str:
        """The help text: first the commands or arguments, then the options of this command, then those of all
        commands.
        """
        last = {EVERYWHERE: 2, "commands": -1}
        self._action_groups.sort(key=lambda group: last.get(group.title or "", 0))
        usage, gap, rest = super().format_help().partition("\n\n")
        return f"{usage}\nexample: {self.prog} {self.example}{gap}{rest}" if self.example else usage + gap + rest

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"formatter_class": Help} | options)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        found, rest = self.parse_known_args(args, namespace)
        if rest:
            command = next((part for name, part in self.commands() if name == getattr(found, "command", "")), self)
            command.unknown(next((word for word in rest if word != "--"), rest[0]))
        return found

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parses the arguments after reordering them, since argparse accepts options in certain places only."""
        words = [*args]
        return super().parse_known_args(self.command_first(words) if self.commands() else self.options_first(words))

    def command_first(self, words: Sequence[str]) -> list[str]:
        """The words with the command before the options that precede it; without a command, help is printed."""
        at = self.command_at(words)
        if at is None:
            return [*words]
        if at == len(words):
            self.print_help()
            raise SystemExit(0)
        return [words[at], *words[:at], *words[at + 1 :]]

    def command_at(self, words: Sequence[str]) -> int | None:
        """The index of the command among the words, or their number if there is none; None if help or the version is
        requested.

        >>> shared_options().command_at(["--catalog", "check", "--debug", "estimate", "check"])
        3
        """
        at = 0
        while at < len(words) and self.is_option(words[at]):
            if isinstance(self.option(words[at]), argparse._HelpAction) or words[at] in {"--", "-V", "--version"}:
                return None
            at += 1 + self.values_at(words, at)
        return at

    def options_first(self, words: Sequence[str]) -> list[str]:
        """The words with all options, each with its values, before the positional arguments.

        >>> shared_options().options_first(["a.yaml", "--color", "never", "b.yaml", "--", "--odd.yaml"])
        ['--color', 'never', '--', 'a.yaml', 'b.yaml', '--odd.yaml']
        """
        options: list[str] = []
        positional: list[str] = []
        at = 0
        while at < len(words) and words[at] != "--":
            end = at + 1
            if self.is_option(words[at]):
                end += self.values_at(words, at)
                options += words[at:end]
            else:
                positional.append(words[at])
            at = end
        positional += words[at + 1 :]
        return [*options, *(["--"] if positional else []), *positional]

    def is_option(self, word: str) -> bool:
        """Whether a word is an option rather than a value, as argparse decides it."""
        if len(word) < 2 or not word.startswith("-") or self._negative_number_matcher.match(word):
            return False
        return " " not in word or self.option(word.partition("=")[0]) is not None

    def option(self, word: str) -> argparse.Action | None:
        """The option that a word names in full, abbreviated, with its value, or in a group of letters."""
        known = self._option_string_actions
        if word.startswith("--"):
            name = word.partition("=")[0]
            begun = {id(action): action for each, action in known.items() if each.startswith(name)}
            return known.get(name) or (next(iter(begun.values())) if len(begun) == 1 else None)
        first = known.get(word[:2])
        return self.option(f"-{word[2:]}") if first is not None and first.nargs == 0 and word[2:] else first

    def values_at(self, words: Sequence[str], at: int) -> int:
        """The number of words after an option that are its values. Raises `UsageFault` for an unknown option."""
        word = words[at]
        option = self.option(word)
        if option is None:
            if sum(each.startswith(word.partition("=")[0]) for each in self._option_string_actions) < 2:
                self.unknown(word)
            return 0  # ambiguous, as argparse reports
        glued = "=" in word if word.startswith("--") else len(word) > 2 and self.option(word[:2]) is option
        most = 0 if glued or option.nargs == 0 else 1 if option.nargs is None else len(words)
        rest = words[at + 1 : at + 1 + most]
        return next((count for count, each in enumerate(rest) if self.is_option(each)), len(rest))

    def commands(self) -> list[tuple[str, Parser]]:
        """The commands with their parsers, in the order of the help."""
        actions: list[Any] = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        return [(name, one) for action in actions for name, one in action.choices.items()]

    def unknown(self, word: str) -> NoReturn:
        """Raises `UsageFault` for an argument that the command does not take."""
        if word.startswith("-"):
            meant = suggestion_text(word, self._option_string_actions)
            if not meant and self._subparsers is not None:
                meant = " here; options of a command follow its name"
            self.error(f"unknown option {word.partition('=')[0]}{meant}")
        self.error(f"unexpected argument {word!r}")

    def error(self, message: str) -> NoReturn:
        raise UsageFault(f"{message} (`{self.prog} --help` lists the options)")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(each) for each in action.choices]
            meant, listed = suggestion_text(str(value), known), ", ".join(known)
            if " " not in self.prog and str(value).lower() in OTHER_COMMANDS:
                meant = f"; did you mean {OTHER_COMMANDS[str(value).lower()]}?"
            name = "/".join(action.option_strings) or str(action.metavar or action.dest).lower()
            if isinstance(action, argparse._SubParsersAction):
                raise UsageFault(f"unknown {name.lower()} {value!r}{meant or f'. {name.capitalize()}s: {listed}'}")
            raise UsageFault(f"invalid {name} {value!r}{meant} (choose from {listed})")

    def _print_message(self, message: str, file: object = None) -> None:
        from clusterspec.cli.terminal import print_text

        print_text(message)


OTHER_COMMANDS = {
    **dict.fromkeys(("validate", "lint", "verify", "review"), "check"),
    **dict.fromkeys(("compare", "changes"), "diff"),
    **dict.fromkeys(("predict", "plan", "size", "memory", "time"), "estimate"),
    **dict.fromkeys(("fix", "format"), "check --fix"),
    **dict.fromkeys(("optimize", "tune", "layouts"), "search"),
    **dict.fromkeys(("price", "tco", "budget"), "cost"),
    **dict.fromkeys(("parts", "bill"), "bom"),
    **dict.fromkeys(("list", "show", "hardware", "models"), "catalog"),
    **dict.fromkeys(("new", "create", "template"), "init"),
    **dict.fromkeys(("rules", "rule"), "explain"),
    **dict.fromkeys(("serve", "gui", "web"), "edit"),
    **dict.fromkeys(("pdf", "html"), "report"),
    "version": "--version",
}
"""Commands that other programs have, with the command that does the same here."""


def suggestion_text(word: str, words: Iterable[str]) -> str:
    """The known words that are most similar to a word, as the end of a message; empty if there is none."""
    from difflib import get_close_matches

    begins = [each for each in words if each.startswith(word)] if word.strip("-") else []
    near = begins[:3] or get_close_matches(word, list(words), n=1, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else ""


class _OneFile(argparse.Action):
    """The action of an option for the single output file of a call. A second name is an error, since the first file
    would not be written.
    """

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: str | None = None
    ) -> None:
        if getattr(namespace, self.dest, None) is not None:
            raise argparse.ArgumentError(self, "given twice, and a call writes one file")
        setattr(namespace, self.dest, values)


def output_option(parser: argparse.ArgumentParser, help_: str) -> None:
    """Adds the required option for the single output file of a call."""
    parser.add_argument("-o", "--output", metavar="FILE", type=path, required=True, action=_OneFile, help=help_)


def day(text: str) -> date:
    """A date as YYYY-MM-DD."""
    from datetime import date

    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date; write YYYY-MM-DD") from None


def nonempty_name(text: str) -> str:
    """A nonempty name. Raises an error for an empty one, as from an unset shell variable."""
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty name")
    return text


def path(text: str) -> str:
    """A file or folder as commands print it: relative if it is inside the working folder, else as given.

    Needless parts are left out, and `..` where the result is the same file.

    >>> path("./pods//a.yaml"), path(os.path.abspath("pods/a.yaml")), path("-"), path("./-"), path(os.curdir)
    ('pods/a.yaml', 'pods/a.yaml', '-', './-', '.')
    """
    if nonempty_name(text) == "-" or os.sep != "/":
        return text
    here, whole = os.getcwd(), os.path.abspath(text)  # noqa: PTH100, PTH109 - links are not followed
    if ".." in text.split("/") and not is_same_file(text, whole):
        return text
    short = os.path.normpath(text)
    if whole == here or whole.startswith(f"{here}/"):
        short = whole[len(here) + 1 :] or "."
    return text if short.startswith("-") else short


def is_same_file(one: str, other: str) -> bool:
    """Whether two names refer to the same existing file."""
    try:
        return os.path.samefile(one, other)  # noqa: PTH121
    except (OSError, ValueError):
        return False


def positive_integer(text: str) -> int:
    """A positive integer."""
    if not (text.isascii() and text.isdigit()) or not 0 < len(text) <= 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 999999999")
    return int(text)


def format_option(parser: argparse.ArgumentParser, *choices: str) -> None:
    """Add ``--format`` with the first choice as the default."""
    parser.add_argument("--format", choices=choices, default=choices[0], help=f"output format (default: {choices[0]})")


def spec_argument(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add the spec argument, ``--stdin-filename``, and the choice of a part of a fleet."""
    number = "?" if optional else None
    parser.add_argument("spec", metavar="SPEC", type=path, nargs=number, help="the spec; - reads standard input")
    stdin_filename(parser)
    fleet_options(parser)


def fleet_options(parser: argparse.ArgumentParser) -> None:
    """Add ``--job`` and ``--pool``."""
    one = parser.add_mutually_exclusive_group()
    one.add_argument(
        "--job", metavar="NAME", type=nonempty_name, help="for a fleet, select this job, on its part of its pool"
    )
    one.add_argument(
        "--pool", metavar="NAME", type=nonempty_name, help="for a fleet, select this pool, without a workload"
    )


def stdin_filename(parser: argparse.ArgumentParser) -> None:
    """Add ``--stdin-filename``."""
    parser.add_argument(
        "--stdin-filename", metavar="NAME", type=nonempty_name, help="the name to use for standard input"
    )


def shared_options(parents: Sequence[argparse.ArgumentParser] = ()) -> Parser:
    """A parser with the options of all commands."""
    shared = Parser(add_help=False, parents=list(parents))
    group = shared.add_argument_group(EVERYWHERE)
    group.add_argument(
        "--catalog",
        metavar="DIR",
        type=path,
        action="append",
        default=[],
        help="a folder of catalog entries that add to the shipped ones or override them",
    )
    group.add_argument(
        "--config", metavar="FILE", type=path, help="the configuration, instead of clusterspec.toml or pyproject.toml"
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
