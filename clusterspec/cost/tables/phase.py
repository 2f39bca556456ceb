"""The time of the kernels of one pass and the transfers around them."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.cost.compute.kernels import Work
from clusterspec.cost.compute.software import SoftwareBehavior
from clusterspec.cost.compute.speed import Speed, TimedKernels
from clusterspec.cost.formulas.overlap import exposed_calls
from clusterspec.cost.formulas.roofline import launching
from clusterspec.cost.record import PartTime, PhaseTime, TransferTime
from clusterspec.cost.tables.group import Group
from clusterspec.cost.tables.hiding import Hiding
from clusterspec.cost.traffic.transfer import Transfer
from clusterspec.records import dataclass

Transfers = tuple[Transfer, ...]


@dataclass(frozen=True, slots=True)
class PhaseTimer:
    """Times passes of one layout: kernels by ``speed``, transfers by the ``group`` of their axis."""

    speed: Speed
    software: SoftwareBehavior
    hiding: Hiding
    group: Callable[[str], Group]

    def part(self, name: str, work: Work) -> PartTime:
        """Both passes over a part of the model that communicates nothing and recomputes nothing."""
        forward, backward = (self.phase(self.speed.timed(kernels), ()) for kernels in (work.forward, work.backward))
        flops = sum(kernel.flops for kernel in work.forward)
        return PartTime(name, forward, backward, self.phase((), ()), flops, 0.0)

    def phase(self, timed: TimedKernels, transfers: Transfers) -> PhaseTime:
        """One pass: the kernels one after another, exposed transfers, and launch overhead."""
        sent = tuple(self.transfer(transfer) for transfer in transfers)
        device = sum(seconds for _, seconds in timed)
        exposed = sum(row.exposed for row in sent)
        launches = sum(kernel.launches for kernel, _ in timed) + sum(transfer.calls for transfer in transfers)
        experts = sum(kernel.shape.batch for kernel, _ in timed if kernel.shape and kernel.shape.experts)
        software = self.software
        launch = launching(
            launches,
            device + exposed,
            gap=software.gap,
            interval=software.interval,
            expert_launches=experts,
            expert_interval=software.interval_expert,
        )
        return PhaseTime(timed, sent, device, exposed, launches, experts, launch)

    def transfer(self, transfer: Transfer) -> TransferTime:
        """All calls of a transfer, with their exposed time beside the computation of their windows."""
        cost = self.group(transfer.axis).cost(transfer.collective, transfer.size)
        pipelined = self.hiding.pipelined if transfer.axis == "tp" else 0.0
        hidden = getattr(self.hiding, transfer.axis, False) or (transfer.hidden_by_default and self.hiding.by_default)
        window = transfer.overlap_window if hidden else 0.0
        exposed = exposed_calls(transfer.calls, cost.queued, window, self.software.interference, pipelined)
        return TransferTime(transfer, cost, window, pipelined, exposed)
