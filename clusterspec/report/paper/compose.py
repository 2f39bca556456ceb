"""Composition of reports: the order of sections by kind of report, and the sections on step time and memory."""

from __future__ import annotations

from clusterspec.cost.plan import Plan
from clusterspec.document.comments import unwrapped_text
from clusterspec.report import cost_text
from clusterspec.report import estimate_rows as traffic
from clusterspec.report.charts.bars import (
    SentBytes,
    StackPart,
    StackRow,
    capacity_chart,
    stack_rows_chart,
    timeline_chart,
    traffic_matrix,
)
from clusterspec.report.charts.log_plots import RooflinePoint, roofline_chart
from clusterspec.report.charts.svg import cause_of
from clusterspec.report.paper import (
    acceptance,
    appendix,
    choices,
    comparison,
    decision,
    delivery,
    failures,
    machine,
    materials,
    options,
    running,
    serving,
)
from clusterspec.report.paper.blocks import (
    Block,
    Paper,
    PaperTable,
    Picture,
    Section,
    TableColumn,
    TableRow,
    Text,
    TitleFact,
)
from clusterspec.report.paper.facility import facility_section
from clusterspec.report.paper.steps import layer_picture, range_text, rl_section, schedule_picture
from clusterspec.report.paper.story import story_section
from clusterspec.report.paper.words import catalog_names, name_in_sentence, worded_section
from clusterspec.results import EstimateReport, counts_by_severity
from clusterspec.results.estimate_json import root_terms
from clusterspec.results.full import FullReport
from clusterspec.results.machine import Roofline
from clusterspec.results.verdict import VerdictStatus
from clusterspec.standard import sum_of
from clusterspec.units import display, percent, plural, portion

# The step: timeline, communication by axis and tier, kernels, and memory

COMPUTED = frozenset({"forward", "backward", "recomputation", "optimizer"})
"""Parts of a step in which the accelerators compute."""
LEAST = 0.004
"""Parts of a step with less than this share are drawn as one."""


def step_section(report: FullReport) -> Section | None:
    """The time of one optimizer step by part."""
    plan = report.estimate.plan
    if plan.step_time is None:
        return None
    blocks: list[Block] = [timeline_of(plan), *schedule_picture(report.schedule), *layer_picture(plan.step)]
    if plan.rl is not None and (lost := decision.losses_picture(report)) is not None:
        blocks.append(lost)
    blocks += [_traffic_picture(plan)] if plan.communication else []
    if report.roofline and report.roofline.kernels:
        blocks += _roofline_blocks(report.roofline)
    if plan.communication:  # tables, which pages divide, after drawings
        blocks.append(_communication_table(plan))
        blocks += [table] if (table := running.groups_table(report.groups)) is not None else []
    held = report.estimate.condition
    low, high = plan.step_time_range or (plan.step_time.value, plan.step_time.value)
    band = f"{display(low, 's')} to {display(high, 's')}"
    minibatch = " on one minibatch" if plan.is_update else ""
    lead = f"One optimizer step{minibatch} takes {display(plan.step_time.value, 's')} (range {band})"
    return Section(
        "step",
        "Update of one minibatch" if plan.is_update else "Step time",
        tuple(blocks),
        lead=lead + (f" {held}." if held else ".") + range_text(report, high / low),
    )


def timeline_of(plan: Plan) -> Picture:
    """The parts of a step in order, with the overlapped communication below."""
    assert plan.step_time is not None
    total = plan.step_time.value
    parts = [part for part in plan.step_time.parts if part.value > 0]
    small = [part for part in parts if part.value < LEAST * total]
    kept = [part for part in parts if part not in small] if len(small) > 1 else parts
    shown = [StackPart(part.label, cause_of(part.name), part.value, display(part.value, "s")) for part in kept]
    if len(small) > 1:
        rest = sum_of(part.value for part in small)
        shown.append(StackPart(f"{len(small)} smaller parts", "overhead", rest, display(rest, "s")))
    hidden: dict[str, float] = {}
    for row in plan.communication:
        hidden[row.axis] = hidden.get(row.axis, 0.0) + max(0.0, row.seconds - row.exposed)
    under = [
        StackPart(axis, cause_of(axis), value, display(value, "s"))
        for axis, value in hidden.items()
        if value > LEAST * total
    ]
    alt = "; ".join(f"{part.label} {part.value_text}" for part in shown)
    computed = sum_of(part.value for part in parts if part.name in COMPUTED)
    caption = f"One step: {percent(computed / total, 2)} is computation; the communication below it overlaps"
    return Picture(timeline_chart(shown, under, lambda tick: display(tick, "s"), alt), caption, "estimate.terms[0]")


def _traffic_picture(plan: Plan) -> Picture:
    assert plan.step_time is not None
    step = plan.step_time.value
    sums: dict[tuple[str, str], list[float]] = {}
    for row in plan.communication:
        if row.bytes and row.seconds > 0:
            cell = sums.setdefault((row.axis, row.tier), [0.0, 0.0])
            cell[0] += row.bytes
            cell[1] += row.seconds
    cells = {
        place: SentBytes(display(sent, "B"), seconds / step, f"{portion(seconds / step)} of the step")
        for place, (sent, seconds) in sums.items()
    }
    axes, tiers = (list(dict.fromkeys(place[k] for place in sums)) for k in (0, 1))
    alt = "; ".join(f"{axis} on {tier}: {cell.value_text}, {cell.busy_text}" for (axis, tier), cell in cells.items())
    busy = {tier: sum_of(cell.busy for place, cell in cells.items() if place[1] == tier) for tier in tiers}
    tier = max(busy, key=lambda each: busy[each])
    caption = f"Bytes of each axis on each tier; {tier} links are the busiest, for {portion(busy[tier])} of the step"
    return Picture(traffic_matrix(axes, tiers, cells, alt), caption, "estimate.communication")


def _communication_table(plan: Plan) -> PaperTable:
    keys = ("axis", "collective", "tier", "ranks", "calls", "bytes", "seconds", "exposed")
    columns = tuple(
        TableColumn(head.capitalize(), "right" if number in traffic.NUMBERS else "left", key)
        for number, (head, key) in enumerate(zip(traffic.HEADS, keys, strict=True))
    )
    rows = tuple(
        TableRow(traffic.communication_row(row), f"estimate.communication[{number}]")
        for number, row in enumerate(plan.communication)
    )
    return PaperTable(columns, rows, "estimate.communication", caption="Communication in one step, per accelerator")


def _roofline_blocks(roofline: Roofline) -> tuple[Picture, PaperTable]:
    """The roofline with numbered kernels, and their names with rate and share of the time."""
    spent = sum_of(kernel.seconds for kernel in roofline.kernels)
    ranked = sorted(enumerate(roofline.kernels), key=lambda pair: -pair[1].seconds)
    points = [RooflinePoint(one.name, one.intensity, one.rate, one.seconds / spent) for _, one in ranked]
    rows = tuple(
        TableRow(
            (f"{number} {one.name}", display(one.rate, "FLOP/s"), portion(one.seconds / spent)),
            f"roofline.kernels[{place}]",
        )
        for number, (place, one) in enumerate(ranked, 1)
    )
    columns = (
        TableColumn("Kernel", key="name"),
        TableColumn("Rate", "right", "rate"),
        TableColumn("Of the time", "right", "seconds"),
    )
    names = PaperTable(columns, rows, "roofline.kernels", caption="The kernels of the roofline")
    alt = "; ".join(f"{point.label}: {display(point.rate, 'FLOP/s')}" for point in points)
    most = points[0]
    share = portion(most.rate / roofline.peak)
    caption = f"Roofline of one rank in all passes: {most.label} takes most, at {share} of the peak"
    drawn = roofline_chart(roofline.peak, roofline.bandwidth, points, alt)
    return Picture(drawn, caption, "roofline"), names


def memory_section(report: FullReport) -> Section | None:
    """The memory of the fullest accelerator by part."""
    plan = report.estimate.plan
    use = plan.memory
    if use is None:
        return None
    order = (use.weights, use.gradients, use.activations, use.optimizer, use.other)
    slices = [
        StackPart(part.label, cause_of(part.name), part.value, display(part.value, "B")) for part in order if part.value
    ]
    capacity = use.capacity.value if use.capacity else None
    alt = "; ".join(f"{part.label} {part.value_text}" for part in slices)
    drawn = capacity_chart(slices, capacity, plan.memory_range, lambda tick: display(tick, "B"), alt)
    share = f", {percent(use.total.value / capacity)} of {plan.capacity_text}" if capacity else ""
    caption = f"Memory of the fullest accelerator: {display(use.total.value, 'B')}{share}"
    columns = (
        TableColumn("Part", key="name"),
        TableColumn("Bytes", "right", "value"),
        TableColumn("Formula", key="formula"),
    )
    parts = use.total.parts
    root = f"estimate.terms[{[term.name for term in root_terms(plan)].index(use.total.name)}]"
    rows = [
        TableRow((part.label, display(part.value, "B"), part.formula), f"{root}.parts[{number}]")
        for number, part in enumerate(parts)
    ]
    rows.append(TableRow((use.total.label, display(use.total.value, "B"), use.total.formula), root, total=True))
    table = PaperTable(columns, tuple(rows), root)
    fullest = Picture(drawn, caption, "estimate.memory")
    return Section(
        "memory", "Memory", (fullest, *_stage_pictures(report, capacity), *_longest_sequence_text(report), table)
    )


def _longest_sequence_text(report: FullReport) -> tuple[Text, ...]:
    """The longest sequence that fits, where it is known."""
    found = report.longest
    if found is None:
        return ()
    tokens = f"{found.tokens:,} tokens"
    if found.model is not None:
        text = f"Sequences of {tokens} fit with this layout; the model takes {found.model:,} at most."
    elif found.reached:
        text = f"Sequences of {tokens} fit with this layout; longer ones were not tried."
    else:
        text = f"The longest sequence that fits with this layout has {tokens}, in steps of {found.step:,}."
    return (Text(f"{text} Everything else is as designed.", "longest_sequence.tokens"),)


def _stage_pictures(report: FullReport, capacity: float | None) -> tuple[Picture, ...]:
    """The memory of each pipeline stage, if there are several."""
    names = ("weights", "gradients", "activations", "optimizer", "other")
    stages = [
        StackRow(
            f"stage {one.stage}",
            tuple(StackPart(name, name, value, display(value, "B")) for name in names if (value := getattr(one, name))),
        )
        for one in report.stages
    ]
    if len(stages) < 2:
        return ()
    alt = "; ".join(f"stage {one.stage}: {display(one.total, 'B')}" for one in report.stages)
    drawn = stack_rows_chart(
        stages, lambda tick: display(tick, "B"), alt, name="stages", capacity=capacity, legend=False
    )
    fullest = max(report.stages, key=lambda one: one.total)
    return (
        Picture(drawn, f"Memory by pipeline stage, in the same colors; stage {fullest.stage} is the fullest", "stages"),
    )


KINDS = {"design": "Design report", "procurement": "Procurement report"}


def compose(report: FullReport) -> Paper:
    """The paper of a report: a design report for engineers, a procurement report for buyers."""
    design, verdict = report.estimate.design, report.estimate.verdict
    sections = design_sections(report) if report.kind == "design" else procurement_sections(report)
    document, tool = design.spec.document, report.estimate.tool
    return Paper(
        title=report.title,
        kind=KINDS[report.kind] + (" for tender" if report.tender else ""),
        subtitle=subtitle(report.estimate),
        description=unwrapped_text(design.spec.description or ""),
        verdict_block=decision.verdict_block(report),
        facts=title_facts(report),
        sections=tuple(section for section in sections if section is not None and section.blocks),
        colophon=f"clusterspec {tool.version}, catalog {tool.catalog}",
        tool=f"clusterspec {tool.version}",
        created=report.today.isoformat(),
        author=(document.author if document else None) or "",
        digest=report.estimate.input.sha256 or "",
        draft=verdict.status is VerdictStatus.FAILS,
        signatories=(document.signatories or ()) if document else (),
        signed=signed_facts(report),
        attachments=attachments(report),
    )


def design_sections(report: FullReport) -> list[Section | None]:
    """The sections of a design report, for engineers."""
    sections = [
        decision.decision_section(report),
        appendix.findings_section(report),
        comparison.comparison_section(report),
        story_section(report),
        machine.machine_section(report),
        machine.bandwidth_section(report),
        rl_section(report.estimate.plan.rl),
        step_section(report),
        serving.serving_section(report),
        memory_section(report),
        serving.plans_section(report),
        choices.survival_section(report),
        choices.layouts_section(report),
        _sensitivity_section(report),
        failures.reliability_section(report),
        facility_section(report),
        materials.materials_section(report),
        materials.cost_section(report),
        acceptance.acceptance_section(report),
        appendix.measurements_section(report),
        appendix.assumptions_section(report),
        appendix.formulas_section(report.estimate.plan),
        appendix.sources_section(report),
    ]
    glossary = appendix.glossary_section(report, sections)
    return [*sections, glossary, running.launch_section(report), appendix.spec_section(report)]


def _sensitivity_section(report: FullReport) -> Section | None:
    """The effects of single changes, with other sizes of the machine where these have prices."""
    found = choices.sensitivity_section(report)
    if found is None or report.against:
        return found
    return Section(found.key, found.title, (*options.choice_blocks(report), *found.blocks), lead=found.lead)


def procurement_sections(report: FullReport) -> list[Section | None]:
    """The sections of a procurement report, for buyers."""
    sections = [
        decision.decision_section(report),
        comparison.comparison_section(report),
        materials.materials_section(report),
        materials.cost_section(report),
        facility_section(report),
        acceptance.acceptance_section(report),
        delivery.delivery_section(report),
        failures.failures_section(report),
        appendix.findings_section(report),
        appendix.measurements_section(report),
        appendix.assumptions_section(report, decisive=True),
        appendix.sources_section(report),
    ]
    sections.append(appendix.glossary_section(report, sections))
    designs = (report, *report.against)
    drawn = (one.estimate.design for one in designs)
    named = (catalog_names(each.cluster, each.layout, each.workload) for each in drawn)
    names = {key: name for each in named for key, name in each.items()}
    return [section and worded_section(section, names) for section in sections]


def subtitle(report: EstimateReport) -> str:
    """The machine and the work in one line."""
    cluster, workload = report.design.cluster, report.design.workload
    if cluster is None:
        return "The cluster cannot be resolved."
    bare = f"{cluster.accelerators_per_node} × {cluster.accelerator.name}"
    kind = name_in_sentence(cluster.platform.name) if cluster.platform else bare
    used = report.used_text()
    machines = f"{'uses ' if ' of ' in used else ''}{used} in {report.nodes_text(f' of {kind}')}"
    away = "".join(f", with {plural(n, 'accelerator')} of pool {name}" for name, n in report.accelerators_away.items())
    work = f", planned for {workload.model.name}" if workload else ""
    return machines[0].upper() + machines[1:] + away + work


def title_facts(report: FullReport) -> tuple[TitleFact, ...]:
    """The document data of the title page."""
    document = report.estimate.design.spec.document
    rows = [TitleFact("Spec", report.file, "input.file"), TitleFact("Date", report.today.isoformat(), "date")]
    if document:
        named = (("Revision", document.revision, "revision"), ("Author", document.author, "author"))
        rows += [TitleFact(name, value, f"document.{key}") for name, value, key in named if value]
    counted = counts_by_severity(report.estimate.findings)
    if not report.tender:
        open_ = f"{plural(counted['error'], 'error')}, {plural(counted['warning'], 'warning')}"
        rows.append(TitleFact("Open findings", open_, "estimate.summary"))
    rows.append(TitleFact("Audience", report.audience, "audience"))
    return tuple(rows)


def signed_facts(report: FullReport) -> tuple[TitleFact, ...]:
    """The signed data: document, revision, hash of the spec, amount, accepted waivers."""
    from clusterspec.procurement.amounts import money_text

    document, bill = report.estimate.design.spec.document, report.bill.bill
    rows = [
        TitleFact("Document", f"{KINDS[report.kind]}: {report.title}", "title"),
        TitleFact("Revision", (document.revision if document else None) or "none", "document.revision"),
        TitleFact("Date", report.today.isoformat(), "date"),
        TitleFact("SHA-256 of the spec", report.estimate.input.sha256 or "unknown", "input.sha256"),
    ]
    if report.purchase is not None and report.purchase.amount is not None:
        basis = {"quote": "as quoted", "prices": bill.total_title.lower(), "rent": "rent over the term"}
        amount = f"{report.purchase.amount} ({basis[report.purchase.basis]})"
        rows.append(TitleFact("Amount", amount, "purchase.amount"))
    elif bill.total is not None:
        amount = f"{money_text(bill.total, bill.currency)} ({bill.total_title.lower()})"
        rows.append(TitleFact("Amount", amount, "bill.total.price"))
    waived = [one.finding.rule for one in report.estimate.waived]
    if not report.tender:
        rows.append(TitleFact("Waivers accepted", ", ".join(dict.fromkeys(waived)) or "none", "waived"))
    return tuple(rows)


def attachments(report: FullReport) -> tuple[tuple[str, str, str], ...]:
    """The files inside a PDF: the spec, and the bill as CSV."""
    files = [(report.file if report.file.endswith((".yaml", ".yml")) else "spec.yaml", report.text, "The spec")]
    if report.bill.items:
        files.append(("bill.csv", cost_text.bill_csv(report.bill), "The bill of materials"))
        if report.kind == "procurement":
            files.append(("price-sheet.csv", cost_text.price_sheet_csv(report.bill), "Price sheet for suppliers"))
    return tuple(files)
