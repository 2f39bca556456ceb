"""How a call is read: options anywhere, `--`, help, and the columns that the output may use."""

from __future__ import annotations

import argparse
import itertools
import os
import re
from pathlib import Path

import pytest

from clusterspec.cli import UsageFault
from clusterspec.cli.commands import COMMANDS, documented_commands, parser
from clusterspec.cli.options import Parser
from tests.cli.conftest import BASE, Call
from tests.effort import diagonal, each, sampled, telling, thorough

VALUES = {
    "DATE": "2026-11-20",
    "AXIS,AXIS": "tp,pp",
    "N": "3",
    "YEAR": "2025",
    "SHARE": "0.1",
    "N,N": "3",
    "AMOUNT": "2M",
    "POWER": "2 MW",
    "SECONDS": "60",
}
LEAVES: dict[str, Parser] = {}
for _name, _one in documented_commands(parser()):
    _actions = documented_commands(_one)
    LEAVES |= {f"{_name} {inner}": leaf for inner, leaf in _actions} if _actions else {_name: _one}


def word(action: argparse.Action) -> str:
    """A value that an argument takes."""
    return str(next(iter(action.choices))) if action.choices else VALUES.get(str(action.metavar), "x")


def positional(leaf: Parser) -> list[str]:
    return [word(one) for one in leaf._actions if not one.option_strings]


def required(leaf: Parser) -> list[list[str]]:
    return [[one.option_strings[-1], word(one)] for one in leaf._actions if one.option_strings and one.required]


def options(leaf: Parser) -> list[list[str]]:
    """Every option that a call may have, with a value where it takes one."""
    wanted = [one for one in leaf._actions if one.option_strings and not isinstance(one, argparse._HelpAction)]
    return [[one.option_strings[-1], *([] if one.nargs == 0 else [word(one)])] for one in wanted if not one.required]


def read(*words: str) -> dict[str, object]:
    return {key: value for key, value in vars(parser(words).parse_args(words)).items() if key != "run"}


@thorough
@pytest.mark.parametrize("name", sampled(LEAVES, 13))
def test_an_option_means_the_same_before_between_and_after_the_arguments(name: str) -> None:
    leaf, command = LEAVES[name], name.split()
    takes = positional(leaf)
    several = {one.option_strings[-1] for one in leaf._actions if one.option_strings and one.nargs in {"+", "*"}}
    for option in options(leaf):
        must = [*itertools.chain(*required(leaf))]
        expected = read(*command, *must, *option, "--", *takes)
        greedy = option[0] in several
        for at in range(len(takes) + 1):
            between = [*takes[:at], *option, *(["--"] if greedy else []), *takes[at:]]
            assert read(*command, *must, *between) == expected, between
        if not greedy:
            assert read(*command, *takes, *option, *must) == expected


@telling(2)
@each("name", LEAVES)
@each("option", [["--catalog", "check"], ["--catalog=list"], ["--debug"], ["--color", "never"]])
def test_an_option_of_all_commands_may_precede_the_command(name: str, option: list[str]) -> None:
    leaf = LEAVES[name]
    rest = [*itertools.chain(*required(leaf)), *positional(leaf)]
    expected = read(*name.split(), *option, *rest)
    for at in range(len(name.split())):
        command = name.split()
        assert read(*command[:at], *option, *command[at:], *rest) == expected


def test_what_follows_two_dashes_is_no_option() -> None:
    read_ = read("check", "a.yaml", "--quiet", "--", "--fix", "-", "b.yaml")
    assert (read_["paths"], read_["quiet"], read_["fix"]) == (["a.yaml", "--fix", "-", "b.yaml"], True, False)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("check -qv a", {"quiet": True, "verbose": True, "paths": ["a"]}),
        ("check a --stat b", {"statistics": True, "paths": ["a", "b"]}),
        ("report -oout.html a", {"output": "out.html", "spec": "a"}),
        ("report a --against b c -o out.html", {"against": ["b", "c"], "spec": "a"}),
        ("report -o out.html --against b c -- a", {"against": ["b", "c"], "spec": "a"}),
        ("check - --format=json", {"paths": ["-"], "format": ["json"]}),
        ("check", {"paths": ["."]}),
        ("check --quiet", {"paths": ["."]}),
        ("catalog search --format json nvlink -- switch", {"words": ["nvlink", "switch"]}),
    ],
)
def test_a_call_is_read_as_it_is_meant(words: str, expected: dict[str, object]) -> None:
    assert read(*words.split()).items() >= expected.items()


@each(
    ("words", "said"),
    [
        ("chek a", "unknown command 'chek'; did you mean check?"),
        ("frobnicate", "unknown command 'frobnicate'. Commands: check, estimate, "),
        ("catalog lst", "unknown action 'lst'; did you mean list?"),
        ("check --formatt json a", "unknown option --formatt; did you mean --format?"),
        ("--format json check a", "unknown option --format here; options of a command follow its name"),
        ("check --format xml", "invalid --format 'xml' (choose from text, concise, json, "),
        (
            "check --fail-on warnings",
            "invalid --fail-on 'warnings'; did you mean warning? (choose from error, warning, note)",
        ),
        ("check --s x", "ambiguous option: --s could match --select, --statistics, --stdin-filename"),
        ("estimate a b", "unexpected argument 'b'"),
        ("init training", "unexpected argument 'training'"),
        ("schema -- x", "unexpected argument 'x'"),
        ("compare a b", "unknown command 'compare'; did you mean diff?"),
        ("Validate a", "unknown command 'Validate'; did you mean check?"),
        ("catalog validate", "unknown action 'validate'. Actions: "),
        ("estimate", "the following arguments are required: SPEC"),
        ("estimate a --explain", "--explain: expected one argument"),
        ("search a --top -1", "'-1' is not a whole number from 1"),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong(words: str, said: str) -> None:
    with pytest.raises(UsageFault, match=re.escape(said)):
        read(*words.split())


@pytest.mark.parametrize("words", [[], ["help"], ["--color", "never"]], ids=str)
def test_without_a_command_the_help_is_printed(words: list[str], call: Call) -> None:
    assert call(*words) == call("--help")


@telling(1)
@pytest.mark.parametrize("name", [*COMMANDS, *LEAVES])
def test_help_of_a_command_is_its_help_option(name: str, call: Call) -> None:
    done = call("help", *name.split())
    assert done == call(*name.split(), "--help")
    assert done.status == 0 and done.out.startswith(f"usage: clusterspec {name} ")


def test_help_of_an_unknown_command_offers_the_nearest(call: Call) -> None:
    done = call("help", "chek")
    assert (done.status, done.out) == (2, "") and "unknown command 'chek'; did you mean check?" in done.error


def test_an_action_that_is_missing_is_listed(call: Call) -> None:
    assert call("catalog") == call("catalog", "--help")


def test_check_without_a_path_checks_the_folder_here(call: Call) -> None:
    Path("spec.yaml").write_text(BASE.replace("tp: 2", "tp: 3"))
    assert call("check") == call("check", ".")
    assert call("check").status == 1


NAMES = ["pods/a.yaml", "./pods/a.yaml", "pods//a.yaml", "{here}/pods/a.yaml", "pods/../pods/a.yaml"]


@pytest.mark.parametrize(
    ("command", "given"), diagonal(6, ["check", "bom", "collective", "estimate", "search", "diff"], NAMES)
)
def test_a_file_is_printed_relative_to_the_working_folder(command: str, given: str, call: Call) -> None:
    Path("pods").mkdir()
    Path("pods/a.yaml").write_text(BASE.replace("tp: 2", "tp: 3").replace("nodes: 4", "nodes: 1"))
    name = given.format(here=Path.cwd())
    more = {"collective": ["all-reduce", "--ranks", "8"], "search": ["--format", "csv"], "diff": ["pods/a.yaml"]}
    done = call(command, name, *more.get(command, []))
    said = done.out + done.error
    assert "pods/a.yaml" in said
    assert not re.search(r"/pods/a\.yaml|pods//a|\.\./pods", said), said


@pytest.mark.parametrize("folder", [".", "{here}", "./", "pods/.."])
def test_files_of_a_folder_are_printed_relative_to_it(folder: str, call: Call) -> None:
    Path("pods").mkdir()
    Path("pods/a.yaml").write_text(BASE.replace("tp: 2", "tp: 3"))
    done = call("check", folder.format(here=Path.cwd()), "--format", "concise")
    assert {line.partition(":")[0] for line in done.out.splitlines()} == {"pods/a.yaml"}


def test_a_file_outside_the_working_folder_keeps_its_name(call: Call) -> None:
    here = Path.cwd()
    Path("a.yaml").write_text(BASE.replace("tp: 2", "tp: 3"))
    Path("elsewhere").mkdir()
    os.chdir("elsewhere")
    for name in ("../a.yaml", str(here / "a.yaml")):
        assert call("check", name, "--format", "concise").out.startswith(f"{name}:"), name


def test_options_of_a_log_of_failures_need_a_log(call: Call) -> None:
    Path("s.yaml").write_text(BASE)
    Path("log.csv").write_text("time,part,host\n2026-01-02T00:00:00Z,gpu,n1\n")
    for words in (("--period", "30 d"), ("--log", "log.csv", "--pairs"), ("--log", "log.csv", "--format", "csv")):
        done = call("faults", "s.yaml", *words)
        assert done.status == 2 and "--log takes no --pairs and prints no CSV" in done.error, words
    assert call("faults", "s.yaml", "--log", "log.csv", "--period", "30 d").status == 0
