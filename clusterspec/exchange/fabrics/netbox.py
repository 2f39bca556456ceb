"""NetBox device and module types: a switch, a node or a card by its interfaces, power and height.

Grammar: netbox-community/devicetype-library, schema/devicetype.json: ``manufacturer``, ``model``, ``slug``, height,
``interfaces`` (each a ``name`` and a ``type``, as schema/generated_schema.json lists them) and ``power-ports`` (with a
``maximum_draw`` in watts).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from clusterspec.catalog import Catalog
from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import LIST, FormatError, ImportBuilder, ImportResult, InputFile, excerpt

NETBOX = "netbox"
_RATE = re.compile(r"([0-9]{1,4}(?:\.[0-9])?)(?:g|gb)(?:base|fc|ase)?[-a-z]", re.IGNORECASE)
_MEGABITS = re.compile(r"([0-9]{2,4})base[-a-z]", re.IGNORECASE)
_INFINIBAND = {"sdr": 8, "ddr": 16, "qdr": 32, "fdr10": 40, "fdr": 56, "edr": 100, "hdr": 200, "ndr": 400, "xdr": 800}
"""Gb/s of a port with four lanes."""
MOST_INTERFACES = 20_000


def matches_netbox(file: InputFile) -> bool:
    """Whether a file has the keys of a device type; Nautobot's types have no slug (nautobot/devicetype-library)."""
    keys = ("manufacturer", "model", "(?:slug|u_height|part_number|interfaces)")
    return all(re.search(rf"^{key}\s*:", file.head, re.MULTILINE) for key in keys)


def read_netbox(file: InputFile) -> ImportResult:
    """The ports of a device by rate, its power and its height. Raises `FormatError` if it is another document."""
    builder, yaml = ImportBuilder(NETBOX, file.name), read_yaml(file)
    root = yaml.mapping
    model, maker = str(root.get("model") or ""), str(root.get("manufacturer") or "")
    if not model or not maker:
        raise FormatError("is not a device type of NetBox: it lacks manufacturer or model")
    line = yaml.line("model")
    builder.count("model", excerpt(f"{maker} {model}", LIST), line)
    ports = _ports_by_rate(root.get("interfaces"), builder, yaml.line("interfaces"))
    for rate, count in sorted(ports.items(), reverse=True):
        builder.count(f"ports of {rate:g} Gb/s", count, yaml.line("interfaces"))
    height = root.get("u_height")
    builder.count("rack_units", _plain_number(height), yaml.line("u_height"))
    draws = [each.get("maximum_draw") for each in root.get("power-ports") or [] if isinstance(each, dict)]
    stated = [draw for draw in draws if isinstance(draw, int) and not isinstance(draw, bool) and draw > 0]
    if stated:
        builder.count("watts of a power port, at most", max(stated), yaml.line("power-ports"))
        why = "ports of a device share its load: which of them are redundant is not stated"
        builder.unknown("cluster.power", why, yaml.line("power-ports"))
    switch = _catalog_switch(model, str(root.get("part_number") or ""))
    if switch:
        builder.set("cluster.scale_out.switch", switch, line)
    elif not {"slug", "u_height"} & root.keys():
        builder.unknown(
            excerpt(f"{maker} {model}", LIST), "a type of a module: the device that holds it is another file", line
        )
    else:
        builder.unknown(
            excerpt(f"{maker} {model}", LIST), "a device type does not say whether it is a switch or a node", line
        )
    return builder.reading()


def _plain_number(value: Any) -> int | float | None:
    """A number, without the decimals of a whole one (``1.0``); None for other values."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | float) else None


def _ports_by_rate(interfaces: Any, builder: ImportBuilder, line: int) -> Counter[float]:
    """The number of interfaces by rate in Gb/s, without those only for management."""
    ports: Counter[float] = Counter()
    others: Counter[str] = Counter()
    for each in interfaces[:MOST_INTERFACES] if isinstance(interfaces, list) else ():
        if not isinstance(each, dict) or each.get("mgmt_only") is True:
            continue
        kind = str(each.get("type") or "").lower()
        speed: float | None = _INFINIBAND.get(kind.removeprefix("infiniband-"))
        if speed is None and (match := _RATE.match(kind) or _MEGABITS.match(kind)):
            speed = float(match[1]) / (1 if match.re is _RATE else 1000)
        if speed:
            ports[speed] += 1
        else:
            others[excerpt(kind)] += 1
    for kind, count in others.items():
        builder.unknown(f"{count} interfaces of type {kind}", "no rate in its name", line)
    return ports


def _catalog_switch(model: str, part: str) -> str | None:
    """The catalog switch whose id ends with the model or the start of it; None if there is none or several."""
    words = {word for text in (model, part) for word in re.split(r"[^a-z0-9]+", text.lower()) if len(word) > 4}
    ids = Catalog.open().ids("switch")
    found = {each for each in ids if each.rsplit("-", 1)[-1] in words}
    return found.pop() if len(found) == 1 else None
