"""The lines of a report that people wrote: lines without marks of program output.

Only the first and the last lines of a very long report are read, since people write above and below the logs that they
paste.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import deque
from collections.abc import Iterable, Iterator

from clusterspec.logs.text_lines import lines_of

LONGEST = 1_200
"""Largest number of characters of a line of prose that is read."""
MOST_PROSE = 400_000
"""Largest number of characters of lines of people that are read, half of them at each end."""
MOST_FORMS = 20_000
"""Different lines, digits aside, that are read from the beginning; of the rest a quarter as many from the end."""
_OF_LOGS = re.compile(
    r"\b(?:NCCL|RCCL) (?:INFO|WARN|TRACE)\b|\bCCL_(?:WARN|ERROR|INFO)\b|\bUCX {1,4}[A-Z]{4,5}\b"
    r"|^\s{0,8}(?:File \"|at 0x|[$#] ?\w)|(?<![\w./-])(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)(?![\w./-])"
    r"|^[EIWF][0-9]{4} |<(?:warn|info|debug)>|\b[A-Z]\w{2,60}(?:Error|Exception): |\b(?:[Ee]rror|[Ff]atal|[Ff]ailed): "
    r"|^(?!(?i:work ?around|solution|solved|resolved|fixed|edit|update|note|results?|observations?|conclusion"
    r"|works|working|fails|failing):)"
    r"[\w.-]{2,40}(?:\[[0-9]{1,9}\])?: |\.(?:py|cc|cpp|cu|c|h):[0-9]{1,6}\b"
)
"""Marks of lines that a program prints, and of commands."""
_DIGITS = str.maketrans("123456789", "000000000")


def prose_lines(text: str) -> list[tuple[int, str]]:
    """The lines of people, and rows of tables, each with its number; of lines that differ only in their digits the
    first. If there are more than `MOST_FORMS` or `MOST_PROSE`, the first and the last are read.

    >>> prose_lines("It hangs with 8 GPUs.\\nnode1: ERROR at step 7\\nIt hangs with 4 GPUs.")
    [(1, 'It hangs with 8 GPUs.')]
    """
    lines = enumerate(lines_of(text), 1)
    seen = set[str]()
    first = list(_different_lines(lines, seen, MOST_FORMS))
    last = list(_different_lines(reversed(deque(lines, MOST_FORMS)), seen, MOST_FORMS // 4))
    return _first_and_last([each for each in (*first, *reversed(last)) if _is_of_people(each[1])])


def _is_of_people(line: str) -> bool:
    """Whether a line is a row of a table, or has none of the marks of lines that programs print."""
    return line.lstrip().startswith("|") or not _OF_LOGS.search(line)


def _different_lines(lines: Iterable[tuple[int, str]], seen: set[str], most: int) -> Iterator[tuple[int, str]]:
    """At most `most` lines of several words that differ in more than digits from each other and from `seen`, which
    gets them.
    """
    for number, line in lines:
        if " " not in line[:LONGEST] or len(line) > LONGEST or (form := line.translate(_DIGITS)) in seen:
            continue
        if not most:
            return
        most -= 1
        seen.add(form)
        yield number, line


def _first_and_last(prose: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines of the first and of the last `MOST_PROSE` / 2 characters; all of a shorter text."""
    ends = list(itertools.accumulate(len(line) for _, line in prose))
    first = bisect.bisect_right(ends, MOST_PROSE // 2)
    last = bisect.bisect_right(ends, ends[-1] - MOST_PROSE // 2) if ends else 0
    return [*prose[:first], *prose[max(first, last) :]]
