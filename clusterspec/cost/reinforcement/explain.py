"""The step of reinforcement learning as a term: each role with its formula and inputs."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.cost.formulas import EXPRESSIONS
from clusterspec.cost.formulas import reinforcement as formulas
from clusterspec.cost.reinforcement.times import RlTimes
from clusterspec.cost.term import Term, computed_figure, formula_source
from clusterspec.quantity import Figure

NAME = "rl_step"


def rl_term(times: RlTimes) -> Term:
    """The step with its parts."""
    rl, rollout = times.rl, times.rollout
    sync = _sync_term(times)
    training = _training_term(times)
    function: Callable[..., float] = formulas.serial_step_time
    parts: tuple[Term, ...]
    if rl.placement == "split" and rl.max_staleness:
        function = formulas.overlapped_step_time
        parts = (training, _busy_term(times), sync)
        inputs: tuple[tuple[str, Figure], ...] = (
            ("batch", _figure_in_seconds(rollout.batch, "generation of a batch, to its last sample")),
            ("staleness", computed_figure(float(rl.max_staleness), "workload.rl.max_staleness")),
        )
    elif rl.placement == "partial":
        function = formulas.partial_step_time
        parts = (training, sync)
        inputs = (
            ("started", _figure_in_seconds(rollout.drained, "generation on all nodes, until the last sample starts")),
            (
                "tail",
                _figure_in_seconds(
                    max(0.0, rollout.batch - rollout.drained), "the longest samples on nodes of their own"
                ),
            ),
            ("last", computed_figure(1 / rl.minibatches, "share of training that needs the last samples")),
            ("switch", _figure_in_seconds(times.switch, "one switch between engines and trainer")),
        )
    else:
        parts = (_rollout_term(times), training, sync)
        inputs = (
            ("switch", _figure_in_seconds(times.switch, "switch between engines and trainer; 0 on nodes of their own")),
        )
    low, high = times.band
    text = EXPRESSIONS[function]
    return Term(NAME, times.step, "s", text, inputs, parts, formula_source(function), low, high)


def _figure_in_seconds(value: float, why: str) -> Figure:
    return computed_figure(value, why, "s")


def _rollout_term(times: RlTimes) -> Term:
    rollout, waiting = times.rollout, times.rl.turns * times.rl.environment_time
    inputs = (
        ("busy", _figure_in_seconds(rollout.busy, "generation with all slots full")),
        (
            "tail",
            _figure_in_seconds(rollout.batch - rollout.busy - waiting, "slots that empty towards the longest sample"),
        ),
        ("environment", _figure_in_seconds(waiting, "turns × environment_time")),
    )
    return Term("rollout", rollout.batch, "s", "busy + tail + environment", inputs)


def _busy_term(times: RlTimes) -> Term:
    """Generation with full slots, or scoring on separate nodes if that takes longer."""
    rollout = times.rollout
    if times.producing_seconds > rollout.busy:
        scored = _figure_in_seconds(times.producing_seconds, "scores of a model on nodes of its own")
        return Term("busy", times.producing_seconds, "s", "scored", (("scored", scored),))
    busy: Callable[..., float] = formulas.rollout_busy_time
    inputs = (
        ("samples", computed_figure(rollout.samples, "samples of a step over attention ranks")),
        ("mean", computed_figure(rollout.mean, "mean tokens of an output")),
        ("step", _figure_in_seconds(rollout.step, "one decoding step with full slots, inside the training loop")),
        ("slots", computed_figure(rollout.slots, "samples in flight on one attention rank")),
        ("prompts", _figure_in_seconds(rollout.prompts, "prompts of one attention rank, inside the training loop")),
    )
    return Term("busy", rollout.busy, "s", EXPRESSIONS[busy], inputs, (), formula_source(busy))


def _training_term(times: RlTimes) -> Term:
    parts = [
        _trainer_term("log_probabilities", times.log_probabilities, "forward passes over all samples of a step", times),
        _trainer_term("update", times.update, "optimizer steps over all minibatches and epochs", times),
        _trainer_term("driver", times.driver, "rewards, packing and the exchange of samples", None),
    ]
    if times.waits:
        slowest = ", ".join(role.name for role in times.roles)
        parts.append(_trainer_term("waits", times.waits, f"waits for models on nodes of their own: {slowest}", None))
    return Term.total("training", tuple(parts))


def _trainer_term(name: str, seconds: float, why: str, times: RlTimes | None) -> Term:
    """A part of the trainer's time. Inside the training loop it is longer than for the part run separately, by the
    efficiency.
    """
    share = times.efficiency if times is not None else 1.0
    inputs = (
        ("alone", _figure_in_seconds(seconds * share, why)),
        ("efficiency", computed_figure(share, "rate inside the training loop, relative to equal sequences")),
    )
    return Term(name, seconds, "s", "alone / efficiency", inputs)


def _sync_term(times: RlTimes) -> Term:
    sync = times.sync
    transfer: Callable[..., float] = formulas.weight_sync_time
    inputs = (
        ("sent", computed_figure(sync.sent, "bytes through the slowest link", "B")),
        ("bandwidth", computed_figure(sync.bandwidth, "of that link, for broadcasts", "B/s")),
        ("tensors", computed_figure(sync.tensors, "tensors of the checkpoint")),
        ("overhead", _figure_in_seconds(sync.overhead, "of one tensor")),
        ("messages", computed_figure(sync.messages, "collectives and handles of single tensors")),
        ("each", _figure_in_seconds(sync.each, "of one of them, on average")),
        ("fixed", _figure_in_seconds(sync.fixed, "of one transfer")),
    )
    text = f"{EXPRESSIONS[transfer]} + fixed"
    return Term("sync", sync.seconds, "s", text, inputs, (), formula_source(transfer))
