"""Process groups with timed collectives, overlap settings, and the time of one layer from its kernels and transfers,
with the records of such times.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster, Layout, Overlap
from clusterspec.cost import assumed_figure, traffic
from clusterspec.cost.collectives import CollectiveCost
from clusterspec.cost.collectives.predict import CollectiveTiming, MeasuredLinks, cost_of_nothing, paths_timing
from clusterspec.cost.compute import Kernel, Shard, Work
from clusterspec.cost.compute.layer import Parts, SoftwareBehavior
from clusterspec.cost.compute.rates import NO_KERNELS, PassKernels, Speed
from clusterspec.cost.formulas.compute import is_divided, launch_overhead
from clusterspec.cost.formulas.pipeline import exposed_time_of_calls
from clusterspec.cost.layers import FeedForward, Layer, Mixer
from clusterspec.cost.step import StageTime
from clusterspec.cost.traffic import Transfer, call_seconds
from clusterspec.records import NamedTuple, dataclass, replace
from clusterspec.standard import cached_property, sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.sharded_layers import ShardedPasses

PHASES = ("forward", "backward", "recomputation")


@dataclass(frozen=True)
class TransferTime:
    """All calls of one transfer: the seconds of one call, and the exposed seconds of all calls.

    ``overlap_window`` is the seconds of computation that each call can overlap with; ``pipelined`` the share of the
    traffic that runs inside neighboring GEMMs.
    """

    transfer: Transfer
    cost: CollectiveCost
    overlap_window: float
    pipelined: float
    exposed: float

    @property
    def seconds(self) -> float:
        """Seconds of all calls on the wire, or while kernels send their copies."""
        return call_seconds(self.transfer, self.cost.device_seconds) * self.transfer.calls

    @property
    def collectives(self) -> float:
        """The calls that the host launches separately: kernels inside GEMMs are launched with them."""
        return self.transfer.calls * (1.0 - self.pipelined)


@dataclass(frozen=True)
class PhaseTime:
    """One pass over a part of the model: its kernels with their seconds, its transfers, and kernel launches.

    ``device`` sums the kernels, ``exposed`` the transfers; ``launches`` counts all launches of the host,
    ``collectives`` the collectives among them, ``expert_launches`` the launches of single experts, ``shards`` the
    gathers and reductions of sharded weights; ``launch`` is the launch overhead in seconds.
    """

    kernels: tuple[tuple[Kernel, float], ...]
    transfers: tuple[TransferTime, ...]
    device: float
    exposed: float
    launches: float
    collectives: float
    expert_launches: float
    launch: float
    shards: float = 0.0

    @property
    def total(self) -> float:
        return self.device + self.exposed + self.launch


@dataclass(frozen=True)
class PartTime:
    """One micro-batch through one part of the model: a layer, the embedding or the head.

    ``flops`` counts the forward pass, ``recomputed_flops`` the recomputation.
    """

    name: str
    forward: PhaseTime
    backward: PhaseTime
    recomputation: PhaseTime
    flops: float
    recomputed_flops: float

    @cached_property
    def time(self) -> StageTime:
        """Seconds by pass."""
        return StageTime(self.forward.total, self.backward.total, self.recomputation.total)

    @property
    def phases(self) -> tuple[tuple[str, PhaseTime], ...]:
        """Each pass with its name."""
        return tuple(zip(PHASES, (self.forward, self.backward, self.recomputation), strict=True))


HELD_UNITS = assumed_figure(
    "schedules",
    "interference.units",
    0.4,
    "share of `interference` that traffic between nodes causes at any rate: 16 channels of NCCL hold 16 of the 108 "
    "to 132"
    " compute units of an A100 or H100, 0.12 to 0.15 of the device of 0.34",
).value
FULL_RATE = assumed_figure(
    "schedules",
    "interference.rate",
    200e9,
    "combined NIC rate of a node, eight of 200 Gb/s, from which traffic between nodes causes the whole "
    "`interference`; the share beyond that of compute units is memory traffic, which grows with the rate",
    "B/s",
).value


def interference_share(cluster: Cluster) -> float:
    """The factor on `interference` for collectives between nodes: 1 if the NICs of a node have `FULL_RATE` or more,
    less below. It depends on the NICs' total bandwidth, not on their number.

    It is 1 on one node or one scale-up domain, whose traffic uses no NIC, and if no NICs are known.
    """
    out = cluster.scale_out
    if out is None or cluster.nodes == 1 or not out.nics_per_node or nodes_of_domain(cluster) >= cluster.nodes:
        return 1.0
    return HELD_UNITS + (1.0 - HELD_UNITS) * min(1.0, out.node_bandwidth / FULL_RATE)


class NoPathError(Exception):
    """No fabric connects the ranks of a group."""


class Group:
    """Process groups that use the same ``links``; None if no fabric connects their ranks. ``placement`` is that of one
    group.
    """

    def __init__(self, placement: Placement, links: MeasuredLinks | None) -> None:
        self.placement, self.links = placement, links
        self._timings: dict[str, CollectiveTiming] = {}
        self._costs: dict[tuple[str, float], CollectiveCost] = {}
        self._island: Group | None = None

    @property
    def domains(self) -> int:
        """Scale-up domains that one group spans."""
        return self.placement.domains

    @property
    def island(self) -> Group:
        """The ranks of a group in one island; the group itself if it stays in one, or has one rank in each."""
        links = self.links
        if links is None or links.paths.between is None or links.paths.inside.ranks < 2:
            return self
        if self._island is None:
            paths = replace(links.paths, ranks=links.paths.inside.ranks, between=None)
            self._island = Group(self.placement, links._replace(paths=paths))
        return self._island

    def timing(self, name: str) -> CollectiveTiming:
        """The timing of a collective of any size on these groups, which have two or more ranks.

        Raises `NoPathError` where no fabric connects them.
        """
        found = self._timings.get(name)
        if found is None:
            if self.links is None:
                raise NoPathError(f"{self.placement.nodes} nodes, and no fabric joins them")
            found = self._timings[name] = paths_timing(self.links, name)
        return found

    def cost(self, name: str, size: float) -> CollectiveCost:
        """One collective of ``size`` bytes as nccl-tests counts it. Raises `NoPathError` as `timing`."""
        found = self._costs.get((name, size))
        if found is None:
            sent = self.placement.ranks > 1 and size > 0
            found = self.timing(name).cost(size) if sent else cost_of_nothing(name, self.placement.ranks, size)
            self._costs[name, size] = found
        return found


# The communication that a layout overlaps with computation


class OverlappableCommunication(NamedTuple):
    """The communication that may overlap with computation, by axis.

    ``pipelined`` is the share of tensor-parallel traffic that runs inside the GEMMs around it. ``by_default`` says
    whether the framework overlaps transfers without a setting.
    """

    tp: bool
    cp: bool
    ep: bool
    dp: bool
    pp: bool
    pipelined: float
    by_default: bool

    @classmethod
    def of(cls, overlap: Overlap, software: SoftwareBehavior) -> OverlappableCommunication:
        """The overlap settings of a layout. ``partial`` means the software's default share."""
        refused = overlap.tp in ("none", 0)
        share = overlap.tp if isinstance(overlap.tp, int | float) else software.tensor_hidden
        return cls(
            tp=overlap.tp == "full",
            cp=overlap.cp,
            ep=overlap.ep,
            dp=overlap.dp,
            pp=overlap.pp,
            pipelined=0.0 if refused else share,
            by_default=not refused,
        )


# The time of the kernels of one pass and the transfers around them

Transfers = tuple[Transfer, ...]
TransferTimes = tuple[TransferTime, ...]


@dataclass(frozen=True)
class PhaseTimer:
    """Times passes of one layout: kernels by ``speed``, transfers by the ``group`` of their axis, and gathers and
    reductions of ``sharded`` weights.
    """

    speed: Speed
    software: SoftwareBehavior
    hiding: OverlappableCommunication
    group: Callable[[str], Group]
    sharded: ShardedPasses | None = None

    def part_time(self, name: str, work: Work) -> PartTime:
        """Both passes over a part of the model that communicates nothing and recomputes nothing."""
        passes = (
            PassKernels.of({name: self.speed.timed_kernels(kernels)}) for kernels in (work.forward, work.backward)
        )
        forward, backward = (self.phase_time(kernels, ()) for kernels in passes)
        return PartTime(
            name, forward, backward, self.phase_time(NO_KERNELS, ()), sum_of(k.flops for k in work.forward), 0.0
        )

    def phase_time(self, kernels: PassKernels, sent: TransferTimes, shards: float = 0.0) -> PhaseTime:
        """One pass: the kernels one after another, exposed transfers, and launch overhead."""
        exposed, calls = sum_of(one.exposed for one in sent), sum_of(one.transfer.calls for one in sent)
        collectives = sum_of(one.collectives for one in sent)
        launches, of_experts = kernels.launches + calls, kernels.expert_launches
        launch = self.launch_seconds(kernels, exposed, calls, collectives, shards)
        host = launches, collectives, of_experts, launch, shards
        return PhaseTime(kernels.timed, sent, kernels.device, exposed, *host)

    def launch_seconds(
        self, kernels: PassKernels, exposed: float, calls: float, collectives: float, shards: float = 0.0
    ) -> float:
        """Seconds that launching adds to a pass with ``exposed`` seconds of ``calls`` transfers and with ``shards``
        gathers and reductions of sharded weights; the host launches ``collectives`` of the transfers separately.
        """
        launches = kernels.launches + calls
        host = self.software.host_seconds(launches, collectives, kernels.expert_launches, shards)
        return launch_overhead(launches, kernels.device + exposed, host, self.software.gap)

    def transfer_times(self, transfers: Transfers) -> TransferTimes:
        """The times of the transfers of one pass."""
        return tuple(self.transfer_time(transfer) for transfer in transfers)

    def transfer_time(self, transfer: Transfer) -> TransferTime:
        """All calls of a transfer, with the seconds that the computation in its overlap window does not hide."""
        cost = self.group(transfer.axis).cost(transfer.collective, transfer.size)
        pipelined = self.hiding.pipelined if transfer.axis == "tp" else 0.0
        hidden = getattr(self.hiding, transfer.axis, False) or (transfer.hidden_by_default and self.hiding.by_default)
        window = transfer.overlap_window if hidden else 0.0
        seconds = traffic.call_seconds(transfer, cost.device_seconds)
        exposed = exposed_time_of_calls(transfer.calls, seconds, window, self.software.interference, pipelined)
        return TransferTime(transfer, cost, window, pipelined, exposed)


Routed = Callable[[float], Transfers]
"""The expert transfers of one pass as a function of the seconds of computation in the pass."""


NETWORKS = {FeedForward.DENSE: "dense_layer", FeedForward.EXPERTS: "expert_layer", FeedForward.NONE: "layer"}
MIXERS = {Mixer.FULL: "full_", Mixer.WINDOW: "window_", Mixer.LINEAR: "linear_", Mixer.NONE: ""}


def layer_name(layer: Layer, one_mixer: bool) -> str:
    """The name of a layer in terms. It has the kind of network, the token mixing if the model has several kinds, and
    `wide` for layers in a wider precision.
    """
    return ("wide_" if layer.wide else "") + ("" if one_mixer else MIXERS[layer.mixer]) + NETWORKS[layer.network]


class LayerKernels(NamedTuple):
    """The kernels of one layer on one rank, by pass; ``recomputed`` are those that run again before the backward pass.

    ``parts`` holds them by part of the layer; it is empty if the passes are columns.
    """

    layer: Layer
    shard: Shard
    parts: Parts
    forward: PassKernels
    backward: PassKernels
    recomputed: PassKernels = NO_KERNELS

    @classmethod
    def of(cls, layer: Layer, shard: Shard, parts: Parts, speed: Speed) -> LayerKernels:
        """The kernels of a layer with these parts, without recomputation."""
        forward = {name: speed.timed_kernels(work.forward) for name, work in parts.items()}
        backward = {name: speed.timed_kernels(work.backward) for name, work in parts.items()}
        return cls(layer, shard, parts, PassKernels.of(forward), PassKernels.of(backward))

    def recomputed_passes(self, layout: Layout, software: SoftwareBehavior, speed: Speed) -> PassKernels:
        """The timed kernels that run again because of the layout's recomputation."""
        recompute, share = layout.recompute, layout.recomputed_share
        if recompute == "none":
            return NO_KERNELS
        if recompute == "full" and share == 1:
            return self.forward
        from clusterspec.cost.compute.recomputed import recomputed_kernels  # many layouts recompute all or nothing

        kernels = recomputed_kernels(self.parts, recompute, software.stack.selective, share)
        return PassKernels.of({"": speed.timed_kernels(kernels)}) if kernels else NO_KERNELS


def layer_time(name: str, kernels: LayerKernels, layout: Layout, timer: PhaseTimer) -> PartTime:
    """One micro-batch through a layer, with the transfers around its blocks."""
    sent, returned = _layer_transfers(kernels, layout, timer)
    gathered, reduced = timer.sharded.launched(kernels.shard.model, kernels.layer) if timer.sharded else (0.0, 0.0)
    forward = timer.phase_time(kernels.forward, sent, gathered)
    backward = timer.phase_time(kernels.backward, returned, reduced)
    again = timer.phase_time(kernels.recomputed, _repeated_transfers(kernels, layout, sent))
    return PartTime(name, forward, backward, again, kernels.forward.flops, kernels.recomputed.flops)


def _repeated_transfers(kernels: LayerKernels, layout: Layout, sent: TransferTimes) -> TransferTimes:
    """The transfers of the forward pass that recomputation repeats, or its share of their calls."""
    network, shared = kernels.layer.network, kernels.shard.model.shared_experts > 0
    shares = ((one, traffic.repeated_share(one.transfer, layout, network, shared)) for one in sent)
    return tuple(_share_of_calls(one, share) for one, share in shares if share)


def _share_of_calls(one: TransferTime, share: float) -> TransferTime:
    """A share of the calls of a transfer."""
    if share == 1:
        return one
    return replace(one, transfer=replace(one.transfer, calls=one.transfer.calls * share), exposed=one.exposed * share)


def _layer_transfers(kernels: LayerKernels, layout: Layout, timer: PhaseTimer) -> tuple[TransferTimes, TransferTimes]:
    """The transfers of the forward and of the backward pass."""
    layer, shard, method = kernels.layer, kernels.shard, layout.cp_method
    routed: Routed = lambda window: ()  # noqa: E731
    if layer.network is FeedForward.EXPERTS:
        from clusterspec.cost.compute.expert_layer import Routing
        from clusterspec.cost.expert_traffic import expert_transfers

        routing = Routing.of(shard, timer.software.unevenness)
        domains = timer.group("ep").domains if is_divided(shard.ep) else 1
        routed = partial(expert_transfers, shard, routing, layout.dispatcher, domains)
    there, back = kernels.forward, kernels.backward
    forward = (
        *traffic.tensor_forward_transfers(shard, _windows_of_blocks(layer, shard, there)),
        *traffic.context_forward_transfers(shard, method, there.core),
        *routed(there.device),
    )
    backward = (
        *traffic.tensor_backward_transfers(shard, _windows_of_blocks(layer, shard, back)),
        *traffic.context_backward_transfers(shard, method, back.core),
        *routed(back.device),
    )
    return timer.transfer_times(forward), timer.transfer_times(backward)


def _windows_of_blocks(layer: Layer, shard: Shard, kernels: PassKernels) -> dict[str, float]:
    """Seconds of GEMMs in each block that tensor parallelism shards: token mixing, and a dense network or shared
    experts.
    """
    cut = layer.network is FeedForward.DENSE or (
        layer.network is FeedForward.EXPERTS and shard.model.shared_experts > 0
    )
    mixing = {traffic.MIXING: kernels.mixing_gemms} if layer.mixer is not Mixer.NONE else {}
    return mixing | ({traffic.NETWORK: kernels.network_gemms} if cut else {})
