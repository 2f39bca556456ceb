"""`nvidia-smi nvlink -s`: the NVLinks of each GPU with their speed, and inactive links.

Speeds are raw signaling of one direction of one link (26.562 GB/s on NVLink 4), not the payload of data sheets.
"""

from __future__ import annotations

import re
from collections import Counter

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.machines.links import set_product
from clusterspec.records import dataclass, field

KIND = "nvidia-smi-nvlink"
_GPU = re.compile(r"GPU\s+([0-9]{1,3}):(.*)")
_LINK = re.compile(r"\s*Link\s+([0-9]{1,3}):\s*+(.+)")
_SPEED = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4})?)\s*GB/s")


@dataclass(slots=True)
class Gpu:
    """A GPU with the speed of each active link in GB/s, and the numbers of inactive links."""

    number: int
    name: str
    line: int
    speeds: list[float] = field(default_factory=list)
    inactive: list[str] = field(default_factory=list)


def matches(file: InputFile) -> bool:
    return bool(
        re.search(r"^GPU\s+[0-9]+:", file.head, re.MULTILINE) and re.search(r"^[ \t]*Link [0-9]+:", file.head, re.M)
    )


def read(file: InputFile) -> ImportResult:
    """The GPUs and their links. Raises `FormatError` if there are none."""
    builder, gpus = ImportBuilder(KIND, file.name), list[Gpu]()
    for number, line in enumerate(file.lines, 1):
        if match := _GPU.match(line):
            gpus.append(Gpu(int(match[1]), match[2].partition("(UUID:")[0].strip(), number))
        elif (match := _LINK.match(line)) and gpus:
            if speed := _SPEED.search(match[2]):
                gpus[-1].speeds.append(float(speed[1]))
            else:
                gpus[-1].inactive.append(match[1])
    if not gpus:
        raise FormatError("names no GPU with links")
    _record_gpus(gpus, builder)
    return builder.reading()


def _record_gpus(gpus: list[Gpu], builder: ImportBuilder) -> None:
    line = gpus[0].line
    builder.count("accelerators", len(gpus), line)
    builder.set("cluster.accelerators_per_node", len(gpus), line)
    names = Counter(gpu.name for gpu in gpus)
    if len(names) == 1 and gpus[0].name:
        set_product(gpus[0].name, builder, line)
    counts = {len(gpu.speeds) for gpu in gpus}
    builder.count(
        "links_per_accelerator", counts.pop() if len(counts) == 1 else f"{min(counts)} to {max(counts)}", line
    )
    speeds = {speed for gpu in gpus for speed in gpu.speeds}
    if len(speeds) == 1:
        builder.count("link_signalling_rate_each_way", f"{speeds.pop():g} GB/s", line)
    elif speeds:
        builder.unknown(
            "link speeds", f"links of different speed: {', '.join(f'{each:g}' for each in sorted(speeds))} GB/s"
        )
    for gpu in gpus:
        if gpu.inactive:
            what = f"{len(gpu.inactive)} inactive links of GPU {gpu.number} ({', '.join(gpu.inactive[:18])})"
            builder.unknown(what, "not counted; `nvidia-smi nvlink -e` shows their errors", gpu.line)
