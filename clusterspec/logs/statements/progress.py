"""The collectives in which the ranks of a log wait, as PyTorch and collective libraries print them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.logs.text_lines import line_at, lines_of
from clusterspec.standard import recent

_WATCHDOG = re.compile(
    r"(?:\[rank([0-9]{1,7})\].{0,80}?)?\[(PG [^\]\n]{1,60} )?Rank ([0-9]{1,7})\] "
    r"Watchdog caught [^\n]{0,160}?WorkNCCL\(SeqNum=([0-9]{1,12}), OpType=(\w{1,40}),"
    r"(?: NumelIn=([0-9]{1,18}))?"
)
"""PyTorch 2.1 to 2.9, torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp: a collective that a rank did not leave. Other
output may stand within its words, where two writers share a stream.
"""
_CALLED = re.compile(
    r"\[([0-9]{1,3})\] (?:NCCL|RCCL) INFO ((?:All|Reduce|Broad)\w{0,20}): opCount ([0-9a-f]{1,12}) [^\n]{1,200}? "
    r"count ([0-9]{1,18}) [^\n]{1,80}? comm (0x[0-9a-f]{1,16}) \[nranks=([0-9]{1,7})\]"
)
"""NCCL and RCCL with NCCL_DEBUG_SUBSYS=COLL, src/enqueue.cc: a collective that a rank begins."""
_EQUAL = frozenset({"ALLREDUCE", "BROADCAST", "REDUCE", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE"})
"""Collectives in which every rank has equally many elements; in others, the parts may be unequal."""
MOST_SHOWN = 3
"""Collectives of a divergence that its text names."""


Calls = dict[int, tuple[str, int]]
"""The collective of each rank of a group, with its line."""


def diverging_ranks(text: str) -> tuple[str, int] | None:
    """The different collectives that ranks of one group call at one number, with the line of the first; None if none
    differ.

    The ranks of a group must call the same collectives in the same order, so calls with the same sequence number must
    match, and so must their element counts, other than those of an all-to-all (modelscope/FunASR issue 2317).
    """
    found = (*_groups_that_differ(text), *_groups_that_differ(text, sized=True))
    return next((_divergence_and_line(calls) for calls in found if _calls_differ_at_number(calls)), None)


def parted_ranks(text: str) -> tuple[str, int] | None:
    """The collectives of different numbers in which ranks of one group wait, with the line of the first.

    The program or the network may hold the rank back whose number is the least: others go on, since a broadcast does
    not wait for those that receive it.
    """
    return next(
        (_divergence_and_line(calls) for calls in _groups_that_differ(text) if not _calls_differ_at_number(calls)), None
    )


def _groups_that_differ(text: str, *, sized: bool = False) -> Iterator[Calls]:
    """The groups whose ranks do not all wait in the same collective, with ``sized`` of the same number of elements."""
    for found in (_awaited_collectives(text, sized=sized), _calls_by_number(text, sized=sized)):
        yield from (calls for calls in found if len({call for call, _ in calls.values()}) > 1)


def _calls_differ_at_number(calls: Calls) -> bool:
    """Whether two ranks call different collectives at the same number."""
    different = {call for call, _ in calls.values()}
    return len({call.rpartition(" ")[2] for call in different}) < len(different)


def _divergence_and_line(calls: Calls) -> tuple[str, int]:
    return _divergence_text(calls), min(line for _, line in calls.values())


def waiting_ranks(text: str) -> tuple[str, int] | None:
    """The collective in which the ranks of the job wait, and their numbers, with the line of the first; None if they
    wait in several, or if no rank reports it.
    """
    for calls in _awaited_collectives(text, whole=True):
        if len({call for call, _ in calls.values()}) == 1:
            call, line = min(calls.values(), key=lambda each: each[1])
            return f"{call} {','.join(map(str, sorted(calls)))}", line
    return None


def _awaited_collectives(text: str, *, whole: bool = False, sized: bool = False) -> Iterator[Calls]:
    """The collective that each rank's watchdog names, by group. With ``whole``, only the group of all ranks counts;
    with ``sized``, the number of elements is included if it must be equal.

    Releases before group names are ambiguous if a rank waits in two collectives, or if its number in the group differs
    from its number in the job.
    """
    groups: dict[str, Calls] = {}
    unclear: set[str] = set()
    for number, match in _watchdog_reports(text):
        job, group, rank = match[1], match[2] or "", int(match[3])
        size = f" of {match[6]} elements" if sized and match[6] and match[5] in _EQUAL else ""
        calls, call = groups.setdefault(group, {}), f"{match[5]}{size} number {match[4]}"
        if calls.setdefault(rank, (call, number))[0] != call or (not group and int(job or rank) != rank):
            unclear.add(group)
    all_ranks = (name for name in groups if not whole or name in {"", "PG 0 "} or "default_pg" in name)
    yield from (groups[name] for name in all_ranks if name not in unclear)


MOST_REPORTS = 20_000
"""Maximum number of watchdog reports that are read: the first report of each rank names the collective that it waits
for.
"""


@recent(1)
def _watchdog_reports(text: str) -> tuple[tuple[int, re.Match[str]], ...]:
    """The reports of watchdogs with their lines; several questions about one log need them."""
    if "Watchdog caught" not in text:
        return ()
    lines = ((number, line) for number, line in enumerate(lines_of(text), 1) if "Watchdog caught" in line)
    found = ((number, _WATCHDOG.search(line[:2_000])) for number, line in islice(lines, MOST_REPORTS))
    return tuple((number, match) for number, match in found if match)


def _calls_by_number(text: str, *, sized: bool = False) -> Iterator[Calls]:
    """The collective of each device of a node at each number, if every device has one communicator in the log."""
    found: dict[str, Calls] = {}
    communicators: dict[int, set[str]] = {}
    for number, line in enumerate(lines_of(text) if "opCount" in text else (), 1):
        if "opCount" in line and (match := _CALLED.search(line[:2_000])):
            device = int(match[1])
            communicators.setdefault(device, set()).add(match[5] + match[6])
            size = f" of {match[4]} elements" if sized else ""
            found.setdefault(match[3], {}).setdefault(device, (f"{match[2]}{size} number {match[3]}", number))
    if all(len(each) == 1 for each in communicators.values()):
        yield from found.values()


def _divergence_text(calls: Calls) -> str:
    """The collectives in which ranks wait, most ranks first."""
    ranks: dict[str, list[int]] = {}
    for rank, (call, _) in sorted(calls.items()):
        ranks.setdefault(call, []).append(rank)
    ordered = sorted(ranks.items(), key=lambda each: -len(each[1]))[:MOST_SHOWN]
    shown = (f"{call} by {len(of)} ranks" if len(of) > 1 else f"{call} by rank {of[0]}" for call, of in ordered)
    return "ranks wait in different collectives: " + ", ".join(shown)


_PREPARING = re.compile(
    r"((?:Running tokenizer|Tokeniz|Grouping texts|Generating \w{1,20} split|Mapp?\b|Mapping|Filter|Packing|Preprocess"
    r"|Processing|Converting|Flattening|Saving the dataset|Concatenat|Downloading|Extracting)[^:|\r\n]{0,80}):"
    r" {1,8}(?:[0-9]{1,3}%|[0-9]{1,12} ?examples)[^\r\n]{0,160}(?:examples|it|B|ex)/s"
)
"""A bar of progress of Hugging Face Datasets, or of tqdm, over the data of a run."""
_WAITED = ("Watchdog caught", "Socket Timeout", "wait timeout after", "monitoredBarrier", "Timed out waiting")
"""Words of ranks that wait for others, in PyTorch."""


def preparing_ranks(text: str) -> tuple[str, int] | None:
    """The preparation of data that the last bar of progress shows before ranks give up waiting, with its line; None
    without either.

    Published: huggingface/nanotron issue 204, huggingface/alignment-handbook issue 190, hiyouga/LlamaFactory issue 360.
    """
    ends = [at for word in _WAITED if (at := text.find(word)) >= 0]
    if not ends or "/s" not in text:
        return None
    last = text.rfind("/s", 0, text.find("\n", min(ends)) if "\n" in text[min(ends) :] else len(text))
    start = text.rfind("\n", 0, max(last, 0)) + 1
    match = _PREPARING.search(text[start : start + 2_000])
    return (match[1].strip(), line_at(text, start)) if match else None


_CONNECTED = re.compile(r"failed to connect to \[?([A-Za-z][\w.-]{0,200})\]?:([0-9]{1,5})\b")
_GIVEN_ADDRESS = re.compile(r"any network address of \(([0-9]{1,3}(?:\.[0-9]{1,3}){3}), ([0-9]{1,5})\)")


def renamed_address(text: str) -> tuple[str, int] | None:
    """An address that a program was given, with the host name to which it connects instead, and the line; None without
    one.

    PyTorch looks up the name of the address, and connects to the result (pytorch/pytorch issue 85300).
    """
    if "any network address of" not in text:
        return None
    name_by_port = {match[2]: match[1] for match in _CONNECTED.finditer(text)}
    for match in _GIVEN_ADDRESS.finditer(text):
        if match[2] in name_by_port:
            return f"{match[1]} is reached as {name_by_port[match[2]]}", line_at(text, match.start())
    return None


_STORE_TIMEOUT = re.compile(r"^[^\n]{0,80}\bRuntimeError: Socket Timeout[ \t\r]{0,9}$", re.MULTILINE)
_STARTING = ("init_process_group", "rendezvous", "_new_process_group", "ProcessGroupGloo(", "init_rpc")
"""Calls by which ranks meet for the first time, in PyTorch."""
TRACED = 6_000
"""Characters before an exception in which the calls of its traceback are."""


def store_wait(text: str) -> tuple[str, int] | None:
    """The wait for a key of PyTorch's store after the ranks had met, with its line; None without one.

    The store had been reached (pytorch/pytorch, `torch/csrc/distributed/c10d/Utils.hpp`, `recvBytes`), so another rank
    set no key in time. Threads: meta-pytorch/data issue 659, rwth-i6/returnn issue 1621.
    """
    match = _STORE_TIMEOUT.search(text) if "Socket Timeout" in text else None
    if match is None:
        return None
    calls = text[max(0, match.start() - TRACED) : match.start()].rpartition("Traceback (most recent call last)")[2]
    if 'File "' not in calls or any(call in calls for call in _STARTING):
        return None
    return match[0].strip(), line_at(text, match.start())
