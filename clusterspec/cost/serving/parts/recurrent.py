"""The parts of a step in layers with linear attention or a state-space recurrence: prompts, and the states of
sequences that decode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterspec.catalog.models import LinearAttention
from clusterspec.cost import assumed_figure
from clusterspec.cost.compute.rates import SCAN_BANDWIDTH
from clusterspec.cost.compute.recurrence import CHUNKS
from clusterspec.cost.formulas.attention import chunked_elements
from clusterspec.cost.formulas.memory import share_of_heads
from clusterspec.cost.formulas.serving import recurrence_time
from clusterspec.cost.mixers import SequenceBytes, sequence_cache
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import RECURRENT_STATE, Part, table_origins
from clusterspec.cost.serving.parts.activations import WIDE
from clusterspec.cost.serving.rates import DECODE, KernelRates
from clusterspec.records import NamedTuple

if TYPE_CHECKING:
    from clusterspec.cost.serving.engine import Engine

RECURRENCE = "recurrence"
"""The part of a step, and the figures of a table of kernels: ``floor`` seconds of a call, ``token`` seconds for each
token of the longest sequence, ``head`` seconds for each token and head; ``update.floor`` seconds of a step that
decodes, and ``update``, the share of the memory bandwidth at which it reads and writes states.
"""
MEASURED_ELEMENTS = 45056.0 / 32.0
"""Elements that the measured kernels move for a token of a head: 32 heads of 128 keys and 128 values on 16 heads of
keys (`chunked_elements`).
"""
CHAINED = assumed_figure(
    constants.GROUP,
    "recurrence.token",
    35e-9,
    "time per token of the longest prompt in a recurrence in chunks, where none was measured: 30 to 50 ns on"
    " Hopper and Blackwell",
    "s",
)


UPDATE_FLOOR = assumed_figure(
    constants.GROUP,
    "recurrence.update_floor",
    6e-6,
    "time of the convolution and the update of one state, where none was measured: 5.3 to 6.4 us on Hopper,"
    " Blackwell and L40S",
    "s",
)
OTHER_KERNELS = assumed_figure(
    constants.GROUP,
    "recurrence.beside",
    4e-6,
    "time of two more kernels, which split the projections, and gate and normalize the outputs (SGLang,"
    " python/sglang/srt/models/qwen3_next.py), each as long as the smallest convolution of one state, 1.9 to 2.1 us",
    "s",
)
READ_AND_WRITTEN = 2.0
"""Times that a step moves the state of a sequence: it is read, and written anew."""


class Scan(NamedTuple):
    """The kernels of one layer's recurrence: seconds of a call and of a token of the longest sequence, and B/s, with
    the figures of a table that give them.
    """

    floor: float
    chained: float
    bandwidth: float
    origins: dict[str, str]


def prompt_parts(engine: Engine, tokens: float, fresh: float) -> tuple[Part, ...]:
    """The recurrence of ``tokens`` of prompts with ``fresh`` tokens each, convolution included.

    Without ``fresh`` tokens it is the time of one additional token, which starts no kernel.
    """
    linear, layers = engine.model.linear, float(engine.whole.linear_layers)
    if linear is None or not layers or not tokens:
        return ()
    scan = _scan_of(engine.rates, linear, engine.software)
    numbers = {
        "calls": layers,
        "floor": scan.floor if fresh else 0.0,
        "moved": tokens * WIDE * _elements_of_token(linear, engine.layout.tp),
        "bandwidth": scan.bandwidth,
        "length": min(tokens, fresh) if fresh else tokens,
        "chained": scan.chained,
    }
    return (Part(RECURRENCE, recurrence_time, numbers, scan.origins),)


def update_part(engine: Engine, sequences: float) -> Part:
    """The update of the states of ``sequences`` by one token each, convolution included."""
    rates, single = engine.rates, engine.rates.single
    own = f"{RECURRENCE}.{engine.software.replace('-', '_')}.update"
    name = own if own in single else f"{RECURRENCE}.update"
    layers = float(max(1, engine.whole.linear_layers))
    numbers = {
        "calls": layers,
        "floor": single.get(f"{name}.floor", UPDATE_FLOOR.value) + OTHER_KERNELS.value,
        "moved": sequences * READ_AND_WRITTEN * state_bytes(engine) / layers,
        "bandwidth": rates.bandwidth * single.get(name, constants.STREAMING.value),
        "length": 0.0,
        "chained": 0.0,
    }
    measured = {"floor": f"{name}.floor", "bandwidth": name} if name in single else {}
    return Part(RECURRENT_STATE, recurrence_time, numbers, table_origins(rates.table, **measured))


def state_bytes(engine: Engine) -> float:
    """Bytes of recurrent state of one sequence on one rank, over all layers."""
    return _stored_bytes(engine, 1.0).state


def kept_bytes(engine: Engine, context: float) -> float:
    """Bytes of keys and values of one sequence of ``context`` tokens on one rank, over all layers."""
    return _stored_bytes(engine, context).keys_values


def _stored_bytes(engine: Engine, context: float) -> SequenceBytes:
    """What one rank stores of a sequence."""
    kept = sequence_cache(engine.model, (engine.whole,), context, engine.layout.tp)
    return kept.stored_bytes(engine.workload.kv_precision)


def floor_seconds(engine: Engine) -> float:
    """Seconds that each step with prompts takes in the calls of its recurrences, whatever its tokens."""
    linear = engine.model.linear
    if linear is None:
        return 0.0
    return engine.whole.linear_layers * _scan_of(engine.rates, linear, engine.software).floor


def _elements_of_token(linear: LinearAttention, ranks: int) -> float:
    """Elements that the kernels of one layer move for a token on one of ``ranks`` ranks."""
    chunks = CHUNKS[linear.kind]
    return chunked_elements(
        share_of_heads(linear.key_heads, ranks) * linear.key_head_dim,
        linear.value_width / ranks,
        linear.value_heads / ranks,
        linear.key_head_dim,
        chunk=chunks.tokens,
        copies=chunks.copies,
        value_passes=chunks.value_passes,
        state_passes=chunks.state_passes,
    )


def _scan_of(rates: KernelRates, linear: LinearAttention, software: str) -> Scan:
    """The kernels of ``software`` if they were measured, else those of other software, else the training kernels.
    Mamba-2 uses the training kernels, whose rate holds for sequences of all lengths.
    """
    own, single = f"{RECURRENCE}.{software.replace('-', '_')}", rates.single
    name = own if f"{own}.head" in single else RECURRENCE
    if linear.kind == "mamba-2" or f"{name}.head" not in single:
        chained = 0.0 if linear.kind == "mamba-2" else CHAINED.value
        return Scan(0.0, chained, rates.bandwidth * constants.STREAMING.value * SCAN_BANDWIDTH.value, {})
    scaled = rates.bandwidth / single[f"{DECODE}.memory"]
    origins = table_origins(rates.table, floor=f"{name}.floor", chained=f"{name}.token", bandwidth=f"{name}.head")
    bandwidth = WIDE * MEASURED_ELEMENTS / single[f"{name}.head"] * scaled
    return Scan(single[f"{name}.floor"], single[f"{name}.token"], bandwidth, origins)
