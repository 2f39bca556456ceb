"""The size of shared memory that a text states: an option of a container, a row of `df`, or a person's figure."""

from __future__ import annotations

import re

from clusterspec.logs.text_lines import lines_of, shown_line

AMPLE = 64
"""GB of shared memory that the workers of a host's data loaders do not fill: a default of a container has 0.064."""
_SIZE = r"(?P<size>\d{1,5}(?:\.\d)?) ?(?P<unit>[GT])(?:i?B)?\b"
_STATED = (
    re.compile(rf"--shm-size[ =]\"?{_SIZE}", re.IGNORECASE),
    re.compile(rf"^\s{{0,4}}(?:tmpfs|shm)\s{{1,20}}{_SIZE}.{{0,60}}/dev/shm\s*$"),
    re.compile(rf"/dev/shm\b[^\n]{{0,40}}?\b{_SIZE}"),
)


def ample_shared_memory(text: str) -> tuple[str, int] | None:
    """The first line that states shared memory of at least `AMPLE` GB, and its number; None without any.

    >>> ample_shared_memory("I run with --ipc=host, so /dev/shm has 254GB.")
    ('I run with --ipc=host, so /dev/shm has 254GB.', 1)
    >>> ample_shared_memory("docker run --shm-size=8g image")
    """
    if "shm" not in text:
        return None
    for number, line in enumerate(lines_of(text), 1):
        for pattern in _STATED if "shm" in line[:2_000] else ():
            found = pattern.search(line[:2_000])
            if found and float(found["size"]) * (1_000 if found["unit"] in "tT" else 1) >= AMPLE:
                return shown_line(line.strip()), number
    return None
