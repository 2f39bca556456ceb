"""How a design runs: placement of its process groups, collectives by size, and the launch command of its framework."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.analysis.outputs import collective
from clusterspec.cluster.groups import AXES, axis_placement
from clusterspec.cluster.model import Design
from clusterspec.cluster.planes import fabric_levels
from clusterspec.cost.plan import Plan
from clusterspec.exchange.exporters.registry import EXPORTERS, ExportInput, NotExportable
from clusterspec.exchange.format_names import format_by_name
from clusterspec.results.diagnosis import PlannedTest
from clusterspec.results.groups import Launch, RankGroups, SizedCollective
from clusterspec.rules.knowledge.domains import ranks_text
from clusterspec.studies import Study

CURVE = tuple(float(1 << power) for power in (*range(10, 33, 2), 33))
"""Sizes in bytes at which the curve of a collective is computed, including those in its table."""
SIZES = tuple(float(1 << power) for power in (10, 20, 24, 28, 33))
"""1 KiB, 1 MiB, 16 MiB, 256 MiB and 8 GiB: from latency to the plateau of a fabric."""


def rank_groups(plan: Plan) -> tuple[RankGroups, ...]:
    """The groups of the axes on which a training plan communicates, in the order of its communication."""
    cluster, layout = plan.design.cluster, plan.design.layout
    if cluster is None or layout is None:
        return ()
    levels = fabric_levels(cluster)
    found = []
    for axis in dict.fromkeys(row.axis for row in plan.communication if row.axis in AXES):
        placed = axis_placement(cluster, layout, axis)
        first = ranks_text([number * placed.stride for number in range(min(placed.ranks, 4))], placed.ranks)
        leaves = placed.levels if placed.domains > 1 else ()
        crossed = tuple(levels[level].name for level in leaves if level < len(levels))
        found.append(
            RankGroups(
                axis,
                placed.ranks,
                placed.groups,
                placed.stride,
                first,
                placed.ranks_per_node,
                placed.nodes,
                placed.domains,
                crossed,
            )
        )
    return tuple(found)


def sized_collectives(study: Study, tests: Sequence[PlannedTest]) -> tuple[SizedCollective, ...]:
    """The collectives of the acceptance plan at sizes from latency-bound to bandwidth-bound, as predicted by
    `collective`.
    """
    found = []
    for test in dict.fromkeys((test.collective, test.nodes, test.ranks) for test in tests):
        name, nodes, ranks = test
        rows = collective(study, name, ranks, CURVE).rows
        if rows:
            curve = tuple((size, row.busbw) for size, row in zip(CURVE, rows, strict=True))
            told = [row for size, row in zip(CURVE, rows, strict=True) if size in SIZES]
            seconds, rates = tuple(row.seconds for row in told), tuple(row.busbw for row in told)
            found.append(SizedCollective(name, nodes, ranks, SIZES, seconds, rates, curve, half_rate_size(curve)))
    return tuple(found)


def half_rate_size(curve: Sequence[tuple[float, float]]) -> float | None:
    """The message size at which the rate first reaches half of the rate of the largest message, interpolated between
    the logarithms of sizes; None if the smallest message reaches it.

    >>> half_rate_size([(1.0, 10.0), (4.0, 30.0), (16.0, 40.0)])
    2.0
    """
    half = curve[-1][1] / 2
    below = [number for number, (_, rate) in enumerate(curve) if rate < half]
    if not below:
        return None
    (small, low), (large, high) = curve[below[-1]], curve[below[-1] + 1]
    return float(small * (large / small) ** ((half - low) / (high - low)))


def framework_launch(design: Design) -> Launch | None:
    """The launch of the framework that the spec names; None if no format exists, or the design cannot be written."""
    section = design.spec.layout
    exporter = format_by_name(EXPORTERS, section.framework) if section is not None and section.framework else None
    if exporter is None:
        return None
    try:
        written = exporter.write(ExportInput(design))
    except NotExportable:
        return None
    text = written.content if isinstance(written.content, str) else written.content.decode()
    return Launch(exporter.name, text, written.omitted)
