"""The launcher of an MPIJob: the ranks that ``mpirun`` starts, its environment and its benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.exchange.documents import Yaml
from clusterspec.exchange.fabrics.pods import containers_of
from clusterspec.exchange.import_result import ImportBuilder, without_comments
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.logs.text_lines import line_at
from clusterspec.source import value_at

_LAUNCHERS = re.compile(r"\b(?:mpirun|mpiexec|horovodrun)\b([^|;&]{0,8000})")
_PROGRAM = re.compile(r"(?<!\S)(?:\S{0,200}_perf|\S{0,200}python3?|\S{0,200}bash)(?!\S)")
_RANKS = re.compile(r"(?<!\S)(?:-np|--np|-n)[ \t]+(\d{1,9})(?!\S)")
_PER_NODE = re.compile(
    r"(?<!\S)(?:(?:-N|-npernode|--npernode|-ppn)[ \t]+(\d{1,9})|\S{0,40}ppr:(\d{1,9}):node\S{0,40})(?!\S)"
)


def record_ranks(yaml: Yaml, slots: int, workers: int | None, builder: ImportBuilder) -> int | None:
    """Count the ranks that ``mpirun`` starts. Returns the number of nodes that they need, if lower than the number of
    workers.
    """
    line = yaml.line("spec", "slotsPerWorker")
    launcher = " ".join(_launcher_words(yaml))
    command = next((match[1] for match in _LAUNCHERS.finditer(launcher)), "")
    command = command[: program.start()] if (program := _PROGRAM.search(command)) else command
    stated, apart = _RANKS.search(command), _PER_NODE.search(command)
    per_node = positive_integer_of(apart[1] or apart[2]) if apart else positive_integer_of(slots)
    if workers is None or per_node is None:
        return None
    ranks = int(stated[1]) if stated else workers * per_node
    builder.count("ranks_per_node", per_node, line)
    builder.count("ranks", ranks, line)
    filled = -(-ranks // per_node)
    if filled == workers:
        return None
    why = (
        f"mpirun starts {ranks} ranks, {per_node} a node: they fill {filled} nodes, and {workers} workers are requested"
    )
    builder.unknown("the nodes of the MPIJob", why, line)
    return filled if filled < workers else None


def _launcher_words(yaml: Yaml) -> Iterator[str]:
    """The command and arguments of the launcher's containers."""
    for container in containers_of(value_at(yaml.value, "spec", "mpiReplicaSpecs", "Launcher", "template")):
        for part in ("command", "args"):
            words = value_at(container, part)
            yield from map(str, words if isinstance(words, list) else [])


_COLLNET = re.compile(r"NCCL_COLLNET_ENABLE(?:\s*=\s*|\"?\s*\n\s*value:\s*)[\"']?([01])\b")
"""The setting with which NCCL reduces in switches, in a command line or in the environment of a container."""


def record_command(yaml: Yaml, builder: ImportBuilder) -> None:
    """Record the environment and the benchmark of the launcher command."""
    text = without_comments(yaml.document.source.text)
    for match in re.finditer(r"-x\s+([A-Z][A-Z0-9_]{2,60})=(\S+)", text):
        builder.count(match[1], match[2].strip("\"'\\"), yaml.offset + line_at(text, match.start()))
    if test := re.search(r"\b(\w+_perf)\b(?:[^\n]*?-b\s+(\S+))?(?:[^\n]*?-e\s+(\S+))?", text):
        line = yaml.offset + line_at(text, test.start())
        builder.count("test", " ".join(part for part in test.groups() if part), line)
    for match in _COLLNET.finditer(text):
        if match[1] == "1":
            line = yaml.offset + line_at(text, match.start())
            builder.set("cluster.scale_out.in_network_reduction", True, line)
            break
