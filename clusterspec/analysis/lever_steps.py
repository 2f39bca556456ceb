"""The sold or usual values of a lever next to the value of a design."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from clusterspec.analysis.levers import LEVERS, OF_STORE, WORDS, lever_of
from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import Changes
from clusterspec.studies import Study

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
