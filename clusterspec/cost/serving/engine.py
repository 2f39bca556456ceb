"""One serving engine: the model on a rank, its rates, and how its software forms steps."""

from __future__ import annotations

from math import inf

from clusterspec.catalog.models import Model
from clusterspec.catalog.serving_software import ServingSoftware
from clusterspec.cluster.measured_shares import MeasuredShare
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost import parameters
from clusterspec.cost.compute.power_cap import capped_clock, limited_clock
from clusterspec.cost.drafters import drafter_cache_bytes
from clusterspec.cost.formulas.memory import share_of_heads
from clusterspec.cost.layers import Chunk
from clusterspec.cost.mixers import sequence_cache
from clusterspec.cost.parameters import Share
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import RankLinks, StepTime, rank_links
from clusterspec.cost.serving.host import HostOverhead
from clusterspec.cost.serving.parts.gemm_sizes import Products, dense_products, sizes_share
from clusterspec.cost.serving.parts.launches import dense_gemms, launches_by_host, launches_per_step
from clusterspec.cost.serving.rates import KernelRates
from clusterspec.quantity import NARROW, peak_name, precision_width
from clusterspec.records import NamedTuple, dataclass, field, replace
from clusterspec.standard import cached_property


class Decoding(NamedTuple):
    """Decoding sequences of one attention rank, each with ``context`` tokens in the cache.

    A step computes ``tokens`` per sequence: one plus the drafted ones. The number of sequences is the same in steps
    with and without a prompt, so the difference of the two step times is the time of the prompt.
    """

    sequences: float
    context: float
    tokens: float


NOTHING = Decoding(0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Engine:
    """One engine: ``layout`` has its degrees, ``replicas`` is the number of engines. All counts are for one rank and
    all stages.

    ``peak`` and ``expert_peak`` are dense FLOP/s of a rank in the precisions ``precision`` and ``expert_precision`` of
    its GEMMs; ``expert`` the weights of one expert; ``launches`` the GEMMs of one step and the kernels that route
    tokens; ``products`` are its dense GEMMs by size, ``sizes`` their rate relative to the median shape.
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
    products: tuple[Products, ...] = ()
    sizes: float = 1.0
    steps: dict[tuple[object, ...], StepTime] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The timed steps, by contents: bisections over the load evaluate the same steps again."""
    contexts: dict[float, float] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Cache bytes of a sequence by its context in tokens, stored for the same reason."""

    @classmethod
    def of(cls, cluster: Cluster, workload: Workload, layout: Layout, replicas: int) -> Engine | None:
        """The engine of a layout; None if the accelerator has no peak for the workload."""
        chip, clock = cluster.accelerator, capped_clock(cluster)
        factor = measured_kernels(cluster)
        measured = factor.share.value if factor is not None else 1.0
        limited = limited_clock(chip, cluster.kernels_part)
        lowest = min(limited, clock.value) if clock else limited
        rates = KernelRates.of(chip, cluster.kernels, cluster.kernels_part, lowest, measured)
        if rates is None:
            return None
        model = workload.model
        counted = parameters.model_weights(model)
        whole = counted.held
        precision, peak = _gemm_peak(workload.precision, rates)
        if workload.peak is not None:
            peak = workload.peak.value / cluster.ranks_per_accelerator * measured
        expert_precision, expert_peak = _expert_gemm_peak(workload, rates, (precision, peak))
        ranks = layout.tp * layout.attention_dp
        share = parameters.rank_share(model, layout, (whole,))
        weights = share.dense + share.replicated
        products = dense_products(model, whole, layout.tp, weights=weights, gemms=dense_gemms(model, whole))
        host = layout.stack, chip.architecture, layout.software_year, layout.tp
        return cls(
            cluster=cluster,
            workload=workload,
            layout=layout,
            replicas=replicas,
            rates=rates,
            habits=HostOverhead.of(*host, latent=bool(model.latent)),
            whole=whole,
            share=share,
            expert=counted.expert,
            precision=precision,
            peak=peak,
            expert_precision=expert_precision,
            expert_peak=expert_peak,
            launches=launches_per_step(model, whole, layout.tp),
            tensor_links=rank_links(cluster, layout.tp) if layout.tp > 1 else None,
            exchange_links=rank_links(cluster, ranks) if layout.attention_dp > 1 else None,
            products=products,
            sizes=sizes_share(rates, precision, products, software_of(layout)),
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
        for name in ("steps", "contexts"):
            object.__setattr__(other, name, getattr(self, name))
        return other

    @property
    def attention_ranks(self) -> int:
        """Attention replicas of all engines."""
        return self.replicas * self.layout.attention_dp

    @cached_property
    def weight_bytes(self) -> float:
        """Bytes of the weights of all layers on one rank, experts in their own precision, tables in 16 bits."""
        return parameters.served_bytes(self.share, self.workload, self.layout.expert_tp)

    def sequence_bytes(self, context: float) -> float:
        """Bytes of cache of one sequence on one rank, over all layers."""
        if (found := self.contexts.get(context)) is None:
            kept = sequence_cache(self.model, (self.whole,), context, self.layout.tp)
            found = self.contexts[context] = kept.stored_bytes(self.workload.kv_precision).total
        return found

    def reserved_bytes(self, context: float) -> float:
        """`sequence_bytes` with what software reserves beyond the windows of layers and for layers that draft."""
        reserved = self.layout.stack.window_tokens if self.layout.stack is not None else 0.0
        drafted = drafter_cache_bytes(self.workload, context, self.layout.tp) * self.layout.pp  # all on the last stage
        if not reserved or self.model.window is None:
            return self.sequence_bytes(context) + drafted
        kept = sequence_cache(self.model, (self.whole,), context, self.layout.tp, reserved)
        return kept.stored_bytes(self.workload.kv_precision).total + drafted

    @cached_property
    def software(self) -> str:
        """The framework whose kernels the engine runs: for a fork, its base framework."""
        return software_of(self.layout)

    @property
    def software_year(self) -> float:
        """The year of the generation of its software; infinite if no entry describes it."""
        return self.layout.stack.year if self.layout.stack is not None else inf

    @cached_property
    def prompts_alone(self) -> bool:
        """Whether sequences do not decode in steps with prompts."""
        return self.separates_prompts and self.layout.attention_dp == 1

    @property
    def has_prompt_only_replicas(self) -> bool:
        """Whether an attention replica does not decode in steps that run its own prompts; with drafted tokens, in steps
        that run prompts of any replica. The steps of all replicas run together.

        Source: SGLang, python/sglang/srt/managers/scheduler.py (get_next_batch_to_run): each replica runs its prompts
        or its sequences, and the batches of all go through the experts in one step; replicas without prompts are then
        idle if tokens are drafted.
        """
        return self.separates_prompts and self.layout.attention_dp > 1

    @cached_property
    def separates_prompts(self) -> bool:
        """Whether a scheduler runs prompts and decoding in separate steps: for the whole engine, or per replica."""
        return self._serving_software is not None and self._serving_software.prompts_alone

    @cached_property
    def state_pool(self) -> float:
        """Memory of recurrent states divided by the memory of keys and values; 0 without states or with one pool for
        both.
        """
        software = self._serving_software
        return software.state_pool if software is not None and self.whole.linear_layers else 0.0

    @cached_property
    def state_slots(self) -> float:
        """States that the software reserves for each running request."""
        return self._serving_software.state_slots if self._serving_software is not None else 1.0

    @cached_property
    def dense_short_prompts(self) -> bool:
        """Whether prompts no longer than the selection of a sparse index run as dense attention."""
        return self._serving_software is not None and self._serving_software.dense_short_prompts

    @cached_property
    def forms_steps_ahead(self) -> bool:
        """Whether the scheduler of a separate prefill engine forms a step while the step before it runs: no pipeline
        does.

        Source: SGLang, python/sglang/srt/server_args.py (_handle_pipeline_parallelism): pipelines switch off the
        overlap scheduler.
        """
        software = self._serving_software
        return software is not None and "prefill" in software.steps_ahead and self.layout.pp == 1

    @cached_property
    def runs_ahead(self) -> bool:
        """Whether a decoding engine prepares and launches a step while the step before it runs. Engines with a
        pipeline, with drafted tokens, or with one compiled graph per step do not.
        """
        software, serving = self._serving_software, self.workload.serving
        if software is None or self.layout.pp > 1 or self.cluster.accelerator.whole_graphs:
            return False
        return "decode" in software.steps_ahead and not (serving is not None and serving.draft_tokens)

    @cached_property
    def reads_of_cache(self) -> float:
        """The number of cache reads in a step: one for each query head of a key if every head reads it separately."""
        software = self._serving_software
        if software is None or self.cluster.accelerator.architecture not in software.reads_by_head:
            return 1.0
        return self._queries_of_key

    @cached_property
    def reads_in_prompt_steps(self) -> float:
        """Time of cache reads in a step with prompts relative to a cache that is read once.

        If each query head reads the cache of its key separately only in these steps, the L2 cache serves the repeated
        reads, and all heads read at once.

        Source: vLLM's FlashAttention 2, csrc/flash_attn/flash_api.cpp at 04325b67 (mha_varlen_fwd): the query heads of
        a key share a block only where the longest query is one token (seqlenq_ngroups_swapped); there alone keys are
        split, so that a step with prompts has one block for each sequence and query head.
        """
        software, model = self._serving_software, self.model
        repeats = software is not None and self.cluster.accelerator.architecture in software.repeated_reads
        if not repeats or model.window:
            return self.reads_of_cache  # models with windows of attention run other kernels
        return max(1.0, self._queries_of_key / constants.REREAD.value)

    @property
    def _queries_of_key(self) -> float:
        """Query heads of a rank that share a key; 1 for latent attention and for models without keys."""
        model = self.model
        if model.latent or not model.kv_heads:
            return 1.0
        heads, keys = (share_of_heads(number, self.layout.tp) for number in (model.heads, model.kv_heads))
        return max(1.0, heads / keys)

    def launch_floor(self, tokens: float) -> float:
        """Least seconds that the host needs to launch a step of ``tokens`` with prompts, without captured graphs or
        with graphs of all but some kernels of each layer. Nothing if the step is one compiled graph.
        """
        if self.cluster.accelerator.whole_graphs:
            return 0.0
        serving, habits = self.workload.serving, self.habits
        each = habits.compiled if serving is None or serving.captured_graphs else habits.eager
        return (self.launches_outside_graphs if tokens <= self.most_in_graphs else self.host_launches) * each

    def host_floor(self, tokens: float, sequences: float) -> float:
        """Least seconds of the host for a step of ``tokens`` with prompts in which ``sequences`` produce a token:
        launching, scheduling and sampling. One thread does all three, so the device waits if the host takes longer.
        """
        launching, habits = self.launch_floor(tokens), self.habits
        return launching + habits.host + sequences * habits.sequence if launching else 0.0

    @cached_property
    def host_launches(self) -> float:
        """Kernels of a step that the host launches separately, without captured graphs."""
        return launches_by_host(self.model, self.whole, self.layout.tp)

    @cached_property
    def launches_outside_graphs(self) -> float:
        """Kernels of a step with prompts that its captured graphs do not hold: attention, and both all-reduces."""
        software = self._serving_software
        reduces = 2 if self.layout.tp > 1 and software is not None and "all-reduce" in software.outside_graphs else 0
        return float(self.model.layers * (1 + reduces))

    @cached_property
    def most_in_graphs(self) -> float:
        """Tokens of a step with prompts up to which it is launched by captured graphs; 0 if there are none."""
        serving = self.workload.serving
        if (software := self._serving_software) is None or (serving is not None and not serving.captured_graphs):
            return 0.0
        here = {
            "attention_dp": self.layout.attention_dp > 1,
            "pp": self.layout.pp > 1,
            "speculative": serving is not None and serving.draft_tokens > 0,
            "disaggregated": serving is not None and serving.prefill is not None,
            self.cluster.accelerator.vendor: True,
            f"latent on {self.cluster.accelerator.architecture}": bool(self.model.latent),
        }
        if any(here.get(each) for each in software.without_graphs):
            return 0.0
        return min(software.prompt_graphs, software.latent_prompt_graphs if self.model.latent else inf)

    @cached_property
    def _serving_software(self) -> ServingSoftware | None:
        return self.layout.stack.serving if self.layout.stack is not None else None


def software_of(layout: Layout) -> str:
    """The framework whose kernels an engine of this layout runs."""
    return layout.capabilities.framework.stacks or layout.framework


def measured_kernels(cluster: Cluster) -> MeasuredShare | None:
    """The rate of an engine's kernels according to a measured time per output token; None if none was measured."""
    return next((each for each in cluster.measured if each.is_of_tokens), None)


def _gemm_peak(name: str, rates: KernelRates) -> tuple[str, float]:
    """The precision whose peak GEMMs in ``name`` reach, and that peak; 16 bits if the accelerator has none in it."""
    return (found, rates.peaks[found]) if (found := peak_name(name, rates.peaks)) else ("bf16", rates.rate_of_16_bits)


def _expert_gemm_peak(workload: Workload, rates: KernelRates, other: tuple[str, float]) -> tuple[str, float]:
    """Precision and dense peak (FLOP/s) of expert GEMMs, by the expert weights if their precision is stated, else by
    the workload.

    Products of 4-bit weights with wider activations run at the rate of 8 bits (PTX ISA, tcgen05.mma, kind mxf8f6f4).
    """
    kept = workload.expert_parameter_precision
    found = peak_name(kept, rates.peaks)
    if kept == workload.parameter_precision or found is None or precision_width(found) > precision_width(kept):
        return other
    if found == "fp4" and workload.precision not in NARROW and "fp8" in rates.peaks:
        found = "fp8"
    return found, rates.peaks[found]
