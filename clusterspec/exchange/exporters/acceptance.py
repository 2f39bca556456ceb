"""Acceptance tests as Slurm scripts, MPIJobs and mpirun commands, with the environment variables of NCCL and RCCL."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.exchange.acceptance_cases import AcceptanceCase, acceptance_cases
from clusterspec.exchange.exporters.acceptance_runs import (
    benchmark_command,
    limit_check,
    repetition_count,
    threshold_lines,
)
from clusterspec.exchange.exporters.registry import (
    ExportedFile,
    ExportInput,
    MissingPart,
    NotExportable,
    devices_of_node,
    dns_label,
)
from clusterspec.records import dataclass
from clusterspec.units import plural

# Environment variables of NCCL, RCCL and their plugins for a design, with a reason for each


@dataclass(frozen=True)
class Variable:
    """An environment variable with its reason."""

    name: str
    value: str
    reason: str


def environment_variables(cluster: Cluster) -> tuple[Variable, ...]:
    """The variables implied by the design, debug output first."""
    return tuple(_implied_variables(cluster))


def _implied_variables(cluster: Cluster) -> Iterator[Variable]:
    yield Variable("NCCL_DEBUG", "INFO", "prints transports and plugins, which `clusterspec diagnose` reads")
    yield Variable("NCCL_DEBUG_SUBSYS", "INIT,NET,GRAPH", "limits the output to what `clusterspec diagnose` needs")
    if not cluster.scale_up.in_network_reduction and _has_switched_nvlink(cluster):
        yield Variable("NCCL_NVLS_ENABLE", "0", "the spec states no reduction in the switches of the domain")
    if cluster.scale_out is not None and cluster.nodes > 1:
        yield from _fabric_variables(cluster.scale_out)


def _has_switched_nvlink(cluster: Cluster) -> bool:
    entry = cluster.scale_up.interconnect
    return bool(
        entry and entry.family == "nvlink" and entry.in_network_reduction and cluster.scale_up.topology == "switched"
    )


def _fabric_variables(fabric: ScaleOut) -> Iterator[Variable]:
    family = fabric.technology.family
    if fabric.in_network_reduction and family == "infiniband":
        yield Variable("NCCL_COLLNET_ENABLE", "1", "the spec states reduction in the switches of the fabric (SHARP)")
    if family == "infiniband":
        yield from _infiniband_variables(fabric)
    elif family == "roce":
        yield from _roce_variables(fabric)
    elif family == "efa":
        yield Variable("FI_PROVIDER", "efa", "libfabric must choose EFA for aws-ofi-nccl, never TCP")
        yield Variable("NCCL_NET", "AWS Libfabric", "fails at start if the plugin is missing, instead of using sockets")
    elif plugin := _PLUGINS.get(fabric.collective_plugin or ""):
        yield Variable("NCCL_NET", plugin, f"fails at start if {fabric.collective_plugin} is missing")
    if fabric.topology in {"rail-optimized", "rail-only"}:
        yield Variable("NCCL_CROSS_NIC", "0", f"a {fabric.topology} fabric: every ring stays on its rail")
    if not fabric.gpudirect_rdma and fabric.technology.rdma:
        yield Variable("NCCL_NET_GDR_LEVEL", "LOC", "the spec states no GPUDirect RDMA")


_PLUGINS = {"nccl-fastrak": "FasTrak", "nccl-tcpx": "GPUDirectTCPX_v7", "gib": "gIB"}


def _infiniband_variables(fabric: ScaleOut) -> Iterator[Variable]:
    yield Variable("NCCL_NET", "IB", "fails at start if no InfiniBand device is found, instead of using sockets")
    if fabric.load_balancing == "adaptive":
        yield Variable("NCCL_IB_ADAPTIVE_ROUTING", "1", "the spec states adaptive routing")


def _roce_variables(fabric: ScaleOut) -> Iterator[Variable]:
    yield Variable("NCCL_NET", "IB", "RoCE uses the verbs transport; fails at start if it is missing")
    if fabric.load_balancing == "ecmp":
        yield Variable(
            "NCCL_IB_QPS_PER_CONNECTION", "4", "ECMP hashes by queue pair: four queue pairs use more paths than one"
        )
        yield Variable("NCCL_IB_SPLIT_DATA_ON_QPS", "1", "splits every message over all four")
    if fabric.load_balancing == "adaptive":
        yield Variable("NCCL_IB_ADAPTIVE_ROUTING", "1", "the spec states adaptive routing")


def unknown_variables(cluster: Cluster) -> tuple[str, ...]:
    """Variables that depend on device names, which a spec does not have."""
    fabric = cluster.scale_out
    if fabric is None or cluster.nodes == 1:
        return ()
    omitted = ["NCCL_SOCKET_IFNAME: the frontend interface (`ip -br link`)"]
    if fabric.technology.family in {"infiniband", "roce"}:
        omitted.append(
            f"NCCL_IB_HCA: the names of {plural(fabric.nics_per_node, 'NIC')} of the fabric (`ibv_devinfo -l`)"
        )
    if fabric.technology.family == "roce":
        omitted.append("NCCL_IB_GID_INDEX: the RoCE v2 GID (`show_gids`)")
        if fabric.pfc:
            omitted.append("NCCL_IB_TC: the traffic class of the lossless priority (switch configuration)")
    return tuple(omitted)


def write_environment(source: ExportInput) -> ExportedFile:
    """A shell script that exports the variables. Raises `NotExportable` if the accelerators do not use NCCL or RCCL."""
    cluster = source.cluster
    if cluster.accelerator.software_vendor not in DEVICES:
        raise NotExportable(f"{cluster.accelerator.name} of {cluster.accelerator.vendor} runs neither NCCL nor RCCL")
    lines = [f"# Environment of the collective library for {source.name}. Source this file before the launch."]
    for each in environment_variables(cluster):
        lines += [f"# {each.reason}", f"export {each.name}={_shell_quoted(each.value)}"]
    omitted = unknown_variables(cluster)
    lines += [f"# not set, the spec does not state it: {each}" for each in omitted]
    return ExportedFile("\n".join(lines) + "\n", omitted)


def _shell_quoted(value: str) -> str:
    return f'"{value}"' if " " in value else value


# Acceptance tests as a Slurm batch script, as MPIJobs, and as mpirun commands

ALGORITHMS = {"ring": "Ring", "tree": "Tree", "nvls": "NVLS", "nvls-tree": "NVLSTree", "collnet": "CollnetChain"}
DEVICES = {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu"}
"""Kubernetes resources by the vendors whose accelerators run NCCL or RCCL."""


def runnable_cases(source: ExportInput) -> tuple[AcceptanceCase, ...]:
    """The acceptance tests, if nccl-tests or rccl-tests run them. Raises `NotExportable` if they use another tool, or
    if there are none.
    """
    tests, _, unclear = acceptance_cases(source.design)
    if unclear or not tests:
        raise MissingPart(unclear[0] if unclear else "the design has no acceptance tests")
    if tests[0].tool not in {"nccl-tests", "rccl-tests"} or source.cluster.accelerator.software_vendor not in DEVICES:
        raise NotExportable(f"its tests use {tests[0].tool}, which this format does not support")
    return tests


def exported_variables(source: ExportInput, test: AcceptanceCase | None = None) -> list[tuple[str, str]]:
    """The variables for all tests; for a given test also the variable of its algorithm."""
    found = [(each.name, each.value) for each in environment_variables(source.cluster)]
    if test is not None and test.algorithm in ALGORITHMS:
        found.append(("NCCL_ALGO", ALGORITHMS[test.algorithm]))
    return found


def sbatch(source: ExportInput) -> ExportedFile:
    """A batch script that runs all tests and writes logs for `clusterspec accept`."""
    tests = runnable_cases(source)
    per_node = source.cluster.ranks_per_node
    nodes = max(test.nodes * test.groups for test in tests)
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name=accept-{source.name}",
        f"#SBATCH --nodes={nodes}",
        f"#SBATCH --ntasks-per-node={per_node}",
        f"#SBATCH --gpus-per-node={devices_of_node(source.cluster)}",
        "#SBATCH --exclusive",
        f"# Afterwards: clusterspec accept SPEC {source.name}-*.log",
        "set -eu",
        'hosts=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))',
        *(f'export {name}="{value}"' for name, value in exported_variables(source)),
    ]
    for test in tests:
        lines += ["", *(f"# {line}" for line in threshold_lines(test))]
        algorithm = f"NCCL_ALGO={ALGORITHMS[test.algorithm]} " if test.algorithm in ALGORITHMS else ""
        lines += [
            f"for group in $(seq 0 {test.groups - 1}); do",
            f'  set_of=$(IFS=,; echo "${{hosts[*]:group*{test.nodes}:{test.nodes}}}")',
            f"  for run in $(seq 1 {repetition_count(test)}); do",
            f"    {algorithm}srun --nodes={test.nodes} --ntasks={test.ranks} --ntasks-per-node={per_node} \\",
            f'      --nodelist="$set_of" --mpi=pmix {benchmark_command(test)} \\',
            f"      > {source.name}-{test.name}-$group-$run.log",
            "  done",
            "done",
        ]
    return ExportedFile("\n".join(lines) + "\n", unknown_variables(source.cluster))


def mpirun(source: ExportInput) -> ExportedFile:
    """A shell script; the host file has one host per line."""
    tests = runnable_cases(source)
    per_node = source.cluster.ranks_per_node
    lines = [
        "#!/bin/bash",
        f"# Acceptance of {source.name}. Usage: bash accept.sh HOSTFILE   (one host per line)",
        f"# Afterwards: clusterspec accept SPEC {source.name}-*.log",
        "set -eu",
        'hosts=($(grep -v "^#" "$1"))',
    ]
    for test in tests:
        lines += ["", *(f"# {line}" for line in threshold_lines(test))]
        passed = " ".join(
            f"-x {name}={value.replace(' ', chr(92) + ' ')}" for name, value in exported_variables(source, test)
        )
        lines += [
            f"for group in $(seq 0 {test.groups - 1}); do",
            f'  set_of=$(printf "%s:{per_node}," "${{hosts[@]:group*{test.nodes}:{test.nodes}}}")',
            f"  for run in $(seq 1 {repetition_count(test)}); do",
            f'    mpirun -np {test.ranks} -H "${{set_of%,}}" --map-by ppr:{per_node}:node --bind-to none {passed} \\',
            f"      {benchmark_command(test)} > {source.name}-{test.name}-$group-$run.log",
            "  done",
            "done",
        ]
    return ExportedFile("\n".join(lines) + "\n", unknown_variables(source.cluster))


def mpijob(source: ExportInput) -> ExportedFile:
    """One MPIJob of the Kubeflow operator per test; `kubectl logs` of its launcher gives the log.

    The launcher fails where the limit is missed.
    """
    tests, cluster = runnable_cases(source), source.cluster
    device = DEVICES.get(cluster.accelerator.software_vendor or "")
    if device is None:
        raise NotExportable(f"no Kubernetes resource is known for accelerators of {cluster.accelerator.vendor}")
    documents = ["\n".join(_mpijob_lines(source, test, device, number)) for number, test in enumerate(tests, 1)]
    omitted = (*unknown_variables(cluster), *omitted_claims(cluster), omitted_image(cluster))
    return ExportedFile("---\n".join(f"{each}\n" for each in documents), omitted)


def omitted_claims(cluster: Cluster) -> Iterator[str]:
    """Resources that pods need in addition to accelerators and NICs, and that the manifests do not claim."""
    if nodes_of_domain(cluster) > 1 and cluster.accelerator.vendor == "NVIDIA":
        yield (
            "the claim of a ComputeDomain (NVIDIA DRA driver), without which pods of several nodes use NICs in place "
            "of NVLink"
        )


EFA = "vpc.amazonaws.com/efa"
"""The resource of an EFA device by the device plugin of EKS (docs.aws.amazon.com, device-management-efa)."""


def worker_resources(cluster: Cluster, device: str) -> str:
    """The resources of a pod that takes a node, in braces: its accelerators, and EFA devices, without which a pod has
    only TCP. Other NICs have a name that the site gives them.
    """
    asked = {device: devices_of_node(cluster)}
    if count := efa_devices(cluster):
        asked[EFA] = count
    return f"{{{', '.join(f'{name}: {count}' for name, count in asked.items())}}}"


def omitted_image(cluster: Cluster, programs: str = "") -> str:
    """A note on the image, with ``programs`` that it needs, and on NICs whose resource the site names."""
    nics = "" if efa_devices(cluster) else ", and the resources of its NICs (such as rdma/ib)"
    return f"the image of the benchmark{programs}{nics}"


def efa_devices(cluster: Cluster) -> int:
    """The EFA devices of a node; 0 on another network."""
    fabric = cluster.scale_out
    return fabric.nics_per_node if fabric is not None and fabric.technology.family == "efa" else 0


LONGEST = 51
"""Maximum length of the name of an MPIJob. A worker adds up to 12 characters, and a label has at most 63. The operator
refuses longer names, and names that begin with a digit (kubeflow/mpi-operator caa3c47f,
kubeflow/validation/validation.go).
"""


def _mpijob_lines(source: ExportInput, test: AcceptanceCase, device: str, number: int) -> Iterator[str]:
    per_node = source.cluster.ranks_per_node
    passed = " ".join(
        f"-x {name}={value.replace(' ', chr(92) + chr(92) + ' ')}" for name, value in exported_variables(source, test)
    )
    launch = f"mpirun --allow-run-as-root -np {test.ranks} -N {per_node} -bind-to none {passed}"
    yield from (f"# {line}" for line in threshold_lines(test))
    yield from (
        "apiVersion: kubeflow.org/v2beta1",
        "kind: MPIJob",
        "metadata:",
        f"  name: {dns_label(f'{source.name}-{test.name.lower()}', number, LONGEST)}",
        "spec:",
        f"  slotsPerWorker: {per_node}",
        "  runPolicy: {cleanPodPolicy: Running}",
        "  mpiReplicaSpecs:",
        "    Launcher:",
        "      replicas: 1",
        "      template:",
        "        spec:",
        "          containers:",
        "            - name: launcher",
        f"              image: IMAGE-WITH-{test.tool.upper()}",
        '              command: ["/bin/bash", "-c"]',
        "              args:",
        "                - |",
        *(f"                  {line}" for line in limit_check(test, f"{launch} {benchmark_command(test)}")),
        "    Worker:",
        f"      replicas: {test.nodes}",
        "      template:",
        "        spec:",
        "          containers:",
        "            - name: worker",
        f"              image: IMAGE-WITH-{test.tool.upper()}",
        "              resources:",
        f"                limits: {worker_resources(source.cluster, device)}",
        "              volumeMounts: [{name: dshm, mountPath: /dev/shm}]",
        "          volumes: [{name: dshm, emptyDir: {medium: Memory}}]",
    )


# Slurm ``topology.yaml`` and Kueue ``Topology``: nodes grouped by leaf, pod or scale-up domain
