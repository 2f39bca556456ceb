"""The algorithms of each collective."""

from __future__ import annotations

from clusterspec.cost.collectives import exchanges, rings, trees
from clusterspec.cost.collectives.timing import Algorithm

_GATHERS: dict[str, Algorithm] = {
    "ring": rings.ring_gather,
    "direct": rings.mesh_gather,
    "torus": rings.torus_gather,
}
CHOICES: dict[str, dict[str, Algorithm]] = {
    "all-reduce": {
        "ring": rings.ring_all_reduce,
        "tree": trees.tree_all_reduce,
        "nvls": trees.switch_all_reduce,
        "collnet": trees.fabric_all_reduce,
        "direct": rings.mesh_all_reduce,
        "torus": rings.torus_all_reduce,
    },
    "all-gather": _GATHERS,
    "reduce-scatter": _GATHERS,
    "all-to-all": {"direct": exchanges.direct_all_to_all, "staged": exchanges.staged_all_to_all},
    "broadcast": {"ring": rings.ring_broadcast, "torus": rings.torus_broadcast},
    "send-recv": {"send": exchanges.send},
}
"""Algorithms that a library chooses from by default."""
ON_REQUEST: dict[str, dict[str, Algorithm]] = {
    "all-reduce": {"nvls-tree": trees.switch_all_reduce, "hierarchical": trees.hierarchical_all_reduce},
    "send-recv": {"direct": exchanges.send},
}
"""Algorithms used only on request, and alternative names."""


def algorithms(name: str, algorithm: str | None) -> tuple[Algorithm, ...]:
    """The algorithms to choose from; empty where the collective has none of that name."""
    if algorithm is None:
        return tuple(CHOICES[name].values())
    asked = {**CHOICES[name], **ON_REQUEST.get(name, {})}.get(algorithm)
    return (asked,) if asked else ()


def names_of(name: str) -> tuple[str, ...]:
    """The algorithm names that a caller may request for a collective."""
    return (*CHOICES[name], *ON_REQUEST.get(name, {}))
