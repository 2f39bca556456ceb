"""The parts of a design from which the quantities that demands bound follow, and the value of one."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.parts import PlannedDesign
from clusterspec.spec.model import PowerSpec, Spec


class Parts(NamedTuple):
    """The parts of a design from which quantities follow."""

    spec: Spec
    planned: PlannedDesign
    counts: FabricCount
    text: str = ""
    """The text of the demands, which may also state what the keys do not: rounds of a test, and the time of a step."""
    sentence: str = ""
    """The sentence of one demand, which may say what its figure includes: a tax, a discount."""

    @property
    def plan(self) -> Plan:
        return self.planned.plan

    @property
    def cluster(self) -> Cluster | None:
        return self.planned.design.cluster

    @property
    def work(self) -> Workload | None:
        return self.planned.design.workload

    @property
    def layout(self) -> Layout | None:
        return self.planned.design.layout

    @property
    def power(self) -> PowerSpec | None:
        return self.spec.cluster.power if self.spec.cluster is not None else None


class Value(NamedTuple):
    """The value of a quantity in SI, the ends of its range, and how it follows from the keys."""

    low: float
    high: float
    how: str


EXACT = 0.005
"""Relative difference up to which a quantity keeps a demand: both are rounded."""


class Quantity(NamedTuple):
    """A quantity of a design: the key that decides it, what it is, its unit in messages, and its value; None where it is not known."""

    key: str
    what: str
    unit: str
    of: Callable[[Parts], Value | None]
    slack: float = EXACT
