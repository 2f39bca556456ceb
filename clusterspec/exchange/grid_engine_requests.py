"""Nodes and accelerators that a script requests from Grid Engine: the resources of ``#$ -l`` lines.

Sources: Grid Engine 8.1.9, qsub(1) and complex(5): a site names the resources, and decides whether a job with slots
(``-pe``) takes the number of a resource for each slot or once. Resources of whole nodes: ``rt_F`` and ``rt_AF`` of ABCI
(docs.abci.ai, Job Execution), ``f_node`` and ``node_f`` of TSUBAME 3 and 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.exchange.pbs_requests import CountedLine, JobRequest
from clusterspec.logs.text_lines import line_at

_LINE = re.compile(r"^#\$[ \t]{0,9}(?P<rest>-[^\n]{1,2000})", re.MULTILINE)
_OPTION = re.compile(r"(?:^|(?<=[ \t]))-(?P<name>l|pe)[ \t]{1,4}(?:(?:hard|soft)[ \t]{1,4})?(?P<value>[^\s-]\S{0,400})")
_SLOTS = re.compile(r"-pe[ \t]{1,4}\S{1,80}[ \t]{1,4}(?P<count>[0-9]{1,6})(?![\w-])")
_WHOLE = re.compile(r"rt_(?:F|AF)|f_node|node_f")
_ACCELERATORS = re.compile(r"[a-z]{0,8}_?n?gpus?(?:_card|_cards)?", re.IGNORECASE)


def grid_engine_request(text: str) -> JobRequest:
    """The request of a job of Grid Engine.

    >>> grid_engine_request("#$ -l h_rt=1:00:00,gpu=2")[:2]
    (CountedLine(number=1, line=1), CountedLine(number=2, line=1))
    >>> grid_engine_request("#$ -pe smp 8\\n#$ -l gpu=2").open[0][:2]
    ('gpu=2', 'of each of 8 slots, or of the job: the site decides')
    >>> grid_engine_request("#$ -l rt_AF=16").nodes
    CountedLine(number=16, line=1)
    """
    stated = {name: (value, line) for name, value, line in _resources(text)}
    whole = next((each for name, each in stated.items() if _WHOLE.fullmatch(name)), None)
    if whole:
        return JobRequest(_count_at_line(*whole))
    named = next((name for name in stated if _ACCELERATORS.fullmatch(name)), None)
    found = _count_at_line(*stated[named]) if named else None
    if named is None or found is None:
        return JobRequest()
    slots = _SLOTS.search("\n".join(match["rest"] for match in _LINE.finditer(text)))
    if slots is None:
        return JobRequest(CountedLine(1, found.line), found, found)
    why = f"of each of {slots['count']} slots, or of the job: the site decides"
    return JobRequest(open=((f"{named}={found.number}", why, found.line),))


def _resources(text: str) -> Iterator[tuple[str, str, int]]:
    """The resources that the directives of a script name, with values and lines."""
    for match in _LINE.finditer(text):
        line = line_at(text, match.start())
        for option in _OPTION.finditer(match["rest"].split(" #", 1)[0]):
            parts = option["value"].split(",") if option["name"] == "l" else []
            yield from ((name, value, line) for name, _, value in (part.partition("=") for part in parts))


def _count_at_line(value: str, line: int) -> CountedLine | None:
    return CountedLine(int(value), line) if value.isdecimal() and len(value) < 6 and int(value) else None
