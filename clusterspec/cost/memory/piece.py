"""A piece of what one layer stores, and the layers that have it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import Job
from clusterspec.quantity import Figure

KORTHIKANTI = "Korthikanti et al., arXiv 2205.05198"


class Layers(Enum):
    """Which layers have a piece."""

    ALL = "layers"
    FULL = "layers with full attention"
    WINDOW = "layers with a window"
    LINEAR = "layers with linear attention"
    DENSE = "dense layers"
    EXPERT = "expert layers"


MIXING = (Layers.FULL, Layers.WINDOW, Layers.LINEAR)
"""Kinds of layers by how they mix tokens; a layer is of one of them at most."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that one layer stores of one micro-batch; ``off`` the factors of low and high."""

    name: str
    value: float
    formula: str
    inputs: tuple[tuple[str, Figure], ...]
    source: str = KORTHIKANTI
    layers: Layers = Layers.ALL
    off: tuple[float, float] = (0.9, 1.1)


def sizes(job: Job, *keys: str) -> tuple[tuple[str, Figure], ...]:
    """The tokens of a rank, sizes of the model by their keys, and the tensor-parallel degree."""
    tokens = computed("tokens", job.tokens, "micro_batch × sequence_length / cp")
    return (tokens, *(job.given.model(key) for key in keys), job.given.layout("tp"))
