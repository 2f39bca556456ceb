"""Kubernetes objects: Kueue ``Topology``, node lists with topology labels, and ``MPIJob`` of the Kubeflow operator."""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.documents import Yaml, read_documents
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile

KIND = "kubernetes"
_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "aws.amazon.com/neuron", "google.com/tpu")
_NETWORKS = ("rdma/ib", "vpc.amazonaws.com/efa", "rdma/hca", "nvidia.com/hostdev", "networking.gke.io.networks")


def matches(file: InputFile) -> bool:
    return bool(re.search(r"^apiVersion\s*:", file.text, re.MULTILINE))


def read(file: InputFile) -> ImportResult:
    """The content of the objects of a file. Raises `FormatError` if none is of a supported kind."""
    builder = ImportBuilder(KIND, file.name)
    readers = {"Topology": _record_topology, "MPIJob": _mpi_job, "PyTorchJob": _pytorch_job}
    found = []
    for yaml in read_documents(file):
        kind = str(yaml.mapping.get("kind"))
        found.append(kind[:40])
        if kind in readers:
            readers[kind](yaml, builder)
    if not set(found) & set(readers):
        raise FormatError(
            f"holds {', '.join(found)[:80]}: supported Kubernetes kinds are Topology, MPIJob and PyTorchJob"
        )
    return builder.reading()


def _record_topology(yaml: Yaml, builder: ImportBuilder) -> None:
    """The levels of a Kueue topology, outermost first; the objects hold no counts."""
    levels = _nested_value(yaml.value, "spec", "levels")
    if not isinstance(levels, list) or not all(isinstance(each, dict) and "nodeLabel" in each for each in levels):
        raise FormatError("a Topology without levels of a nodeLabel", yaml.line("spec"))
    line = yaml.line("spec", "levels")
    labels = [str(each["nodeLabel"]) for each in levels]
    builder.count("levels", len(levels), line)
    switches = [label for label in labels if label != "kubernetes.io/hostname"]
    builder.count("levels_above_nodes", len(switches), line)
    for number, label in enumerate(labels):
        builder.count(f"level_{number + 1}", label, yaml.line("spec", "levels", number))
    builder.unknown("cluster.nodes", "a Topology names labels of nodes, not the nodes", line)


def _mpi_job(yaml: Yaml, builder: ImportBuilder) -> None:
    workers = _nested_value(yaml.value, "spec", "mpiReplicaSpecs", "Worker")
    if not isinstance(workers, dict):
        raise FormatError("an MPIJob without workers", yaml.line("spec"))
    _record_workers(yaml, ("spec", "mpiReplicaSpecs", "Worker"), workers, builder)
    slots = _nested_value(yaml.value, "spec", "slotsPerWorker")
    if isinstance(slots, int):
        builder.count("ranks_per_node", slots, yaml.line("spec", "slotsPerWorker"))
        builder.count("ranks", slots * int(workers.get("replicas", 1) or 1), yaml.line("spec", "slotsPerWorker"))
    _record_command(yaml, builder)


def _pytorch_job(yaml: Yaml, builder: ImportBuilder) -> None:
    workers = _nested_value(yaml.value, "spec", "pytorchReplicaSpecs", "Worker")
    if not isinstance(workers, dict):
        raise FormatError("a PyTorchJob without workers", yaml.line("spec"))
    _record_workers(yaml, ("spec", "pytorchReplicaSpecs", "Worker"), workers, builder)
    builder.unknown("the master of the PyTorchJob", "it counts as a separate node if it requests accelerators")


def _record_workers(yaml: Yaml, path: tuple[str, ...], workers: dict[str, Any], builder: ImportBuilder) -> None:
    replicas = workers.get("replicas")
    if isinstance(replicas, int) and not isinstance(replicas, bool):
        builder.set("layout.nodes", replicas, yaml.line(*path, "replicas"))
        builder.count("nodes", replicas, yaml.line(*path, "replicas"))
    containers = _nested_value(workers, "template", "spec", "containers")
    resources = _nested_value(containers[0], "resources") if isinstance(containers, list) and containers else None
    asked = _as_mapping(_nested_value(resources, "requests")) | _as_mapping(_nested_value(resources, "limits"))
    line = yaml.line(*path, "template", "spec", "containers", 0, "resources")
    for name in _RESOURCES:
        if isinstance(count := asked.get(name), int | str) and str(count).isdecimal():
            builder.set("cluster.accelerators_per_node", int(count), line)
            builder.count("accelerators", int(count) * (replicas if isinstance(replicas, int) else 1), line)
    for name in _NETWORKS:
        if name in asked:
            builder.count(name, str(asked[name]), line)
    affinity = re.search(r"values:\s*+-\s*(\S+)", yaml.document.source.text)
    if affinity:
        builder.count(
            "node_type", affinity[1], yaml.offset + yaml.document.source.text.count("\n", 0, affinity.start()) + 1
        )


def _record_command(yaml: Yaml, builder: ImportBuilder) -> None:
    """Record the environment and the benchmark of the launcher command."""
    text = re.sub(r"^[ \t]*#[^\n]*", "", yaml.document.source.text, flags=re.MULTILINE)
    for match in re.finditer(r"-x\s+([A-Z][A-Z0-9_]{2,60})=(\S+)", text):
        builder.count(match[1], match[2].strip("\"'\\"), yaml.offset + text.count("\n", 0, match.start()) + 1)
    if test := re.search(r"\b(\w+_perf)\b(?:[^\n]*?-b\s+(\S+))?(?:[^\n]*?-e\s+(\S+))?", text):
        line = yaml.offset + text.count("\n", 0, test.start()) + 1
        builder.count("test", " ".join(part for part in test.groups() if part), line)
    if "COLLNET" in text or re.search(r"SHARP|COLLNET_ENABLE=1", text):
        line = yaml.offset + text.count("\n", 0, text.find("COLLNET")) + 1
        builder.set("cluster.scale_out.in_network_reduction", True, line)


def _as_mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _nested_value(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
