"""Figures that tools print of a machine that works below its means: lanes, clocks, cores and disks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.logs.statements.host_figures import host_statements
from clusterspec.logs.statements.work_shares import share_statements
from clusterspec.logs.text_lines import line_at, lines_of

LONGEST = 1_000
"""Largest number of characters of a line that is read."""
MOST_READ = 10_000
"""Largest number of lines that are read."""
LOW_CLOCK = 0.7
"""Share of the maximum clock below which an accelerator at work is throttled: the limit of power of a full load lowers
clocks less (assumed; an H100 at 700 W has about 0.85 of its maximum of 1980 MHz).
"""
AT_WORK = 80
"""Utilization in percent from which an accelerator is at work."""
BUSY, WAITING = 90.0, 20.0
"""Share of the time, in percent, that a disk is busy, and that processors wait for it, from which it limits a run."""
FEW = 2
"""Largest number of cores at which a process of a training run has too few."""
_WIDTH = re.compile(
    r"Link Width[ \t]{0,40}:?[ \t]{0,8}\n[ \t]{0,40}Max[ \t]{0,40}: ([0-9]{1,2})x\n"
    r"[ \t]{0,40}Current[ \t]{0,40}: ([0-9]{1,2})x"
)
"""The lanes of a link, as `nvidia-smi -q` prints them."""
_COLUMN = re.compile(r"[a-z][a-z0-9_.]{1,60}(?: \[[A-Za-z%]{1,8}\])?")
"""A column of the heading of a table of `nvidia-smi --query-gpu=… --format=csv`."""
_NUMBER = re.compile(r"-?[0-9]{1,7}(?:\.[0-9]{1,4})?")
_CLOCKS = re.compile(r"^[ \t]{0,40}(Max (?:Customer Boost )?)?Clocks[ \t]{0,40}$")
_SM = re.compile(r"^[ \t]{0,40}SM[ \t]{1,40}: ([0-9]{2,5}) MHz")
_USED = re.compile(r"^[ \t]{0,40}G[Pp][Uu][ \t]{1,40}: ([0-9]{1,3}) %")
_CORES = re.compile(
    r"(?:^|\b)(?:pid [0-9]{1,9}'s current affinity list: |Cpus_allowed_list:\s{1,8}|physcpubind: )"
    r"([0-9]{1,5}(?:[-, ][0-9]{1,5}){0,64})\s*$"
)
"""The cores that a process may use, as taskset(1), proc(5) and numactl(8) print them."""
_QUOTA = re.compile(r"^(?:.{0,60}cpu\.max:? {0,4})([1-9][0-9]{2,9}) ([1-9][0-9]{2,9})\s*$")
"""The time and the period of a control group, in µs (kernel.org, `cgroup-v2.rst`)."""
_OF_CORES = ("affinity list: ", "Cpus_allowed_list:", "physcpubind: ", "cpu.max")
"""Words; a text with the cores or the quota of a process has one of them."""
_STOPPED = re.compile(r"\bnr_throttled[: =]{1,4}([1-9][0-9]{0,12})\b")
"""How often a control group used up its time (kernel.org, `cgroup-v2.rst`)."""
_DISK = re.compile(r"^((?:nvme|sd|vd|xvd|dm-|md|mmcblk)[a-z0-9-]{1,16})\s[0-9. ]{20,300}\s([0-9]{1,3}\.[0-9]{1,2})\s*$")
"""A row of `iostat -x`: a disk, and the share of the time in which it is busy."""
_OF_DISKS = re.compile(r"^Device\b.{1,300}%util\s*$")
_WAIT = re.compile(r"^\s{0,16}[0-9.]{1,6}\s{1,8}[0-9.]{1,6}\s{1,8}[0-9.]{1,6}\s{1,8}([0-9]{1,3}\.[0-9]{1,2})\s")
_OF_WAITS = re.compile(r"^avg-cpu:\s.{1,120}%iowait")
_TOP = re.compile(r"^%?Cpu\(s\).{1,80}?([0-9]{1,3}\.[0-9]) ?%?wa\b")
"""The share of the time that processors wait for disks, as top(1) prints it."""


def narrow_link(text: str) -> tuple[str, int] | None:
    """A link with fewer lanes than its device has, with its line; None without one. Lanes stay as they are at rest,
    where generations change.

    >>> narrow_link("Link Width\\n  Max   : 16x\\n  Current  : 8x")
    ('8 of 16 lanes', 1)
    >>> narrow_link("pcie.link.width.current, pcie.link.width.max\\n16, 16\\n4, 16")
    ('4 of 16 lanes', 3)
    >>> narrow_link("pcie.link.width.current, pcie.link.width.max\\n16, 16")
    """
    for match in islice(_WIDTH.finditer(text) if "Link Width" in text else (), MOST_READ):
        if int(match[2]) < int(match[1]):
            return f"{match[2]} of {match[1]} lanes", line_at(text, match.start())
    for columns, row, number in _queried_rows(text, "pcie.link.width"):
        most, now = _number_of_column(columns, row, "width.max"), _number_of_column(columns, row, "width.current")
        if now is not None and most is not None and now < most:
            return f"{now:g} of {most:g} lanes", number
    return None


def unlike_widths(text: str) -> tuple[str, int] | None:
    """The lanes of accelerators of one table that have unlike numbers of them, with the line of the fewest; None where
    all are alike or the table has the numbers that are possible.

    >>> unlike_widths("index, pcie.link.width.current\\n0, 16\\n1, 4")
    ('4 lanes, another accelerator has 16', 3)
    """
    found = [
        (width, number)
        for columns, row, number in _queried_rows(text, "pcie.link.width")
        if _number_of_column(columns, row, "width.max") is None
        and (width := _number_of_column(columns, row, "width.current")) is not None
    ]
    (fewest, line), most = min(found, default=(0.0, 0)), max(found, default=(0.0, 0))[0]
    return (f"{fewest:g} lanes, another accelerator has {most:g}", line) if fewest < most else None


def low_clocks(text: str) -> tuple[str, int] | None:
    """The clock of an accelerator at work that is far below its maximum, with its line; None without one.

    >>> low_clocks("utilization.gpu [%], clocks.current.sm [MHz], clocks.max.sm [MHz]\\n99 %, 345 MHz, 1980 MHz")
    ('345 of 1980 MHz at 99 % utilization', 2)
    >>> low_clocks("utilization.gpu [%], clocks.current.sm [MHz], clocks.max.sm [MHz]\\n0 %, 345 MHz, 1980 MHz")
    """
    for columns, row, number in _queried_rows(text, "clocks."):
        used = _number_of_column(columns, row, "utilization.gpu")
        most = _number_of_column(columns, row, "clocks.max.sm", "clocks.max.gr")
        now = _number_of_column(columns, row, "clocks.current.sm", "clocks.sm", "clocks.current.gr", "clocks.gr")
        if now and most and used and used >= AT_WORK and now < LOW_CLOCK * most:
            return f"{now:g} of {most:g} MHz at {used:g} % utilization", number
    return _low_clocks_of_listing(text)


def _low_clocks_of_listing(text: str) -> tuple[str, int] | None:
    """The same of the listing of `nvidia-smi -q`, of its first accelerator that has such clocks.

    >>> _low_clocks_of_listing("Gpu  : 98 %\\nClocks\\n SM  : 345 MHz\\nMax Clocks\\n SM  : 1980 MHz")
    ('345 of 1980 MHz at 98 % utilization', 3)
    """
    if "Max Clocks" not in text:
        return None
    used, now, line, of_most = 0, 0, 0, False
    for number, each in enumerate(islice(lines_of(text), MOST_READ * 10), 1):
        if len(each) > LONGEST:
            continue
        if match := _USED.match(each):
            used, now = int(match[1]), 0
        elif match := _CLOCKS.match(each):
            of_most = match[1] is not None
        elif (match := _SM.match(each)) and not of_most:
            now, line = int(match[1]), number
        elif match and used >= AT_WORK and 0 < now < LOW_CLOCK * int(match[1]):
            return f"{now} of {match[1]} MHz at {used} % utilization", line
    return None


def bound_cores(text: str) -> tuple[str, int] | None:
    """The one or two cores that a process may use, or a quota of so much, with the line; None without one.

    >>> bound_cores("pid 42's current affinity list: 0"), bound_cores("pid 42's current affinity list: 0-15")
    (('1 core', 1), None)
    >>> bound_cores("cpu.max: 200000 100000")
    ('a quota of 2 cores', 1)
    """
    if not any(word in text for word in _OF_CORES):
        return None
    for number, line in enumerate(islice(lines_of(text), MOST_READ * 10), 1):
        if len(line) > LONGEST:
            continue
        if (match := _CORES.search(line)) and (count := _cores_of(match[1])) <= FEW:
            return f"{count} core{'s' if count > 1 else ''}", number
        if (match := _QUOTA.match(line)) and int(match[1]) <= FEW * int(match[2]):
            return f"a quota of {int(match[1]) / int(match[2]):.3g} cores", number
    return None


def _cores_of(listed: str) -> int:
    """The number of cores of a list of numbers and ranges.

    >>> _cores_of("0-3,8"), _cores_of("0 1")
    (5, 2)
    """
    ends = [part.split("-") for part in re.split(r"[, ]", listed) if part]
    return sum(int(part[-1]) - int(part[0]) + 1 for part in ends)


def stopped_group(text: str) -> tuple[str, int] | None:
    """How often a control group stopped for the rest of a period, with the line; None if never.

    >>> stopped_group("nr_periods 900\\nnr_throttled 812\\nthrottled_usec 99182312")
    ('nr_throttled 812', 2)
    """
    match = _STOPPED.search(text) if "nr_throttled" in text else None
    return (f"nr_throttled {match[1]}", line_at(text, match.start())) if match else None


def busy_disk(text: str) -> tuple[str, int] | None:
    """A disk that is always busy while processors wait for it, or processors that mostly wait, with the line; None
    without one.

    >>> busy_disk("%Cpu(s):  4.1 us,  2.0 sy,  0.0 ni, 32.0 id, 61.2 wa,  0.0 hi")
    ('processors wait for disks 61.2 % of the time', 1)
    """
    if "%util" not in text and "Cpu(s)" not in text:
        return None
    waits, disks = 0.0, False
    of_waits = False
    for number, line in enumerate(islice(lines_of(text), MOST_READ), 1):
        if len(line) > LONGEST:
            continue
        if (match := _TOP.match(line)) and float(match[1]) >= WAITING:
            return f"processors wait for disks {match[1]} % of the time", number
        if of_waits and (match := _WAIT.match(line)):
            waits = max(waits, float(match[1]))
        of_waits, disks = _OF_WAITS.match(line) is not None, disks or _OF_DISKS.match(line) is not None
        match = _DISK.match(line) if disks and waits >= WAITING else None
        if match and float(match[2]) >= BUSY:
            return f"{match[1]} is busy {match[2]} % of the time, processors wait {waits:g} %", number
    return None


def _queried_rows(text: str, word: str) -> Iterator[tuple[Sequence[str], Sequence[str], int]]:
    """The rows below headings of a table of `nvidia-smi` that name a word: columns, cells and line."""
    columns: list[str] = []
    for number, line in enumerate(islice(lines_of(text) if word in text else (), MOST_READ), 1):
        cells = [cell.strip() for cell in line.split(",")] if len(line) <= LONGEST else []
        if len(cells) > 1 and word in line and all(map(_COLUMN.fullmatch, cells)):
            columns = [cell.partition(" ")[0].lower() for cell in cells]
        elif columns and len(cells) == len(columns):
            yield columns, cells, number
        else:
            columns = []


def _number_of_column(columns: Sequence[str], row: Sequence[str], *names: str) -> float | None:
    """The number in the first of some columns of a row; None without one. Columns are found by their ends."""
    for name in names:
        for column, cell in zip(columns, row, strict=True):
            if column.endswith(name) and (match := _NUMBER.match(cell)):
                return float(match[0])
    return None


FIGURES = {
    "narrow-link": narrow_link,
    "unlike-widths": unlike_widths,
    "low-clocks": low_clocks,
    "bound-cores": bound_cores,
    "stopped-group": stopped_group,
    "busy-disk": busy_disk,
}
"""Names of statements, and what reads each from a text."""


def figure_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The statements of figures of a text, of its host and of the shares of its work: name, figures and line."""
    yield from ((name, *stated) for name, read in FIGURES.items() if (stated := read(text)) is not None)
    yield from host_statements(text)
    yield from share_statements(text)
