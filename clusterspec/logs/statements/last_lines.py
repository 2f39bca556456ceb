"""The last lines of a log that states no cause: a start, a phase, or the last exception with a traceback; lines of a
collective library after which nothing follows are of a run that hung.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.statements.host_lines import is_of_a_host
from clusterspec.logs.statements.quiet_lines import is_outlived
from clusterspec.logs.statements.raising_frames import FRAME, MISUSE, family_of_frame
from clusterspec.logs.text_lines import shown_line

LONGEST = 1_000
"""Largest number of characters of a line that is read for common words."""
MOST_LINES = 8_000
"""Different lines with a word of errors that are read, and last lines of a log."""
STARTS = (
    r"Init torch distributed begin|\bdistributed_init_method=|[Ii]nitializing torch distributed|vLLM is using nccl|"
    r"nitializing (?:ddp|distributed): GLOBAL_RANK|Initializing TorchBackend in DeepSpeed|\bBootstrap ?: Using "
)
"""The last lines of programs whose ranks wait for one another: SGLang, vLLM, Megatron, Lightning, DeepSpeed, NCCL."""
_OF_COMMUNICATOR = re.compile(
    r"\b(?:NCCL|RCCL) INFO (?:Channel [0-9]|Ring [0-9]|Trees? [\[0-9]|Setting affinity|Connected (?:all|to|NVLS)"
    r"|threadThresholds|Launch mode \w|[0-9]{1,4} coll channels|Using [0-9]{1,4} threads|New proxy|CC Off"
    r"|\w{0,24} ?comm 0x\w{1,16} .{0,160}- Init (?:START|COMPLETE))"
)
"""A line without an error that NCCL or RCCL prints about a communicator, during or after its setup (`src/init.cc`,
`src/graph/connect.cc`, `src/transport.cc`, `src/enqueue.cc`)."""
_READY = re.compile(
    r"\bInit COMPLETE\b|\bLaunch mode \w|\bConnected all (?:rings|trees)\b|\b[0-9]{1,4} coll channels\b"
)
"""What NCCL prints once a rank has its connections (`src/init.cc`, `src/transport/generic.cc`, `src/enqueue.cc`)."""
_FIRST_STEP = re.compile(r"(?<![0-9.])0%\|[^|\n]{0,200}\| {0,2}0/[1-9][0-9]{0,9} \[00:00<\?")
"""A bar of progress before its first step (tqdm, `std.py`)."""
_RANK_INIT = re.compile(r"\brank ([0-9]{1,7}) n[rR]anks ([0-9]{1,7}) .{0,160}- Init (START|COMPLETE)\b")
_MEMBER = re.compile(r"nitializing (?:ddp|distributed): GLOBAL_RANK: [0-9]{1,6}, MEMBER: ([0-9]{1,6})/([0-9]{1,6})")
"""A rank of PyTorch Lightning, and of how many (`lightning/fabric/utilities/distributed.py`)."""
PHASES = (
    ("saving", r"\b[Ss]aving\b.{0,60}\bcheckpoint|\b[Ss]aving (?:the )?(?:model|state|optimizer)"),
    (
        "locking",
        r"\b[Ll]ock\b.{0,300}\bnot acquired\b|\bwaiting for baton release\b"
        r"|\b(?:[Aa]ttempting|[Ww]aiting) (?:for|to acquire) .{0,60}\block\b"
        # a build of kernels, which PyTorch begins by taking a lock in the directory of the build
        r"|\bas PyTorch extensions root\.\.\.|\bcompiling and loading fused kernels\b",
    ),
    (
        "compiling",
        r"\bLoading JIT ops\b|\b[Ss]tart compiling\b|\b(?:[Cc]ompiling|JIT[- ]compil\w{1,3}) .{0,60}\b(?:kernel|graph|"
        r"shape|modules?|op)s?\b|\bCapturing (?:CUDA|cuda) ?graphs?\b|\busing JIT backend\b",
    ),
    ("loading", r"\b[Ll]oading\b.{0,40}\b(?:checkpoint|safetensors|weights|shards|dataset)"),
)
"""Families of causes of a run that hangs in a phase, and the last line that identifies the phase.

Threads: NVIDIA/Megatron-LM issues 82 and 1050 (the lock of a build that was ended before).
"""
_PHASES = tuple((family, re.compile(words)) for family, words in PHASES)
_LOCK = re.compile(r"\bwaiting for baton release at \S{0,400}/lock_(\w{1,100})\s*$")
_STARTS = (
    ("start", re.compile(STARTS)),
    ("launcher", re.compile(r"\bInitializing MPI with thread mode [0-9]\s{0,8}$")),
)
"""Such lines; the second is what TensorRT-LLM prints before it calls `MPI_Init_thread` (`mpiUtils.cpp`)."""
_RAISED = re.compile(
    r"^(?: {2}(?! ))?(?:\S{1,40} ){0,6}?"
    r"(?:[\w.]{1,80}(?:Error|Exception)(?:: \S|$)|Exception: \S|(?:Stop(?:Async)?Iteration|SystemExit)(?:: |$)"
    r"|\w{1,40}\.[\w.]{0,80}\.[A-Z]\w{1,60}: \S)"
)
_FROM = "The above exception was the direct cause of "
"""The text that Python prints between an exception and another that was raised from it."""
REPORTS = re.compile(
    r"\b(?:[Ss]ee|[Cc]heck) (?:the )?(?:root cause|stack ?trace|logs?) above|\bEngine core initialization failed"
    r"|remote process exit(?:ed|ing)|Broken ?[Pp]ipe|\bConnection(?:Reset|Closed|Aborted)\w{0,12}|Watchdog caught"
    r"|\bChildFailedError\b|\bCalledProcessError\b|\bRayTaskError\b|\bActorDiedError\b|\bProcess(?:Exited|Raised)Exception\b"
)
"""Exceptions by which a program reports that another process, or an earlier call, failed."""
_ASSERTED = re.compile(r"\bAssertion (?:failed\b|[`'‘].{1,200}?['’] failed)|\bASSERT(?:ION)? FAILED\b")
"""What programs written in C and C++ print of a condition that they expect of themselves."""
MOST_FRAMES = 400
"""Number of lines above an exception that are searched for the exception that it reports."""


def cause_in_last_lines(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """A start or a phase as the last line, or else the last exception with a traceback, or assertion."""
    member = _MEMBER.search(lines[-1][:LONGEST])
    if member:
        starts = filter(None, map(_MEMBER.search, (line[:LONGEST] for line in lines[-MOST_LINES:])))
        joined = len({start[1] for start in starts if start[2] == member[2]})
        if joined < int(member[2]):
            yield "members", f"{joined} of {member[2]} ranks started", len(lines)
            return
    start = next((family for family, words in _STARTS if words.search(lines[-1][:LONGEST])), "")
    if start:
        yield start, shown_line(lines[-1]), len(lines)
        return
    if _OF_COMMUNICATOR.search(lines[-1][:LONGEST]) and not any(map(_reports_fatal_warning, lines[-MOST_LINES:])):
        yield _stalled_communicator(lines)
        return
    if _FIRST_STEP.search(lines[-1][:LONGEST]) and _has_connected(lines):
        yield "silent", f"{shown_line(lines[-1])}: the first step does not end", len(lines)
        return
    at = _last_before_timeouts(lines)
    for family, words in _PHASES:
        if words.search(lines[at - 1][:LONGEST]):
            if not _holder_builds(lines[:at]):
                yield family, shown_line(lines[at - 1]), at
            return
    last = (lines[number - 1] for number in _numbers_from_last(lines))
    traced = any("Traceback (most recent call last)" in line or FRAME.search(line[:LONGEST]) for line in last)
    number = _raised_first(lines)
    if number and (traced or MISUSE.search(lines[number - 1][:LONGEST])):
        yield family_of_frame(lines, number), shown_line(lines[number - 1]), number
        return
    number = next((each for each in _numbers_from_last(lines) if _ASSERTED.search(lines[each - 1][:LONGEST])), 0)
    if number:
        yield "asserted", shown_line(lines[number - 1]), number


def _reports_fatal_warning(line: str) -> bool:
    """Whether a line is a warning of a collective library that a run does not outlive."""
    return "CCL WARN " in line and not is_outlived(line)


def _has_connected(lines: list[str]) -> bool:
    """Whether a line of the library says that ranks are connected, and none of its warnings reports an error."""
    ready = any(_READY.search(line[:LONGEST]) for line in lines[-MOST_LINES:] if "CCL INFO" in line)
    return ready and not any(map(_reports_fatal_warning, lines[-MOST_LINES:]))


def _stalled_communicator(lines: list[str]) -> tuple[str, str, int]:
    """The statement of a log that ends with a line of a communicator: `connecting` before its ranks are connected,
    `silent` after that; with the ranks that were initialized, where the lines tell them.

    >>> start = "NCCL INFO a rank {} nranks 2 b - Init START"
    >>> _stalled_communicator([start.format(0), start.format(1), "NCCL INFO a rank 1 nranks 2 b - Init COMPLETE"])
    ('silent', '1 of 2 ranks is initialized, and the log ends; rank 0 is not', 3)
    """
    ready = any(_READY.search(line[:LONGEST]) for line in lines[-MOST_LINES:] if "CCL INFO" in line)
    told = [found for line in lines[-MOST_LINES:] if "- Init " in line and (found := _RANK_INIT.search(line[:LONGEST]))]
    ranks = max((int(found[2]) for found in told), default=0)
    of_all = [found for found in told if int(found[2]) == ranks]
    complete = {int(found[1]) for found in of_all if found[3] == "COMPLETE"}
    waiting = sorted({int(found[1]) for found in of_all} - complete)
    shown = f"{shown_line(lines[-1])}, the last line"
    if complete and waiting:
        verb = "are" if len(complete) > 1 else "is"
        shown = f"{len(complete)} of {ranks} ranks {verb} initialized, and the log ends; rank {waiting[0]} is not"
    return ("silent" if ready else "connecting"), shown, len(lines)


def _last_before_timeouts(lines: list[str]) -> int:
    """The number of the last line with words before the first timeout of a watchdog; of the last line without one.

    >>> _last_before_timeouts(["Saving checkpoint", "", "[rank1]: Watchdog caught collective operation timeout", "a"])
    1
    """
    first = next((number for number, line in enumerate(lines[-MOST_LINES:], 1) if "Watchdog caught" in line), 0)
    before = range(max(0, len(lines) - MOST_LINES) + first - 1, 0, -1) if first else ()
    return next((number for number in before if lines[number - 1].strip()), len(lines))


def _holder_builds(lines: list[str]) -> bool:
    """Whether the last line waits for the lock of a module that another process of the log has begun to build.

    AITER prints both (ROCm/aiter, aiter/jit/core.py and utils/file_baton.py): a build takes minutes, and is no hang.
    """
    lock = _LOCK.search(lines[-1][:LONGEST])
    return lock is not None and any(f"start build [{lock[1]}]" in line for line in lines[-MOST_LINES:])


def _numbers_from_last(lines: list[str]) -> range:
    """The numbers of the last `MOST_LINES` lines, the last first."""
    return range(len(lines), max(0, len(lines) - MOST_LINES), -1)


def _raised_first(lines: list[str]) -> int:
    """The line number of the exception that was raised first, of the last chain of exceptions; 0 without an exception.

    >>> _raised_first(["KeyError: 'a'", "", "The above exception was the direct cause of x:", "ValueError: b"])
    1
    """
    found, seeks = 0, True
    for number in _numbers_from_last(lines):
        line = lines[number - 1][:LONGEST]
        if found - number > MOST_FRAMES and found:
            break
        if _RAISED.search(line) and not is_of_a_host(line):
            if not seeks:
                break
            found, seeks = number, REPORTS.search(line) is not None
        elif found and _FROM in line:
            seeks = True
    return found
