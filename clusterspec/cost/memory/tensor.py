"""A tensor that one layer stores, and the layers that have it."""

from __future__ import annotations

from clusterspec.cost.memory.line import MemoryLine
from clusterspec.cost.memory.rank import Layers
from clusterspec.records import NamedTuple

KORTHIKANTI = "Korthikanti et al., arXiv 2205.05198"
DEEPSEEK = "DeepSeek-V2, arXiv 2405.04434"


class Tensor(NamedTuple):
    """A tensor that a layer of some kind stores for one micro-batch."""

    line: MemoryLine
    layers: Layers = Layers.ALL

    @property
    def name(self) -> str:
        return self.line.name

    @property
    def value(self) -> float:
        return self.line.value
