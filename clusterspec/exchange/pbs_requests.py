"""Nodes and accelerators that a script requests from PBS, Torque or Moab: the resources of ``#PBS -l`` lines.

Sources: OpenPBS (openpbs/openpbs cd7ab5ed), pbs_resources(7B) and ``set_select_and_place`` of
``src/server/svr_jobfunc.c``: a chunk is taken from one host; ``place=scatter`` takes each chunk from another host,
``pack`` all chunks from one; ``nodes=`` is converted to chunks that are scattered. Torque 6.1, ``-l nodes``: ``gpus=N``
counts the accelerators of each node. NEC NQSV has ``#PBS`` lines of its own: User's Guide [Operation], qsub, ``-b N``
(jobs of a request, each on a host of its own) and ``--gpunum-lhost=N`` (accelerators of each host).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from clusterspec.exchange.machines.unclear_names import unclear_name
from clusterspec.logs.text_lines import line_at

_LINE = re.compile(r"^#(?:PBS|MSUB)[ \t][^\n]{0,2000}", re.MULTILINE)
_RESOURCES = re.compile(
    r"(?<=[ \t])-l[ \t]{0,4}(?P<value>\"[^\"\n]{1,800}\"|(?:[^\s\"']|\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'){1,800})"
)
_APART = re.compile(r",(?=[A-Za-z_][\w.]{0,40}=)")
"""A comma between two resources; a list of values has others."""
_OF_JOB = ("ngpus", "gpus")
_PLACED = ("select", "nodes")
MOST_LINES = 50


class CountedLine(NamedTuple):
    """A number of a request and its line."""

    number: int
    line: int


class JobRequest(NamedTuple):
    """The nodes of a job, the accelerators of each node and of the job, and what the request leaves open, with reasons
    and lines.
    """

    nodes: CountedLine | None = None
    accelerators: CountedLine | None = None
    total: CountedLine | None = None
    open: tuple[tuple[str, str, int], ...] = ()


class _Resource(NamedTuple):
    name: str
    value: str
    line: int


class _Chunk(NamedTuple):
    """Equal chunks of a request: their number, and the accelerators and the host of each, if stated."""

    chunks: int
    accelerators: int
    host: str


def pbs_request(text: str) -> JobRequest:
    """The request to PBS that the directives of a script state.

    >>> one = pbs_request("#PBS -l select=1:ncpus=8:ngpus=4")
    >>> one.nodes, one.accelerators
    (CountedLine(number=1, line=1), CountedLine(number=4, line=1))
    >>> two = pbs_request("#PBS -l select=2:ngpus=4+1:ncpus=1\\n#PBS -l place=scatter")
    >>> two.nodes.number, two.accelerators.number
    (2, 4)
    >>> free = pbs_request("#PBS -l select=2:ngpus=4")
    >>> free.nodes, free.total.number, free.open[0][0]
    (None, 8, 'select=2:ngpus=4')
    >>> pbs_request("#PBS -l select=1:ngpus=4\\n#PBS -l gpu_type=a100").open[0][0]
    'gpu_type=a100'
    """
    if "elapstim_req" in text or "--gpunum-lhost" in text:
        return _nqsv_request(text)
    stated = _resources(text)
    found = _request_of(stated)
    return found._replace(open=(*found.open, *_kinds_of_accelerators(stated)))


_KIND = re.compile(r"(?:^|:)((?:gpu|accelerator)_?(?:type|model)=[\w.-]{1,40})")


def _kinds_of_accelerators(stated: Sequence[_Resource]) -> Iterator[tuple[str, str, int]]:
    """The resources of a site that name a kind of accelerator (``gpu_type=a100``), each once."""
    named = {kind: each.line for each in stated for kind in _KIND.findall(f"{each.name}={each.value}".lower())}
    return ((kind, unclear_name(kind), line) for kind, line in named.items())


def _request_of(stated: Sequence[_Resource]) -> JobRequest:
    """The nodes and accelerators that resources state."""
    place = next((each.value for each in stated if each.name == "place"), "")
    named = {each.name: each for each in stated}
    if differing := [each for each in stated if each.name in _PLACED and each.value != named[each.name].value]:
        both = dict.fromkeys((*differing, *(named[each.name] for each in differing)))
        why = "a request that another one of the text contradicts"
        return JobRequest(open=tuple((f"{each.name}={each.value}", why, each.line) for each in both))
    if "select" in named:
        return _placed_chunks(named["select"], _chunks(named["select"].value), set(place.split(":")))
    if "nodes" in named:
        found = _placed_chunks(named["nodes"], _chunks(named["nodes"].value), {"scatter"})
        return found if found.total else _with_those_of_job(found, named)
    return _with_those_of_job(JobRequest(), named)


_NQSV = {
    "nodes": re.compile(r"^#PBS[ \t](?:[^\n#]{0,300}[ \t])?-b[ \t]{1,4}(?P<count>[1-9][0-9]{0,5})(?!\S)", re.MULTILINE),
    "accelerators": re.compile(
        r"^#PBS[ \t][^\n#]{0,300}?--gpunum-lhost[= \t](?P<count>[1-9][0-9]{0,3})(?!\S)", re.MULTILINE
    ),
}


def _nqsv_request(text: str) -> JobRequest:
    """What the directives of a script request from NQSV.

    >>> pbs_request("#PBS -b 4\\n#PBS --gpunum-lhost=8 -l elapstim_req=01:00:00")[:3]
    (CountedLine(number=4, line=1), CountedLine(number=8, line=2), CountedLine(number=32, line=2))
    """
    found = {name: list(pattern.finditer(text))[-1:] for name, pattern in _NQSV.items()}
    nodes, each = (
        CountedLine(int(match["count"]), line_at(text, match.start())) if match else None
        for match in (found[name][0] if found[name] else None for name in _NQSV)
    )
    total = CountedLine(nodes.number * each.number, each.line) if nodes and each else None
    return JobRequest(nodes, each, total)


def _resources(text: str) -> list[_Resource]:
    """The resources that the directives of a script name."""
    found = []
    for line in list(_LINE.finditer(text))[:MOST_LINES]:
        at = line_at(text, line.start())
        for match in _RESOURCES.finditer(line[0].split(" #", 1)[0]):
            value = match["value"]
            for part in _APART.split(value[1:-1] if value.startswith('"') else value):
                name, _, rest = part.partition("=")
                found.append(_Resource(name.strip().lower(), rest.strip(), at))
    return found


def _chunks(value: str) -> list[_Chunk] | None:
    """The chunks or node specifications of a request; None if a number of them is not stated."""
    found = [_chunk(part) for part in _split(value, "+")]
    return None if None in found else [each for each in found if each]


def _chunk(text: str) -> _Chunk | None:
    """One part of a request; None if its number, or the number of its accelerators, is none.

    >>> _chunk("2:ncpus=8:ngpus=4"), _chunk("gn3:ppn=4:gpus=2"), _chunk("${N}:ngpus=4")
    (_Chunk(chunks=2, accelerators=4, host=''), _Chunk(chunks=1, accelerators=2, host='gn3'), None)
    """
    first, *rest = _split(text, ":")
    number = first.isdecimal()
    if not number and not re.fullmatch(r"[A-Za-z_][\w.-]{0,80}(?:=.{0,200})?", first):
        return None
    pairs = dict(part.partition("=")[::2] for part in (rest if number else [first, *rest]))
    host = pairs.get("host") or pairs.get("vnode") or ("" if number or "=" in first else first)
    accelerators = next((pairs[name] for name in _OF_JOB if name in pairs), "0")
    if not accelerators.isdecimal() or len(accelerators) > 4 or len(first) > 80:
        return None
    return _Chunk(int(first[:6]) if number else 1, int(accelerators), host.strip("'\""))


def _split(text: str, mark: str) -> list[str]:
    """The parts of a text between marks outside quotes."""
    return [part for part in re.split(rf"{re.escape(mark)}(?=(?:[^'\"]|'[^']*'|\"[^\"]*\")*$)", text[:800]) if part]


def _placed_chunks(stated: _Resource, chunks: Sequence[_Chunk] | None, place: Iterable[str]) -> JobRequest:
    """The nodes and accelerators of chunks by the way in which they are placed."""
    words = f"{stated.name}={stated.value}"
    if not chunks:
        why = "a request to the scheduler, not read: state layout.nodes and cluster.accelerators_per_node by it"
        return JobRequest(open=((words, why, stated.line),))
    used = [each for each in chunks if each.accelerators] or chunks
    total = sum(each.chunks * each.accelerators for each in used)
    each_node = _accelerators_of_nodes(used, set(place))
    if each_node is None:
        why = "its chunks may be on one host or on several (place=scatter would separate them)"
        return JobRequest(total=_count_at_line(total, stated), open=((words, why, stated.line),) if total else ())
    nodes = _count_at_line(len(each_node), stated)
    if len(set(each_node)) > 1:
        why = "nodes with different numbers of accelerators"
        return JobRequest(nodes, total=_count_at_line(total, stated), open=((words, why, stated.line),))
    return JobRequest(nodes, _count_at_line(each_node[0], stated), _count_at_line(total, stated))


def _accelerators_of_nodes(chunks: Sequence[_Chunk], place: set[str]) -> list[int] | None:
    """The accelerators of each node; None if the chunks may share hosts.

    >>> a, b = _Chunk(1, 4, "gn3"), _Chunk(1, 4, "gn4")
    >>> _accelerators_of_nodes([a, b], set()), _accelerators_of_nodes([a, a], set())
    ([4, 4], [8])
    """
    each = [chunk.accelerators for chunk in chunks for _ in range(min(chunk.chunks, 100_000))]
    if len(each) == 1 or "pack" in place:
        return [sum(each)]
    if "scatter" in place:
        return each
    if all(chunk.host and chunk.chunks == 1 for chunk in chunks):
        hosts = dict.fromkeys(chunk.host for chunk in chunks)
        return [sum(chunk.accelerators for chunk in chunks if chunk.host == host) for host in hosts]
    return None


def _with_those_of_job(found: JobRequest, named: dict[str, _Resource]) -> JobRequest:
    """A request with the accelerators of the whole job, which are those of its node if it has only one."""
    stated = next((named[name] for name in _OF_JOB if name in named), None)
    if stated is None or not stated.value.isdecimal():
        return found
    total = _count_at_line(int(stated.value[:6]), stated)
    if found.nodes and found.nodes.number == 1:
        return found._replace(accelerators=total, total=total)
    if found.nodes:
        return found._replace(total=total)
    why = "of the job: on how many nodes they are the script does not say"
    return found._replace(total=total, open=((f"{stated.name}={stated.value}", why, stated.line),))


def _count_at_line(number: int, stated: _Resource) -> CountedLine | None:
    return CountedLine(number, stated.line) if number else None
