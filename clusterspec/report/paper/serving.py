"""A serving plan: latency and throughput, the parts of a decode step, the KV cache, and alternative plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.requests import Serving
from clusterspec.cost.serving.explain import first_token_time_term, prefill_step_term, token_time_term
from clusterspec.cost.serving.latency import ServingTimes, serving_range
from clusterspec.cost.term import Term
from clusterspec.procurement.amounts import money_text
from clusterspec.report.charts.bars import StackPart, timeline_chart
from clusterspec.report.charts.log_plots import FrontPoint, front_chart
from clusterspec.report.estimate_rows import latency_rows, target_text
from clusterspec.report.paper.blocks import Block, PaperTable, Picture, Section, TableColumn, TableRow, Text
from clusterspec.report.sweep_text import engines_text, latency_heads, target_latencies
from clusterspec.results.full import FullReport
from clusterspec.results.search import LayoutRow
from clusterspec.standard import sum_of
from clusterspec.units import display, percent, plain, plural, portion

TINTS = {
    "dense": "forward",
    "depth": "forward",
    "head": "backward",
    "drafting": "stragglers",
    "experts": "ep",
    "cache": "activations",
    "latent_attention": "recomputation",
    "recurrent_state": "stragglers",
    "absorbed_matrices": "stragglers",
    "attention": "recomputation",
    "all_reduce": "tp",
    "norm_all_reduce": "tp",
    "expert_exchange": "cp",
    "launch": "overhead",
    "prompts": "optimizer",
}
"""The color of each part of a decode step."""
OTHERS = ("pp", "dp", "gradients", "weights")
STEP = "estimate.terms[1].parts[0]"
"""The decode step in the JSON document: the first part of the time of an output token."""
FIRST_TOKEN = "estimate.terms[0]"
"""The time to first token in the JSON document."""
LEAST = 0.002
"""Parts of a time with less than this share are not drawn."""


def serving_section(report: FullReport) -> Section | None:
    """Latency and throughput at the load of the plan, and the parts of the time per output token."""
    plan = report.estimate.plan
    work, found = plan.design.workload, plan.serving
    if found is None or work is None or work.serving is None:
        return None
    step, place = prefill_step_term(found)
    blocks: tuple[Block, ...] = (
        _times_table(found, work.serving),
        _prompt_picture(found),
        _cache_table(found, work.serving),
        _parts_table(step, FIRST_TOKEN + place, "step of prefill"),
        _parts_table(token_time_term(found).parts[0], STEP, "decode step"),
    )
    return Section("serving", "Serving", blocks, lead=_load_sentence(found, work.serving))


def _load_sentence(times: ServingTimes, load: Serving) -> str:
    """The load in one sentence."""
    each = f"{load.input_tokens:,} input and {load.output_tokens:,} output tokens each"
    requests = f"{plural(max(1, round(times.offered)), 'request')} in flight, {each}"
    kinds = {
        "closed": f"for {requests}; a request that ends is replaced at once.",
        "open": f"for {plain(load.request_rate or 0)} requests per second, which result in {requests}.",
        "static": f"for one batch of {requests}, which start and end together.",
        "offline": f"for as many requests as the cache holds: {requests}.",
    }
    drafted = ""
    if load.draft_tokens:
        drafted = (
            f" Speculative figures: {plural(load.draft_tokens, 'drafted token')} a step, "
            f"{percent(load.draft_acceptance, 2)} accepted; they are not comparable with figures without speculation."
        )
    return f"The figures are {kinds[load.load]}" + _queue_sentence(times) + drafted


def _queue_sentence(times: ServingTimes) -> str:
    """A sentence where requests arrive faster than they are served; else empty."""
    if not times.queue_grows:
        return ""
    return (
        " Requests arrive faster than the engines serve them: the latencies hold for full engines, without the "
        "queue, which grows without end."
    )


def _times_table(times: ServingTimes, load: Serving) -> PaperTable:
    rows = list(_latency_rows(times, load))
    for title, name, unit in (
        ("Time to first token, mean", "ttft_mean", "s"),
        ("Output tokens per second", "output_tokens_per_second", "1"),
    ):
        value, (low, high) = getattr(times, name), serving_range(times, name)
        cells = (title, display(value, unit), f"{display(low, unit)} to {display(high, unit)}", "–")
        field = f"estimate.serving.{name}"
        rows.append(TableRow(cells, field, fields=("", field, f"estimate.serving.range.{name}", "spec")))
    each = "estimate.serving.output_tokens_per_second_per_accelerator"
    latency = "estimate.serving.request_latency"
    rows += [
        _time_row("Output tokens per second of an accelerator", display(times.per_accelerator, "1"), each),
        _time_row("Output tokens per second of a user", display(1 / times.tpot, "1"), "estimate.serving.tpot"),
        _time_row("Request latency", display(times.request_latency, "s"), latency),
        _prefill_row(times, load),
    ]
    columns = (
        TableColumn("What"),
        TableColumn("Predicted", "right"),
        TableColumn("Range", "right"),
        TableColumn("Target", "right"),
    )
    return PaperTable(columns, tuple(rows), "estimate.serving", caption="Times and throughput")


def _latency_rows(times: ServingTimes, load: Serving) -> Iterator[TableRow]:
    """The latencies at the median and at the percentiles of the targets, with the targets."""
    name = ""
    for title, seconds, (low, high), target, field, _ in latency_rows(times, load):
        middle = not title.startswith(" ")
        name = f"{title[0].upper()}{title[1:]}" if middle else name
        cells = (
            f"{name}, {'median' if middle else title.strip()}",
            display(seconds, "s"),
            f"{display(low, 's')} to {display(high, 's')}",
            target_text(times, load, target) if target is not None else "–",
        )
        place = f"estimate.serving.{field}"
        head, _, last = field.rpartition(".")
        ends = f"estimate.serving.{f'{head}.' if head else ''}range{f'.{last}' if last != 'value' else ''}"
        yield TableRow(cells, place, fields=("", place, ends, "spec"))


def _prefill_row(times: ServingTimes, load: Serving) -> TableRow:
    """The share of prefill in the time of the engines or of a static batch. With separate engines, the utilization of
    the part that limits prefill.
    """
    share = "estimate.serving.prefill_share"
    if load.prefill is not None:
        if times.links_limit_prefill:
            filled = percent(min(1.0, times.prompt_load), 2)
            return _time_row("Utilization of the links for caches, which limit prefill", filled, "")
        return _time_row("Utilization of the prefill engines", percent(min(1.0, times.prefill_busy), 2), "")
    title = (
        "Share of prefill in the time of the batch"
        if load.load == "static"
        else "Share of the engines' time on prefill"
    )
    return _time_row(title, percent(times.prefill_share, 2), share)


def _time_row(title: str, value: str, field: str) -> TableRow:
    return TableRow((title, value, "–", "–"), field, fields=("", field, "", ""))


def request_pictures(report: FullReport) -> tuple[Picture, ...]:
    """For a serving design with times: charts of the waits before the first token and before each further token."""
    found = report.estimate.plan.serving
    return () if found is None else (_first_token_picture(found), _step_picture(found))


WAITS = {"wait": ("waiting", "limit"), "request": ("outside the engines", "overhead")}
"""The inputs of the time to first token that are times, each with its name and color in the drawing."""


def _first_token_picture(times: ServingTimes) -> Picture:
    """The median time to first token: waiting, the prompt and the handoff of its cache."""
    term = first_token_time_term(times)
    inputs = dict(term.inputs)
    shown = [StackPart(*WAITS[name], inputs[name].value, display(inputs[name].value, "s")) for name in WAITS]
    tints = {"prefill": ("the prompt", "forward"), "handoff": ("handoff of its cache", "tp")}
    shown += [StackPart(*tints[part.name], part.value, display(part.value, "s")) for part in term.parts]
    rest = term.value - sum_of(part.value for part in shown)
    shown.append(StackPart("half a step until it decodes", "backward", rest, display(rest, "s")))
    return _timeline_picture(
        shown, term.value, ("the median of the time to first token", "Time to first token by part"), "[0]"
    )


def _timeline_picture(parts: list[StackPart], whole: float, names: tuple[str, str], place: str) -> Picture:
    """A table of the parts of a time; ``names`` are its title and caption."""
    parts = [part for part in parts if part.value > LEAST * whole]
    alt = "; ".join(f"{part.label} {part.value_text}" for part in parts)
    drawn = timeline_chart(parts, (), lambda tick: display(tick, "s"), alt, title=names[0])
    return Picture(drawn, names[1], f"estimate.terms{place}")


def _colored_parts(parts: tuple[Term, ...]) -> list[StackPart]:
    spare = iter(OTHERS)
    return [
        StackPart(part.label, TINTS.get(part.name) or next(spare, "other"), part.value, display(part.value, "s"))
        for part in parts
    ]


def _step_picture(times: ServingTimes) -> Picture:
    """The time per output token: a decode step, plus the prefill of other requests."""
    shown = _colored_parts(token_time_term(times).parts[0].parts)
    prompts = times.tpot * times.tokens_per_step - sum_of(part.value for part in shown)
    if prompts > LEAST * times.tpot:
        shown.append(StackPart("prompts in the same step", TINTS["prompts"], prompts, display(prompts, "s")))
    names = ("one decode step, and its share of prompts", "Time of a decode step by part")
    return _timeline_picture(shown, times.tpot, names, "[1]")


def _prompt_picture(times: ServingTimes) -> Picture:
    """One step of prefill: a chunk of prompts through the layers of an engine."""
    step, place = prefill_step_term(times)
    steps = f", one of {plain(times.prefill.steps, 2)} of a prompt" if times.prefill.steps > 1 else ""
    names = (f"one step of prefill{steps}", "Time of a step of prefill by part")
    return _timeline_picture(_colored_parts(step.parts), step.value, names, f"[0]{place}")


def _parts_table(step: Term, field: str, name: str) -> PaperTable:
    columns = (
        TableColumn(f"Part of a {name}", key="name"),
        TableColumn("Time", "right", "value"),
        TableColumn("Share", "right", "value"),
        TableColumn("Formula", key="formula"),
    )
    rows = [
        TableRow(
            (part.label, display(part.value, "s"), portion(part.value / step.value), part.formula),
            f"{field}.parts[{number}]",
        )
        for number, part in enumerate(step.parts)
        if part.value
    ]
    whole = (name, display(step.value, "s"), "100 %", step.formula.replace("_", " "))
    return PaperTable(columns, (*rows, TableRow(whole, field, total=True)), field)


def _cache_table(times: ServingTimes, load: Serving) -> PaperTable:
    most = times.most_in_flight
    rows = [
        ("A token", display(times.kv_bytes_per_token, "B"), "kv_bytes_per_token"),
        ("Tokens that all engines hold", display(times.kv_capacity_tokens, "1"), "kv_capacity_tokens"),
        (
            "Requests that all engines hold, on average",
            f"{times.places:,}",
            "kv_capacity_sequences",
        ),
    ]
    if load.targets:
        shown = "none" if not most else f"{most:,}"
        rows.append(("Requests in flight within the targets", shown, "max_concurrency"))
    cells = tuple(TableRow((name, value), f"estimate.serving.{field}") for name, value, field in rows)
    return PaperTable((TableColumn("What"), TableColumn("Number", "right")), cells, "estimate.serving", caption="Cache")


def plans_section(report: FullReport) -> Section | None:
    """Alternative plans: those that meet the targets, and the Pareto front over engines and concurrency."""
    found = report.plans
    if found is None or (not found.layouts and len(found.pareto) < 2):
        return None
    blocks: list[Block] = []
    if len(found.pareto) > 1:
        points = [_front_point(row) for row in found.pareto]
        own = _front_point(found.present) if found.present is not None else None
        alt = "; ".join(f"{point.label}, {point.note} in flight" for point in points)
        caption = "Output tokens per second of a user and of an accelerator, engines and requests in flight varied"
        blocks += [Picture(front_chart(points, own, alt), caption, "plans.pareto"), _front_table(points, own)]
    if found.layouts:
        currency = report.cost.cost.currency if report.cost.cost else ""
        caption = f"Plans that {found.aim}, the best by {found.objective.replace('_', ' ')} first"
        blocks.append(_plans_table(found.layouts, caption, currency))
    elif found.why:
        blocks.append(Text(f"No plan on this machine is shown: {found.why}.", "plans.why"))
    lead = f"{found.evaluated:,} plans evaluated; {found.fitting:,} {found.aim} of the spec."
    return Section("plans", "Plans on this machine", tuple(blocks), lead=lead)


def _front_table(points: Sequence[FrontPoint], present: FrontPoint | None) -> PaperTable:
    """The plans of the front by number, and the plan of the spec."""
    rows = [
        TableRow((f"{number}", point.label, *_front_cells(point)), f"plans.pareto[{number - 1}]", bare=True)
        for number, point in enumerate(points, 1)
    ]
    if present is not None:
        rows.append(TableRow(("◆", "this design", *_front_cells(present)), "plans.present", bare=True))
    heads = ("In flight", "Tokens per second of a user", "of an accelerator")
    columns = (TableColumn("Plan"), TableColumn("Engines"), *(TableColumn(head, "right") for head in heads))
    return PaperTable(columns, tuple(rows), "plans.pareto", caption="The plans of the front, by number")


def _front_cells(point: FrontPoint) -> tuple[str, str, str]:
    """The requests in flight, and the tokens per second of a user and of an accelerator."""
    rates = (point.per_user, point.per_accelerator)
    user, accelerator = (f"{rate:,.0f}" if rate >= 10 else plain(rate, 2) for rate in rates)
    return point.note, user, accelerator


def _front_point(row: LayoutRow) -> FrontPoint:
    serving = row.serving or {}
    return FrontPoint(
        serving["tokens_per_second_per_user"],
        serving["output_tokens_per_second_per_accelerator"],
        engines_text(row),
        f"{serving['concurrency']:,.0f}",
    )


def _plans_table(rows: tuple[LayoutRow, ...], caption: str, currency: str) -> PaperTable:
    columns = (
        TableColumn("Engines"),
        TableColumn("Accelerators", "right"),
        *(TableColumn(head, "right") for head in latency_heads(rows)),
        TableColumn("Tokens per second", "right"),
        TableColumn("of an accelerator", "right"),
        *((TableColumn(f"{currency} a million", "right"),) if any(row.cost is not None for row in rows) else ()),
    )
    found = tuple(
        TableRow(tuple(_plan_cells(row, len(columns))), f"plans.layouts[{n}]", bare=True) for n, row in enumerate(rows)
    )
    return PaperTable(columns, found, "plans.layouts", caption=caption)


def _plan_cells(row: LayoutRow, count: int) -> Iterator[str]:
    serving = row.serving or {}
    yield engines_text(row)
    yield f"{serving['accelerators']:,.0f}"
    yield from (display(seconds, "s") for seconds in target_latencies(row))
    yield f"{serving['output_tokens_per_second']:,.0f}"
    yield f"{serving['output_tokens_per_second_per_accelerator']:,.0f}"
    if count > 6:
        yield money_text(round(row.cost, 2)) if row.cost is not None else "–"
