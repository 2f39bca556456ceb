"""Steps of levers and their effects: the sold or usual values next to that of a design, and the sensitivity of a study
to one step up and down, and to every other recomputation and sharding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf

from clusterspec.analysis.levers.keys import LEVERS, OF_STORE, WORDS, lever_of
from clusterspec.analysis.searches.studied import StudyVariations, currency_of, missing_for_estimate
from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import Changes
from clusterspec.records import replace
from clusterspec.results.levers import LeverRow, SensitivityReport
from clusterspec.studies import Study, variation

# The values that are tried

UNORDERED = frozenset({"recompute", "sharding"})
"""Levers that are tried with every other value: their best value need not be next to that of the design."""


def changes_of(design: Design, name: str, value: object) -> Changes:
    """The changes to a spec that set a lever to a value in SI units. Raises `ValueError` for an unknown lever or an
    invalid value.
    """
    if name in WORDS:
        return {WORDS[name][0]: value}
    if name not in LEVERS or isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < inf:
        raise ValueError(f"{name!r} does not take the value {value!r}")
    return lever_of(name, design).changes(float(value))


def neighboring_lever_values(study: Study, count: int) -> dict[str, tuple[float, ...]]:
    """For each numeric lever: its value in a design, in SI units, with up to ``count`` steps below and above."""
    design, found = study.design, dict[str, tuple[float, ...]]()
    sold = sold_steps(design, study.settings.catalog)
    for lever in (lever_of(name, design) for name in LEVERS if name == "storage.bandwidth" or name not in OF_STORE):
        value = lever.value(design)
        if value is not None and value > 0:
            steps = sold.get(lever.name, lever.steps)
            below = [step for step in steps if step < value * (1 - 1e-9)][-count:]
            above = [step for step in steps if step > value * (1 + 1e-9)][:count]
            found[lever.name] = (*below, value, *above)
    return found


def next_steps(steps: Sequence[float], value: float) -> tuple[float | None, float | None]:
    """The steps next to a value, below and above it; ``steps`` are in ascending order.

    >>> next_steps(LEVERS["oversubscription"].steps, 2.0)
    (1.5, 3.0)
    """
    below = [step for step in steps if step < value * (1 - 1e-9)]
    above = [step for step in steps if step > value * (1 + 1e-9)]
    return (below[-1] if below else None, above[0] if above else None)


def sold_steps(design: Design, catalog: Catalog) -> dict[str, tuple[float, ...]]:
    """The scale-up domains that platforms of the accelerator have, and whole domains of nodes."""
    cluster = design.cluster
    if cluster is None:
        return {}
    sold: dict[str, tuple[float, ...]] = {}
    domains = {float(one.domain) for one in catalog.platforms_with(cluster.accelerator.id) if one.domain}
    if domains:
        sold["scale_up.domain"] = tuple(sorted(domains))
    whole = cluster.scale_up.domain // cluster.accelerators_per_node
    if 1 < whole <= cluster.nodes:
        sold["nodes"] = tuple(float(whole * factor) for factor in LEVERS["nodes"].steps)
    return sold


# The effect of each


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
    studied, served = StudyVariations(study), study.plan.serving
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


def lever_rows(studied: StudyVariations) -> tuple[LeverRow, ...]:
    """The moves of `sensitivity`, sorted by their effect on the time per token (largest first), with refused steps
    last. For a plan above its capacity the effect is on the throughput.

    A step is omitted if its design does not resolve or has no time.
    """
    design = studied.one.design
    moves = _lever_moves(design, sold_steps(design, studied.one.settings.catalog))
    rows = [row for move in moves for row in _guarded_rows(studied, move)]
    return tuple(sorted(rows, key=lambda row: (bool(row.errors), -abs(row.effect or 0.0), row.key, str(row.after))))


def _guarded_rows(studied: StudyVariations, move: Move) -> tuple[LeverRow, ...]:
    """The row of a move; empty if its computation fails, which the study records."""
    return studied.one.part(f"{move[0]} {move[2]}", lambda: tuple(_move_rows(studied, move)), ())


def _move_rows(studied: StudyVariations, move: Move) -> Iterator[LeverRow]:
    key, before, after, changes = move
    unit = LEVERS[key].unit if key in LEVERS else ""
    varied = variation.varied_study(studied.one, changes)
    refused = studied.refusing_rules(varied)
    if refused:
        yield LeverRow(key, before, after, unit, None, None, None, varied.plan.fits, None, refused)
        return
    seconds, effect = _step_or_token_seconds(varied), _relative_effect(studied.one, varied)
    if seconds is not None:
        plan, served = varied.plan, varied.plan.serving
        cost = studied.cost(varied.design, plan)
        row = LeverRow(key, before, after, unit, seconds, plan.memory_bytes, cost, plan.fits, effect)
        if served is not None:
            tokens, grows = served.output_tokens_per_second, served.queue_grows
            row = replace(row, output_tokens_per_second=tokens, queue_grows=grows)
        yield row


def _relative_effect(study: Study, other: Study) -> float | None:
    """The relative change of the time per token from one study to another. If the queue of the first grows without
    limit, the change of output tokens per second, since its times are then those of full engines.
    """
    before, after = study.plan.serving, other.plan.serving
    if before is not None and after is not None and before.queue_grows:
        return after.output_tokens_per_second / before.output_tokens_per_second - 1
    base, each = _seconds_per_token(study), _seconds_per_token(other)
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
    """The levers of a design, each changed to its neighboring values. ``sold`` replaces the values of a lever by those
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
