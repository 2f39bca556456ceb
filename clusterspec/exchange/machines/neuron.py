"""`neuron-ls`: the Neuron devices of an AWS instance and the links between them, as a table or as JSON (``-j``)."""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.files import InputFile
from clusterspec.exchange.machines.names import platform_of_instance
from clusterspec.exchange.machines.torus import shape_of
from clusterspec.exchange.reading import Notes, Reading, Refusal
from clusterspec.records import dataclass

KIND = "neuron-ls"
_INSTANCE = re.compile(r"\s*instance-type:\s*(\S+)")
_MEMORY = re.compile(r"([0-9]+) ?(GB|GiB)")


@dataclass(frozen=True, slots=True)
class Device:
    """One Neuron device: its number, cores, memory as printed, and the numbers of its neighbors."""

    number: int
    cores: int
    memory: str
    neighbors: frozenset[int]
    line: int


def suits(file: InputFile) -> bool:
    head = file.head
    return ("NEURON" in head and "DEVICE" in head) or '"neuron_device"' in head


def read(file: InputFile) -> Reading:
    """The instance behind a listing. Raises `Refusal` where it names no device, or is cut off."""
    notes = Notes(KIND, file.name)
    devices = _from_json(file) if file.text.lstrip().startswith(("[", "{")) else _from_table(file)
    if not devices:
        raise Refusal("lists no Neuron device")
    _check(devices)
    for number, text in enumerate(file.lines[:50], 1):
        if match := _INSTANCE.match(text):
            platform_of_instance(match[1], "aws", notes, number)
    _describe(devices, notes)
    return notes.reading()


def _check(devices: list[Device]) -> None:
    numbers = {device.number for device in devices}
    for device in devices:
        missing = device.neighbors - numbers
        if missing:
            raise Refusal(f"device {device.number} is joined to {min(missing)}, which is not listed", device.line)


def _describe(devices: list[Device], notes: Notes) -> None:
    line = devices[0].line
    notes.count("accelerators", len(devices), line)
    notes.give("cluster.accelerators_per_node", len(devices), line)
    cores = {device.cores for device in devices}
    if len(cores) == 1:
        notes.give("cluster.ranks_per_accelerator", cores.pop(), line)
    memories = {device.memory for device in devices if device.memory}
    if len(memories) == 1:
        notes.count("memory_per_accelerator", memories.pop(), line)
    neighbors = {device.number: device.neighbors for device in devices}
    degrees = {len(peers) for peers in neighbors.values()}
    edges = {frozenset((one, other)) for one, peers in neighbors.items() for other in peers}
    notes.count("links_per_accelerator", degrees.pop() if len(degrees) == 1 else "uneven", line)
    notes.count("edges", len(edges), line)
    shape = shape_of(neighbors)
    if shape is None:
        if edges:
            notes.unknown("cluster.scale_up.topology", "the links form neither a ring nor a torus", line)
        return
    notes.give("cluster.scale_up.topology", "ring" if len(shape) == 1 else "torus", line)
    if len(shape) > 1:
        notes.give("cluster.scale_up.shape", list(shape), line)


def _from_table(file: InputFile) -> list[Device]:
    """Rows between bars; the header is on the two lines after the first rule."""
    columns: list[str] = []
    devices: list[Device] = []
    for number, text in enumerate(file.lines, 1):
        if not text.startswith("|"):
            continue
        cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
        if not cells[0].isdecimal():
            joined = [f"{old} {new}".strip() for old, new in zip(columns or [""] * len(cells), cells, strict=False)]
            columns = joined
            continue
        if "NEURON DEVICE" not in columns:
            raise Refusal("a device under no heading that is called NEURON DEVICE", number)
        if len(cells) != len(columns):
            raise Refusal(f"a row of {len(cells)} cells under {len(columns)} headings: it is cut off", number)
        devices.append(_device(dict(zip(columns, cells, strict=True)), number))
    return devices


def _device(row: dict[str, str], line: int) -> Device:
    peers = re.findall(r"[0-9]{1,6}", row.get("CONNECTED DEVICES", ""))
    memory = row.get("NEURON MEMORY", "")
    cores = row.get("NEURON CORES", "")
    if not cores.isdecimal():
        raise Refusal("a device without a number of cores", line)
    return Device(
        int(row["NEURON DEVICE"][:6]),
        int(cores[:6]),
        memory if _MEMORY.fullmatch(memory) else "",
        frozenset(map(int, peers)),
        line,
    )


def _from_json(file: InputFile) -> list[Device]:
    rows: Any = file.json
    rows = rows.get("neuron_devices", rows.get("mlas", [])) if isinstance(rows, dict) else rows
    line = file.line_of_key("neuron_device")
    try:
        return [
            Device(
                int(row["neuron_device"]),
                int(row["nc_count"]),
                f"{int(row['memory_size']) >> 30} GiB" if "memory_size" in row else "",
                frozenset(int(peer) for peer in row.get("connected_to") or ()),
                line,
            )
            for row in rows
        ]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise Refusal("a device without its number, cores or neighbors", line) from None
