"""The time of the kernels of one pass and the transfers around them."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.cost.compute.kernels import Work
from clusterspec.cost.compute.software import SoftwareBehavior
from clusterspec.cost.compute.speed import NO_KERNELS, PassKernels, Speed
from clusterspec.cost.formulas.overlap import exposed_calls
from clusterspec.cost.formulas.roofline import launching
from clusterspec.cost.record import PartTime, PhaseTime, TransferTime
from clusterspec.cost.tables.group import Group
from clusterspec.cost.tables.hiding import Hiding
from clusterspec.cost.traffic.transfer import Transfer
from clusterspec.records import dataclass
from clusterspec.summation import sum_of

Transfers = tuple[Transfer, ...]
TransferTimes = tuple[TransferTime, ...]


@dataclass(frozen=True, slots=True)
class PhaseTimer:
    """Times passes of one layout: kernels by ``speed``, transfers by the ``group`` of their axis."""

    speed: Speed
    software: SoftwareBehavior
    hiding: Hiding
    group: Callable[[str], Group]

    def part(self, name: str, work: Work) -> PartTime:
        """Both passes over a part of the model that communicates nothing and recomputes nothing."""
        passes = (PassKernels.of({name: self.speed.timed(kernels)}) for kernels in (work.forward, work.backward))
        forward, backward = (self.phase(kernels, ()) for kernels in passes)
        return PartTime(name, forward, backward, self.phase(NO_KERNELS, ()), sum_of(k.flops for k in work.forward), 0.0)

    def phase(self, kernels: PassKernels, sent: TransferTimes) -> PhaseTime:
        """One pass: the kernels one after another, exposed transfers, and launch overhead."""
        exposed, calls = sum_of(one.exposed for one in sent), sum_of(one.transfer.calls for one in sent)
        launches = kernels.launches + calls
        launch = self.launching(kernels, exposed, calls)
        return PhaseTime(kernels.timed, sent, kernels.device, exposed, launches, kernels.expert_launches, launch)

    def launching(self, kernels: PassKernels, exposed: float, calls: float) -> float:
        """Seconds that launching adds to a pass with ``exposed`` seconds of ``calls`` collectives."""
        software = self.software
        return launching(
            kernels.launches + calls,
            kernels.device + exposed,
            gap=software.gap,
            interval=software.interval,
            expert_launches=kernels.expert_launches,
            expert_interval=software.interval_expert,
        )

    def transfers(self, transfers: Transfers) -> TransferTimes:
        """The times of the transfers of one pass."""
        return tuple(self.transfer(transfer) for transfer in transfers)

    def transfer(self, transfer: Transfer) -> TransferTime:
        """All calls of a transfer, with their exposed time beside the computation of their windows."""
        cost = self.group(transfer.axis).cost(transfer.collective, transfer.size)
        pipelined = self.hiding.pipelined if transfer.axis == "tp" else 0.0
        hidden = getattr(self.hiding, transfer.axis, False) or (transfer.hidden_by_default and self.hiding.by_default)
        window = transfer.overlap_window if hidden else 0.0
        exposed = exposed_calls(transfer.calls, cost.queued, window, self.software.interference, pipelined)
        return TransferTime(transfer, cost, window, pipelined, exposed)
