"""The catalog entry of a generation of software: overlap and memory use."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from clusterspec.catalog.reader import Entry, FactReader
from clusterspec.quantity import Figure
from clusterspec.records import dataclass, field, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.catalog.serving_software import ServingSoftware

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

    ``logits``: bytes for each logit that the loss keeps at once. ``context``: bytes of one process that the allocator
    does not count. ``fragmentation``: reserved over allocated memory, less one. ``expandable``: segments of the
    allocator expand, or it uses one arena, so that it caches little free memory.
    ``gradients``: for each precision of the GEMMs, the precision of gradients if the spec states none.
    ``sharded_master``: the weights themselves are the master weights, and 16-bit copies are gathered unit by
    unit. ``autocast``: whole fp32 weights are multiplied under torch.autocast, which leaves hidden states in fp32.
    ``gradient_copy``: bytes that the sharded optimizer keeps of each 16-bit gradient of its part.
    ``accumulators``: bf16 gradients are kept in addition to the fp32 buffers that they are summed in.
    ``offloads_gradients``: sharded gradients are in host memory if the optimizer states are. ``placeholders``: 16-bit
    weight gradients of one layer are allocated but unused, since fused kernels add to the main gradients directly.
    ``quantized_inputs``: products in fp8 and fp4 keep their inputs in that precision. ``cuts_residual``: tensor
    parallelism cuts the residual stream without sequence parallelism. ``pipeline_copies``: a stage's inputs and outputs
    are kept for each micro-batch in flight. ``outputs_kept``: copies of every micro-batch's logits on the last stage.
    ``buckets``: numbers in the 16-bit buffers that gather gradients and weights. ``communicators`` in addition to one
    for each axis and one of all ranks. ``late_gradients``: without accumulation, gradients take the place of the
    activations that they are computed from. ``whole_logits``: tensor-parallel ranks gather the logits before the loss.
    ``unfused``: norms and gates run operation by operation, and the input of each operation is kept.
    ``may_be_plain``: if the spec states neither, it is unknown whether they do, and how the loss is computed.
    ``widens_logits``: a loss that runs operation by operation works on a copy of the logits in fp32.
    ``gathered_inputs``: GEMMs keep the sequence that tensor-parallel ranks gather for them.
    ``offloads_selective``: tensors that selective recomputation saves are stored in host memory.

    With full sharding, ``layers_at_once`` are gathered, at most ``live`` weights; ``tables_kept`` names the tables
    that stay gathered; ``reduced`` bytes of one gradient in the reduction; ``sub_group`` gradients of a rank are
    widened and updated at a time. ``kept_in_pipelines``: with several pipeline stages the weights are gathered once per
    step and stay whole, and whole gradients are reduced once; else every micro-batch gathers and reduces by layer.
    ``may_keep_in_pipelines``: it is not known which of the two applies. Time then counts one gathering and reduction,
    memory the shards.
    """

    logits: Spread | None = None
    context: Spread | None = None
    fragmentation: Spread | None = None
    expandable: bool = False
    gradients: Mapping[str, str] = field(default_factory=dict)
    sharded_master: bool = False
    autocast: bool = False
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
        """A copy of the figures for pipelines that may keep, or do keep, gathered weights and gradients unsharded."""
        return replace(self, may_keep_in_pipelines=may_keep, kept_in_pipelines=keep)

    def gradient_precision(self, work: str) -> str:
        """The precision of gradients if GEMMs run in ``work`` and the spec states none."""
        return self.gradients.get(work, "fp32")


FULLY = frozenset({"fsdp", "hsdp"})
"""The shardings that shard weights."""
SHARDS_GRADIENTS = FULLY | {"zero2"}
"""The shardings that shard gradients. Each micro-batch reduces its gradients, unless they are kept unsharded until the
last one.
"""


@dataclass(frozen=True)
class Stack(Entry):
    """A generation of training or serving software: a framework with its libraries and kernels, from ``year`` on.

    ``selective`` names the modules that selective recomputation recomputes; ``saved_exchanges`` the models whose
    exchange of tokens between experts it saves: ``all``, or those with ``shared-experts``. ``hides`` names the
    communication that it overlaps with computation (``shards``: data parallelism of sharded weights, ``replicas``: data
    parallelism between shard groups), ``may_hide`` the communication that it may overlap. ``dispatcher`` is the default
    token dispatcher, ``rack_dispatcher`` the default on machines whose scale-up domain spans nodes. ``releases`` are
    the described releases, oldest first. ``full_sharding`` names the stack whose fully sharded implementation it uses
    if it has none. ``reduces`` is the precision in which it sends gradients if it keeps them in a wider one.
    ``all_reduces`` names the shardings in which every rank receives the sums of all gradients. ``attention_year`` is
    the year of its attention kernels if later than ``year``, ``attention_library`` their library where accelerators
    have figures of it. ``compiled``: the host does not launch kernels one by one. ``separate_matrices``: queries, keys,
    values and the halves of a gated network have matrices, and adapters, of their own. ``pads_vocabulary``: the tables
    of words have more rows than the model has words, so that rows of the logits are aligned. ``adapter_precision`` is
    the precision in which adapters are stored, empty if unknown. ``serving`` has the defaults of serving software,
    None for training software. Six fields are set when the software of a layout is resolved. ``fully_sharded`` is the
    memory of layouts that shard weights, if another stack supplies it. ``fused`` says whether the kernels between
    GEMMs are fused (None: as usual), ``fused_update`` whether Adam updates weights in one kernel, ``fused_experts``
    whether expert GEMMs in 8 or 4 bits quantize their outputs, ``captured`` whether captured graphs launch them, and
    ``loss`` how the loss is computed (None: as usual).
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
    pads_vocabulary: bool = False
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
        """Whether selective recomputation saves the tokens exchanged between expert ranks, which may depend on whether
        the model has shared experts.
        """
        return self.saved_exchanges == "all" or (shared_experts and self.saved_exchanges == "shared-experts")

    def memory_of(self, sharding: str) -> FrameworkMemory:
        """The memory of the software in layouts with this sharding."""
        found = self.memory if self.fully_sharded is None or sharding not in FULLY else self.fully_sharded
        return found if self.fused is None else replace(found, unfused=not self.fused)

    @property
    def pads_products(self) -> bool:
        """Whether products with the vocabulary have aligned rows at any size, since the framework pads the tables or a
        compiler the products.
        """
        eager = self.memory.unfused if self.fused is None else not self.fused
        return self.pads_vocabulary or self.compiled or not eager

    @property
    def may_be_plain(self) -> bool:
        """Whether it may run without fused kernels or with a plain loss, since neither the entry nor the spec decides
        this.
        """
        return self.memory.may_be_plain and (self.fused is None or self.loss is None)

    def may_keep_gradients(self, sharding: str) -> bool:
        """Whether its pipelines may keep gradients unsharded that this sharding would divide."""
        return sharding in SHARDS_GRADIENTS and self.memory_of(sharding).may_keep_in_pipelines

    def of_most_memory(self, sharding: str) -> Stack | None:
        """The variant of the software that uses the most memory; None if, by entry and spec, only one variant is
        possible.
        """
        plain = replace(self, fused=bool(self.fused), loss=self.loss or "plain") if self.may_be_plain else self
        found = plain.with_pipelines(keep=True) if self.may_keep_gradients(sharding) else plain
        return None if found is self else found

    def with_pipelines(self, *, may_keep: bool = False, keep: bool = False) -> Stack:
        """A copy of the software for pipelines that may keep, or do keep, gathered weights and gradients unsharded."""
        found, fully = self.memory.with_pipelines(may_keep, keep), self.fully_sharded
        return replace(
            self, memory=found, fully_sharded=None if fully is None else fully.with_pipelines(may_keep, keep)
        )


# Conversion of catalog facts to a software stack

GROUP = "memory"
_MEMORY_FLAGS = (
    "expandable",
    "sharded_master",
    "autocast",
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


def framework_memory(facts: FactReader) -> FrameworkMemory:
    """The facts of ``memory``. For an absent fact, the framework lacks the feature or uses no memory for it."""
    names = [name.removeprefix(f"{GROUP}.gradients.") for name in facts.raw_entry.facts if ".gradients." in name]
    written = {name: facts.text(f"{GROUP}.gradients.{name}") for name in names}
    live, at_once, reduced, sub_group = (
        facts.number(f"{GROUP}.{name}") for name in ("live", "layers_at_once", "reduced", "sub_group")
    )
    return FrameworkMemory(
        logits=_bounded_figure(facts, "logits", "bytes"),
        context=_bounded_figure(facts, "context", "bytes"),
        fragmentation=_bounded_figure(facts, "fragmentation", "number"),
        gradients={name: value for name, value in written.items() if value is not None},
        gradient_copy=facts.number(f"{GROUP}.gradient_copy") or 0.0,
        outputs_kept=facts.count(f"{GROUP}.outputs_kept") or 0,
        buckets=facts.number(f"{GROUP}.buckets") or 0.0,
        communicators=facts.count(f"{GROUP}.communicators") or 0,
        offloads_selective=facts.texts(f"{GROUP}.offloads_selective"),
        layers_at_once=2 if at_once is None else int(at_once),
        live=inf if live is None else live,
        tables_kept=facts.texts(f"{GROUP}.tables_kept"),
        reduced=4.0 if reduced is None else reduced,
        sub_group=inf if sub_group is None else sub_group,
        **{name: facts.flag(f"{GROUP}.{name}") or False for name in _MEMORY_FLAGS},
    )


def _bounded_figure(facts: FactReader, name: str, kind: str) -> Spread | None:
    """A figure with its bounds ``<name>_low`` and ``<name>_high``; exact without them."""
    value = facts.figure(f"{GROUP}.{name}", kind)
    if value is None:
        return None
    low, high = (facts.figure(f"{GROUP}.{name}_{bound}", kind) for bound in ("low", "high"))
    return Spread(value, low.value if low else value.value, high.value if high else value.value)


def serving_defaults(facts: FactReader) -> ServingSoftware | None:
    """The facts of ``serving``; None for software that does not serve."""
    if "serving.memory_fraction" not in facts.raw_entry.facts:
        return None
    from clusterspec.catalog.serving_software import serving_software  # training software has none

    return serving_software(facts)
