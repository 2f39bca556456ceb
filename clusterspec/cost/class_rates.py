"""Failures in a year of the classes of parts of a machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from clusterspec.catalog import Catalog
from clusterspec.cluster.clos import FIBER, FIXED_ENDS
from clusterspec.cluster.fabric import Fabric, cable_types, fabric_of_cluster
from clusterspec.cluster.model import Assumption, Cluster, Design
from clusterspec.cost.failures import PartRate, part_rate, source_text, stated_rate, stated_time_between_failures
from clusterspec.cost.part_classes import BuiltMachine, PartClass, part_classes
from clusterspec.quantity import YEAR, Figure
from clusterspec.records import NamedTuple
from clusterspec.source import Assumed, Written
from clusterspec.spec.model import ClusterSpec, FailuresSpec, OperationsSpec
from clusterspec.standard import sum_of
from clusterspec.units import plain

LEVEL_OF = {"NIC-leaf link": "node_leaf", "leaf-spine link": "leaf_spine", "spine-core link": "spine_core"}
"""The level of the fabric to which each class of links belongs, as named in `cluster.scale_out.cable_type`."""
COPPER = FIXED_ENDS - {"aoc"}
"""Types of cables without optical parts."""


class MachineRates(NamedTuple):
    """The inputs of a machine's failure rates: its parts, and the rates in the spec and the catalog.

    ``accelerators`` belong to the job.
    """

    cluster: Cluster
    written: ClusterSpec
    accelerators: int
    stated: FailuresSpec | None
    catalog: Catalog

    def cable_type(self, link: str) -> str:
        """The type of the cables of a class of links."""
        out = self.cluster.scale_out
        assert out is not None
        written = self.written.scale_out.cable_type if self.written.scale_out else None
        return cable_types(out, written).get(LEVEL_OF[link], FIBER)

    def rates_of_one(self, part: PartClass) -> Iterator[tuple[int, PartRate]]:
        """The failure rates of the components of one part, each with their number.

        A link has one cable, and two optical modules unless it is copper. A stated rate for either cable or module
        includes the other, because logs seldom separate them.
        """
        if part.kind != "link":
            rate = part_rate(part.kind, self.stated, self.catalog) if part.kind else None
            yield from [(1, rate)] if rate is not None else []
            return
        numbers = {"cable": 1, "optic": 0 if self.cable_type(part.name) in COPPER else 2}
        own = {key: stated_rate(key, getattr(self.stated, key, None)) for key in numbers}
        fixed = self.cable_type(part.name) in FIXED_ENDS
        written = {key: rate for key, rate in own.items() if rate is not None and not (fixed and key == "optic")}
        published = {key: part_rate(key, None, self.catalog) for key in numbers} if not written else {}
        found = {**published, **written}
        yield from ((numbers[key], rate) for key, rate in found.items() if rate is not None and numbers[key])

    def part_count(self, part: PartClass) -> int:
        """The number of parts of a class that carry the job. Failures of software and of the network are counted per
        accelerator.
        """
        return self.accelerators if part.kind in ("software", "network") else part.used

    def rates_of_classes(self, classes: Iterable[PartClass], whole: float | None) -> dict[str, PartRate]:
        """The failures per year of each class with a known rate.

        ``whole`` is the stated number of failures that interrupt the job. Classes with a stated rate count toward it;
        the other classes that interrupt share the rest in proportion to the catalog's rates. What only slows the job
        keeps its rate.
        """
        known = [(part, rate) for part in classes if (rate := self._rate_of_class(part)) is not None]
        found = {part.name: rate for part, rate in known}
        if whole is None:
            return found
        counted = [(part.name, rate) for part, rate in known if part.interrupts_job]
        own = sum_of(rate.yearly for _, rate in counted if isinstance(rate.origin, Written))
        rest = sum_of(rate.yearly for _, rate in counted) - own
        share = max(0.0, whole - own) / rest if rest else 0.0
        return found | {
            name: _exact_rate(rate, rate.yearly * share)
            for name, rate in counted
            if not isinstance(rate.origin, Written)
        }

    def _rate_of_class(self, part: PartClass) -> PartRate | None:
        number, rates = self.part_count(part), [rate.times(each) for each, rate in self.rates_of_one(part)]
        if not number or not rates:
            return None
        largest = max(rates, key=lambda rate: rate.yearly)
        yearly, low, high = (sum_of(getattr(rate, end) for rate in rates) for end in ("yearly", "low", "high"))
        return PartRate(part.name, yearly, low, high, largest.origin, largest.repair).times(number)

    def assumptions(self, classes: Iterable[PartClass]) -> Iterator[Assumption]:
        """The rates that the spec does not state, each once, with their ranges and sources."""
        used = (rate for part in classes if self.part_count(part) for _, rate in self.rates_of_one(part))
        named: Mapping[str, PartRate] = {rate.part: rate for rate in used if not isinstance(rate.origin, Written)}
        for name, rate in named.items():
            shown = f"{plain(rate.yearly, 3)} in a year ({plain(rate.low, 2)} to {plain(rate.high, 2)})"
            yield f"operations.failures.{name}", shown, source_text(rate)


class MachineFailures(NamedTuple):
    """The failures of a machine: the classes of its parts, and the failures per year of each class with a known rate.

    ``stated`` is the seconds between failures of the job as the spec states them. ``uncounted`` says why the parts of
    the fabric are not counted; it is empty if they are.
    """

    machine: BuiltMachine
    classes: tuple[PartClass, ...]
    rates: MachineRates
    yearly: Mapping[str, PartRate]
    stated: Figure | None
    uncounted: str

    @classmethod
    def from_design(cls, design: Design) -> MachineFailures:
        """The failures of the machine of a design with a cluster."""
        cluster, written = design.cluster, design.spec.cluster or ClusterSpec()
        assert cluster is not None and design.catalog is not None
        operations = design.spec.operations or OperationsSpec()
        counted = fabric_of_cluster(cluster, written.scale_out)
        uncounted = "" if isinstance(counted, Fabric) else counted.why
        machine = BuiltMachine.from_design(design, cluster, counted if isinstance(counted, Fabric) else None)
        classes = tuple(part_classes(machine))
        rates = MachineRates(cluster, written, machine.accelerators, operations.failures, design.catalog)
        stated = stated_time_between_failures(operations, machine.nodes)
        yearly = rates.rates_of_classes(classes, YEAR / stated.value if stated is not None else None)
        return cls(machine, classes, rates, yearly, stated, uncounted)

    @property
    def interrupting(self) -> tuple[tuple[PartClass, PartRate], ...]:
        """The classes whose failures interrupt a job, with their rates."""
        known = ((part, self.yearly.get(part.name)) for part in self.classes if part.interrupts_job)
        return tuple((part, rate) for part, rate in known if rate is not None)

    @property
    def time_between(self) -> tuple[Figure, tuple[float, float]]:
        """Seconds between the failures that interrupt the job, and the range."""
        if self.stated is not None:
            return self.stated, (self.stated.value, self.stated.value)
        rates = [rate for _, rate in self.interrupting]
        middle, low, high = (
            YEAR / max(sum_of(getattr(rate, end) for rate in rates), RAREST) for end in ("yearly", "high", "low")
        )
        own = [rate.origin.key.rpartition(".")[2] for rate in rates if isinstance(rate.origin, Written)]
        why = "all causes at the catalog's rates, as `clusterspec faults` lists them"
        if own:
            why = f"operations.failures of {', '.join(own)}; {why.replace('all', 'the other')}"
        return Figure(middle, "s", Assumed("operations.mean_time_between_failures", why)), (low, high)


RAREST = 1e-9
"""Assumed failures per year of a job if the spec states that its parts never fail."""


def _exact_rate(rate: PartRate, yearly: float) -> PartRate:
    """A rate without a range."""
    return rate._replace(yearly=yearly, low=yearly, high=yearly)
