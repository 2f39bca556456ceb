"""Power, heat, energy and carbon of a design, as the demands of texts bound them: from the power and energy models."""

from __future__ import annotations

from clusterspec.quantity import YEAR
from clusterspec.rules.readers.demands.parts import Parts, Value
from clusterspec.rules.readers.demands.reading import demands_in
from clusterspec.rules.readers.key_values import KILOWATT_HOUR
from clusterspec.units import display, percent


def full_power(parts: Parts) -> tuple[float, str] | None:
    """The watts of nodes, spares, switches and racks at full load, and their sum as text."""
    from clusterspec.cost.nameplates import it_power

    return it_power(parts.cluster, parts.counts.fabric, parts.power) if parts.cluster is not None else None


def machine_watts(parts: Parts) -> Value | None:
    """The watts of the whole machine at full load, which a supply of all of it carries."""
    full = full_power(parts)
    return Value(full[0], full[0], full[1]) if full is not None else None


def _liquid_heat(parts: Parts) -> tuple[float, float, float] | None:
    """The watts of the heat of all parts that a liquid takes, over the range of the share."""
    from clusterspec.cost.heat import loop_heat
    from clusterspec.cost.nameplates import node_cooling

    if parts.cluster is None or node_cooling(parts.cluster, parts.power)[0] != "liquid":
        return None
    return loop_heat(parts.cluster, parts.counts.fabric, parts.power)


def heat_to_water(parts: Parts) -> Value | None:
    """The watts of heat to the liquid, over the range of its share."""
    heat = _liquid_heat(parts)
    return Value(heat[0], heat[2], _share_text(parts)) if heat is not None else None


def heat_to_air(parts: Parts) -> Value | None:
    """The watts of heat to the air of a liquid-cooled machine; `air-coolers-below-heat` judges those cooled by air."""
    heat, full = _liquid_heat(parts), full_power(parts)
    if heat is None or full is None:
        return None
    return Value(full[0] - heat[2], full[0] - heat[0], f"{full[1]}, {_share_text(parts)}")


def _share_text(parts: Parts) -> str:
    share = parts.power.liquid_share if parts.power is not None else None
    return (
        f"the liquid takes {percent(share)} of the heat of nodes"
        if share is not None
        else "by the shares of published machines"
    )


def idle_watts(parts: Parts) -> Value | None:
    """The watts of the whole machine without work, where a key states those of a node: its other parts draw what they do under load."""
    from clusterspec.cost.nameplates import power_draw
    from clusterspec.cost.power import idle_power

    if parts.power is None or parts.power.node_idle is None or parts.cluster is None:
        return None
    found, nodes = idle_power(parts.planned.design, parts.counts.fabric), parts.cluster.all_nodes
    of_nodes = nodes * parts.power.node_idle.value
    draw, full = power_draw(parts.cluster, parts.counts.fabric, parts.power), full_power(parts)
    others = full[0] - draw.nodes * draw.node.value if full is not None and draw.node is not None else None
    watts = found.value if found is not None else None if others is None else of_nodes + others
    if watts is None:
        return None
    how = f"{nodes} nodes of {parts.power.node_idle.written}" + (
        f" and {display(watts - of_nodes, 'W')} of switches and racks" if watts - of_nodes > 1.0 else ""
    )
    return Value(watts, watts, how)


def facility_watts(parts: Parts) -> Value | None:
    """The watts at full load times the PUE."""
    full, pue = full_power(parts), _usage_effectiveness(parts)
    if full is None or pue is None:
        return None
    watts = full[0] * pue
    return Value(watts, watts, f"{full[1]}, at a PUE of {pue:g}")


def _usage_effectiveness(parts: Parts) -> float | None:
    """The PUE of the keys, else the only one that the text states."""
    buying = parts.spec.procurement
    if buying is not None and buying.pue is not None:
        return buying.pue
    stated = {each.value for each in demands_in(parts.text) if each.subject.name == "pue"}
    return stated.pop() if len(stated) == 1 else None


def row_watts(parts: Parts) -> Value | None:
    """The watts of a full row of racks."""
    from clusterspec.cluster.clos import parts_needed
    from clusterspec.cost.nameplates import rack_power

    floor = parts.spec.cluster.floor if parts.spec.cluster is not None else None
    if parts.cluster is None or parts.power is None or floor is None or floor.racks_per_row is None:
        return None
    rack = rack_power(parts.cluster, parts.power)
    if rack is None or parts.power.nodes_per_rack is None:
        return None
    racks = min(floor.racks_per_row, parts_needed(parts.cluster.all_nodes, parts.power.nodes_per_rack))
    return Value(rack * racks, rack * racks, f"{racks} racks of {display(rack, 'W')}")


def _mean_watts(parts: Parts) -> tuple[float, str] | None:
    """The mean watts at the meter for the stated utilization, and how they follow; without `node_idle`, idle nodes count nothing."""
    from clusterspec.cost.formulas.power import mean_draw

    full, buying, idle = full_power(parts), parts.spec.procurement, idle_watts(parts)
    if full is None or buying is None or buying.utilization is None:
        return None
    watts = mean_draw(full[0], idle.low if idle is not None else 0.0, buying.utilization) * (buying.pue or 1.0)
    at_meter = f", at a PUE of {buying.pue:g}" if buying.pue is not None else ""
    return watts, f"{display(full[0], 'W')} at full load for {percent(buying.utilization)} of the time{at_meter}"


def yearly_energy(parts: Parts) -> Value | None:
    """The joules of a year at the stated utilization."""
    found = _mean_watts(parts)
    return Value(found[0] * YEAR, found[0] * YEAR, found[1]) if found is not None else None


def _carbon_of(parts: Parts, seconds: float) -> Value | None:
    """The kg of carbon of some seconds at the mean power."""
    from clusterspec.cost.formulas.power import carbon_emitted, energy_of_run

    found, operations = _mean_watts(parts), parts.spec.operations
    carbon = operations.carbon if operations is not None else None
    if found is None or carbon is None or carbon.intensity is None:
        return None
    kilograms = carbon_emitted(energy_of_run(found[0], seconds), 1.0, carbon.intensity)
    return Value(kilograms, kilograms, f"{found[1]}, at {carbon.intensity:g} kg a kWh")


def yearly_carbon(parts: Parts) -> Value | None:
    """The kg of carbon of a year."""
    return _carbon_of(parts, YEAR)


def carbon_of_term(parts: Parts) -> Value | None:
    """The kg of carbon of the term."""
    buying = parts.spec.procurement
    return _carbon_of(parts, buying.term.value) if buying is not None and buying.term is not None else None


def rack_watts(parts: Parts) -> Value | None:
    """The watts of a full rack, where no key states its limit."""
    return watts_of_full_rack(parts) if parts.power is not None and parts.power.rack_limit is None else None


def watts_of_full_rack(parts: Parts) -> Value | None:
    """The watts of a rack with as many nodes as the keys state."""
    from clusterspec.cost.nameplates import rack_power

    power = parts.power
    if parts.cluster is None or power is None or power.nodes_per_rack is None:
        return None
    watts = rack_power(parts.cluster, power)
    return Value(watts, watts, f"{power.nodes_per_rack} nodes in each") if watts is not None else None


def yearly_price_of_energy(parts: Parts) -> Value | None:
    """The price of the energy of a year, at the mean price of a kWh."""
    from clusterspec.cost.energy import mean_price

    found, buying = _mean_watts(parts), parts.spec.procurement
    price = mean_price(buying, "currency") if found is not None else None
    if found is None or price is None:
        return None
    money = found[0] * YEAR / KILOWATT_HOUR * price.value
    return Value(money, money, f"{found[1]}, at {price.value:g} a kWh")


def node_watts(parts: Parts) -> Value | None:
    """The watts of a node at full load."""
    from clusterspec.cost.nameplates import power_draw

    node = power_draw(parts.cluster, parts.counts.fabric, parts.power).node if parts.cluster is not None else None
    return Value(node.value, node.value, "at full load") if node is not None else None
