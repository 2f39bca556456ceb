"""Sensitivity of a study to its levers: one step up and one step down, and every other recomputation and sharding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.analysis.lever_steps import UNORDERED, next_steps, sold_steps
from clusterspec.analysis.levers import LEVERS, OF_STORE, WORDS, lever_of
from clusterspec.analysis.studied import Studied, currency_of, missing_for_estimate
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import Changes
from clusterspec.records import replace
from clusterspec.results.levers import LeverRow, SensitivityReport
from clusterspec.studies import Study, variation

Move = tuple[str, object, object, Changes]
"""A lever, its value before and after, and the changes to the spec."""
OF_TRAINING = frozenset(
    {"global_batch", "sequence_length", "recompute", "sharding", "micro_batch", "overlap.tp", "overlap.dp"}
)
"""Levers that do not affect serving plans."""


def sensitivity(study: Study) -> SensitivityReport:
    """The effect of each lever one step up and down, or at every other value for `UNORDERED` levers; all else as in the
    spec.
    """
    possible = study.document is not None and study.has_figures
    seconds, memory = (_step_or_token_seconds(study), study.plan.memory_bytes) if possible else (None, None)
    if seconds is None:
        why = missing_for_estimate(study)
        return SensitivityReport(study.settings.tool, study.input, seconds, memory, None, (), why=why)
    studied, served = Studied(study), study.plan.serving
    return SensitivityReport(
        study.settings.tool,
        study.input,
        seconds,
        memory,
        studied.cost(study.design, study.plan),
        lever_rows(studied),
        currency_of(study),
        output_tokens_per_second=served.output_tokens_per_second if served is not None else None,
        queue_grows=served.queue_grows if served is not None else None,
    )


def _step_or_token_seconds(study: Study) -> float | None:
    """The time of a whole step, or for serving the time per output token."""
    plan = study.plan
    return plan.serving.tpot if plan.serving is not None else plan.whole_step.seconds


def lever_rows(studied: Studied) -> tuple[LeverRow, ...]:
    """The moves of `sensitivity`, sorted by their effect on the time per token (largest first), with refused steps
    last. For a plan above its capacity the effect is on the throughput.

    A step is omitted if its design does not resolve or has no time.
    """
    design = studied.one.design
    moves = _lever_moves(design, sold_steps(design, studied.one.settings.catalog))
    rows = [row for move in moves for row in _guarded_rows(studied, move)]
    return tuple(sorted(rows, key=lambda row: (bool(row.errors), -abs(row.effect or 0.0), row.key, str(row.after))))


def _guarded_rows(studied: Studied, move: Move) -> tuple[LeverRow, ...]:
    """The row of a move; empty if its computation fails, which the study records."""
    return studied.one.part(f"{move[0]} {move[2]}", lambda: tuple(_move_rows(studied, move)), ())


def _move_rows(studied: Studied, move: Move) -> Iterator[LeverRow]:
    key, before, after, changes = move
    unit = LEVERS[key].unit if key in LEVERS else ""
    varied = variation.varied_study(studied.one, changes)
    refused = studied.refusing_rules(varied)
    if refused:
        yield LeverRow(key, before, after, unit, None, None, None, varied.plan.fits, None, refused)
        return
    seconds, effect = _step_or_token_seconds(varied), _effect(studied.one, varied)
    if seconds is not None:
        plan, served = varied.plan, varied.plan.serving
        cost = studied.cost(varied.design, plan)
        row = LeverRow(key, before, after, unit, seconds, plan.memory_bytes, cost, plan.fits, effect)
        if served is not None:
            tokens, grows = served.output_tokens_per_second, served.queue_grows
            row = replace(row, output_tokens_per_second=tokens, queue_grows=grows)
        yield row


def _effect(one: Study, other: Study) -> float | None:
    """The relative change of the time per token from one study to another. If the queue of the first grows without
    limit, the change of output tokens per second, since its times are then those of full engines.
    """
    before, after = one.plan.serving, other.plan.serving
    if before is not None and after is not None and before.queue_grows:
        return after.output_tokens_per_second / before.output_tokens_per_second - 1
    base, each = _seconds_per_token(one), _seconds_per_token(other)
    return each / base - 1 if each and base else None


def _seconds_per_token(study: Study) -> float | None:
    """The time per token in seconds: per output token in serving, and the time of a whole step divided by its tokens in
    training.
    """
    plan, workload = study.plan, study.design.workload
    if plan.serving is not None:
        return plan.serving.tpot
    if plan.rl is not None:
        return plan.rl.step / plan.rl.tokens
    if plan.step_time is None or workload is None:
        return None
    return plan.step_time.value / workload.tokens_of_step


def _lever_moves(design: Design, sold: Mapping[str, tuple[float, ...]]) -> Iterator[Move]:
    """The levers of a design, each moved to its neighboring values. ``sold`` replaces the values of a lever by those
    sold for this machine.
    """
    served = design.workload is not None and design.workload.serving is not None
    for lever in (lever_of(name, design) for name in LEVERS if name not in OF_STORE):
        value = None if served and lever.name in OF_TRAINING else lever.value(design)
        if value is not None and value > 0:
            for step in next_steps(sold.get(lever.name, lever.steps), value):
                if step is not None:
                    yield lever.name, value, step, lever.changes(step)
    for name, (path, values, present) in WORDS.items():
        now = present(design)
        if now in values and not (served and name in OF_TRAINING):
            at = values.index(now)
            for index, other in enumerate(values):
                if index != at and (name in UNORDERED or abs(index - at) == 1):
                    yield name, now, other, {path: other}
