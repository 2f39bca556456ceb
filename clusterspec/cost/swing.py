"""How fast and how far the power of a machine falls and rises: in each step, and when its job stops."""

from __future__ import annotations

from clusterspec.cost.formulas.power import power_fall, power_ramp
from clusterspec.cost.term import Term, computed_term, ranged_term
from clusterspec.quantity import Figure
from clusterspec.records import NamedTuple
from clusterspec.source import Assumed, Computed

RISE_WHY = (
    "power of training rises and falls within 0.2 s (rencewise.com/articles/AI-Workload-Power-Dynamics, read"
    " 2026-11-22); logs with one reading a second show 4.9 of the 7.9 kW of a node with 8 × B200 between two readings"
    " (MLPerf Inference 5.1, Lenovo, llama3.1-405b, Offline)"
)
RISE = tuple(Figure(value, "s", Assumed("power.rise_time", RISE_WHY)) for value in (0.1, 0.2, 1.0))
"""Seconds in which the power of a node rises or falls: low, middle, high."""


class Swings(NamedTuple):
    """Changes of power in watts: ``step`` within each step, ``fall`` when the job stops. ``ramp`` is the rate of change
    within a step, in W/s.
    """

    step: Term
    fall: Term
    ramp: Term


def swings(step: Term, used: float, busy: tuple[Term, Term, Term], idle: tuple[Term, Term, Term]) -> Swings:
    """The swings of a job on ``used`` nodes; each node draws ``busy`` or ``idle`` (low, middle, high)."""
    fall = ranged_term(*(_fall_term(used, at_work, without) for at_work, without in zip(busy, idle, strict=True)))
    low, high = (step.value if end is None else end for end in (step.low, step.high))
    fast, usual, slow = RISE
    ramp = ranged_term(_ramp_term(step, low, slow), _ramp_term(step, step.value, usual), _ramp_term(step, high, fast))
    return Swings(step, fall, ramp)


def _fall_term(used: float, busy: Term, idle: Term) -> Term:
    figures = (
        ("used", Figure(used, "1", Computed("accelerators_used / accelerators_per_node"))),
        ("node_busy", Figure(busy.value, "W", Computed(busy.formula))),
        ("node_idle", Figure(idle.value, "W", Computed(idle.formula))),
    )
    return computed_term("fall", power_fall, "W", figures)


def _ramp_term(step: Term, watts: float, rise: Figure) -> Term:
    swing = Figure(watts, "W", Computed(step.formula))
    return computed_term("ramp", power_ramp, "W/s", (("swing", swing), ("rise_time", rise)))
