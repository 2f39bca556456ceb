"""Models of NVIDIA topograph: switches with their children, and blocks of nodes with an accelerator domain.

Grammar (NVIDIA/topograph, tests/models): ``switches`` is a mapping of names to ``switches`` below them; ``blocks`` is
a list of ``switch``, ``nodes`` (host lists) and ``annotations``, among them a label that ends in ``/domain``.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from clusterspec.exchange.fabrics.hostlist import expand
from clusterspec.exchange.fabrics.tree import Tree, describe
from clusterspec.exchange.files import InputFile
from clusterspec.exchange.reading import Notes, Reading, Refusal
from clusterspec.exchange.yaml_input import Yaml, read_yaml

KIND = "topograph"


def suits(file: InputFile) -> bool:
    head = file.text
    return bool(re.search(r"^switches\s*:", head, re.MULTILINE) and re.search(r"^blocks\s*:", head, re.MULTILINE))


def read(file: InputFile) -> Reading:
    """The nodes, switches and domains of a model. Raises `Refusal` where it has not this form."""
    notes, yaml = Notes(KIND, file.name), read_yaml(file)
    switches, blocks = yaml.mapping.get("switches"), yaml.mapping.get("blocks")
    if not isinstance(switches, dict) or not isinstance(blocks, list):
        raise Refusal("has not the form of a topograph model: a mapping of switches and a list of blocks")
    tree, domains = Tree(), Counter[str]()
    held: dict[str, list[str]] = {}
    for number, block in enumerate(blocks):
        nodes, domain = _block(block, yaml, number)
        held.setdefault(str(block.get("switch")), []).extend(nodes)
        domains[domain] += len(nodes)
    named = set(held)
    for name, switch in switches.items():
        below = (switch.get("switches") if isinstance(switch, dict) else None) or []
        below = [str(each) for each in below] if isinstance(below, list) else []
        for each in below:
            if each not in switches and each not in named:
                notes.unknown(
                    f"switch {str(each)[:60]}",
                    f"named below {name}, and described nowhere",
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
    describe(tree, notes)
    _domains(domains, yaml, notes)
    return notes.reading()


def _block(block: Any, yaml: Yaml, number: int) -> tuple[list[str], str]:
    line = yaml.line("blocks", number)
    if not isinstance(block, dict) or not isinstance(block.get("nodes"), list) or "switch" not in block:
        raise Refusal("a block without its switch or its nodes", line)
    labels = block.get("annotations") or block.get("labels") or {}
    named = labels.items() if isinstance(labels, dict) else ()
    domain = next((str(value) for key, value in named if str(key).endswith("domain")), "")
    return expand(",".join(map(str, block["nodes"])), line), domain


def _domains(domains: Counter[str], yaml: Yaml, notes: Notes) -> None:
    named = {name: nodes for name, nodes in domains.items() if name}
    if not named:
        return
    line = yaml.line("blocks")
    notes.count("domains", len(named), line)
    sizes = set(named.values())
    notes.count("nodes_per_domain", sizes.pop() if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}", line)
    notes.unknown("cluster.scale_up.domain", "the model counts nodes of a domain, not their accelerators", line)
