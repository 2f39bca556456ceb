"""`rocm-smi --showtopo` and `--showtoponuma`: hops, link types, weights and NUMA nodes of AMD accelerators."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.machines.links import NodeLinks, record_links

KIND = "rocm-smi-topo"
_SECTION = re.compile(r"=++ *+([A-Za-z][A-Za-z ]*+)=++\s*+$")
_DEVICE = re.compile(r"GPU[0-9]+")
_NUMA = re.compile(r"GPU\[([0-9]+)\]\s*:\s*\(Topology\) Numa Node:\s*(-?[0-9]+)")
_TABLES = {
    "weight between two gpus": "weight",
    "hops between two gpus": "hops",
    "link type between two gpus": "type",
    "link accessibility between two gpus": "access",
}
Table = dict[tuple[str, str], str]


def matches(file: InputFile) -> bool:
    return "between two GPUs" in file.head or "(Topology) Numa" in file.head


def read(file: InputFile) -> ImportResult:
    """The node of the tables. Raises `FormatError` if there is none, or a table is truncated."""
    builder = ImportBuilder(KIND, file.name)
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
    _record_devices(devices, tables, builder, line)
    return builder.reading()


def _named_tables(lines: tuple[str, ...]) -> tuple[dict[str, Table], int, tuple[str, ...]]:
    """The tables by name, the line of the link type table (else of the first), and the devices."""
    tables: dict[str, Table] = {}
    devices: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    name, start = "", 0
    for number, text in enumerate(lines, 1):
        if match := _SECTION.match(text.strip()):
            _whole(name, tables, header, number)
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
    _whole(name, tables, header, len(lines))
    return tables, start, devices


def _whole(name: str, tables: dict[str, Table], header: tuple[str, ...], line: int) -> None:
    if name in tables and len(tables[name]) != len(header) ** 2:
        raise FormatError(
            f"the table of {name}s has {len(tables[name])} of {len(header) ** 2} cells: it is truncated", line
        )


def _record_devices(devices: tuple[str, ...], tables: dict[str, Table], builder: ImportBuilder, line: int) -> None:
    types, weights, hops = tables["type"], tables.get("weight"), tables.get("hops")
    linked = {pair for pair, kind in types.items() if kind.upper() == "XGMI"}
    numbers = {pair: int(weights[pair]) for pair in linked if weights[pair].isdecimal()} if weights else {}
    least = min(numbers.values(), default=0)
    direct = {pair: 1 for pair in linked if (numbers.get(pair, least) == least) and (not hops or hops.get(pair) == "1")}
    builder.count("devices", len(devices), line)
    links = NodeLinks(devices, direct)
    if len(set(numbers.values())) > 1:
        builder.count("edges", links.edges, line)
        why = "links of different weight, as between the halves of MI200 packages: a device is half of a package there"
        builder.unknown(f"cluster.accelerators_per_node of {len(devices)} devices", why, line)
        return
    builder.count("accelerators", len(devices), line)
    builder.set("cluster.accelerators_per_node", len(devices), line)
    record_links(links, builder, line)
    if direct:
        builder.unknown("links of one pair", "rocm-smi prints one entry per pair, not its number of links", line)
