"""Electrical power as drawn, and energy. Floats, in watts, seconds and joules."""

from __future__ import annotations

from clusterspec.cost.term import formula


@formula("limit * (busy * at_products + memory_bound * at_memory + (1 - busy - memory_bound) * at_waiting)")
def accelerator_draw(
    limit: float, busy: float, memory_bound: float, *, at_products: float, at_memory: float, at_waiting: float
) -> float:
    """The mean power of one accelerator at work, in watts.

    ``limit`` is its power limit; ``busy`` and ``memory_bound`` are the shares of the time in matrix products with
    attention, and in kernels bound by memory, at most 1 together. The rest waits: for exposed communication, other
    stages, stragglers.
    ``at_products``, ``at_memory`` and ``at_waiting`` are the shares of the limit that it draws then.

    >>> accelerator_draw(700.0, 0.6, 0.2, at_products=1.0, at_memory=0.8, at_waiting=0.5)
    602.0
    """
    return limit * (busy * at_products + memory_bound * at_memory + (1 - busy - memory_bound) * at_waiting)


@formula("accelerators * draw + host * accelerators * limit")
def node_draw(accelerators: float, draw: float, host: float, limit: float) -> float:
    """The power of one node, in watts: its accelerators at ``draw`` each, and the rest of the node.

    ``host`` is the power of processors, NICs, switches of the node and fans per watt of the accelerators' ``limit``.

    >>> node_draw(8, 600.0, 0.28, 700.0)
    6368.0
    """
    return accelerators * draw + host * accelerators * limit


@formula("used * busy + (nodes - used) * idle + switches")
def machine_draw(used: float, busy: float, nodes: float, idle: float, switches: float) -> float:
    """The power of a machine, in watts: ``used`` of its ``nodes`` at work, the others idle, and its switches.

    >>> machine_draw(60, 7_000.0, 64, 2_000.0, 16_000.0)
    444000.0
    """
    return used * busy + (nodes - used) * idle + switches


@formula("watts / tokens_per_second")
def energy_per_token(watts: float, tokens_per_second: float) -> float:
    """The energy of one token in joules, of the whole machine; without cooling and conversion of the facility.

    >>> energy_per_token(450_000.0, 900_000.0)
    0.5
    """
    return watts / tokens_per_second


@formula("watts * seconds")
def energy_of_run(watts: float, seconds: float) -> float:
    """The energy of a run of ``seconds`` in joules.

    >>> energy_of_run(1_000_000.0, 3_600.0)
    3600000000.0
    """
    return watts * seconds


@formula("busy * utilization + idle * (1 - utilization)")
def mean_draw(busy: float, idle: float, utilization: float) -> float:
    """The mean power of a machine that works for a share of the time and is idle otherwise, in watts.

    >>> mean_draw(1_000_000.0, 300_000.0, 0.8)
    860000.0
    """
    return busy * utilization + idle * (1 - utilization)
