"""The times of the steps of a serving engine: decoding, prompts, and the drafting of tokens that a step verifies."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from clusterspec.cost.formulas.kernels import drafting_time
from clusterspec.cost.serving.constants import LAUNCH, Part, StepTime
from clusterspec.cost.serving.engine import NOTHING, Decoding, Engine
from clusterspec.cost.serving.parts.compiled_sizes import compiled_rows, mean_compiled_rows
from clusterspec.cost.serving.parts.step import (
    absorbed_parts,
    cache_reading_parts,
    prompt_attention_parts,
    repeated_reads,
    step_parts,
)
from clusterspec.standard import sum_of

HEADS_ALONE, ONE_LAYER = frozenset({"medusa"}), frozenset({"eagle", "mtp"})
"""Two groups of methods: all heads read the last hidden state, or a single layer runs once for each drafted token.
n-gram matches take no time on the device, and no key states the size of a draft model.
"""


def decode_step(engine: Engine, sequences: float, context: float, tokens: float = 1.0) -> StepTime:
    """One step that decodes ``sequences`` on every attention rank, ``tokens`` of each: one plus drafted ones."""
    key = (sequences, context, tokens)
    if key not in engine.steps:
        ranks, mean = float(engine.layout.attention_dp), max(1.0, sequences)
        most = max(1.0, sequences * ranks)
        read = cache_reading_parts(engine, mean, context, tokens, most=most)
        repeated, every = (repeated_reads(engine, part, engine.reads_of_cache) for part in read), mean * tokens
        attention = (*repeated, *absorbed_parts(engine, mean, tokens, most=most))
        parts = step_parts(engine, every, every, attention, min(ranks, most), rows=compiled_rows(engine.cluster, every))
        engine.steps[key] = StepTime.of((*parts, *drafting_parts(engine, sequences, context, tokens)))
    return engine.steps[key]


def prompt_step(engine: Engine, tokens: float, length: float, busy: float, decoding: Decoding = NOTHING) -> StepTime:
    """The steps of ``tokens`` prompt tokens, from prompts of ``length``, on each of ``busy`` attention ranks.

    Each chunk of a prompt is one step, which also decodes the sequences of ``decoding`` on every rank.
    """
    key = (tokens, length, busy, decoding)
    if key not in engine.steps:
        engine.steps[key] = _prompt_step(engine, tokens, length, busy, decoding)
    return engine.steps[key]


def _prompt_step(engine: Engine, tokens: float, length: float, busy: float, decoding: Decoding) -> StepTime:
    serving, decoded = engine.workload.serving, decoding.sequences * decoding.tokens
    taken = decoded if decoding.sequences > 1 else 0.0  # a request alone does not decode during its own prompt
    most = max(1.0, serving.chunk_tokens - taken) if serving is not None and serving.chunk_tokens else tokens
    steps = max(1.0, float(ceil(tokens / most - 1e-9)))
    here = tokens / steps
    attention = prompt_attention_parts(engine, here, length, min(tokens, length))
    if decoding.sequences:
        read, times = cache_reading_parts(engine, *decoding), engine.reads_in_prompt_steps
        repeated = (repeated_reads(engine, part, times, times / engine.reads_of_cache) for part in read)
        attention = (*attention, *repeated, *absorbed_parts(engine, decoding.sequences, decoding.tokens))
    every, ending = here + decoded, here / max(1.0, length) + decoded
    if decoded:  # the ranks without prompts decode in the same step
        busy += (engine.layout.attention_dp - busy) * decoded / every
    rows = mean_compiled_rows(engine.cluster, every, most + taken, tokens - (steps - 1) * most + taken, steps)
    parts = (*step_parts(engine, every, ending, attention, busy, rows=rows), *drafting_parts(engine, *decoding))
    return StepTime.of(parts, steps, engine.host_floor(every, ending), min(most, tokens) / here if tokens else 1.0)


def drafting_parts(engine: Engine, sequences: float, context: float, tokens: float) -> tuple[Part, ...]:
    """The parts of a step that draft: ``tokens`` - 1 tokens for each of the ``sequences`` of an attention rank.

    In a step of one token per sequence, a drafting layer takes the mean time of a layer of the model, with its cache,
    collectives and launches; its head takes as long as the head of the model.

    Source: EAGLE, arXiv 2401.15077, section 3.1 (one decoder layer, the head of the model); Medusa, arXiv 2401.10774,
    section 2.1.1; DeepSeek-V3, arXiv 2412.19437, section 2.2 (a module of one layer).
    """
    serving = engine.workload.serving
    if serving is None or tokens <= 1 or not sequences or serving.drafter not in HEADS_ALONE | ONE_LAYER:
        return ()
    numbers = {
        "drafts": tokens - 1,
        "layers": 1.0 if serving.drafter in ONE_LAYER else 0.0,
        **layer_and_head(decode_step(engine, sequences, context).parts, engine.model.layers),
    }
    return (Part("drafting", drafting_time, numbers, {}),)


def layer_and_head(parts: Sequence[Part], layers: int) -> dict[str, float]:
    """Seconds of a layer of the model on average and of its head, from the ``parts`` of a step."""
    head = sum_of(part.seconds for part in parts if part.name == "head")
    rest = sum_of(part.seconds for part in parts if part.name not in {"head", LAUNCH})
    launched = sum_of(part.numbers["launches"] * part.numbers["each"] for part in parts if part.name == LAUNCH)
    return {"layer": (rest + launched) / layers, "head": head}
