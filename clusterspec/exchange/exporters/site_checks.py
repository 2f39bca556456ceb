"""Acceptance limits in the formats of health checks that sites run.

A limit is the bus bandwidth in GB/s (10^9 B/s, as nccl-tests prints it) that the spec states for a test, or, where it
states none, the slow end of the predicted range. Tools that grant a tolerance get the limit divided by it, so that they
fail below the limit itself. Each writer names the file and commit of the public source whose parser it was written for.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives import CollectiveUnavailableError
from clusterspec.cost.collectives.evidence import unmeasured_part
from clusterspec.cost.collectives.predict import collective_table
from clusterspec.exchange.acceptance_cases import AcceptanceCase
from clusterspec.exchange.exporters.acceptance import runnable_cases
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable, devices_of_node
from clusterspec.procurement.acceptance import PROGRAMS, printed_size
from clusterspec.records import dataclass
from clusterspec.units import display, plural, size_text

GIB = 1 << 30


@dataclass(frozen=True)
class Limit:
    """The minimum bus bandwidth of a collective, in B/s.

    ``basis`` says where the limit comes from. ``unmeasured`` names the part of the machine that no published
    measurement covers; it is empty if one does or if the spec states the limit. ``demands`` are what the spec demands
    of the test in addition to one run that reaches the limit, each with its kind, in words.
    """

    collective: str
    nodes: int
    ranks: int
    size: int
    bandwidth: float
    basis: str
    unmeasured: str = ""
    runs: int = 1
    demands: tuple[tuple[str, str], ...] = ()

    @property
    def gigabytes(self) -> float:
        """The limit in GB/s."""
        return self.bandwidth / 1e9

    @property
    def title(self) -> str:
        return f"{self.collective} on {plural(self.nodes, 'node')}, {size_text(self.size)}"

    @property
    def printed_size(self) -> int:
        """The size in bytes that the benchmark prints."""
        return printed_size(self.collective, self.size, self.ranks)

    def remarks(self) -> Iterator[str]:
        """The limit and its basis, one line each."""
        yield f"{self.title}: at least {self.gigabytes:.2f} GB/s of bus bandwidth, {self.basis}"
        if self.unmeasured:
            yield f"nothing was measured for this limit: {self.unmeasured}"


def site_limits(source: ExportInput) -> tuple[Limit, ...]:
    """The limits of the spec's tests, or else of default tests of each tier. Raises `NotExportable` if no test can be
    run.
    """
    stated = bool(source.design.spec.acceptance)
    return tuple(_limit_of(source.cluster, case, stated=stated) for case in runnable_cases(source))


def _limit_of(cluster: Cluster, case: AcceptanceCase, *, stated: bool) -> Limit:
    runs = max(1, case.runs)
    if stated:
        test, basis = (case.collective, case.nodes, case.ranks, int(case.size)), "stated in the spec"
        return Limit(*test, case.threshold, basis, "", runs, tuple(_demands(case)))
    return _predicted_limit(cluster, case.collective, case.nodes, int(case.size))


def _demands(case: AcceptanceCase) -> Iterator[tuple[str, str]]:
    """What a test demands in addition to one run, by kind; a test of one node is meant for every node by each tool."""
    if case.runs > 1:
        yield "all runs" if case.passes == case.runs else "some runs", f"{case.passes} of {case.runs} runs"
    if case.groups > 1 and case.nodes > 1:
        yield "sets", f"each of {case.groups} sets of {case.nodes} nodes"
    if case.algorithm:
        yield "algorithm", f"the algorithm {case.algorithm}"
    if case.duration:
        yield "duration", f"a test for {display(case.duration, 's')}"


def limit_on(source: ExportInput, collective: str, nodes: int, size: int | None = None) -> Limit:
    """The limit of a test at the largest size that the spec states for it. If the spec states none, the prediction at
    ``size``; 8 GiB if the tool leaves the size open.

    Raises `NotExportable` where the machine has no such group.
    """
    fitting = [
        each
        for each in site_limits(source)
        if (each.collective, each.nodes) == (collective, nodes) and size in (None, each.size)
    ]
    if fitting:
        return max(fitting, key=lambda each: each.size)
    return _predicted_limit(source.cluster, collective, nodes, size or 8 * GIB)


def _predicted_limit(cluster: Cluster, collective: str, nodes: int, size: int) -> Limit:
    ranks = nodes * cluster.ranks_per_node
    if nodes > cluster.nodes or ranks < 2:
        raise NotExportable(f"{collective} on {plural(nodes, 'node')} needs more than the cluster has")
    try:
        row = collective_table(cluster, collective, ranks, (float(size),))[0]
    except CollectiveUnavailableError as why:
        raise NotExportable(f"{collective} on {plural(nodes, 'node')} cannot be predicted: {why}") from None
    basis = "the slow end of the predicted range"
    return Limit(collective, nodes, ranks, size, row.lowest_busbw, basis, unmeasured_part(cluster, row.tier))


def limits_file(
    content: str, limits: Sequence[Limit], omitted: Sequence[str] = (), kept: Collection[str] = ()
) -> ExportedFile:
    """The file; its notes name the limits that are not based on measurements, and what the spec demands of a test apart
    from the kinds of demands that the file ``kept``.
    """
    reasons = dict.fromkeys(each.unmeasured for each in limits if each.unmeasured)
    missing = (
        f"measurements behind {', '.join(each.title for each in limits if each.unmeasured == why)}: {why}"
        for why in reasons
    )
    left = ((each.title, [text for kind, text in each.demands if kind not in kept]) for each in limits)
    demands = (f"{title}: one run, where the spec demands {', '.join(texts)}" for title, texts in left if texts)
    return ExportedFile(content, (*omitted, *demands, *missing))


def comment_lines(source: ExportInput, limits: Sequence[Limit], *more: str) -> list[str]:
    lines = [f"Acceptance limits of {source.name}.", *more, *(line for each in limits for line in each.remarks())]
    return [f"# {line}" for line in lines]


def omitted_limits(limits: Sequence[Limit], written: Sequence[Limit], why: str) -> tuple[str, ...]:
    return tuple(f"{each.title}: {why}" for each in limits if each not in written)


def require_accelerators_of(source: ExportInput, vendor: str, tool: str) -> None:
    if source.cluster.accelerator.software_vendor != vendor:
        raise NotExportable(f"{tool} is for accelerators of {vendor}, and {source.cluster.accelerator.name} is not")


SUPERBENCH_OPERATIONS = {
    "all-reduce": "allreduce",
    "all-gather": "allgather",
    "reduce-scatter": "reducescatter",
    "all-to-all": "alltoall",
    "broadcast": "broadcast",
}


def superbench(source: ExportInput) -> ExportedFile:
    """Rules for ``sb result diagnosis``, one per limit: a node with a lower bus bandwidth is defective.

    Written for microsoft/superbenchmark at 700d6501: ``superbench/analyzer/data_diagnosis.py`` and ``rule_base.py``
    (keys; a metric is a benchmark with its annotation, ``/``, and a regular expression), ``diagnosis_rule_op.py``
    (``value``: violated where the criterion holds), ``cuda_nccl_bw_performance.py`` (names of operations and metrics,
    GB/s).
    """
    limits = site_limits(source)
    written = [each for each in limits if each.collective in SUPERBENCH_OPERATIONS]
    if not written:
        raise NotExportable("SuperBench runs none of its collectives")
    benchmark = "rccl-bw" if source.cluster.accelerator.vendor == "AMD" else "nccl-bw"
    lines = [
        *comment_lines(
            source,
            written,
            f"Run each test as the benchmark {benchmark} with the annotation of its rule.",
            "SuperBench reports nothing for a metric that the results lack.",
        ),
        "version: v0.12",
        "superbench:",
        "  rules:",
    ]
    for each in written:
        operation = SUPERBENCH_OPERATIONS[each.collective]
        annotation = f"{operation}-{plural(each.nodes, 'node').replace(' ', '-')}"
        lines += [
            f"    {annotation}-{each.size}:",
            "      function: value",
            f"      criteria: 'lambda x: x < {each.gigabytes:.2f}'",
            "      categories: Bandwidth",
            "      metrics:",
            rf"        - '{benchmark}:{annotation}/{operation}_(\d+_\d+:)?{each.printed_size}_busbw'",
        ]
    return limits_file(
        "\n".join(lines) + "\n", written, omitted_limits(limits, written, "SuperBench does not run this collective")
    )


CVS_NICS = {"AMD": "ainic", "Broadcom": "thor", "NVIDIA": "connectx"}
CVS_TOLERANCE = 0.95
"""Share of an expected bandwidth that cvs accepts."""


def cvs(source: ExportInput) -> ExportedFile:
    """The part of ``rccl_config.json`` that holds limits, for the largest group of nodes that is tested.

    Written for ROCm/cvs at dddd9143, ``cvs/lib/rccl_lib.py``: ``rccl_perf`` looks up
    ``cvs_params.results[NIC type][PROGRAM-TYPE-RANKS]``, and ``check_bus_bw`` reads ``[SIZE]["bus_bw"]`` below it and
    passes 95 % of the figure. (The ``results`` next to ``cvs_params`` in its sample file are not read, and a size that
    the sweep does not reach passes unseen.)
    """
    require_accelerators_of(source, "AMD", "cvs")
    limits = [each for each in site_limits(source) if each.collective in PROGRAMS]
    fabric = source.cluster.scale_out
    vendor = fabric.nic.vendor if fabric is not None and fabric.nic is not None else None
    nic = CVS_NICS.get(vendor or "")
    nodes = max((each.nodes for each in limits), default=0)
    of_nodes = [each for each in limits if each.nodes == nodes]
    if not of_nodes:
        raise NotExportable("cvs runs none of its collectives")
    written = _limits_of_doubled_sizes(of_nodes)
    results: dict[str, dict[str, dict[str, str]]] = {}
    for each in written:
        named = results.setdefault(f"{PROGRAMS[each.collective]}-float-{each.ranks}", {})
        named[str(each.printed_size)] = {"bus_bw": f"{each.gigabytes / CVS_TOLERANCE:.2f}"}
    remarks = [line for each in written for line in each.remarks()]
    model = nic or "ainic"
    document = {
        "rccl": {
            "_comment_limits": ["bus_bw is the limit over 0.95, the share that cvs accepts", *remarks],
            "mpi_params": {"no_of_nodes": str(nodes), "no_of_local_ranks": str(source.cluster.ranks_per_node)},
            "rccl_test_params": {
                "rccl_collective": sorted({PROGRAMS[each.collective] for each in written}),
                "start_msg_size": str(min(each.size for each in written)),
                "end_msg_size": str(max(each.size for each in written)),
                "step_function": "2",
                "data_types": ["float"],
            },
            "cvs_params": {"nic_model": model, "verify_bus_bw": "True", "results": {model: results}},
        }
    }
    unstated = () if nic else ("the NIC model: the spec states none that cvs knows, `ainic` is its own default",)
    omitted = (
        *unstated,
        "paths and network devices (mpi_dir, rccl_tests_dir, rccl_result_file, env_source_script, mpi_oob_port)",
        *omitted_limits(limits, of_nodes, "a file of cvs is for one number of nodes"),
        *omitted_limits(of_nodes, written, "the sizes of cvs double, and from none do they reach this and the largest"),
    )
    return limits_file(json.dumps(document, indent=2, ensure_ascii=False) + "\n", written, omitted)


def _limits_of_doubled_sizes(limits: Sequence[Limit]) -> list[Limit]:
    """The limits at sizes that a sweep by doubling reaches on the way to the largest size."""
    largest = max(each.size for each in limits)
    return [each for each in limits if largest % each.size == 0 and (largest // each.size).bit_count() == 1]


def azure_nhc(source: ExportInput) -> ExportedFile:
    """Checks of one node as lines of a configuration of node health checks.

    Written for Azure/azurehpc-health-checks at 0e0a1ac2: ``conf/nd96isr_h100_v5.conf`` (lines),
    ``customTests/azure_nccl_allreduce.nhc`` and ``azure_rccl_allreduce.nhc`` (arguments: GB/s, repetitions, message
    size; a pass in any of the repetitions is a pass).
    """
    vendor = source.cluster.accelerator.vendor
    checks = {"NVIDIA": "check_nccl_allreduce", "AMD": "check_rccl_allreduce"}
    limits = site_limits(source)
    limit = limit_on(source, "all-reduce", 1)
    count = f"check_gpu_count {devices_of_node(source.cluster)}{' rocm' if vendor == 'AMD' else ''}"
    lines = [
        *comment_lines(source, [limit]),
        f" * || {count}",
        f" * || {checks[vendor or '']} {limit.gigabytes:.2f} 1 {limit.size}",
    ]
    omitted = (
        "devices, host memory, and limits of ib_write_bw and copies, which the cost model does not predict",
        *omitted_limits(limits, [limit], "these checks run the all-reduce only inside one node"),
    )
    return limits_file("\n".join(lines) + "\n", [limit], omitted)


CRE_VARIANTS = {"all-reduce": "nccl-all-reduce", "all-gather": "nccl-all-gather", "all-to-all": "nccl-alltoall"}


def readiness(source: ExportInput) -> ExportedFile:
    """A Certification of the Cluster Readiness Engine, with one category for each limit.

    Written for NVIDIA/cluster-readiness-engine: ``api/v1alpha1/certification_types.go`` at 00992e28 (keys, patterns and
    minima) and ``groupversion_info.go`` at 104a61a4 (API group; earlier commits name it cre.nvidia.com). The threshold
    is held against the largest bus bandwidth of all sizes up to ``maxBytes``.
    """
    require_accelerators_of(source, "NVIDIA", "the Cluster Readiness Engine")
    cluster, limits = source.cluster, site_limits(source)
    written = [each for each in limits if each.collective in CRE_VARIANTS]
    if not written:
        raise NotExportable("the Cluster Readiness Engine runs none of its collectives")
    lines = [
        *comment_lines(
            source, written, "The best bus bandwidth of all sizes up to maxBytes is held against a threshold."
        ),
        "apiVersion: nvcre.nvidia.com/v1alpha1",
        "kind: Certification",
        "metadata:",
        f"  name: {source.name}-acceptance",
        "spec:",
        "  target:",
        "    nodeSelector:",
        '      nvidia.com/gpu.present: "true"',
        f"  gpusPerNode: {cluster.accelerators_per_node}",
        f"  enableMNNVL: {'true' if nodes_of_domain(cluster) > 1 else 'false'}",
        "  categories:",
    ]
    for each in written:
        lines += [
            "    - domain: communication",
            f"      variant: {CRE_VARIANTS[each.collective]}",
            "      options:",
            "        testScale: intra-node" if each.nodes == 1 else f"        nodesPerJob: {each.nodes}",
            f'        maxBytes: "{each.size}"',
            *([f"        repeatCount: {each.runs}"] if each.runs > 1 else []),
            "        thresholds:",
            f'          busBandwidthGBps: "value >= {each.gigabytes:.2f}"',
        ]
    omitted = omitted_limits(limits, written, "the Cluster Readiness Engine has no test of this collective")
    return limits_file("\n".join(lines) + "\n", written, omitted, ("all runs", "sets"))


def health_scanner(source: ExportInput) -> ExportedFile:
    """Values of the Helm chart ``nccl_healthcheck`` that set its limit for pairs of nodes; use it after the file of
    the machine type (``-f a3ultra.yaml -f FILE``).

    Written for GoogleCloudPlatform/cluster-health-scanner at 81c525d8: ``src/nccl_healthcheck/nccl_startup.py``
    (``BANDWIDTH_THRESHOLD`` is a whole number of GB/s, held against the average bus bandwidth of all sizes; results are
    cut to whole numbers; ``BENCHMARK``) and ``deploy/helm/health_checks/nccl_healthcheck/a3ultra.yaml``.
    """
    require_accelerators_of(source, "NVIDIA", "cluster-health-scanner")
    if source.cluster.nodes < 2:
        raise NotExportable("cluster-health-scanner tests pairs of nodes")
    limits = [each for each in site_limits(source) if each.collective in PROGRAMS and each.nodes == 2]
    limit = max(limits, key=lambda each: each.size) if limits else limit_on(source, "all-gather", 2)
    values = {
        "BENCHMARK": PROGRAMS[limit.collective],
        "NHOSTS": "2",
        "nr": str(source.cluster.ranks_per_node),
        "START_MESSAGE_SIZE": str(limit.size),
        "END_MESSAGE_SIZE": str(limit.size),
        "BANDWIDTH_THRESHOLD": str(int(limit.gigabytes)),
    }
    lines = [
        *comment_lines(source, [limit], "Results and thresholds of this tool are whole GB/s."),
        "health_check:",
        "  env:",
        *(f'    {name}: "{value}"' for name, value in values.items()),
    ]
    omitted = omitted_limits(site_limits(source), [limit], "this tool tests one collective on pairs of nodes")
    return limits_file("\n".join(lines) + "\n", [limit], omitted, ("sets",))
