"""Models of NVIDIA topograph: switches with their children, and blocks of nodes with an accelerator domain.

Grammar (NVIDIA/topograph, tests/models): ``switches`` is a mapping of names to ``switches`` below them; ``blocks`` is
a list of ``switch``, ``nodes`` (host lists) and ``annotations``, among them a label that ends in ``/domain``.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.fabrics.graph import SwitchTree, describe_tree, expanded_hosts
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile

KIND = "topograph"


def matches(file: InputFile) -> bool:
    head = file.text
    return bool(re.search(r"^switches\s*:", head, re.MULTILINE) and re.search(r"^blocks\s*:", head, re.MULTILINE))


def read(file: InputFile) -> ImportResult:
    """The nodes, switches and domains of a model. Raises `FormatError` if it has another structure."""
    builder, yaml = ImportBuilder(KIND, file.name), read_yaml(file)
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
                    f"switch {str(each)[:60]}",
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
