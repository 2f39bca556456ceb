"""Slurm ``topology.conf`` and ``topology.yaml``.

Grammar (Slurm, topology.conf(5) and topology.yaml(5)): ``SwitchName=s0 Nodes=n[0-15]`` or ``Switches=s[0-3]``, or
``BlockName=b0 Nodes=…``; in YAML a list of topologies, each with a ``tree`` of ``switches`` (``switch``, ``children``,
``nodes``), a ``block`` with ``blocks`` (``block``, ``nodes``), or ``flat``.
"""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.fabrics.graph import SwitchTree, describe_blocks, describe_tree, expanded_hosts
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile

KIND = "slurm-topology"
_CONF = re.compile(r"^[ \t]*(SwitchName|BlockName)\s*=", re.IGNORECASE | re.MULTILINE)
_PAIR = re.compile(r"(?<![A-Za-z])([A-Za-z]++)\s*+=\s*(\S+)")


def matches(file: InputFile) -> bool:
    return bool(_CONF.search(file.head)) or bool(re.search(r"^[ \t]*+-?[ \t]*topology\s*:", file.head, re.MULTILINE))


def read(file: InputFile) -> ImportResult:
    """The nodes and switches of a topology. Raises `FormatError` if it names none."""
    builder = ImportBuilder(KIND, file.name)
    if _CONF.search(file.text):
        _record_conf(file, builder)
    else:
        _record_yaml(read_yaml(file), file.part, builder)
    return builder.reading()


def _record_conf(file: InputFile, builder: ImportBuilder) -> None:
    tree, blocks, first = SwitchTree(), dict[str, list[str]](), 0
    for number, raw in enumerate(file.lines, 1):
        line = raw.split("#", 1)[0].strip()
        pairs = {key.lower(): value for key, value in _PAIR.findall(line)}
        if not line or not pairs:
            continue
        children, nodes = (expanded_hosts(pairs.get(key, ""), number) for key in ("switches", "nodes"))
        if "switchname" in pairs:
            first = first or number
            tree.add(pairs["switchname"], children, nodes, number)
            if "linkspeed" in pairs:
                builder.unknown(f"LinkSpeed={pairs['linkspeed']}", "Slurm does not use it, and it has no unit", number)
        elif "blockname" in pairs:
            first = first or number
            blocks[pairs["blockname"]] = nodes
        elif "blocksizes" in pairs:
            builder.count("block_sizes", pairs["blocksizes"], number)
        else:
            builder.unknown(line[:60], "no switch and no block", number)
    if tree.lines:
        describe_tree(tree, builder)
    else:
        describe_blocks(blocks, builder, first)


def _record_yaml(yaml: Yaml, part: int | None, builder: ImportBuilder) -> None:
    topologies = yaml.value if isinstance(yaml.value, list) else [yaml.value]
    usable = [
        (at, each) for at, each in enumerate(topologies) if isinstance(each, dict) and {"tree", "block"} & set(each)
    ]
    if not usable:
        raise FormatError("holds no topology with a tree or with blocks")
    if len(usable) > 1 and part is None:
        names = ", ".join(str(each.get("topology", at + 1)) for at, each in usable)
        raise FormatError(f"holds {len(usable)} topologies ({names}): choose one with --part N")
    if part is not None and not 1 <= part <= len(usable):
        raise FormatError(f"holds {len(usable)} topologies, but --part is {part}")
    at, chosen = usable[(part or 1) - 1]
    if "tree" in chosen:
        describe_tree(_switch_tree(chosen["tree"], yaml, at), builder)
    else:
        _record_blocks(chosen["block"], yaml, at, builder)


def _switch_tree(value: Any, yaml: Yaml, at: int) -> SwitchTree:
    tree = SwitchTree()
    switches = value.get("switches") if isinstance(value, dict) else None
    if not isinstance(switches, list):
        raise FormatError("a tree without a list of switches", yaml.line(at, "tree"))
    for number, switch in enumerate(switches):
        line = yaml.line(at, "tree", "switches", number)
        if not isinstance(switch, dict) or "switch" not in switch:
            raise FormatError("a switch without a name", line)
        children, nodes = (expanded_hosts(_as_text(switch.get(key)), line) for key in ("children", "nodes"))
        tree.add(str(switch["switch"]), children, nodes, line)
    return tree


def _record_blocks(value: Any, yaml: Yaml, at: int, builder: ImportBuilder) -> None:
    blocks = value.get("blocks") if isinstance(value, dict) else None
    if not isinstance(blocks, list) or not all(isinstance(each, dict) for each in blocks):
        raise FormatError("a block topology without a list of blocks", yaml.line(at, "block"))
    line = yaml.line(at, "block", "blocks")
    held = {
        str(each.get("block", number)): expanded_hosts(_as_text(each.get("nodes")), line)
        for number, each in enumerate(blocks)
    }
    if "block_sizes" in value:
        builder.count("block_sizes", str(value["block_sizes"]), yaml.line(at, "block", "block_sizes"))
    describe_blocks(held, builder, line)


def _as_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
