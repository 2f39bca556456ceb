"""`hl-smi`: the Gaudi accelerators of a node, as the table, as a query (``-q``) or as CSV (``-Q … -f csv``)."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.machines.links import set_product

KIND = "hl-smi"
_ROW = re.compile(r"\|\s*([0-9]{1,3})\s+(HL-[^\s|]++)[^|]*\|\s*([0-9a-fA-F:.]{7,12})")
_MEMORY = re.compile(r"/\s*([0-9]{3,7})\s*MiB")
_QUERY = re.compile(r"\[([0-9]{1,3})\]\s*AIP\s*\(accel[0-9]+\)\s*([0-9a-fA-F:.]{7,12})")
_PRODUCT = re.compile(r"\s*Product Name\s*:\s*(HL-\S+)")
_CSV = re.compile(r"\b(HL-[0-9A-Z]+)\b")


def matches(file: InputFile) -> bool:
    return (
        "HL-SMI" in file.head or bool(_QUERY.search(file.head)) or bool(re.search(r"^[^\n]*,\s*HL-", file.head, re.M))
    )


def read(file: InputFile) -> ImportResult:
    """The listed accelerators. Raises `FormatError` if there are none."""
    builder, found, memories = ImportBuilder(KIND, file.name), dict[str, tuple[str, int]](), set[str]()
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
