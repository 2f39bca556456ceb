"""Facts that a text has for several hosts, or for a run that works and one that does not, and that differ.

The host of a line is its prefix where a library prints one, as NCCL does (`NVIDIA/nccl`, `src/debug.cc`: host, process,
thread), else the heading above it ("node 1:", "## worker-2") or the host that a sentence names before a colon. Facts
are the releases of what each host has installed, and the values that all processes of one job share.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from clusterspec.logs.reports.outcomes import HELPED
from clusterspec.logs.reports.trials import TRIAL
from clusterspec.logs.text_lines import MOST_LINES, line_at, lines_of
from clusterspec.records import NamedTuple

UNLIKE = "unlike "
"""The prefix of the names of statements about a fact that differs between hosts; the fact follows."""
ALIKE = "alike "
"""The prefix for a fact that hosts have in common, and that should differ."""
_RELEASE = r"(\d{1,3}(?:\.\d{1,4}){1,3}(?:-\d{1,3}(?![\w.]))?)"
FACTS: Mapping[str, str] = {
    "nccl": rf"\b[NR]CCL(?: library)?(?: version|:| =)?[ :=]{{0,3}}v?{_RELEASE}(?:\+cuda\S{{1,8}})?",
    "driver": r"\b[Dd]river(?: [Vv]ersion)?(?: is)?[ :=]{1,3}v?(\d{3}\.\d{2,3}(?:\.\d{2})?)\b",
    "cuda-driver": r"\bcudaDriverVersion (\d{5})\b",
    "cuda": r"\bCUDA(?: [Vv]ersion)?[ :=]{1,3}(\d{1,2}\.\d)\b",
    "rocm": rf"\bROCm(?: [Vv]ersion)?[ :=]{{1,3}}v?{_RELEASE}",
    "kernel": (
        r"\b(?:[Kk]ernel(?:\.x86_64|\.aarch64)?(?: [Vv]ersion| [Rr]elease)?[ :=]{1,3}"
        r"|Linux \S{1,60} )(\d\.\d{1,2}\.\d{1,3}-[\w.-]{1,30})"
    ),
    "ofed": r"\b(?:MLNX_OFED_LINUX-|(?:MLNX[_ ])?M?OFED(?: version)?[ :=]{1,3})(\d{1,2}\.\d{1,2}-\d[\d.]{1,12}\d)",
    "firmware": r"\b(?:fw_ver|[Ff]irmware(?: [Vv]ersion)?)[ :=]{1,40}(\d{2}\.\d{2}\.\d{4})\b",
    "torch": rf"\b(?:[Pp]y)?[Tt]orch(?: version)?[ :=]{{1,3}}v?{_RELEASE}",
    "python": rf"\b[Pp]ython(?: version)?[ :=]{{1,3}}v?{_RELEASE}",
    "ray": rf"\b[Rr]ay(?: version)?[ :=]{{1,3}}v?{_RELEASE}",
    "mpi": rf"\bOpen ?MPI\)?(?: version)?[ :=]{{0,3}}v?{_RELEASE}",
    "ucx": rf"\bUCX(?: version)?[ :=]{{1,3}}v?{_RELEASE}",
    "engine": rf"\b(?:vLLM|vllm|SGLang|sglang)(?: version)?[ :=]{{1,3}}v?{_RELEASE}",
    "image": r"\b[Ii]mage[ :=]{1,3}[\"`']?([\w./-]{3,100}:[\w.-]{1,60})",
    "size": r"\b(?:WORLD_SIZE=|NNODES=|--nnodes[ =]|--world[_-]size[ =])\"?(\d{1,6})\b",
    "meeting": (
        r"(?:\bMASTER_ADDR=|--master[_-]addr[ =]|--dist-init-addr[ =]"
        r"|--rdzv[_-]endpoint[ =])[\"']?([\w.-]{3,80}(?::\d{2,5})?)"
    ),
}
"""Facts, each with the pattern of its value: those that all hosts of a job must have in common."""
_RANK = re.compile(r"(?:\b(?:NODE_)?RANK=|--node[_-]rank[ =]|--machine[_-]rank[ =])\"?(\d{1,5})\b")
"""The rank of a host or a process, which must differ."""
_COMPILED = {fact: re.compile(words) for fact, words in FACTS.items()}
_PREFIX = re.compile(r"(?:\[\d{1,5},\d{1,5}\]<std\w{3}>:\s?)?([A-Za-z][\w.-]{0,80}):\d{1,9}:\d{1,9} \[")
"""The host before a line of a library."""
_HOST = (
    r"(?:(?:[Nn]ode|[Hh]ost|[Mm]achine|[Ss]erver|[Ww]orker)s?[ _#-]{0,2}(?:\d{1,3}|[A-D])"
    r"|(?:[Hh]ead|[Mm]aster|[Ww]orker|[Ll]eader|[Ff]irst|[Ss]econd|[Oo]ther)(?:[ _-](?:node|host|machine|server|pod))"
    r"|NODE[ _-]?\d{1,3}|HOST[ _-]?\d{1,3})"
)
_OUTCOME = (
    r"(?P<good>(?i:works|worked|working|good|before|previous(?:ly)?|old|passes|normal|expected))"
    r"|(?P<bad>(?i:fails|failed|failing|bad|broken|after|new|(?:but )?not(?: working)?|does(?: not|n't) work|slow"
    r"|problem\w{0,6}))"
)
_HEADING = re.compile(
    rf"^[\s#*>=_-]{{0,8}}(?:(?:on |for |in )?(?:the )?(?P<host>{_HOST})"
    rf"|(?i:(?:it |this )?(?:was |is |has been ))?(?:{_OUTCOME})(?: (?:with|on|under))?"
    r"(?: (?:run|case|result|node|cluster|setup|environment|version|configuration|machine)s?)?)"
    r"(?: ?\([^()\n]{0,60}\)| [A-Za-z]{1,12}){0,3}[\s*_=-]{0,6}(?::[\s*_]{0,4}|[-=#*_]{2,20})?$",
    re.MULTILINE,
)
_INLINE = re.compile(
    rf"(?:^|[\s,;(])(?P<host>{_HOST})(?: ?\([^()\n]{{0,40}}\))?(?: (?:has|runs|uses|is on|with)\b|[:=](?!\d))"
)
_LONE = re.compile(
    r"\b(?:[Rr]ank|[Pp]rocess(?:or)?|[Tt]ask)[ :#=]{1,3}0 ?(?:/|of|out of|,? (?:world )?size[ :=]{1,2}) ?1\b(?![./])"
)
"""What programs print of the rank and the number of ranks of a process that is alone in its job."""
FEWEST = 2
"""Such processes from which a launcher started separate jobs."""
LONGEST = 600
"""Characters of a line that is read for facts."""
MOST_FOUND = 64
"""Values of one fact behind prefixes that are read."""
_LIBRARY = "CCL INFO "
"""Words of lines of a library, which have a prefix."""
MOST_SEARCHED = 1_000_000
"""Characters of a text in which the first heading is."""
SECTION = 80
"""Lines below a heading that are of its host."""
_PART_OF = {
    "nccl": "library",
    "driver": "driver",
    "cuda-driver": "driver",
    "cuda": "library",
    "rocm": "library",
    "kernel": "kernel",
    "ofed": "kernel",
    "firmware": "nic-firmware",
    "image": "image",
}
"""The part whose release another outcome shows to be at fault; a library for other releases."""
_OF_ONE_JOB = frozenset({"size", "meeting"})


class HostFact(NamedTuple):
    """A value that a line has of a fact, of a host or of the outcome of a run."""

    whose: str
    fact: str
    value: str
    line: int


def unlike_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The facts that differ between hosts, or between runs of unlike outcome, each with the first line that shows it.

    >>> list(unlike_statements("node1: driver 535.104.05\\nnode2: driver 550.54.14"))
    [('unlike driver', '535.104.05 on node1, 550.54.14 on node2', 2)]
    >>> list(unlike_statements("Works:\\nNCCL version 2.18.5\\nFails:\\nNCCL version 2.19.3"))
    [('trial helped release of library', 'with nccl 2.18.5 it works, with 2.19.3 it does not', 4)]
    """
    if lone := _lone_processes(text):
        yield lone
    told = [*_told_behind_prefixes(text), *_told_below_headings(text)]
    for fact in dict.fromkeys(each.fact for each in told):
        values = _values_by_owner([each for each in told if each.fact == fact])
        yield from _of_hosts(fact, values)
        yield from _of_outcomes(fact, values)


def _lone_processes(text: str) -> tuple[str, str, int] | None:
    """The statement that several processes print that they are the only one of their job; None below `FEWEST`.

    >>> _lone_processes("Hello, rank 0/1\\nHello, rank 0/1")
    ('alike world', '2 processes print that they are rank 0 of 1', 2)
    """
    found = list(islice(_LONE.finditer(text), MOST_FOUND))
    if len(found) < FEWEST:
        return None
    line = line_at(text, found[1].start())
    return f"{ALIKE}world", f"{len(found)} processes print that they are rank 0 of 1", line


def _values_by_owner(told: list[HostFact]) -> dict[str, list[HostFact]]:
    """The values of one fact by the host or the outcome that has them."""
    found: dict[str, list[HostFact]] = {}
    for each in told:
        found.setdefault(each.whose, []).append(each)
    return found


def _of_hosts(fact: str, values: Mapping[str, list[HostFact]]) -> Iterator[tuple[str, str, int]]:
    """The statement that two hosts have no value of a fact in common; for ranks that they have the same one."""
    hosts = [whose for whose in values if whose not in (HELPED, "")]
    for place, host in enumerate(hosts[1:], 1):
        first, other = values[hosts[0]], values[host]
        shared = {each.value for each in first} & {each.value for each in other}
        if fact == "rank" and shared and len(first) == len(other) == 1:
            yield f"{ALIKE}rank", f"{other[0].value} on {hosts[0]} and on {host}", other[0].line
            return
        if fact != "rank" and not shared:
            shown = f"{first[0].value} on {hosts[0]}, {other[0].value} on {hosts[place]}"
            yield f"{UNLIKE}{fact}", shown, other[0].line
            return


def _of_outcomes(fact: str, values: Mapping[str, list[HostFact]]) -> Iterator[tuple[str, str, int]]:
    """The statement that a run works with one value of a fact, and does not with another one."""
    good, bad = values.get(HELPED, []), values.get("", [])
    if fact == "rank" or fact in _OF_ONE_JOB or not good or not bad:
        return
    if {each.value for each in good} & {each.value for each in bad}:
        return
    shown = f"with {fact} {good[0].value} it works, with {bad[0].value} it does not"
    yield f"{TRIAL}{HELPED} release of {_PART_OF.get(fact, 'library')}", shown, max(good[0].line, bad[0].line)


def _told_behind_prefixes(text: str) -> Iterator[HostFact]:
    """The releases that lines with the prefix of a library have."""
    if not _PREFIX.search(text):
        return
    for fact in ("nccl", "cuda-driver"):
        for match in islice(_COMPILED[fact].finditer(text), MOST_FOUND):
            start = text.rfind("\n", 0, match.start()) + 1
            if host := _PREFIX.match(text[start : start + LONGEST]):
                yield HostFact(host[1], fact, match[1], line_at(text, start))


def _told_below_headings(text: str) -> Iterator[HostFact]:
    """The facts of the lines below a heading that names a host or an outcome, and of sentences that name hosts."""
    if not (_HEADING.search(text, 0, MOST_SEARCHED) or _INLINE.search(text, 0, MOST_SEARCHED)):
        return
    whose: str | None = None
    left = 0
    for number, line in enumerate(lines_of(text), 1):
        if number > MOST_LINES:
            return
        if _LIBRARY in line:
            continue
        if (heading := _HEADING.match(line)) and line.strip(" #*-=>:_"):
            whose, left = _owner_of(heading), SECTION
            continue
        named = list(_INLINE.finditer(line[:LONGEST]))
        for place, match in enumerate(named):
            end = named[place + 1].start() if place + 1 < len(named) else LONGEST
            yield from _facts_of(line[match.end() : end], _host_name(match["host"]), number)
        if not named and whose is not None and left > 0:
            left -= 1
            yield from _facts_of(line[:LONGEST], whose, number)


def _owner_of(heading: re.Match[str]) -> str:
    """The host of a heading, or the outcome: `helped`, or empty for a run that fails."""
    if heading["host"]:
        return _host_name(heading["host"])
    return HELPED if heading["good"] else ""


def _host_name(written: str) -> str:
    """The name of a host, the same for `Node 1`, `node-1` and `NODE1`.

    >>> _host_name("Node 1"), _host_name("node-1")
    ('node1', 'node1')
    """
    return re.sub(r"[ _#-]", "", written).lower()


def _facts_of(line: str, whose: str, number: int) -> Iterator[HostFact]:
    """The facts of a part of a line."""
    for fact, pattern in _COMPILED.items():
        if match := pattern.search(line):
            yield HostFact(whose, fact, match[1], number)
    if match := _RANK.search(line):
        yield HostFact(whose, "rank", match[1], number)
