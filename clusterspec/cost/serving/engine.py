"""One serving engine in numbers: what a rank holds, how fast it is, and the time of its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost import parameters
from clusterspec.cost.cache import of_sequence
from clusterspec.cost.formulas.serving import (
    all_reduce_time,
    compute_time,
    expert_exchange_time,
    experts_hit,
    launch_time,
    roofline_time,
    stream_time,
)
from clusterspec.cost.layers import Chunk, layers
from clusterspec.cost.parameters import Share
from clusterspec.cost.serving import constants as known
from clusterspec.precision import width
from clusterspec.records import dataclass


class Part(NamedTuple):
    """What one step spends on one thing: a formula of `cost.formulas.serving` and its numbers."""

    name: str
    formula: Callable[..., float]
    numbers: dict[str, float]

    @property
    def seconds(self) -> float:
        return self.formula(**self.numbers)


LAUNCH = "launch"


class StepTime(NamedTuple):
    """One step of an engine, part by part."""

    parts: tuple[Part, ...]

    @property
    def total(self) -> float:
        """Seconds of the step."""
        return sum(part.seconds for part in self.parts)

    @property
    def device(self) -> float:
        """Seconds of the step without launching."""
        return sum(part.seconds for part in self.parts if part.name != LAUNCH)


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine: ``layout`` has its degrees, ``replicas`` of it serve. Rates are those of one rank."""

    cluster: Cluster
    workload: Workload
    layout: Layout
    replicas: int
    bandwidth: float
    """Memory bandwidth of a rank, B/s, reads and writes together."""
    peak: float
    """Dense FLOP/s of a rank at the precision of the work."""
    wide_peak: float
    """Dense FLOP/s of a rank at 16 bits."""

    @property
    def model(self) -> Model:
        return self.workload.model

    @property
    def whole(self) -> Chunk:
        """All layers of the model, as one chunk."""
        return Chunk.of(layers(self.model), first=True, last=True)

    @property
    def ranks(self) -> int:
        """Ranks of one engine over which experts lie."""
        return self.layout.tp * self.layout.attention_dp

    @property
    def _share(self) -> Share:
        """The weights of all layers on one rank."""
        return parameters.share(self.model, self.layout, (self.whole,))

    @property
    def weight_bytes(self) -> float:
        """Bytes of the weights of all layers on one rank, experts in their own precision, tables in 16 bits."""
        share, work = self._share, self.workload
        tables = 2.0 * (share.embedding + share.head)
        dense = (share.dense + share.replicated) * width(work.parameter_precision)
        return dense + share.expert * width(work.expert_parameter_precision) + tables

    @property
    def arithmetic(self) -> float:
        """Dense FLOP/s that products reach on a rank."""
        name = self.workload.precision if self.workload.precision in known.ARITHMETIC else "bf16"
        return self.peak * known.ARITHMETIC[name].value

    def link(self, ranks: int) -> tuple[float, float]:
        """B/s per direction of one rank, and seconds of latency, of a group of this engine."""
        cluster = self.cluster
        if ranks <= cluster.ranks_per_domain or cluster.nic_share is None:
            return cluster.scale_up.peer_bandwidth.value / cluster.ranks_per_accelerator, 0.0
        return cluster.nic_share / cluster.ranks_per_accelerator, known.NETWORK_LATENCY.value

    def sequence_bytes(self, context: float) -> float:
        """Bytes of cache of one sequence on one rank, over all layers."""
        kept = of_sequence(self.model, (self.whole,), context, self.layout.tp)
        return width(self.workload.kv_precision) * (kept.keys_values + kept.index_keys) + 4.0 * kept.state

    def decode(self, sequences: float, context: float) -> StepTime:
        """One step that decodes a token of each of ``sequences`` on every attention rank."""
        return self._step(sequences, sequences, self._cache_parts(sequences, context))

    def prefill(self, tokens: float, length: float) -> StepTime:
        """``tokens`` of prompts of ``length`` on every attention rank, through all layers."""
        model = self.model
        heads = model.heads / self.layout.tp
        flops = 4 * tokens * length / 2 * heads * model.head_dim * self.whole.full_layers
        products = Part("attention", compute_time, {"flops": flops, "rate": self._attention_rate})
        return self._step(tokens, tokens / max(1.0, length), (products,))

    @property
    def _attention_rate(self) -> float:
        return self.wide_peak * known.ATTENTION_ARITHMETIC.value

    def _cache_parts(self, sequences: float, context: float) -> tuple[Part, ...]:
        """Reading the cache, and the products of latent attention over it."""
        read = sequences * self.sequence_bytes(context)
        bandwidth = self.bandwidth * known.ATTENTION_STREAMING.value
        cache = Part("cache", stream_time, {"bytes_read": read, "bandwidth": bandwidth})
        model = self.model
        if not model.latent:
            return (cache,)
        elements = 2 * model.latent_kv + model.latent_rope
        flops = 2 * sequences * context * model.heads / self.layout.tp * elements * self.whole.full_layers
        return (cache, Part("latent_attention", compute_time, {"flops": flops, "rate": self._attention_rate}))

    def _step(self, tokens: float, sequences: float, attention: tuple[Part, ...]) -> StepTime:
        experts = self._experts(tokens) if self.whole.moe_layers else ()
        return StepTime(
            (
                self._dense(tokens),
                self._head(sequences),
                *experts,
                *attention,
                *self._all_reduce(tokens),
                *self._exchange(tokens),
                self._launch(sequences),
            )
        )

    def _dense(self, tokens: float) -> Part:
        """Attention and dense networks: their weights once, or their products."""
        share = self._share
        weights = share.dense + share.replicated
        numbers = {
            "bytes_read": weights * width(self.workload.parameter_precision),
            "bandwidth": self.bandwidth * known.STREAMING.value,
            "flops": 2 * weights * tokens,
            "rate": self.arithmetic,
        }
        return Part("dense", roofline_time, numbers)

    def _head(self, sequences: float) -> Part:
        weights = self._share.head or self._share.embedding
        numbers = {
            "bytes_read": weights * 2.0,
            "bandwidth": self.bandwidth * known.STREAMING.value,
            "flops": 2 * weights * sequences,
            "rate": self.wide_peak * known.ARITHMETIC["bf16"].value,
        }
        return Part("head", roofline_time, numbers)

    def _experts(self, tokens: float) -> tuple[Part, ...]:
        """Experts: the weights of those that a token hits, or the products of all tokens."""
        model, replicas = self.model, self.layout.attention_dp
        hit = experts_hit(model.experts, tokens * replicas, model.experts_per_token) / model.experts
        chosen = parameters.count(model).expert * model.experts_per_token * self.whole.moe_layers
        numbers = {
            "bytes_read": self._share.expert * hit * width(self.workload.expert_parameter_precision),
            "bandwidth": self.bandwidth * known.EXPERT_STREAMING.value,
            "flops": 2 * chosen * tokens * replicas / self.ranks,
            "rate": self.arithmetic * known.GROUPED.value,
        }
        return (Part("experts", roofline_time, numbers),)

    def _all_reduce(self, tokens: float) -> tuple[Part, ...]:
        """Two all-reduces of the hidden states in every layer."""
        ranks, model = self.layout.tp, self.model
        if ranks == 1:
            return ()
        link, latency = self.link(ranks)
        numbers = {
            "calls": 2.0 * model.layers,
            "latency": known.ALL_REDUCE[min(8, 1 << (ranks - 1).bit_length())].value + latency,
            "ranks": float(ranks),
            "size": tokens * model.hidden * 2.0,
            "bandwidth": link * known.LINK.value,
        }
        return (Part("all_reduce", all_reduce_time, numbers),)

    def _exchange(self, tokens: float) -> tuple[Part, ...]:
        """Tokens sent to their experts and back, where the ranks of an engine hold different tokens."""
        expert_layers, model = self.whole.moe_layers, self.model
        if not expert_layers or self.layout.attention_dp == 1:
            return ()
        link, latency = self.link(self.ranks)
        numbers = {
            "layers": float(expert_layers),
            "latency": known.EXCHANGE.value + latency,
            "tokens": tokens,
            "chosen": float(model.experts_per_token),
            "hidden": float(model.hidden),
            "bytes_each": known.EXCHANGE_BYTES,
            "bandwidth": link * known.EXCHANGE_LINK.value,
        }
        return (Part("expert_exchange", expert_exchange_time, numbers),)

    def _launch(self, sequences: float) -> Part:
        expert_layers, serving = self.whole.moe_layers, self.workload.serving
        dense, expert = known.DENSE_LAUNCH.value, known.EXPERT_LAUNCH.value
        if serving is not None and not serving.captured_graphs:
            dense, expert = known.EAGER_LAYER.value, known.EAGER_LAYER.value * known.EXPERT_LAYER
        numbers = {
            "dense_layers": float(self.model.layers - expert_layers),
            "dense": dense,
            "expert_layers": float(expert_layers),
            "expert": expert,
            "host": known.HOST.value,
            "sequences": sequences * self.layout.attention_dp,
            "each": known.PER_SEQUENCE.value,
        }
        return Part(LAUNCH, launch_time, numbers)

    def prefill_floor(self) -> float:
        """Seconds that launching one prompt takes at least, where its graphs are not captured."""
        each = known.COMPILED_LAYER if self.layout.framework == "trt-llm" else known.EAGER_LAYER
        expert_layers = self.whole.moe_layers
        return (self.model.layers - expert_layers + known.EXPERT_LAYER * expert_layers) * each.value
