"""In-flight micro-batches: how many micro-batches of each chunk have activations on one rank at once."""

from __future__ import annotations

from clusterspec.cluster.model import Layout
from clusterspec.cost.formulas import activations
from clusterspec.cost.layers import Chunk


def in_flight(layout: Layout, stage: int, chunks: tuple[Chunk, ...], micro_batches: float) -> tuple[float, ...]:
    """The highest number of micro-batches whose activations pipeline stage ``stage`` holds, for each chunk.

    1F1B holds as many as there are stages from this one on; GPipe holds all; zero-bubble as many as the first stage of
    1F1B (ZB-H1, arXiv 2401.10241); DualPipe those of both directions (arXiv 2412.19437, table 2).
    """
    if layout.pp == 1:
        return (1.0,) * len(chunks)
    if layout.schedule == "gpipe":
        return (float(micro_batches),) * len(chunks)
    if layout.schedule == "zero-bubble":
        return (float(min(layout.pp, micro_batches)),) * len(chunks)
    if layout.schedule == "dualpipe":
        own, mirrored = (
            activations.in_flight(layout.pp, side, micro_batches) for side in (stage, layout.pp - 1 - stage)
        )
        half = len(chunks) // 2
        return (float(own),) * half + (float(mirrored),) * half
    if len(chunks) > 1:
        passes = activations.in_flight_interleaved(layout.pp, stage, len(chunks), micro_batches)
        return _by_chunk(passes, layout.pp, len(chunks))
    return (float(activations.in_flight(layout.pp, stage, micro_batches)),) * len(chunks)


def _by_chunk(passes: float, stages: int, chunks: int) -> tuple[float, ...]:
    """Passes by chunk: every chunk takes p micro-batches in turn, starting from the first chunk.

    >>> _by_chunk(23.0, 4, 5)
    (7.0, 4.0, 4.0, 4.0, 4.0)
    """
    rounds, rest = divmod(passes, stages * chunks)
    return tuple(rounds * stages + min(float(stages), max(0.0, rest - chunk * stages)) for chunk in range(chunks))
