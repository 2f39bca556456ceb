"""The machine: its parts, its connections, and the impact of single failures."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cluster.requests import Engines
from clusterspec.report.charts.links import DotRow, dot_chart
from clusterspec.report.paper.blocks import (
    Block,
    PaperTable,
    Picture,
    Section,
    TableColumn,
    TableRow,
    Text,
    embedded_json,
)
from clusterspec.report.paper.drawings import machine_pictures
from clusterspec.report.paper.link_drawings import TIER_TINTS
from clusterspec.report.paper.network_rows import network_blocks
from clusterspec.report.paper.running import collectives_by_size, collectives_table
from clusterspec.results.full import FullReport
from clusterspec.results.machine import Machine, Pod, Tier
from clusterspec.spec.model import NetworkSpec
from clusterspec.units import bandwidth_readings, display, display_bits, percent, plain, plural


def machine_section(report: FullReport) -> Section | None:
    """A summary of the machine, a diagram, and its points of failure."""
    machine = report.machine
    if machine is None:
        return None
    blocks: list[Block] = [summary_table(report.estimate.design, machine), *machine_pictures(report)]
    if report.bill.why:
        there = any(text.endswith(report.bill.why) for text in report.bill.bill.not_counted)
        blocks.append(Text(f"No fabric {'is drawn' if there else 'to build'}: {report.bill.why}.", "bill.why"))
    if machine.failures and machine.accelerators > machine.domain:
        blocks.append(_failures_table(machine))
    return Section("machine", "The machine", tuple(blocks))


def summary_table(design: Design, machine: Machine) -> PaperTable:
    """A summary of the design."""
    rows = [*_machine_rows(design.cluster), *_fabric_rows(machine)] if design.cluster else []
    rows += _network_rows(design)
    work, layout = design.workload, design.layout
    if work:
        rows.append(TableRow(("Model", work.model.name), "estimate.parameters"))
        rows += _work_rows(work)
    if layout:
        rows += layout_rows(layout, work)
    return PaperTable((TableColumn("What"), TableColumn("As designed")), tuple(rows), "estimate")


def layout_rows(layout: Layout, work: Workload | None) -> Iterator[TableRow]:
    """The degrees of a layout in one row; for a serving plan, the engines, with prefill and decode in separate rows."""
    if work and work.kind == "serve":
        yield from _engine_rows(layout, work)
        return
    degrees = f"tp {layout.tp} × cp {layout.cp} × pp {layout.pp} × dp {layout.dp}"
    degrees += f", ep {layout.ep}" if layout.ep > 1 else ""
    schedule = f", {layout.schedule}" if layout.pp > 1 else ""
    yield TableRow(("Layout", f"{degrees}; {layout.sharding}{schedule}"), "estimate.layout")


def _work_rows(work: Workload) -> Iterator[TableRow]:
    if work.serving is None:
        batch = f"{plural(work.global_batch, 'sequence')} of {work.sequence_length:,} tokens"
        if (rl := work.rl) is not None:
            samples = plural(rl.samples // rl.minibatches, "sample")
            batch = f"{samples} of {display(rl.sample_tokens, '1')} tokens in the mean, packed into {batch}"
        yield TableRow(("Batch and precision", f"{batch}, {work.precision}"), "spec")
        if work.tokens and work.steps_of_run and work.kind == "train":
            of_step = rl.step_tokens if rl else work.tokens_of_step
            steps = f"{work.steps_of_run:,} of {display(of_step, '1')} tokens each"
            updates = f", {rl.updates:,} optimizer steps in each" if rl and rl.updates > 1 else ""
            yield TableRow(("Steps of the run", f"{steps}{updates}, {display(work.tokens, '1')} in all"), "spec")
        return
    load = work.serving
    tokens = f"{load.input_tokens:,} input and {load.output_tokens:,} output tokens"
    flight = f", {load.concurrency:,} in flight" if load.concurrency else ""
    arriving = f", {plain(load.request_rate)} per second" if load.request_rate else ""
    yield TableRow(("Requests", f"{tokens}{flight}{arriving}"), "spec")
    kept = f"weights {work.parameter_precision}, cache {work.kv_precision}"
    experts = f", experts {work.expert_parameter_precision}" if work.model.experts else ""
    yield TableRow(("Precision", f"{work.precision}; {kept}{experts}"), "spec")


def _engine_rows(layout: Layout, work: Workload) -> Iterator[TableRow]:
    """The engines of a serving plan; separate rows for prefill and decode where they are separate."""
    prefill = work.serving.prefill if work.serving else None
    own = Engines(layout.dp, layout.tp, layout.attention_dp, layout.ep, layout.expert_tp, layout.pp)
    for name, found in (("Prefill", prefill), ("Decode" if prefill else "Engines", own)):
        if found is not None:
            yield TableRow((name, _engines_text(found)), "estimate.layout")


def _engines_text(engines: Engines) -> str:
    degrees = [("tp", engines.tp), ("attention_dp", engines.attention_dp), ("ep", engines.ep), ("pp", engines.pp)]
    shown = ", ".join(f"{name} {degree}" for name, degree in degrees if degree > 1 or name == "tp")
    return f"{plural(engines.replicas, 'engine')} of {plural(engines.ranks, 'rank')}: {shown}"


def _machine_rows(cluster: Cluster) -> Iterator[TableRow]:
    up, out = cluster.scale_up, cluster.scale_out
    spares = f" and {plural(cluster.spare_nodes, 'spare')}" if cluster.spare_nodes else ""
    machines = f"{plural(cluster.nodes, 'node')} of {cluster.accelerators_per_node}{spares}"
    yield TableRow(("Accelerators", f"{cluster.accelerators:,} × {cluster.accelerator.name}"), "machine.accelerators")
    yield TableRow(("Nodes", machines), "machine.nodes")
    if up.domain > 1:
        name = up.interconnect.name if up.interconnect else up.topology
        rate = f"{display(up.bandwidth.value, 'B/s')} each way"
        spans = nodes_of_domain(cluster) > 1 and cluster.nodes % nodes_of_domain(cluster) == 0
        domains = plural(cluster.nodes // nodes_of_domain(cluster), "domain") if spans else "domain"
        yield TableRow(("Scale-up", f"{name}, {up.topology}, {domains} of {up.domain:,}, {rate}"), "machine.domain")
    if out:
        nics = f"{out.nics_per_node} × {display_bits(out.nic_bandwidth.value)} per node"
        topology = "topology not stated" if out.topology == "unknown" else out.topology
        planes = f", {plural(out.planes, 'plane')}" if out.planes > 1 else ""
        yield TableRow(("Scale-out", f"{out.technology.name}, {nics}, {topology}{planes}"), "machine.nics_per_node")


def _fabric_rows(machine: Machine) -> Iterator[TableRow]:
    """The oversubscription of the fabric's levels, its bisection bandwidth, and the nodes that can still be added."""
    tapers = [(number, row) for number, row in enumerate(machine.rows) if row.ratio is not None]
    if tapers:
        text = ", ".join(f"{plain(row.ratio or 0.0)}:1 above the {row.name}" for _, row in tapers)
        yield TableRow(("Oversubscription", text), f"machine.rows[{tapers[0][0]}].ratio")
    if machine.bisection is not None:
        text = f"{display(machine.bisection, 'B/s')} each way between two halves"
        yield TableRow(("Bisection", text), "machine.bisection")
    if machine.free_leaf_ports is not None and machine.nics_per_node:
        nodes = machine.free_leaf_ports // (machine.nics_per_node * max(1, machine.planes))
        more = f", for {plural(nodes, 'more node')}" if nodes else ""
        yield TableRow(("Free leaf ports", f"{machine.free_leaf_ports:,}{more}"), "machine.free_leaf_ports")
    counted = [(number, row) for number, row in enumerate(machine.rows) if row.ports is not None]
    if counted:
        text = ", ".join(f"{row.used or 0:,} of {row.ports:,} on {row.name}" for _, row in counted)
        yield TableRow(("Ports in use", text), f"machine.rows[{counted[0][0]}].ports")
    yield from _more_nodes_rows(machine)


def _more_nodes_rows(machine: Machine) -> Iterator[TableRow]:
    """The nodes that can still be added, for each limit: switch ports, racks and power."""
    more = machine.more_nodes
    if more is None:
        return
    limits = (
        ("switches", "with more switches of the same tiers", more.switches),
        ("racks", "in the last rack", more.racks),
        ("power", "within the power budget", more.power),
    )
    known = [(key, f"{count:,} {where}") for key, where, count in limits if count is not None]
    if known:
        yield TableRow(("More nodes", ", ".join(text for _, text in known)), f"machine.more_nodes.{known[0][0]}")


NETWORKS = (("Storage network", "storage"), ("Frontend network", "frontend"), ("Management", "out_of_band"))


def _network_rows(design: Design) -> Iterator[TableRow]:
    """The load balancing of the fabric, and the other networks as stated."""
    cluster, written = design.cluster, design.spec.cluster
    out = cluster.scale_out if cluster is not None and not cluster.cloud and cluster.all_nodes > 1 else None
    if out is not None:
        control = [name for name, on in (("PFC", out.pfc), ("ECN", out.ecn)) if on]
        parts = (out.load_balancing or "load balancing not stated", " and ".join(control))
        yield TableRow(("Routing", ", ".join(part for part in parts if part)), "spec")
    for label, key in NETWORKS:
        found = getattr(written.networks, key) if written is not None and written.networks is not None else None
        if found is not None:
            yield TableRow((label, _network_text(found)), "spec")


def _network_text(network: NetworkSpec) -> str:
    """A network as stated: `2 × 200 Gb/s per node, 400 GB/s in all, 4 PB`."""
    rate, nics = network.nic_bandwidth, network.nics_per_node
    links = f"{nics} × {rate.written} per node" if rate and nics else f"{rate.written} per node" if rate else ""
    parts = (
        f"shares the {network.shares.replace('_', '-')} network" if network.shares else "",
        links,
        f"{network.bandwidth.written} in all" if network.bandwidth else "",
        network.capacity.written if network.capacity else "",
    )
    return ", ".join(part for part in parts if part) or "stated without a rate"


def _failures_table(machine: Machine) -> PaperTable:
    columns = (
        TableColumn("Failed part", key="part"),
        TableColumn("Lost", "right", "lost"),
        TableColumn("Of what", key="who"),
    )
    rows = tuple(
        TableRow((one.part[0].upper() + one.part[1:], percent(one.lost), one.who), f"machine.failures[{number}]")
        for number, one in enumerate(machine.failures)
    )
    return PaperTable(columns, rows, "machine.failures", caption="Effect of single failures")


def _bandwidth_ratio_text(tiers: tuple[Tier, ...]) -> str:
    """The ratio of an accelerator's memory bandwidth to its bandwidth between nodes, in words."""
    first, last = (next((tier for tier in tiers if tier.kind == kind), None) for kind in ("memory", "scale-out"))
    if first is None or last is None or not last.line_rate:
        return ""
    return f": between nodes {plain(first.line_rate / last.line_rate, 2)} times less than in memory"


def bandwidth_section(report: FullReport) -> Section | None:
    """The bandwidth per accelerator on each tier, in all conventions."""
    if not report.tiers:
        return None
    rows = [
        DotRow(tier.name, TIER_TINTS[tier.kind], tier.line_rate, tier.predicted, tier.measured, _reach_text(tier))
        for tier in report.tiers
    ]
    alt = "; ".join(f"{row.label}: {display(row.line_rate, 'B/s')}" for row in rows)
    data = embedded_json([tier.to_json() for tier in report.tiers])
    picture = Picture(
        dot_chart(rows, alt),
        f"Bandwidth of one accelerator on each tier{_bandwidth_ratio_text(report.tiers)}",
        "tiers",
        "pyramid",
        data,
    )
    lead = (
        "Line rates count one direction; memories count reads and writes together. Predictions are for long "
        "messages when all accelerators send: an all-gather inside a domain, one message per accelerator elsewhere."
    )
    costs = _communication_costs_table(report.tiers)
    tables: tuple[Block | None, ...] = (
        costs,
        _readings_table(report.tiers),
        _paths_table(report.pod),
        *network_blocks(report.networks, report.estimate.condition),
        *collectives_by_size(report.collectives),
        collectives_table(report.collectives),
    )
    blocks = (picture, *(table for table in tables if table is not None))
    return Section("bandwidth", "Bandwidth", blocks, lead=lead)


def _reach_text(tier: Tier) -> str:
    return plural(tier.accelerators, "accelerator") if tier.accelerators > 1 else ""


def _readings_table(tiers: tuple[Tier, ...]) -> PaperTable:
    columns = (
        TableColumn("Tier", key="name"),
        TableColumn("Each way", "right", "line_rate"),
        TableColumn("Both ways", "right", "duplex"),
        TableColumn("Each way, bits", "right", "bits"),
        TableColumn("Predicted", "right", "predicted"),
        TableColumn("Measured", "right", "measured"),
        TableColumn("Source", key="origin"),
    )
    rows = tuple(
        TableRow(
            (
                tier.name,
                display(tier.line_rate, "B/s"),
                "–" if tier.duplex is None else display(tier.duplex, "B/s"),
                "–" if tier.duplex is None else bandwidth_readings(tier.line_rate, 3).one_way_bits,
                display(tier.predicted, "B/s") if tier.predicted else "–",
                display(tier.measured, "B/s") if tier.measured else "–",
                tier.origin,
            ),
            f"tiers[{number}]",
        )
        for number, tier in enumerate(tiers)
    )
    return PaperTable(columns, rows, "tiers", caption="All bandwidth conventions of each tier")


def _paths_table(pod: Pod | None) -> PaperTable | None:
    """The path of a message between two accelerators, by the switches passed; None if all paths are alike."""
    if pod is None or len({one.switches for one in pod.classes}) < 2:
        return None
    columns = (
        TableColumn("Two accelerators in", key="name"),
        TableColumn("Switches passed", "right", "switches"),
        TableColumn("Latency", "right", "latency"),
        TableColumn("Alone", "right", "bandwidth"),
        TableColumn("If all send", "right", "shared"),
        TableColumn("Narrowest", key="bottleneck"),
    )
    rows = tuple(
        TableRow(
            (
                one.name,
                f"{one.switches}" if one.switches else "–",
                display(one.latency, "s") if one.latency else "–",
                display(one.bandwidth, "B/s"),
                display(one.shared, "B/s"),
                one.bottleneck,
            ),
            f"pod.classes[{number}]",
        )
        for number, one in enumerate(pod.classes)
    )
    return PaperTable(columns, rows, "pod.classes", caption="Switches on a path, each way")


def _communication_costs_table(tiers: tuple[Tier, ...]) -> PaperTable | None:
    columns = (
        TableColumn("Tier", key="name"),
        TableColumn("Latency", "right", "latency"),
        TableColumn("Crossover size", "right", "crossover"),
    )
    rows = tuple(
        TableRow(
            (
                tier.name,
                display(tier.latency, "s") if tier.latency else "–",
                display(tier.crossover, "B") if tier.crossover else "–",
            ),
            f"tiers[{number}]",
        )
        for number, tier in enumerate(tiers)
        if tier.latency
    )
    if not rows:
        return None
    caption = "One message between two accelerators: below the crossover size, latency takes most of the time"
    return PaperTable(columns, rows, "tiers", caption=caption)
