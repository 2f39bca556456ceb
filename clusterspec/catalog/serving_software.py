"""How serving software uses memory and batches requests where a spec leaves it open: part of the entry of its stack."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf

from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.reader import FactReader
from clusterspec.records import NamedTuple, dataclass, field, replace


class DefaultTier(NamedTuple):
    """Defaults of serving software on certain accelerators: with less than ``below`` bytes of memory, with at least
    ``least`` bytes, or of an architecture. ``max_sequences`` is None if it does not differ.
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
    """Whether steps that compute prompts decode no sequences."""
    dense_short_prompts: bool = False
    """Whether prompts that are not longer than the selection of a sparse index use dense attention."""
    steps_ahead: frozenset[str] = frozenset()
    """The engines that form and launch a step during the step before: ``decode`` engines, or separate ``prefill``
    engines.
    """
    shares_prompts_by_step: bool = False
    """Whether the prompts that came during a step are divided among the attention ranks together at its end."""
    repeated_reads: frozenset[str] = frozenset()
    """Architectures on which attention reads the cache once per query head in steps with prompts."""
    reads_by_head: frozenset[str] = frozenset()
    """Architectures on which attention reads the cache once per query head in every step."""
    prompt_graphs: float = 0
    """The largest number of tokens for which steps with prompts run as captured graphs, except for
    ``outside_graphs``.
    """
    latent_prompt_graphs: float = inf
    """The largest number of tokens of such steps with latent attention, if it is smaller."""
    outside_graphs: tuple[str, ...] = ("attention",)
    """Kernels that the host launches separately in each layer: ``attention``, ``all-reduce``."""
    without_graphs: frozenset[str] = frozenset()
    """The cases without captured graphs for prompts: keys of the spec, vendors, and ``latent on`` an architecture for
    latent attention.
    """
    separate_norms: frozenset[str] = frozenset()
    """The cases in which the norm after an all-reduce is a separate kernel and the software's own kernels do the
    all-reduce: ``grouped`` or ``latent`` attention, everywhere or ``on`` an architecture.
    """
    separate_kernels: Mapping[str, int] = field(default_factory=dict)
    """The number of kernels between the GEMMs of a layer that later releases fuse: in layers with ``latent`` attention,
    possibly ``on`` an architecture; the kernels of ``latent experts`` are added for models with latent attention.
    """
    uncaptured: frozenset[str] = frozenset()
    """The models for which decode kernels are launched one by one unless a spec states otherwise: with ``latent``
    attention.
    """
    window_tokens: float = 0.0
    """The tokens of cache space in a layer with a window, as a fraction of those in a layer without; at least the
    window.
    """
    sampling_bytes: float = 0.0
    """Bytes reserved for sampling per vocabulary entry and sequence of ``max_sequences``."""
    state_pool: float = 0.0
    """The ratio of memory for recurrent states to memory for keys and values if they have separate pools; 0 if they
    share one.
    """
    state_slots: float = 1.0
    """The number of states in that pool for each request that may run."""
    expert_tokens: float = 0.0
    """The maximum number of tokens, over all attention replicas, for which a rank reserves expert buffers; 0 if these
    are not part of the memory share that the engine fills.
    """
    expert_tiles: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The multiples, by architecture or empty for all others, to which the hidden width and a rank's expert width are
    padded for 4-bit experts multiplied in 16 bits.
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


SERVING = "serving"


def serving_software(facts: FactReader) -> ServingSoftware | None:
    """The facts of ``serving``; None if the share of the memory cannot be read."""
    fraction = facts.number(f"{SERVING}.memory_fraction")
    if fraction is None:
        return None
    return ServingSoftware(
        memory_fraction=fraction,
        of_free=facts.text(f"{SERVING}.memory_of") == "free",
        whole_requests=facts.text(f"{SERVING}.reserves") == "whole requests",
        own_output=facts.text(f"{SERVING}.reserves") == "own output",
        chunk_tokens=facts.count(f"{SERVING}.chunk_tokens"),
        max_sequences=facts.count(f"{SERVING}.max_sequences"),
        quantized_cache=facts.text(f"{SERVING}.quantized_cache"),
        tiers=tuple(_default_tier(text) for text in facts.texts(f"{SERVING}.tiers")),
        chunk_of_engine=facts.text(f"{SERVING}.chunk_of") == "engine",
        prompts_alone=facts.text(f"{SERVING}.prompt_steps") == "alone",
        dense_short_prompts=facts.text(f"{SERVING}.short_prompts") == "dense",
        steps_ahead=frozenset(facts.texts(f"{SERVING}.steps_ahead")),
        shares_prompts_by_step=facts.text(f"{SERVING}.prompt_sharing") == "step",
        repeated_reads=frozenset(facts.texts(f"{SERVING}.repeated_reads")),
        reads_by_head=frozenset(facts.texts(f"{SERVING}.reads_by_head")),
        prompt_graphs=_token_limit(facts, "prompt_graphs", "chunk_tokens"),
        latent_prompt_graphs=facts.count(f"{SERVING}.latent_prompt_graphs") or inf,
        outside_graphs=facts.texts(f"{SERVING}.outside_graphs") or ("attention",),
        without_graphs=frozenset(facts.texts(f"{SERVING}.without_graphs")),
        separate_norms=frozenset(facts.texts(f"{SERVING}.separate_norms")),
        separate_kernels=dict(_separate_kernels(text) for text in facts.texts(f"{SERVING}.separate_kernels")),
        uncaptured=frozenset(facts.texts(f"{SERVING}.uncaptured")),
        window_tokens=facts.number(f"{SERVING}.window_tokens") or 0.0,
        state_pool=facts.number(f"{SERVING}.state_pool") or 0.0,
        state_slots=facts.number(f"{SERVING}.state_slots") or 1.0,
        expert_tokens=_token_limit(facts, "expert_tokens", "step"),
        sampling_bytes=facts.number(f"{SERVING}.sampling_bytes") or 0.0,
        expert_tiles=dict(_expert_tiles(text) for text in facts.texts(f"{SERVING}.expert_tiles")),
    )


def _token_limit(facts: FactReader, name: str, all_of: str) -> float:
    """A limit of tokens: the stated number, infinite if the fact is the word ``all_of``, 0 if it is absent."""
    if facts.texts(f"{SERVING}.{name}") == (all_of,):
        return inf
    return facts.count(f"{SERVING}.{name}") or 0


def _default_tier(text: str) -> DefaultTier:
    """The defaults that a text states: tokens of a step, sequences if any, and the accelerators to which they apply.

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
    """The architecture that a text states, empty if there is none, and its multiples of two widths.

    >>> _expert_tiles("256, 128 on sm_80"), _expert_tiles("256, 64")
    (('sm_80', (256, 128)), ('', (256, 64)))
    """
    numbers, _, architecture = text.partition(" on ")
    hidden, _, network = numbers.partition(", ")
    return architecture, (int(hidden), int(network))


def _separate_kernels(text: str) -> tuple[str, int]:
    """The case that a text states, and the number of kernels in this case.

    >>> _separate_kernels("22 latent on gfx942")
    ('latent on gfx942', 22)
    """
    number, _, where = text.partition(" ")
    return where, int(number)
