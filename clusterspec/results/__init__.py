"""Versioned results of commands, as typed values that writers convert to bytes.

Each has `to_json`, its JSON document: SI numbers, ``None`` for figures that could not be computed,
``"version": 1`` first. Writers are pure functions of these values.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from clusterspec.document.files import FileName
from clusterspec.finding import Finding, Severity
from clusterspec.records import asdict, dataclass, field
from clusterspec.source import Source, pointer
from clusterspec.standard import sha256_text
from clusterspec.units import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import pandas

    from clusterspec.cluster.fabric import Fabric
    from clusterspec.cluster.model import Design
    from clusterspec.cost.collectives.predict import CollectiveRow
    from clusterspec.cost.plan import Plan
    from clusterspec.cost.power import MachinePower
    from clusterspec.cost.storage import StorageUse
    from clusterspec.cost.term import Term
    from clusterspec.document.waivers import WaivedFinding
    from clusterspec.procurement.bill import Bill
    from clusterspec.procurement.items import Item
    from clusterspec.results.estimate_json import Provenance
    from clusterspec.results.verdict import Verdict

Json = dict[str, "Any"]
VERSION = 1
NOTHING_CHECKED = "No specs found: no YAML file with a top-level `clusterspec:` key. Nothing was checked."
INCOMPLETE = "an internal error prevented a part of the check"


@dataclass(frozen=True)
class Tool:
    """The versions of program and catalog."""

    version: str
    catalog: str

    def to_json(self) -> Json:
        return {"version": self.version, "catalog": self.catalog}


@dataclass(frozen=True)
class Input:
    """The input file and its bytes; None if a command reads no spec."""

    file: str | None = None
    data: bytes | None = field(default=None, repr=False)

    @property
    def sha256(self) -> str | None:
        """The SHA-256 of the bytes."""
        if self.data is None:
            return None
        return sha256_text(self.data)

    @property
    def name(self) -> str:
        """The display name of the input."""
        return self.file or "-"

    def to_json(self) -> Json:
        return {"file": self.file, "sha256": self.sha256}


def common_fields(tool: Tool, source: Input) -> Json:
    """The common first fields of all JSON documents."""
    return {"version": VERSION, "tool": tool.to_json(), "input": source.to_json()}


def finding_json(finding: Finding) -> Json:
    """A finding as JSON."""
    out: Json = {
        "rule": finding.rule,
        "severity": str(finding.severity),
        "confidence": str(finding.confidence),
        "message": finding.message,
        "help": finding.help,
        "file": finding.span.file,
        "line": finding.span.start.line,
        "column": finding.span.start.column,
        "end_line": finding.span.end.line,
        "end_column": finding.span.end.column,
        "path": pointer(finding.path),
        "related": [
            {"file": span.file, "line": span.start.line, "column": span.start.column, "message": note}
            for span, note in finding.related
        ],
    }
    if finding.edits:
        out["fix"] = {
            "description": finding.fix_description,
            "safe": finding.fix_safe,
            "edits": [
                {
                    "line": edit.span.start.line,
                    "column": edit.span.start.column,
                    "end_line": edit.span.end.line,
                    "end_column": edit.span.end.column,
                    "text": edit.text,
                }
                for edit in finding.edits
            ],
        }
    return out


def waived_json(waived: WaivedFinding) -> Json:
    """A waived finding as JSON: rule, severity, reason and expiry date of the waiver."""
    until = waived.waiver.until
    return {
        "rule": waived.finding.rule,
        "severity": str(waived.finding.severity),
        "message": waived.finding.message,
        "file": waived.finding.span.file,
        "line": waived.finding.span.start.line,
        "reason": waived.waiver.reason,
        "until": until.isoformat() if until else None,
    }


def counts_by_severity(findings: tuple[Finding, ...]) -> dict[str, int]:
    """The number of findings by severity."""
    return {str(level): sum(finding.severity is level for finding in findings) for level in Severity}


class Result:
    """The result of a command: one line as `repr`, figures and tables in a notebook, data frames."""

    __slots__ = ()

    def to_json(self) -> Json:
        """The JSON document of the result, in SI units."""
        raise NotImplementedError

    def frames(self) -> dict[str, pandas.DataFrame]:
        """The tables of the result by name. Raises `ModuleNotFoundError` where pandas is not installed."""
        from clusterspec.results.shown import data_frames

        return data_frames(self)

    def _repr_html_(self) -> str:
        from clusterspec.results.shown import result_html

        return result_html(self)


def result_repr(result: Result) -> str:
    """The `__repr__` of results: the first figures, since all of them are thousands of lines."""
    from clusterspec.results.shown import result_line

    return result_line(result)


@dataclass(frozen=True)
class CheckReport(Result):
    """The findings of one or many files, in the order of files and lines.

    ``names`` are the names of the files that findings refer to. ``hidden`` is the number of findings in the baseline
    (None without a baseline), ``stale`` has the rule and file of baseline entries that no longer match a finding.
    """

    tool: Tool
    inputs: tuple[Input, ...]
    findings: tuple[Finding, ...]
    sources: Mapping[str, Source] = field(default_factory=dict)
    names: Mapping[str, FileName] = field(default_factory=dict)
    hidden: int | None = None
    stale: tuple[tuple[str, str], ...] = ()
    waived: tuple[WaivedFinding, ...] = ()
    failed: tuple[str, ...] = ()
    """The inputs whose check an internal error interrupted."""

    __repr__ = result_repr

    @property
    def notes(self) -> tuple[str, ...]:
        """Limits of the result: nothing was checked, or a check is incomplete."""
        if not self.inputs:
            return (NOTHING_CHECKED,)
        return tuple(f"{name}: {INCOMPLETE}" for name in self.failed)

    def name_of(self, finding: Finding) -> FileName:
        """The file of a finding, relative to its project and to its repository."""
        file = finding.span.file
        return self.names.get(file) or FileName(file, file)

    @property
    def summary(self) -> dict[str, int]:
        return counts_by_severity(self.findings)

    def reaches(self, threshold: Severity) -> bool:
        """Whether any finding is at or above a severity."""
        return any(finding.severity.rank <= threshold.rank for finding in self.findings)

    def to_json(self) -> Json:
        single = self.inputs[0] if len(self.inputs) == 1 else Input(", ".join(i.name for i in self.inputs) or None)
        return (
            common_fields(self.tool, single)
            | {
                "inputs": [read.to_json() for read in self.inputs],
                "findings": [finding_json(finding) for finding in self.findings],
                "summary": self.summary,
            }
            | self._baseline_json()
            | ({"notes": list(self.notes)} if self.notes else {})
        )

    def _baseline_json(self) -> Json:
        """The hidden findings and stale entries of the baseline as JSON; empty without one."""
        if self.hidden is None:
            return {}
        stale = [{"rule": rule, "file": file} for rule, file in self.stale]
        return {"summary": self.summary | {"hidden": self.hidden}, "baseline": {"hidden": self.hidden, "stale": stale}}


def _provenance_without_sources() -> Provenance:
    from clusterspec.results.estimate_json import Provenance  # a check has no terms

    return Provenance()


@dataclass(frozen=True)
class EstimateReport(Result):
    """A plan with its verdict and the findings of its spec.

    If the plan cannot run as written, ``condition`` is the condition under which its figures apply, else empty.
    ``accelerators_used`` is the number of accelerators with ranks. ``unmeasured_step_time`` is the step time in seconds
    with catalog efficiencies, where measurements replace some.
    """

    tool: Tool
    input: Input
    plan: Plan
    verdict: Verdict
    condition: str = ""
    accelerators_used: int | None = None
    idle_nodes: int | None = None
    """Nodes of the cluster, or of a job's pool in a fleet, that no job uses; None if unknown."""
    headlines: tuple[Term, ...] = ()
    """The printed figures, each with its formula and inputs."""
    unmeasured_step_time: float | None = None
    findings: tuple[Finding, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    waived: tuple[WaivedFinding, ...] = ()
    today: date | None = None
    provenance: Provenance = field(default_factory=_provenance_without_sources)
    drawn: MachinePower | None = None
    """The power of the machine as drawn, and its energy; None where the power of the accelerator is not known."""
    storage: StorageUse | None = None
    """The job's demand on the storage system; None where the spec states no storage bandwidth."""

    __repr__ = result_repr

    @property
    def design(self) -> Design:
        return self.plan.design

    @property
    def accelerators_away(self) -> dict[str, int]:
        """Accelerators on which the work runs on other pools of a fleet, by pool."""
        if not self.design.spec.pools:
            return {}
        from clusterspec.cluster.sites import accelerators_away  # few results need the machine

        return accelerators_away(self.design)

    def used_text(self, word: str = "accelerator") -> str:
        """``512 of 1,016 accelerators``; ``512 accelerators`` if the layout uses all; empty without a cluster.

        With an empty ``word``, only the counts.
        """
        if self.design.cluster is None:
            return ""
        from clusterspec.cluster.degrees import own_accelerators  # few results need the machine

        there, used = self.design.cluster.accelerators, own_accelerators(self.design)
        if used is None or used == there:
            return plural(there, word) if word else f"{there:,}"
        return f"{used:,} of {plural(there, word)}" if word else f"{used:,} of {there:,}"

    def nodes_text(self, kind: str = "") -> str:
        """``16 nodes, 8 nodes idle``, with the kind of nodes after the first count; ``16 nodes`` if each has a job;
        empty without a cluster.
        """
        if self.design.cluster is None:
            return ""
        idle = f", {plural(self.idle_nodes, 'node')} idle" if self.idle_nodes else ""
        return plural(self.design.cluster.nodes, "node") + kind + idle

    def to_json(self) -> Json:
        from clusterspec.results.estimate_json import estimate_fields

        return (
            common_fields(self.tool, self.input)
            | {"verdict": self.verdict.to_json(), "accelerators_used": self.accelerators_used}
            | {"idle_nodes": self.idle_nodes}
            | estimate_fields(self.plan, self.unmeasured_step_time, self.provenance)
            | (self.drawn.to_json() if self.drawn else {"power": None, "energy": None, "carbon": None})
            | {"storage": self.storage.to_json() if self.storage else None}
            | {"waived": [waived_json(one) for one in self.waived], "summary": counts_by_severity(self.findings)}
        )


@dataclass(frozen=True)
class CollectiveReport(Result):
    """A collective over message sizes."""

    tool: Tool
    input: Input
    rows: tuple[CollectiveRow, ...]
    why: str = ""
    """The reason why there are no rows; empty if there are rows."""
    findings: tuple[Finding, ...] = ()
    asked: tuple[str, ...] = ()
    """The sizes as requested, one per row; empty if the caller passed numbers."""
    unmeasured: str = ""
    """The part of the machine for which no measurement is published; empty if there is one."""
    algorithm: str = ""
    """The requested algorithm; empty for the fastest."""

    __repr__ = result_repr

    def to_json(self) -> Json:
        out = common_fields(self.tool, self.input) | {"rows": [asdict(row) for row in self.rows]}
        out |= {"unmeasured": self.unmeasured} if self.unmeasured else {}
        return out | ({"why": self.why} if self.why else {})


@dataclass(frozen=True)
class BillReport(Result):
    """The bill of materials, and the fabric it is counted from (or the reason why there is none)."""

    tool: Tool
    input: Input
    bill: Bill
    findings: tuple[Finding, ...] = ()

    __repr__ = result_repr

    @property
    def items(self) -> tuple[Item, ...]:
        return self.bill.items

    @property
    def fabric(self) -> Fabric | None:
        return self.bill.fabric

    @property
    def why(self) -> str:
        """Why the customer builds no fabric; empty if there is one."""
        return self.bill.why

    def to_json(self) -> Json:
        out = common_fields(self.tool, self.input) | {"items": [item.to_json() for item in self.items]}
        out |= {"total": self.bill.total_json()}
        return out | ({"fabric": self.fabric.to_json()} if self.fabric else {"fabric": None, "why": self.why})
