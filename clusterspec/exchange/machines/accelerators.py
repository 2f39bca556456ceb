"""Tools that list the accelerators of a node: `hl-smi` (Gaudi), `neuron-ls` (AWS) and `rocm-smi` (AMD)."""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.machines.links import NodeLinks, platform_of_instance, record_links, set_product, shape_of
from clusterspec.records import dataclass

# `hl-smi`: the Gaudi accelerators of a node, as the table, as a query (``-q``) or as CSV (``-Q … -f csv``)

HL_SMI = "hl-smi"
_ROW = re.compile(r"\|\s*([0-9]{1,3})\s+(HL-[^\s|]++)[^|]*\|\s*([0-9a-fA-F:.]{7,12})")
_MEMORY = re.compile(r"/\s*([0-9]{3,7})\s*MiB")
_QUERY = re.compile(r"\[([0-9]{1,3})\]\s*AIP\s*\(accel[0-9]+\)\s*([0-9a-fA-F:.]{7,12})")
_PRODUCT = re.compile(r"\s*Product Name\s*:\s*(HL-\S+)")
_CSV = re.compile(r"\b(HL-[0-9A-Z]+)\b")


def matches_hl_smi(file: InputFile) -> bool:
    return (
        "HL-SMI" in file.head or bool(_QUERY.search(file.head)) or bool(re.search(r"^[^\n]*,\s*HL-", file.head, re.M))
    )


def read_hl_smi(file: InputFile) -> ImportResult:
    """The listed accelerators. Raises `FormatError` if there are none."""
    builder, found, memories = ImportBuilder(HL_SMI, file.name), dict[str, tuple[str, int]](), set[str]()
    current = ""
    for number, line in enumerate(file.lines, 1):
        if match := _ROW.search(line):
            found[match[1]] = match[2], number
        elif match := _QUERY.search(line):
            current = match[1]
            found[current] = "", number
        elif (match := _PRODUCT.match(line)) and current:
            found[current] = match[1], found[current][1]
        elif "," in line and (match := _CSV.search(line)) and "|" not in line:
            found[str(len(found))] = match[1], number
        if memory := _MEMORY.search(line):
            memories.add(memory[1])
    if not found:
        raise FormatError("lists no Gaudi accelerators")
    first = next(iter(found.values()))[1]
    builder.count("accelerators", len(found), first)
    builder.set("cluster.accelerators_per_node", len(found), first)
    names = {name for name, _ in found.values()} - {""}
    if len(names) == 1:
        set_product(names.pop(), builder, first)
    elif names:
        builder.unknown("cluster.accelerator", f"several products: {', '.join(sorted(names))}", first)
    if len(memories) == 1:
        builder.count("memory_per_accelerator", f"{memories.pop()} MiB", first)
    return builder.reading()


# `neuron-ls`: the Neuron devices of an AWS instance and the links between them, as a table or as JSON (``-j``)

NEURON_LS = "neuron-ls"
_INSTANCE = re.compile(r"\s*instance-type:\s*(\S+)")
_DEVICE_MEMORY = re.compile(r"([0-9]+) ?(GB|GiB)")


@dataclass(frozen=True)
class NeuronDevice:
    """A Neuron device: number, cores, memory as printed, and the numbers of its neighbors."""

    number: int
    cores: int
    memory: str
    neighbors: frozenset[int]
    line: int


def matches_neuron_ls(file: InputFile) -> bool:
    head = file.head
    return bool(re.search(r"^\|.*\bNEURON\b", head, re.MULTILINE) and "DEVICE" in head) or '"neuron_device"' in head


def read_neuron_ls(file: InputFile) -> ImportResult:
    """The instance of a listing. Raises `FormatError` if it has no device or is truncated."""
    builder = ImportBuilder(NEURON_LS, file.name)
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
        memory if _DEVICE_MEMORY.fullmatch(memory) else "",
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


# `rocm-smi --showtopo`, `--showtoponuma`, `amd-smi topology`: hops, link types, weights and NUMA nodes of AMD parts

ROCM_SMI_TOPO = "rocm-smi-topo"
_SECTION = re.compile(r"=++ *+([A-Za-z][A-Za-z ]*+)=++\s*+$")
_DEVICE = re.compile(r"GPU[0-9]+|[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9]")
_NUMA = re.compile(r"GPU\[([0-9]+)\]\s*:\s*\(Topology\) Numa Node:\s*(-?[0-9]+)")
_TABLES = {
    "weight between two gpus": "weight",
    "hops between two gpus": "hops",
    "link type between two gpus": "type",
    "link accessibility between two gpus": "access",
    "weight": "weight",
    "hops": "hops",
    "link type": "type",
    "access": "access",
}
_AMD_SECTION = re.compile(
    r"^(WEIGHT|HOPS|LINK TYPE|ACCESS|NUMA BW|CACHE COHER[AE]NCY|ATOMICS|DMA|BI-DIRECTIONAL) TABLE:", re.MULTILINE
)
"""Titles of tables of ``amd-smi topology``. The number of hops is 1 for every XGMI route, so direct links are
recognized by weight.
"""
Table = dict[tuple[str, str], str]


def matches_rocm_smi_topo(file: InputFile) -> bool:
    head = file.head
    return "between two GPUs" in head or "(Topology) Numa" in head or bool(_AMD_SECTION.search(head))


def read_rocm_smi_topo(file: InputFile) -> ImportResult:
    """The node that the tables describe. Raises `FormatError` if there is none, or a table is truncated."""
    builder = ImportBuilder(ROCM_SMI_TOPO, file.name)
    tables, line, devices = _named_tables(file.lines)
    numa = {match[1]: (int(match[2]), n) for n, text in enumerate(file.lines, 1) if (match := _NUMA.search(text))}
    if not tables and not numa:
        raise FormatError("has neither a table between GPUs nor NUMA nodes as rocm-smi prints them")
    if numa:
        builder.count("numa_nodes", len({node for node, _ in numa.values()}), min(n for _, n in numa.values()))
    if "type" not in tables:
        count = len(devices) or len(numa)
        builder.count("devices", count, line)
        builder.unknown(f"{count} devices", "no table of link types; on MI200 packages a device is half of one", line)
        return builder.reading()
    _record_listed_devices(devices, tables, builder, line)
    return builder.reading()


def _named_tables(lines: tuple[str, ...]) -> tuple[dict[str, Table], int, tuple[str, ...]]:
    """The tables by name, the line of the link type table (or of the first table), and the devices."""
    tables: dict[str, Table] = {}
    devices: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    name, start = "", 0
    for number, text in enumerate(lines, 1):
        if match := _SECTION.match(text.strip()) or _AMD_SECTION.match(text.strip()):
            _refuse_truncated_table(name, tables, header, number)
            name, header = _TABLES.get(match[1].strip().lower(), ""), ()
            start = number if name == "type" or not start else start
            continue
        words = tuple(text.split())
        if not name or not words:
            continue
        if not header and all(_DEVICE.fullmatch(word) for word in words):
            header = words
            devices = devices or words
            tables[name] = {}
        elif header and _DEVICE.fullmatch(words[0]):
            if len(words) != len(header) + 1:
                raise FormatError(f"the row of {words[0]} has {len(words) - 1} of {len(header)} cells", number)
            tables[name] |= {(words[0], other): cell for other, cell in zip(header, words[1:], strict=True)}
    _refuse_truncated_table(name, tables, header, len(lines))
    return tables, start, devices


def _refuse_truncated_table(name: str, tables: dict[str, Table], header: tuple[str, ...], line: int) -> None:
    if name in tables and len(tables[name]) != len(header) ** 2:
        raise FormatError(
            f"the table of {name}s has {len(tables[name])} of {len(header) ** 2} cells: it is truncated", line
        )


def _record_listed_devices(
    devices: tuple[str, ...], tables: dict[str, Table], builder: ImportBuilder, line: int
) -> None:
    types, weights, hops = tables["type"], tables.get("weight"), tables.get("hops")
    linked = {pair for pair, kind in types.items() if kind.upper() == "XGMI"}
    numbers = {pair: int(weights[pair]) for pair in linked if weights[pair].isdecimal()} if weights else {}
    least = min(numbers.values(), default=0)
    direct = {pair: 1 for pair in linked if (numbers.get(pair, least) == least) and (not hops or hops.get(pair) == "1")}
    builder.count("devices", len(devices), line)
    links = NodeLinks(devices, direct)
    if len(set(numbers.values())) > 1:
        builder.count("edges", links.edges, line)
        why = (
            "links of different weight, as between the halves of MI200 packages, in which a device is half of a package"
        )
        builder.unknown(f"cluster.accelerators_per_node of {len(devices)} devices", why, line)
        return
    builder.count("accelerators", len(devices), line)
    builder.set("cluster.accelerators_per_node", len(devices), line)
    record_links(links, builder, line)
    if direct:
        builder.unknown("links of one pair", "rocm-smi prints one entry per pair, not its number of links", line)
