"""Kubernetes objects: Kueue ``Topology``, node lists with topology labels, and ``MPIJob`` of the Kubeflow operator."""

from __future__ import annotations

import re
from typing import Any

from clusterspec.exchange.files import InputFile
from clusterspec.exchange.reading import Notes, Reading, Refusal
from clusterspec.exchange.yaml_input import Yaml, read_documents

KIND = "kubernetes"
_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "aws.amazon.com/neuron", "google.com/tpu")
_NETWORKS = ("rdma/ib", "vpc.amazonaws.com/efa", "rdma/hca", "nvidia.com/hostdev", "networking.gke.io.networks")


def suits(file: InputFile) -> bool:
    return bool(re.search(r"^apiVersion\s*:", file.text, re.MULTILINE))


def read(file: InputFile) -> Reading:
    """What the objects of a file state. Raises `Refusal` where none is of a kind that states anything."""
    notes = Notes(KIND, file.name)
    readers = {"Topology": _topology, "MPIJob": _mpi_job, "PyTorchJob": _pytorch_job}
    found = []
    for yaml in read_documents(file):
        kind = str(yaml.mapping.get("kind"))
        found.append(kind[:40])
        if kind in readers:
            readers[kind](yaml, notes)
    if not set(found) & set(readers):
        raise Refusal(f"holds {', '.join(found)[:80]}: of Kubernetes objects Topology, MPIJob and PyTorchJob are read")
    return notes.reading()


def _topology(yaml: Yaml, notes: Notes) -> None:
    """The levels of a Kueue topology, outermost first; the objects hold no counts."""
    levels = _at(yaml.value, "spec", "levels")
    if not isinstance(levels, list) or not all(isinstance(each, dict) and "nodeLabel" in each for each in levels):
        raise Refusal("a Topology without levels of a nodeLabel", yaml.line("spec"))
    line = yaml.line("spec", "levels")
    labels = [str(each["nodeLabel"]) for each in levels]
    notes.count("levels", len(levels), line)
    switches = [label for label in labels if label != "kubernetes.io/hostname"]
    notes.count("levels_above_nodes", len(switches), line)
    for number, label in enumerate(labels):
        notes.count(f"level_{number + 1}", label, yaml.line("spec", "levels", number))
    notes.unknown("cluster.nodes", "a Topology names labels of nodes, not the nodes", line)


def _mpi_job(yaml: Yaml, notes: Notes) -> None:
    workers = _at(yaml.value, "spec", "mpiReplicaSpecs", "Worker")
    if not isinstance(workers, dict):
        raise Refusal("an MPIJob without workers", yaml.line("spec"))
    _workers(yaml, ("spec", "mpiReplicaSpecs", "Worker"), workers, notes)
    slots = _at(yaml.value, "spec", "slotsPerWorker")
    if isinstance(slots, int):
        notes.count("ranks_per_node", slots, yaml.line("spec", "slotsPerWorker"))
        notes.count("ranks", slots * int(workers.get("replicas", 1) or 1), yaml.line("spec", "slotsPerWorker"))
    _command(yaml, notes)


def _pytorch_job(yaml: Yaml, notes: Notes) -> None:
    workers = _at(yaml.value, "spec", "pytorchReplicaSpecs", "Worker")
    if not isinstance(workers, dict):
        raise Refusal("a PyTorchJob without workers", yaml.line("spec"))
    _workers(yaml, ("spec", "pytorchReplicaSpecs", "Worker"), workers, notes)
    notes.unknown("the master of the PyTorchJob", "it counts as a node of its own where it asks for accelerators")


def _workers(yaml: Yaml, path: tuple[str, ...], workers: dict[str, Any], notes: Notes) -> None:
    replicas = workers.get("replicas")
    if isinstance(replicas, int) and not isinstance(replicas, bool):
        notes.give("layout.nodes", replicas, yaml.line(*path, "replicas"))
        notes.count("nodes", replicas, yaml.line(*path, "replicas"))
    containers = _at(workers, "template", "spec", "containers")
    resources = _at(containers[0], "resources") if isinstance(containers, list) and containers else None
    asked = _mapping(_at(resources, "requests")) | _mapping(_at(resources, "limits"))
    line = yaml.line(*path, "template", "spec", "containers", 0, "resources")
    for name in _RESOURCES:
        if isinstance(count := asked.get(name), int | str) and str(count).isdecimal():
            notes.give("cluster.accelerators_per_node", int(count), line)
            notes.count("accelerators", int(count) * (replicas if isinstance(replicas, int) else 1), line)
    for name in _NETWORKS:
        if name in asked:
            notes.count(name, str(asked[name]), line)
    affinity = re.search(r"values:\s*\n?\s*-\s*(\S+)", yaml.document.source.text)
    if affinity:
        notes.count(
            "node_type", affinity[1], yaml.offset + yaml.document.source.text.count("\n", 0, affinity.start()) + 1
        )


def _command(yaml: Yaml, notes: Notes) -> None:
    """Environment and test that the launcher starts."""
    text = re.sub(r"^\s*#[^\n]*", "", yaml.document.source.text, flags=re.MULTILINE)
    for match in re.finditer(r"-x\s+([A-Z][A-Z0-9_]{2,60})=(\S+)", text):
        notes.count(match[1], match[2].strip("\"'\\"), yaml.offset + text.count("\n", 0, match.start()) + 1)
    if test := re.search(r"\b(\w+_perf)\b(?:[^\n]*?-b\s+(\S+))?(?:[^\n]*?-e\s+(\S+))?", text):
        line = yaml.offset + text.count("\n", 0, test.start()) + 1
        notes.count("test", " ".join(part for part in test.groups() if part), line)
    if "COLLNET" in text or re.search(r"SHARP|COLLNET_ENABLE=1", text):
        line = yaml.offset + text.count("\n", 0, text.find("COLLNET")) + 1
        notes.give("cluster.scale_out.in_network_reduction", True, line)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
