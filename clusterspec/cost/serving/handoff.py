"""The handoff of a prompt's cache from its prefill engine to a decode engine: bytes, descriptors, links and seconds."""

from __future__ import annotations

from math import ceil, inf

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cluster.requests import Transfer
from clusterspec.cluster.variation import layout_of_engines
from clusterspec.cost.formulas.serving import handoff_time, overlapped_handoff_time, stream_time, transfer_time
from clusterspec.cost.layers import Chunk, model_layers
from clusterspec.cost.mixers import sequence_cache
from clusterspec.cost.serving import constants
from clusterspec.records import NamedTuple
from clusterspec.standard import recent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.sites import PoolLink

HANDOFF_SHARE = 0.8
"""Share of the line rate at which one cache is sent (DistServe, arXiv 2401.09670; DeepSeek-V3, arXiv 2412.19437)."""
KEYS_AND_VALUES = 2
"""Runs of memory that hold the cache of a layer; latent attention has one."""


class CacheTransfer(NamedTuple):
    """The transfer of one prompt's cache on its busiest rank: bytes, B/s of the rank's link, and descriptors."""

    size: float
    bandwidth: float
    descriptors: float = 0.0

    @property
    def seconds(self) -> float:
        """Seconds in which the transfer occupies the link of the rank."""
        if not self.descriptors:
            return stream_time(self.size, self.bandwidth)
        return transfer_time(*self, each=constants.DESCRIPTOR.value)


class Handoff(NamedTuple):
    """The handoff of a request: fixed seconds, the transfer, and the prompt of ``computing`` seconds that overlaps with
    all but the last of its ``pieces``.
    """

    passing: float
    transfer: CacheTransfer
    pieces: float = 1.0
    computing: float = 0.0

    @property
    def seconds(self) -> float:
        if self.pieces == 1 and not self.transfer.descriptors:
            return handoff_time(self.passing, self.transfer.size, self.transfer.bandwidth)
        return overlapped_handoff_time(self.passing, self.transfer.seconds, self.pieces, self.computing)

    @property
    def hidden_seconds(self) -> float:
        """Seconds of the transfer that overlap with the prompt."""
        return self.passing + self.transfer.seconds - self.seconds


def request_bytes(workload: Workload, layout: Layout, tokens: float) -> float:
    """Bytes of cache of one request with ``tokens`` tokens on one rank, over all stages."""
    kept = sequence_cache(workload.model, (whole_model(workload),), tokens, layout.tp)
    return kept.stored_bytes(workload.kv_precision).total


def request_cache_bytes(design: Design) -> float | None:
    """Bytes of one prompt's cache that prefill engines send; None without separate prefill engines."""
    workload, layout = design.workload, design.layout
    load = workload.serving if workload is not None else None
    if workload is None or layout is None or load is None or load.prefill is None:
        return None
    sender = layout_of_engines(layout, load.prefill, workload.model.layers)
    return request_bytes(workload, sender, float(load.input_tokens)) * sender.tp


def whole_model(workload: Workload) -> Chunk:
    """All layers of the model of a workload."""
    return _chunk_of_all(workload.model)


@recent(8)
def _chunk_of_all(model: Model) -> Chunk:
    return Chunk.of(model_layers(model), first=True, last=True)


def slower_transfer(sides: tuple[CacheTransfer, CacheTransfer]) -> CacheTransfer:
    """The transfer of a cache on the rank that takes longer."""
    return max(sides, key=lambda side: side.seconds)


def side_transfers(
    cluster: Cluster, workload: Workload, pools: tuple[Layout, Layout], tokens: float
) -> tuple[CacheTransfer, CacheTransfer] | None:
    """The transfer of a prompt's KV cache from a rank of a prefill engine, and to a rank of a decode engine.

    Each side sends or receives its own part. The link is the one that the spec states for caches, else the scale-up
    interconnect if all engines are in one domain, else the rank's share of the NICs. None if no fabric connects
    them.
    """
    stated = workload.serving.transfer if workload.serving is not None else Transfer()
    inside = cluster.accelerators <= cluster.scale_up.domain
    link = stated.bandwidth or (
        cluster.scale_up.peer_bandwidth.value if inside else cluster.nic_bandwidth_per_accelerator
    )
    if not link:
        return None
    line = link / cluster.ranks_per_accelerator * HANDOFF_SHARE

    def side(own: Layout, other: Layout) -> CacheTransfer:
        size = request_bytes(workload, own, tokens) / own.pp
        blocks = stated.block_tokens
        return CacheTransfer(size, line, _descriptors(workload, (own, other), tokens, blocks) if blocks else 0.0)

    prompts, answers = pools
    return side(prompts, answers), side(answers, prompts)


def linked_transfers(
    clusters: tuple[Cluster, Cluster], workload: Workload, pools: tuple[Layout, Layout], tokens: float, link: PoolLink
) -> tuple[CacheTransfer, CacheTransfer]:
    """Transfers as in `side_transfers`, for prefill and decode engines on two machines with a link between them.

    The ranks of one engine send a cache at the same time. Each rank therefore has its share of its machine's NICs, of
    the slower end of a shared fabric, and of the total bandwidth of the link.
    """
    stated = workload.serving.transfer if workload.serving is not None else Transfer()

    def side(cluster: Cluster, own: Layout, other: Layout) -> CacheTransfer:
        size = request_bytes(workload, own, tokens) / own.pp
        share = (stated.bandwidth or cluster.nic_bandwidth_per_accelerator or inf) / cluster.ranks_per_accelerator
        line = min(share, link.node / cluster.ranks_per_node, link.total / (own.tp * own.pp)) * HANDOFF_SHARE
        blocks = stated.block_tokens
        return CacheTransfer(size, line, _descriptors(workload, (own, other), tokens, blocks) if blocks else 0.0)

    (first, second), (prompts, answers) = clusters, pools
    return side(first, prompts, answers), side(second, answers, prompts)


def link_seconds(workload: Workload, layout: Layout, tokens: float, link: PoolLink) -> float:
    """Seconds in which transferring the cache of one prompt from an engine takes the whole rate of a link."""
    whole = request_bytes(workload, layout, tokens) * layout.tp
    return stream_time(whole, link.total * HANDOFF_SHARE)


def _descriptors(workload: Workload, sides: tuple[Layout, Layout], tokens: float, block: int) -> float:
    """Number of descriptors of a transfer on a rank of the first of two ``sides``: one for each block of each layer,
    for keys and for values.

    If the other side shards the heads further, each block is split into one part for each of its shards.
    """
    model, whole = workload.model, whole_model(workload)
    window = min(tokens, float(model.window.tokens)) if model.window else 0.0
    blocks = whole.full_layers * ceil(tokens / block) + whole.window_layers * ceil(window / block)
    runs = 1 if model.latent else KEYS_AND_VALUES
    own, other = (1 if model.latent else min(layout.tp, model.kv_heads) for layout in sides)
    return (blocks * runs + whole.linear_layers) * max(1.0, other / own) / sides[0].pp
