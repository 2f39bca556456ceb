"""Puts a report together: which sections, in which order, for whom."""

from __future__ import annotations

from clusterspec.cluster.model import Cluster, Design
from clusterspec.cost.plan import Plan
from clusterspec.report.paper import closing, costs, materials, rates
from clusterspec.report.paper.blocks import Card, Cards, Column, Paper, Section, Table, Tone, Verdict
from clusterspec.results import EstimateReport, FullReport, count
from clusterspec.units import percent, plural, say, say_bits

KINDS = {"design": "Design report", "procurement": "Procurement report"}


def compose(report: FullReport) -> Paper:
    """The paper of a report: a design report for engineers, a procurement report for buyers."""
    estimate, design = report.estimate, report.estimate.design
    sections = design_sections(report) if report.kind == "design" else procurement_sections(report)
    asked = design.spec.document
    return Paper(
        title=design.spec.name or design.spec.file,
        kind=KINDS[report.kind],
        subtitle=subtitle(design),
        description=design.spec.description or "",
        verdict=verdict(report),
        facts=facts(report),
        sections=tuple(section for section in sections if section is not None),
        colophon=colophon(estimate),
        signatories=(asked.signatories or ()) if asked else (),
    )


def colophon(estimate: EstimateReport) -> str:
    """Which program read which text."""
    tool, digest = estimate.tool, (estimate.input.sha256 or "unknown")[:16]
    return f"clusterspec {tool.version}, catalog {tool.catalog}, input sha256 {digest}"


def design_sections(report: FullReport) -> list[Section | None]:
    """For engineers: what it is, what it does, what is wrong with it, and why we think so."""
    estimate = report.estimate
    plan, cluster = estimate.plan, estimate.design.cluster
    return [
        Section("glance", "At a glance", (Cards(cards(plan)), glance(estimate.design))),
        closing.findings(estimate.findings, estimate.sources),
        rates.section(cluster) if cluster else None,
        costs.time(plan),
        costs.memory(plan.memory) if plan.memory else None,
        materials.section(report.bill, prices=False),
        materials.proofs(report.proofs, report.estimate.design.spec.acceptance or ()),
        closing.measured(plan),
        closing.assumptions(plan),
        closing.formulas(plan),
        closing.sources(closing.figures_of(plan)),
    ]


def procurement_sections(report: FullReport) -> list[Section | None]:
    """For buyers: what to order, what it must show, what is open. A tender carries no prices."""
    estimate = report.estimate
    cluster = estimate.design.cluster
    internal = report.audience == "internal"
    return [
        Section("glance", "At a glance", (Cards(cards(estimate.plan)), glance(estimate.design))),
        materials.section(report.bill, prices=internal and any(item.price_text for item in report.bill.items)),
        rates.section(cluster) if cluster else None,
        materials.proofs(report.proofs, report.estimate.design.spec.acceptance or ()),
        closing.findings(estimate.findings, estimate.sources) if internal else None,
        closing.measured(estimate.plan),
        closing.assumptions(estimate.plan),
        closing.sources(closing.figures_of(estimate.plan)),
    ]


def verdict(report: FullReport) -> Verdict:
    """One word and one sentence, from the findings and the fit."""
    counted = count(report.estimate.findings)
    errors, warnings = counted["error"], counted["warning"]
    if errors:
        return Verdict("Not ready", "bad", f"{plural(errors, 'error')} must be settled before this is built or run.")
    if report.estimate.plan.design.cluster is None:
        return Verdict("Incomplete", "fair", "The spec does not say enough to judge the machine.")
    if warnings:
        return Verdict(
            "Sound, with reservations", "fair", f"It works; {plural(warnings, 'warning')} cost it something."
        )
    return Verdict("Sound", "good", "Nothing stands against building and running it as written.")


def subtitle(design: Design) -> str:
    """The machine and the work in one line."""
    cluster, workload = design.cluster, design.workload
    if cluster is None:
        return "a cluster that cannot be settled yet"
    machine = (
        cluster.platform.name if cluster.platform else f"{cluster.accelerators_per_node} × {cluster.accelerator.name}"
    )
    said = f"{plural(cluster.accelerators, 'accelerator')} in {plural(cluster.nodes, 'node')} of {machine}"
    return said + (f", planned for {workload.model.name}" if workload else "")


def facts(report: FullReport) -> tuple[tuple[str, str], ...]:
    asked = report.estimate.design.spec.document
    rows = [("Spec", report.estimate.input.name), ("Date", report.today.isoformat())]
    if asked:
        rows += [(name, value) for name, value in (("Revision", asked.revision), ("Author", asked.author)) if value]
    if report.kind == "procurement":
        rows.append(("Audience", report.audience))
    return tuple(rows)


def cards(plan: Plan) -> tuple[Card, ...]:
    """The numbers to see first; what could not be computed is left out."""
    found = []
    if plan.step_time:
        band = plan.step_time_range
        note = f"{say(band[0], 's')} – {say(band[1], 's')}" if band else ""
        found.append(Card("Step time", say(plan.step_time.value, "s"), note))
    if plan.mfu is not None:
        found.append(Card("MFU", percent(plan.mfu), f"HFU {percent(plan.hfu)}" if plan.hfu is not None else ""))
    if plan.tokens_per_second_per_accelerator is not None:
        found.append(Card("Tokens per second", f"{plan.tokens_per_second_per_accelerator:,.0f}", "per accelerator"))
    if plan.memory and plan.memory.capacity:
        use, room = plan.memory.total.value, plan.memory.capacity.value
        tone: Tone = "good" if use <= 0.9 * room else "fair" if use <= room else "bad"
        found.append(Card("Memory", percent(use / room), f"{say(use, 'B')} of {say(room, 'B')}", tone))
    if plan.time_to_train is not None:
        found.append(Card("Time to train", say(plan.time_to_train, "s"), "without interruptions"))
    return tuple(found)


def glance(design: Design) -> Table:
    """The design in a dozen lines."""
    rows = machine_rows(design.cluster) if design.cluster else []
    work, layout = design.workload, design.layout
    if work:
        batch = f"{work.global_batch:,} sequences of {work.sequence_length:,} tokens"
        rows += [("Model", work.model.name), ("Batch", batch), ("Precision", work.precision)]
    if layout:
        degrees = f"tp {layout.tp} × cp {layout.cp} × pp {layout.pp} × dp {layout.dp}"
        rows.append(("Layout", degrees + (f", ep {layout.ep}" if layout.ep > 1 else "")))
        rows.append(("Sharding and schedule", f"{layout.sharding}, {layout.schedule}, recompute {layout.recompute}"))
    return Table((Column("What"), Column("As designed")), tuple(rows))


def machine_rows(cluster: Cluster) -> list[tuple[str, str]]:
    up, out = cluster.scale_up, cluster.scale_out
    spares = f" and {cluster.spare_nodes} spare" if cluster.spare_nodes else ""
    rows = [
        ("Accelerators", f"{cluster.accelerators:,} × {cluster.accelerator.name}"),
        ("Nodes", f"{cluster.nodes:,} with {cluster.accelerators_per_node} accelerators each{spares}"),
    ]
    if up.domain > 1:
        name = up.interconnect.name if up.interconnect else up.topology
        rows.append(
            ("Scale-up", f"{name}, {up.topology}, domain of {up.domain}, {say(up.bandwidth.value, 'B/s')} one way")
        )
    if out:
        nics = f"{out.nics_per_node} × {say_bits(out.nic_bandwidth.value)} per node"
        rows.append(("Scale-out", f"{out.technology.name}, {nics}, {out.topology}"))
    return rows
