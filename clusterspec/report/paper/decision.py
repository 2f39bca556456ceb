"""The first page: verdict, areas and waivers; for buyers the gates before a signature, and risks."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.money import Money
from clusterspec.procurement.amounts import rounded_text
from clusterspec.report.assumption_rows import change_text
from clusterspec.report.charts.bars import FallBar, waterfall_chart
from clusterspec.report.charts.svg import cause_of
from clusterspec.report.estimate_rows import verdict_word
from clusterspec.report.paper.blocks import (
    Block,
    Cards,
    PaperTable,
    Picture,
    Section,
    TableColumn,
    TableRow,
    Tone,
    VerdictBlock,
)
from clusterspec.report.paper.cards import headline_cards
from clusterspec.report.paper.choices import lever_text
from clusterspec.report.paper.options import choice_blocks, choice_name, difference_text
from clusterspec.report.paper.serving import request_pictures
from clusterspec.report.paper.steps import roles_picture
from clusterspec.report.paper.words import collective_words, name_in_sentence
from clusterspec.results.full import FullReport
from clusterspec.results.verdict import CLOSE, REQUESTS, Area, Gate, GateStatus, Purchase, Risk, Verdict, VerdictStatus
from clusterspec.units import display, percent, plain, plural, portion

TONES: dict[VerdictStatus, Tone] = {
    VerdictStatus.FAILS: "bad",
    VerdictStatus.RESERVATIONS: "fair",
    VerdictStatus.CLEAR: "good",
    VerdictStatus.NOT_JUDGED: "plain",
}
STATES: dict[str, tuple[str, Tone]] = {
    "good": ("holds", "good"),
    "tight": ("tight", "fair"),
    "bad": ("exceeded", "bad"),
    "open": ("not judged", "plain"),
}


LONG_REASON = 160
"""Maximum length of a reason in the first sentence of a procurement report. The gate below has the complete reason."""
SIGNING = {"do not sign": "Do not sign", "not ready": "Not ready to be signed", "ready": "Nothing against signing"}
"""The decision that a buyer takes from the gates."""
SIGNING_TONES: dict[str, Tone] = {"do not sign": "bad", "not ready": "fair", "ready": "good"}
GATES: dict[GateStatus, tuple[str, Tone]] = {
    GateStatus.FAILED: ("fails", "bad"),
    GateStatus.OPEN: ("open", "fair"),
    GateStatus.MET: ("met", "good"),
    GateStatus.NOT_NEEDED: ("not needed", "plain"),
}


def verdict_block(report: FullReport) -> VerdictBlock:
    """The verdict of the first page; for buyers the decision, with the objections to a signature."""
    purchase = report.signing
    if report.tender:
        return VerdictBlock(
            "For suppliers: the machine, the planned work and the required acceptance tests", "plain", (), ()
        )
    if purchase is None:
        cost = report.cost.cost
        return stated_verdict(report.estimate.verdict, cost.missing if cost and cost.total else ())
    better = report.choices.recommended_row if report.choices else None
    if better is not None and purchase.status == "ready":
        return VerdictBlock(f"Every gate is met, but {choice_name(better)} is recommended instead", "fair", (), ())
    return signing_block(purchase)


def signing_block(purchase: Purchase) -> VerdictBlock:
    """Whether a purchase may be signed, with the number of the gates against it."""
    failed, open_ = purchase.gates_with_status(GateStatus.FAILED), purchase.gates_with_status(GateStatus.OPEN)
    counted = [f"{plural(len(failed), 'gate')} fail{'s' if len(failed) == 1 else ''}"] if failed else []
    counted += [f"{plural(len(open_), 'gate')} {'is' if len(open_) == 1 else 'are'} open"] if open_ else []
    word = SIGNING[purchase.status] + (f": {', '.join(counted)}" if counted else ": every gate is met")
    return VerdictBlock(word, SIGNING_TONES[purchase.status], (), ())


def stated_verdict(verdict: Verdict, left_out: Sequence[str] = ()) -> VerdictBlock:
    """The verdict on a design with its reasons, for engineers; ``left_out`` are the parts that its cost omits."""
    partial = f"the cost is a partial sum: {plural(len(left_out), 'part')} not counted" if left_out else ""
    return VerdictBlock(verdict_word(verdict), TONES[verdict.status], verdict.reasons, verdict.not_judged, partial)


def decision_sentence(report: FullReport) -> str:
    """The first sentence of a procurement report: the purchase or rental, its price, and its purpose."""
    purchase, cluster = report.signing, report.estimate.design.cluster
    if purchase is None or cluster is None:
        return ""
    better = report.choices.recommended_row if report.choices else None
    verb = "Rent" if purchase.basis == "rent" or cluster.cloud else "Buy"
    if better is not None or purchase.status != "ready":
        verb = "Proposed rent:" if verb == "Rent" else "Proposed purchase:"
    what = machine_phrase(cluster, purchase.added_nodes)
    done = work_sentence(report)
    failed = sorted(purchase.gates_with_status(GateStatus.FAILED), key=lambda gate: gate.gate == "design")
    buying = report.estimate.design.spec.procurement
    amount = amount_phrase(purchase, buying.tax if buying is not None else None)
    sentences = [f"{verb} {what} for {amount}.", *([f"It {done}."] if done else [])]
    if better is not None and report.choices is not None:
        sentences.append(f"Recommended instead: {choice_name(better)}, {difference_text(report.choices, better)}.")
    sentences += [f"Do not sign: {failure_phrase(failed[0], purchase)}."] if failed else []
    away = " and ".join(
        f"{plural(count, 'accelerator')} of pool {name}" for name, count in report.estimate.accelerators_away.items()
    )
    sentences += [f"The work also runs on {away}, which the amount leaves out."] if away else []
    sentences += risk_sentences(purchase)
    return " ".join(sentences)


def risk_sentences(purchase: Purchase) -> list[str]:
    """The largest risk in money, or in time where no amount is known; empty without one."""
    if not purchase.risks:
        return []
    risk = purchase.risks[0]
    if risk.money is not None:
        return [f"The largest risk: {risk.risk}, {rounded_text(risk.money)}."]
    return [f"The largest risk: {risk.risk}, {display(risk.seconds, 's')}."] if risk.seconds is not None else []


def machine_phrase(cluster: Cluster, added: int = 0) -> str:
    """The nodes with their accelerators, and the domains that several nodes form; for an expansion, the ``added`` nodes
    and the nodes in place.
    """
    nodes, each = cluster.all_nodes, cluster.accelerators_per_node
    if added:
        kind = name_in_sentence(cluster.platform.name) if cluster.platform else f"{each} {cluster.accelerator.name}"
        new = f"{added:,} more {'node' if added == 1 else 'nodes'} of {kind}"
        return f"{new} in addition to {nodes - added:,} in place ({plural(nodes * each, 'accelerator')} in all)"
    if cluster.platform is None:
        return f"{plural(nodes, 'node')} of {each} {cluster.accelerator.name}"
    of_domain = nodes_of_domain(cluster)
    whole = of_domain > 1 and nodes % of_domain == 0
    domains = f" in {plural(nodes // of_domain, 'domain')} of {cluster.scale_up.domain:,}" if whole else ""
    kind = name_in_sentence(cluster.platform.name)
    return f"{plural(nodes, 'node')} of {kind} ({plural(nodes * each, 'accelerator')}{domains})"


def failure_phrase(gate: Gate, purchase: Purchase) -> str:
    """The reason why a gate fails; only its first part if it is long. For a quote that lacks parts, their total
    value.
    """
    values = [part.missing for part in purchase.parts if part.has_too_few and part.missing is not None]
    if gate.gate == "quote" and values:
        return f"the quote lacks parts worth {rounded_text(Money.total(values))}{purchase.terms}"
    first, _, rest = gate.text.partition("; ")
    return f"{first} (all reasons below)" if rest and len(gate.text) > LONG_REASON else gate.text


def amount_phrase(purchase: Purchase, tax: float | None = None) -> str:
    """The amount, its source and, for a quote, its ``tax`` as a share, and the cost at the spec's prices."""
    if purchase.amount is None:
        return "an amount that the spec does not state"
    origin = {"quote": "as quoted", "prices": "at the prices of the spec", "rent": "over the term"}[purchase.basis]
    terms = f" with {percent(tax, 2)} tax" if tax and purchase.basis == "quote" else ""
    terms = purchase.terms if purchase.basis != "quote" else terms
    if purchase.basis == "quote" and purchase.expected is not None:
        whole = "for the whole machine at these prices" if purchase.added_nodes else "at the prices of the spec"
        terms += f"; {rounded_text(purchase.expected)} {whole}{purchase.terms}"
    return f"{rounded_text(purchase.amount)} ({origin}{terms})"


def work_sentence(report: FullReport) -> str:
    """The planned work of the machine: days of the run, or tokens per second."""
    plan, kept = report.estimate.plan, report.reliability
    work, held = plan.design.workload, report.estimate.condition
    if work is None:
        return ""
    tail = f", {held}" if held else ""
    if plan.serving is not None:
        rate = display(plan.serving.output_tokens_per_second, "1")
        if report.choices is not None and report.choices.of_targets and not report.choices.rows[0].holds_load:
            tail = f", outside its targets{tail}"
        return f"serves {work.model.name} with {rate} output tokens per second{tail}"
    seconds = (kept.with_interruptions if kept else None) or plan.time_to_train
    if seconds is None:
        if plan.rl is not None:  # the MFU of a plan is that of an update alone
            return f"trains {work.model.name} in steps of {display(plan.rl.step, 's')}{tail}"
        if plan.mfu is None or plan.is_update:
            return f"is planned to {'serve' if report.serves else 'train'} {work.model.name}{tail}"
        return f"trains {work.model.name} at {percent(plan.mfu)} MFU{tail}"
    tokens = f" on {display(work.tokens, '1')} tokens" if work.tokens else ""
    return f"trains {work.model.name}{tokens} in {display(seconds, 's')}{tail}"


def gates_table(purchase: Purchase) -> PaperTable:
    """The gates before a signature: failed gates, then open ones, then one line each for gates met and gates not
    needed.
    """
    rows = []
    for status in (GateStatus.FAILED, GateStatus.OPEN):
        word, tone = GATES[status]
        rows += [
            TableRow((gate.gate.capitalize(), gate.text, gate.ask, word), f"purchase.gates[{number}]", tone)
            for number, gate in enumerate(purchase.gates)
            if gate.status is status
        ]
    for status in (GateStatus.MET, GateStatus.NOT_NEEDED):
        if folded := purchase.gates_with_status(status):
            word, tone = GATES[status]
            texts = dict.fromkeys(gate.text for gate in folded)
            said = (f"{', '.join(gate.gate for gate in folded if gate.text == text)}: {text}" for text in texts)
            if len(folded) == 1:
                cells = (folded[0].gate.capitalize(), folded[0].text, "", word)
            else:
                cells = (plural(len(folded), "gate"), "; ".join(said), "", word)
            rows.append(TableRow(cells, "purchase.gates", tone, bare=True))
    columns = (
        TableColumn("Gate", key="gate"),
        TableColumn("Why", key="text"),
        TableColumn("What you have to do", key="ask"),
        TableColumn("Status", key="status"),
    )
    return PaperTable(columns, tuple(rows), "purchase.gates", caption="Before a signature")


def risks_of_purchase(purchase: Purchase) -> PaperTable | None:
    """The largest risks, in money and in time of the run."""
    if not purchase.risks:
        return None
    rows = tuple(_risk_row(risk, number) for number, risk in enumerate(purchase.risks))
    columns = (
        TableColumn("Risk", key="risk"),
        TableColumn("Money", "right", "money"),
        TableColumn("Time", "right", "seconds"),
        TableColumn("Why", key="text"),
    )
    return PaperTable(columns, rows, "purchase.risks", caption="The largest risks")


def _risk_row(risk: Risk, number: int) -> TableRow:
    money = rounded_text(risk.money) if risk.money is not None else "–"
    time = display(risk.seconds, "s") if risk.seconds is not None else "–"
    return TableRow((risk.risk.capitalize(), money, time, risk.text), f"purchase.risks[{number}]")


def decision_section(report: FullReport) -> Section:
    """Headline figures, the verdict by area, and the waivers."""
    blocks: list[Block] = []
    if report.signing is not None:
        blocks += choice_blocks(report)
        blocks += [risks] if (risks := risks_of_purchase(report.signing)) is not None else []
        blocks.append(gates_table(report.signing))
    if shown := headline_cards(report):
        blocks.append(Cards(shown))
    if report.estimate.plan.rl is None:
        blocks += [block for block in (losses_picture(report), gains_table(report)) if block is not None]
    elif report.kind == "design":
        blocks.append(roles_picture(report.estimate.plan.rl))
    blocks += request_pictures(report) if report.kind == "design" else ()
    areas = [(number, area) for number, area in enumerate(report.areas) if not _has_gate(report, area)]
    if areas and not report.tender:
        blocks.append(areas_table(areas))
    if report.estimate.waived and not report.tender:
        blocks.append(waivers_table(report))
    title = "Decision" if report.kind == "procurement" and not report.tender else "At a glance"
    return Section("decision", title, tuple(blocks), lead=decision_sentence(report))


def losses_picture(report: FullReport) -> Picture | None:
    """A chart of the losses between peak and achieved rate, in the order of the step."""
    mfu = report.estimate.plan.mfu
    if not report.losses or mfu is None:
        return None
    bars = [
        FallBar(loss.label, LOSS_TINTS.get(loss.name) or cause_of(loss.name), loss.share, f"−{percent(loss.share, 2)}")
        for loss in report.losses
        if loss.share > 0
    ]
    left = FallBar("achieved (MFU)", "good", mfu, percent(mfu))
    alt = f"peak 100 %; {'; '.join(f'{bar.label} {bar.value_text}' for bar in bars)}; achieved {percent(mfu)}"
    held = f", {report.estimate.condition}" if report.estimate.condition else ""
    drawn = waterfall_chart(bars, left, alt, start="peak of the accelerators")
    step = "update of a minibatch" if report.estimate.plan.is_update else "step"
    largest = max(bars, key=lambda bar: bar.share, default=None)
    most = f"; the largest loss is {largest.label}, {percent(largest.share, 2)}" if largest else ""
    return Picture(drawn, f"What limits the {step}, from peak to achieved FLOP/s{most}{held}", "losses")


LOSS_TINTS = {"products": "forward", "memory": "memory"}


def gains_table(report: FullReport) -> PaperTable | None:
    """The changes that shorten the step most, each alone."""
    if not report.gains:
        return None
    rows = tuple(
        TableRow(
            (
                gain.key.replace("_", " "),
                lever_text(gain.before, gain.unit),
                lever_text(gain.after, gain.unit),
                change_text(gain.share),
            ),
            gain.field,
            bare=True,
        )
        for gain in report.gains
    )
    columns = (
        TableColumn("Change"),
        TableColumn("From"),
        TableColumn("To"),
        TableColumn("Time for a token", "right"),
    )
    return PaperTable(columns, rows, "gains", caption="The changes that shorten the step most, each alone")


def _has_gate(report: FullReport, area: Area) -> bool:
    """Whether a gate of the purchase already states the result of an area."""
    return report.signing is not None and area.area == "budget"


def areas_table(areas: list[tuple[int, Area]]) -> PaperTable:
    """One row per area with its place in the report: binding constraint, value, limit and headroom."""
    columns = (
        TableColumn("Area", key="area"),
        TableColumn("Binding constraint", key="constraint"),
        TableColumn("Value", "right", "value"),
        TableColumn("Limit", "right", "limit"),
        TableColumn("Headroom", "right", "headroom"),
        TableColumn("Verdict", key="state"),
    )
    rows = tuple(_area_row(number, area) for number, area in areas)
    return PaperTable(columns, rows, "areas", caption="Verdict by area")


def _area_row(number: int, area: Area) -> TableRow:
    word, tone = STATES[area.state]
    if area.area.endswith(" links") and area.state == "tight" and (area.headroom or 0.0) >= CLOSE:
        word = "exposed"  # the links are free for most of the step, which waits for them all the same
    note = f" ({area.note})" if area.note and area.note != word else ""
    cells = (
        area.area[0].upper() + area.area[1:],
        collective_words(area.constraint) + note,
        amount_text(area.value, area.unit),
        amount_text(area.limit, area.unit),
        headroom_text(area),
        word,
    )
    return TableRow(cells, f"areas[{number}]", tone)


def headroom_text(area: Area) -> str:
    """The margin to the limit; above twice the limit, the value as a multiple of the limit."""
    if area.headroom is None:
        return "–"
    if area.headroom < -1:
        return f"{plain(1 - area.headroom, 2)} × the limit"
    return percent(area.headroom, 2) if area.headroom < 0 else portion(area.headroom)


def amount_text(value: float | None, unit: str) -> str:
    """A number of an area; shares are percentages."""
    if value is None:
        return "–"
    if unit == REQUESTS:
        return f"{value:,.0f}"
    return percent(value) if unit == "1" else display(value, unit)


def waivers_table(report: FullReport) -> PaperTable:
    """The waived findings with reason and expiry date."""
    columns = (
        TableColumn("Waived finding", key="rule"),
        TableColumn("Severity", key="severity"),
        TableColumn("Reason", key="reason"),
        TableColumn("Until", key="until"),
        TableColumn("Expires", key="until"),
    )
    rows = []
    for number, one in enumerate(report.estimate.waived):
        until = one.waiver.until
        left = (until - report.today).days if until else None
        expires = "never" if left is None else "today" if left == 0 else f"in {left:,} day{'' if left == 1 else 's'}"
        cells = (
            f"{one.finding.rule}: {one.finding.message}",
            str(one.finding.severity),
            one.waiver.reason,
            until.isoformat() if until else "no date",
            expires,
        )
        rows.append(TableRow(cells, f"waived[{number}]", "bad" if one.finding.severity.rank == 0 else "plain"))
    return PaperTable(columns, tuple(rows), "waived", caption="Waivers")
