"""Step time and memory of layouts over tp and pp, with the other keys of the layout fixed."""

from __future__ import annotations

from typing import Any

from clusterspec.catalog import Catalog
from clusterspec.cluster.legality import cut_heads
from clusterspec.cluster.model import Design
from clusterspec.cluster.resolve import resolve
from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import Plan
from clusterspec.records import asdict, dataclass, replace

MOST_PP = 64
"""Pipeline stages beyond which the grid ends."""
MOST_TP = 64


@dataclass(frozen=True, slots=True)
class LayoutCell:
    """A layout of the grid; None if it is not legal, for the reason in ``why``."""

    tp: int
    pp: int
    step_time: float | None
    memory: float | None
    fits: bool | None
    why: str = ""
    present: bool = False


@dataclass(frozen=True, slots=True)
class LayoutGrid:
    """The cells by tp and pp; ``capacity`` is the memory of an accelerator in bytes."""

    tp: tuple[int, ...]
    pp: tuple[int, ...]
    cells: tuple[LayoutCell, ...]
    capacity: float | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def layout_grid(present: Plan, catalog: Catalog) -> LayoutGrid | None:
    """The grid of powers of two around the present layout; None if there is no training layout."""
    design = present.design
    cluster, work, layout = design.cluster, design.workload, design.layout
    if cluster is None or work is None or layout is None or work.kind != "train" or design.spec.layout is None:
        return None
    ranks = layout.nodes * cluster.ranks_per_node
    tps = _degrees(min(ranks, MOST_TP, work.model.heads or 1), layout.tp)
    pps = _degrees(min(ranks, MOST_PP, work.model.layers or 1), layout.pp)
    cells = tuple(_cell(present, catalog, tp, pp) for tp in tps for pp in pps)
    memory = cluster.accelerator.memory
    return LayoutGrid(tps, pps, cells, memory.value if memory else None)


def _degrees(most: int, present: int) -> tuple[int, ...]:
    """The powers of two up to a limit, and the present degree."""
    powers = {1 << power for power in range(most.bit_length()) if 1 << power <= most}
    return tuple(sorted(powers | {present}))


def _cell(present: Plan, catalog: Catalog, tp: int, pp: int) -> LayoutCell:
    design = present.design
    layout, cluster = design.layout, design.cluster
    assert layout is not None and cluster is not None and design.spec.layout is not None
    here = (tp, pp) == (layout.tp, layout.pp)
    why = "" if here else _illegal(design, tp, pp, layout.nodes * cluster.ranks_per_node)
    if why:
        return LayoutCell(tp, pp, None, None, None, why)
    own = {} if here else {"dp": None, "stage_layers": None}
    illegal = replace(design.spec.layout, tp=tp, pp=pp, **own)
    other = design if here else resolve(replace(design.spec, layout=illegal), catalog)[0]
    if not here and other.cluster is not None:
        other = replace(other, cluster=replace(other.cluster, measured=cluster.measured))
    plan = estimate(other, present.tables)
    step = plan.step_seconds
    used = plan.memory
    return LayoutCell(tp, pp, step, used.total.value if used else None, used.fits if used else None, "", here)


def _illegal(design: Design, tp: int, pp: int, ranks: int) -> str:
    """The reason why degrees are not legal; empty if they are."""
    work, layout = design.workload, design.layout
    assert work is not None and layout is not None
    model, cut = work.model, tp * pp * layout.cp
    if ranks % cut:
        return f"tp × cp × pp = {cut} does not divide {ranks} ranks"
    for name, count in cut_heads(model):
        if count % tp:
            return f"tp {tp} does not divide {count} {name}"
    if model.layers < pp * layout.virtual_stages:
        return f"{model.layers} layers do not fill {pp} stages"
    replicas = ranks // cut
    if work.global_batch % (replicas * layout.micro_batch):
        return f"dp {replicas} does not divide the batch of {work.global_batch}"
    return ""
