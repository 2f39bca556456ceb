"""Composition of reports: sections and their order by kind of report."""

from __future__ import annotations

from clusterspec.cluster.model import Design
from clusterspec.report import bill_text
from clusterspec.report.paper import appendix, choices, decision, delivery, machine, materials, options, serving, step
from clusterspec.report.paper.blocks import Block, Paper, Section, TitleFact
from clusterspec.results import count
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import VerdictStatus, used_text
from clusterspec.units import plural

KINDS = {"design": "Design report", "procurement": "Procurement report"}


def compose(report: FullReport) -> Paper:
    """The paper of a report: a design report for engineers, a procurement report for buyers."""
    design, verdict = report.estimate.design, report.estimate.verdict
    sections = design_sections(report) if report.kind == "design" else procurement_sections(report)
    document = design.spec.document
    tool = report.estimate.tool
    return Paper(
        title=report.title,
        kind=KINDS[report.kind] + (" for tender" if report.tender else ""),
        subtitle=subtitle(design),
        description=design.spec.description or "",
        verdict_block=decision.verdict_block(verdict, report.kind, tender=report.tender),
        facts=facts(report),
        sections=tuple(section for section in sections if section is not None and section.blocks),
        colophon=f"clusterspec {tool.version}, catalog {tool.catalog}",
        tool=f"clusterspec {tool.version}",
        created=report.today.isoformat(),
        author=(document.author if document else None) or "",
        digest=report.estimate.input.sha256 or "",
        draft=verdict.status is VerdictStatus.FAILS,
        signatories=(document.signatories or ()) if document else (),
        signed=signed(report),
        attachments=attachments(report),
    )


def design_sections(report: FullReport) -> list[Section | None]:
    """The sections of a design report, for engineers."""
    return [
        decision.section(report),
        appendix.findings(report),
        options.section(report),
        machine.section(report),
        machine.bandwidth(report),
        step.section(report),
        serving.section(report),
        step.memory(report),
        serving.plans(report),
        choices.survival(report),
        choices.layouts(report),
        choices.sensitivity(report),
        choices.reliability(report),
        materials.section(report),
        materials.cost(report),
        materials.acceptance(report),
        appendix.measured(report),
        appendix.assumptions(report),
        appendix.formulas(report.estimate.plan),
        appendix.sources(report),
        appendix.glossary(report),
        appendix.spec(report),
    ]


def procurement_sections(report: FullReport) -> list[Section | None]:
    """The sections of a procurement report, for buyers."""
    first = decision.section(report)
    more = [block for block in (delivery.risks(report),) if block is not None]
    blocks: tuple[Block, ...] = (*first.blocks, *more)
    cost = materials.cost(report)
    moved = materials.sensitivity(report)
    if cost is not None and moved is not None:
        cost = Section(cost.key, cost.title, (*cost.blocks, moved), cost.lead)
    return [
        Section(first.key, first.title, blocks),
        options.section(report),
        materials.section(report),
        cost,
        materials.acceptance(report),
        delivery.section(report),
        appendix.findings(report),
        appendix.measured(report),
        appendix.assumptions(report, decisive=True),
        appendix.sources(report),
        appendix.glossary(report),
    ]


def subtitle(design: Design) -> str:
    """The machine and the work in one line."""
    cluster, workload = design.cluster, design.workload
    if cluster is None:
        return "The cluster cannot be resolved."
    bare = f"{cluster.accelerators_per_node} × {cluster.accelerator.name}"
    kind = cluster.platform.name if cluster.platform else bare
    used = used_text(design)
    machines = f"{'uses ' if ' of ' in used else ''}{used} in {plural(cluster.nodes, 'node')} of {kind}"
    return machines[0].upper() + machines[1:] + (f", planned for {workload.model.name}" if workload else "")


def facts(report: FullReport) -> tuple[TitleFact, ...]:
    """The document data of the title page."""
    document = report.estimate.design.spec.document
    rows = [TitleFact("Spec", report.file, "input.file"), TitleFact("Date", report.today.isoformat(), "date")]
    if document:
        named = (("Revision", document.revision, "revision"), ("Author", document.author, "author"))
        rows += [TitleFact(name, value, f"document.{key}") for name, value, key in named if value]
    counted = count(report.estimate.findings)
    if not report.tender:
        open_ = f"{plural(counted['error'], 'error')}, {plural(counted['warning'], 'warning')}"
        rows.append(TitleFact("Open findings", open_, "estimate.summary"))
    rows.append(TitleFact("Audience", report.audience, "audience"))
    return tuple(rows)


def signed(report: FullReport) -> tuple[TitleFact, ...]:
    """The signed data: document, revision, hash of the spec, amount, accepted waivers."""
    from clusterspec.procurement.money import money

    document, bill = report.estimate.design.spec.document, report.bill.bill
    rows = [
        TitleFact("Document", f"{KINDS[report.kind]}: {report.title}", "title"),
        TitleFact("Revision", (document.revision if document else None) or "none", "document.revision"),
        TitleFact("Date", report.today.isoformat(), "date"),
        TitleFact("SHA-256 of the spec", report.estimate.input.sha256 or "unknown", "input.sha256"),
    ]
    if bill.total is not None:
        rows.append(
            TitleFact("Amount", f"{money(bill.total, bill.currency)} ({bill.total_title.lower()})", "bill.total.price")
        )
    waived = [one.finding.rule for one in report.estimate.waived]
    if not report.tender:
        rows.append(TitleFact("Waivers accepted", ", ".join(dict.fromkeys(waived)) or "none", "waived"))
    return tuple(rows)


def attachments(report: FullReport) -> tuple[tuple[str, str, str], ...]:
    """The files inside a PDF: the spec, and the bill as CSV."""
    files = [(report.file if report.file.endswith((".yaml", ".yml")) else "spec.yaml", report.text, "The spec")]
    if report.bill.items:
        files.append(("bill.csv", bill_text.csv(report.bill), "The bill of materials"))
    return tuple(files)
