"""Switches of a framework that are on or off; a variable in their place is neither."""

from __future__ import annotations

from clusterspec.exchange.import_result import ImportBuilder, Value
from clusterspec.exchange.workloads.keys import Keys, boolean_value


def set_switch(
    keys: Keys,
    path: str,
    names: tuple[str, ...],
    builder: ImportBuilder,
    states: tuple[Value, Value] = (False, True),
) -> None:
    """Set a key by a switch: the first of two ``states`` where it is off, the second where it is on."""
    if (state := switch_state(keys, names, builder)) is not None:
        builder.set(path, states[state], keys.line(*names))


def switch_state(keys: Keys, names: tuple[str, ...], builder: ImportBuilder) -> bool | None:
    """Whether a switch is on; None where the keys lack it, or where a variable gives it, which is listed."""
    value = keys.get(*names)
    state = boolean_value(value)
    if value is not None and state is None:
        why = "neither true nor false: a variable, or computed elsewhere"
        builder.unknown(f"{keys.find(*names)}: {str(value)[:60]}", why, keys.line(*names))
    return state
