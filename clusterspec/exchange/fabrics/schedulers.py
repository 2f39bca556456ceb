"""Topologies of schedulers: Slurm, NVIDIA topograph and Kubernetes."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from clusterspec.exchange.documents import Yaml, read_documents, read_yaml
from clusterspec.exchange.fabrics.graph import SwitchTree, describe_blocks, describe_tree, expanded_hosts
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, chosen_part
from clusterspec.exchange.workloads.keys import whole_of
from clusterspec.exchange.workloads.nim import matches_nim
from clusterspec.exchange.workloads.serving import matches_serving
from clusterspec.source import value_at
from clusterspec.units import plural

# Slurm ``topology.conf`` and ``topology.yaml``.
#
# Grammar (Slurm, topology.conf(5) and topology.yaml(5)): ``SwitchName=s0 Nodes=n[0-15]`` or ``Switches=s[0-3]``, or
# ``BlockName=b0 Nodes=…``; in YAML a list of topologies, each with a ``tree`` of ``switches`` (``switch``,
# ``children``, ``nodes``), a ``block`` with ``blocks`` (``block``, ``nodes``), or ``flat``

SLURM_TOPOLOGY = "slurm-topology"
MOST_OTHERS = 4
"""Lines that are neither switches nor blocks, listed one by one; more are counted."""
_CONF = re.compile(r"^[ \t]*(SwitchName|BlockName)\s*=", re.IGNORECASE | re.MULTILINE)
_PAIR = re.compile(r"(?<![A-Za-z])([A-Za-z]++)\s*+=\s*(\S+)")


def matches_slurm_topology(file: InputFile) -> bool:
    return bool(_CONF.search(file.head)) or bool(re.search(r"^[ \t]*+-?[ \t]*topology\s*:", file.head, re.MULTILINE))


def read_slurm_topology(file: InputFile) -> ImportResult:
    """The nodes and switches of a topology. Raises `FormatError` if it names none."""
    builder = ImportBuilder(SLURM_TOPOLOGY, file.name)
    if _CONF.search(file.text):
        _record_conf(file, _topology_lines(file), builder)
    else:
        _record_yaml(read_yaml(file), file.part, builder)
    return builder.reading()


def _topology_lines(file: InputFile) -> list[tuple[int, str]]:
    """The numbered lines of a topology: of the blocks of code of a page the one that is chosen, else of the file.

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
            others.append((line[:60], number))
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
    names = ", ".join(str(each.get("topology", at + 1))[:40] for at, each in usable[:12])
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


# Kubernetes objects: Kueue ``Topology``, node lists with topology labels, and ``MPIJob`` of the Kubeflow operator

KUBERNETES = "kubernetes"
_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi", "aws.amazon.com/neuron", "google.com/tpu")
_NETWORKS = ("rdma/ib", "vpc.amazonaws.com/efa", "rdma/hca", "nvidia.com/hostdev", "networking.gke.io.networks")


_KINDS = ("Topology", "MPIJob", "PyTorchJob", "JobSet", "RayCluster")
_KIND_LINE = re.compile(r"^kind\s*:\s*[\"']?(\w{1,60})", re.MULTILINE)
_FENCE_LINE = re.compile(r"^[ \t]{0,8}(?:```|~~~)", re.MULTILINE)


def matches_kubernetes(file: InputFile) -> bool:
    """Whether a file is of Kubernetes objects: no page with objects in it, no launch of another format in objects."""
    if not re.search(r"^apiVersion\s*:", file.text, re.MULTILINE) or _FENCE_LINE.search(file.text):
        return False
    if matches_nim(file):
        return False
    return not matches_serving(file) or any(kind in _KINDS for kind in _KIND_LINE.findall(file.text))


def read_kubernetes(file: InputFile) -> ImportResult:
    """The content of the objects of a file. Raises `FormatError` if none is of a supported kind."""
    builder = ImportBuilder(KUBERNETES, file.name)
    readers = dict(zip(_KINDS, (_record_topology, _mpi_job, _pytorch_job, _job_set, _ray_cluster), strict=True))
    found = []
    for yaml in read_documents(file):
        kind = str(yaml.mapping.get("kind"))
        found.append(kind[:40])
        if kind in readers:
            readers[kind](yaml, builder)
    if not set(found) & set(readers):
        raise FormatError(f"holds {', '.join(found)[:80]}: supported Kubernetes kinds are {', '.join(_KINDS)}")
    return builder.reading()


def _record_topology(yaml: Yaml, builder: ImportBuilder) -> None:
    """The levels of a Kueue topology, outermost first; the objects hold no counts."""
    levels = value_at(yaml.value, "spec", "levels")
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
    workers = value_at(yaml.value, "spec", "mpiReplicaSpecs", "Worker")
    if not isinstance(workers, dict):
        raise FormatError("an MPIJob without workers", yaml.line("spec"))
    _record_workers(yaml, ("spec", "mpiReplicaSpecs", "Worker"), workers, builder)
    slots = value_at(yaml.value, "spec", "slotsPerWorker")
    if isinstance(slots, int):
        builder.count("ranks_per_node", slots, yaml.line("spec", "slotsPerWorker"))
        builder.count("ranks", slots * int(workers.get("replicas", 1) or 1), yaml.line("spec", "slotsPerWorker"))
    _record_command(yaml, builder)


def _pytorch_job(yaml: Yaml, builder: ImportBuilder) -> None:
    workers = value_at(yaml.value, "spec", "pytorchReplicaSpecs", "Worker")
    if not isinstance(workers, dict):
        raise FormatError("a PyTorchJob without workers", yaml.line("spec"))
    _record_workers(yaml, ("spec", "pytorchReplicaSpecs", "Worker"), workers, builder)
    builder.unknown("the master of the PyTorchJob", "it counts as a separate node if it requests accelerators")


def _job_set(yaml: Yaml, builder: ImportBuilder) -> None:
    """The nodes of the jobs that ask for accelerators: replicas × parallelism, both 1 where absent."""
    jobs = value_at(yaml.value, "spec", "replicatedJobs")
    if not isinstance(jobs, list):
        raise FormatError("a JobSet without replicatedJobs", yaml.line("spec"))
    asking: list[tuple[int, int, int]] = []
    for number, job in enumerate(jobs):
        path = ("spec", "replicatedJobs", number)
        template = value_at(job, "template", "spec", "template", "spec")
        containers = value_at(template, "containers")
        counts = [_accelerators_asked(each) for each in containers] if isinstance(containers, list) else []
        accelerators = sum(count for count in counts if count)
        copies = [value_at(job, "replicas"), value_at(job, "template", "spec", "parallelism")]
        copies = [1 if count is None else count for count in copies]
        if not all(isinstance(count, int) and not isinstance(count, bool) and count > 0 for count in copies):
            builder.unknown(
                f"the nodes of job {number + 1}", "its replicas or parallelism are not a count", yaml.line(*path)
            )
        elif accelerators:
            asking.append((copies[0] * copies[1], accelerators, yaml.line(*path)))
    if not asking:
        builder.unknown("layout.nodes", "no container asks for accelerators", yaml.line("spec", "replicatedJobs"))
        return
    line = asking[0][2]
    builder.set("layout.nodes", sum(nodes for nodes, _, _ in asking), line)
    builder.count("accelerators", sum(nodes * count for nodes, count, _ in asking), line)
    if len({count for _, count, _ in asking}) == 1:
        builder.set("cluster.accelerators_per_node", asking[0][1], line)
    else:
        builder.unknown("cluster.accelerators_per_node", "jobs ask for different numbers", line)


def _ray_cluster(yaml: Yaml, builder: ImportBuilder) -> None:
    """The workers that ask for accelerators: replicas × numOfHosts (1 where absent), unless they scale by load."""
    groups = value_at(yaml.value, "spec", "workerGroupSpecs")
    if not isinstance(groups, list):
        raise FormatError("a RayCluster without workerGroupSpecs", yaml.line("spec"))
    asking = []
    for number, group in enumerate(groups):
        containers = value_at(group, "template", "spec", "containers")
        accelerators = sum(_accelerators_asked(each) or 0 for each in containers) if isinstance(containers, list) else 0
        hosts = whole_of(value_at(group, "numOfHosts") or 1)
        if accelerators:
            line = yaml.line("spec", "workerGroupSpecs", number)
            asking.append((whole_of(value_at(group, "replicas")), hosts, accelerators, line))
    if not asking:
        raise FormatError("a RayCluster whose workers ask for no accelerators", yaml.line("spec", "workerGroupSpecs"))
    if len(asking) > 1:
        raise FormatError(
            "a RayCluster with several groups of workers with accelerators: no single machine", asking[1][3]
        )
    replicas, hosts, accelerators, line = asking[0]
    builder.set("cluster.accelerators_per_node", accelerators, line)
    if value_at(yaml.value, "spec", "enableInTreeAutoscaling") is True or not replicas or not hosts:
        builder.unknown("layout.nodes", "the number of workers follows the load, or is not stated", line)
    else:
        builder.set("layout.nodes", replicas * hosts, line)
        builder.count("accelerators", replicas * hosts * accelerators, line)


def _accelerators_asked(container: Any) -> int | None:
    """The accelerators that a container asks for; None if it asks for none."""
    resources = value_at(container, "resources")
    asked = _as_mapping(value_at(resources, "requests")) | _as_mapping(value_at(resources, "limits"))
    found = (asked.get(name) for name in _RESOURCES)
    return next((int(str(count)) for count in found if str(count).isdecimal()), None)


def _asks_for_processors_alone(workers: dict[str, Any]) -> bool:
    """Whether containers state resources, and none of them accelerators (by name, as devices, or as claims)."""
    containers = value_at(workers, "template", "spec", "containers")
    resources = [value_at(each, "resources") for each in containers] if isinstance(containers, list) else []
    names = {
        name for each in resources for part in ("requests", "limits") for name in _as_mapping(value_at(each, part))
    }
    claims = any(_as_mapping(each).get("claims") for each in resources)
    return bool(names) and not claims and names <= {"cpu", "memory", "ephemeral-storage"}


def _record_workers(yaml: Yaml, path: tuple[str, ...], workers: dict[str, Any], builder: ImportBuilder) -> None:
    replicas = workers.get("replicas")
    if _asks_for_processors_alone(workers):
        why = "its containers ask for processors or memory, and for no accelerators"
        builder.unknown("layout.nodes", why, yaml.line(*path))
    elif isinstance(replicas, int) and not isinstance(replicas, bool):
        builder.set("layout.nodes", replicas, yaml.line(*path, "replicas"))
        builder.count("nodes", replicas, yaml.line(*path, "replicas"))
    else:
        builder.unknown("layout.nodes", "its replicas are no count: a template, or absent", yaml.line(*path))
    containers = value_at(workers, "template", "spec", "containers")
    resources = value_at(containers[0], "resources") if isinstance(containers, list) and containers else None
    asked = _as_mapping(value_at(resources, "requests")) | _as_mapping(value_at(resources, "limits"))
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


_COLLNET = re.compile(r"NCCL_COLLNET_ENABLE(?:\s*=\s*|\"?\s*\n\s*value:\s*)[\"']?([01])\b")
"""The setting with which NCCL reduces in switches, on a command line or as an environment variable of a container."""


def _record_command(yaml: Yaml, builder: ImportBuilder) -> None:
    """Record the environment and the benchmark of the launcher command."""
    text = re.sub(r"^[ \t]*#[^\n]*", "", yaml.document.source.text, flags=re.MULTILINE)
    for match in re.finditer(r"-x\s+([A-Z][A-Z0-9_]{2,60})=(\S+)", text):
        builder.count(match[1], match[2].strip("\"'\\"), yaml.offset + text.count("\n", 0, match.start()) + 1)
    if test := re.search(r"\b(\w+_perf)\b(?:[^\n]*?-b\s+(\S+))?(?:[^\n]*?-e\s+(\S+))?", text):
        line = yaml.offset + text.count("\n", 0, test.start()) + 1
        builder.count("test", " ".join(part for part in test.groups() if part), line)
    for match in _COLLNET.finditer(text):
        if match[1] == "1":
            line = yaml.offset + text.count("\n", 0, match.start()) + 1
            builder.set("cluster.scale_out.in_network_reduction", True, line)
            break


def _as_mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


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
