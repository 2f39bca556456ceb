"""From what is known of an accelerator and of its software to the rates of one rank.

Peaks and bandwidths come from the catalog or the spec; how much of them is reached comes from the
``achievable`` figures of the accelerator's entry: ``matmul.<precision>`` the best matrix product,
``sustained.<precision>`` what training keeps of it, ``attention.y<year>`` the forward attention
core with the kernels of that year over the 16-bit peak, ``attention.backward`` the backward core
over the forward one, ``memory`` streaming kernels over the memory bandwidth, ``sustained.power``
the board power at which all that was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Assumption, Cluster, Workload
from clusterspec.cost.compute.fixed import DEPTH_START, FIXED, LENGTH_START, TILES, USUAL
from clusterspec.cost.compute.software import Software
from clusterspec.cost.compute.speed import Speed
from clusterspec.cost.formulas.elementwise import smaller
from clusterspec.origin import Assumed
from clusterspec.quantity import Figure

NARROWER = ("fp8", "fp4")


@dataclass(frozen=True, slots=True)
class Rates:
    """The speed of one rank, the figures it was built from, and what had to be assumed."""

    speed: Speed
    figures: dict[str, Figure]
    assumptions: tuple[Assumption, ...]


class _Reached:
    """The achievable figures of one accelerator; what it lacks is taken as usual, and noted."""

    def __init__(self, accelerator: Accelerator) -> None:
        self.accelerator = accelerator
        self.figures: dict[str, Figure] = {}
        self.assumptions: list[Assumption] = []

    def share(self, name: str, usual: str) -> float:
        found = self.accelerator.achievable.get(name)
        if found is None:
            why = f"{self.accelerator.id} has no figure of its own: the middle of the accelerators that do"
            found = Figure(USUAL[usual], "1", Assumed(f"{self.accelerator.id} {name}", why))
            self.assumptions.append((f"accelerator.{name}", found.value, why))
        self.figures[name] = found
        return found.value

    def attention(self, year: int) -> float:
        """The attention kernels of the year: the newest figure not after it, else the first."""
        names = sorted(name for name in self.accelerator.achievable if name.startswith("attention.y"))
        earlier = [name for name in names if int(name.removeprefix("attention.y")) <= year]
        return self.share((earlier or names or ["attention"])[-1 if earlier else 0], "attention")


def rates(cluster: Cluster, workload: Workload, software: Software, year: int) -> Rates | None:
    """The rates of one rank; None where the accelerator has no peak or memory bandwidth to start from."""
    accelerator, ranks = cluster.accelerator, cluster.ranks_per_accelerator
    peaks = {name: peak.value / ranks for name, peak in accelerator.peaks.items()}
    if workload.peak is None or accelerator.memory_bandwidth is None:
        return None
    peaks[workload.precision] = workload.peak.value / ranks
    wide = peaks.get("bf16") or peaks.get("fp16") or peaks[workload.precision]
    peaks.setdefault("bf16", wide)
    reached = _Reached(accelerator)
    clock = _clock(accelerator)
    needed = {workload.precision, "bf16"}
    products = {
        f"matmul_{name}": peaks[name] * clock * _share(name, reached) * software.products for name in sorted(needed)
    }
    attention = wide * clock * reached.attention(year)
    backward = attention * reached.share("attention.backward", "attention.backward")
    memory = accelerator.memory_bandwidth.value / ranks * reached.share("memory", "memory")
    systolic = accelerator.array
    units = max(1, (accelerator.compute_units or 1) // ranks)
    speed = Speed(
        rates={**products, "attention_forward": attention, "attention_backward": backward},
        bandwidth=memory,
        units=1 if systolic else units,
        tiles=((systolic, systolic, 1.0),) if systolic else TILES if accelerator.compute_units else (),
        depth_start=0.0 if systolic else DEPTH_START,
        length_start=LENGTH_START,
        grouped=software.grouped,
    )
    fixed = {name: figure for name, figure in FIXED.items() if not name.startswith("usual.")}
    nominal = {"memory_bandwidth": accelerator.memory_bandwidth, "peak": workload.peak}
    figures = {**reached.figures, **nominal, **fixed}
    return Rates(speed, figures, tuple(reached.assumptions))


def _share(precision: str, reached: _Reached) -> float:
    """What training reaches of a precision's peak; wider ones than 16 bits reach what 16 bits do.

    Where no best product was measured, ``sustained`` is a share of the peak itself.
    """
    name = precision if precision in NARROWER else "bf16"
    known = reached.accelerator.achievable
    if f"sustained.{name}" in known and f"matmul.{name}" not in known:
        return reached.share(f"sustained.{name}", "sustained")
    return reached.share(f"matmul.{name}", "matmul") * reached.share(f"sustained.{name}", "sustained")


def _clock(accelerator: Accelerator) -> float:
    """The clock under a power limit below the one of the measurements: f ∝ P^(1/3), since P ∝ f V² and V ∝ f."""
    measured = accelerator.achievable.get("sustained.power")
    if measured is None or accelerator.power is None or accelerator.power.value <= 0:
        return 1.0
    return float(smaller(1.0, accelerator.power.value / measured.value) ** (1 / 3))
