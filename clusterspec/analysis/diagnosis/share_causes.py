"""Steps with too little work for each of many accelerators, by the share of the model that each has."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.reason_causes import NEXT_OF_REASONS
from clusterspec.analysis.diagnosis.stated_causes import GIVEN
from clusterspec.logs.reports.slow_symptoms import SYMPTOM
from clusterspec.results.diagnosis import Cause

WEIGHT = 2.0
"""Bytes of a parameter (16 bits: the text names no format; with fewer, an accelerator has even less to read)."""
LAYERS = 32
"""Layers of a model of which only the size is known (assumed: those of models of 7 to 9 billion parameters; larger ones
have more, and more calls).
"""
CALLS = 2
"""All-reduces of a layer in tensor parallelism: after attention and after the MLP."""
CALL = 15e-6
"""Time in s of an all-reduce of few tokens within a node, with its launch (assumed)."""
LEAST = 0.5
"""Time of the calls over that of reading the weights from which a step has too little work: a third of it is calls."""


def share_causes(run: PlacedRun) -> Iterator[Cause]:
    """Too little work for the tensor parallelism of a launch, in a run that a person reports as slow.

    A step reads the share of the weights that an accelerator has, and each layer waits for two all-reduces, which no
    degree shortens.
    """
    bandwidth = run.cluster.accelerator.memory_bandwidth
    if bandwidth is None or not any(each.name.startswith(SYMPTOM) for each in run.benchmark.evidence):
        return
    for text, line in run.log_lines("shared-model")[:1]:
        degree, size = map(float, text.split())
        reading = size * 1e9 * WEIGHT / degree / bandwidth.value
        calls = LAYERS * CALLS * CALL
        if calls >= LEAST * reading:
            evidence = (
                f"line {line} of the log: with tensor parallelism {degree:g}, an accelerator reads its share of "
                f"{size:g} billion parameters in {reading * 1e3:.2g} ms, and the all-reduces of {LAYERS} layers take "
                f"about {calls * 1e3:.2g} ms"
            )
            yield Cause("small-work", evidence, NEXT_OF_REASONS["small-work"], GIVEN)
