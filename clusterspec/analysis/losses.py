"""The limits of a training step: the losses from peak to achieved FLOP/s, and the best changes of the step."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.plan import TIE, Plan
from clusterspec.cost.term import Term
from clusterspec.results.levers import SensitivityReport
from clusterspec.results.machine import Gain, LayoutGrid, Loss
from clusterspec.standard import sum_of

PRODUCTS = ("matrix_products", "attention")
LAUNCHING = "_launching"
"""The end of the name of the time of a pass in which an accelerator waits for the host to launch kernels."""
LEAST = 5e-4
"""Losses with a smaller share of the step are left out. The sum of the losses and the achieved share may differ from 1
by this value for each loss.
"""


def utilization_losses(plan: Plan) -> tuple[Loss, ...]:
    """The losses between the peak and the model FLOPs utilization (MFU), in the order of a step; empty without a step
    time.

    A step takes the model FLOPs at peak (``MFU * step``) plus the additional time of each part. The losses and the MFU
    sum to 1.
    """
    step = plan.step_time
    if step is None or plan.mfu is None or not step.value:
        return ()
    passes = [part for part in step.parts if part.name in {"forward", "backward"}]
    products = sum_of(part.value for each in passes for part in each.parts if _is_product(each, part))
    launching = sum_of(part.value for each in passes for part in each.parts if part.name.endswith(LAUNCHING))
    rest = sum_of(each.value for each in passes) - products - launching
    found = [
        ("products", "GEMMs and attention below peak", products - plan.mfu * step.value),
        ("memory", "kernels bound by memory", rest),
        ("launching", "waiting for kernel launches", launching),
        *((part.name, part.label, part.value) for part in step.parts if part not in passes),
    ]
    return tuple(
        Loss(name, label, seconds, seconds / step.value)
        for name, label, seconds in found
        if abs(seconds) >= LEAST * step.value
    )


def _is_product(phase: Term, part: Term) -> bool:
    return part.name in {f"{phase.name}_{kind}" for kind in PRODUCTS}


MOST_GAINS = 3
NO_GAIN = frozenset({"nodes", "accelerators", "sequence_length"})
"""Keys that shorten a step only with a larger machine (see the procurement report) or change the planned work."""


def single_change_gains(plan: Plan, sensitivity: SensitivityReport | None, grid: LayoutGrid | None) -> tuple[Gain, ...]:
    """The single changes that shorten the time for a token most, fit in memory and keep the size of the machine.

    There are none for reinforcement learning, where the roles of a step may wait for each other.
    """
    if plan.step_time is None or plan.rl is not None:
        return ()
    found = sorted(_gains_of_changes(plan.step_time.value, sensitivity, grid), key=lambda gain: gain.share)
    best: dict[str, Gain] = {}
    for gain in found:
        best.setdefault(gain.key, gain)
    return tuple(gain for gain in best.values() if gain.share < -TIE)[:MOST_GAINS]


def _gains_of_changes(step: float, sensitivity: SensitivityReport | None, grid: LayoutGrid | None) -> Iterator[Gain]:
    for number, row in enumerate(sensitivity.levers if sensitivity else ()):
        if row.effect is not None and row.fits is not False and not row.errors and row.key not in NO_GAIN:
            yield Gain(row.key, row.before, row.after, row.unit, row.effect, f"sensitivity.levers[{number}]")
    cells = grid.cells if grid else ()
    present = next((f"tp {cell.tp}, pp {cell.pp}" for cell in cells if cell.present), "")
    for number, cell in enumerate(cells):
        if cell.step_time is not None and cell.fits_with_reserve and not cell.present:
            share, other = cell.step_time / step - 1, f"tp {cell.tp}, pp {cell.pp}"
            yield Gain("layout", present, other, "", share, f"layouts.cells[{number}]")
