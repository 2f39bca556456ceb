"""The acceptance limit of the all-reduce as a recipe overlay of NVIDIA AICR.

Written for NVIDIA/aicr: ``recipes/overlays/gb300-generic-ubuntu-training.yaml`` at 4e85e98d (keys, and the API group;
earlier commits name it aicr.nvidia.com/v1alpha1), ``pkg/recipe/criteria.go`` at 13d2571b (accelerators, services;
others are registered by overlays, such as ``generic`` and l40s) and, of ``validators/performance``,
``nccl_all_reduce_bw_constraint.go`` at 028a5a86 (out-of-place bus bandwidth in GB/s at the largest size, passed from
90 % of the value on; ``supportedNCCLCombinations``) and ``nccl_all_reduce_bw.go`` at 2357b9ee (names of the checks).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable
from clusterspec.exchange.exporters.site_checks import (
    GIB,
    comment_lines,
    limit_on,
    limits_file,
    omitted_limits,
    require_accelerators_of,
    site_limits,
)
from clusterspec.records import NamedTuple

ACCELERATORS = ("h100", "h200", "gb200", "gb300", "b200", "a100", "l40", "l40s")
SERVICES = {
    "AWS": "eks",
    "Google Cloud": "gke",
    "Microsoft Azure": "aks",
    "Oracle": "oke",
    "Oracle Cloud": "oke",
}
TOLERANCE = 0.9
"""Share of a constraint's value that the validator accepts."""
SIZES = {"gke": 8 * GIB}
"""The largest message, if it is not 16 GiB."""


class Check(NamedTuple):
    """A check of the validator: ``runs`` lists, for each service, the accelerators for which the check runs; the key
    None means criteria without a service.
    """

    name: str
    runs: Mapping[str | None, tuple[str, ...]]
    effect: str

    def covers(self, service: str | None, accelerator: str) -> bool:
        return accelerator in self.runs.get(service, ())


FABRIC = Check(
    "nccl-all-reduce-bw",
    {"eks": ("h100", "h200"), "gke": ("h100",), "aks": ("h100",), None: ("b200", "gb200")},
    "H100 and H200 on EKS, H100 on GKE and AKS, and B200 and GB200 where the criteria name no service",
)
NVLINK = Check(
    "nccl-all-reduce-bw-nvls",
    {"eks": ("gb200",), "oke": ("gb200",), "generic": ("gb300",)},
    "GB200 on EKS and OKE, and GB300 on the service `generic`",
)
"""The check of NVLink over nodes, which also fails where NCCL formed no communicator of NVLink SHARP."""


def write(source: ExportInput) -> ExportedFile:
    """A recipe overlay, whose performance phase holds the all-reduce over all nodes against the limit."""
    require_accelerators_of(source, "NVIDIA", "AICR")
    cluster = source.cluster
    accelerator = cluster.accelerator.id.split("-")[0] if cluster.accelerator.id else ""
    if accelerator not in ACCELERATORS:
        raise NotExportable(f"AICR has no criterion for {cluster.accelerator.name}")
    if cluster.nodes < 2:
        raise NotExportable("AICR tests collectives over two nodes and more")
    service = _kubernetes_service(cluster, accelerator)
    check = _network_check(cluster, service, accelerator)
    limit = limit_on(source, "all-reduce", cluster.nodes, SIZES.get(service or "", 16 * GIB))
    lines = [
        *comment_lines(source, [limit], "The value is the limit over 0.9, the share that the validator accepts."),
        "kind: RecipeMetadata",
        "apiVersion: aicr.run/v1beta1",
        "metadata:",
        f"  name: {source.name}-acceptance",
        "spec:",
        "  criteria:",
        *([f"    service: {service}"] if service else []),
        f"    accelerator: {accelerator}",
        "    intent: training",
        "  componentRefs: []",
        "  validation:",
        "    performance:",
        "      checks:",
        f"        - {check.name}",
        "      constraints:",
        f"        - name: {check.name}",
        f'          value: ">= {limit.gigabytes / TOLERANCE:.2f}"',
    ]
    omitted = (
        *_missing_effect(check, service, accelerator),
        *omitted_limits(site_limits(source), [limit], "AICR tests the all-reduce over all nodes"),
    )
    return limits_file("\n".join(lines) + "\n", [limit], omitted)


def _kubernetes_service(cluster: Cluster, accelerator: str) -> str | None:
    """The Kubernetes service of the platform's cloud; `generic` for machines of a site for which it has a check."""
    known = SERVICES.get(cluster.platform.vendor or "") if cluster.platform else None
    if known is None and _spans_nodes(cluster) and NVLINK.covers("generic", accelerator):
        return "generic"
    return known


def _spans_nodes(cluster: Cluster) -> bool:
    return nodes_of_domain(cluster) > 1


def _network_check(cluster: Cluster, service: str | None, accelerator: str) -> Check:
    """The default check, or the NVLink check if AICR skips the default one and NVLink connects nodes."""
    if _spans_nodes(cluster) and not FABRIC.covers(service, accelerator):
        return NVLINK
    return FABRIC


def _missing_effect(check: Check, service: str | None, accelerator: str) -> Iterator[str]:
    if service is None:
        yield "the Kubernetes service, which the platform does not tell"
    elif service == "generic":
        yield "a service that AICR detects: `generic` is chosen with `aicr recipe --service generic`"
    covered = any(check.covers(each, accelerator) for each in (check.runs if service is None else (service,)))
    if not covered:
        yield f"an effect: the validator skips {check.name} except for {check.effect}"
