"""The catalog entry of a generation of software: overlap, memory use and batching of requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf

from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.reader import Entry, FactReader
from clusterspec.quantity import Figure
from clusterspec.records import NamedTuple, dataclass, field, replace

# Memory behavior of a framework, as part of its stack entry; it applies where the spec states nothing


@dataclass(frozen=True)
class Spread:
    """A figure that varies between runs; ``low`` and ``high`` bound the measurements."""

    figure: Figure
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.figure.value


@dataclass(frozen=True)
class FrameworkMemory:
    """How one generation of a framework uses memory.

    ``logits``: bytes for each logit that the loss keeps at once. ``context``: bytes of one process beside what
    the allocator counts. ``fragmentation``: reserved over allocated memory, less one. ``expandable``: segments of the
    allocator expand, or it holds one arena, so that it keeps little that no tensor needs.
    ``gradients``: by precision of the matrix work, the precision of gradients where the spec states none.
    ``sharded_master``: the weights themselves are the master weights, and 16-bit copies are gathered unit by
    unit. ``gradient_copy``: bytes that the sharded optimizer keeps of each 16-bit gradient of its part.
    ``accumulators``: bf16 gradients lie beside the fp32 buffers that they are summed in. ``offloads_gradients``:
    sharded gradients lie in host memory where the optimizer states do. ``placeholders``: one layer's weight
    gradients lie empty in 16 bits, since fused kernels add straight to the main gradients.
    ``quantized_inputs``: products in fp8 and fp4 keep their inputs in that precision. ``cuts_residual``: tensor
    parallelism cuts the residual stream without sequence parallelism. ``pipeline_copies``: a stage's inputs and
    outputs are kept for each micro-batch in flight. ``outputs_kept``: copies of every micro-batch's logits on the
    last stage. ``buckets``: numbers in the 16-bit buffers that gather gradients and weights. ``communicators``
    beside one for each axis and one of all ranks. ``late_gradients``: without accumulation, gradients take the
    place of the activations that they are computed from. ``whole_logits``: tensor-parallel ranks gather the
    logits before the loss. ``unfused``: norms and gates run operation by operation, and keep what each of these reads.
    ``may_be_plain``: whether they do, and how the loss is computed, is not known where the spec states neither.
    ``widens_logits``: a loss that runs operation by operation works on a copy of the logits in fp32.
    ``gathered_inputs``: GEMMs keep the sequence that tensor-parallel ranks gather for them.
    ``offloads_selective``: what selective recomputation saves goes to host memory.

    Of full sharding: ``layers_at_once`` are gathered, at most ``live`` weights; ``tables_kept`` names the tables
    that stay gathered; ``reduced`` bytes of one gradient in the reduction; ``sub_group`` gradients of a rank are
    widened and updated at a time. ``kept_in_pipelines``: with several pipeline stages the weights are gathered once per
    step and stay whole, and whole gradients are reduced once; else every micro-batch gathers and reduces by layer.
    ``may_keep_in_pipelines``: which of both is not known. They are gathered and reduced once; memory counts shards.
    """

    logits: Spread | None = None
    context: Spread | None = None
    fragmentation: Spread | None = None
    expandable: bool = False
    gradients: Mapping[str, str] = field(default_factory=dict)
    sharded_master: bool = False
    gradient_copy: float = 0.0
    accumulators: bool = False
    offloads_gradients: bool = False
    placeholders: bool = False
    quantized_inputs: bool = False
    cuts_residual: bool = False
    pipeline_copies: bool = False
    outputs_kept: int = 0
    buckets: float = 0.0
    communicators: int = 0
    late_gradients: bool = False
    whole_logits: bool = False
    unfused: bool = False
    may_be_plain: bool = False
    widens_logits: bool = False
    gathered_inputs: bool = False
    kept_in_pipelines: bool = False
    may_keep_in_pipelines: bool = False
    offloads_selective: tuple[str, ...] = ()
    layers_at_once: int = 2
    live: float = inf
    tables_kept: tuple[str, ...] = ()
    reduced: float = 4.0
    sub_group: float = inf

    def with_pipelines(self, may_keep: bool, keep: bool) -> FrameworkMemory:
        """The same with pipelines that may keep, or do keep, gathered weights and gradients whole."""
        return replace(self, may_keep_in_pipelines=may_keep, kept_in_pipelines=keep)

    def gradient_precision(self, work: str) -> str:
        """The precision of gradients where the matrix work runs in ``work`` and the spec states none."""
        return self.gradients.get(work, "fp32")


# How serving software uses memory and batches requests where the spec leaves it open: part of its stack


class DefaultTier(NamedTuple):
    """Other defaults of serving software on some accelerators: with less than ``below`` bytes of memory, with at least
    ``least``, or of an architecture. ``max_sequences`` None: as elsewhere.
    """

    chunk_tokens: int
    max_sequences: int | None
    below: float | None
    least: float | None
    architecture: str

    def holds(self, accelerator: Accelerator) -> bool:
        """Whether an accelerator has these defaults."""
        if self.architecture:
            return accelerator.architecture == self.architecture
        memory = accelerator.memory
        return memory is not None and (self.least or 0.0) <= memory.value < (self.below or inf)


@dataclass(frozen=True)
class ServingSoftware:
    """The defaults of one generation of serving software.

    ``memory_fraction`` is a share of the whole memory, or, with ``of_free``, of the memory that remains after the
    weights. With ``whole_requests`` a request is admitted only if the cache can hold it to its end. ``chunk_tokens`` of
    prompts are processed in a step, ``max_sequences`` decoded. ``quantized_cache`` is the precision of the cache where
    weights are quantized; None if it does not follow them.
    """

    memory_fraction: float
    of_free: bool
    whole_requests: bool
    chunk_tokens: int | None
    max_sequences: int | None
    quantized_cache: str | None = None
    tiers: tuple[DefaultTier, ...] = ()
    chunk_of_engine: bool = False
    """The attention replicas of an engine share the default ``chunk_tokens``."""
    own_output: bool = False
    """A request is admitted only if its prompt and its output fit in the free part of the cache."""
    prompts_alone: bool = False
    """Steps with prompts hold no sequences that decode."""
    dense_short_prompts: bool = False
    """Prompts that are no longer than the selection of a sparse index run as dense attention."""
    steps_ahead: frozenset[str] = frozenset()
    """The engines that form and launch a step while the step before it runs: ``decode``, or separate ``prefill``
    engines.
    """
    repeated_reads: frozenset[str] = frozenset()
    """Architectures on which attention reads the cache once for each query head in steps with prompts."""
    reads_by_head: frozenset[str] = frozenset()
    """Architectures on which attention reads the cache once for each query head in every step."""
    prompt_graphs: float = 0
    """Tokens up to which captured graphs hold all of a step with prompts but ``outside_graphs``."""
    latent_prompt_graphs: float = inf
    """The same with latent attention, if it is less."""
    outside_graphs: tuple[str, ...] = ("attention",)
    """What the host launches in each layer beside these graphs: ``attention``, ``all-reduce``."""
    without_graphs: frozenset[str] = frozenset()
    """Where it captures none for prompts: keys of the spec, vendors of accelerators, and ``latent on`` an architecture
    for latent attention there.
    """
    separate_norms: frozenset[str] = frozenset()
    """Where the norm after an all-reduce is a kernel of its own, and the all-reduce is by the kernels of the software:
    with ``grouped`` or ``latent`` attention, ``on`` an architecture or on all.
    """
    separate_kernels: Mapping[str, int] = field(default_factory=dict)
    """Kernels between the GEMMs of one layer that later releases fuse: in layers with ``latent`` attention, or with it
    ``on`` an architecture, and beside them in those with ``latent experts``, in models with latent attention.
    """
    uncaptured: frozenset[str] = frozenset()
    """Where decoding is launched kernel by kernel unless a spec says otherwise: models with ``latent`` attention."""
    window_tokens: float = 0.0
    """Tokens for which the cache of a layer with a window has space, over those of a layer without; at least its
    window.
    """
    sampling_bytes: float = 0.0
    """Bytes for each entry of the vocabulary of each of ``max_sequences`` that it keeps free for sampling."""
    state_pool: float = 0.0
    """Memory of recurrent states over that of keys and values, where each has a pool of its own; 0 where they share
    one.
    """
    state_slots: float = 1.0
    """States in that pool for each request that may run."""
    expert_tokens: float = 0.0
    """The most tokens of all attention replicas together for whose copies a rank reserves buffers; 0 where it leaves
    memory for them beside the share that it fills.
    """
    expert_tiles: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By architecture, or empty for all others: the multiples to which it fills up the hidden width and the width of a
    rank's experts where these have 4 bits and products 16.
    """

    def defaults_for(self, accelerator: Accelerator) -> ServingSoftware:
        """The defaults on an accelerator."""
        found = self
        for each in self.tiers:
            if each.holds(accelerator):
                chunk, sequences = each.chunk_tokens, each.max_sequences or found.max_sequences
                found = replace(found, chunk_tokens=chunk, max_sequences=sequences)
        return found

    def tiles_on(self, architecture: str | None) -> tuple[int, int] | None:
        """The multiples of `expert_tiles` on an architecture; None where nothing is known."""
        return self.expert_tiles.get(architecture or "", self.expert_tiles.get(""))


FULLY = frozenset({"fsdp", "hsdp"})
"""The shardings that shard weights."""
SHARDS_GRADIENTS = FULLY | {"zero2"}
"""The shardings that shard gradients: each micro-batch reduces them where nothing keeps them whole until the last."""


@dataclass(frozen=True)
class Stack(Entry):
    """A generation of training or serving software: a framework with its libraries and kernels, from ``year`` on.

    ``selective`` names what selective recomputation recomputes; ``saved_exchanges`` the models whose exchange of tokens
    between experts it saves: ``all``, or those with ``shared-experts``. ``hides`` names the communication that it
    overlaps with computation (``shards``: data parallelism of sharded weights, ``replicas``: data parallelism between
    shard groups), ``may_hide`` the communication that it may overlap. ``dispatcher`` is the default token dispatcher,
    ``rack_dispatcher`` the default on machines whose scale-up domain spans nodes. ``releases`` are the described
    releases, oldest first. ``full_sharding`` names the stack whose fully sharded implementation it uses if it has none.
    ``reduces`` is the precision in which it sends gradients if it keeps them in a wider one, ``all_reduces`` the
    shardings in which every rank receives the sums of all gradients, ``attention_year`` the
    year of its attention kernels if later than ``year``, ``attention_library`` the library that has them, where
    accelerators have figures of it. ``compiled``: the host does not launch kernels one by one. ``separate_matrices``:
    queries, keys, values and the halves of a gated network have matrices, and adapters, of their own;
    ``adapter_precision`` is the one in which adapters are kept, empty if it is not known.
    ``serving`` has the defaults of serving software, None for training software. ``fully_sharded`` is the memory of
    layouts that shard weights, if another stack supplies it; it is set when the software of a layout is resolved, as
    are ``fused``, whether the kernels between GEMMs are fused (None: as usual), ``fused_update``, whether Adam updates
    weights in one kernel and not operation by operation, ``fused_experts``, whether GEMMs of
    experts in 8 or 4 bits convert what they write, ``captured``, whether captured graphs launch them, and
    ``loss``, how the loss is computed (None: as usual).
    """

    year: int = 0
    selective: str = ""
    saved_exchanges: str = ""
    hides: tuple[str, ...] = ()
    may_hide: tuple[str, ...] = ()
    dispatcher: str = "all-to-all"
    rack_dispatcher: str | None = None
    releases: tuple[str, ...] = ()
    full_sharding: str | None = None
    reduces: str | None = None
    all_reduces: tuple[str, ...] = ()
    attention_year: int = 0
    attention_library: str = ""
    compiled: bool = False
    separate_matrices: bool = False
    adapter_precision: str = ""
    memory: FrameworkMemory = field(default_factory=FrameworkMemory)
    fully_sharded: FrameworkMemory | None = None
    fused: bool | None = None
    fused_update: bool = True
    fused_experts: bool = False
    captured: bool = False
    loss: str | None = None
    serving: ServingSoftware | None = None
    achievable: Mapping[str, Figure] = field(default_factory=dict)

    @property
    def window_tokens(self) -> float:
        """`ServingSoftware.window_tokens` of serving software; 0 of training software."""
        return self.serving.window_tokens if self.serving is not None else 0.0

    def saves_exchange(self, shared_experts: bool) -> bool:
        """Whether selective recomputation saves the tokens that ranks of experts exchange, of a model with or without
        shared experts.
        """
        return self.saved_exchanges == "all" or (shared_experts and self.saved_exchanges == "shared-experts")

    def memory_of(self, sharding: str) -> FrameworkMemory:
        """The memory of the software in layouts with this sharding."""
        found = self.memory if self.fully_sharded is None or sharding not in FULLY else self.fully_sharded
        return found if self.fused is None else replace(found, unfused=not self.fused)

    @property
    def may_be_plain(self) -> bool:
        """Whether it may run without fused kernels or with a plain loss, and nothing says otherwise."""
        return self.memory.may_be_plain and (self.fused is None or self.loss is None)

    def may_keep_gradients(self, sharding: str) -> bool:
        """Whether its pipelines may keep the gradients whole that this sharding divides."""
        return sharding in SHARDS_GRADIENTS and self.memory_of(sharding).may_keep_in_pipelines

    def of_most_memory(self, sharding: str) -> Stack | None:
        """The software with the largest memory that it may have; None if its memory follows from entry and spec."""
        plain = replace(self, fused=bool(self.fused), loss=self.loss or "plain") if self.may_be_plain else self
        found = plain.with_pipelines(keep=True) if self.may_keep_gradients(sharding) else plain
        return None if found is self else found

    def with_pipelines(self, *, may_keep: bool = False, keep: bool = False) -> Stack:
        """The software with pipelines that may keep, or do keep, gathered weights and gradients whole."""
        found, fully = self.memory.with_pipelines(may_keep, keep), self.fully_sharded
        return replace(
            self, memory=found, fully_sharded=None if fully is None else fully.with_pipelines(may_keep, keep)
        )


# Conversion of catalog facts to a software stack

GROUP = "memory"
SERVING = "serving"
_MEMORY_FLAGS = (
    "expandable",
    "sharded_master",
    "accumulators",
    "offloads_gradients",
    "placeholders",
    "quantized_inputs",
    "cuts_residual",
    "pipeline_copies",
    "late_gradients",
    "whole_logits",
    "unfused",
    "may_be_plain",
    "widens_logits",
    "gathered_inputs",
    "kept_in_pipelines",
    "may_keep_in_pipelines",
)


def framework_memory(read: FactReader) -> FrameworkMemory:
    """The facts of ``memory``. For an absent fact, the framework lacks the feature or uses no memory for it."""
    names = [name.removeprefix(f"{GROUP}.gradients.") for name in read.raw_entry.facts if ".gradients." in name]
    written = {name: read.text(f"{GROUP}.gradients.{name}") for name in names}
    live, at_once, reduced, sub_group = (
        read.number(f"{GROUP}.{name}") for name in ("live", "layers_at_once", "reduced", "sub_group")
    )
    return FrameworkMemory(
        logits=_bounded_figure(read, "logits", "bytes"),
        context=_bounded_figure(read, "context", "bytes"),
        fragmentation=_bounded_figure(read, "fragmentation", "number"),
        gradients={name: value for name, value in written.items() if value is not None},
        gradient_copy=read.number(f"{GROUP}.gradient_copy") or 0.0,
        outputs_kept=read.count(f"{GROUP}.outputs_kept") or 0,
        buckets=read.number(f"{GROUP}.buckets") or 0.0,
        communicators=read.count(f"{GROUP}.communicators") or 0,
        offloads_selective=read.texts(f"{GROUP}.offloads_selective"),
        layers_at_once=2 if at_once is None else int(at_once),
        live=inf if live is None else live,
        tables_kept=read.texts(f"{GROUP}.tables_kept"),
        reduced=4.0 if reduced is None else reduced,
        sub_group=inf if sub_group is None else sub_group,
        **{name: read.flag(f"{GROUP}.{name}") or False for name in _MEMORY_FLAGS},
    )


def _bounded_figure(read: FactReader, name: str, kind: str) -> Spread | None:
    """A figure with its bounds ``<name>_low`` and ``<name>_high``; exact without them."""
    value = read.figure(f"{GROUP}.{name}", kind)
    if value is None:
        return None
    low, high = (read.figure(f"{GROUP}.{name}_{bound}", kind) for bound in ("low", "high"))
    return Spread(value, low.value if low else value.value, high.value if high else value.value)


def serving_software(read: FactReader) -> ServingSoftware | None:
    """The facts of ``serving``; None for software that does not serve."""
    fraction = read.number(f"{SERVING}.memory_fraction")
    if fraction is None:
        return None
    return ServingSoftware(
        memory_fraction=fraction,
        of_free=read.text(f"{SERVING}.memory_of") == "free",
        whole_requests=read.text(f"{SERVING}.reserves") == "whole requests",
        own_output=read.text(f"{SERVING}.reserves") == "own output",
        chunk_tokens=read.count(f"{SERVING}.chunk_tokens"),
        max_sequences=read.count(f"{SERVING}.max_sequences"),
        quantized_cache=read.text(f"{SERVING}.quantized_cache"),
        tiers=tuple(_default_tier(text) for text in read.texts(f"{SERVING}.tiers")),
        chunk_of_engine=read.text(f"{SERVING}.chunk_of") == "engine",
        prompts_alone=read.text(f"{SERVING}.prompt_steps") == "alone",
        dense_short_prompts=read.text(f"{SERVING}.short_prompts") == "dense",
        steps_ahead=frozenset(read.texts(f"{SERVING}.steps_ahead")),
        repeated_reads=frozenset(read.texts(f"{SERVING}.repeated_reads")),
        reads_by_head=frozenset(read.texts(f"{SERVING}.reads_by_head")),
        prompt_graphs=_most_tokens(read, "prompt_graphs", "chunk_tokens"),
        latent_prompt_graphs=read.count(f"{SERVING}.latent_prompt_graphs") or inf,
        outside_graphs=read.texts(f"{SERVING}.outside_graphs") or ("attention",),
        without_graphs=frozenset(read.texts(f"{SERVING}.without_graphs")),
        separate_norms=frozenset(read.texts(f"{SERVING}.separate_norms")),
        separate_kernels=dict(_separate_kernels(text) for text in read.texts(f"{SERVING}.separate_kernels")),
        uncaptured=frozenset(read.texts(f"{SERVING}.uncaptured")),
        window_tokens=read.number(f"{SERVING}.window_tokens") or 0.0,
        state_pool=read.number(f"{SERVING}.state_pool") or 0.0,
        state_slots=read.number(f"{SERVING}.state_slots") or 1.0,
        expert_tokens=_most_tokens(read, "expert_tokens", "step"),
        sampling_bytes=read.number(f"{SERVING}.sampling_bytes") or 0.0,
        expert_tiles=dict(_expert_tiles(text) for text in read.texts(f"{SERVING}.expert_tiles")),
    )


def _most_tokens(read: FactReader, name: str, all_of: str) -> float:
    """A limit of tokens: a number, infinite if the fact is ``all_of`` (any step), 0 if it is absent."""
    if read.texts(f"{SERVING}.{name}") == (all_of,):
        return inf
    return read.count(f"{SERVING}.{name}") or 0


def _default_tier(text: str) -> DefaultTier:
    """Defaults on some accelerators, as written: tokens of a step, with or without sequences, and where they hold.

    >>> _default_tier("2048, 256 below 70 GiB")
    DefaultTier(chunk_tokens=2048, max_sequences=256, below=75161927680.0, least=None, architecture='')
    >>> _default_tier("2048 on sm_80").architecture
    'sm_80'
    """
    numbers, word, *where = re.split(r" (below|from|on) ", text)
    chunk, _, sequences = numbers.partition(", ")
    bound = float(where[0].removesuffix(" GiB")) * 2**30 if word != "on" else None
    return DefaultTier(
        int(chunk),
        int(sequences) if sequences else None,
        bound if word == "below" else None,
        bound if word == "from" else None,
        where[0] if word == "on" else "",
    )


def _expert_tiles(text: str) -> tuple[str, tuple[int, int]]:
    """An architecture, empty if none is named, and its multiples of two widths, as written.

    >>> _expert_tiles("256, 128 on sm_80"), _expert_tiles("256, 64")
    (('sm_80', (256, 128)), ('', (256, 64)))
    """
    numbers, _, architecture = text.partition(" on ")
    hidden, _, network = numbers.partition(", ")
    return architecture, (int(hidden), int(network))


def _separate_kernels(text: str) -> tuple[str, int]:
    """Where a number of kernels is, and that number, as written.

    >>> _separate_kernels("22 latent on gfx942")
    ('latent on gfx942', 22)
    """
    number, _, where = text.partition(" ")
    return where, int(number)
