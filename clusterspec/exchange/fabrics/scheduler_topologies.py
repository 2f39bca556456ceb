"""Topologies of schedulers: Slurm and NVIDIA topograph."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.fabrics.graph import SwitchTree, describe_blocks, describe_tree, expanded_hosts
from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    chosen_part,
    excerpt,
)
from clusterspec.units import plural

# Slurm ``topology.conf`` and ``topology.yaml``.
#
# Grammar (Slurm, topology.conf(5) and topology.yaml(5)): ``SwitchName=s0 Nodes=n[0-15]`` or ``Switches=s[0-3]``, or
# ``BlockName=b0 Nodes=…``; in YAML a list of topologies, each with a ``tree`` of ``switches`` (``switch``,
# ``children``, ``nodes``), a ``block`` with ``blocks`` (``block``, ``nodes``), or ``flat``

SLURM_TOPOLOGY = "slurm-topology"
MOST_OTHERS = 4
"""Maximum number of lines other than switches and blocks that are listed individually; if there are more, they are only
counted.
"""
_FENCE_LINE = re.compile(r"^[ \t]{0,8}(?:```|~~~)", re.MULTILINE)
_CONF = re.compile(r"^[ \t]*(SwitchName|BlockName)\s*=", re.IGNORECASE | re.MULTILINE)
_NAMED = re.compile(r"^[ \t]*+-?[ \t]*topology\s*:", re.MULTILINE)
_SHAPED = re.compile(r"^[ \t]*+-?[ \t]*(?:tree|block|flat)\s*:", re.MULTILINE)
"""Keys; every topology in YAML has one of them. The key ``topology`` is no evidence, since it may occur in any file."""
_PAIR = re.compile(r"(?<![A-Za-z])([A-Za-z]++)\s*+=\s*(\S+)")


def matches_slurm_topology(file: InputFile) -> bool:
    return bool(_CONF.search(file.head)) or bool(_NAMED.search(file.head) and _SHAPED.search(file.head))


def read_slurm_topology(file: InputFile) -> ImportResult:
    """The nodes and switches of a topology. Raises `FormatError` if it names none."""
    builder = ImportBuilder(SLURM_TOPOLOGY, file.name)
    if template := re.search(r"\{%|\{\{", file.text):
        raise FormatError("a template: import the rendered file", file.line_at(template.start()))
    if _CONF.search(file.text):
        _record_conf(file, _topology_lines(file), builder)
    else:
        _record_yaml(read_yaml(file), file.part, builder)
    return builder.reading()


def _topology_lines(file: InputFile) -> list[tuple[int, str]]:
    """The numbered lines of a topology: those of the chosen code block if the file is a page, else all lines.

    Raises `SeveralParts` if several blocks hold a topology and none is chosen.
    """
    numbered = [*enumerate(file.lines, 1)]
    fences = [at for at, (_, line) in enumerate(numbered) if _FENCE_LINE.match(line)]
    blocks = [numbered[a + 1 : b] for a, b in zip(fences[::2], fences[1::2], strict=False)]
    blocks = [block for block in blocks if any(_CONF.match(line) for _, line in block)]
    if not blocks:
        return numbered
    counted = plural(len(blocks), "topology")
    places = ", ".join(str(block[0][0]) for block in blocks[:12])
    return chosen_part(blocks, file.part, counted, f"holds {counted} in blocks of code on lines {places}")


def _record_conf(file: InputFile, numbered: list[tuple[int, str]], builder: ImportBuilder) -> None:
    tree, blocks, first = SwitchTree(), dict[str, list[str]](), 0
    others: list[tuple[str, int]] = []
    for number, raw in numbered:
        line = raw.split("#", 1)[0].strip()
        pairs = {key.lower(): value for key, value in _PAIR.findall(line)}
        if not pairs:
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
            others.append((excerpt(line), number))
    for text, number in others[:MOST_OTHERS]:
        builder.unknown(text, "no switch and no block", number)
    if len(others) > MOST_OTHERS:
        why = "neither switches nor blocks: text around the topology"
        builder.unknown(f"{len(others) - MOST_OTHERS} more lines", why, others[MOST_OTHERS][1])
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
    names = ", ".join(excerpt(each.get("topology", at + 1)) for at, each in usable[:12])
    names += ", …" if len(usable) > 12 else ""
    counted = plural(len(usable), "topology")
    at, chosen = chosen_part(usable, part, counted, f"holds {counted} ({names})")
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


# Models of NVIDIA topograph: switches with their children, and blocks of nodes with an accelerator domain.
#
# Grammar (NVIDIA/topograph, tests/models): ``switches`` is a mapping of names to ``switches`` below them; ``blocks`` is
# a list of ``switch``, ``nodes`` (host lists) and ``annotations``, among them a label that ends in ``/domain``

TOPOGRAPH = "topograph"


def matches_topograph(file: InputFile) -> bool:
    head = file.text
    return bool(re.search(r"^switches\s*:", head, re.MULTILINE) and re.search(r"^blocks\s*:", head, re.MULTILINE))


def read_topograph(file: InputFile) -> ImportResult:
    """The nodes, switches and domains of a model. Raises `FormatError` if it has another structure."""
    builder, yaml = ImportBuilder(TOPOGRAPH, file.name), read_yaml(file)
    switches, blocks = yaml.mapping.get("switches"), yaml.mapping.get("blocks")
    if not isinstance(switches, dict) or not isinstance(blocks, list):
        raise FormatError("is not a topograph model: a mapping of switches and a list of blocks")
    tree, domains = SwitchTree(), Counter[str]()
    held: dict[str, list[str]] = {}
    for number, block in enumerate(blocks):
        nodes, domain = _block_nodes(block, yaml, number)
        held.setdefault(str(block.get("switch")), []).extend(nodes)
        domains[domain] += len(nodes)
    named = set(held)
    for name, switch in switches.items():
        below = (switch.get("switches") if isinstance(switch, dict) else None) or []
        below = [str(each) for each in below] if isinstance(below, list) else []
        for each in below:
            if each not in switches and each not in named:
                builder.unknown(
                    f"switch {excerpt(each)}",
                    f"listed under {name}, but not described",
                    yaml.line("switches", name),
                )
        tree.add(
            str(name),
            [each for each in below if each in switches or each in named],
            held.pop(str(name), []),
            yaml.line("switches", name),
        )
    for name, nodes in held.items():
        tree.add(name, [], nodes, yaml.line("blocks"))
    describe_tree(tree, builder)
    _record_domains(domains, yaml, builder)
    return builder.reading()


def _block_nodes(block: Any, yaml: Yaml, number: int) -> tuple[list[str], str]:
    line = yaml.line("blocks", number)
    if not isinstance(block, dict) or not isinstance(block.get("nodes"), list) or "switch" not in block:
        raise FormatError("a block without its switch or its nodes", line)
    labels = block.get("annotations") or block.get("labels") or {}
    named = labels.items() if isinstance(labels, dict) else ()
    domain = next((str(value) for key, value in named if str(key).endswith("domain")), "")
    return expanded_hosts(",".join(map(str, block["nodes"])), line), domain


def _record_domains(domains: Counter[str], yaml: Yaml, builder: ImportBuilder) -> None:
    named = {name: nodes for name, nodes in domains.items() if name}
    if not named:
        return
    line = yaml.line("blocks")
    builder.count("domains", len(named), line)
    sizes = set(named.values())
    builder.count("nodes_per_domain", sizes.pop() if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}", line)
    builder.unknown("cluster.scale_up.domain", "the model counts nodes of a domain, not their accelerators", line)
