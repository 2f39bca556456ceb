"""Step time and memory of layouts over tp and pp, with the other keys of the layout fixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clusterspec.cluster.legality import cut_heads, demands_of, refusals
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import layout_changes, varied
from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import Plan
from clusterspec.records import asdict, dataclass

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
    errors: tuple[str, ...] = ()
    """The rules that find an error in the layout."""


@dataclass(frozen=True, slots=True)
class LayoutGrid:
    """The cells by tp and pp; ``capacity`` is the memory of an accelerator in bytes."""

    tp: tuple[int, ...]
    pp: tuple[int, ...]
    cells: tuple[LayoutCell, ...]
    capacity: float | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def layout_grid(present: Plan) -> LayoutGrid | None:
    """The grid of powers of two around the present layout; None if there is no training layout."""
    design = present.design
    cluster, work, layout = design.cluster, design.workload, design.layout
    if cluster is None or work is None or layout is None or work.kind != "train" or design.spec.layout is None:
        return None
    ranks = layout.nodes * cluster.ranks_per_node
    tps = _degrees(min(ranks, MOST_TP, work.model.heads or 1), layout.tp)
    pps = _degrees(min(ranks, MOST_PP, work.model.layers or 1), layout.pp)
    cells = tuple(_cell(present, tp, pp) for tp in tps for pp in pps)
    memory = cluster.accelerator.memory
    return LayoutGrid(tps, pps, cells, memory.value if memory else None)


def _degrees(most: int, present: int) -> tuple[int, ...]:
    """The powers of two up to a limit, and the present degree."""
    powers = {1 << power for power in range(most.bit_length()) if 1 << power <= most}
    return tuple(sorted(powers | {present}))


def _cell(present: Plan, tp: int, pp: int) -> LayoutCell:
    design, layout = present.design, present.design.layout
    assert layout is not None
    here = (tp, pp) == (layout.tp, layout.pp)
    other = design if here else varied(design, layout_changes({"tp": tp, "pp": pp}))
    refused = sorted(refusals(other))
    if refused or other.layout is None:
        return LayoutCell(tp, pp, None, None, None, _reason(other, refused), here, tuple(refused))
    plan = present if here else estimate(other, present.tables)
    return LayoutCell(tp, pp, plan.step_seconds, plan.memory_bytes, plan.fits, "", here)


def _reason(design: Design, refused: Sequence[str]) -> str:
    """The reason why a layout is not legal: the numbers of the most telling condition, else the name of its rule."""
    if design.cluster is None or design.layout is None or design.workload is None:
        return "the layout does not resolve"
    layout, model, demands = design.layout, design.workload.model, demands_of(design)
    cut = layout.tp * layout.pp * layout.cp
    known = {
        "world-size-mismatch": f"tp × cp × pp = {cut} does not divide {demands.ranks} ranks",
        "heads-indivisible-by-tp": next(
            (f"tp {layout.tp} does not divide {count} {name}" for name, count in cut_heads(model) if count % layout.tp),
            "",
        ),
        "kv-heads-indivisible-by-tp": f"{model.kv_heads} key-value heads do not distribute over tp {layout.tp}",
        "layers-indivisible-by-pp": f"{model.layers} layers do not fill {layout.pp * layout.virtual_stages} stages",
        "global-batch-indivisible": f"dp {layout.dp} does not divide the batch of {design.workload.global_batch}",
    }
    return next((words for name, words in known.items() if name in refused), refused[0])
