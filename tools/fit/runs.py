"""The published runs, and what the model predicts for them under other constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import log
from typing import Any, TypeVar

from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.stacks import Stack
from clusterspec.cluster.model import Design
from clusterspec.cost import parameters
from clusterspec.cost.estimate import host_spread, mfu_figure_name, spread_without_software
from clusterspec.cost.tables import Tables
from clusterspec.cost.timing import design_tables, timed_step
from clusterspec.quantity import Figure
from clusterspec.source import Assumed
from tools.accuracy.cases import FILES, published_runs, study_of
from tools.accuracy.split import BEFORE, fitted_runs, is_held_out, training_source
from tools.fit.constants import Constant, Owner, family, rated_family

Values = Mapping[Constant, float]
E = TypeVar("E", Accelerator, Stack)


@dataclass(frozen=True)
class Run:
    """One published run: its design, its measured seconds, and whether it is fitted to.

    ``tables`` hold the times of its collectives, which no constant here changes.
    """

    id: str
    source: str
    design: Design
    seconds: float
    fitted: bool
    tables: Tables | None
    accelerators: int

    @property
    def owners(self) -> frozenset[Owner]:
        """The catalog entries whose constants it depends on."""
        assert self.design.cluster and self.design.layout and self.design.layout.stack
        return frozenset({("accelerator", self.design.cluster.accelerator.id), ("stack", self.design.layout.stack.id)})

    @property
    def experts(self) -> bool:
        assert self.design.workload is not None
        return bool(self.design.workload.model.experts)

    @property
    def family(self) -> str:
        """The chip, as the table of constants groups accelerators."""
        assert self.design.cluster is not None
        return family(self.design.cluster.accelerator.id)

    @property
    def rated_family(self) -> str:
        """The accelerators whose rate is fitted together with that of its own."""
        assert self.design.cluster is not None
        return rated_family(self.design.cluster.accelerator.id)

    @property
    def record(self) -> str:
        """The figure of the accelerator that records runs of its precision and framework."""
        found = mfu_figure_name(self.design)
        assert found is not None
        return found

    @property
    def mfu(self) -> float:
        """The published FLOPs utilization, with the FLOPs that the program counts."""
        workload = self.design.workload
        assert workload and workload.peak
        tokens = workload.global_batch * workload.sequence_length / self.accelerators
        flops = parameters.workload_flops_per_token(workload)
        return tokens * flops / self.seconds / workload.peak.value

    def spread_without_software(self, unseen: float) -> float:
        """The half-width of the run's range without the uncertainty of its software, where the accelerator adds
        ``unseen``."""
        found = timed_step(self.design, self.tables) if self.tables else None
        assert found is not None
        return spread_without_software(found, unseen)

    def host_spread(self, error: float) -> float:
        """The half-width of the run's range for its host alone, on the side on which a step with this error lies."""
        found = timed_step(self.design, self.tables) if self.tables else None
        assert found is not None
        down, up = host_spread(found)
        return down if error > 0 else up

    def error(self, values: Values, measured: bool = True) -> float:
        """The logarithm of predicted over published seconds; without ``measured``, as for an accelerator without any
        measurement.
        """
        design = _design_with_constants(self.design, values)
        assert design.cluster is not None
        if not measured:
            unmeasured = replace(design.cluster.accelerator, achievable={})
            design = replace(design, cluster=replace(design.cluster, accelerator=unmeasured))
        tables = design_tables(design, self.tables)
        found = timed_step(design, tables) if tables else None
        assert found is not None
        return log(found.seconds / self.seconds)


@cache
def runs() -> tuple[Run, ...]:
    """All runs, by source and name; read and resolved once, which takes a second."""
    return tuple(_runs_with_names(fitted_runs()))


@cache
def runs_of(source: str) -> tuple[Run, ...]:
    """The runs of a source, by name."""
    return tuple(_runs_with_names(name for name in fitted_runs() if training_source(name) == source))


def _runs_with_names(names: Iterable[str]) -> Iterator[Run]:
    """The runs with these names, each with whether it is fitted to."""
    rows = {row["id"]: row for name in FILES for row in published_runs(name)}
    return (_run(rows[name], training_source(name), fitted_runs()[name]) for name in names)


@cache
def unfitted_runs() -> tuple[Run, ...]:
    """The runs of the sources that are held out since the split, to which nothing may be fitted."""
    rows = {row["id"]: training_source(row["id"]) for row in published_runs("new_runs")}
    held = {name: source for name, source in rows.items() if is_held_out(source) and source not in BEFORE}
    return tuple(_run(row, held[row["id"]], False) for row in published_runs("new_runs") if row["id"] in held)


def _run(row: dict[str, Any], source: str, fitted: bool) -> Run:
    design = study_of(row["id"]).design
    assert design and design.cluster and design.layout
    return Run(row["id"], source, design, _seconds(row, design), fitted, design_tables(design), row["accelerators"])


def _seconds(row: dict[str, Any], design: Design) -> float:
    """The seconds of a step: as published, or from the rate per accelerator in tokens or FLOP/s."""
    if row["step_time"]:
        return float(row["step_time"])
    assert design.workload is not None
    tokens = design.workload.global_batch * design.workload.sequence_length / row["accelerators"]
    if row["tokens_per_second_per_accelerator"]:
        return float(tokens / row["tokens_per_second_per_accelerator"])
    each = parameters.model_flops_per_token(design.workload.model, design.workload.sequence_length)
    return float(tokens * each / row["flops_per_accelerator"])


def _design_with_constants(design: Design, values: Values) -> Design:
    """The design with these constants in place of the catalog's."""
    assert design.cluster and design.layout and design.layout.stack
    cluster = replace(design.cluster, accelerator=_with_constants(design.cluster.accelerator, "accelerator", values))
    layout = replace(design.layout, stack=_with_constants(design.layout.stack, "stack", values))
    return replace(design, cluster=cluster, layout=layout)


def _with_constants(entry: E, kind: str, values: Values) -> E:
    own = {
        constant.fact: Figure(value, "1", Assumed(constant.fact, "being fitted"))
        for constant, value in values.items()
        if (kind, entry.id) in constant.owners and constant.fact in entry.achievable
    }
    return replace(entry, achievable={**entry.achievable, **own})
