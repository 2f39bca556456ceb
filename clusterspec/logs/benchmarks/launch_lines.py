"""The lines of a log that launch an MPI test: the ranks and nodes that its launcher starts it on.

Launchers: Open MPI (``mpirun -np N --map-by ppr:K:node``), Hydra of MPICH and Intel MPI (``mpiexec.hydra -n N
-ppn K``), ``srun`` of Slurm, ``flux run``, ``aprun`` of Cray and ``jsrun`` of IBM. A number that a variable or a file
of hosts holds is unknown.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from clusterspec.logs.benchmarks.benchmark import MOST_RANKS
from clusterspec.logs.text_lines import lines_of
from clusterspec.records import dataclass


@dataclass(frozen=True)
class Launch:
    """A launch of a test: the name of its program with the words after it, and the ranks and nodes that the launcher
    states, None where it states none.
    """

    program: str
    options: tuple[str, ...]
    ranks: int | None
    nodes: int | None
    line: int


MOST_LAUNCHES = 1_000
LONGEST = 4_000
"""Largest number of characters of a command that is read."""
_LAUNCHER = re.compile(r"(?<![\w.-])(mpirun|mpiexec(?:\.hydra)?|orterun|srun|aprun|jsrun|flux)\s")
_ANY_PROGRAM = re.compile(
    r"\w{1,30}_perf(?:_mpi)?|osu_\w{1,40}|IMB-\w{1,10}|ib_\w{1,20}|xhpl|[\w.-]{1,60}\.(?:sh|py)|python3?(?:\.[0-9]{1,2})?"
)
_ENDS = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "<", "`"})
_MPI = {
    "ranks": ("-np", "-n", "--np", "--n", "-c"),
    "per_node": ("-N", "-npernode", "--npernode", "-ppn", "--ppn", "-perhost", "--perhost"),
    "hosts": ("-H", "-host", "--host", "-hosts", "--hosts"),
    "mapping": ("--map-by", "-map-by"),
}
_OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "mpirun": _MPI,
    "srun": {
        "ranks": ("-n", "--ntasks"),
        "nodes": ("-N", "--nodes"),
        "per_node": ("--ntasks-per-node",),
        "hosts": ("-w", "--nodelist"),
    },
    "flux": {"ranks": ("-n", "--ntasks"), "nodes": ("-N", "--nodes"), "per_node": ("--tasks-per-node",)},
    "aprun": {"ranks": ("-n", "--pes"), "per_node": ("-N", "--pes-per-node")},
    "jsrun": {
        "ranks": ("-p", "--np"),
        "sets": ("-n", "--nrs"),
        "per_set": ("-a", "--tasks_per_rs"),
        "sets_per_node": ("-r", "--rs_per_host"),
    },
}
"""The options of launchers by what they state; `_MPI` matches every ``mpirun`` and ``mpiexec``."""


def launches_in(text: str, program: re.Pattern[str]) -> list[Launch]:
    """The launches of programs whose file name fits a pattern, in the order of the text; at most `MOST_LAUNCHES`."""
    found: list[Launch] = []
    for line, command in _commands_of(text):
        if len(found) < MOST_LAUNCHES and (launch := _launch_of(command, line, program)):
            found.append(launch)
    return found


_PLACED = re.compile(
    r"MPI startup\(\): (?:(?P<head>Rank\s+Pid\s)|[0-9]{1,6}\s+[0-9]{1,10}\s+(?P<node>[\w.-]{1,200})(?:\s|$))"
)
"""The heading and a row of the table of ranks that Intel MPI prints at its start (``I_MPI_DEBUG=4`` and above)."""


def placements_in(text: str) -> list[Launch]:
    """The starts of Intel MPI that print the nodes of their ranks, in the order of the text; at most `MOST_LAUNCHES`.

    >>> placements_in("[0] MPI startup(): Rank    Pid  Node name\\n[0] MPI startup(): 0  927  n8  0\\n")[0].nodes
    1
    """
    found: list[tuple[int, list[str]]] = []
    for number, line in enumerate(lines_of(text), 1):
        if "MPI startup(): " not in line[:LONGEST] or not (match := _PLACED.search(line[:LONGEST])):
            continue
        if match["head"] and len(found) < MOST_LAUNCHES:
            found.append((number, []))
        elif match["node"] and found:
            found[-1][1].append(match["node"])
    return [Launch("", (), len(nodes), len(set(nodes)), line) for line, nodes in found if nodes]


def nodes_launched(text: str) -> int:
    """The nodes on which the launches of a text start one program; 0 without a launch, or with several that differ.

    >>> nodes_launched("$ srun -w node1,node2 -n 2 osu_bcast\\n")
    2
    """
    found = {launch.nodes for launch in launches_in(text, _ANY_PROGRAM)}
    return next(iter(found)) or 0 if len(found) == 1 else 0


def _commands_of(text: str) -> Iterator[tuple[int, str]]:
    """The lines that name a launcher, from it on, with the lines that continue them."""
    held, first = "", 0
    for number, line in enumerate(lines_of(text), 1):
        if not held:
            match = _LAUNCHER.search(line[:LONGEST])
            if not match:
                continue
            held, first = line[match.start() :][:LONGEST], number
        else:
            held = (held + line)[:LONGEST]
        if held.rstrip().endswith("\\") and len(held) < LONGEST:
            held = held.rstrip()[:-1] + " "
            continue
        yield first, held
        held = ""
    if held:
        yield first, held


def _launch_of(command: str, line: int, program: re.Pattern[str]) -> Launch | None:
    """The launch of a command; None if it starts another program, or several."""
    words = _words_of(command)
    names = [word.rpartition("/")[2] for word in words]
    at = next((at for at, name in enumerate(names) if program.fullmatch(name)), 0)
    if not at:
        return None
    stated = _stated_by(names[0], words[1:at])
    ranks, nodes = _ranks_and_nodes(stated) if ":" not in words else (None, None)
    return Launch(names[at], tuple(words[at + 1 :]), ranks, nodes, line)


def _words_of(command: str) -> list[str]:
    """The words of a command up to a redirection or the next command; none if a quote is not closed."""
    words: list[str] = []
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars="|&;<>`")
        lexer.whitespace_split, lexer.commenters = True, ""
        for word in lexer:
            if word in _ENDS:
                break
            words.append(word)
    except ValueError:
        return []
    return words


def _stated_by(launcher: str, words: Sequence[str]) -> dict[str, str]:
    """What the options of a launcher state, by name. The last one counts, as it does for the launchers."""
    options = _OPTIONS.get(launcher, _MPI)
    names = {option: name for name, each in options.items() for option in each}
    stated: dict[str, str] = {}
    for at, word in enumerate(words):
        option, equals, value = word.partition("=")
        if word in {"-pernode", "--pernode"}:
            stated["per_node"] = "1"
        elif option in names:
            stated[names[option]] = value if equals else words[at + 1] if at + 1 < len(words) else ""
        elif launcher in _OPTIONS and launcher != "mpirun" and word[:2] in names and word[2:].isdecimal():
            stated[names[word[:2]]] = word[2:]
    return stated


def _ranks_and_nodes(stated: dict[str, str]) -> tuple[int | None, int | None]:
    ranks, nodes, per_node = (_count_in(stated.get(name)) for name in ("ranks", "nodes", "per_node"))
    if mapped := re.match(r"ppr:([0-9]{1,5}):node\b", stated.get("mapping", "")):
        mapped_ranks = int(mapped[1])
        per_node = mapped_ranks if "per_node" not in stated or per_node == mapped_ranks else None
    if (sets := _count_in(stated.get("sets"))) and "ranks" not in stated:
        ranks = sets * (_count_in(stated.get("per_set", "1")) or 0) or None
        on_node = _count_in(stated.get("sets_per_node"))
        nodes = -(-sets // on_node) if on_node else None
    if ranks is None and "ranks" not in stated and nodes and per_node:
        ranks = nodes * per_node
    if nodes is None and "nodes" not in stated and ranks and per_node:
        nodes = -(-ranks // per_node)
    if nodes is None and "nodes" not in stated and ranks:
        nodes = _filled_hosts(stated.get("hosts", ""), ranks)
    return (ranks if ranks is None or ranks <= MOST_RANKS else None), nodes


def _filled_hosts(hosts: str, ranks: int) -> int | None:
    """The number of nodes that ranks fill in a list of hosts: one host, or one host per rank; None for other lists."""
    names = [host.partition(":") for host in hosts.split(",") if host]
    if not names or any("$" in name or "[" in name or name.startswith("@") for name, _, _ in names):
        return None
    distinct = len({name for name, _, _ in names})
    if distinct == 1:
        return 1
    single = distinct == len(names) == ranks and all(slots in {"", "1"} for _, _, slots in names)
    return ranks if single else None


def _count_in(text: str | None) -> int | None:
    """A whole number above zero; None for another text, such as a variable or a range."""
    return int(text) if text and re.fullmatch(r"[0-9]{1,6}", text) and int(text) else None
