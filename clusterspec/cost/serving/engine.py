"""One serving engine: the parts of its decode and prefill steps, and their seconds."""

from __future__ import annotations

from math import ceil, inf

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost import parameters
from clusterspec.cost.compute.rates import capped_clock
from clusterspec.cost.formulas.experts import requests_on_fullest
from clusterspec.cost.formulas.parameters import share_of_heads
from clusterspec.cost.formulas.serving import (
    all_reduce_time,
    cache_time,
    compute_time,
    exposed_exchange_time,
    latent_time,
    launch_time,
    roofline_time,
    stream_time,
)
from clusterspec.cost.layers import Chunk
from clusterspec.cost.mixers import sequence_cache
from clusterspec.cost.parameters import Share
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import (
    LAUNCH,
    HostOverhead,
    Part,
    RankLinks,
    StepTime,
    rank_links,
    table_origins,
)
from clusterspec.cost.serving.rates import (
    DECODE,
    KernelRates,
    exchange_parts,
    expert_parts,
    remaining_rate_share,
    uses_throughput_kernels,
)
from clusterspec.precision import NARROW, peak_name, precision_width, table_width
from clusterspec.records import NamedTuple, dataclass, field, replace
from clusterspec.summation import sum_of

GROUPED_QUERIES, LATENT, LINEAR = 2, 5, 4
"""Matrix products beside attention of one layer: queries with keys and values, and the output; with latent attention
both compressions in one, queries, the two absorbed matrices, and the output; with linear attention two more."""
NETWORK = 2
"""GEMMs of a dense network: gate and up projection in one, and the down projection."""
ROUTED = 6
"""Kernels of a layer's experts: the router, the selection, sorting of tokens, two grouped GEMMs, and the sum."""


CACHE = "cache"
"""The part of a step that reads the cache."""
BY_PASS = ("bytes_read", "flops", "calls", "layers")
"""Numbers of a part that count the operations of one pass."""


def launches_per_step(model: Model, chunk: Chunk) -> float:
    """Kernel launches of one step through all layers: GEMMs and kernels that route tokens."""
    mixing = LATENT if model.latent else GROUPED_QUERIES
    shared = NETWORK if model.shared_experts else 0
    attention = mixing * (chunk.full_layers + chunk.window_layers) + LINEAR * chunk.linear_layers
    return float(attention + NETWORK * chunk.dense_layers + (ROUTED + shared) * chunk.moe_layers)


def step_parts(
    engine: Engine, tokens: float, sequences: float, attention: tuple[Part, ...], busy: float
) -> tuple[Part, ...]:
    """All parts of a step: ``tokens`` on each of ``busy`` attention ranks, and ``sequences`` that produce a token."""
    if engine.layout.overlap.ep and engine.whole.moe_layers and engine.exchange_links is not None:
        return alternating_step_parts(engine, tokens, sequences, attention, busy)
    experts = expert_parts(engine, tokens, busy) if engine.whole.moe_layers else ()
    return (
        _dense_part(engine, tokens),
        _head_part(engine, sequences),
        *experts,
        *attention,
        _activation_part(engine, tokens, busy),
        *_all_reduce_parts(engine, tokens),
        *exchange_parts(engine, tokens, busy),
        _launch_part(engine, sequences),
    )


def alternating_step_parts(
    engine: Engine, tokens: float, sequences: float, attention: tuple[Part, ...], busy: float
) -> tuple[Part, ...]:
    """The same step as two alternating micro-batches: one exchanges tokens while the other computes.

    Each reads all weights, and has its own kernels and collectives; only the excess of the exchange is exposed. The
    kernels of the exchange of many tokens occupy compute units.
    """
    half = tokens / 2
    units = _free_units_share(engine, half)
    products = (_dense_part(engine, half), _head_part(engine, sequences / 2), *expert_parts(engine, half, busy))
    work = (
        *(_doubled_part(_part_on_units(part, units)) for part in products),
        *attention,
        _activation_part(engine, tokens, busy),
        *map(_doubled_part, _all_reduce_parts(engine, half)),
    )
    computing = sum_of(part.seconds for part in work)
    exposed = (
        part._replace(formula=exposed_exchange_time, numbers=part.numbers | {"computing": computing})
        for part in map(_doubled_part, exchange_parts(engine, half, busy))
    )
    launch = _launch_part(engine, sequences)
    return (*work, *exposed, launch._replace(numbers=launch.numbers | {"launches": 2 * engine.launches}))


def _free_units_share(engine: Engine, tokens: float) -> float:
    """The share of the compute units that an overlapping exchange of ``tokens`` tokens per rank leaves to GEMMs.

    Source: SGLang gives GEMMs the other units for whole steps with prompts (python/sglang/srt/batch_overlap,
    operations_strategy.py: deep_gemm_num_sms), and none away where kernels of low latency leave the transfer to the NIC
    (DeepEP, README: "without any SM occupation").
    """
    units = engine.cluster.accelerator.compute_units
    if units is None or not uses_throughput_kernels(tokens):
        return 1.0
    return max(0.0, 1.0 - constants.EXCHANGE_UNITS * engine.cluster.ranks_per_accelerator / units)


def _part_on_units(part: Part, share: float) -> Part:
    """A GEMM on a share of the compute units."""
    return part._replace(numbers=part.numbers | {"rate": part.numbers["rate"] * share})


def _doubled_part(part: Part) -> Part:
    """A part that runs once for each of two micro-batches."""
    doubled = {name: 2 * value for name, value in part.numbers.items() if name in BY_PASS}
    return part._replace(numbers=part.numbers | doubled)


def cache_reading_parts(
    engine: Engine, sequences: float, context: float, tokens: float = 1.0, *, most: float = inf
) -> tuple[Part, ...]:
    """Attention over the cache for ``tokens`` of each sequence, on the rank with the most sequences.

    ``sequences`` is the mean over all ranks, ``most`` the maximum of one rank.
    """
    model, whole, rates = engine.model, engine.whole, engine.rates
    calls = float(max(1, whole.full_layers + whole.window_layers + whole.linear_layers))
    fullest = min(most, requests_on_fullest(sequences, unevenly_loaded_ranks(engine)))
    read = fullest * engine.sequence_bytes(context) / calls
    software = engine.layout.capabilities.framework.stacks or engine.layout.framework  # a fork runs its base's kernels
    table = DECODE if model.latent else rates.decode_table(software, engine.workload.kv_precision)
    numbers = {
        "calls": calls,
        "floor": rates.attention_floor(table),
        "bytes_read": read,
        "bandwidth": rates.cache_read_rate(read, table),
    }
    origins = table_origins(engine.rates.table, floor=f"{table}.floor", bandwidth=table)
    if not model.latent:
        return (Part(CACHE, cache_time, numbers, origins),)
    elements = 2 * model.latent_kv + model.latent_rope
    rows = max(tokens * share_of_heads(model.heads, engine.layout.tp), rates.latent_rows)
    flops = 2 * fullest * context * rows * elements * whole.full_layers / calls
    rate, measured = rates.latent_rate(engine.workload.kv_precision)
    numbers |= {"flops": flops, "rate": rate}
    return (Part("latent_attention", latent_time, numbers, origins | table_origins(engine.rates.table, rate=measured)),)


def _repeated_reads(part: Part, times: float) -> Part:
    """Attention over a cache that is read so many times."""
    return part._replace(numbers=part.numbers | {"bytes_read": part.numbers["bytes_read"] * times})


def unevenly_loaded_ranks(engine: Engine) -> int:
    """Attention ranks whose requests end at different times; 1 where a batch fills all of them evenly."""
    serving = engine.workload.serving
    return engine.layout.attention_dp if serving is not None and serving.load in {"closed", "open"} else 1


def prompt_attention_parts(engine: Engine, tokens: float, length: float, fresh: float) -> tuple[Part, ...]:
    """Attention within prompts of ``length`` for ``tokens`` tokens; the last ``fresh`` tokens of each are new and
    attend to all before.
    """
    model, whole = engine.model, engine.whole
    widths = 2 * model.head_dim + model.latent_rope if model.latent else model.head_dim + model.value_width
    before = length - fresh / 2
    window = min(before, float(model.window.tokens)) if model.window else 0.0
    seen = whole.full_layers * before + whole.window_layers * window
    flops = 2 * tokens * seen * share_of_heads(model.heads, engine.layout.tp) * widths
    numbers = {"flops": flops, "rate": engine.rates.attention_rate(length)}
    return (Part("attention", compute_time, numbers, table_origins(engine.rates.table, rate="attention.prefill")),)


def _dense_part(engine: Engine, tokens: float) -> Part:
    """Attention and dense networks: reading their weights once, or their GEMMs."""
    weights, name = engine.share.dense + engine.share.replicated, engine.precision
    numbers = {
        "bytes_read": weights * precision_width(engine.workload.parameter_precision),
        "bandwidth": engine.rates.weight_read_rate(name),
        "flops": 2 * weights * tokens,
        "rate": _dense_rate(engine, tokens),
    }
    return Part(
        "dense",
        roofline_time,
        numbers,
        table_origins(engine.rates.table, bandwidth=f"gemm.{name}.stream", rate=f"gemm.{name}"),
    )


def _dense_rate(engine: Engine, tokens: float) -> float:
    """FLOP/s of dense GEMMs; kernels that convert weights use warp-level products, whose tiles are small."""
    kept, name = engine.workload.parameter_precision, engine.precision
    left = remaining_rate_share(kept, name, engine.cluster.accelerator.architecture)
    if left < 1:
        return left * engine.rates.gemm_rate(name, tokens, engine.peak)
    return engine.rates.padded_gemm_rate(name, tokens, engine.peak)


def _head_part(engine: Engine, sequences: float) -> Part:
    weights = engine.share.output
    numbers = {
        "bytes_read": weights * table_width(engine.workload.parameter_precision),
        "bandwidth": engine.rates.weight_read_rate("bf16"),
        "flops": 2 * weights * sequences,
        "rate": engine.rates.padded_gemm_rate("bf16", sequences, engine.rates.wide),
    }
    return Part(
        "head",
        roofline_time,
        numbers,
        table_origins(engine.rates.table, bandwidth="gemm.bf16.stream", rate="gemm.bf16"),
    )


def _activation_part(engine: Engine, tokens: float, busy: float) -> Part:
    """Reading and writing activations between GEMMs: norms, residuals, conversion, sorting by expert."""
    model, whole = engine.model, engine.whole
    copies = tokens * model.experts_per_token * busy / max(1, engine.layout.ep if engine.layout.attention_dp > 1 else 1)
    passes = constants.PASSES.value * model.layers * tokens + constants.ROUTED_PASSES.value * whole.moe_layers * copies
    numbers = {
        "bytes_read": passes * model.hidden * 2.0,
        "bandwidth": engine.rates.bandwidth * constants.STREAMING.value,
    }
    return Part("activations", stream_time, numbers, {})


def _all_reduce_parts(engine: Engine, tokens: float) -> tuple[Part, ...]:
    """Two all-reduces of the hidden states in every layer."""
    ranks, model, links = engine.layout.tp, engine.model, engine.tensor_links
    if links is None:
        return ()
    size = tokens * model.hidden * 2.0
    each = links.by_library(size)
    if links.direct:
        each = min(each, engine.rates.all_reduce_seconds(ranks, size, links.inside) or each)
    numbers = {"calls": 2.0 * model.layers, "each": each}
    return (Part("all_reduce", all_reduce_time, numbers, table_origins(engine.rates.table, each="all_reduce")),)


def _launch_part(engine: Engine, sequences: float) -> Part:
    habits, serving = engine.habits, engine.workload.serving
    captured = serving is None or serving.captured_graphs
    source = (
        table_origins(engine.rates.table, each="gemm.bf16.floor")
        if captured
        else {"each": "serving.eager of the software"}
    )
    numbers = {
        "launches": engine.launches,
        "each": engine.rates.gemm_floor("bf16") if captured else habits.eager,
        "host": habits.host,
        "sequences": sequences,
        "sequence": habits.sequence,
    }
    return Part(LAUNCH, launch_time, numbers, source)


# One serving engine: the model on a rank, its rates, and the time of its steps


class Decoding(NamedTuple):
    """Sequences of one attention rank that decode, each with ``context`` tokens in the cache.

    ``tokens`` of each are computed in a step: one, and the drafted ones. They are as many in a step with a prompt as in
    one without, so that the difference of both steps is the prompt.
    """

    sequences: float
    context: float
    tokens: float


NOTHING = Decoding(0.0, 0.0, 1.0)


@dataclass(frozen=True)
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
    steps: dict[tuple[object, ...], StepTime] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The timed steps, by contents: bisections over the load evaluate the same steps again."""
    contexts: dict[float, float] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The same for the bytes of a sequence by its context."""

    @classmethod
    def of(cls, cluster: Cluster, workload: Workload, layout: Layout, replicas: int) -> Engine | None:
        """The engine of a layout; None where the accelerator has no peak for the workload."""
        clock = capped_clock(cluster)
        rates = KernelRates.of(cluster.accelerator, cluster.kernels, clock.value if clock is not None else 1.0)
        if rates is None:
            return None
        model = workload.model
        counted = parameters.model_weights(model)
        whole = counted.held
        precision, peak = _gemm_peak(workload.precision, rates)
        if workload.peak is not None:
            peak = workload.peak.value / cluster.ranks_per_accelerator
        expert_precision, expert_peak = _expert_gemm_peak(workload, rates, (precision, peak))
        ranks = layout.tp * layout.attention_dp
        return cls(
            cluster=cluster,
            workload=workload,
            layout=layout,
            replicas=replicas,
            rates=rates,
            habits=HostOverhead.of(layout.stack),
            whole=whole,
            share=parameters.rank_share(model, layout, (whole,)),
            expert=counted.expert,
            precision=precision,
            peak=peak,
            expert_precision=expert_precision,
            expert_peak=expert_peak,
            launches=launches_per_step(model, whole),
            tensor_links=rank_links(cluster, layout.tp) if layout.tp > 1 else None,
            exchange_links=rank_links(cluster, ranks) if layout.attention_dp > 1 else None,
        )

    @property
    def model(self) -> Model:
        return self.workload.model

    @property
    def ranks(self) -> int:
        """Ranks of one engine over which experts are distributed."""
        return self.layout.tp * self.layout.attention_dp

    @property
    def accelerators(self) -> float:
        """Accelerators of one engine, all its pipeline stages together."""
        return self.ranks * self.layout.pp / self.cluster.ranks_per_accelerator

    def times(self, number: int) -> Engine:
        """The same engine with another number of replicas; both share the timed steps."""
        other = replace(self, replicas=number)
        object.__setattr__(other, "steps", self.steps)
        object.__setattr__(other, "contexts", self.contexts)
        return other

    @property
    def attention_ranks(self) -> int:
        """Attention replicas of all engines."""
        return self.replicas * self.layout.attention_dp

    @property
    def weight_bytes(self) -> float:
        """Bytes of the weights of all layers on one rank, experts in their own precision, tables in 16 bits."""
        return sum_of(kind.weights * kind.width for kind in parameters.served_weights(self.share, self.workload))

    def sequence_bytes(self, context: float) -> float:
        """Bytes of cache of one sequence on one rank, over all layers."""
        found = self.contexts.get(context)
        if found is None:
            kept = sequence_cache(self.model, (self.whole,), context, self.layout.tp)
            found = self.contexts[context] = kept.stored(self.workload.kv_precision).total
        return found

    def decode(self, sequences: float, context: float, tokens: float = 1.0) -> StepTime:
        """One step that decodes ``tokens`` of each of ``sequences`` on every attention rank: one, or drafted ones."""
        key = (sequences, context, tokens)
        if key not in self.steps:
            ranks, most = float(self.layout.attention_dp), max(1.0, sequences * self.layout.attention_dp)
            attention = cache_reading_parts(self, max(1.0, sequences), context, tokens, most=most)
            every = max(1.0, sequences) * tokens
            self.steps[key] = StepTime.of(step_parts(self, every, every, attention, min(ranks, most)))
        return self.steps[key]

    def prefill(self, tokens: float, length: float, busy: float, beside: Decoding = NOTHING) -> StepTime:
        """``tokens`` of prompts of ``length`` on each of ``busy`` attention ranks, through all layers.

        Each chunk of a prompt is one step, in which the sequences ``beside`` it decode; it includes their tokens.
        """
        key = (tokens, length, busy, beside)
        if key not in self.steps:
            self.steps[key] = self._prefill(tokens, length, busy, beside)
        return self.steps[key]

    def _prefill(self, tokens: float, length: float, busy: float, beside: Decoding) -> StepTime:
        serving = self.workload.serving
        decoded = beside.sequences * beside.tokens
        taken = decoded if beside.sequences > 1 else 0.0  # a request alone does not decode beside its own prompt
        most = max(1.0, serving.chunk_tokens - taken) if serving is not None and serving.chunk_tokens else tokens
        steps = max(1.0, float(ceil(tokens / most - 1e-9)))
        here = tokens / steps
        attention = prompt_attention_parts(self, here, length, min(tokens, length))
        if beside.sequences:
            read = cache_reading_parts(self, *beside)
            attention = (*attention, *(_repeated_reads(part, self.reads_beside_prompts) for part in read))
        every, ending = here + decoded, here / max(1.0, length) + decoded
        return StepTime.of(step_parts(self, every, ending, attention, busy), steps)

    @property
    def prompts_alone(self) -> bool:
        """Whether steps with prompts hold no sequences that decode.

        Attention replicas run their steps together, one with prompts beside others that decode.
        """
        stack = self.layout.stack
        alone = stack is not None and stack.serving is not None and stack.serving.prompts_alone
        return alone and self.layout.attention_dp == 1

    @property
    def reads_beside_prompts(self) -> float:
        """Reads of the cache in a step with prompts over those of a step that only decodes, by the time they take.

        Where each query head reads the cache of its key itself, the second-level cache delivers the repetitions.
        """
        stack, model, chip = self.layout.stack, self.model, self.cluster.accelerator.architecture
        software = stack.serving if stack is not None else None
        if (
            software is None
            or chip not in software.repeated_reads
            or model.latent
            or model.window
            or not model.kv_heads
        ):
            return 1.0  # models with windows of attention run other kernels
        heads, keys = (share_of_heads(number, self.layout.tp) for number in (model.heads, model.kv_heads))
        return max(1.0, heads / keys / constants.REREAD.value)

    def launch_floor(self, steps: float) -> float:
        """Seconds that the host needs at least to launch ``steps`` steps of a prompt without captured graphs."""
        return steps * self.launches * self.habits.eager


def _gemm_peak(name: str, rates: KernelRates) -> tuple[str, float]:
    """The precision whose peak the accelerator uses for GEMMs in ``name``, and that peak; 16 bits where it has none."""
    found = peak_name(name, rates.peaks)
    return (found, rates.peaks[found]) if found else ("bf16", rates.wide)


def _expert_gemm_peak(workload: Workload, rates: KernelRates, other: tuple[str, float]) -> tuple[str, float]:
    """Precision and dense peak (FLOP/s) of expert GEMMs: those of the expert weights, else those of the workload.

    Products of 4-bit weights with wider activations run at the rate of 8 bits (PTX ISA, tcgen05.mma, kind mxf8f6f4).
    """
    kept = workload.expert_parameter_precision
    found = peak_name(kept, rates.peaks)
    if kept == workload.parameter_precision or found is None or precision_width(found) > precision_width(kept):
        return other
    if found == "fp4" and workload.precision not in NARROW and "fp8" in rates.peaks:
        found = "fp8"
    return found, rates.peaks[found]
