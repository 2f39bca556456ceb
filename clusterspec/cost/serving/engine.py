"""One serving engine: the model on a rank, its rates, and the time of its steps."""

from __future__ import annotations

from math import ceil

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost import parameters
from clusterspec.cost.cache import of_sequence
from clusterspec.cost.layers import Chunk
from clusterspec.cost.parameters import Share
from clusterspec.cost.serving import parts
from clusterspec.cost.serving.links import RankLinks, links_of
from clusterspec.cost.serving.rates import KernelRates
from clusterspec.cost.serving.software import HostOverhead
from clusterspec.cost.serving.steps import StepTime
from clusterspec.precision import NARROW, rate, width
from clusterspec.records import dataclass
from clusterspec.summation import sum_of


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine: ``layout`` has its degrees, ``replicas`` is the number of engines. Counts are those of one rank, all
    stages.

    ``peak`` and ``expert_peak`` are dense FLOP/s of a rank in the precisions ``precision`` and ``expert_precision`` of
    its GEMMs; ``expert`` the weights of one expert; ``products`` the GEMMs of one step, ``launches`` includes the
    kernels that route tokens.
    """

    cluster: Cluster
    workload: Workload
    layout: Layout
    replicas: int
    rates: KernelRates
    habits: HostOverhead
    whole: Chunk
    share: Share
    expert: float
    precision: str
    peak: float
    expert_precision: str
    expert_peak: float
    launches: float
    tensor_links: RankLinks | None
    exchange_links: RankLinks | None

    @classmethod
    def of(cls, cluster: Cluster, workload: Workload, layout: Layout, replicas: int) -> Engine | None:
        """The engine of a layout; None where the accelerator has no peak for the workload."""
        rates = KernelRates.of(cluster.accelerator, cluster.kernels)
        if rates is None:
            return None
        model = workload.model
        counted = parameters.count(model)
        whole = counted.held
        precision, peak = _peak(workload.precision, rates)
        if workload.peak is not None:
            peak = workload.peak.value / cluster.ranks_per_accelerator
        expert_precision, expert_peak = _expert_peak(workload, rates, (precision, peak))
        ranks = layout.tp * layout.attention_dp
        return cls(
            cluster=cluster,
            workload=workload,
            layout=layout,
            replicas=replicas,
            rates=rates,
            habits=HostOverhead.of(layout.stack),
            whole=whole,
            share=parameters.share(model, layout, (whole,)),
            expert=counted.expert,
            precision=precision,
            peak=peak,
            expert_precision=expert_precision,
            expert_peak=expert_peak,
            launches=parts.launches(model, whole),
            tensor_links=links_of(cluster, layout.tp) if layout.tp > 1 else None,
            exchange_links=links_of(cluster, ranks) if layout.attention_dp > 1 else None,
        )

    @property
    def model(self) -> Model:
        return self.workload.model

    @property
    def ranks(self) -> int:
        """Ranks of one engine over which experts are distributed."""
        return self.layout.tp * self.layout.attention_dp

    @property
    def attention_ranks(self) -> int:
        """Attention replicas of all engines."""
        return self.replicas * self.layout.attention_dp

    @property
    def weight_bytes(self) -> float:
        """Bytes of the weights of all layers on one rank, experts in their own precision, tables in 16 bits."""
        return sum_of(kind.weights * kind.width for kind in parameters.served(self.share, self.workload))

    def sequence_bytes(self, context: float) -> float:
        """Bytes of cache of one sequence on one rank, over all layers."""
        kept = of_sequence(self.model, (self.whole,), context, self.layout.tp)
        return kept.stored(self.workload.kv_precision).total

    def decode(self, sequences: float, context: float, tokens: float = 1.0) -> StepTime:
        """One step that decodes ``tokens`` of each of ``sequences`` on every attention rank: one, or drafted ones."""
        attention = parts.reading(self, sequences, context, tokens)
        every = sequences * tokens
        return StepTime.of(parts.step(self, every, every, attention, float(self.layout.attention_dp)))

    def prefill(
        self, tokens: float, length: float, busy: float, decoding: float = 0.0, context: float = 0.0
    ) -> StepTime:
        """``tokens`` of prompts of ``length`` on each of ``busy`` attention ranks, through all layers.

        Each chunk of a prompt is one step. ``decoding`` sequences of ``context`` decode a token in each.
        """
        serving = self.workload.serving
        most = serving.chunk_tokens if serving is not None and serving.chunk_tokens else tokens
        steps = max(1.0, float(ceil(tokens / most - 1e-9)))
        here = tokens / steps
        attention = parts.prompt_attention(self, here, length, min(tokens, length))
        if decoding:
            attention = (*attention, *parts.reading(self, decoding, context))
        return StepTime.of(
            parts.step(self, here + decoding, here / max(1.0, length) + decoding, attention, busy), steps
        )

    def launching(self, steps: float) -> float:
        """The least seconds to launch ``steps`` steps of a prompt without captured graphs."""
        return steps * self.launches * self.habits.eager


def _peak(name: str, rates: KernelRates) -> tuple[str, float]:
    """The precision whose peak the accelerator uses for GEMMs in ``name``, and that peak; 16 bits where it has none."""
    found = rate(name, rates.peaks)
    return (found, rates.peaks[found]) if found else ("bf16", rates.wide)


def _expert_peak(workload: Workload, rates: KernelRates, other: tuple[str, float]) -> tuple[str, float]:
    """The same for experts: the precision of their weights where the accelerator has a peak for it, else that of the
    workload.

    Products of 4-bit weights with wider activations run at the rate of 8 bits (PTX ISA, tcgen05.mma, kind mxf8f6f4).
    """
    kept = workload.expert_parameter_precision
    found = rate(kept, rates.peaks)
    if kept == workload.parameter_precision or found is None or width(found) > width(kept):
        return other
    if found == "fp4" and workload.precision not in NARROW and "fp8" in rates.peaks:
        found = "fp8"
    return found, rates.peaks[found]
