"""Nodes and accelerators that a script requests from PBS, LSF, Fujitsu's batch system, Cobalt or Flux.

Sources: PBS Professional 2022.1 User's Guide, sections 4.5 (``-l select``) and 4.7 (``-l place``); Torque 6.1,
``-l nodes``; IBM Spectrum LSF 10.1, bsub ``-gpu`` (counted by host unless ``/task`` is given) and ``-nnodes``; pjsub
``-L node``; Cobalt, qsub ``-n``; flux-submit ``-N`` (as recalled).
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

_REQUEST = re.compile(
    r"^#(?P<by>PBS|BSUB|PJM|COBALT|MSUB|[ \t]?flux:)[ \t][^\n]{0,200}?"
    r"(?P<request>\b(?:select|nodes?|nnodes|ngpus|gpus?)(?:=|[ \t]{1,4})[\"']?[0-9][^\s\"']{0,120}"
    r"|(?<=[ \t])-N[ \t=]?[0-9]{1,6}\b|(?<=COBALT[ \t])-n[ \t]{1,4}[0-9]{1,6}\b|(?<=[ \t])-gpu[ \t]{1,4}[^\n]{1,60})",
    re.MULTILINE,
)
MOST_REQUESTS = 50
_COUNTS = (
    re.compile(r"select=(?P<chunks>[0-9]{1,6})(?P<chunk>(?::[^\s:+,]{1,80}){0,9})(?:,[^\s+]{0,100})?"),
    re.compile(r"nodes=(?P<nodes>[0-9]{1,6})(?P<chunk>(?::[^\s:+,]{1,80}){0,9})(?:,[^\s+]{0,100})?"),
    re.compile(r"node=(?P<nodes>[0-9]{1,6})(?:,\S{0,100})?"),
    re.compile(r"(?:nnodes|-N|-n)[ \t=]{0,4}(?P<nodes>[0-9]{1,6})"),
    re.compile(r"-gpu[ \t]{1,4}[\"']?(?:\S{0,50}:)?num=(?P<gpus>[0-9]{1,4})(?:/host)?(?:[:\"'\s].{0,60})?"),
)
_OF_CHUNK = re.compile(r":n?gpus=([0-9]{1,4})(?![^:])")
_SCATTERED = re.compile(r"^#PBS[ \t][^\n]{0,200}?\bplace=v?scatter\b", re.MULTILINE)
"""Each chunk of a request is on another node."""


class Request(NamedTuple):
    """Words of one request, with the nodes and the accelerators of each that it states, if it does."""

    words: str
    line: int
    nodes: int | None
    accelerators: int | None


def requests_of(text: str) -> list[Request]:
    """The requests of a script; the chunks of PBS are nodes where each has one, or where there is only one.

    >>> [each[2:] for each in requests_of("#PBS -l select=1:ncpus=8:ngpus=4\\n")]
    [(1, 4)]
    >>> [each[2:] for each in requests_of("#PBS -l select=2:ngpus=4\\n")]
    [(None, None)]
    >>> [each[2:] for each in requests_of("#PBS -l select=2:ngpus=4\\n#PBS -l place=scatter\\n")]
    [(2, 4)]
    >>> [each[2:] for each in requests_of("#BSUB -nnodes 4\\n#BSUB -gpu num=6:mode=shared\\n")]
    [(4, None), (None, 6)]
    """
    found = []
    for request in islice(_REQUEST.finditer(text), MOST_REQUESTS):
        words, line = request["request"], text.count("\n", 0, request.start("request")) + 1
        match = next((each for pattern in _COUNTS if (each := pattern.fullmatch(words))), None)
        stated = match.groupdict() if match else {}
        count, of_chunk = stated.get("nodes"), _OF_CHUNK.search(stated.get("chunk") or "")
        if (chunks := stated.get("chunks")) and (chunks == "1" or _SCATTERED.search(text)):
            count = chunks
        gpus = stated.get("gpus") or (of_chunk[1] if of_chunk and count else None)
        found.append(Request(words, line, int(count or 0) or None, int(gpus or 0) or None))
    return found
