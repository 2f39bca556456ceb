"""The run, its checkpoints, new weights, starts of engines and acceptance tests of a design, as the demands of texts
bound them: from its keys and counts of the text."""

from __future__ import annotations

from itertools import islice

from clusterspec.cost.plan import Plan
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.demands.figures import demand_figures
from clusterspec.rules.readers.demands.parts import Parts, Value
from clusterspec.rules.readers.demands.reading import lexicon
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.written_numbers import large_number_in_text
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display


def passes_of_run(parts: Parts) -> Value | None:
    """The passes of the run over its data set."""
    written, work = parts.spec.workload, parts.work
    held = written.dataset_tokens if written is not None else None
    if held is None or work is None or not work.tokens or held.value <= 0:
        return None
    passes = work.tokens / held.value
    return Value(passes, passes, f"{display(work.tokens, '1')} tokens over a data set of {held.written}")


def steps_of_run(parts: Parts) -> Value | None:
    """The optimizer steps of the run."""
    work = parts.work
    steps = work.steps_of_run if work is not None else None
    if work is None or steps is None or not work.tokens:
        return None
    tokens = work.rl.step_tokens if work.rl is not None else work.tokens_of_step
    how = f"{display(work.tokens, '1')} tokens in batches of {tokens:,.0f}"
    return Value(float(steps), float(steps), how)


def lost_work(parts: Parts) -> Value | None:
    """The seconds of training that a failure costs at most: a checkpoint counts once it is written."""
    from clusterspec.rules.knowledge.checkpoints import asynchronous_checkpoint_time

    operations, work = parts.spec.operations, parts.work
    interval = operations.interval if operations is not None else None
    if operations is None or interval is None:
        return None
    written = asynchronous_checkpoint_time(
        operations,
        parts.spec.cluster.networks if parts.spec.cluster is not None else None,
        work.model if work is not None else None,
        work,
        parts.layout,
    )
    late = written.seconds if written is not None else 0.0
    how = f"a checkpoint each {interval.written}" + (
        f", which counts once it is written, {display(late, 's')} later" if late else ""
    )
    return Value(interval.value + late, interval.value + late, how)


def cost_of_failure(parts: Parts) -> Value | None:
    """The seconds that a failure costs at most: the work that is lost, and the stated times to detect it and to restart; the first
    alone, up to all, where the text does not say that it counts both.
    """
    lost, operations = lost_work(parts), parts.spec.operations
    if lost is None or operations is None:
        return None
    stops = {"detect": operations.detection_time, "restart": operations.restart_time}
    stopped = sum_of(each.value for each in stops.values() if each is not None)
    how = [f"{each.written} to {name}" for name, each in stops.items() if each is not None]
    counts_both = any({"stopword"} < lexicon().meanings(each) & _BOTH for each in plain_sentences(parts.text))
    return Value(lost.low + (stopped if counts_both else 0.0), lost.high + stopped, ", ".join((lost.how, *how)))


_BOTH = frozenset({"stopword", "rollback", "lostwork"})
"""Meanings of time without work, and of lost work."""


def checkpoint_read(parts: Parts) -> Value | None:
    """The seconds in which the nodes of the job read a checkpoint."""
    from clusterspec.rules.knowledge.checkpoints import stored_checkpoint_time

    networks, work = parts.spec.cluster.networks if parts.spec.cluster is not None else None, parts.work
    if work is None or work.kind == "serve":
        return None
    found = stored_checkpoint_time(networks, work.model, work, parts.layout, reads=True)
    if found is None:
        return None
    return Value(found.seconds, found.seconds, f"{display(found.size, 'B')} at {found.store}")


def weight_transfer(parts: Parts) -> Value | None:
    """The seconds in which new weights reach the engines of rollout; those of the bytes alone at least."""
    times = parts.plan.rl if parts.work is not None and parts.work.rl is not None else None
    if times is None:
        return None
    sync = times.sync
    return Value(
        sync.wire,
        sync.seconds,
        f"{display(sync.weights, 'B')} of weights take {display(sync.wire, 's')} for the bytes alone",
    )


def cold_start(parts: Parts) -> Value | None:
    """The seconds until an engine serves: as stated, or at least those to read its weights."""
    from clusterspec.cost.storage import engine_load

    work = parts.spec.workload
    if parts.work is None or parts.work.kind != "serve" or work is None or work.serving is None:
        return None
    stated = work.serving.scaling.cold_start if work.serving.scaling is not None else None
    if stated is not None:
        return Value(stated.value, stated.value, "as `workload.serving.scaling.cold_start` says")
    load = engine_load(parts.plan)
    if load is None:
        return None
    seconds = load.seconds.value
    return Value(
        seconds, seconds, f"{display(load.size.value, 'B')} of weights at {display(load.rate.value, 'B/s')} alone"
    )


def flops_of_run(parts: Parts) -> Value | None:
    """The FLOPs of the run by its tokens and the active parameters."""
    from clusterspec.cost.parameters import workload_flops_per_token

    work = parts.work
    if work is None or work.kind != "train" or work.rl is not None or not work.tokens:
        return None
    flops = work.tokens * workload_flops_per_token(work)
    return Value(flops, flops, f"{display(work.tokens, '1')} tokens of {flops / work.tokens:.3g} FLOP each")


def time_of_run(parts: Parts) -> Value | None:
    """The seconds of the run by the steps and the time of one that the text states; None where a key states its time."""

    operations = parts.spec.operations
    if operations is not None and operations.targets is not None and operations.targets.run_time is not None:
        return None
    span = run_span(parts.text)
    return Value(span.seconds, span.seconds, span.how) if span is not None else predicted_time(parts.plan)


def predicted_time(plan: Plan) -> Value | None:
    """The seconds of the predicted run without interruptions, over the range of the step."""
    if plan.is_update:
        return _time_of_all_roles(plan)
    steps, seconds = plan.step_time_range, plan.step_time
    if plan.time_to_train is None or steps is None or seconds is None:
        return None
    low, high = (plan.time_to_train * each / seconds.value for each in steps)
    return Value(low, high, f"predicted {display(low, 's')} to {display(high, 's')} without interruptions")


def _time_of_all_roles(plan: Plan) -> Value | None:
    """The seconds of the predicted run of reinforcement learning, over the range of its step."""
    if plan.time_to_train is None or plan.rl is None or not plan.rl.step:
        return None
    low, high = (plan.time_to_train * each / plan.rl.step for each in plan.rl.band)
    return Value(low, high, f"predicted {display(low, 's')} to {display(high, 's')} without interruptions")


def time_of_acceptance(parts: Parts) -> Value | None:
    """The seconds of the longest acceptance test with the rounds that the text states, and of all tests one after the other."""

    tests = [each for each in parts.spec.acceptance or () if each.duration is not None]
    if not tests:
        return None
    rounds = rounds_in(parts.text)
    times = [
        each.duration.value
        * (each.required_runs[1] if each.required_runs is not None else 1)
        * (rounds if each.scope is not None else 1)
        for each in tests
        if each.duration is not None
    ]
    of_rounds = f", in {rounds:g} rounds" if rounds > 1 else ""
    return Value(max(times), sum_of(times), f"the longest test with its runs{of_rounds}")


_ROUNDS = pattern(
    r"(?i)(?<![\w.,])(\d{1,4}) ?(?:rounds?\b|runden?\b|tours?\b|tournées?\b|rondas?\b|turni\b|giri\b|tornate\b|rondes?\b|rodadas?\b|rund\w*\b)"
)
_STEP, _OF_STEP = frozenset({("step", 1)}), frozenset({("s", 1), ("step", -1)})
MOST = 8
"""Counts of a text that are read."""


class Span(NamedTuple):
    """The seconds of a run, and how they follow."""

    seconds: float
    how: str


def rounds_in(text: str) -> float:
    """The rounds of a test that a text states; 1 unless it states one number of them.

    >>> rounds_in("All pairs are covered in 63 rounds."), rounds_in("3 rounds of talks, 5 rounds of tests")
    (63.0, 1.0)
    """
    found = {
        number
        for sentence in plain_sentences(text)
        for match in islice(_ROUNDS.finditer(sentence), MOST)
        if (number := large_number_in_text(match[1])) > 1
    }
    return found.pop() if len(found) == 1 else 1.0


def run_span(text: str) -> Span | None:
    """The time of a run of which a text states one number of steps and one time of a step; None without both.

    >>> run_span("We measured 5 minutes per step. 2,400 steps are planned.").seconds
    720000.0
    """
    steps, seconds = dict[float, str](), dict[float, str]()
    for sentence in plain_sentences(text):
        if words_of_another(sentence):
            continue
        for each in demand_figures(sentence):
            if each.powers == _STEP and each.value > 1:
                steps[each.value] = each.words
            elif each.powers == _OF_STEP:
                seconds[each.value] = each.words
    if len(steps) != 1 or len(seconds) != 1:
        return None
    (count, counted), (each_takes, _) = *steps.items(), *seconds.items()
    return Span(count * each_takes, f"{counted} of {display(each_takes, 's')} each")
