"""`nvidia-smi nvlink -s`: the NVLinks of each GPU with their speed, inactive ones by name.

Speeds are raw signalling of one direction of one link (26.562 GB/s on NVLink 4), not the payload of data sheets.
"""

from __future__ import annotations

import re
from collections import Counter

from clusterspec.exchange.files import InputFile
from clusterspec.exchange.machines.names import give_product
from clusterspec.exchange.reading import Notes, Reading, Refusal
from clusterspec.records import dataclass, field

KIND = "nvidia-smi-nvlink"
_GPU = re.compile(r"GPU\s+([0-9]{1,3}):\s*(.*?)\s*(?:\(UUID:[^)]*\))?\s*$")
_LINK = re.compile(r"\s*Link\s+([0-9]{1,3}):\s*(.+?)\s*$")
_SPEED = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4})?)\s*GB/s")


@dataclass(slots=True)
class Gpu:
    """One GPU with the speed of each active link in GB/s, and the numbers of the inactive ones."""

    number: int
    name: str
    line: int
    speeds: list[float] = field(default_factory=list)
    inactive: list[str] = field(default_factory=list)


def suits(file: InputFile) -> bool:
    return bool(
        re.search(r"^GPU\s+[0-9]+:", file.head, re.MULTILINE) and re.search(r"^\s*Link [0-9]+:", file.head, re.M)
    )


def read(file: InputFile) -> Reading:
    """The GPUs and their links. Raises `Refusal` where there is none."""
    notes, gpus = Notes(KIND, file.name), list[Gpu]()
    for number, line in enumerate(file.lines, 1):
        if match := _GPU.match(line):
            gpus.append(Gpu(int(match[1]), match[2], number))
        elif (match := _LINK.match(line)) and gpus:
            if speed := _SPEED.search(match[2]):
                gpus[-1].speeds.append(float(speed[1]))
            else:
                gpus[-1].inactive.append(match[1])
    if not gpus:
        raise Refusal("names no GPU with links")
    _describe(gpus, notes)
    return notes.reading()


def _describe(gpus: list[Gpu], notes: Notes) -> None:
    line = gpus[0].line
    notes.count("accelerators", len(gpus), line)
    notes.give("cluster.accelerators_per_node", len(gpus), line)
    names = Counter(gpu.name for gpu in gpus)
    if len(names) == 1 and gpus[0].name:
        give_product(gpus[0].name, notes, line)
    counts = {len(gpu.speeds) for gpu in gpus}
    notes.count("links_per_accelerator", counts.pop() if len(counts) == 1 else f"{min(counts)} to {max(counts)}", line)
    speeds = {speed for gpu in gpus for speed in gpu.speeds}
    if len(speeds) == 1:
        notes.count("link_signalling_rate_each_way", f"{speeds.pop():g} GB/s", line)
    elif speeds:
        notes.unknown(
            "link speeds", f"links of different speed: {', '.join(f'{each:g}' for each in sorted(speeds))} GB/s"
        )
    for gpu in gpus:
        if gpu.inactive:
            what = f"{len(gpu.inactive)} inactive links of GPU {gpu.number} ({', '.join(gpu.inactive[:18])})"
            notes.unknown(what, "not counted; `nvidia-smi nvlink -e` shows their errors", gpu.line)
