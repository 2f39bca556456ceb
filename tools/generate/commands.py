"""The command reference, from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from clusterspec.cli.commands import EPILOG, documented_commands, parser
from clusterspec.cli.options import shared_options

HEAD = f"""# Commands

<!-- Made from the parser by `make docs`. -->

{EPILOG}
"""


def page() -> str:
    shared = {option for action in shared_options()._actions for option in action.option_strings}
    parts = [HEAD]
    for name, one in documented_commands(parser()):
        parts += section(name, one, shared)
    parts += ["## Everywhere\n", table(shared_options(), set())]
    return "\n".join(parts)


def section(name: str, parser: argparse.ArgumentParser, shared: set[str]) -> Iterator[str]:
    yield f"## `clusterspec {name}`\n"
    yield _sentence(parser.description or "")
    if rows := table(parser, shared):
        yield rows
    for actions in (action for action in parser._actions if isinstance(action, argparse._SubParsersAction)):
        helps = {choice.dest: choice.help for choice in actions._choices_actions}
        for inner, sub in actions.choices.items():
            yield f"### `clusterspec {name} {inner}`\n"
            yield _sentence(helps.get(inner) or "")
            yield table(sub, shared)


def _sentence(text: str) -> str:
    return f"{text.strip()[:1].upper()}{text.strip()[1:].rstrip('.')}.\n"


def table(parser: argparse.ArgumentParser, shared: set[str]) -> str:
    rows = [row(action) for action in parser._actions if is_documented(action, shared)]
    return "\n".join(["| argument | meaning |", "|---|---|", *rows, ""]) if rows else ""


def is_documented(action: argparse.Action, shared: set[str]) -> bool:
    if isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
        return False
    return not (set(action.option_strings) & shared)


def row(action: argparse.Action) -> str:
    takes = action.metavar if isinstance(action.metavar, str) else "|".join(map(str, action.choices or ()))
    name = ", ".join(action.option_strings) if action.option_strings else ""
    shown = f"{name} {takes}".strip() or action.dest
    return f"| `{cell(shown)}` | {cell((action.help or '').replace('%%', '%'))} |"


def cell(text: str) -> str:
    return text.replace("|", "\\|")
