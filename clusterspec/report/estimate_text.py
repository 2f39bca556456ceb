"""The estimate for a terminal: the numbers first, then where they come from."""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote

from clusterspec.cluster.model import Assumption
from clusterspec.cost.plan import Plan
from clusterspec.cost.term import MemoryUse, Term
from clusterspec.finding import Severity
from clusterspec.report import communication as traffic
from clusterspec.report.assumed import groups, value_text
from clusterspec.report.grid import bar, grid
from clusterspec.report.ink import PLAIN, Ink, plain, wrapped
from clusterspec.results import EstimateReport, count
from clusterspec.results.estimate_json import terms
from clusterspec.results.measured import HEADS, row, shares
from clusterspec.units import percent, plural, say


def text(report: EstimateReport, ink: Ink = PLAIN) -> str:
    """Everything that could be computed, and what could not."""
    plan = report.plan
    parts = [heading(report, ink), headline(plan, ink)]
    if plan.step_time:
        parts.append(ink.paint("bold", "Step time") + "\n" + breakdown(plan.step_time, ink))
    if plan.communication:
        parts.append(ink.paint("bold", "Communication per step and accelerator") + "\n" + communication(plan, ink))
    if plan.memory:
        parts.append(ink.paint("bold", "Memory of the fullest accelerator") + "\n" + memory(plan.memory, ink))
    if seen := shares(report.design.cluster):
        rows = [(f"  {name}", *rest) for name, *rest in map(row, seen)]
        table = grid((f"  {HEADS[0]}", *HEADS[1:]), rows, right=(2,), wrap=(1, 3), ink=ink)
        parts.append(ink.paint("bold", "Measured, in place of the catalog's efficiencies") + "\n" + table)
    said, figures = groups(plan)
    if said:
        parts.append(ink.paint("bold", "Assumed, because nobody said") + "\n" + assumptions(said, ink))
    if figures:
        parts.append(ink.paint("bold", "Constants that no data sheet states") + "\n" + taken(figures, ink))
    return "\n".join([*parts, footer(report, ink)])


def heading(report: EstimateReport, ink: Ink) -> str:
    """What is estimated, in a line or two."""
    design = report.design
    cluster, work = design.cluster, design.workload
    name = plain(design.spec.name or report.input.name)
    if cluster is None:
        return f"{ink.paint('bold', name)}: the cluster cannot be settled; `clusterspec check` says why\n"
    machines = f"{plural(cluster.accelerators, 'accelerator')} ({cluster.accelerator.name})"
    model = f", {plain(work.model.name)}" if work else ""
    first, *rest = wrapped(f"{name}: {machines} in {plural(cluster.nodes, 'node')}{model}", ink.measure, then="  ")
    painted = ink.paint("bold", name) + first[len(name) :] if first.startswith(name) else first
    return "".join(line + "\n" for line in (painted, *rest))


def headline(plan: Plan, ink: Ink) -> str:
    """The numbers that one looks for first."""
    rows = [row for row in headline_rows(plan) if row is not None]
    if not rows:
        return "Nothing can be estimated from what the spec says.\n"
    label = max(len(name) for name, _, _ in rows)
    figure = max(len(value) for _, value, _ in rows)
    return "".join(
        f"  {name.ljust(label)}  {ink.paint('bold', value.rjust(figure))}  {ink.paint('dim', note)}".rstrip() + "\n"
        for name, value, note in rows
    )


def headline_rows(plan: Plan) -> Iterable[tuple[str, str, str] | None]:
    if plan.step_time:
        band = plan.step_time_range
        yield "step time", say(plan.step_time.value, "s"), f"{say(band[0], 's')} to {say(band[1], 's')}" if band else ""
    if plan.tokens_per_second_per_accelerator is not None:
        yield "tokens per second", f"{plan.tokens_per_second_per_accelerator:,.0f}", "per accelerator"
    if plan.mfu is not None:
        yield "MFU", percent(plan.mfu), f"HFU {percent(plan.hfu)}" if plan.hfu is not None else ""
    if plan.memory:
        yield memory_row(plan.memory)
    if plan.parameters is not None:
        active = plan.active_parameters
        note = f"{say(active, '1')} active per token" if active and active != plan.parameters else ""
        yield "parameters", say(plan.parameters, "1"), note
    if plan.time_to_train is not None:
        yield "time to train", say(plan.time_to_train, "s"), "without interruptions"


def memory_row(use: MemoryUse) -> tuple[str, str, str]:
    if use.capacity is None:
        return "memory", say(use.total.value, "B"), "capacity not known"
    share = use.total.value / use.capacity.value
    fit = "fits" if use.fits else "does not fit"
    return "memory", say(use.total.value, "B"), f"{fit}: {percent(share)} of {say(use.capacity.value, 'B')}"


def breakdown(term: Term, ink: Ink, depth: int = 1) -> str:
    """A sum with its parts, each with its share and a bar."""
    rows = [
        (
            "  " * level + part.name,
            say(part.value, part.unit),
            percent(part.value / term.value, 2) if term.value else "",
            ink.paint("blue", bar(part.value / term.value)) if term.value and level == 1 else "",
        )
        for part, level in nested(term, depth)
    ]
    return grid(("  part", "time" if term.unit == "s" else "size", "share", ""), rows, right=(1, 2), ink=ink)


def nested(term: Term, depth: int, level: int = 1) -> Iterable[tuple[Term, int]]:
    for part in term.parts:
        if part.value:
            yield part, level
            if depth > 1:
                yield from nested(part, depth - 1, level + 1)


def communication(plan: Plan, ink: Ink) -> str:
    rows = [(f"  {axis}", *rest) for axis, *rest in map(traffic.row, plan.communication)]
    return grid((f"  {traffic.HEADS[0]}", *traffic.HEADS[1:]), rows, right=traffic.NUMBERS, ink=ink)


def memory(use: MemoryUse, ink: Ink) -> str:
    whole = use.capacity.value if use.capacity else use.total.value
    rows = [
        (
            f"  {part.name}",
            say(part.value, "B"),
            percent(part.value / whole, 2),
            ink.paint("blue", bar(part.value / whole)),
        )
        for part in (use.weights, use.gradients, use.optimizer, use.activations, use.other, use.total)
    ]
    return grid(("  part", "size", "of capacity" if use.capacity else "share", ""), rows, right=(1, 2), ink=ink)


def assumptions(found: tuple[Assumption, ...], ink: Ink) -> str:
    """What the spec leaves open, one key a line."""
    rows = [(f"  {key}", value_text(value), why) for key, value, why in found]
    return grid(("  key", "taken", "why"), rows, wrap=(1, 2), ink=ink)


def taken(found: tuple[Assumption, ...], ink: Ink) -> str:
    """Figures with their reasons below them: these are sentences."""
    key = max(len(name) for name, _, _ in found)
    lines = []
    for name, value, why in found:
        lines += wrapped(value_text(value), ink.measure, f"  {name.ljust(key)}  ", " " * (key + 4))
        lines += [ink.paint("dim", line) for line in wrapped(why, ink.measure, " " * 6, " " * 6)]
    return "".join(line + "\n" for line in lines)


def footer(report: EstimateReport, ink: Ink) -> str:
    """What the check says, in one line, and how to see more."""
    counted = count(report.findings)
    said = ", ".join(plural(number, level) for level, number in counted.items() if number)
    file = plain(quote(report.input.name)).replace("\n", " ")
    lines = [f"`clusterspec estimate {file} --explain TERM` shows the formula and inputs of a term."]
    if said:
        gravest = next(Severity(level) for level, number in counted.items() if number)
        lines.insert(0, ink.severity(gravest, f"{said} found: `clusterspec check {file}`"))
    return "\n".join(lines) + "\n"


def names(report: EstimateReport) -> list[str]:
    """Every term that can be explained, each once."""
    return list(dict.fromkeys(term.name for root in terms(report.plan) for term in root.walk()))


def explain(report: EstimateReport, name: str, ink: Ink = PLAIN) -> str | None:
    """One term with its formula, its inputs and where they come from; None when there is no such term."""
    wanted = name.strip().lower().replace("_", " ").replace("-", " ")
    for root in terms(report.plan):
        for term in root.walk():
            if term.name.lower().replace("_", " ").replace("-", " ") == wanted:
                return explained(term, ink)
    return None


def explained(term: Term, ink: Ink) -> str:
    lines = [f"{ink.paint('bold', term.name)} = {say(term.value, term.unit)}"]
    lines += wrapped(term.formula, ink.measure, "  formula  ", " " * 11)
    if term.source:
        lines += wrapped(term.source, ink.measure, "  source   ", " " * 11)
    if term.low is not None and term.high is not None:
        lines.append(f"  band     {say(term.low, term.unit)} to {say(term.high, term.unit)}")
    out = "\n".join(lines) + "\n"
    if term.inputs:
        rows = [(f"  {name}", say(figure.value, figure.unit, 4), str(figure.origin)) for name, figure in term.inputs]
        out += "\n" + grid(("  input", "value", "where from"), rows, right=(1,), wrap=(2,), ink=ink)
    if term.parts:
        out += "\n" + breakdown(term, ink, depth=2)
    return out
