"""Names of the devices that a log prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.logs.benchmarks.benchmark import Evidence
from clusterspec.logs.text_lines import line_at

_DEVICE = re.compile(
    r"\bRank +([0-9]{1,8}) .{0,40}?\bPid +[0-9]{1,9} on +(\S{1,255}) *device +[0-9]{1,4} +\[[^\]\n]{1,40}\]"
    r" {0,4}([A-Za-z][^\n]{1,79})"
    r"|^GPU ([0-9]{1,4}): ([A-Za-z][^\n(]{1,79}) \((UUID): "
    r"|\bdevice_name=([A-Za-z][\w.-]{1,79})\.json",
    re.MULTILINE,
)
"""Names of devices: in the lists of nccl-tests and rccl-tests (`src/common.cu`) and `nvidia-smi -L`, and in the names
of files that vLLM and SGLang look for (`fused_moe.py`, `get_config_file_name`).
"""
_NAMES = ("Rank ", "UUID: ", "device_name=")
MOST_DEVICES = 200_000
"""Largest number of lines of devices that are read."""


def device_statements(text: str) -> Iterator[Evidence]:
    """The names of the devices that a log prints: their number (0 if it is not stated), the name, the first line."""
    if not any(word in text for word in _NAMES):
        return
    found: dict[str, set[tuple[str, str]]] = {}
    first: dict[str, int] = {}
    for match in islice(_DEVICE.finditer(text), MOST_DEVICES):
        name = (match[3] or match[5] or match[7].replace("_", " ")).strip()
        first.setdefault(name, match.start())
        found.setdefault(name, set()).update(
            {(match[1], match[2])} if match[1] else {(match[4], "")} if match[4] else ()
        )
    for name, ranks in found.items():
        yield Evidence("devices", f"{len(ranks)} {name}", line_at(text, first[name]))
