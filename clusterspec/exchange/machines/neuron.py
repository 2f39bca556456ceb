"""`neuron-ls`: the Neuron devices of an AWS instance and the links between them, as a table or as JSON (``-j``)."""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.machines.links import platform_of_instance, shape_of
from clusterspec.records import dataclass

KIND = "neuron-ls"
_INSTANCE = re.compile(r"\s*instance-type:\s*(\S+)")
_MEMORY = re.compile(r"([0-9]+) ?(GB|GiB)")


@dataclass(frozen=True, slots=True)
class NeuronDevice:
    """A Neuron device: number, cores, memory as printed, and the numbers of its neighbors."""

    number: int
    cores: int
    memory: str
    neighbors: frozenset[int]
    line: int


def matches(file: InputFile) -> bool:
    head = file.head
    return ("NEURON" in head and "DEVICE" in head) or '"neuron_device"' in head


def read(file: InputFile) -> ImportResult:
    """The instance of a listing. Raises `FormatError` if it has no device or is truncated."""
    builder = ImportBuilder(KIND, file.name)
    devices = _devices_of_json(file) if file.text.lstrip().startswith(("[", "{")) else _devices_of_table(file)
    if not devices:
        raise FormatError("lists no Neuron device")
    _check_devices(devices)
    for number, text in enumerate(file.lines[:50], 1):
        if match := _INSTANCE.match(text):
            platform_of_instance(match[1], "aws", builder, number)
    _record_devices(devices, builder)
    return builder.reading()


def _check_devices(devices: list[NeuronDevice]) -> None:
    numbers = {device.number for device in devices}
    for device in devices:
        missing = device.neighbors - numbers
        if missing:
            raise FormatError(
                f"device {device.number} is connected to {min(missing)}, which is not listed", device.line
            )


def _record_devices(devices: list[NeuronDevice], builder: ImportBuilder) -> None:
    line = devices[0].line
    builder.count("accelerators", len(devices), line)
    builder.set("cluster.accelerators_per_node", len(devices), line)
    cores = {device.cores for device in devices}
    if len(cores) == 1:
        builder.set("cluster.ranks_per_accelerator", cores.pop(), line)
    memories = {device.memory for device in devices if device.memory}
    if len(memories) == 1:
        builder.count("memory_per_accelerator", memories.pop(), line)
    neighbors = {device.number: device.neighbors for device in devices}
    degrees = {len(peers) for peers in neighbors.values()}
    edges = {frozenset((one, other)) for one, peers in neighbors.items() for other in peers}
    builder.count("links_per_accelerator", degrees.pop() if len(degrees) == 1 else "uneven", line)
    builder.count("edges", len(edges), line)
    shape = shape_of(neighbors)
    if shape is None:
        if edges:
            builder.unknown("cluster.scale_up.topology", "the links form neither a ring nor a torus", line)
        return
    builder.set("cluster.scale_up.topology", "ring" if len(shape) == 1 else "torus", line)
    if len(shape) > 1:
        builder.set("cluster.scale_up.shape", list(shape), line)


def _devices_of_table(file: InputFile) -> list[NeuronDevice]:
    """The devices of a table; its header is on the two lines after the first rule."""
    columns: list[str] = []
    devices: list[NeuronDevice] = []
    for number, text in enumerate(file.lines, 1):
        if not text.startswith("|"):
            continue
        cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
        if not cells[0].isdecimal():
            combined = [f"{old} {new}".strip() for old, new in zip(columns or [""] * len(cells), cells, strict=False)]
            columns = combined
            continue
        if "NEURON DEVICE" not in columns:
            raise FormatError("a device without a column NEURON DEVICE", number)
        if len(cells) != len(columns):
            raise FormatError(
                f"a row of {len(cells)} cells under {len(columns)} headings: the file is truncated", number
            )
        devices.append(_parsed_device(dict(zip(columns, cells, strict=True)), number))
    return devices


def _parsed_device(row: dict[str, str], line: int) -> NeuronDevice:
    peers = re.findall(r"[0-9]{1,6}", row.get("CONNECTED DEVICES", ""))
    memory = row.get("NEURON MEMORY", "")
    cores = row.get("NEURON CORES", "")
    if not cores.isdecimal():
        raise FormatError("a device without a number of cores", line)
    return NeuronDevice(
        int(row["NEURON DEVICE"][:6]),
        int(cores[:6]),
        memory if _MEMORY.fullmatch(memory) else "",
        frozenset(map(int, peers)),
        line,
    )


def _devices_of_json(file: InputFile) -> list[NeuronDevice]:
    rows: Any = file.json
    rows = rows.get("neuron_devices", rows.get("mlas", [])) if isinstance(rows, dict) else rows
    line = file.line_of_key("neuron_device")
    try:
        return [
            NeuronDevice(
                int(row["neuron_device"]),
                int(row["nc_count"]),
                f"{int(row['memory_size']) >> 30} GiB" if "memory_size" in row else "",
                frozenset(int(peer) for peer in row.get("connected_to") or ()),
                line,
            )
            for row in rows
        ]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise FormatError("a device without its number, cores or neighbors", line) from None
