"""Power, energy and space of a design, as the demands of texts bound them: from the power and energy models."""

from __future__ import annotations

from math import ceil

from clusterspec.rules.readers.demands.parts import Parts, Quantity, Value
from clusterspec.rules.readers.demands.power_values import full_power, machine_watts
from clusterspec.units import display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.energy import Supply
    from clusterspec.cost.power import MachinePower
    from clusterspec.cost.term import Term


def free_power(parts: Parts) -> Value | None:
    """The watts of the power budget that the machine leaves at full load; none where it exceeds the budget."""
    full, power = full_power(parts), parts.power
    budget = power.budget if power is not None else None
    if full is None or budget is None or budget.value < full[0]:
        return None
    free = budget.value - full[0]
    return Value(free, free, f"{budget.written} less {display(full[0], 'W')} at full load")


def free_share_of_power(parts: Parts) -> Value | None:
    """The share of the power budget that the machine leaves at full load; none where it exceeds the budget."""
    left = free_power(parts)
    if left is None or parts.power is None or parts.power.budget is None:
        return None
    share = left.low / parts.power.budget.value
    return Value(share, share, left.how)


def free_power_of_rack(parts: Parts) -> Value | None:
    """The watts below the limit of a rack that a full rack leaves."""
    from clusterspec.cost.nameplates import rack_power

    if parts.cluster is None or parts.power is None or parts.power.rack_limit is None:
        return None
    rack, limit = rack_power(parts.cluster, parts.power), parts.power.rack_limit
    if rack is None or rack > limit.value:
        return None
    return Value(limit.value - rack, limit.value - rack, f"{limit.written} less {display(rack, 'W')} of a full rack")


def drawn(parts: Parts) -> MachinePower | None:
    """The power and the energy of the machine with its work; none of a plan whose layout cannot run."""
    from clusterspec.cost.power import drawn_power

    if parts.work is None:
        return None
    return drawn_power(parts.plan, parts.counts.fabric, run=parts.plan.time_to_train, whole=True)


def _of_term(term: Term | None, how: str) -> Value | None:
    return Value(*term.ends, how) if term is not None else None


def load_step(parts: Parts) -> Value | None:
    """The watts by which the power falls when the job stops."""
    found = drawn(parts)
    swings = found.swings if found is not None else None
    return _of_term(swings.fall if swings is not None else None, "from full work to idle nodes")


def swing_of_step(parts: Parts) -> Value | None:
    """The watts by which the power changes within a step."""
    found = drawn(parts)
    swings = found.swings if found is not None else None
    return _of_term(swings.step if swings is not None else None, "between computation and communication")


def energy_of_run(parts: Parts) -> Value | None:
    """The joules of the predicted run: of the IT equipment, up to those at the meter."""
    found, buying = drawn(parts), parts.spec.procurement
    energy = found.of_run if found is not None else None
    if energy is None:
        return None
    pue = buying.pue if buying is not None and buying.pue else 1.0
    low, high = energy.ends
    return Value(low, high * pue, "as the plan draws it, without interruptions")


def carbon_of_run(parts: Parts) -> Value | None:
    """The kg of carbon of the energy of the predicted run."""
    found = drawn(parts)
    term = next((each for each in (found.carbon if found is not None else ()) if each.name == "of_run"), None)
    return _of_term(term, "of the energy that the plan draws")


def _supply(parts: Parts) -> Supply | None:
    from clusterspec.cost.energy import supply

    return supply(parts.cluster, parts.spec.cluster) if parts.cluster is not None else None


def racks_of_machine(parts: Parts) -> Value | None:
    """The racks of all nodes, where no key states the nodes of one."""
    return racks_of_nodes(parts) if parts.power is None or parts.power.nodes_per_rack is None else None


def racks_of_nodes(parts: Parts) -> Value | None:
    """The racks of all nodes."""
    found = _supply(parts)
    racks = found.racks if found is not None else None
    return Value(float(racks), float(racks), f"{racks} full racks") if racks else None


def rows_of_racks(parts: Parts) -> Value | None:
    """The rows that the racks with nodes fill."""
    floor = parts.spec.cluster.floor if parts.spec.cluster is not None else None
    racks = racks_of_nodes(parts)
    if racks is None or floor is None or not floor.racks_per_row:
        return None
    rows = float(ceil(racks.low / floor.racks_per_row))
    return Value(rows, rows, f"{racks.low:g} racks, {floor.racks_per_row} in a row")


def coolant_without_unit(parts: Parts) -> Value | None:
    """The watts of heat that the coolant units carry without one of them."""
    from clusterspec.cost.heat import cooling_units

    units = cooling_units(parts.power)
    if units is None or units.installed < 2:
        return None
    left = units.carried_watts(1)
    return Value(left, left, f"{units.installed - 1} of {units.installed} units")


SITE_QUANTITIES = {
    "free power": Quantity("cluster.power.budget", "the power that stays free", "W", free_power, 0.02),
    "free power of a rack": Quantity("cluster.power.rack_limit", "the power of a rack that stays free", "W", free_power_of_rack, 0.02),
    "energy of a run": Quantity("workload.tokens", "the energy of the run", "J", energy_of_run, 0.02),
    "carbon of a run": Quantity("operations.carbon.intensity", "the carbon of the run", "kg", carbon_of_run, 0.02),
    "load step": Quantity("cluster.power", "the fall of the power at the stop of a job", "W", load_step, 0.02),
    "swing of a step": Quantity("cluster.power", "the change of the power within a step", "W", swing_of_step, 0.02),
    "reserve supply": Quantity("cluster.power.node", "the power of the machine at full load", "W", machine_watts),
    "racks": Quantity("cluster.nodes", "the number of racks", "racks", racks_of_machine),
    "rows of racks": Quantity("cluster.floor.racks_per_row", "the number of rows of racks", "rows", rows_of_racks),
    "coolant without a unit": Quantity("cluster.power.cdus.redundancy", "the heat that the other units carry", "W", coolant_without_unit),
    "free share of the power": Quantity(
        "cluster.power.budget", "the share of the power that the machine leaves free", "%", free_share_of_power, 0.05
    ),
}  # fmt: skip
"""Quantities of power and space by their subject."""
