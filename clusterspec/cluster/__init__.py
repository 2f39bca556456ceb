"""The resolved cluster, workload and layout: legality, placement of process groups, switch counts.

`resolve` makes them of a spec with the catalog: a value for every key, and a list of all defaults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator, Platform, Switch
from clusterspec.cluster.degrees import share_of_rack
from clusterspec.cluster.layout import Software, resolve_layout, resolve_software
from clusterspec.cluster.model import Assumption, Cluster, Design, ScaleOut
from clusterspec.cluster.resolution import (
    Lookup,
    Parts,
    ResolutionLog,
    kernel_table,
    measured_part,
    written_figure,
    written_peak,
)
from clusterspec.cluster.scaleout import resolve_scale_out
from clusterspec.cluster.scaleup import NODE_SCALE, resolve_scale_up
from clusterspec.cluster.workload import resolve_workload
from clusterspec.finding import Problem
from clusterspec.quantity import Figure, Quantity
from clusterspec.records import replace
from clusterspec.source import Computed
from clusterspec.spec.model import (
    AcceleratorSpec,
    ClusterSpec,
    LayoutSpec,
    NetworkSpec,
    NetworksSpec,
    PcieSpec,
    PowerSpec,
    Spec,
    WorkloadSpec,
)
from clusterspec.standard import Recent
from clusterspec.units import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.logs.traces import TraceSummary


def resolve(
    spec: Spec, catalog: Catalog, traces: Mapping[str, TraceSummary] | None = None
) -> tuple[Design, list[Problem]]:
    """The design of a spec: each key as written, else from the platform, the accelerator, or the contract's defaults.

    The assumptions of the design list every default. A part that cannot be resolved is None, with a problem that states
    the reason; the other parts are still resolved. ``traces`` are the files of requests that the spec names. The time
    does not depend on the size of the cluster.
    """
    log = ResolutionLog(spec, traces=traces or {})
    lookup = Lookup(catalog, log)
    if spec.cluster is None:
        log.report_missing(
            ("cluster",), "the spec describes no machine", "describe it, at least `platform` and `nodes`"
        )
    if spec.cluster is not None and _names_parts(spec.cluster):
        from clusterspec.cluster.named_parts import with_named_parts  # few specs name one

        spec = replace(spec, cluster=with_named_parts(spec.cluster, lookup))
    cluster = _resolved_cluster(_section_with_nodes(spec, log), lookup) if spec.cluster else None
    accelerator = cluster.accelerator if cluster else None
    software = _resolved_software(spec, cluster, lookup)
    stack = software.stack if software else None
    if cluster is not None and describes_rl(spec):
        return _resolved_rl(spec, cluster, software, lookup)
    section = _section_of_samples(spec) if spec.workload is not None and describes_rl(spec) else spec.workload
    workload = resolve_workload(section, accelerator, stack, lookup) if section else None
    if section is not spec.workload:
        workload = None  # reported problems only: the trainer's batch and sequences depend on the machine
    if cluster is not None and workload is not None and workload.serving is not None:
        table = kernel_table(cluster.accelerator, lookup)
        part = measured_part(cluster.accelerator, table, lookup)
        cluster = replace(cluster, kernels=table, kernels_part=part)
    layout = None
    if cluster is not None and software is not None:
        layout = resolve_layout(spec.layout or LayoutSpec(), cluster, workload, software, log)
    return Design(spec, cluster, workload, layout, tuple(log.assumptions), catalog, log.traces), log.problems


def _names_parts(machine: ClusterSpec) -> bool:
    """Whether a machine names its storage system or its cooling distribution units by their catalog ids."""
    store = machine.networks.storage if machine.networks is not None else None
    cdus = machine.power.cdus if machine.power is not None else None
    return bool(store and store.system) or bool(cdus and cdus.model)


def _section_of_samples(spec: Spec) -> WorkloadSpec:
    """The workload section of reinforcement learning. A missing batch or sequence length is set to 1, since the samples
    and the machine determine both later.
    """
    section = spec.workload or WorkloadSpec()
    return replace(section, global_batch=section.global_batch or 1, sequence_length=section.sequence_length or 1)


def _section_with_nodes(spec: Spec, log: ResolutionLog) -> ClusterSpec:
    """The cluster section. If it states no size, `nodes` is the number of nodes in the layout."""
    section = spec.cluster or ClusterSpec()
    stated = spec.layout.nodes if spec.layout and not describes_rl(spec) else None
    if stated is None or section.nodes or section.accelerators or log.unreadable(("cluster", "nodes")):
        return section
    return replace(section, nodes=log.assume("cluster.nodes", stated, "those of the job: the spec states no others"))


def _resolved_rl(
    spec: Spec, cluster: Cluster, software: Software | None, lookup: Lookup
) -> tuple[Design, list[Problem]]:
    """The design of the trainer of reinforcement learning, with its samples and roles."""
    from clusterspec.cluster.reinforcement import resolve_rl, trainer_section, trainer_workload  # few specs need it

    log, section = lookup.log, spec.workload or WorkloadSpec()
    rl = resolve_rl(section, spec.layout, cluster, log)
    workload = layout = None
    if rl is not None:
        stack = software.stack if software else None
        trainer = trainer_section(section, rl, spec.layout or LayoutSpec(), cluster, log)
        workload = resolve_workload(trainer, cluster.accelerator, stack, lookup)
        workload = trainer_workload(workload, rl) if workload else None
    if software is not None and workload is not None and rl is not None and rl.has_nodes:
        own = replace(spec.layout or LayoutSpec(), nodes=rl.trainer_nodes)
        layout = resolve_layout(own, cluster, workload, software, log)
    return Design(spec, cluster, workload, layout, tuple(log.assumptions), lookup.catalog, log.traces), log.problems


def describes_rl(spec: Spec) -> bool:
    """Whether the workload of a spec is reinforcement learning."""
    work = spec.workload
    return work is not None and work.implied_kind == "rl"


Resolved = tuple[Cluster | None, list[Assumption], list[Problem]]
_RECENT: Recent[tuple[Catalog, ClusterSpec, str, Resolved]] = Recent(4)
"""Clusters of recent specs by catalog and section. Many specs share a machine, as do the versions of a spec being
edited.
"""


def _resolved_cluster(section: ClusterSpec, lookup: Lookup) -> Cluster | None:
    """The cluster of a section. Its assumptions and problems are added to the log."""
    log = lookup.log
    if log.spec.broken:  # which keys are unreadable determines what is reported
        return resolve_cluster(section, lookup)
    known = next((each for each in _RECENT if each[0] is lookup.catalog and each[1] is section), None)
    if known is None:
        text = repr(section)
        known = next((each for each in _RECENT if each[0] is lookup.catalog and each[2] == text), None)
        if known is None:
            own = ResolutionLog(log.spec)
            found = resolve_cluster(section, Lookup(lookup.catalog, own))
            known = _RECENT.keep((lookup.catalog, section, text, (found, own.assumptions, own.problems)))
    cluster, assumptions, problems = known[3]
    log.assumptions += assumptions
    log.problems += problems
    return cluster


def _resolved_software(spec: Spec, cluster: Cluster | None, lookup: Lookup) -> Software | None:
    """The software of the layout. Separate engines for prefill and decode are a layout without `layout` in the spec."""
    serving = spec.workload.serving if spec.workload is not None else None
    engines = serving is not None and serving.disaggregated is not None
    if cluster is None or (spec.layout is None and not engines):
        return None
    return resolve_software(spec.layout or LayoutSpec(), lookup, serves=_is_serving(spec))


def _is_serving(spec: Spec) -> bool:
    """Whether the software of a spec serves requests."""
    work = spec.workload
    return work is not None and work.implied_kind == "serve"


# The machine: accelerator, counts, PCIe slots and power, and with them the tiers

TRAY = 4
"""Accelerators of one tray or host in the rack-scale machines and slices sold (NVL72, TPU)."""
NODE_SIZES = (1, 2, 4, 8)
"""Numbers of accelerators in a node that servers of many vendors have."""
USUAL_NODE = 8
NETWORKS = ("frontend", "storage", "out_of_band")
"""The networks of a node other than the scale-out fabric."""


def resolve_cluster(section: ClusterSpec, lookup: Lookup) -> Cluster | None:
    """The cluster, or None if its accelerator or its number of nodes is not known."""
    log = lookup.log
    platform = lookup.platform(section.platform, ("cluster", "platform")) if section.platform else None
    accelerator = _resolved_accelerator(section, platform, lookup)
    per_node = _accelerators_per_node(section, platform, accelerator, log) if accelerator is not None else 0
    nodes = section.nodes or _node_count(section.accelerators, per_node, log)
    if nodes is None:
        why = "the size of the machine is not known"
        if section.accelerators and per_node:
            why = f"{section.accelerators:,} accelerators are not a whole number of nodes of {per_node}"
        log.report_missing(("cluster", "nodes"), why, "state how many nodes run the job")
    if accelerator is None or nodes is None:
        return None
    platform = platform.of_size(per_node) if platform else None
    parts = Parts(section, platform, accelerator, nodes, per_node, lookup)
    pcie = section.pcie or PcieSpec()
    host = pcie.host or (platform.pcie_host if platform else None) or accelerator.pcie
    scale_up = resolve_scale_up(parts, host)
    if scale_up is None:
        return None
    scale_out = resolve_scale_out(parts, scale_up.domain)
    return Cluster(
        accelerator=accelerator,
        nodes=nodes,
        spare_nodes=section.spare_nodes or 0,
        accelerators_per_node=parts.per_node,
        ranks_per_accelerator=section.ranks_per_accelerator or accelerator.ranks_per_accelerator,
        scale_up=scale_up,
        scale_out=scale_out,
        platform=platform,
        pcie_host=host,
        pcie_nic=_pcie_generation_of_nics(section, pcie, platform, scale_out),
        host_memory=written_figure(section.host_memory, "cluster.host_memory") if section.host_memory else None,
        host_memory_bandwidth=_host_memory_bandwidth(section),
        node_power=_node_power(section.power, parts),
        accelerator_cap=_accelerator_cap(section.power, accelerator),
        cloud=platform.cloud if platform else False,
        network_switches=tuple(_network_switches(section.networks, lookup)),
    )


def _host_memory_bandwidth(section: ClusterSpec) -> Figure | None:
    """B/s of the host memory of one node as stated; else None."""
    stated = section.host.memory_bandwidth if section.host is not None else None
    return written_figure(stated, "cluster.host.memory_bandwidth") if stated is not None else None


def _network_switches(networks: NetworksSpec | None, lookup: Lookup) -> Iterator[tuple[str, Switch]]:
    """The switches that the networks other than the scale-out fabric name; unknown names become problems."""
    for name in NETWORKS:
        network: NetworkSpec | None = getattr(networks, name) if networks else None
        if network is None:
            continue
        path = ("cluster", "networks", name)
        if network.technology is not None:
            lookup.interconnect(network.technology, (*path, "technology"))
        switch = lookup.switch(network.switch, (*path, "switch")) if network.switch else None
        if switch is not None:
            yield name, switch


def _pcie_generation_of_nics(
    section: ClusterSpec, pcie: PcieSpec, platform: Platform | None, fabric: ScaleOut | None
) -> int | None:
    """PCIe generation of the NIC slots: as written, else the platform's, else the generation that the named NIC
    requires.
    """
    named = fabric.nic if fabric is not None and section.scale_out is not None and section.scale_out.nic else None
    return pcie.nic or (platform.pcie_nic if platform else None) or (named.pcie if named else None)


def _resolved_accelerator(section: ClusterSpec, platform: Platform | None, lookup: Lookup) -> Accelerator | None:
    wanted, path = section.accelerator, ("cluster", "accelerator")
    if isinstance(wanted, str):
        return lookup.accelerator(wanted, path)
    if wanted is not None and wanted.like is not None:
        like = lookup.accelerator(wanted.like, (*path, "like"))
        return adjusted_accelerator(like, wanted) if like else None
    if lookup.log.unreadable(path):
        return None
    supplied = lookup.named_entry("accelerator", platform.accelerator) if platform is not None else None
    if isinstance(supplied, Accelerator):
        return adjusted_accelerator(supplied, wanted) if wanted else supplied
    if wanted is not None and section.platform is None:
        start = "write `like: h100-sxm-80gb` for the nearest part"
        remedy = f"{start}, or make an entry with `clusterspec catalog new accelerator`"
        lookup.log.report_missing(
            (*path, "like"), "an accelerator described in place starts from a catalog entry", remedy
        )
    elif section.platform is None:
        remedy = "name a platform such as dgx-h100, or an accelerator such as h100-sxm-80gb"
        lookup.log.report_missing(("cluster", "platform"), "neither a platform nor an accelerator is named", remedy)
    return None


def adjusted_accelerator(entry: Accelerator, section: AcceleratorSpec) -> Accelerator:
    """The entry with the figures that the spec states instead."""
    key = "cluster.accelerator"
    written = {name: written_peak(value, f"{key}.peak.{name}") for name, value in (section.peak or {}).items()}
    return replace(
        entry,
        name=_adjusted_name(entry, section),
        memory_printed="" if section.memory else entry.memory_printed,
        memory=_written_or_default(section.memory, f"{key}.memory", entry.memory),
        memory_bandwidth=_written_or_default(
            section.memory_bandwidth, f"{key}.memory_bandwidth", entry.memory_bandwidth
        ),
        power=_written_or_default(section.power, f"{key}.power", entry.power),
        peaks={**entry.peaks, **{name: peak for name, peak in written.items() if peak is not None}},
    )


def _adjusted_name(entry: Accelerator, section: AcceleratorSpec) -> str:
    """The name of the entry with the figures that the spec states instead."""
    stated = {"memory": section.memory, "memory bandwidth": section.memory_bandwidth, "power": section.power}
    stated |= {f"{precision} peak": peak for precision, peak in (section.peak or {}).items()}
    changes = [f"{name} {quantity.written}" for name, quantity in stated.items() if quantity is not None]
    return f"{entry.name} with {', '.join(changes)}" if changes else entry.name


def _written_or_default(quantity: Quantity | None, key: str, otherwise: Figure | None) -> Figure | None:
    return otherwise if quantity is None else written_figure(quantity, key)


def _accelerators_per_node(
    section: ClusterSpec, platform: Platform | None, accelerator: Accelerator, log: ResolutionLog
) -> int:
    if section.accelerators_per_node:
        return section.accelerators_per_node
    key = "cluster.accelerators_per_node"
    usual_size = platform.accelerators_per_node if platform is not None else None
    sizes = platform.node_sizes if platform is not None and usual_size else NODE_SIZES if section.nodes else ()
    stated = (section.accelerators or 0) / (section.nodes or 1)
    if stated in sizes and stated != usual_size:
        on = plural(section.nodes or 1, "node")
        return log.assume(key, int(stated), f"{plural(section.accelerators or 0, 'accelerator')} on {on}")
    if usual_size:
        return usual_size
    usual = accelerator.domains[0] if accelerator.domains else 1
    if accelerator.topology == "bridge" or max(accelerator.domains, default=1) == 1:
        return log.assume(key, USUAL_NODE, "the usual size of a node")
    if usual <= NODE_SCALE:
        return log.assume(key, usual, f"a node of {accelerator.id} is usually one scale-up domain")
    return log.assume(key, TRAY, f"a tray or host of a machine built of {accelerator.id} usually has {TRAY}")


def _node_count(accelerators: int | None, per_node: int, log: ResolutionLog) -> int | None:
    """Nodes that the stated accelerators fill; None if none are stated, or if they fill no whole number of nodes."""
    if accelerators is None or not per_node or accelerators % per_node or log.unreadable(("cluster", "nodes")):
        return None
    return log.assume("cluster.nodes", accelerators // per_node, f"{accelerators:,} accelerators, {per_node} a node")


def _accelerator_cap(section: PowerSpec | None, accelerator: Accelerator) -> Figure | None:
    """The power cap of an accelerator as stated; None if it does not limit the accelerator. A cap above the rated power
    never does. A cap equal to the rated power counts only for parts sold with a range of power limits.
    """
    cap, own = section.accelerator_cap if section else None, accelerator.power
    if cap is None or own is None or cap.value > own.value:
        return None
    if cap.value == own.value and accelerator.power_lowest is None:
        return None
    return written_figure(cap, "cluster.power.accelerator_cap")


def _node_power(section: PowerSpec | None, parts: Parts) -> Figure | None:
    """The power of one node: as written, else the platform's with the spec's accelerators, else the node's share of its
    rack; None if none is known.

    A cap on the accelerators lowers the rated power.
    """
    if section is not None and section.node is not None:
        return written_figure(section.node, "cluster.power.node")
    rated, cap, own = _rated_node_power(parts), _accelerator_cap(section, parts.accelerator), parts.accelerator.power
    if rated is None or cap is None or own is None:
        return rated
    saved = parts.per_node * (own.value - cap.value)
    return Figure(
        rated.value - saved, "W", Computed(f"{rated.value:g} W, less what the cap takes off its accelerators")
    )


def _rated_node_power(parts: Parts) -> Figure | None:
    """The power of a node of the platform, or its share of the rack, with the accelerators of the spec."""
    platform = parts.platform
    if platform is None or parts.per_node != (platform.accelerators_per_node or parts.per_node):
        return None
    if platform.power is not None:
        return _power_with_own_accelerators(platform.power, parts)
    share = share_of_rack(platform)
    return Figure(share, "W", Computed("rack_power / nodes_of_rack")) if share is not None else None


def _power_with_own_accelerators(rated: Figure, parts: Parts) -> Figure | None:
    """The power of the platform's node with the accelerators of the spec; None if theirs is not known."""
    sold = parts.lookup.named_entry("accelerator", parts.platform.accelerator) if parts.platform else None
    own = parts.accelerator.power
    if not isinstance(sold, Accelerator) or sold.power is None or own is None or own.value == sold.power.value:
        return rated
    more = parts.per_node * (own.value - sold.power.value)
    return Figure(rated.value + more, "W", Computed("power of the platform, with the power of these accelerators"))
