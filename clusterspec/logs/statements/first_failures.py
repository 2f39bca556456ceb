"""Which rank of a log failed first, and which lines of other ranks only follow from that.

A rank that ends leaves the others in a collective: their watchdogs time out, their connections are closed, and the
launcher ends them. torchrun prints the failure that it observed first under "Root Cause (first observed failure)", the
least of their times (pytorch/pytorch 1c94016e, torch/distributed/elastic/multiprocessing/errors/__init__.py,
`get_first_failure` and `_MSG_FORMAT_TEMPLATE`, read on 2026-11-25).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.logs.statements.catalogued_messages import MESSAGE
from clusterspec.logs.statements.program_lines import STATING
from clusterspec.logs.statements.refused_calls import CALL
from clusterspec.logs.text_lines import line_at, lines_of, shown_line
from clusterspec.records import NamedTuple

CONSEQUENCE = "consequence"
"""The name of statements about a line that only follows from the failure of another rank."""
OWN_EXCEPTION = "own-exception"
"""The name of the exception of the rank that failed first, where no known line states its cause."""
OBSERVED_END = "observed-end"
"""The name of statements about the last line of the rank whose failure torchrun observed first."""
ENDS = frozenset(
    {
        *("crash", "signal", "bare-kill", "daemon-lost", "peer-ended", "ended", "flushed"),
        *("not-found", "not-executable"),
    }
)
"""Statements of an end that leave its cause to other lines."""
OF_THE_END = frozenset(
    {
        *("dump", "stuck", "peer-ended", "signal", "ended", "flushed", "daemon-lost", "queue-gone", "network-error"),
        "bare-kill",
        *("waiting", "parted", "stalled", "task-silent", "family timeout", "family remote", "suggests peer-ended"),
        *(f"{MESSAGE}{cause} {weight}" for cause in ("peer-ended", "job-ended") for weight in ("shows", "may")),
    }
)
"""Statements that a rank makes when another one ended, or when the launcher ends it."""
_OF_A_PEER = frozenset(
    {
        *("late", "absent", "rendezvous", "refused", "unreachable", "not-ready", "suggests unreachable-peer"),
        f"{MESSAGE}unreachable-peer may",
    }
)
"""Statements of a rank about a peer that ended, or that the network made unreachable."""
_PREFIXES = (
    r"^\s*\[(?:rank|default|Rank )([0-9]{1,7})\]:?",  # PyTorch, torchrun --role
    r"^[^\[\]]{0,40}\[[0-9]{1,7},([0-9]{1,7})\]<std(?:out|err)>:",  # mpirun --tag-output
    r"^\s*\(\w{1,40} rank=([0-9]{1,7}) pid=[0-9]{1,9}\)",  # vLLM
    r"^\s*\(\w{1,30}?[_ ]TP([0-9]{1,5})(?:_EP[0-9]{1,5})? pid=[0-9]{1,9}\)",
    r"^\s*\[[0-9-]{10} [0-9:]{8} (?:[DP]P[0-9]{1,5} ){0,2}TP([0-9]{1,5})(?: EP[0-9]{1,5})?\]",  # SGLang
    r"^\s*\[(?:PG [^\]]{1,60} )?Rank ([0-9]{1,7})\]",
)
"""The start of a line that a rank printed."""
_PREFIX = tuple(map(re.compile, _PREFIXES))
_DAY = 86_400
_TIMES = (
    re.compile(r"(?<![0-9])[0-9]{4}-([0-9]{2})-([0-9]{2})[T_ ]([0-9]{2}):([0-9]{2}):([0-9]{2}(?:[.,][0-9]{1,9})?)"),
    re.compile(r"(?<!\w)[EWIF]([0-9]{1,2})([0-9]{2}) ([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]{1,9})?)"),  # glog
    re.compile(r"(?<![0-9-])([0-9]{2})-([0-9]{2}) ([0-9]{2}):([0-9]{2}):([0-9]{2})\b"),  # vLLM
)
"""Times of lines: month, day, hours, minutes, seconds. Those of two forms may be of two time zones."""
_EXCEPTION = re.compile(
    r"^\s{0,2}(?:(?:ERROR|CRITICAL) [^\]]{1,80}\] )?"
    r"((?:[A-Za-z_]\w{0,40}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception)(?:: \S.{0,400})?|Exception: \S.{0,400})$"
)
"""An exception as Python prints it, also after the prefix of vLLM's log writer, and in torchrun's report."""
_FOLLOWS = re.compile(
    r"Dist\w{0,20}Error|NCCL|nccl|HCCL|[Gg]loo|[Hh]orovod|[Tt]ime(?:d )?-?[Oo]ut|[Ww]atchdog|[Ss]ocket|[Cc]onnection"
    r"|[Bb]roken pipe|[Rr]endezvous|ChildFailed|CalledProcess|SignalException|ProcessExited|ProcessRaised|EOFError"
    r"|TCPStore|c10d|RayTaskError|ActorDied|WorkerCrashed|\b[Pp]eer\b|other (?:rank|process|worker)|[Ee]ngine ?[Cc]ore"
    r"|\bdied\b"
)
"""Words of an exception that follows from the end of another process."""
LINES_BEFORE = 200
"""Lines before a failure in which its time is looked for."""
_UNTOLD = re.compile(r"family (?!timeout|remote).*|message \S+ may|empty-table")
"""Names of statements that do not report an end by themselves."""
MOST_EXCEPTIONS = 1_000
"""Exceptions of ranks that are kept."""
MOST_TRIED = 20_000
"""Largest number of lines that may have one, and are compared with its form."""
LONGEST = 2_000
"""Largest number of characters of a line that is read."""
Moment = tuple[int, float]
"""A time: the form in which it is printed, and seconds since the begin of the year."""


class LocatedStatement(NamedTuple):
    """A statement or an exception with its line, the rank that printed it, and when; None where the line lacks them."""

    name: str
    text: str
    line: int
    rank: int | None
    time: Moment | None


class RunEnding(NamedTuple):
    """How the run of a log ended: the line of the first failure of its own ranks, or, where it has none (``own`` is
    False), the first line that reports the end of other ranks; and the time, None if no line states it.
    """

    own: bool
    line: int
    time: Moment | None


class FailedProcess(NamedTuple):
    """A failed process in the report of torchrun: its rank, its exit code, and its first and last line."""

    rank: int
    code: int
    first: int
    last: int


def rank_of_line(line: str) -> tuple[int | None, str]:
    """The rank whose line it is, None if no prefix names one, and the line without that prefix.

    >>> rank_of_line("[rank3]: ValueError: no row")
    (3, ' ValueError: no row')
    >>> rank_of_line("step 3")
    (None, 'step 3')
    """
    for prefix in _PREFIX:
        if match := prefix.match(line):
            return int(match[1]), line[match.end() :]
    return None, line


def time_of_line(line: str) -> Moment | None:
    """The first time in a line, None without one.

    >>> time_of_line("[rank1]:[E102 00:00:01.5 ProcessGroupNCCL.cpp:1] x") == (1, (31 + 2) * 86400 + 1.5)
    True
    """
    for form, pattern in enumerate(_TIMES):
        if match := pattern.search(line[:200]):
            month, day, hours, minutes = (int(part) for part in match.groups()[:4])
            seconds = float(match[5].replace(",", "."))
            return form, (month * 31 + day) * _DAY + hours * 3600 + minutes * 60 + seconds
    return None


_ENTRY = re.compile(
    r"^\[[0-9]{1,7}\]:[ \t\r]{0,9}\n(?:.{0,400}\n){0,3}?[ \t]{0,20}rank[ \t]{0,9}: ([0-9]{1,7})\b.{0,60}\n"
    r"[ \t]{0,20}exitcode[ \t]{0,9}: (-?[0-9]{1,4})\b"
    r".{0,60}(?:\n.{0,400}){0,2}",
    re.MULTILINE,
)
_ROOT = "Root Cause (first observed failure):"


def observed_failures(text: str) -> tuple[FailedProcess | None, tuple[FailedProcess, ...]]:
    """The process that failed first according to torchrun, and the other processes that it lists; None without its
    report.
    """
    at = text.find(_ROOT)
    if at < 0:
        return None, ()
    start = max(text.rfind("\nFailures:", 0, at), 0)
    others = tuple(_observed(text, match) for match in _ENTRY.finditer(text, start, at))
    root = _ENTRY.search(text, at)
    return (_observed(text, root) if root else None), others


def _observed(text: str, match: re.Match[str]) -> FailedProcess:
    first = line_at(text, match.start())
    return FailedProcess(int(match[1]), int(match[2]), first, first + match[0].count("\n"))


Stated = Sequence[tuple[str, str, int]]
"""Statements: their names, texts and lines."""


class LocatedStatements(NamedTuple):
    """The statements of a log and the exceptions on its other lines, each with the rank and the time of its line."""

    said: tuple[LocatedStatement, ...]
    raised: tuple[LocatedStatement, ...]


def first_failures(text: str, stated: Stated, told: LocatedStatements | None = None) -> Iterator[tuple[str, str, int]]:
    """Further statements on the order of the failures in a log, with their lines.

    They name the lines of ``stated`` that only follow from the failure of another rank, and the exception of the rank
    that failed first. There are none if no line of ``stated`` can be a consequence and no failure can be the first of
    two. ``told`` is the result of `failure_statements` for both.
    """
    root, others = observed_failures(text)
    ends = any(name in OF_THE_END or name in _OF_A_PEER for name, _, _ in stated)
    if root is None and not ends and sum(tells_a_failure(name) for name, _, _ in stated) < 2:
        return
    said, raised = told or failure_statements(text, stated)
    yield from _ended_processes(said, root, others)
    yield from _ends_after_others(said)
    following = [each for each in said if each.name in OF_THE_END or each.name in _OF_A_PEER]
    ends_at = {each.line for each in following}
    failing = [each for each in said if each.rank is not None and _is_of_own_failure(each) and each.line not in ends_at]
    first = _first_failures(failing or [each for each in raised if each.rank is not None], root)
    if not first and root is not None and root.code > 0 and not any(each.rank == root.rank for each in following):
        first = [each for each in raised if each.rank is None][:1]
        first = [each._replace(rank=root.rank) for each in first]
    marked = [each for each in following if any(_follows_failure(each, before) for before in first)]
    for each in marked:
        yield CONSEQUENCE, f"after the failure of rank {first[0].rank}", each.line
    for each in following:
        if root is not None and each.rank == root.rank:
            yield OBSERVED_END, f"of rank {root.rank}, which failed first", each.line
    for each in failing:
        if each not in first and any(each.rank != before.rank for before in first):
            yield CONSEQUENCE, f"after the failure of rank {first[0].rank}", each.line
    if marked and first[0].name == OWN_EXCEPTION:
        yield OWN_EXCEPTION, first[0].text, first[0].line


def ending_of(text: str, stated: Stated, told: LocatedStatements | None = None) -> RunEnding | None:
    """How the run of a log ended by its statements; None if no line reports a failure or the end of other ranks.

    A failure without a time gets the time of the nearest earlier line with one, within `LINES_BEFORE` lines. ``told``
    is the result of `failure_statements` for the text and its first statements: only added statements are looked up.
    """
    if all(_UNTOLD.fullmatch(name) for name, _, _ in stated):
        return None
    said, raised = _with_statements(text, stated, told) if told else failure_statements(text, stated)
    following = {each.line for each in said if each.name == CONSEQUENCE}
    own = [
        each for each in said if _is_of_own_failure(each) or (each.name == "error" and not _FOLLOWS.search(each.text))
    ]
    failures = [each for each in (*own, *raised) if each.line not in following]
    if failures:
        first = min(failures, key=lambda each: each.line)
        return RunEnding(True, first.line, first.time or _time_before(text, first.line))
    ends = [each for each in said if each.name in OF_THE_END or each.name in _OF_A_PEER]
    if not ends:
        return None
    first = min(ends, key=lambda each: each.line)
    return RunEnding(False, first.line, first.time)


def _time_before(text: str, line: int) -> Moment | None:
    """The time of the last line with one, among the lines before a line."""
    before = list(islice(lines_of(text), max(0, line - 1 - LINES_BEFORE), line - 1))
    return next((time for each in reversed(before) if (time := time_of_line(each[:LONGEST])) is not None), None)


def tells_a_failure(name: str) -> bool:
    """Whether a statement is of a failure of the rank that makes it."""
    if name in OF_THE_END or name in _OF_A_PEER:
        return False
    if name.startswith(MESSAGE):
        return not name.endswith(" may")
    return name in STATING or name.startswith((CALL, "suggests "))


def tells_a_stop(name: str) -> bool:
    """Whether a statement is of a failure of the rank that makes it, or of another one that it waited for."""
    return tells_a_failure(name) or name in OF_THE_END or name in _OF_A_PEER


def _is_of_own_failure(each: LocatedStatement) -> bool:
    """Whether a statement is of a failure of the rank that makes it; common words of a lost connection are of none."""
    return tells_a_failure(each.name) and not (each.name.startswith("suggests ") and _FOLLOWS.search(each.text))


def failure_statements(text: str, stated: Stated) -> LocatedStatements:
    """The statements with the ranks and times of their lines, and on lines that state no cause the exceptions that
    follow from none.
    """
    by_line: dict[int, list[tuple[str, str]]] = {}
    for name, shown, number in stated:
        by_line.setdefault(number, []).append((name, shown))
    said: list[LocatedStatement] = []
    raised: list[LocatedStatement] = []
    tried = 0
    for number, read in enumerate(lines_of(text), 1):
        here = by_line.get(number, ())
        exception = max(len(raised) - MOST_EXCEPTIONS, tried - MOST_TRIED) < 0 and (
            "Error" in read or "Exception" in read
        )
        tried += exception
        if not here and not exception:
            continue
        line = read[:LONGEST]
        rank, rest = rank_of_line(line)
        time = time_of_line(line)
        said += [LocatedStatement(name, shown, number, rank, time) for name, shown in here]
        unsaid = all(name.startswith("family ") and name not in OF_THE_END for name, _ in here)
        if exception and unsaid and _EXCEPTION.match(rest) and not _FOLLOWS.search(rest):
            raised.append(LocatedStatement(OWN_EXCEPTION, shown_line(rest), number, rank, time))
    return LocatedStatements(tuple(said), tuple(raised))


def _with_statements(text: str, stated: Stated, told: LocatedStatements) -> LocatedStatements:
    """The failures that ``stated`` shows; ``told`` has its first statements."""
    known = {each.line: each for each in (*told.raised, *told.said)}
    had = {(each.name, each.line) for each in told.said}
    added = [each for each in stated if (each[0], each[2]) not in had]
    said = list(told.said)
    for name, shown, number in added:
        if (at := known.get(number)) is not None:
            said.append(at._replace(name=name, text=shown))
        else:
            line = next(islice(lines_of(text), number - 1, None), "")[:LONGEST]
            said.append(LocatedStatement(name, shown, number, rank_of_line(line)[0], time_of_line(line)))
    lines = {number for _, _, number in added}
    said.sort(key=lambda each: each.line)
    return LocatedStatements(tuple(said), tuple(each for each in told.raised if each.line not in lines))


def _first_failures(failures: list[LocatedStatement], root: FailedProcess | None) -> list[LocatedStatement]:
    """The failures of the rank that failed first: the failure that torchrun observed first, else the earliest if all
    lines have times of one form, else all.
    """
    if root is not None and (own := [each for each in failures if each.rank == root.rank]):
        return own
    times = [each.time for each in failures if each.time is not None]
    if times and len(times) == len(failures) and len({form for form, _ in times}) == 1:
        earliest = min(times)
        ranks = {each.rank for each in failures if each.time == earliest}
        return [each for each in failures if each.rank in ranks]
    return failures


def _follows_failure(each: LocatedStatement, failure: LocatedStatement) -> bool:
    """Whether a line about the end of other ranks, or about a peer, comes from another rank than a failure, and not
    before it.

    A line that names no rank only follows from a failure if it reports an end; a line about a peer does so only if its
    time shows it.
    """
    after = _is_after(each.time, failure.time)
    if after is False:
        return False
    if each.rank is None:
        return each.name in OF_THE_END or after is True
    return each.rank != failure.rank


def _is_after(time: Moment | None, other: Moment | None) -> bool | None:
    """Whether a time is not before another one; None if one is missing or they are of two forms.

    >>> _is_after((0, 5.0), (0, 5.0)), _is_after((0, 4.0), (0, 5.0)), _is_after((0, 5.0), (1, 5.0))
    (True, False, None)
    """
    if time is None or other is None or time[0] != other[0]:
        return None
    return time[1] >= other[1]


_TAKEN_DOWN = re.compile(r"exit ?code\s{0,3}: ?-6\b|exitcode: -6\b|SIGABRT|[Ss]ignal:? 6\b|\bAborted\b|\b134\b")
_OF_WATCHDOGS = frozenset({"dump", "waiting", "parted", "family timeout", "consistency"})
_OF_CANCELS = frozenset({"signal", "time-limit", "job-ended"})
_BY_LIMITS = frozenset({"time-limit", "job-ended"})
"""Lines of a scheduler that ends every process of a job, whichever program prints the end."""
_OF_PROCESSES = frozenset({"killed", "crash", "worker-ended", "worker-lost"})
"""Statements of the end of a process without its reason."""


def _ends_after_others(said: Sequence[LocatedStatement]) -> Iterator[tuple[str, str, int]]:
    """The ends of processes that follow from an earlier line: the abort by which the watchdog of PyTorch ends its
    process, the cancel of a job whose collective timed out before, the kill of tasks whose step was canceled before,
    and every end after the scheduler ended the job.
    """
    timeout = min((each.line for each in said if each.name in _OF_WATCHDOGS), default=None)
    canceled = min((each.line for each in said if each.name in _OF_CANCELS), default=None)
    limited = min((each.line for each in said if each.name in _BY_LIMITS), default=None)
    for each in said:
        if timeout is not None and each.name == "crash" and timeout < each.line and _TAKEN_DOWN.search(each.text):
            yield CONSEQUENCE, "after the timeout of a collective", each.line
        if timeout is not None and each.name == "signal" and timeout < each.line:
            yield CONSEQUENCE, "after the timeout of a collective", each.line
        if canceled is not None and each.name == "killed" and canceled < each.line and "srun: " in each.text:
            yield CONSEQUENCE, "after the step was canceled", each.line
        elif limited is not None and each.name in _OF_PROCESSES and limited < each.line:
            yield CONSEQUENCE, "after the scheduler ended the job", each.line


def _ended_processes(
    said: Sequence[LocatedStatement], root: FailedProcess | None, others: tuple[FailedProcess, ...]
) -> Iterator[tuple[str, str, int]]:
    """The lines of processes that torchrun lists in addition to the one that failed first, with other exit codes."""
    for other in others:
        if root is not None and other.rank != root.rank and other.code != root.code:
            for each in said:
                if other.first <= each.line <= other.last:
                    yield CONSEQUENCE, f"after the failure of rank {root.rank}", each.line
