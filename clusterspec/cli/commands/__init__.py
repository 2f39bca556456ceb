"""The commands and the parser of the command line, from which the command reference is generated.

The modules of this package implement the commands; `clusterspec.cli.options` holds the options that
several commands share.
"""

from __future__ import annotations

import argparse
import importlib

import clusterspec
from clusterspec.cli import raise_again
from clusterspec.cli.options import Parser, shared_options
from clusterspec.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType
    from typing import Any, NoReturn

EPILOG = (
    "Exit status: 0 success, 1 findings at or above --fail-on, a spec with errors, or a test or target that fails, "
    "2 the call cannot be carried out, 3 an internal error."
)
BEGIN = "`clusterspec init > cluster.yaml` writes a first spec, `clusterspec check cluster.yaml` checks it."
HELP = "help"


@dataclass(frozen=True)
class Command:
    """A command: its summary, and the module with its ``describe_NAME`` (options) and ``run_NAME`` functions."""

    summary: str
    module: str
    example: str = ""
    """The arguments of a usual call, without the program and the command."""
    status_one: str = "the spec has errors"
    """The meaning of exit status 1; empty if it does not occur."""

    @property
    def epilog(self) -> str:
        """The exit statuses, which end the help."""
        one = f"1 {self.status_one}, " if self.status_one else ""
        return f"Exit status: 0 success, {one}2 the call cannot be carried out, 3 an internal error."


COMMANDS = {
    "check": Command(
        "reports errors in specs, their position, and fixes",
        "check",
        "clusters/ --format github",
        "findings at or above --fail-on",
    ),
    "estimate": Command(
        "predicts memory, step time, MFU and communication, term by term",
        "estimate",
        "cluster.yaml --explain 'step time'",
    ),
    "collective": Command(
        "predicts a collective's time and bus bandwidth, as nccl-tests prints them",
        "estimate",
        "cluster.yaml all-reduce --ranks 32 --size '8 GiB'",
    ),
    "search": Command(
        "finds the best layouts for a cluster and a workload",
        "search",
        "cluster.yaml --top 5 --set tp=8",
        "the spec has errors, or no layout, assignment or machine meets the limits",
    ),
    "solve": Command(
        "finds the smallest or largest value of a key that meets a condition",
        "search",
        "cluster.yaml --for nodes --until 'time_to_train<=30d'",
    ),
    "simulate": Command(
        "simulates the requests of a serving plan: percentiles, goodput, queue",
        "estimate",
        "serving.yaml --requests 20000",
    ),
    "sensitivity": Command(
        "moves each parameter to the next sold value: effect on time, memory, cost", "search", "cluster.yaml"
    ),
    "sweep": Command(
        "finds the best layout for each point of a grid of specs",
        "search",
        "axes.yaml --format csv",
        "no point has a layout, or a spec has errors",
    ),
    "bom": Command(
        "prints the bill of materials: nodes, switches, cables, with derivations",
        "reports",
        "cluster.yaml --format csv",
    ),
    "cost": Command(
        "computes capital, energy, support and rent over the term, by year, run and token", "reports", "cluster.yaml"
    ),
    "faults": Command(
        "lists what each single failure stops or slows, how often, and what it costs", "reports", "cluster.yaml --pairs"
    ),
    "report": Command("writes a report as HTML or PDF", "reports", "cluster.yaml --kind procurement -o report.pdf"),
    "diff": Command(
        "shows what changed between two specs, and what it does to bandwidth, memory, time and cost",
        "reports",
        "main:cluster.yaml cluster.yaml",
    ),
    "explain": Command(
        "prints the page of a rule, or what a key of a spec means", "reference", "duplex-counted-as-one-way", ""
    ),
    "catalog": Command(
        "shows the catalog of hardware, models and software, with sources",
        "catalog",
        "show dgx-h100",
        "entries of the catalog have errors",
    ),
    "convert": Command(
        "shows the interpretations of a quantity: bits and bytes, one direction and both",
        "reference",
        "'900 GB/s duplex'",
        "",
    ),
    "import": Command(
        "imports files of infrastructure repositories into a spec",
        "exchange",
        "topology.txt --into cluster.yaml",
        "the files leave a choice open, or the spec cannot be read",
    ),
    "diagnose": Command(
        "compares logs of collectives with the design, and ranks the causes of low bandwidth",
        "logs",
        "cluster.yaml all_reduce.log",
        "a collective is slow, a run did not end, or the spec has errors",
    ),
    "measure": Command(
        "times kernels of the accelerator at hand, and writes them as a kernel table",
        "measure",
        "h100-sxm-80gb --into our-catalog/",
        "",
    ),
    "accept": Command(
        "compares logs of collectives with the acceptance tests: pass, fail, impossible, not run",
        "logs",
        "cluster.yaml logs/*.log",
        "a test failed or was not run, or the spec has errors",
    ),
    "export": Command(
        "exports a design to files of infrastructure repositories", "exchange", "megatron cluster.yaml -o launch.sh"
    ),
    "test": Command(
        "compares designs with the expectations next to them, such as step_time<=35s",
        "expectations",
        "clusters/",
        "an expectation does not hold",
    ),
    "edit": Command(
        "serves a page on this machine: editor, findings, estimate and report while typing",
        "edit",
        "cluster.yaml --open",
        "",
    ),
    "config": Command(
        "shows the configuration of a file and the origin of each setting", "reference", "clusters/east.yaml", ""
    ),
    "lsp": Command("serves editors: findings while typing, hover, completion, quick fixes", "reference", status_one=""),
    "completion": Command("prints the completion script of a shell: bash, zsh or fish", "reference", "bash", ""),
    "init": Command(
        "prints a starting spec (default: Llama 3.1 70B on 16 nodes)",
        "reference",
        "--platform dgx-h100 --model llama-3.1-70b",
        "",
    ),
    "schema": Command("prints the JSON Schema of the spec, for editors", "reference", status_one=""),
    HELP: Command("prints the options of a command, or this list", "", "solve", ""),
}
"""Every command, in the order of the reference."""
TITLES = {
    "check and estimate one design": "check estimate collective simulate faults test diff edit",
    "find a better one": "search solve sensitivity sweep",
    "buy and report": "bom cost report",
    "measure and accept": "diagnose accept measure",
    "read and write other formats": "import export",
    "look up": "explain catalog convert help",
    "set up": "init config schema lsp completion",
}
"""The commands by purpose, as the help lists them."""


class Version(argparse.Action):
    """Print the version. Raises `UsageFault` if standard output cannot be written."""

    def __call__(self, *_: object) -> NoReturn:
        from clusterspec.cli.terminal import print_text

        print_text(f"clusterspec {clusterspec.__version__}\n")
        raise SystemExit(0)


def parser(arguments: Sequence[str] | None = None) -> Parser:
    """The complete parser; with ``arguments``, only with the options of the command that they name."""
    description, shared = (clusterspec.__doc__ or "").partition("\n")[0], [shared_options()]
    top = Parser(prog="clusterspec", description=description, epilog=EPILOG, parents=shared)
    top.add_argument("-V", "--version", action=Version, nargs=0, help="show the version of the program and exit")
    commands = top.add_subparsers(  # type: ignore[call-overload]  # a function instead of a class
        title="commands", description=BEGIN, metavar="COMMAND", required=True, parser_class=_parser_of_described
    )
    commands.titles = {title: names.split() for title, names in TITLES.items()}
    wanted = None if arguments is None else command_of(top, arguments)
    for name, command in COMMANDS.items():
        if wanted is not None and wanted != name:
            commands.add_parser(name, help=command.summary)
        else:
            description = f"{command.summary[0].upper()}{command.summary[1:]}."
            one = commands.add_parser(
                name, description=description, parents=shared, epilog=command.epilog, help=command.summary
            )
            one.example = command.example
            if name == HELP:
                one.add_argument(
                    "words", metavar="COMMAND", nargs="*", help="the command, and its action if it has some"
                )
                one.set_defaults(run=print_help, command=name)
                continue
            getattr(module_of(command), f"describe_{name}")(one)
            one.set_defaults(run=command_runner(name), command=name)
    return top


class ListedCommand:
    """A placeholder for the parser of a command that is only listed, since building a parser takes as long as running a
    rule.
    """

    def _check_help(self, _: argparse.Action) -> None:
        """Asked by argparse of Python 3.14 for the help of the command, which is a summary without ``%``."""


def _parser_of_described(*, description: str = "", **options: Any) -> Parser | ListedCommand:
    """The parser of a command, or `ListedCommand`."""
    return Parser(description=description, **options) if description else ListedCommand()


def command_of(top: Parser, arguments: Sequence[str]) -> str:
    """The command that the arguments name; empty if they name none."""
    at = top.command_at(arguments)
    return arguments[at] if at is not None and at < len(arguments) else ""


def print_help(args: argparse.Namespace) -> int:
    """Print the help of a command or of an action, or the list of commands."""
    parser(args.words).parse_args([*args.words, "--help"])
    return 0


def module_of(command: Command) -> ModuleType:
    """The module that implements a command, imported on demand."""
    return importlib.import_module(f"{__name__}.{command.module}")


def command_runner(name: str) -> Callable[[argparse.Namespace], int]:
    """The ``run`` function of a command, imported on demand."""

    def run(args: argparse.Namespace) -> int:
        command = module_of(COMMANDS[name])
        raise_again()
        return int(getattr(command, f"run_{name}")(args))

    return run


def documented_commands(top: Parser) -> list[tuple[str, Parser]]:
    """The commands with their parsers, in the order of the help, for the command reference."""
    return list(top.commands())
