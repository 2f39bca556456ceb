"""How evenly work is shared: figures of all stages, ranks or experts in a list, and the share of a model that each of
many accelerators has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.logs.text_lines import line_at, lines_of

LONGEST = 4_000
"""Largest number of characters of a line that is read."""
MOST_READ = 20_000
"""Largest number of lines that are read."""
FEWEST = 2
"""Smallest number of members of a list."""
LOST = 0.08
"""Share of the time that members wait for the slowest from which work is uneven: times of equal work differ by a few
percent (assumed).
"""
_MEMBER = r"\b(?:stages?|ranks?|experts?|GPUs?|devices?|workers?|replicas?|engines?|nodes?)\b"
_AMOUNT = r"\b(?:times?|tokens?|loads?|seconds|ms|counts?|steps?|samples|lengths?|latenc(?:y|ies))\b"
_LIST = re.compile(
    rf"(?:{_MEMBER}[^\[\]\n]{{0,30}}?{_AMOUNT}|{_AMOUNT}[^\[\]\n]{{0,30}}?{_MEMBER})[^\[\]\n]{{0,24}}?"
    r"\[((?:[0-9]{1,9}(?:\.[0-9]{1,6})?[, ]{1,3}){1,1023}[0-9]{1,9}(?:\.[0-9]{1,6})?)\]",
    re.IGNORECASE,
)
_DEGREE = re.compile(r"(?:--tensor[-_]parallel[-_]size|--tp(?:-size)?|\btensor_parallel_size)[ =]{1,2}([0-9]{1,3})\b")
_SIZE = re.compile(r"(?<![\w.])(?:\w[\w.]{0,30}[-_ ])?([0-9]{1,3}(?:\.[0-9])?)[bB](?![\w])(?![- ][aA][0-9])")
"""The parameters in a model's name, in billions; not of one that names its active ones."""


def uneven_shares(text: str) -> tuple[str, int] | None:
    """A list of figures of all members whose largest is far above their mean, with its line: what they wait for it.

    >>> uneven_shares("stage times (ms): [3.0, 3.0, 3.0, 4.0]")
    ('the largest of 4 figures is 1.23 times their mean: the others wait 19 % of the time', 1)
    >>> uneven_shares("stage times (ms): [3.0, 3.1, 3.0, 3.1]")
    """
    if "[" not in text:
        return None
    for number, line in enumerate(islice(lines_of(text), MOST_READ), 1):
        match = _LIST.search(line[:LONGEST]) if "[" in line else None
        if match is None:
            continue
        figures = [float(each) for each in re.split(r"[, ]{1,3}", match[1])]
        mean, most = sum(figures) / len(figures), max(figures)
        if len(figures) >= FEWEST and mean > 0 and 1 - mean / most >= LOST:
            said = f"the largest of {len(figures)} figures is {most / mean:.3g} times their mean"
            return f"{said}: the others wait {1 - mean / most:.0%} of the time".replace("%", " %"), number
    return None


def shared_model(text: str) -> tuple[str, int] | None:
    """The tensor parallelism of a launch and the parameters of its model in billions, with the line of the degree; None
    without one of each.

    >>> shared_model("vllm serve Llama3-8b-instruct --tensor-parallel-size 8")
    ('8 8', 1)
    >>> shared_model("vllm serve Qwen3-30B-A3B --tensor-parallel-size 8")
    """
    degree = _DEGREE.search(text)
    sizes = {float(size) for size in _SIZE.findall(text[: LONGEST * 4])} if degree else set()
    if degree is None or len(sizes) != 1 or int(degree[1]) < FEWEST:
        return None
    return f"{int(degree[1])} {sizes.pop():g}", line_at(text, degree.start())


FIGURES = {"uneven-shares": uneven_shares, "shared-model": shared_model}
"""Names of statements, and what reads each from a text."""


def share_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The statements of shares of work: name, figures and line."""
    return ((name, *stated) for name, read in FIGURES.items() if (stated := read(text)) is not None)
