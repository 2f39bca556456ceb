"""Accelerators of the job steps that ``jsrun`` starts, for jobs of LSF whose directives count only nodes.

Options: IBM Job Step Manager, page "jsrun command" (www.ibm.com/docs/en/SSWRJV_10.1.0/jsm/jsrun.html), read 2026-11-29.
A resource set lies on one node, and all sets of a step are equal. Without a number of sets for each node, the sets fill
one node after the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.pbs_requests import CountedLine, JobRequest
from clusterspec.exchange.shell import script_of

_NAMES = {"n": "nrs", "r": "rs_per_host", "g": "gpu_per_rs"}
_OPTION = re.compile(r"(?:--(?P<long>nrs|rs_per_host|gpu_per_rs)|-(?P<short>[nrg]))=?(?P<value>[0-9]{1,6}|ALL_HOSTS|)")
_ON_EACH = "ALL_HOSTS"
"""The number of sets that stands for one on each node of the job."""


class _Step(NamedTuple):
    """The resource sets of a step, those of a node, and the accelerators of each; 0 if not stated or no number."""

    sets: int
    of_node: int
    accelerators: int
    line: int


def request_of_steps(text: str, nodes: CountedLine | None) -> JobRequest:
    """The nodes of a job, and the accelerators of a node that its steps use, if all of them use the same number.

    >>> request_of_steps("jsrun -n 4 -r 1 -a 6 -g6 python a.py", CountedLine(4, 1))[:2]
    (CountedLine(number=4, line=1), CountedLine(number=6, line=1))
    >>> packed = request_of_steps("jsrun -n 4 -g 1 ./own", CountedLine(2, 1))
    >>> packed.accelerators, packed.total
    (None, CountedLine(number=4, line=1))
    >>> part = request_of_steps("jsrun -n 2 -r 1 -g 6 ./own", CountedLine(8, 1))
    >>> part[:2]
    (CountedLine(number=2, line=1), CountedLine(number=6, line=1))
    >>> part.open
    (('8', 'nodes of the job, of which its step uses 2', 1),)
    """
    steps = [each for each in _steps_of_script(text, nodes.number if nodes else 0) if each.accelerators]
    if nodes is None or not steps or len({each[:3] for each in steps}) != 1:
        return JobRequest(nodes)
    step = steps[0]
    used = step.of_node or (step.sets if nodes.number == 1 else 0)
    total = CountedLine(step.sets * step.accelerators, step.line) if step.sets else None
    if used and (step.sets == used * nodes.number or not step.sets):
        of_node = CountedLine(used * step.accelerators, step.line)
        return JobRequest(nodes, of_node, CountedLine(of_node.number * nodes.number, step.line))
    hosts = -(-step.sets // step.of_node) if step.of_node and len(steps) == 1 else 0
    if 0 < hosts < nodes.number and step.sets % step.of_node == 0:
        why = f"nodes of the job, of which its step uses {hosts}"
        of_node = CountedLine(step.of_node * step.accelerators, step.line)
        return JobRequest(CountedLine(hosts, step.line), of_node, total, ((f"{nodes.number}", why, nodes.line),))
    return JobRequest(nodes, total=total)


def _steps_of_script(text: str, nodes: int) -> list[_Step]:
    """The steps of a script for a job with a number of nodes."""
    try:
        commands = script_of(text).commands if "jsrun" in text else ()
    except FormatError:
        return []
    of_jsrun = [each for each in commands if each.words[0].text.rpartition("/")[2] == "jsrun"]
    return [_resource_sets([word.text for word in each.words[1:]], each.line, nodes) for each in of_jsrun]


def _own_words(words: Sequence[str]) -> Sequence[str]:
    """The words of ``jsrun`` before those of the program that it starts.

    >>> _own_words(["-n4", "-r", "1", "$ARGS", "./own", "-g", "2"])
    ['-n4', '-r', '1', '$ARGS']
    """
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        takes_value = before.startswith("-") and "=" not in before and (before.startswith("--") or len(before) == 2)
        if not word.startswith(("-", "$")) and not takes_value:
            return words[:at]
    return words


def _resource_sets(words: Sequence[str], line: int, nodes: int) -> _Step:
    """The resource sets that the options of ``jsrun`` state, for a job with a number of nodes."""
    found: dict[str, str] = {}
    words = _own_words(words[:40])
    for at, word in enumerate(words):
        if match := _OPTION.fullmatch(word):
            after = words[at + 1] if at + 1 < len(words) else ""
            found.setdefault(match["long"] or _NAMES[match["short"]], match["value"] or after)
    numbers = {name: int(value) for name, value in found.items() if value.isdecimal() and len(value) < 7}
    on_each = found.get("nrs") == _ON_EACH
    sets = nodes if on_each else numbers.get("nrs", 0)
    of_node = 1 if on_each and "rs_per_host" not in found else numbers.get("rs_per_host", 0)
    return _Step(sets, of_node, numbers.get("gpu_per_rs", 0), line)
