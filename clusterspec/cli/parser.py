"""The commands and the parser of the command line. The command reference in the docs is made from this.

The options of a command are described in `clusterspec.cli.options`, what it does is in `clusterspec.cli.commands`.
"""

from __future__ import annotations

import argparse
import importlib

import clusterspec
from clusterspec.cli.options import Parser, everywhere
from clusterspec.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

EPILOG = (
    "Exit status: 0 nothing found at or above --fail-on, 1 findings, 2 the call cannot be carried out, "
    "3 a fault of ours."
)


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its line in the help, and the module that holds its options and its ``run``.

    A command that is not ``built`` yet is absent from the help, and says so in one line.
    """

    summary: str
    module: str
    built: bool = True


COMMANDS = {
    "check": Command("reports what is wrong with specs, where, and what to do", "check"),
    "estimate": Command("predicts memory, step time, MFU and communication, term by term", "estimate"),
    "collective": Command("predicts a collective's time and bus bandwidth, as nccl-tests prints them", "collective"),
    "search": Command("finds the best layouts for a cluster and a workload", "search"),
    "solve": Command("finds the least or most of one key that meets a condition", "solve"),
    "sensitivity": Command("moves each lever one step up and down: time, memory, cost", "sensitivity"),
    "sweep": Command("finds the best layout of every point of a grid of specs", "sweep"),
    "bom": Command("counts what has to be bought: nodes, switches, cables, with derivations", "bom"),
    "cost": Command("adds up capital, energy, support and rent over the term, by year, run and token", "cost"),
    "report": Command("writes a report as HTML or PDF", "report"),
    "diff": Command(
        "shows what changed between two specs, and what it does to bandwidth, memory, time and cost", "diff"
    ),
    "explain": Command("prints the page of a rule", "explain"),
    "catalog": Command("shows what is known, with its sources", "catalog"),
    "convert": Command("shows every reading of a quantity: bits and bytes, one direction and both", "convert"),
    "import": Command("reads what an infrastructure repository already holds into a spec", "importer"),
    "diagnose": Command(
        "compares logs of collectives with the design, and ranks the causes of what is slow", "diagnose"
    ),
    "accept": Command("holds logs of collectives against the acceptance tests: pass, fail, not run", "accept"),
    "export": Command("writes a design as what an infrastructure repository holds", "exporter"),
    "config": Command("shows which configuration holds for a file, and where each choice comes from", "config"),
    "lsp": Command("serves editors: findings while typing, hover, completion, quick fixes", "lsp"),
    "completion": Command("prints the completion script of a shell: bash, zsh or fish", "completion"),
    "init": Command("prints a starting spec", "start"),
    "schema": Command("prints the JSON Schema of the spec, for editors", "schema"),
}
"""Every command, in the order of the help."""


class Version(argparse.Action):
    """Prints the version; a standard output that takes nothing is a fault of the call."""

    def __call__(self, *_: object) -> NoReturn:
        from clusterspec.cli.terminal import say

        say(f"clusterspec {clusterspec.__version__}\n")
        raise SystemExit(0)


def parser(arguments: Sequence[str] | None = None) -> Parser:
    """The whole command line; for given ``arguments`` with the options of the command that they name alone."""
    top = Parser(prog="clusterspec", description=clusterspec.__doc__, epilog=EPILOG)
    top.add_argument("-V", "--version", action=Version, nargs=0, help="show the version of the program and exit")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    wanted = None if arguments is None else next((word for word in arguments if word in COMMANDS), "")
    for name, command in COMMANDS.items():
        shown: dict[str, Any] = {"help": command.summary} if command.built else {}
        if wanted is not None and wanted != name:
            commands.add_parser(name, add_help=False, **shown)
        else:
            parents = [everywhere()]
            one = commands.add_parser(name, description=command.summary, parents=parents, epilog=EPILOG, **shown)
            importlib.import_module(f"clusterspec.cli.options.{command.module}").describe(one)
            one.set_defaults(run=runner(name), command=name)
    return top


def runner(name: str) -> Callable[[argparse.Namespace], int]:
    """The function of a command, imported when it is called so that others stay light."""
    module = COMMANDS[name].module if COMMANDS[name].built else "unbuilt"

    def run(asked: argparse.Namespace) -> int:
        return int(importlib.import_module(f"clusterspec.cli.commands.{module}").run(asked))

    return run


def documented(top: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    """Every built command with its parser, in the order of the help; for the reference."""
    actions: list[Any] = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    return [(name, one) for action in actions for name, one in action.choices.items() if COMMANDS[name].built]
