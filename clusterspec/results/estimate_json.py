"""Provenance of numbers as text: the line of the spec, or the source cited by a catalog entry."""

from __future__ import annotations

import contextlib
from pathlib import PurePath

from clusterspec.catalog import BrokenEntry, Catalog
from clusterspec.cluster.measured_shares import MeasuredShare
from clusterspec.cluster.model import Assumption, Cluster, Layout
from clusterspec.cost.plan import Communication, Plan
from clusterspec.cost.term import MemoryUse, Term
from clusterspec.document import Document
from clusterspec.quantity import Figure
from clusterspec.records import dataclass, fields
from clusterspec.results.serving_json import RANGED, SERVING_FIELDS, serving_json, with_day
from clusterspec.source import Cited, Origin, Path, Source, Span, Written
from clusterspec.standard import pattern
from clusterspec.units import percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clusterspec.cost.reinforcement.times import RlTimes

_STEP = pattern(r"([^.\[\]]+)|\[(\d+)\]")


LONG_LINE = 60
"""Characters of a line of the spec above which only the key and the value of a figure are shown."""


@dataclass(frozen=True)
class Provenance:
    """Converts origins to text, with line and source if a document and a catalog are given."""

    document: Document | None = None
    catalog: Catalog | None = None
    folders: bool = True
    """Whether file names include their folders."""

    def text(self, origin: Origin) -> str:
        """``spec.yaml:12: tp: 8`` for written values, entry and source for cited ones, else the reason."""
        if isinstance(origin, Written):
            return self._written_line(origin)
        return self._cited_text(origin) if isinstance(origin, Cited) else str(origin)

    def _written_line(self, origin: Written) -> str:
        span = origin.span or self._span(path_of(origin.key))
        source = self.document.sources.get(span.file, self.document.source) if span and self.document else None
        if span is None or source is None:
            return str(origin)
        file = span.file if self.folders else PurePath(span.file).name
        line = source.line(span.start.line).strip()
        if len(line) > LONG_LINE:  # a mapping on one line: the key and its value alone
            line = self._pair_of(path_of(origin.key), source) or line
        return f"{file}:{span.start.line}: {line}"

    def _pair_of(self, path: Path, source: Source) -> str:
        """A key with its value as written; empty if they are not on the same line."""
        place = self.document.places.get(path) if self.document else None
        if place is None or place.key is None or place.value is None:
            return ""
        start, end = place.key.start, place.value.end
        return source.line(start.line)[start.column - 1 : end.column - 1] if start.line == end.line else ""

    def _span(self, path: Path) -> Span | None:
        """The span of a value, or of the nearest enclosing mapping that the spec has. Keys of a catalog model have the
        span of ``workload.model``.
        """
        places = self.document.places if self.document else {}
        found = next((places[path[:length]] for length in range(len(path), 0, -1) if path[:length] in places), None)
        return (found.key or found.value) if found else None

    def _cited_text(self, origin: Cited) -> str:
        return str(self.resolved_origin(origin))

    def resolved_origin(self, origin: Cited) -> Origin:
        """A citation with the source document of the entry, if it names the entry only."""
        if origin.url or self.catalog is None:
            return origin
        kind, _, name = origin.entry.partition("/")
        with contextlib.suppress(KeyError, BrokenEntry, LookupError):
            fact = self.catalog.raw_entry(kind, name).facts.get(origin.fact)
            if fact is not None and fact.origin is not None:
                return fact.origin
        return origin


def path_of(key: str) -> Path:
    """A dotted key path as a path.

    >>> path_of("measured[0].size")
    ('measured', 0, 'size')
    """
    return tuple(int(number) if number else name for name, number in _STEP.findall(key))


# The estimate as JSON

Json = dict[str, "Any"]
PLAIN = Provenance()
MFU_CONVENTION = (
    "model FLOPs without recomputation, attention counted as if unmasked "
    "(12 × layers × hidden × sequence per token, forward and backward), over the dense peak of the precision"
)
BODY_FIELDS = (
    *("cluster", "layout", "parameters", "active_parameters", "step_time", "tokens_per_second_per_accelerator"),
    *("model_flops_per_accelerator", "mfu", "hfu", "mfu_convention", "time_to_train", "fits", "range", "memory"),
    *("allocated_memory", "serving", "rl", "communication", "terms", "measured", "unmeasured_step_time", "assumptions"),
)


def estimate_fields(plan: Plan, unmeasured: float | None, provenance: Provenance = PLAIN) -> Json:
    """The fields of ``estimate`` after the header and the verdict.

    ``unmeasured`` is the step time in seconds with catalog efficiencies; None without measurements.
    """
    design = plan.design
    return {
        "cluster": cluster_json(design.cluster),
        "layout": layout_json(design.layout),
        "parameters": plan.parameters,
        "active_parameters": plan.active_parameters,
        "step_time": plan.step_seconds,
        "tokens_per_second_per_accelerator": plan.tokens_per_second_per_accelerator,
        "model_flops_per_accelerator": plan.model_flops_per_accelerator,
        "mfu": plan.mfu,
        "hfu": plan.hfu,
        "mfu_convention": MFU_CONVENTION,
        "time_to_train": plan.time_to_train,
        "fits": plan.fits,
        "range": {
            "step_time": list(plan.step_time_range) if plan.step_time_range else None,
            "memory": list(plan.memory_range) if plan.memory_range else None,
        },
        "memory": memory_json(plan.memory),
        "allocated_memory": plan.memory.allocator if plan.memory else None,
        "serving": with_day(serving_json(plan.serving, design.workload.serving if design.workload else None), plan),
        "rl": rl_json(plan.rl),
        "communication": [communication_json(row) for row in plan.communication],
        "terms": [term_json(term, provenance) for term in root_terms(plan)],
        "measured": measured_json(design.cluster),
        "unmeasured_step_time": unmeasured,
        "assumptions": [assumption_json(each) for each in plan.assumptions],
    }


MEMORY_PARTS = ("total", "weights", "gradients", "optimizer", "activations", "other")


def figure_names() -> Json:
    """The names of `body` as nested mappings, with None for figures. Sections that a design lacks are included."""
    sections: Json = dict.fromkeys(BODY_FIELDS)
    serving: Json = dict.fromkeys(
        (*SERVING_FIELDS, "output_tokens_per_second_per_accelerator", "speculative", "queue_grows", "targets")
    )
    tails: Json = {"percentile": None, "ttft": None, "tpot": None, "range": dict.fromkeys(("ttft", "tpot"))}
    return sections | {
        "cluster": {
            **dict.fromkeys(("accelerator", "accelerators", "nodes")),
            "scale_up": dict.fromkeys(("domain", "bandwidth", "peer_bandwidth")),
            "scale_out": dict.fromkeys(("bandwidth_per_accelerator", "oversubscription")),
        },
        "layout": dict.fromkeys(LAYOUT_FIELDS),
        "range": dict.fromkeys(("step_time", "memory")),
        "memory": dict.fromkeys((*MEMORY_PARTS, "capacity")),
        "serving": serving | {"range": dict.fromkeys(RANGED), "at_percentile": tails},
    }


def root_terms(plan: Plan) -> tuple[Term, ...]:
    """The root terms of explanations: the step time, then each part of memory."""
    found: tuple[Term, ...] = (plan.step_time,) if plan.step_time else ()
    if plan.serving is not None:
        from clusterspec.cost.serving.explain import first_token_time_term, token_time_term

        found = (first_token_time_term(plan.serving), token_time_term(plan.serving))
    if plan.rl is not None:
        from clusterspec.cost.reinforcement.explain import rl_term  # few plans need its modules

        found = (rl_term(plan.rl), *found)
    return found + ((plan.memory_term,) if plan.memory_term else ())


def rl_json(times: RlTimes | None) -> Json | None:
    """The step of reinforcement learning by role; None if there is none."""
    if times is None:
        return None
    memory = times.memory
    return {
        "step_time": times.step,
        "parts": [{"role": part.role, "seconds": part.seconds, "idle_share": part.idle_share} for part in times.parts],
        "weight_sync": {"bytes": times.sync.weights, "seconds": times.sync.seconds, "wire_seconds": times.sync.wire},
        "tokens_per_second": times.tokens_per_second,
        "tokens_per_second_per_accelerator": times.tokens_per_second_per_accelerator,
        "mfu": times.mfu,
        "accelerators": times.accelerators,
        "rollout": {
            "seconds": times.rollout.batch,
            "tail_share": times.rollout.idle_share,
            "longest_sample": times.rollout.longest,
            "slots": times.rollout.slots,
            "engines": times.rollout.engine.replicas,
        },
        "memory": None
        if memory is None
        else {
            "rollout": memory.rollout,
            "training": memory.training,
            "sync": memory.sync,
            "offloaded": memory.offloaded,
            "capacity": memory.capacity,
            "critic": memory.critic,
            "scorers": memory.scorers,
            "scoring": memory.scoring,
        },
        "range": {"step_time": list(times.band)},
    }


def cluster_json(cluster: Cluster | None) -> Json | None:
    if cluster is None:
        return None
    out = cluster.scale_out
    return {
        "accelerator": cluster.accelerator.id,
        "accelerators": cluster.accelerators,
        "nodes": cluster.nodes,
        "scale_up": {
            "domain": cluster.scale_up.domain,
            "bandwidth": cluster.scale_up.bandwidth.value,
            "peer_bandwidth": cluster.scale_up.peer_bandwidth.value,
        },
        "scale_out": {
            "bandwidth_per_accelerator": cluster.nic_bandwidth_per_accelerator,
            "oversubscription": out.taper if out else None,
        },
    }


LAYOUT_FIELDS = (
    "framework",
    "software_year",
    "ranks",
    "nodes",
    "tp",
    "cp",
    "ep",
    "expert_tp",
    "pp",
    "dp",
    "sharding",
    "shard_group",
    "order",
    "schedule",
    "virtual_stages",
    "stage_layers",
    "micro_batch",
    "micro_batches",
    "recompute",
    "sequence_parallel",
)


def layout_json(layout: Layout | None) -> Json | None:
    if layout is None:
        return None
    values = {name: getattr(layout, name) for name in LAYOUT_FIELDS}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def memory_json(memory: MemoryUse | None) -> Json:
    if memory is None:
        return dict.fromkeys((*MEMORY_PARTS, "capacity"))
    return {part: getattr(memory, part).value for part in MEMORY_PARTS} | {
        "capacity": memory.capacity.value if memory.capacity else None,
    }


def communication_json(row: Communication) -> Json:
    return {each.name: getattr(row, each.name) for each in fields(Communication)}


def term_json(term: Term, provenance: Provenance = PLAIN) -> Json:
    """A term with its parts; origins name the line of written values and the source of cited ones."""
    return {
        "name": term.name,
        "seconds": term.value if term.unit == "s" else None,
        "value": term.value,
        "unit": term.unit,
        "formula": term.formula,
        "source": term.source,
        "low": term.low,
        "high": term.high,
        "inputs": [
            {"name": name, "value": figure.value, "unit": figure.unit, "origin": provenance.text(figure.origin)}
            for name, figure in term.inputs
        ],
        "parts": [term_json(part, provenance) for part in term.parts],
    }


def assumption_json(assumption: Assumption) -> Json:
    """An assumption: key, value in SI units, unit if it has one, and reason."""
    key, value, why = assumption
    unit = value.unit if isinstance(value, Figure) and value.unit != "1" else None
    return {"key": key, "value": value.value if isinstance(value, Figure) else value, "unit": unit, "why": why}


HEADS = ("collective", "of", "reached", "measured")
PARTS = {
    "ring": "the links used by its rings",
    "exchange": "the links used by its exchanges",
    "reduction": "the links to the reducing switches",
    "network": "the network between domains",
    "products": "the catalog's rate of products",
    "kernels": "the catalog's rate of an engine's kernels",
    "gemms": "the peak of its products",
}


def measured_shares(cluster: Cluster | None) -> tuple[MeasuredShare, ...]:
    """The measured efficiencies of a cluster by collective; empty without measurements."""
    return tuple(sorted(cluster.measured, key=lambda each: (each.collective, each.part))) if cluster else ()


def share_row(share: MeasuredShare) -> tuple[str, str, str, str]:
    """The row of an efficiency for `HEADS`: the collective, the links, the fraction reached, and the measurement."""
    seen = str(share.share.origin).removeprefix("measured: ")
    return share.collective, PARTS.get(share.part, share.part), percent(share.share.value), seen


def measured_json(cluster: Cluster | None) -> list[dict[str, Any]]:
    """The measured efficiencies as JSON; ``share`` is a fraction of the line rate."""
    return [
        {
            "collective": each.collective,
            "tier": each.tier,
            "part": each.part,
            "ranks": each.ranks,
            "share": each.share.value,
            "why": str(each.share.origin),
        }
        for each in measured_shares(cluster)
    ]
