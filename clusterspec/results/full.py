"""A complete report as one versioned value: every number on its pages is a JSON field."""

from __future__ import annotations

from datetime import date
from pathlib import PurePath

from clusterspec.procurement.cost import UseCost
from clusterspec.records import asdict, dataclass, field
from clusterspec.results import (
    BillReport,
    EstimateReport,
    Json,
    Result,
    common_fields,
    finding_json,
    result_repr,
    waived_json,
)
from clusterspec.results.decision import CostReport, DiffReport
from clusterspec.results.diagnosis import PlannedTest
from clusterspec.results.estimate_json import assumption_json
from clusterspec.results.facility import Facility
from clusterspec.results.faults import FaultsReport
from clusterspec.results.groups import Launch, RankGroups, SizedCollective
from clusterspec.results.levers import SensitivityReport
from clusterspec.results.machine import (
    Gain,
    LayoutGrid,
    LongestSequence,
    Loss,
    Machine,
    Pod,
    Reliability,
    Roofline,
    Schedule,
    StageMemory,
    Tier,
)
from clusterspec.results.search import SearchReport
from clusterspec.results.survival import Survival
from clusterspec.results.verdict import Area, Choices, Influence, Purchase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class FullReport(Result):
    """The content of a report. ``text`` is the spec as shown and attached; ``against`` are the compared designs."""

    kind: str
    audience: str
    today: date
    text: str
    estimate: EstimateReport
    bill: BillReport
    cost: CostReport
    areas: tuple[Area, ...] = ()
    purchase: Purchase | None = None
    """The amount, the gates before a signature, and the risks; None in a tender."""
    choices: Choices | None = None
    """This design, the compared designs and other sizes, if they have prices; None in a tender."""
    machine: Machine | None = None
    facility: Facility | None = None
    """Power at the meter, racks and cable runs; None for a cloud."""
    tiers: tuple[Tier, ...] = ()
    networks: tuple[NetworkChoice, ...] = ()
    """InfiniBand and RoCE for the same machine, if it supports both."""
    tests: tuple[PlannedTest, ...] = ()
    stages: tuple[StageMemory, ...] = ()
    longest: LongestSequence | None = None
    """For a training design: the longest sequence that fits with its layout."""
    roofline: Roofline | None = None
    schedule: Schedule | None = None
    """For a training design with several stages: the operations of its pipeline."""
    losses: tuple[Loss, ...] = ()
    """The losses between peak and achieved FLOP/s of a training step."""
    gains: tuple[Gain, ...] = ()
    """The single changes that shorten a training step most."""
    layouts: LayoutGrid | None = None
    influences: tuple[Influence, ...] = ()
    sensitivity: SensitivityReport | None = None
    reliability: Reliability | None = None
    faults: FaultsReport | None = None
    """The effects of single failures; None in a tender."""
    pod: Pod | None = None
    survival: Survival | None = None
    plans: SearchReport | None = None
    """For a serving design: plans with other engines on the same machine."""
    groups: tuple[RankGroups, ...] = ()
    """For a training design: the placement of its process groups."""
    collectives: tuple[SizedCollective, ...] = ()
    """The collectives of the acceptance plan by size."""
    uses: tuple[UseCost, ...] = ()
    """The cost of the work at other utilizations of the term."""
    launch: Launch | None = None
    """How the framework that a design names starts it."""
    difference: DiffReport | None = None
    """For a compared design: its differences from the first one."""
    against: tuple[FullReport, ...] = field(default=())

    __repr__ = result_repr

    @property
    def title(self) -> str:
        """The name of the spec, else its file name without folders."""
        return self.estimate.design.spec.name or self.file

    @property
    def names(self) -> tuple[str, ...]:
        """The names of this design and of each compared one, with the file where two designs have the same title."""
        titles = [self.title, *(other.title for other in self.against)]
        named = [f"{each.title} ({each.file})" if titles.count(each.title) > 1 else each.title for each in self.against]
        return ("A: this design", *(f"{letter}: {name}" for letter, name in zip("BCD", named, strict=False)))

    @property
    def file(self) -> str:
        """The file name of the spec without folders, which could reveal paths of the author's machine."""
        return PurePath(self.estimate.input.name).name or "-"

    @property
    def serves(self) -> bool:
        """Whether the workload is serving."""
        workload = self.estimate.design.workload
        return workload is not None and workload.kind == "serve"

    @property
    def signing(self) -> Purchase | None:
        """The buyer's decision; None in a design report, which states only the amount."""
        return self.purchase if self.kind == "procurement" else None

    @property
    def tender(self) -> bool:
        return self.audience == "tender"

    def to_json(self) -> Json:
        """The document written by `report -o out.json`, whose fields are referenced by the pages."""
        estimate = self.estimate
        document = estimate.design.spec.document
        read = {"file": self.file, "sha256": estimate.input.sha256}
        opening = common_fields(estimate.tool, estimate.input) | {
            "input": read,
            "kind": self.kind,
            "audience": self.audience,
            "date": self.today.isoformat(),
            "title": self.title,
            "description": estimate.design.spec.description,
            "document": {
                "revision": document.revision if document else None,
                "author": document.author if document else None,
                "signatories": list((document.signatories if document else None) or ()),
            },
            "verdict": estimate.verdict.to_json(),
            "accelerators_used": estimate.accelerators_used,
            "idle_nodes": estimate.idle_nodes,
            "areas": [area.to_json() for area in self.areas],
        }
        return opening | self._machine_json() | self._analysis_json() | self._appendix_json()

    def _machine_json(self) -> Json:
        """The purchase, the estimate, and the machine with its tests."""
        estimate = self.estimate
        return {
            "purchase": self.purchase.to_json() if self.purchase else None,
            "estimate": _estimate_json(estimate),
            "bill": _bill_json(self.bill),
            "cost": _without_header(self.cost.to_json()),
            "cost_by_use": [one._asdict() for one in self.uses],
            "choices": self.choices.to_json() if self.choices else None,
            "machine": self.machine.to_json() if self.machine else None,
            "facility": self.facility.to_json() if self.facility else None,
            "tiers": [tier.to_json() for tier in self.tiers],
            "networks": [network.to_json() for network in self.networks],
            "acceptance": {
                "plan": [test.to_json() for test in self.tests],
                "demanded": [_demanded_test(each) for each in estimate.design.spec.acceptance or ()],
            },
        }

    def _analysis_json(self) -> Json:
        """The limits of the plan, the effects of changes, and the effects of failures."""
        return {
            "stages": [stage.to_json() for stage in self.stages],
            "longest_sequence": self.longest.to_json() if self.longest else None,
            "losses": [loss.to_json() for loss in self.losses],
            "gains": [gain.to_json() for gain in self.gains],
            "roofline": self.roofline.to_json() if self.roofline else None,
            "schedule": self.schedule.to_json() if self.schedule else None,
            "layouts": self.layouts.to_json() if self.layouts else None,
            "sensitivity": _without_header(self.sensitivity.to_json()) if self.sensitivity else None,
            "influences": [influence_json(one) for one in self.influences],
            "pod": self.pod.to_json() if self.pod else None,
            "survival": self.survival.to_json() if self.survival else None,
            "reliability": self.reliability.to_json() if self.reliability else None,
            "faults": _without_header(self.faults.to_json()) if self.faults else None,
        }

    def _appendix_json(self) -> Json:
        """The findings, terms and groups, the spec, and the comparisons."""
        estimate = self.estimate
        return {
            "findings": []
            if self.tender
            else [_without_folders(finding_json(finding)) for finding in estimate.findings],
            "waived": [] if self.tender else [_without_folders(waived_json(one)) for one in estimate.waived],
            "glossary": [{"term": term, "meaning": meaning} for term, meaning in glossary(serving=self.serves)],
            "groups": [one.to_json() for one in self.groups],
            "collectives": [one.to_json() for one in self.collectives],
            "launch": self.launch.to_json() if self.launch else None,
            "plans": _without_header(self.plans.to_json()) if self.plans else None,
            "spec": self.text,
            "difference": _difference_json(self.difference, tender=self.tender) if self.difference else None,
            "against": [other.to_json() for other in self.against],
        }


def _without_header(document: Json) -> Json:
    """A result without the header fields."""
    return {key: value for key, value in document.items() if key not in ("version", "tool", "input")}


def _without_folders(row: Json) -> Json:
    """A finding with file names without folders."""
    related = [each | {"file": PurePath(each["file"]).name} for each in row.get("related", ())]
    return row | {"file": PurePath(row["file"]).name} | ({"related": related} if "related" in row else {})


def _difference_json(difference: DiffReport, *, tender: bool) -> Json:
    """A difference without names of files; in a tender, also without findings."""
    document = {key: value for key, value in _without_header(difference.to_json()).items() if key != "against"}
    findings = {
        name: [] if tender else [_without_folders(row) for row in rows] for name, rows in document["findings"].items()
    }
    return document | {"findings": findings}


def _estimate_json(report: EstimateReport) -> Json:
    document = _without_header(report.to_json())
    return document | {"waived": [_without_folders(row) for row in document["waived"]]}


def _bill_json(report: BillReport) -> Json:
    """The bill with null for absent prices."""
    document = _without_header(report.to_json())
    prices = {"unit_price": None, "price": None, "assumed": None}
    return document | {"items": [prices | item for item in document["items"]]}


def influence_json(influence: Influence) -> Json:
    """An influence with its values in SI units."""
    key, _, why = influence.assumption
    against = assumption_json((key, influence.against, why))["value"]
    return assumption_json(influence.assumption) | {
        "against": _plain_value(against),
        "step_time": influence.step_time,
        "memory": influence.memory,
    }


def _plain_value(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain_value(each) for each in value]
    return value if isinstance(value, str | int | float | bool | None) else str(getattr(value, "written", value))


def _demanded_test(test: Any) -> Json:
    """An acceptance test required by the spec, as written."""
    names = ("collective", "nodes", "ranks", "size", "busbw", "algbw", "algorithm", "scope", "passes", "duration")
    return {name: _plain_value(getattr(test, name)) for name in names}


GLOSSARY = (
    ("accelerator", "a package as sold: one GPU, TPU chip or Trainium device"),
    ("activation recomputation", "repeating part of the forward pass in the backward pass, to store fewer activations"),
    ("algbw, busbw", "algorithm bandwidth is bytes over time; bus bandwidth scales it to what each link carries"),
    ("bubble", "time in which a pipeline stage waits for its first or after its last micro-batch"),
    ("capacity", "memory of one accelerator as the driver reports it"),
    ("cp, dp, ep, pp, tp", "context, data, expert, pipeline and tensor parallelism, counted in ranks"),
    ("domain", "the accelerators that reach each other over the scale-up interconnect"),
    ("duplex", "both directions of a link summed; half of it is available per direction"),
    ("exposed communication", "the part of communication that does not overlap with computation"),
    ("goodput", "the share of time spent on training steps that are not lost to failures"),
    ("MFU, HFU", "model (hardware) FLOPs utilization: FLOPs without (with) recomputation over the dense peak"),
    ("oversubscription", "the bandwidth into a switch level over the bandwidth out of it"),
    ("rail", "the leaf switches that connect the NICs of one position in every node"),
    ("range", "the interval that contains most published runs of this kind"),
    ("rank", "one process; an accelerator holds one or more"),
    ("scale-up, scale-out", "the interconnect inside a domain, and the network between nodes"),
)
"""Term and meaning, in alphabetical order."""
OF_TRAINING = frozenset({"activation recomputation", "bubble", "goodput", "MFU, HFU"})
OF_SERVING = (
    ("aggregated, disaggregated", "prefill and decode on the same engines, or on separate ones"),
    ("attention_dp", "ranks of one engine that attend to different requests and share the experts"),
    ("cache", "the keys and values of the tokens of all requests in flight"),
    ("concurrency", "requests in flight at a time, including queued ones"),
    ("decode", "the steps that make one output token of every request in a batch"),
    ("engine, replica", "the ranks that serve requests together; a plan has one engine or several"),
    ("prefill", "the forward pass over the input of a request"),
    ("TPOT", "time per output token: the mean time between output tokens after the first"),
    ("TTFT", "time to first token: from a request to its first output token"),
)
"""Glossary terms for training only, and terms for serving plans."""


def glossary(*, serving: bool) -> tuple[tuple[str, str], ...]:
    """The terms of a report on training, or on a serving plan."""
    if not serving:
        return GLOSSARY
    kept = [pair for pair in GLOSSARY if pair[0] not in OF_TRAINING]
    return tuple(sorted((*kept, *OF_SERVING), key=lambda pair: pair[0].lower()))


@dataclass(frozen=True)
class NetworkChoice:
    """A technology of the fabric at the NIC rate of the design; ``present`` marks the design's own.

    ``wire`` is the latency in seconds between two adapters that the catalog has, with its basis in ``wire_basis``.
    ``near`` and ``far`` are the predicted latencies of a short message below one leaf and across the whole fabric, in
    seconds; ``predicted`` the rate of long messages across the fabric when all send, in B/s per direction; ``step`` the
    step time in seconds. None if unknown. ``nic_price`` and ``leaf_price`` are those that the spec states for the
    technology of the design, else empty.
    """

    technology: str
    name: str
    present: bool
    lossless: str
    reduces: bool
    wire: float | None
    wire_basis: str
    near: float | None
    far: float | None
    predicted: float | None
    step: float | None
    nic_price: str = ""
    leaf_price: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
