"""Nodes of Slurm with their accelerators: ``NodeName`` lines of slurm.conf and gres.conf, ``scontrol show node`` and
``scontrol show partition``.

Grammar: slurm.conf(5), gres.conf(5) and scontrol(1) of Slurm. ``Gres=gpu:TYPE:COUNT(S:0-1)``; in gres.conf
``Name=gpu`` with ``Count`` or the devices of ``File``, several lines of a node add up. ``NodeName=DEFAULT`` holds for
the lines below it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from clusterspec.exchange.fabrics.graph import expanded_hosts
from clusterspec.exchange.import_result import (
    TITLE,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.machines.links import accelerator_of_product
from clusterspec.exchange.machines.unclear_names import unclear_name
from clusterspec.units import plural

SLURM_NODES = "slurm-nodes"
_EQUALS = re.compile(r"(?<![ \t])[ \t]*=[ \t]*")
"""The equals sign between name and value; Slurm's parser allows blanks around it."""
_NODE = re.compile(r"^[ \t]*NodeName[ \t]*=", re.IGNORECASE | re.MULTILINE)
_GPU = re.compile(r"\bGres=[^\s#]{0,200}?\bgpu|\bName=gpu\b", re.IGNORECASE)
_PAIR = re.compile(r"(?<![A-Za-z])([A-Za-z]++)=(\S*)")
_GRES = re.compile(r"gpu(?::([A-Za-z][A-Za-z0-9_.+-]{0,60}))?(?::([0-9]{1,5}))?(?:\([^()]{0,100}\))?", re.IGNORECASE)
_SLICE = re.compile(r"\b(?:[A-Za-z0-9-]+_)?[0-9]g\.[0-9]{1,3}gb", re.IGNORECASE)
"""A part of an accelerator (MIG), such as ``1g.10gb``."""
_SIZE = re.compile(r"(?<![0-9])[0-9]{1,6}gb?\b|mi[0-9]{3}|\bg?b[23]00", re.IGNORECASE)
"""What makes a type name identify one product: a memory size, or the name of a product that has only one form."""

Kind = tuple[str, int]
"""The type of the accelerators, empty if none is named, and their number in a node."""


_PARTITION = re.compile(r"^[ \t]*PartitionName=", re.MULTILINE)


def matches_slurm_nodes(file: InputFile) -> bool:
    named = bool(_NODE.search(file.text)) and bool(_GPU.search(file.text) or _PARTITION.search(file.text))
    return named or _prints_partitions(file.text) or _states_devices(file)


_DEVICES = re.compile(
    r"^[ \t]*(?:AutoDetect=\w+[ \t]+)?Name=gpu\b.{0,200}\b(?:File|Count)=", re.IGNORECASE | re.MULTILINE
)


def _states_devices(file: InputFile) -> bool:
    """Whether a text is the gres.conf of one node, without node names."""
    return bool(_DEVICES.search(file.text)) and not _NODE.search(file.text) and len(file.data) < 1 << 16


def _read_devices(file: InputFile) -> ImportResult:
    """The accelerators of a node from a gres.conf without node names."""
    parts, first = Counter[str](), 0
    for number, text in _records_with_lines(file, "Name"):
        pairs = {key.lower(): value for key, value in _PAIR.findall(text)}
        if pairs.get("name", "").lower() == "gpu":
            parts[_undivided_type(pairs, number)] += _device_count(pairs, number)
            first = first or number
    builder = ImportBuilder(SLURM_NODES, file.name)
    name, count = _kind_of_node(parts, first)
    builder.set("cluster.accelerators_per_node", count, first)
    builder.unknown("cluster.nodes", "the lines apply to each node with this file and name no node", first)
    if name:
        builder.unknown(f"accelerator {name}", unclear_name(name), first)
    return builder.reading()


def _prints_partitions(text: str) -> bool:
    """Whether a text has partitions with accelerators in the format of ``scontrol show partition``."""
    return "TotalNodes=" in text and "gres/gpu" in text and bool(_PARTITION.search(text))


def read_slurm_nodes(file: InputFile) -> ImportResult:
    """The nodes with one kind of accelerator. Raises `FormatError` if there are none, `SeveralParts` if there are
    several kinds.
    """
    if not _NODE.search(file.text) and _prints_partitions(file.text):
        return _read_partitions(file)
    if _states_devices(file):
        return _read_devices(file)
    nodes = _kinds_of_nodes(file)
    kinds: dict[Kind, list[int]] = {}
    for kind, line in nodes.values():
        if kind[1]:
            kinds.setdefault(kind, []).append(line)
    if not kinds:
        raise FormatError("names no node with accelerators (Gres=gpu:…)")
    listed = list(kinds)
    shown = ", ".join(f"{len(kinds[kind])} with {_kind_text(kind)}" for kind in listed[:12])
    counted = f"{plural(len(listed), 'kind')} of nodes"
    kind = chosen_part(listed, file.part, counted, f"has {counted} ({shown})")
    builder = ImportBuilder(SLURM_NODES, file.name)
    _record_kind(kind, kinds[kind], builder, "CPUAlloc=" in file.text)
    if others := sum(1 for found, _ in nodes.values() if not found[1]):
        builder.unknown(plural(others, "node"), "without accelerators: not counted", min(kinds[kind]))
    return builder.reading()


def _read_partitions(file: InputFile) -> ImportResult:
    """The nodes of a partition with accelerators. Raises `SeveralParts` if there are several."""
    found: list[tuple[str, int, int, str, int]] = []
    without = 0
    for number, text in _records_with_lines(file, "PartitionName"):
        pairs = {key.lower(): value for key, value in _PAIR.findall(text)}
        total = re.search(r"(?:^|,)gres/gpu=([0-9]{1,7})", pairs.get("tres", ""))
        types = re.findall(r"(?:^|,)gres/gpu:([A-Za-z0-9_.-]{1,60})=[0-9]", pairs.get("tres", ""))
        nodes = pairs.get("totalnodes", "")
        if total and nodes.isdecimal() and 0 < len(nodes) < 8 and int(nodes) and int(total[1]):
            kind = types[0] if len(types) == 1 else ""
            found.append((pairs.get("partitionname", ""), int(nodes), int(total[1]), kind, number))
        else:
            without += 1
    if not found:
        raise FormatError("has no partition with TotalNodes and accelerators (TRES=…gres/gpu=…)")
    named = (f"{excerpt(name)} with {devices} on {plural(nodes, 'node')}" for name, nodes, devices, _, _ in found[:12])
    shown = ", ".join(named) + (", …" if len(found) > 12 else "")
    counted = plural(len(found), "partition") + " with accelerators"
    _, nodes, devices, kind, line = chosen_part(found, file.part, counted, f"has {counted} ({shown})")
    builder = ImportBuilder(SLURM_NODES, file.name)
    builder.set("cluster.nodes", nodes, line)
    builder.count("accelerators", devices, line)
    if devices % nodes:
        why = f"{devices} accelerators on {nodes} nodes: the nodes differ (see scontrol show node)"
    else:
        why = f"{devices // nodes} if all {nodes} nodes are alike, which scontrol show node tells"
    builder.unknown("cluster.accelerators_per_node", why, line)
    if kind:
        builder.unknown(f"accelerator {kind}", unclear_name(kind), line)
    if without:
        builder.unknown(plural(without, "partition"), "without accelerators: not counted", line)
    return builder.reading()


def _kind_text(kind: Kind) -> str:
    return f"{kind[1]} of {kind[0] or 'no named type'}"


def _record_kind(kind: Kind, lines: list[int], builder: ImportBuilder, printed: bool) -> None:
    """Record the nodes of one kind. ``printed`` means by ``scontrol show node``, which may print only some of them."""
    (name, count), line = kind, min(lines)
    if printed and len(lines) == 1:
        builder.unknown("cluster.nodes", "scontrol printed one node: the cluster may have more", line)
    else:
        builder.set("cluster.nodes", len(lines), line)
    builder.set("cluster.accelerators_per_node", count, line)
    builder.count("accelerators", len(lines) * count, line)
    plain = name.replace("_", " ")
    entry = accelerator_of_product(plain.upper()) or accelerator_of_product(f"NVIDIA {plain.upper()}")
    if entry and _SIZE.search(plain):
        builder.set("cluster.accelerator", entry, line)
    else:
        shown = f"accelerator {name}" if name else "the accelerator"
        builder.unknown(shown, unclear_name(name) if name else "the line states the number, but no type", line)


def _kinds_of_nodes(file: InputFile) -> dict[str, tuple[Kind, int]]:
    """Every node with its accelerators and line. A line of slurm.conf states all accelerators of a node; lines of
    gres.conf add up.
    """
    whole: dict[str, tuple[Kind, int]] = {}
    parts: dict[str, tuple[Counter[str], int]] = {}
    default = ""
    for number, text in _records_with_lines(file):
        pairs = {key.lower(): value for key, value in _PAIR.findall(text)}
        names = expanded_hosts(pairs.get("nodename", ""), number)
        if names == ["DEFAULT"]:
            default = pairs.get("gres", default)
        elif pairs.get("name", "").lower() == "gpu":
            for node in names:
                parts.setdefault(node, (Counter(), number))[0][_undivided_type(pairs, number)] += _device_count(
                    pairs, number
                )
        elif "name" not in pairs:
            kind = _kind_of_gres(pairs.get("gres", default), number)
            whole |= dict.fromkeys(names, (kind, number))
    for node, (counts, number) in parts.items():
        whole.setdefault(node, (_kind_of_node(counts, number), number))
    return whole


def _records_with_lines(file: InputFile, first: str = "NodeName") -> Iterator[tuple[int, str]]:
    """Every record with its first line: a line of a file with its continuations, or a block printed by ``scontrol``."""
    begins = re.compile(rf"[ \t]*{first}[ \t]*=", re.IGNORECASE)
    held, start = "", 0
    for number, raw in enumerate(file.lines, 1):
        line = raw.split("#", 1)[0].rstrip() if not raw.startswith("   OS=") else ""
        if begins.match(line):
            if held:
                yield start, held
            held, start = _EQUALS.sub("=", line), number
        elif held and line.strip() and (raw.startswith("   ") or held.endswith("\\")):
            held = f"{held.removesuffix(chr(92))} {line.strip()}"
        elif held:
            yield start, held
            held = ""
    if held:
        yield start, held


def _undivided_type(pairs: dict[str, str], line: int) -> str:
    """The accelerator type of a line of gres.conf. Raises `FormatError` if it is a slice of an accelerator."""
    return _kind_of_gres(f"gpu:{kind}:1", line)[0] if (kind := pairs.get("type", "")) else ""


def _device_count(pairs: dict[str, str], line: int) -> int:
    if pairs.get("count", "").isdecimal() and len(pairs["count"]) < 6:
        return int(pairs["count"])
    return len(expanded_hosts(pairs.get("file", ""), line)) or 1


def _kind_of_gres(text: str, line: int) -> Kind:
    if part := _SLICE.search(text):
        raise FormatError(f"counts parts of accelerators, such as {part[0]}, not accelerators", line)
    counts: Counter[str] = Counter()
    for match in _GRES.finditer(text):
        if match.start() == 0 or text[match.start() - 1] == ",":
            counts[match[1] or ""] += int(match[2] or 1)
    return _kind_of_node(counts, line)


def _kind_of_node(counts: Counter[str], line: int) -> Kind:
    """The kind of a node. Raises `FormatError` if it has accelerators of several types."""
    if len(counts) > 1:
        shown = ", ".join(f"{count} {name or 'unnamed'}" for name, count in counts.items())
        raise FormatError(f"a node has accelerators of several types: {excerpt(shown, TITLE)}", line)
    return next(iter(counts.items()), ("", 0))
