"""InfiniBand and RoCE for the same machine: latencies, rates and step time with either."""

from __future__ import annotations

from clusterspec.analysis.paths import pod_topology
from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Interconnect
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster, Design, ScaleOut
from clusterspec.cluster.variation import with_values
from clusterspec.cost.estimate import estimate
from clusterspec.procurement.amounts import money_text
from clusterspec.records import replace
from clusterspec.results.estimate_json import Provenance
from clusterspec.results.full import NetworkChoice

FAMILIES = ("infiniband", "roce")
PLAIN_ROCE = "roce-v2"
"""The entry of RoCE without additions of a vendor; the rate comes from its NIC."""


def network_choices(
    design: Design, catalog: Catalog, fabric: Fabric | None, provenance: Provenance
) -> tuple[NetworkChoice, ...]:
    """The design's technology and one of the other family, with the same NICs and switch counts.

    Empty if the fabric is of neither family, is a cloud's, or belongs to the accelerators, and if the platform is not
    sold with the other family.
    """
    cluster = design.cluster
    out = cluster.scale_out if cluster is not None else None
    if cluster is None or out is None or cluster.nodes < 2 or cluster.cloud or out.technology.cloud:
        return ()
    other = _other_technology(cluster, out, catalog) if not cluster.has_built_in_nics else None
    if other is None:
        return ()
    machines = (cluster, with_technology(cluster, out, other))
    ordered = sorted(machines, key=lambda one: one.scale_out is None or one.scale_out.technology.family)
    return tuple(_network_choice(design, machine, fabric, provenance) for machine in ordered)


def _other_technology(cluster: Cluster, out: ScaleOut, catalog: Catalog) -> Interconnect | None:
    """A technology of the other family: the platform's, else RoCE v2 or InfiniBand at the NIC rate."""
    if out.technology.family not in FAMILIES:
        return None
    wanted = next(family for family in FAMILIES if family != out.technology.family)
    sold = cluster.platform.technologies if cluster.platform else ()
    if sold:
        offered = (catalog.interconnect(each) for each in sold)
        return next((each for each in offered if each.family == wanted), None)
    if wanted == "roce":
        return catalog.interconnect(PLAIN_ROCE)
    entries, rate = (catalog.interconnect(each) for each in catalog.ids("interconnect")), out.nic_bandwidth.value
    offered = (each for each in entries if each.family == wanted and each.scope == "scale-out" and not each.cloud)
    return next((each for each in offered if each.bandwidth and each.bandwidth.value == rate), None)


def with_technology(cluster: Cluster, out: ScaleOut, technology: Interconnect) -> Cluster:
    """The machine with another technology of its fabric, without the measurements of the fabric. Switches reduce only
    if they did, and if the technology can.
    """
    changed = replace(
        out,
        technology=technology,
        in_network_reduction=out.in_network_reduction and technology.in_network_reduction,
        collective_plugin=technology.plugins[0] if technology.plugins else None,
    )
    kept = tuple(one for one in cluster.measured if one.part != "network")
    return with_values(cluster, {("scale_out",): changed, ("measured",): kept})


def _network_choice(design: Design, cluster: Cluster, fabric: Fabric | None, provenance: Provenance) -> NetworkChoice:
    present = cluster is design.cluster
    assert cluster.scale_out is not None
    technology = cluster.scale_out.technology
    across = [one for one in pod_topology(cluster, None, fabric).classes if "NIC" in one.parts]
    plan = estimate(design if present else with_values(design, {("cluster",): cluster}))
    step = plan.step_time.value if plan.step_time is not None else None
    prices = (design.spec.procurement.prices if design.spec.procurement else None) or {}
    currency = (design.spec.procurement.currency if design.spec.procurement else None) or ""
    near, far = (across[0], across[-1]) if across else (None, None)
    return NetworkChoice(
        technology=technology.id,
        name=technology.name,
        present=present,
        lossless=technology.lossless,
        reduces=cluster.scale_out.in_network_reduction,
        wire=technology.latency.value if technology.latency else None,
        wire_basis=provenance.text(technology.latency.origin) if technology.latency else "",
        near=near.latency if near else None,
        far=far.latency if far else None,
        predicted=far.predicted if far else None,
        step=step,
        nic_price=money_text(prices.get("nic"), currency) if present else "",
        leaf_price=money_text(prices.get("leaf_switch"), currency) if present else "",
    )
