"""Releases of software: what they support and require, and their published faults.

Lines of an entry state all of it: combinations of uses that a release supports (the support matrix), numbers that it
requires to be multiples of others, and faults of the releases of a library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod

from clusterspec.catalog.frameworks import UnreadableCombination, version_numbers
from clusterspec.catalog.reader import Fact, FactReader
from clusterspec.records import dataclass
from clusterspec.source import Cited

# The uses of a design: what statements may name, each with the key that states it and its words in messages

DEGREES: Mapping[str, tuple[str, str]] = {
    "tp": ("layout.tp", "tensor parallelism"),
    "sequence-parallel": ("layout.sequence_parallel", "sequence parallelism"),
    "cp": ("layout.cp", "context parallelism"),
    "ep": ("layout.ep", "expert parallelism"),
    "ep-across-domains": ("layout.ep", "expert parallelism across scale-up domains"),
    "expert-tp": ("layout.expert_tp", "tensor parallelism of experts"),
    "attention-dp": ("layout.attention_dp", "data-parallel attention"),
    "partial-ep": ("layout.ep", "expert parallelism over a part of the ranks of an engine"),
    "pp": ("layout.pp", "pipeline parallelism"),
    "virtual-stages": ("layout.virtual_stages", "interleaved virtual stages"),
    "uneven-stages": ("layout.stage_layers", "pipeline stages of different lengths"),
    "data-parallel": ("layout.dp", "data parallelism"),
    "unsharded": ("layout.sharding", "unsharded optimizer states"),
    "zero1": ("layout.sharding", "ZeRO-1"),
    "zero2": ("layout.sharding", "ZeRO-2"),
    "fsdp": ("layout.sharding", "full sharding (FSDP, ZeRO-3)"),
    "hsdp": ("layout.sharding", "hybrid sharding (HSDP)"),
    "gpipe": ("layout.schedule", "the gpipe schedule"),
    "1f1b": ("layout.schedule", "the 1f1b schedule"),
    "zero-bubble": ("layout.schedule", "the zero-bubble schedule"),
    "dualpipe": ("layout.schedule", "the dualpipe schedule"),
    "recomputation": ("layout.recompute", "activation recomputation"),
    "full-recomputation": ("layout.recompute", "full activation recomputation"),
}
"""Uses that follow from a layout; search decides them for each layout."""
CHOSEN = frozenset(
    name for name, (key, _) in DEGREES.items() if key.partition(".")[2] in {"sharding", "schedule", "recompute"}
) | {"virtual-stages", "uneven-stages"}
"""Uses of a layout that its degrees do not determine."""

PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "fp8", "mxfp8", "fp4", "mxfp4", "nvfp4", "int8", "int4")
VALUED = {
    "precision": ("workload.precision", "products in {}", PRECISIONS),
    "recipe": ("workload.recipe", "the {} recipe", ("delayed", "current", "blockwise", "mxfp8", "nvfp4")),
    "weights": ("workload.parameter_precision", "weights in {}", PRECISIONS),
    "expert-weights": ("workload.expert_parameter_precision", "expert weights in {}", PRECISIONS),
    "cache": ("workload.kv_precision", "a key-value cache in {}", PRECISIONS),
    "gradients": ("workload.gradient_precision", "gradients in {}", PRECISIONS),
    "master": ("layout.optimizer_states", "master weights in {}", (*PRECISIONS, "none")),
    "moments": ("layout.optimizer_states", "moments in {}", (*PRECISIONS, "none")),
    "optimizer": (
        "workload.optimizer",
        "the optimizer {}",
        ("adam", "adamw", "sgd", "momentum", "lion", "adafactor", "muon"),
    ),
    "quantization": (
        "workload.quantization",
        "{} checkpoints",
        ("awq", "gptq", "bitsandbytes", "gguf", "smoothquant"),
    ),
    "speculation": (
        "workload.serving.speculative",
        "speculation by {}",
        ("draft-model", "eagle", "medusa", "mtp", "ngram"),
    ),
}
"""Uses with a value, by prefix (``weights-nvfp4``): the key, the words, and the possible values."""
SETTINGS: Mapping[str, tuple[str, str]] = {
    f"{start}-{value}": (key, words.format(value)) for start, (key, words, values) in VALUED.items() for value in values
} | {
    "train": ("workload.kind", "training"),
    "serve": ("workload.kind", "serving"),
    "ring": ("layout.cp_method", "ring attention"),
    "all-gather": ("layout.cp_method", "context parallelism by all-gather"),
    "all-to-all": ("layout.cp_method", "context parallelism by all-to-all"),
    "plain-attention": ("workload.attention", "plain attention"),
    "experts": ("workload.model", "a mixture of experts"),
    "grouped-query-attention": ("workload.model", "grouped-query attention"),
    "latent-attention": ("workload.model", "multi-head latent attention"),
    "sliding-window": ("workload.model", "sliding-window attention"),
    "linear-attention": ("workload.model", "linear attention"),
    "mamba-2": ("workload.model", "Mamba-2 layers"),
    "sparse-attention": ("workload.model", "sparse attention"),
    "compressed-attention": ("workload.model", "compressed attention"),
    "tied-embeddings": ("workload.model", "tied embeddings"),
    "token-prediction": ("workload.model", "multi-token prediction"),
    "speculation": ("workload.serving.speculative", "speculative decoding"),
    "prefix-cache": ("workload.serving.prefix_hit", "prefix caching"),
    "disaggregation": ("workload.serving.disaggregated", "separate engines for prefill and decode"),
    "receive-interval": ("workload.serving.receive_interval", "a check for new requests after several decode steps"),
    "hold-steps": ("workload.serving.hold_steps", "prompts that are held until each attention replica has one"),
    "narrower-decode": (
        "workload.serving.disaggregated.prefill.tp",
        "prefill engines of more tensor-parallel ranks than decode engines",
    ),
    "switch-reduction": ("cluster.scale_up.in_network_reduction", "reduction in the switches of a domain (NVLS)"),
    "tcp-fabric": ("cluster.scale_out.technology", "a fabric without RDMA"),
    "efa-fabric": ("cluster.scale_out.technology", "Elastic Fabric Adapters"),
    "deepep": ("layout.dispatcher", "the DeepEP dispatcher"),
    "hybrid-dispatcher": ("layout.dispatcher", "the hybrid dispatcher"),
    "optimizer-offload": ("layout.offload", "an optimizer in host memory"),
    "activation-offload": ("layout.offload", "activations in host memory"),
    "tp-overlap": ("layout.overlap", "overlapped tensor-parallel communication"),
    "expert-overlap": ("layout.overlap", "overlapped exchange of experts"),
    "reduction-overlap": ("layout.overlap", "overlapped reduction of gradients"),
    **{f"cuda-{major}": ("cluster.software", f"CUDA {major}") for major in (11, 12, 13)},
}
"""Uses that follow from the workload and the settings that search does not vary."""
USES: Mapping[str, tuple[str, str]] = {**DEGREES, **SETTINGS}
MODEL = "model-"
"""Prefix of a use that names a model: its id, or the first part of the id, which names its family."""


def key_and_words(use: str) -> tuple[str, str]:
    """The key that states a use, and its words in messages."""
    return ("workload.model", f"the model {use.removeprefix(MODEL)}") if use.startswith(MODEL) else USES[use]


@dataclass(frozen=True)
class Combination:
    """The condition of a statement. It applies to designs that have a use from each set, and none of ``without``."""

    uses: tuple[frozenset[str], ...]
    architectures: frozenset[str] = frozenset()
    """If not empty, one of them must be the architecture of the accelerator."""
    without: frozenset[str] = frozenset()

    @property
    def required_use_sets(self) -> tuple[frozenset[str], ...]:
        """Sets of uses; a design must have one use from each. Architectures count as one set."""
        return (*self.uses, self.architectures) if self.architectures else self.uses

    def applies(self, uses: frozenset[str]) -> bool:
        """Whether the design uses it."""
        if not self.without.isdisjoint(uses) or (self.architectures and self.architectures.isdisjoint(uses)):
            return False
        for clause in self.uses:  # noqa: SIM110 - twice as fast as a generator
            if clause.isdisjoint(uses):
                return False
        return True

    def words(self, uses: frozenset[str]) -> str:
        """Words for the uses shared by design and combination and for the uses that must be absent: ``A with B and C
        without D``.
        """
        there = list(dict.fromkeys(" and ".join(key_and_words(use)[1] for use in part) for part in self._named(uses)))
        together = " with ".join(part for part in (there[0] if there else "", " and ".join(there[1:])) if part)
        lacking = " or ".join(USES[each][1] for each in sorted(self.without))
        if not lacking:
            return together
        return f"{together} without {lacking}" if together else f"no {lacking}"

    def _named_uses(self, uses: frozenset[str]) -> Iterator[str]:
        """The uses that a design and the combination share, in the order of the clauses and of `USES`."""
        return (use for part in self._named(uses) for use in part)

    def _named(self, uses: frozenset[str]) -> Iterator[list[str]]:
        """For each clause the uses that it shares with a design, in the order of `USES`; none if it shares none."""
        order = {name: place for place, name in enumerate(USES)}
        for clause in self.uses:
            if shared := clause & uses:
                yield sorted(shared, key=lambda name: (order.get(name, len(order)), name))

    def key(self, uses: frozenset[str]) -> str:
        """The key that states the first shared use of design and combination, preferably a key of the layout."""
        keys = self.keys(uses)
        return next((key for key in keys if key.startswith("layout.")), keys[0] if keys else "cluster.accelerator")

    def keys(self, uses: frozenset[str]) -> tuple[str, ...]:
        """The keys that state the shared uses of design and combination, each once."""
        return tuple(dict.fromkeys(key_and_words(each)[0] for each in self._named_uses(uses)))


def combination(text: str) -> Combination:
    """The combination that a line of an entry names: ``A + B/C on ARCHITECTURE/… without D``.

    >>> combination("pp + fsdp/hsdp").applies(frozenset({"pp", "hsdp"}))
    True
    >>> combination("cache-fp8 on sm_80/sm_86").applies(frozenset({"cache-fp8", "sm_90"}))
    False
    >>> combination("experts + tp without sequence-parallel").words(frozenset({"experts", "tp"}))
    'a mixture of experts with tensor parallelism without sequence parallelism'
    """
    named, _, without = text.partition(" without ")
    uses, _, on = f" {named}".partition(" on ")
    uses = uses.strip()
    clauses = tuple(_uses_between_slashes(part) for part in uses.split(" + ") if part)
    if not clauses and not on:
        raise UnreadableCombination(f"`{text}` names nothing that a design uses")
    return Combination(clauses, frozenset(on.split("/")) if on else frozenset(), _uses_between_slashes(without))


def _uses_between_slashes(text: str) -> frozenset[str]:
    """The uses in a text that separates them by slashes. Raises `UnreadableCombination` for an unknown use."""
    names = frozenset(text.split("/")) if text else frozenset()
    if names.issubset(USES):
        return names
    for unknown in sorted(each for each in names - USES.keys() if not each.startswith(MODEL)):
        raise UnreadableCombination(f"`{unknown}` is not one of the uses of a design")
    return names


def undecided_combinations(combinations: Iterable[Combination], settled: frozenset[str]) -> tuple[Combination, ...]:
    """The combinations that are still possible with a design's settled uses, each reduced to the clauses that only the
    layout decides.
    """
    found = []
    for each in combinations:
        if not each.without.isdisjoint(settled):
            continue
        clauses = [clause for clause in each.required_use_sets if clause.isdisjoint(settled)]
        if not any(clause.isdisjoint(DEGREES) for clause in clauses):
            found.append(Combination(tuple(clauses), frozenset(), each.without & frozenset(DEGREES)))
    return tuple(found)


# Numbers that a release requires to be multiples of others

QUANTITIES: Mapping[str, str] = {
    "hidden": "workload.model",
    "heads": "workload.model",
    "kv_heads": "workload.model",
    "ffn_hidden": "workload.model",
    "expert_ffn_hidden": "workload.model",
    "linear_key_heads": "workload.model",
    "linear_value_heads": "workload.model",
    "sequence_length": "workload.sequence_length",
    "tp": "layout.tp",
}
"""Numbers of a design for which multiples may be required, each with the key that states it."""
AXES = ("tp", "cp", "ep", "expert_tp", "pp")
"""Degrees of a layout by which such numbers may have to be divisible."""


@dataclass(frozen=True)
class Multiple:
    """A requirement that a number of a design is a multiple of ``number`` times the degrees in ``axes``, if the
    condition ``when`` applies.
    """

    quantity: str
    number: int
    axes: tuple[str, ...]
    when: Combination = Combination(())


def multiple(text: str) -> Multiple:
    """The requirement that a line of an entry names: ``QUANTITY of NUMBER * AXIS * … with A + B/C``.

    >>> multiple("ffn_hidden of 128 * tp with quantization-awq").number
    128
    >>> multiple("linear_key_heads of tp * cp").axes
    ('tp', 'cp')
    """
    named, _, when = text.partition(" with ")
    quantity, _, product = named.partition(" of ")
    factors = product.split(" * ")
    numbers = [int(each) for each in factors if each.isdecimal() and len(each) < 9]
    axes = tuple(each for each in factors if each in AXES)
    if quantity not in QUANTITIES or len(numbers) + len(axes) != len(factors) or 0 in numbers:
        raise UnreadableCombination(f"`{named}` is not `QUANTITY of NUMBER * AXIS` with known names")
    return Multiple(quantity, prod(numbers), axes, combination(when) if when else Combination(()))


# Published faults of a library, by release

FAULTS = "faults."
EFFECTS = ("slow", "stops", "wrong")
PLACES = ("in a node", "over nodes")
FABRICS = ("roce", "infiniband", "efa", "tcp")
HOSTS = ("amd host",)
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "send-recv")


@dataclass(frozen=True)
class ReleaseFault:
    """A published fault of the releases from ``since`` on and before ``until``; an empty one is no bound.

    ``effect`` is `slow`, `stops` or `wrong`. Empty conditions hold for every run: ``place`` and ``fabric``, ``host``,
    ``architectures`` of accelerators, and ``collectives``. ``setting`` is an environment variable that has to be set.
    """

    effect: str
    since: str = ""
    until: str = ""
    place: str = ""
    fabric: str = ""
    host: str = ""
    architectures: tuple[str, ...] = ()
    collectives: tuple[str, ...] = ()
    setting: str = ""
    note: str = ""
    url: str = ""

    def holds_in(self, release: str) -> bool:
        """Whether a release has the fault.

        >>> ReleaseFault("slow", since="2.16.2", until="2.16.5").holds_in("2.16.2+cuda11.8")
        True
        """
        numbers = version_numbers(release)
        return (not self.since or numbers >= version_numbers(self.since)) and (
            not self.until or numbers < version_numbers(self.until)
        )


def release_faults(facts: FactReader) -> Iterator[ReleaseFault]:
    """The published faults of an entry. A fact with unreadable conditions is a problem."""
    for name, fact in facts.raw_entry.facts.items():
        if name.startswith(FAULTS) and facts.flag(name):
            if (found := _parsed_fault(name.removeprefix(FAULTS), fact)) is not None:
                yield found
            else:
                facts.refuse(fact, "unknown-choice", f"{name} has a condition that no run states")


def _parsed_fault(text: str, fact: Fact) -> ReleaseFault | None:
    """The fault of a text such as `slow + over nodes + roce + on gfx942/gfx950`; None if a part is unknown."""
    effect, *parts = text.split(" + ")
    conditions: dict[str, str] = {}
    for part in parts:
        kind = _condition_of(part)
        if kind is None:
            return None
        conditions[kind] = part
    if effect not in EFFECTS:
        return None
    return ReleaseFault(
        effect,
        fact.since,
        fact.until,
        place=conditions.get("place", ""),
        fabric=conditions.get("fabric", ""),
        host=conditions.get("host", ""),
        architectures=_alternative_words(conditions.get("on", "").removeprefix("on ")),
        collectives=_alternative_words(conditions.get("of", "")),
        setting=conditions.get("with", "").removeprefix("with "),
        note=fact.note,
        url=fact.origin.url if isinstance(fact.origin, Cited) else "",
    )


def _alternative_words(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split("/")))


def _condition_of(part: str) -> str | None:
    """The condition that a part of the text states; None if it states no condition."""
    for kind, parts in (("place", PLACES), ("fabric", FABRICS), ("host", HOSTS)):
        if part in parts:
            return kind
    if part.startswith(("on ", "with ")):
        return part.partition(" ")[0]
    return "of" if all(each in COLLECTIVES for each in part.split("/")) else None
