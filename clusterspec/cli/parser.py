"""The commands and their options. The command reference in the docs is made from this."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from datetime import date
from typing import Any, NoReturn

import clusterspec
from clusterspec.cli import UsageFault

EPILOG = (
    "Exit status: 0 nothing found at or above --fail-on, 1 findings, 2 the call cannot be carried out, "
    "3 a fault of ours."
)
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv")
CHECK_FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown")


class Parser(argparse.ArgumentParser):
    """Says what is wrong with a call in one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageFault(f"{message} (`{self.prog} --help` says more)")


def command(name: str) -> Callable[[argparse.Namespace], int]:
    """The function of a command, imported when it is called so that others stay light."""

    def run(asked: argparse.Namespace) -> int:
        return int(importlib.import_module(f"clusterspec.cli.commands.{name}").run(asked))

    return run


def day(text: str) -> date:
    """A date as YYYY-MM-DD."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a date; write YYYY-MM-DD") from None


def named(text: str) -> str:
    """A name, which an unset variable of a script is not."""
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty name")
    return text


def positive(text: str) -> int:
    """A whole number of at least one."""
    if not (text.isascii() and text.isdigit()) or not 0 < len(text) <= 9 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 999999999")
    return int(text)


def everywhere() -> Parser:
    """The options that every command takes."""
    shared = Parser(add_help=False)
    group = shared.add_argument_group("everywhere")
    group.add_argument(
        "--catalog",
        metavar="DIR",
        type=named,
        action="append",
        default=[],
        help="a folder of catalog entries that add to ours or override them",
    )
    group.add_argument(
        "--config", metavar="FILE", type=named, help="the configuration, instead of clusterspec.toml or pyproject.toml"
    )
    group.add_argument(
        "--today", metavar="DATE", type=day, help="the date to judge by (default: SOURCE_DATE_EPOCH, else the clock)"
    )
    group.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour on standard output (default: auto; NO_COLOR is honoured)",
    )
    group.add_argument("--debug", action="store_true", help="show the traceback of a fault of ours")
    return shared


def parser() -> Parser:
    """The whole command line."""
    top = Parser(prog="clusterspec", description=clusterspec.__doc__, epilog=EPILOG)
    top.add_argument("--version", action="version", version=f"clusterspec {clusterspec.__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    shared = everywhere()

    def add(name: str, said: str, module: str | None = None) -> Parser:
        one = commands.add_parser(name, help=said, description=said, parents=[shared], epilog=EPILOG)
        one.set_defaults(run=command(module or name), command=name)
        return one

    for describe in (
        _check,
        _estimate,
        _collective,
        _search,
        _bom,
        _report,
        _diff,
        _explain,
        _catalog,
        _convert,
        _exchange,
        _start,
    ):
        describe(add)
    return top


Add = Callable[..., Parser]


def _formats(one: Parser, *choices: str) -> None:
    one.add_argument("--format", choices=choices, default=choices[0], help=f"how to print it (default: {choices[0]})")


def _spec(one: Parser) -> None:
    one.add_argument("spec", metavar="SPEC", type=named, help="the spec; - reads standard input")
    one.add_argument("--stdin-filename", metavar="NAME", type=named, help="the name to use for standard input")


def _check(add: Add) -> None:
    one = add("check", "says what is wrong with specs, where, and what to do")
    one.add_argument(
        "paths",
        metavar="PATH",
        type=named,
        nargs="+",
        help="specs, folders to search for them, or running text (.md, .txt, .rst); - reads standard input",
    )
    _formats(one, *CHECK_FORMATS)
    one.add_argument("--output", metavar="FILE", type=named, help="write there instead of to standard output")
    one.add_argument(
        "--select",
        metavar="RULE",
        action="append",
        default=[],
        help="only these rules (repeat, or separate with commas)",
    )
    one.add_argument("--ignore", metavar="RULE", action="append", default=[], help="not these rules")
    one.add_argument("--error", metavar="RULE", action="append", default=[], help="raise these rules to errors")
    one.add_argument(
        "--fail-on", choices=("error", "warning", "note"), help="exit with 1 from this severity up (default: error)"
    )
    one.add_argument(
        "--fix", action="store_true", help="write the fixes that are certain into the files, keeping their layout"
    )
    one.add_argument("--diff", action="store_true", help="show what --fix would change, and change nothing")
    one.add_argument(
        "--baseline",
        metavar="FILE",
        type=named,
        help="report only what this file does not hold; it is written when it is absent",
    )
    one.add_argument(
        "--jobs",
        metavar="N",
        type=positive,
        help="how many processes to use (default: one for each core where there are many files)",
    )
    one.add_argument(
        "--only-specs",
        action="store_true",
        help="pass over files that are no specs, even where they are named: for hooks that name every YAML file",
    )
    one.add_argument("--no-cache", action="store_true", help="accepted for hooks that pass it: nothing is cached")
    one.add_argument("--stdin-filename", metavar="NAME", type=named, help="the name to use for standard input")


def _estimate(add: Add) -> None:
    one = add("estimate", "predicts memory, step time, MFU and communication, term by term")
    _spec(one)
    _formats(one, "text", "json")
    one.add_argument(
        "--explain", metavar="TERM", type=named, help="show one term with its formula, inputs, origins and parts"
    )


def _collective(add: Add) -> None:
    one = add("collective", "predicts a collective's time and bus bandwidth, as nccl-tests prints them")
    _spec(one)
    one.add_argument("collective", choices=COLLECTIVES, help="which collective")
    one.add_argument("--ranks", metavar="N", type=positive, required=True, help="how many ranks take part")
    one.add_argument(
        "--size",
        metavar="SIZE",
        action="append",
        default=[],
        help="bytes as nccl-tests counts them, such as 1 GiB (repeat for more rows)",
    )
    one.add_argument(
        "--algorithm",
        metavar="NAME",
        type=named,
        help="ring, tree, nvls, nvls-tree, collnet or direct (default: the fastest)",
    )
    _formats(one, "text", "json", "csv")


def _search(add: Add) -> None:
    one = add("search", "finds the best layouts for a cluster and a workload")
    _spec(one)
    one.add_argument("--top", metavar="N", type=positive, default=10, help="how many to show (default: 10)")
    one.add_argument(
        "--objective",
        choices=("step_time", "memory", "cost"),
        default="step_time",
        help="what is best (default: step_time)",
    )
    one.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="fix a key of the layout, such as tp=8"
    )
    _formats(one, "text", "json", "csv")


def _bom(add: Add) -> None:
    one = add("bom", "counts what has to be bought: nodes, switches, cables, with derivations")
    _spec(one)
    _formats(one, "text", "json", "csv")


def _report(add: Add) -> None:
    one = add("report", "writes a report as HTML or PDF")
    _spec(one)
    one.add_argument(
        "-o", "--output", metavar="FILE", type=named, required=True, help="the file to write: .html or .pdf"
    )
    one.add_argument(
        "--kind",
        choices=("design", "procurement"),
        default="design",
        help="for engineers, or for buyers (default: design)",
    )
    one.add_argument(
        "--audience",
        choices=("tender", "internal"),
        help="tender leaves out prices and internal notes (default: the spec's document.audience, else internal)",
    )


def _diff(add: Add) -> None:
    one = add("diff", "says what changed between two specs and what it does to bandwidth, memory, time and cost")
    one.add_argument("old", metavar="OLD", type=named)
    one.add_argument("new", metavar="NEW", type=named)
    _formats(one, "text", "json")


def _explain(add: Add) -> None:
    one = add("explain", "prints the page of a rule")
    one.add_argument("rule", metavar="RULE", nargs="?", help="the rule's name; without it, all rules are listed")
    _formats(one, "text", "json")


def _catalog(add: Add) -> None:
    one = add("catalog", "shows what is known, with its sources")
    actions = one.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    shared = everywhere()
    listing = actions.add_parser("list", help="the entries of a kind, or of all", parents=[shared])
    listing.add_argument(
        "kind", nargs="?", metavar="KIND", help="accelerator, interconnect, nic, switch, platform or model"
    )
    show = actions.add_parser("show", help="one entry, each figure with its source and every reading", parents=[shared])
    show.add_argument("entry", metavar="ENTRY", help="an id, or kind/id where two kinds share it")
    search = actions.add_parser("search", help="entries that mention some words", parents=[shared])
    search.add_argument("words", nargs="+", metavar="WORD")
    diff = actions.add_parser("diff", help="two entries side by side", parents=[shared])
    diff.add_argument("old", metavar="ENTRY")
    diff.add_argument("new", metavar="ENTRY")
    for action in (listing, show, search, diff):
        _formats(action, "text", "json")


def _convert(add: Add) -> None:
    one = add("convert", "shows every reading of a quantity: bits and bytes, one direction and both")
    one.add_argument("quantity", metavar="QUANTITY", help='such as "900 GB/s duplex"')
    _formats(one, "text", "json")


def _exchange(add: Add) -> None:
    for name, said in (
        ("import", "reads what an infrastructure repository already holds"),
        ("export", "writes what an infrastructure repository holds"),
    ):
        one = add(name, said, "exchange")
        one.add_argument("kind", metavar="KIND")
        one.add_argument("file", metavar="FILE" if name == "import" else "SPEC")


def _start(add: Add) -> None:
    add("init", "prints a starting spec", "start")
    add("schema", "prints the JSON Schema of the spec, for editors", "start")


def documented(top: argparse.ArgumentParser) -> list[tuple[str, Parser]]:
    """Every command with its parser, in the order of the help; for the reference."""
    actions: list[Any] = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    return [(name, one) for action in actions for name, one in action.choices.items()]
