"""Networks of ASTRA-sim: the accelerators and the dimensions of an analytical network.

Fields: astra-sim/astra-network-analytical 599a0473, common/network-parser/NetworkParser.cpp (``topology``,
``npus_count``, ``bandwidth`` and ``latency`` with one value each for every dimension); there the unit GB of a bandwidth
is 2^30 bytes (common/NetworkFunction.cpp), and a latency is in ns. Its JSON files before 0caa83cf have ``units-count``,
``links-count``, ``link-bandwidth`` and ``link-latency``. The first dimension is the nearest.
"""

from __future__ import annotations

import re
from math import prod
from typing import Any

from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt

ASTRA = "astra-sim"
_YAML = re.compile(r"^npus_count[ \t]*:", re.MULTILINE)
_JSON = re.compile(r"\"topologies-per-dim\"\s*:")
_BLOCKS = {"Ring", "FullyConnected", "Switch"}
MOST_DIMENSIONS = 16
MOST_NPUS = 10**9


def matches_astra_sim(file: InputFile) -> bool:
    text = file.text
    if text.lstrip()[:1] == "{":
        return bool(_JSON.search(text))
    return bool(_YAML.search(text) and re.search(r"^topology[ \t]*:", text, re.MULTILINE))


def read_astra_sim(file: InputFile) -> ImportResult:
    """The accelerators of a network. Raises `FormatError` if the lists of its dimensions have different lengths."""
    yaml, builder = read_yaml(file), ImportBuilder(ASTRA, file.name)
    old = "topologies-per-dim" in yaml.mapping
    names = ("topologies-per-dim", "units-count") if old else ("topology", "npus_count")
    kinds, counts = (_listed_values(yaml, name) for name in names)
    if not kinds or len(kinds) != len(counts) or len(kinds) > MOST_DIMENSIONS:
        raise FormatError(f"{len(kinds)} topologies and {len(counts)} counts: one of each for every dimension")
    line = yaml.line(names[1])
    for kind, count in zip(kinds, counts, strict=True):
        if kind not in _BLOCKS or not _is_number(count) or not isinstance(count, int) or count < 1:
            raise FormatError(f"{excerpt(kind)} of {excerpt(count)}: not a topology of ASTRA-sim", line)
    if (total := prod(counts)) > MOST_NPUS:
        raise FormatError(f"{total:,} accelerators: more than a network has", line)
    builder.set("cluster.accelerators", total, line)
    builder.count("accelerators", total, line)
    for n, (kind, count) in enumerate(zip(kinds, counts, strict=True)):
        builder.count(f"dimension_{n + 1}", f"{kind} of {count}{_link_text(yaml, n, old=old)}", line)
    why = "the file does not state which dimensions are inside a node, or their interconnect"
    builder.unknown("cluster.scale_up and cluster.scale_out", why, line)
    if "dimension-type" in yaml.mapping:
        builder.unknown("dimension-type", "names of the levels of a package: not imported", yaml.line("dimension-type"))
    return builder.reading()


def _listed_values(yaml: Yaml, name: str) -> list[Any]:
    """The values of a key; a single value may be written without brackets."""
    value = yaml.mapping.get(name)
    return value if isinstance(value, list) else [] if value is None else [value]


def _link_text(yaml: Yaml, dimension: int, *, old: bool) -> str:
    """Bandwidth and latency of a dimension as text; empty if they are not stated."""
    names = ("link-bandwidth", "link-latency", "links-count") if old else ("bandwidth", "latency", "")
    bandwidth, latency, links = (next(iter(_listed_values(yaml, name)[dimension:]), None) for name in names)
    if not _is_number(bandwidth) or not _is_number(latency):
        return ""
    several = f"{links} links of " if isinstance(links, int) and _is_number(links) else ""
    return f", {several}{bandwidth:g} GB/s{'' if old else ' (2^30 bytes)'}, {latency:g} ns"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
