"""Electrical power as drawn, and energy. Floats, in watts, seconds and joules."""

from __future__ import annotations

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.compute import larger, power, smaller


@formula("sqrt(max(0, (cap - idle) / (draw - idle)))")
def capped_rate(cap: float, draw: float, idle: float) -> float:
    """The rate of matrix products under a power ``cap`` relative to the rate at their uncapped ``draw``.

    ``cap``, ``draw`` and ``idle`` are in watts. Power above ``idle`` is proportional to the square of the rate. It
    rises faster than the clock because voltage rises with the clock, and slower than the clock's cube because this
    clock does not drive all of the power.

    Range: draw > idle, idle >= 0, cap >= 0.

    >>> capped_rate(250.0, 700.0, 100.0)
    0.5
    """
    return power(larger(0.0, (cap - idle) / (draw - idle)), 0.5)


@formula("min(1, sqrt(max(0, (limit - idle) / (draw - idle))) * measured / peak)")
def limited_share(limit: float, draw: float, idle: float, *, peak: float, measured: float) -> float:
    """The rate of GEMMs of a part with a power ``limit``, relative to the share of its ``peak`` that another part of
    the same chip reached; that part has the limit ``draw`` and the peak ``measured``. At most 1.

    All arguments apply to one compute unit: watts, and FLOP/s. Units of one chip have the same rate at the same power,
    so a part whose peak is reduced less than its power reaches a smaller share of its peak.

    Range: draw > idle, idle >= 0, limit >= 0, peak > 0, measured > 0.

    >>> limited_share(2.5, 7.0, 1.0, peak=6.0, measured=9.0), limited_share(7.0, 7.0, 1.0, peak=6.0, measured=9.0)
    (0.75, 1.0)
    """
    return smaller(1.0, capped_rate(limit, draw, idle) * measured / peak)


@formula(
    "busy * min(cap, at_products * limit)"
    " + memory_bound * min(cap, limit, (at_memory + at_arithmetic * arithmetic) * limit)"
    " + host_bound * min(cap, at_host * limit) + unused * idle"
    " + (1 - busy - memory_bound - host_bound - unused) * min(cap, at_waiting * limit)"
)
def accelerator_draw(
    limit: float,
    cap: float,
    busy: float,
    memory_bound: float,
    *,
    host_bound: float,
    unused: float,
    arithmetic: float,
    idle: float,
    at_products: float,
    at_memory: float,
    at_arithmetic: float,
    at_host: float,
    at_waiting: float,
) -> float:
    """The mean power of one accelerator under load, in watts.

    ``limit`` is the accelerator's power limit, ``cap`` the limit that is set and ``idle`` the power without work, all
    in watts. Four shares of the time add up to at most 1: ``busy`` in matrix products and attention, ``memory_bound``
    in memory-bound kernels, ``host_bound`` waiting for the host, ``unused`` without a request. The rest is waiting for
    exposed communication, other stages and stragglers. ``arithmetic`` is the share of the matrix peak that memory-bound
    kernels use. ``at_products``, ``at_memory``, ``at_host`` and ``at_waiting`` are the shares of the limit that it
    draws then; ``at_arithmetic`` is the share that the whole matrix peak adds to ``at_memory``.

    Source: power as a constant part, a part for bytes and a part for arithmetic: Choi et al., "A Roofline Model of
    Energy", IPDPS 2013.

    >>> def draw(cap, *shares):
    ...     names = ("busy", "memory_bound", "host_bound", "unused", "arithmetic")
    ...     at = dict(at_products=1.0, at_memory=0.8, at_arithmetic=1.0, at_host=0.25, at_waiting=0.5)
    ...     return accelerator_draw(700.0, cap, **dict(zip(names, shares)), idle=70.0, **at)
    >>> draw(700.0, 0.6, 0.2, 0.0, 0.0, 0.0), draw(500.0, 0.6, 0.2, 0.0, 0.0, 0.0)
    (602.0, 470.0)
    >>> draw(700.0, 0.0, 0.5, 0.2, 0.2, 0.1)
    399.0
    """
    waiting = 1 - busy - memory_bound - host_bound - unused
    return (
        busy * smaller(cap, at_products * limit)
        + memory_bound * smaller(smaller(cap, limit), (at_memory + at_arithmetic * arithmetic) * limit)
        + host_bound * smaller(cap, at_host * limit)
        + unused * idle
        + waiting * smaller(cap, at_waiting * limit)
    )


@formula("accelerators * (draw + host + fans * (limit + 3 * draw) / 4)")
def node_draw(accelerators: float, draw: float, host: float, fans: float, limit: float) -> float:
    """The power of one node, in watts: its accelerators at ``draw`` each, and the rest of the node.

    ``host`` is the power of the node's processors, NICs and switches per accelerator, in watts. ``fans`` is the fan
    power per watt of the accelerator's ``limit`` at full load; a quarter of it is constant, the rest is proportional to
    the draw.

    >>> node_draw(8, 700.0, 196.0, 0.16, 700.0)
    8064.0
    >>> node_draw(8, 100.0, 196.0, 0.0, 700.0)
    2368.0
    """
    return accelerators * (draw + host + fans * (limit + 3 * draw) / 4)


@formula("used * node_busy + (nodes - used) * node_idle + switches")
def machine_draw(used: float, node_busy: float, nodes: float, node_idle: float, switches: float) -> float:
    """The power of a machine, in watts: ``used`` of the ``nodes`` under load, all other nodes idle, and the switches.

    Range: nodes >= used.

    >>> machine_draw(60, 7_000.0, 64, 2_000.0, 16_000.0)
    444000.0
    """
    return used * node_busy + (nodes - used) * node_idle + switches


@formula("used * node_busy + (nodes - used) * node_idle + switches + rack_overhead")
def racks_draw(
    used: float, node_busy: float, nodes: float, node_idle: float, switches: float, *, rack_overhead: float
) -> float:
    """The power of a machine in watts, including ``rack_overhead`` watts that all racks together draw in addition to
    their nodes.

    Range: nodes >= used.

    >>> racks_draw(60, 7_000.0, 64, 2_000.0, 16_000.0, rack_overhead=4_000.0)
    448000.0
    """
    return machine_draw(used, node_busy, nodes, node_idle, switches) + rack_overhead


@formula("count * watts_each")
def power_of_parts(count: float, watts_each: float) -> float:
    """The electrical power of a number of parts at full load, in watts.

    >>> power_of_parts(64, 10_200.0)
    652800.0
    """
    return count * watts_each


@formula("used * accelerators * (min(cap, at_products * limit) - min(cap, at_waiting * limit))")
def power_swing(
    used: float, accelerators: float, limit: float, cap: float, *, at_products: float, at_waiting: float
) -> float:
    """The drop and rise of a machine's power in each step, in watts, when all accelerators wait together for exposed
    communication.

    Waiting kernels keep running; `power_fall` is the drop at a stop.

    Range: at_products >= at_waiting.

    >>> power_swing(64, 8, 700.0, 700.0, at_products=1.0, at_waiting=0.65)
    125440.0
    """
    return used * accelerators * (smaller(cap, at_products * limit) - smaller(cap, at_waiting * limit))


@formula("used * (node_busy - node_idle)")
def power_fall(used: float, node_busy: float, node_idle: float) -> float:
    """The drop in a machine's power, in watts, when its job stops: for a failure, or for a blocking checkpoint.

    Range: node_busy >= node_idle.

    >>> power_fall(64, 7_000.0, 2_400.0)
    294400.0
    """
    return used * (node_busy - node_idle)


@formula("swing / rise_time")
def power_ramp(swing: float, rise_time: float) -> float:
    """The rate of the power of a machine at the edges of a swing, in W/s; ``swing`` in watts, ``rise_time`` in seconds.

    Range: rise_time > 0.

    >>> power_ramp(125_440.0, 0.25)
    501760.0
    """
    return swing / rise_time


@formula("watts / tokens_per_second")
def energy_per_token(watts: float, tokens_per_second: float) -> float:
    """The energy of one token in joules, of the whole machine; without cooling and conversion of the facility.

    Range: tokens_per_second > 0.

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

    Range: utilization <= 1.

    >>> mean_draw(1_000_000.0, 300_000.0, 0.8)
    860000.0
    """
    return busy * utilization + idle * (1 - utilization)


@formula("joules / 3600000 * pue * price")
def energy_price(joules: float, pue: float, price: float) -> float:
    """The price of an energy drawn by IT equipment, at ``price`` for a kWh at the meter of a site with ``pue``.

    >>> energy_price(7_200_000.0, 1.5, 0.2)
    0.6000000000000001
    """
    return joules / 3_600_000 * pue * price


@formula("joules / 3600000 * pue * intensity")
def carbon_emitted(joules: float, pue: float, intensity: float) -> float:
    """The carbon of an energy drawn by IT equipment in kg of CO2 equivalent; ``intensity`` in kg per kWh at the meter.

    >>> carbon_emitted(7_200_000.0, 1.5, 0.3)
    0.8999999999999999
    """
    return joules / 3_600_000 * pue * intensity


@formula("nodes_per_rack * node + overhead")
def rack_draw(nodes_per_rack: float, node: float, overhead: float) -> float:
    """The power of a full rack at the nameplates of its nodes, in watts.

    >>> rack_draw(4, 10_200.0, 0.0)
    40800.0
    """
    return nodes_per_rack * node + overhead


@formula("watts / (feeds - spare)")
def feed_rating(watts: float, feeds: float, spare: float) -> float:
    """The watts that each remaining feed carries when ``spare`` feeds have failed.

    Range: feeds > spare, spare >= 0.

    >>> feed_rating(40_800.0, 3, 1)
    20400.0
    """
    return watts / (feeds - spare)


@formula("watts * feeds / (feeds - spare)")
def feeds_capacity(watts: float, feeds: float, spare: float) -> float:
    """The capacity of all power feeds in watts for a load of ``watts``, if ``spare`` of every ``feeds`` feeds may fail.

    Range: feeds > spare, spare >= 0.

    >>> feeds_capacity(40_800.0, 3, 1)
    61200.0
    """
    return watts * feeds / (feeds - spare)


@formula("watts * share + switches * switch_share")
def heat_to_liquid(watts: float, share: float, switches: float, switch_share: float) -> float:
    """The heat of nodes and switches that a coolant loop carries away, in watts.

    The coolant removes ``share`` of the power of the nodes (``watts``) and ``switch_share`` of the switches' power.

    >>> heat_to_liquid(100_000.0, 0.85, 10_000.0, 0.0)
    85000.0
    """
    return watts * share + switches * switch_share


@formula("watts * (1 - share) + switches * (1 - switch_share)")
def heat_to_air(watts: float, share: float, switches: float, switch_share: float) -> float:
    """Watts of heat that the air of the data hall removes from nodes and switches: what `heat_to_liquid` leaves.

    Range: share <= 1, switch_share <= 1.

    >>> heat_to_air(100_000.0, 0.75, 10_000.0, 0.0)
    35000.0
    """
    return watts * (1 - share) + switches * (1 - switch_share)


@formula("watts / (capacity * rise)")
def flow_of_coolant(watts: float, capacity: float, rise: float) -> float:
    """The volume flow of air or of a liquid that carries heat away, in m³/s: an energy balance.

    ``capacity`` is the heat that a volume takes up, in J/(m³ K), and ``rise`` the difference of temperature between
    outlet and inlet, in K.

    Range: capacity > 0, rise > 0.

    >>> round(flow_of_coolant(100_000.0, 1.2 * 1006.0, 15.0), 2)
    5.52
    """
    return watts / (capacity * rise)
