"""The comparison of two designs: changed keys, figures that differ, new and fixed findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from clusterspec.analysis.outputs import bill, estimate
from clusterspec.cost.formulas.topologies import bisection_bandwidth
from clusterspec.cost.interruptions import plan_interruptions
from clusterspec.finding import Finding
from clusterspec.records import dataclass, replace
from clusterspec.results import Input, Json, Tool
from clusterspec.results.decision import PRICE, SHARE, Change, DiffReport, Effect, json_value
from clusterspec.source import Path, Span, value_at
from clusterspec.standard import sum_of
from clusterspec.studies import Study
from clusterspec.units import percent, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class Side:
    """One of the designs: the input, its keys with bases merged in, and its estimate and bill as JSON.

    ``unchecked`` lists rules that do not run because the design lacks a required part. ``goodput`` is the share of the
    time that remains for training after failures and checkpoints.
    """

    read: Input
    value: Any
    estimate: Json
    bill: Json
    findings: Sequence[Finding]
    unchecked: Collection[str] = frozenset()
    goodput: float | None = None


Names = Mapping[str, str]
"""Text to show for a file name, or for the beginning of a file name."""


def diff(old: Study, new: Study, names: tuple[Names, Names] = ({}, {})) -> DiffReport:
    """The difference of two designs; ``names`` replace the names of their files in the result."""
    sides = [_compared_side(study, known) for study, known in zip((old, new), names, strict=True)]
    return compare(new.settings.tool, *sides)


def lone_figures(study: Study, *, added: bool) -> tuple[Effect, ...]:
    """The figures of a design that exists on one side only; figures of the missing side are None."""
    side = _compared_side(study, {})
    lacking = Side(Input(None), None, {}, {"items": [], "fabric": None}, ())
    known = [one for one in _figure_effects(lacking, side) if one.new]
    return tuple(replace(one, old=None if added else one.new, new=one.new if added else None) for one in known)


def named_findings(study: Study, names: Names) -> tuple[Finding, ...]:
    """The findings of a study, with positions in files under the caller's names for them."""

    def renamed_span(span: Span) -> Span:
        first = next((each for each in names if span.file.startswith(each)), "")
        return replace(span, file=names[first] + span.file.removeprefix(first)) if first else span

    return tuple(
        replace(
            finding,
            span=renamed_span(finding.span),
            related=tuple((renamed_span(span), note) for span, note in finding.related),
        )
        for finding in study.checked.findings
    )


def _compared_side(study: Study, names: Names) -> Side:
    """The compared data of a design, with positions in files under the caller's names for them."""
    findings = named_findings(study, names)
    read = Input(names.get(study.source.name, study.input.file), study.input.data)
    value = study.document.value if study.document is not None else None
    kept = plan_interruptions(study.plan) if study.has_figures else None
    figures = estimate(study).to_json(), bill(study).to_json()
    return Side(read, value, *figures, findings, study.unchecked, kept.share if kept else None)


def compare(tool: Tool, old: Side, new: Side) -> DiffReport:
    """The difference of two designs, with the figures that differ."""
    effects = tuple(one for one in _figure_effects(old, new) if one.old != one.new)
    found, gone = _additional_findings(new.findings, old.findings), _additional_findings(old.findings, new.findings)
    unchecked = tuple(
        one for one in gone if one.rule in new.unchecked or _is_in_lost_section(one, old.value, new.value)
    )
    fixed = tuple(one for one in gone if one not in unchecked)
    changes = tuple(_key_changes((), old.value, new.value))
    return DiffReport(
        tool, old.read, new.read, changes, effects, found, fixed, unchecked, _incomparable_reason(old, new)
    )


def _is_in_lost_section(finding: Finding, old: Any, new: Any) -> bool:
    """Whether the other design lacks the top-level section that a finding refers to. An unknown key does not count as a
    section.
    """
    path = finding.path[:-1] if finding.rule == "unknown-key" else finding.path
    if not path or not isinstance(new, dict):
        return not isinstance(new, dict)
    return isinstance(value_at(old, str(path[0])), dict | list) and path[0] not in new


SPECULATIVE = ("workload", "serving", "speculative")


def _incomparable_reason(old: Side, new: Side) -> str:
    """Why figures of the two designs do not compare: currencies, speculative decoding, queues without end."""
    found = _caution_of_prices(old.bill, new.bill), _caution_of_drafts(old, new), _caution_of_queues(old, new)
    return " ".join(text for text in found if text)


def _caution_of_prices(old: Json, new: Json) -> str:
    if not _has_two_currencies(old, new):
        return ""
    one, other = (
        f"in {name}" if name else "in no stated currency" for name in (_shared_currency(old), _shared_currency(new))
    )
    return f"Prices are {one} in the old design and {other} in the new one: they are not comparable."


def _caution_of_drafts(old: Side, new: Side) -> str:
    """The difference in speculative decoding, if any: its figures hold only for texts with the stated acceptance."""
    one, other = _draft_text(old), _draft_text(new)
    if one == other or None in (value_at(old.estimate, "serving"), value_at(new.estimate, "serving")):
        return ""
    return (
        f"Speculative decoding differs: {one} in the old design, {other} in the new one. Time per output token and "
        f"throughput are not comparable; they hold only for texts with the stated acceptance."
    )


def _caution_of_queues(old: Side, new: Side) -> str:
    """The designs whose queue grows without end, if any: their time to first token has no steady value."""
    names = [name for name, side in (("old", old), ("new", new)) if value_at(side.estimate, "serving", "queue_grows")]
    if not names:
        return ""
    designs = "both designs" if len(names) > 1 else f"the {names[0]} design"
    return (
        f"In {designs} requests arrive faster than they are served, and the queue grows without end: the time to first "
        f"token counts full engines, without the queue."
    )


def _draft_text(side: Side) -> str:
    """The draft tokens of a serving plan and their acceptance: `3 draft tokens at 70 %`."""
    tokens, share = (value_at(side.value, *SPECULATIVE, key) for key in ("tokens", "acceptance"))
    if not isinstance(tokens, int) or not tokens:
        return "none"
    return f"{plural(tokens, 'draft token')} at {percent(float(share or 0), 2)}"


def _key_changes(path: Path, old: Any, new: Any) -> Iterator[Change]:
    """The keys that differ, recursively."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from _key_changes((*path, key), old.get(key), new.get(key))
    elif json_value(old) != json_value(new) or isinstance(old, bool) != isinstance(new, bool):
        yield Change(path, old, new)


def _figure_effects(old: Side, new: Side) -> Iterator[Effect]:
    """The compared figures, in the order in which a reviewer reads them."""
    one, other = old.estimate, new.estimate
    for name, unit, path in _FIGURES:
        yield Effect(name, unit, value_at(one, *path), value_at(other, *path))
    yield Effect("bisection bandwidth", "B/s", _bisection_bandwidth(one), _bisection_bandwidth(other))
    post_trained = "rl" in {value_at(each.value, "workload", "kind") for each in (old, new)}
    for name, unit, path, band in (*(_POST_TRAINED if post_trained else _TRAINED), *_ESTIMATED):
        within = _ranges_overlap(_range_of(one, path, band), _range_of(other, path, band))
        yield Effect(name, unit, value_at(one, *path), value_at(other, *path), within)
    yield Effect("goodput, with failures and checkpoints", SHARE, old.goodput, new.goodput)
    within = _ranges_overlap(_headroom_range(one), _headroom_range(other))
    yield Effect("memory headroom", "B", _memory_headroom(one), _memory_headroom(other), within)
    kinds = dict.fromkeys(item["kind"] for side in (old, new) for item in side.bill["items"])
    for kind in kinds:
        yield Effect(
            f"{kind.replace('_', ' ')} count",
            "",
            _counted_quantity(old.bill, new.bill, kind),
            _counted_quantity(new.bill, old.bill, kind),
        )
    yield from _price_effects(old.bill, new.bill)


def _price_effects(old: Json, new: Json) -> Iterator[Effect]:
    """The price of both bills; one effect per currency if they have two, since the amounts are not comparable."""
    first, second = _comparable_price(old, new), _comparable_price(new, old)
    if not _has_two_currencies(old, new):
        yield Effect(PRICE, _shared_currency(new) or _shared_currency(old), first, second)
        return
    yield Effect(PRICE, _shared_currency(old), first, None)
    yield Effect(PRICE, _shared_currency(new), None, second)


def _has_two_currencies(old: Json, new: Json) -> bool:
    return None not in (_total_price(old), _total_price(new)) and _shared_currency(old) != _shared_currency(new)


def _shared_currency(bill: Json) -> str:
    return str(value_at(bill, "total", "currency") or "")


STEP = ("step_time",)
STEP_RANGE = ("range", "step_time")
_OUT = ("cluster", "scale_out")
_FIGURES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("accelerators", "", ("cluster", "accelerators")),
    ("scale-up bandwidth of an accelerator, per direction", "B/s", ("cluster", "scale_up", "bandwidth")),
    ("scale-out bandwidth of an accelerator, per direction", "B/s", (*_OUT, "bandwidth_per_accelerator")),
    ("oversubscription", "", (*_OUT, "oversubscription")),
)
_Estimated = tuple[str, str, tuple[str, ...], tuple[str, ...]]
"""The name of a figure, its unit, its path in an estimate, and the path of its range."""
_RATE = "tokens per second of an accelerator"
_TRAINED: tuple[_Estimated, ...] = (
    ("step time", "s", STEP, STEP_RANGE),
    (_RATE, "1/s", ("tokens_per_second_per_accelerator",), STEP_RANGE),
    ("MFU", SHARE, ("mfu",), STEP_RANGE),
)
_RL_RANGE = ("rl", *STEP_RANGE)
_POST_TRAINED: tuple[_Estimated, ...] = (
    ("step time of all roles", "s", ("rl", "step_time"), _RL_RANGE),
    (f"{_RATE}, all roles", "1/s", ("rl", "tokens_per_second_per_accelerator"), ()),
    ("MFU of all roles", SHARE, ("rl", "mfu"), ()),
    ("rollout", "s", ("rl", "rollout", "seconds"), ()),
    ("weight sync", "s", ("rl", "weight_sync", "seconds"), ()),
    ("update of a minibatch", "s", STEP, STEP_RANGE),
    (f"{_RATE}, in updates", "1/s", ("tokens_per_second_per_accelerator",), STEP_RANGE),
    ("MFU of updates", SHARE, ("mfu",), STEP_RANGE),
)
"""The figures of a training step, and of a reinforcement-learning step."""
_ESTIMATED: tuple[_Estimated, ...] = (
    ("time to train", "s", ("time_to_train",), ()),
    *(
        (name, unit, ("serving", field), ("serving", "range", band))
        for name, unit, field, band in (
            ("time to first token", "s", "ttft", "ttft"),
            ("time per output token", "s", "tpot", "tpot"),
            ("output tokens per second", "1/s", "output_tokens_per_second", "output_tokens_per_second"),
            (
                "output tokens per second of an accelerator",
                "1/s",
                "output_tokens_per_second_per_accelerator",
                "output_tokens_per_second",
            ),
            ("concurrency at which the targets break", "", "max_concurrency", ""),
        )
    ),
    ("memory of the fullest accelerator", "B", ("memory", "total"), ("range", "memory")),
    ("checkpoint, time to write", "s", ("storage", "checkpoint", "seconds"), ()),
    ("checkpoint, time to read after a failure", "s", ("storage", "restore", "seconds"), ()),
    ("model, time to load", "s", ("storage", "load", "seconds"), ()),
    ("power at work", "W", ("power", "busy"), ("power", "range", "busy")),
    ("power, nameplates", "W", ("power", "peak"), ("power", "range", "peak")),
    ("power, all feeds", "W", ("power", "supply", "all_feeds"), ()),
    ("energy per token", "J", ("energy", "per_token"), ("energy", "range", "per_token")),
)


def _range_of(estimate: Json, path: Sequence[str], band: Sequence[str]) -> list[float] | None:
    """The range of a figure.

    The range of a rate or of MFU is the inverse of the step time's range; an accelerator's share has the relative range
    of the whole.
    """
    value, ends = value_at(estimate, *path), value_at(estimate, *band) if band else None
    if not ends or None in ends or value is None:
        return None
    if band == STEP_RANGE and path != STEP:
        step = value_at(estimate, *STEP)
        return [value * step / end for end in reversed(ends)] if step and all(ends) else None
    whole = value_at(estimate, *path[:-1], band[-1]) if band[-1] != path[-1] and len(band) > 2 else None
    return [end * value / whole for end in ends] if whole else list(ends)


def _ranges_overlap(one: Any, other: Any) -> bool | None:
    """Whether two ranges overlap; None if one is unknown."""
    if not one or not other or None in (*one, *other):
        return None
    return bool(one[0] <= other[1] and other[0] <= one[1])


def _bisection_bandwidth(estimate: Json) -> float | None:
    """The bisection bandwidth of the fabric in B/s per direction."""
    number = value_at(estimate, "cluster", "accelerators")
    rate = value_at(estimate, "cluster", "scale_out", "bandwidth_per_accelerator")
    taper = value_at(estimate, "cluster", "scale_out", "oversubscription")
    return float(bisection_bandwidth(number, rate)) / taper if number and rate and taper else None


def _memory_headroom(estimate: Json) -> float | None:
    capacity, total = (value_at(estimate, "memory", key) for key in ("capacity", "total"))
    return capacity - total if capacity is not None and total is not None else None


def _headroom_range(estimate: Json) -> list[float] | None:
    """The free memory capacity at both ends of the memory range."""
    capacity, ends = value_at(estimate, "memory", "capacity"), value_at(estimate, "range", "memory")
    return [capacity - end for end in reversed(ends)] if capacity is not None and ends and None not in ends else None


def _kind_quantity(bill: Json, kind: str) -> float:
    return float(sum_of(item["quantity"] or 0 for item in bill["items"] if item["kind"] == kind))


def _is_fabric_uncounted(bill: Json, other: Json) -> bool:
    """Whether a bill lacks the fabric that the other bill includes, and therefore only seems cheaper."""
    nodes = _kind_quantity(bill, "node") + _kind_quantity(bill, "spare_node")
    return bill["fabric"] is None and other["fabric"] is not None and nodes > 1


def _counted_quantity(bill: Json, other: Json, kind: str) -> float | None:
    """The number of parts of a kind; None if it is zero only because the fabric cannot be counted."""
    found = _kind_quantity(bill, kind)
    return None if not found and _is_fabric_uncounted(bill, other) else found


def _comparable_price(bill: Json, other: Json) -> float | None:
    """The price of a bill; None if the bill lacks a fabric that the other bill has."""
    return None if _is_fabric_uncounted(bill, other) else _total_price(bill)


def _total_price(bill: Json) -> float | None:
    """The sum of the prices; of a range its middle."""
    prices = [item["price"] for item in bill["items"] if item.get("price") is not None]
    ends = [price if isinstance(price, list) else [price] for price in prices]
    return float(sum_of(sum_of(each) / len(each) for each in ends)) if ends else None


def _additional_findings(findings: Sequence[Finding], earlier: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that the other design does not have, neither by the same rule at the same key nor with the same
    message at another key.
    """
    left, found = list(earlier), list(findings)
    for alike in (lambda one: (one.rule, one.path), lambda one: (one.rule, one.message)):
        left, found = _unmatched_findings(left, found, alike), _unmatched_findings(found, left, alike)
    return tuple(found)


def _unmatched_findings(
    findings: list[Finding], others: list[Finding], alike: Callable[[Finding], object]
) -> list[Finding]:
    """The findings without a match among ``others``. Each of ``others`` matches at most one finding."""
    there = Counter(map(alike, others))
    found = []
    for one in findings:
        there[alike(one)] -= 1
        if there[alike(one)] < 0:
            found.append(one)
    return found
